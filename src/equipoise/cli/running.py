"""`equipoise run`: a program of the user's measures, trial after trial."""

import hashlib
import json
import math
import os
import select
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from subprocess import PIPE
from typing import Any
from urllib.parse import quote

import click
import numpy as np

from equipoise.cli.cells import NUMBER
from equipoise.cli.common import (
    AS_JSON,
    AUDIT,
    EPS,
    FAILING,
    INTERRUPTED,
    NOT_YET,
    STUDY,
    WORKER,
    assignments,
    best_data,
    best_text,
    command,
    json_line,
    opened,
    printable,
    say,
    settings,
)
from equipoise.cli.interrupting import interruptible
from equipoise.data import Trial
from equipoise.log.jsonl import LogError
from equipoise.log.lock import FileLock, LockTimeoutError
from equipoise.optimizer import Optimizer

PATIENCE = 2.0
"""Seconds a program has to end after it is asked to, before it is killed."""

MAX_OUTPUT = 2**16
"""Bytes at the end of what a program prints that are kept; its last line must be among them."""

POLL = 0.02
"""Seconds after which it is looked whether a program has ended whose output somebody else keeps open."""

LONGEST_NAME = 100
"""Longest name of a worker, in bytes, that is part of the name of a file."""


class FailedError(Exception):
    """The program gave no reading; the message says why."""


@dataclass(frozen=True)
class Program:
    """The user's program.

    Attributes:
        words: The command line, before the settings.
        stdin: Whether the settings go to standard input as JSON, rather than to the command line.
        timeout: After how many seconds it is stopped.
    """

    words: Sequence[str]
    stdin: bool = False
    timeout: float | None = None

    def measure(self, trial: Trial) -> dict[str, Any]:
        """Run the program for a trial and return what to tell: the value, and where given x, time and error."""
        words = [*self.words]
        if not self.stdin:  # one word each: a value may begin with a dash
            words += [f"--{name}={value}" for name, value in settings(trial.x).items()]
        sent = json_line({"id": trial.id, "x": trial.x}) + "\n" if self.stdin else ""
        with subprocess.Popen(words, start_new_session=True, stdin=PIPE, stdout=PIPE) as process:  # Ctrl-C is for us
            try:
                out = _said(process, sent.encode(), self.timeout)
            except subprocess.TimeoutExpired:
                _stop(process)
                raise FailedError(f"no answer after {self.timeout:g} s") from None
            except BaseException:
                _stop(process)
                raise
        if process.returncode:
            raise FailedError(f"exit status {process.returncode}")
        return reading(out.decode(errors="replace"))


def _said(process: subprocess.Popen[bytes], sent: bytes, timeout: float | None) -> bytes:
    """Wait for a program; return the last it printed, however much that was, and whoever else may still print."""
    if sys.platform == "win32":
        return process.communicate(sent, timeout=timeout)[0][-MAX_OUTPUT:]
    assert process.stdin is not None
    assert process.stdout is not None
    deadline, tail = time.monotonic() + (math.inf if timeout is None else timeout), b""
    with suppress(BrokenPipeError), process.stdin as pipe:
        pipe.write(sent)
    os.set_blocking(process.stdout.fileno(), False)
    while True:
        ended = process.poll() is not None
        more = _available(process.stdout.fileno())
        tail = (tail + (more or b""))[-MAX_OUTPUT:]
        if more == b"":  # nobody can print any more
            break
        if more is None and ended:  # a child in the background might, but not for this reading
            return tail
        if time.monotonic() > deadline:
            raise subprocess.TimeoutExpired(process.args, timeout or 0.0)
        if more is None:
            select.select([process.stdout], [], [], min(max(deadline - time.monotonic(), 0.0), POLL))
    process.wait(None if timeout is None else max(deadline - time.monotonic(), 0.0))
    return tail


def _available(pipe: int) -> bytes | None:
    """Return what can be read from a pipe: nothing (`b""`) at its end, `None` where there is nothing yet."""
    try:
        return os.read(pipe, MAX_OUTPUT)
    except BlockingIOError:
        return None


def reading(out: str) -> dict[str, Any]:
    r"""Return the reading a program printed as its last line: a number, or a JSON object with "value".

    Example:
        >>> reading("warming up\n0.83")
        {'value': 0.83}
        >>> reading('{"value": 0.83, "error": 0.02}')
        {'value': 0.83, 'error': 0.02}
    """
    last = out.strip().rpartition("\n")[2]
    try:
        data = json.loads(last) if last.startswith("{") else {"value": _number(last)}
    except (ValueError, RecursionError):
        raise FailedError(f'its last line must be a number, or JSON with "value", got {last[:80]!r}') from None
    if data.get("failed"):
        raise FailedError(str(data["failed"]))
    if data.get("value") is None:
        raise FailedError(f'its JSON must have a "value", got {last[:80]}')
    return {name: data[name] for name in ("value", "x", "time", "error") if data.get(name) is not None}


def _number(text: str) -> float:
    """Return a number as programs print it: `float` also takes 1_000 and the digits of other scripts."""
    if NUMBER.fullmatch(text) is None:
        raise ValueError(text)
    return float(text)


def _stop(process: subprocess.Popen[bytes]) -> None:
    """End a program and whatever it has started: politely, then not."""
    if sys.platform == "win32":
        process.kill()
        return
    try:
        os.killpg(process.pid, signal.SIGTERM)
        process.wait(timeout=PATIENCE)
    except (ProcessLookupError, subprocess.TimeoutExpired):
        pass  # it has ended already, or will now
    finally:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)


@command(
    "run",
    """equipoise run study.jsonl --eps 0.1 -- ./measure.sh          called as ./measure.sh --q1=0.5 --q2=-0.3
equipoise run study.jsonl --readings 200 --timeout 60 -- python measure.py --shots 5
equipoise run study.jsonl --stdin -- ./measure               reads {"id": 0, "x": {"q1": 0.5, "q2": -0.3}}
equipoise run study.jsonl --worker laser-2 -- ./measure.sh   several at once: give each a name of its own""",
    short_help="Let a program of yours measure.",
)
@STUDY
@click.argument("program", nargs=-1, required=True, type=click.UNPROCESSED)
@click.option("--readings", type=click.IntRange(min=1), help="Stop when the study has so many readings.")
@EPS
@AUDIT
@click.option("--timeout", type=click.FloatRange(min=0, min_open=True), help="Seconds a reading may take.")
@click.option("--stdin", is_flag=True, help="Settings as JSON on standard input, not as arguments.")
@click.option(
    "--max-failures", type=click.IntRange(min=1), default=10, show_default=True, help="Give up after so many in a row."
)
@WORKER
@AS_JSON
def run(
    study: Path, program: tuple[str, ...], timeout: float | None, stdin: bool, as_json: bool, **limits: Any
) -> None:
    """Call PROGRAM for every trial, and tell what it prints, until the certificate, the budget or Ctrl-C.

    With --eps an audit is made once the bound is reached by estimate, and the program goes on until it is reached by
    that audit too; not so with --no-audit.

    The program gets the settings as arguments, `--name=value`, or as JSON on standard input. The last line it prints is
    the reading: a number, or a JSON object with "value" and, if you like, "x", "time" and "error", or with "failed".
    Where it fails, hangs or prints something else, the pair is given up and the next one begins. Everything is in the
    study at once: after an interruption, or a crash, the same command continues.
    """
    opt = opened(study)
    worker = limits.pop("worker")
    with _only_one(study, worker), interruptible(), bar(opt, limits["readings"]) as advance:
        for record in opt.records():  # left over from a run that crashed
            if record.trial in opt.open_trials and record.worker == worker:
                opt.expire(record.trial)
        code = _loop(opt, Program(program, stdin, timeout), worker, advance, **limits)
    found = opt.recommend()
    say(as_json, best_data(found, limits["eps"], limits["audit"]) | {"exit": code}, best_text(found))
    sys.exit(code)


def _loop(
    opt: Optimizer,
    program: Program,
    worker: str | None,
    advance: Any,
    readings: int | None,
    eps: float | None,
    audit: bool,
    max_failures: int,
) -> int:
    """Measure until there is enough; return the exit code."""
    in_a_row = 0
    try:
        while not _enough(opt, eps, audit):
            if readings is not None and opt.readings >= readings:
                return 0 if eps is None else NOT_YET
            in_a_row = 0 if _measure(opt, program, worker) else in_a_row + 1
            if in_a_row >= max_failures:
                click.echo(f"The program failed {in_a_row} times in a row.", err=True)
                return FAILING
            advance(opt.readings)
    except KeyboardInterrupt:
        click.echo("\nInterrupted; nothing is lost, and the same command continues.", err=True)
        return INTERRUPTED
    return 0


def _enough(opt: Optimizer, eps: float | None, audit: bool) -> bool:
    """Return whether the bound is reached; where it is, but only by estimate, plan the audit it still needs."""
    if eps is None or opt.plan is not None:
        return False
    best = opt.recommend()
    if audit and best.overall.kind == "estimate" and best.overall.bound <= eps:
        plan = opt.audit()
        click.echo(f"The bound is reached by estimate: an audit of {plan.duels} duels follows.", err=True)
        return False
    return best.certifies(eps, audit=audit)


def _measure(opt: Optimizer, program: Program, worker: str | None) -> bool:
    """Measure one trial; return whether there was a reading."""
    trial = opt.ask(worker=worker)
    told = None
    try:
        told = program.measure(trial)
        opt.tell(trial, **told)
        return True
    except (LogError, np.linalg.LinAlgError):  # nothing that the program can be blamed for
        click.echo(f"Trial {trial.id} read {json_line(told)}, which is not in the study.", err=True)
        raise
    except (FailedError, TypeError, ValueError) as error:  # or a reading that makes no sense
        click.echo(printable(f"Trial {trial.id} failed, {error}: {assignments(trial.x)}", keep=""), err=True)
        opt.tell(trial, failed=str(error))
        return False
    except OSError as error:
        opt.expire(trial)
        raise click.ClickException(f"{program.words[0]} could not be started: {error.strerror or error}") from error
    except KeyboardInterrupt:
        with suppress(ValueError):  # it may have been told just before
            opt.expire(trial)
        raise


@contextmanager
def _only_one(study: Path, worker: str | None) -> Iterator[None]:
    """Refuse a second run of the same worker, which would take the first one's trials for left over."""
    study = Path(os.path.realpath(study))
    lock = FileLock(study.with_name(f"{study.name}.run{_file_name(worker)}"), timeout=0.0)
    try:
        lock.acquire()
    except LockTimeoutError as error:
        message = f"another run is under way, by {lock.holder()}: give this one a --worker of its own"
        raise click.ClickException(message) from error
    except OSError as error:
        raise click.ClickException(f"{lock.path} could not be written: {error.strerror or error}") from error
    try:
        yield
    finally:
        lock.path.unlink(missing_ok=True)
        lock.release()


def _file_name(worker: str | None) -> str:
    """Return what stands for a worker in the name of a file: another for every other one."""
    if worker is None:
        return ""
    name = quote(worker, safe="", errors="backslashreplace")
    return "-" + (name if len(name) <= LONGEST_NAME else hashlib.sha256(name.encode()).hexdigest())


@contextmanager
def bar(opt: Optimizer, readings: int | None) -> Iterator[Any]:
    """Show how many readings a study has; yield what is to be called with their number."""
    from tqdm import tqdm

    with tqdm(total=readings, initial=opt.readings, unit="reading", dynamic_ncols=True, disable=None) as drawn:

        def advance(done: int) -> None:
            drawn.update(done - drawn.n)

        yield advance
