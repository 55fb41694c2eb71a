"""Programs are started by a small process, which ends them if this one ends in any way.

`launcher_process.py` is that process. Nothing is left running after Ctrl-C, a hangup, a request to terminate or a kill
of this process; and if the launcher itself is killed, its program is ended here, and another launcher runs it again.
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
"""Never imported here, since it needs a POSIX system."""

MOST_STARTS = 3
"""How often a program is started whose launcher was killed."""

PATIENCE, POLL = 2.0, 0.02
"""Seconds a program has to end before it is killed, if its launcher was; and between looks whether it has."""

PIPE = 2**16
"""Bytes that a pipe holds."""


class LauncherError(RuntimeError):
    """The process that starts programs was killed, again and again."""


class StoppedError(Exception):
    """The program was ended from here, so that it says nothing of its trial."""


@dataclass(frozen=True)
class Order:
    """What to run.

    Attributes:
        argv: The words.
        stdin: A file for standard input; `None` for a pipe with the text `sent`.
        sent: Text for standard input.
        stdout: A file for standard output, to which it is appended; `None` for the same as ours.
        capture: Whether the end of standard output is returned instead.
        complaints: Whether the end of standard error is returned instead of shown.
        timeout: After how many seconds the program is ended, with all it has started; 0 for never.
        folder: Where it is started; `None` for here.
        cores: Numbers of the cores that it may use, on Linux; none for all of ours.
        events: Type and number of events that a Linux kernel counts meanwhile, as for `perf_event_open`.
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
    """A program that has ended.

    Attributes:
        wall: Seconds from start to end.
        user: Seconds of computing in the program.
        system: Seconds of computing in the system for it.
        rss: Its peak memory in bytes; at least that of the launcher.
        exit: Its exit code; if it was ended by a signal, the number of that, negative.
        late: Whether it was ended since its time was up.
        out: The end of its output, if that was captured.
        err: The end of its standard error, if that was captured.
        counts: How often each of the events has happened.
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
    r"""Runs programs, one at a time; its process is started with the first of them.

    Args:
        notify: Called with a notice for the user if this process was killed and is started again.

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
            OSError: It could not be started; `filename` says which file was the reason.
            StoppedError: `stop` was called, before or meanwhile.
            LauncherError: The process that starts programs was killed each time.
        """
        with self._turn:
            for _ in range(MOST_STARTS):
                said = self._asked(order)
                if said is not None:
                    return _ended(said)
                self._notify(UserWarning("the process that starts programs was killed, and is started again"))
        raise LauncherError(f"the process that starts programs was killed {MOST_STARTS} times in a row")

    def stop(self) -> None:
        """End the program that runs, with all it has started; it may be called from another thread, and is final."""
        self._stopped = True
        if self._line is not None:
            self._line.terminate()
        with self._turn:
            self._forget()

    def _asked(self, order: Order) -> dict[str, Any] | None:
        """Return the launcher's report on a program; `None` if it was killed meanwhile."""
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
    """The process that starts programs, and the pipes to it; it ends if this is forgotten, or Python ends."""

    def __init__(self) -> None:
        (asked, orders), (answers, told), (begun, said) = os.pipe(), os.pipe(), os.pipe()
        theirs = (asked, told, said)
        words = [sys.executable, "-I", "-S", str(SCRIPT), *map(str, theirs)]
        try:
            self._process = subprocess.Popen(words, pass_fds=theirs, start_new_session=True)  # Ctrl-C is for us
        finally:
            for pipe in theirs:
                os.close(pipe)
        os.set_blocking(begun, False)
        self._orders, self._begun = orders, begun
        self._answers = os.fdopen(answers, encoding="utf-8")
        self._end = weakref.finalize(self, _ended_process, self._process, orders, begun, self._answers)

    def terminate(self) -> None:
        """Ask the process to end, and its program."""
        self._process.send_signal(signal.SIGTERM)

    def end(self) -> None:
        """End the process and its program, and close the pipes."""
        self._end()

    def asked(self, order: Order) -> dict[str, Any] | None:
        """Give an order and wait for the answer; `None` if the process ends instead."""
        rest = json.dumps(asdict(order)).encode() + b"\n"
        with suppress(BrokenPipeError):
            while rest:
                rest = rest[os.write(self._orders, rest) :]
        line, group = self._answers.readline(), self._last_begun()
        if line.endswith("\n"):
            answer: dict[str, Any] = json.loads(line)
            return answer
        if self._process.wait() and group is not None:  # it was killed, and could not end its program
            _end_group(group)
        return None

    def _last_begun(self) -> int | None:
        """Return the number of the program that began last; the pipe never fills, since each answer empties it."""
        with suppress(BlockingIOError):
            if numbers := os.read(self._begun, PIPE).split():
                return int(numbers[-1])
        return None


def _ended_process(process: subprocess.Popen[bytes], orders: int, begun: int, answers: TextIO) -> None:
    """End a launcher: it ends its program politely, then not, even if nobody waits for that here."""
    process.send_signal(signal.SIGTERM)
    os.close(orders)
    process.wait()
    os.close(begun)
    answers.close()


def _end_group(group: int) -> None:
    """End a program whose launcher was killed, with all it has started: politely, then not."""
    until = time.monotonic() + PATIENCE
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(group, signal.SIGTERM)
        while time.monotonic() < until:
            os.killpg(group, 0)
            time.sleep(POLL)
        os.killpg(group, signal.SIGKILL)


def _ended(said: dict[str, Any]) -> Ended:
    """Return how a program ended; raise `OSError` if it did not begin."""
    if "error" in said:
        raise OSError(*said["error"])
    return Ended(**said)
