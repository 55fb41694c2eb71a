"""Programs run below a small process, which ends them if this process ends for any reason.

`launcher_process.py` is that process. No program survives Ctrl-C, a hangup, a request to terminate or a kill
of this process; and if the launcher itself is killed, its program is ended here, and another launcher reruns it.
"""

import json
import os
import signal
import subprocess
import sys
import threading
import time
import warnings
import weakref
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, TextIO

SCRIPT = Path(__file__).with_name("launcher_process.py")
"""The script of the launcher; never imported here, since it needs a POSIX system."""

MOST_STARTS = 3
"""Maximum number of starts of a program whose launcher is killed."""

PATIENCE, POLL = 2.0, 0.02
"""Seconds that a program has to end before it is killed, if its launcher was killed; and between checks."""

PIPE = 2**16
"""Capacity of a pipe in bytes."""


class LauncherError(RuntimeError):
    """The launcher was killed repeatedly."""


class StoppedError(Exception):
    """This process ended the program, so its trial has no result."""


@dataclass(frozen=True)
class Order:
    """The order to run a program.

    Attributes:
        argv: The words of the command line.
        stdin: A file for standard input; `None` for a pipe with the text `sent`.
        sent: Text for standard input.
        stdout: A file for standard output, to which it is appended; `None` to share ours.
        capture: Whether the end of standard output is returned instead.
        complaints: Whether the end of standard error is returned instead of shown.
        timeout: Seconds after which the program and all its children are ended; 0 for never.
        folder: The working directory; `None` for the current one.
        cores: Numbers of the allowed cores, on Linux; empty for all of ours.
        events: Type and number of the events that a Linux kernel counts meanwhile, as for `perf_event_open`.
    """

    argv: Sequence[str]
    stdin: str | None = os.devnull
    sent: str = ""
    stdout: str | None = None
    capture: bool = False
    complaints: bool = False
    timeout: float = 0.0
    folder: str | None = None
    cores: Sequence[int] = ()
    events: Sequence[tuple[int, int]] = ()


@dataclass(frozen=True)
class Ended:
    """The result of a program that has ended.

    Attributes:
        wall: Seconds from start to end.
        user: Seconds of processor time in the program.
        system: Seconds of processor time in the system on its behalf.
        rss: Its peak memory in bytes; at least that of the launcher.
        exit: Its exit code; if a signal ended it, the negative number of the signal.
        late: Whether it was ended by the timeout.
        out: The end of its output, if that was captured.
        err: The end of its standard error, if that was captured.
        counts: The count of each of the events.
    """

    wall: float
    user: float
    system: float
    rss: float
    exit: int
    late: bool
    out: str
    err: str
    counts: Sequence[int] = ()


class Launcher:
    r"""A runner of programs, one at a time; its process starts with the first program.

    Args:
        notify: Called with a notice for the user if the launcher was killed and is started again.

    Example:
        >>> launcher = Launcher()
        >>> launcher.run(Order(["echo", "3"], capture=True)).out
        '3\n'
        >>> launcher.stop()
    """

    def __init__(self, notify: Callable[[Warning], object] = warnings.warn) -> None:
        self._turn, self._notify = threading.Lock(), notify
        self._line: _Line | None = None
        self._stopped = False

    def run(self, order: Order) -> Ended:
        """Run a program and return how it ended.

        Raises:
            OSError: It could not be started; `filename` is the file at fault.
            StoppedError: `stop` was called, before or meanwhile.
            LauncherError: The launcher was killed each time.
        """
        with self._turn:
            for _ in range(MOST_STARTS):
                said = self._asked(order)
                if said is not None:
                    return _ended(said)
                self._notify(UserWarning("the process that starts programs was killed, and is started again"))
        raise LauncherError(f"the process that starts programs was killed {MOST_STARTS} times in a row")

    def stop(self) -> None:
        """End the running program and all its children; other threads may call this, and it is final."""
        self._stopped = True
        if self._line is not None:
            self._line.terminate()
        with self._turn:
            self._forget()

    def _asked(self, order: Order) -> dict[str, Any] | None:
        """Return the launcher's report on a program; `None` if the launcher was killed meanwhile."""
        try:
            self._line = _Line() if self._line is None else self._line
            said = None if self._stopped else self._line.asked(order)
        except BaseException:  # Ctrl-C
            self._stopped = True
            self._forget()
            raise
        if said is None:
            self._forget()
        if self._stopped:
            raise StoppedError("the program was ended")
        return said

    def _forget(self) -> None:
        line, self._line = self._line, None
        if line is not None:
            line.end()


class _Line:
    """The launcher process and the pipes to it; it ends with this object, or with Python."""

    def __init__(self) -> None:
        (asked, orders), (answers, told), (begun, said) = os.pipe(), os.pipe(), os.pipe()
        theirs = (asked, told, said)
        words = [sys.executable, "-I", "-S", str(SCRIPT), *map(str, theirs)]
        try:
            self._process = subprocess.Popen(words, pass_fds=theirs, start_new_session=True)  # Ctrl-C must not reach it
        finally:
            for pipe in theirs:
                os.close(pipe)
        os.set_blocking(begun, False)
        self._orders, self._begun = orders, begun
        self._answers = os.fdopen(answers, encoding="utf-8")
        self._end = weakref.finalize(self, _ended_process, self._process, orders, begun, self._answers)

    def terminate(self) -> None:
        """Ask the process to end itself and its program."""
        self._process.send_signal(signal.SIGTERM)

    def end(self) -> None:
        """End the process and its program, and close the pipes."""
        self._end()

    def asked(self, order: Order) -> dict[str, Any] | None:
        """Send an order and wait for the answer; `None` if the process ends instead."""
        rest = json.dumps(asdict(order)).encode() + b"\n"
        with suppress(BrokenPipeError):
            while rest:
                rest = rest[os.write(self._orders, rest) :]
        line, group = self._answers.readline(), self._last_begun()
        if line.endswith("\n"):
            answer: dict[str, Any] = json.loads(line)
            return answer
        if self._process.wait() and group is not None:  # the launcher was killed, and could not end its program
            _end_group(group)
        return None

    def _last_begun(self) -> int | None:
        """Return the process number of the last program; the pipe never fills, since each answer empties it."""
        with suppress(BlockingIOError):
            if numbers := os.read(self._begun, PIPE).split():
                return int(numbers[-1])
        return None


def _ended_process(process: subprocess.Popen[bytes], orders: int, begun: int, answers: TextIO) -> None:
    """End a launcher: it first terminates and then kills its program, even if nobody waits for that here."""
    process.send_signal(signal.SIGTERM)
    os.close(orders)
    process.wait()
    os.close(begun)
    answers.close()


def _end_group(group: int) -> None:
    """End a program whose launcher was killed, with all its children: first terminate, then kill."""
    until = time.monotonic() + PATIENCE
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(group, signal.SIGTERM)
        while time.monotonic() < until:
            os.killpg(group, 0)
            time.sleep(POLL)
        os.killpg(group, signal.SIGKILL)


def _ended(said: dict[str, Any]) -> Ended:
    """Return the result of a program; raise `OSError` if it did not start."""
    if "error" in said:
        raise OSError(*said["error"])
    return Ended(**said)
