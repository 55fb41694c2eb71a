"""Programs of the user's that measure: started for a trial, heard to their last line, ended with all they started."""

import json
import math
import os
import select
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from subprocess import PIPE
from typing import Any

from equipoise.data import Trial
from equipoise.desk.cells import NUMBER, json_line
from equipoise.spaces.readouts import settings

PATIENCE = 2.0
"""Seconds a program has to end after it is asked to, before it is killed."""

MAX_OUTPUT = 2**16
"""Bytes at the end of what a program prints that are kept; its last line must be among them."""

POLL = 0.02
"""Seconds after which it is looked whether a program has ended whose output somebody else keeps open."""


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


TOLD = ("value", "x", "time", "error", "block", "covariates")
"""What a program may say of a reading."""


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
    return {name: data[name] for name in TOLD if data.get(name) is not None}


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
