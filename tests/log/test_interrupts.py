"""Ctrl-C between any two lines: an event happens wholly or not at all, in memory and on the disk."""

import dis
import os
import shutil
import sys
import threading
import warnings
from contextlib import suppress
from dataclasses import replace
from functools import cache
from pathlib import Path

import numpy as np
import pytest

import equipoise as eq
from equipoise.log.lock import FileLock

SPACE = eq.Finite(np.random.default_rng(0).uniform(-1, 1, (6, 2)))
PACKAGE = Path(eq.__file__).parent
WRITING = (
    "ask_tell.py",
    "resuming.py",
    "session.py",
    "_linalg.py",
    "codec.py",
    "fits.py",
    "header.py",
    "journal.py",
    "jsonl.py",
    "lock.py",
    "turns.py",
)
INTERRUPTED = tuple(str(PACKAGE / name) for name in ("optimizer", "log", "study", "data", "_linalg.py"))

CALLS = {
    "ask": lambda opt: opt.ask(),
    "ask for a half": lambda opt: opt.ask(worker="b"),
    "tell": lambda opt: opt.tell(2, 0.5, time=3.0),
    "complete": lambda opt: opt.tell(1, 0.7),
    "fail": lambda opt: opt.tell(2, failed="beam lost"),
    "expire": lambda opt: opt.study.expire(2),
    "correct": lambda opt: opt.correct(0, 0.9),
    "retract": lambda opt: opt.retract(0),
    "note": lambda opt: opt.study.set("mode", "pause", "lunch"),
    "absurd": lambda opt: opt.tell(1, 1e200),
    "audit": lambda opt: opt.audit(2),
    "verify": lambda opt: opt.verify(2),
}
THROUGHOUT = ("ask", "complete", "correct")
"""Calls that are interrupted at all of their lines."""


def begun(**log):
    """A study with a duel told in half, one handed out, and one that waits for its second half."""
    opt = eq.Optimizer(SPACE, kernel=eq.RBF(0.5), policy=eq.IDS(), rng=0, **log)
    opt.tell(opt.ask(), 0.1)
    opt.ask()
    opt.ask(worker="b")
    return opt


class Interrupt:
    """Raises KeyboardInterrupt at the n-th line that is executed, as a trace function."""

    def __init__(self, at=None):
        self.at, self.lines = at, []

    def __call__(self, frame, event, arg):
        return self.line if frame.f_code.co_filename.startswith(INTERRUPTED) else None

    def line(self, frame, event, arg):
        if event == "line" and frame.f_lasti not in closed_to_signals(frame.f_code):
            if len(self.lines) == self.at:
                raise KeyboardInterrupt
            self.lines.append(f"{Path(frame.f_code.co_filename).name}:{frame.f_lineno}")
        return self.line


@cache
def closed_to_signals(code):
    """Where lines begin at which a trace function may raise, but Python lets no signal in: at `try`."""
    return {step.offset for step in dis.get_instructions(code) if step.opname == "NOP"}


def traced(call, opt, at=None):
    """Call with an interrupt at a line; return the lines that came before."""
    trace = Interrupt(at)
    with warnings.catch_warnings(), suppress(KeyboardInterrupt):
        warnings.simplefilter("ignore")
        sys.settrace(trace)
        try:
            call(opt)
        finally:
            sys.settrace(None)
    return trace.lines


def every_line(call, opt):
    """The lines of a call, each the first and the last time that it is executed."""
    lines = traced(call, opt)
    first = {line: n for n, line in reversed(list(enumerate(lines)))}
    last = {line: n for n, line in enumerate(lines)}
    assert len(first) > 20
    return [(n, lines[n]) for n in sorted({*first.values(), *last.values()})]


def in_turn(lines, call, each):
    """All lines of some calls; of the others, which share most of them, one in this many, each call other ones."""
    first = 0 if call in THROUGHOUT else [*CALLS].index(call) % each
    return lines[first :: 1 if call in THROUGHOUT else each]


def of_interest(line):
    """Whether a line may matter where there is a log: all that write do, of those that compute every third will do."""
    at, where = line
    return at % 3 == 0 or where.startswith(WRITING)


def seen(opt):
    opt.compare(*SPACE.points[:2])  # it follows what is written
    at = opt.posterior.at(SPACE.points)
    records = [(record.x.tobytes(), replace(record, x=None)) for record in opt.records()]
    return at.mean.tobytes(), at.variance.tobytes(), records, opt.study.open_trials, opt.readings, opt.study.plan


def other_thread_asks(opt):
    """Whether another thread gets its turn; a notice that the interrupt has held back comes with it."""
    got, opt.study.notify = [], lambda notice: None
    thread = threading.Thread(target=lambda: got.append(opt.ask(worker="c")), daemon=True)
    thread.start()
    thread.join(60)
    return bool(got)


@pytest.mark.parametrize("name", CALLS)
def test_an_interrupt_at_any_line_in_memory(name):
    before, after, call = begun(), begun(), CALLS[name]
    lines = every_line(call, after)
    allowed = seen(before), seen(after)
    for at, where in in_turn(lines, name, 3):
        opt = begun()
        traced(call, opt, at)
        assert opt.readings == len([record for record in opt.records() if record.value is not None]), where
        assert seen(opt) in allowed, where
        assert other_thread_asks(opt), where


@pytest.mark.parametrize("name", CALLS)
def test_an_interrupt_at_any_line_with_a_log(tmp_path, monkeypatch, name):
    monkeypatch.setattr(os, "fsync", lambda handle: None)  # a power cut is for other tests
    stored, path, call = tmp_path / "stored.jsonl", tmp_path / "study.jsonl", CALLS[name]
    before = seen(begun(log=stored))
    after = eq.resume(shutil.copy(stored, path))
    lines = every_line(call, after)
    allowed = before, seen(after)
    for at, where in in_turn([*filter(of_interest, lines)], name, 4):
        opt = eq.resume(shutil.copy(stored, path))
        traced(call, opt, at)
        assert _free(path), where
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            now = seen(opt)
            assert now in allowed, where
            assert seen(eq.resume(path)) == now, where
            assert other_thread_asks(opt), where


def _free(path):
    """Whether no lock is left on a log, by its name or by its file."""
    for lock in (FileLock(Path(f"{path}.lock"), 0.0), FileLock(path, 0.0, own=False)):
        try:
            with lock:
                pass
        except OSError:
            return False
    return True


def test_an_interrupt_while_a_study_begins_leaves_a_study_or_none(tmp_path, monkeypatch):
    monkeypatch.setattr(os, "fsync", lambda handle: None)
    path = tmp_path / "study.jsonl"

    def begin(_):
        eq.Optimizer(SPACE, kernel=eq.RBF(0.5), rng=0, log=path)

    for at, where in every_line(begin, None):
        path.unlink(missing_ok=True)
        traced(begin, None, at)
        if path.exists():
            assert eq.resume(path).readings == 0, where
        assert _free(path) or not path.exists(), where
    assert not [file.name for file in tmp_path.iterdir() if file.name.startswith(".")]
