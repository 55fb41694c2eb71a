"""Starts programs and says what they cost; run as a script of its own, with nothing of the library.

It is a process of its own for two reasons. The memory of a program counts, in the books of the system, from before the
program is loaded: the process that starts it passes its own size on, and this one is small (9 MB). And a program must
end with the process that wants its result, however that one ends. So this process watches the pipe of its orders: if
the pipe is closed, or a request to terminate comes, it ends the program with all that the program has started.

It runs one program at a time: an order is a line of JSON, and so is the answer.
"""

import errno
import json
import os
import resource
import select
import signal
import sys
import time
from contextlib import suppress
from typing import Any

TAIL = 2**16
"""Bytes at the end of what a program prints that are kept; a pipe holds no more."""

LONGEST_WAIT = 3600.0
"""Seconds after which it is looked at the clock again: a timeout may be longer than the system can wait."""

PATIENCE = 2.0
"""Seconds a program has to end after it is asked to, before it is killed."""

DEFAULTS = [number for number in (signal.SIGPIPE, signal.SIGXFSZ) if signal.getsignal(number) is signal.SIG_IGN]
"""Signals that Python ignores, and a program must not."""


class Line:
    """The pipes to the process that gives orders.

    Args:
        orders: Where orders come from.
        answers: Where answers go.
        begun: Where the number of each process goes when it begins.

    Attributes:
        cut: Whether there will be no more orders: the other process has ended, or asks this one to terminate.
    """

    def __init__(self, orders: int, answers: int, begun: int) -> None:
        self.cut = False
        self._orders, self._answers, self._begun, self._received = orders, answers, begun, b""
        for pipe in (orders, answers, begun):
            os.set_inheritable(pipe, False)
        self._wake, woken = os.pipe()
        for pipe in (self._wake, woken, begun):
            os.set_blocking(pipe, False)
        signal.set_wakeup_fd(woken, warn_on_full_buffer=False)
        signal.signal(signal.SIGCHLD, lambda number, frame: None)  # it only wakes `wait`
        signal.signal(signal.SIGTERM, self._terminate)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGCHLD, signal.SIGTERM})

    def _terminate(self, number: int, frame: object) -> None:
        self.cut = True

    def wait(self, readable: list[int], writable: list[int], until: float | None) -> tuple[list[int], list[int]]:
        """Wait until a pipe is ready, a program has ended, the line is cut or the time has come."""
        ours = [self._wake] if self.cut else [self._wake, self._orders]
        seconds = None if until is None else min(max(until - time.monotonic(), 0.0), LONGEST_WAIT)
        read, write, _ = select.select([*ours, *readable], writable, [], seconds)
        if self._wake in read:
            os.read(self._wake, TAIL)
        if self._orders in read:
            more = os.read(self._orders, TAIL)
            self._received += more
            self.cut = self.cut or not more
        return [pipe for pipe in read if pipe in readable], write

    def order(self) -> dict[str, Any] | None:
        """Return the next order; `None` if the line is cut."""
        while b"\n" not in self._received and not self.cut:
            self.wait([], [], None)
        if self.cut:
            return None
        line, _, self._received = self._received.partition(b"\n")
        order: dict[str, Any] = json.loads(line)
        return order

    def begin(self, pid: int) -> None:
        """Say which process runs; it is read only if this process is killed."""
        with suppress(BlockingIOError, BrokenPipeError):
            os.write(self._begun, b"%d\n" % pid)

    def answer(self, said: dict[str, Any]) -> None:
        """Answer an order."""
        rest = json.dumps(said).encode() + b"\n"
        with suppress(BrokenPipeError):
            while rest:
                rest = rest[os.write(self._answers, rest) :]


class Tail:
    """The end of what a program prints into a pipe.

    Attributes:
        pipe: Our end of the pipe, or `None` after the other one was closed.
        kept: The end of what came.
    """

    def __init__(self, pipe: int) -> None:
        os.set_blocking(pipe, False)
        self.pipe: int | None = pipe
        self.kept = b""

    def read(self) -> None:
        """Take what is in the pipe now."""
        if self.pipe is None:
            return
        with suppress(BlockingIOError):
            more = os.read(self.pipe, TAIL)
            self.kept = (self.kept + more)[-TAIL:]
            if not more:
                self.close()

    def close(self) -> None:
        """Read no more."""
        if self.pipe is not None:
            os.close(self.pipe)
            self.pipe = None


class Feed:
    """What is still to be written to a program.

    Attributes:
        pipe: Our end of the pipe, or `None` after everything was written, or the program wants no more.
    """

    def __init__(self, pipe: int, rest: bytes) -> None:
        os.set_blocking(pipe, False)
        self.pipe: int | None = pipe
        self._rest = rest

    def write(self) -> None:
        """Write what there is room for."""
        try:
            while self.pipe is not None and self._rest:
                self._rest = self._rest[os.write(self.pipe, self._rest) :]
        except BlockingIOError:
            return
        except BrokenPipeError:
            pass
        self.close()

    def close(self) -> None:
        """Write no more."""
        if self.pipe is not None:
            os.close(self.pipe)
            self.pipe = None


class StandardStreams:
    """The standard streams of a program: files, pipes with an end here, or our own.

    Args:
        order: `stdin`, a file, or nothing for the text `sent`; `stdout`, a file, or nothing for where ours goes;
            `capture` and `complaints`, whether the end of standard output and of standard error is kept instead.
    """

    def __init__(self, order: dict[str, Any]) -> None:
        self._theirs: dict[int, int] = {}
        self._feeds: list[Feed] = []
        self.tails: dict[int, Tail] = {}
        try:
            self._open(order)
        except OSError:
            self.close()
            raise

    def _open(self, order: dict[str, Any]) -> None:
        if order["stdin"] is None:
            self._theirs[0], ours = os.pipe()
            self._feeds = [Feed(ours, order["sent"].encode())]
        else:
            self._theirs[0] = os.open(order["stdin"], os.O_RDONLY)
        if order["capture"]:
            self._keep(1)
        elif order["stdout"] is not None:
            self._theirs[1] = os.open(order["stdout"], os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o666)
        if order["complaints"]:
            self._keep(2)

    def _keep(self, stream: int) -> None:
        ours, self._theirs[stream] = os.pipe()
        self.tails[stream] = Tail(ours)

    @property
    def actions(self) -> list[Any]:
        """What a new process is to do with its streams."""
        return [(os.POSIX_SPAWN_DUP2, pipe, stream) for stream, pipe in self._theirs.items()]

    def hand_over(self) -> None:
        """Close the ends that only the program may hold."""
        while self._theirs:
            os.close(self._theirs.popitem()[1])

    def move(self, line: Line, until: float | None) -> None:
        """Wait for anything to happen; read and write what can be."""
        tails = {tail.pipe: tail for tail in self.tails.values() if tail.pipe is not None}
        feeds = {feed.pipe: feed for feed in self._feeds if feed.pipe is not None}
        readable, writable = line.wait(list(tails), list(feeds), until)
        for pipe in readable:
            tails[pipe].read()
        for pipe in writable:
            feeds[pipe].write()

    def text(self, stream: int) -> str:
        """Return the end of what a stream has, and of what is still in its pipe."""
        tail = self.tails.get(stream)
        if tail is None:
            return ""
        tail.read()
        return tail.kept.decode(errors="replace")

    def close(self) -> None:
        """Close everything: a child in the background may still print, but not for us."""
        self.hand_over()
        for tail in self.tails.values():
            tail.close()
        for feed in self._feeds:
            feed.close()


class Run:
    """A program that runs, the first of a process group of its own.

    Args:
        order: What to run: `argv`, the words; `timeout`, in seconds, or 0; and what `StandardStreams` takes.
        line: Who wants to know.
    """

    def __init__(self, order: dict[str, Any], line: Line) -> None:
        self._line, self._streams, words = line, StandardStreams(order), order["argv"]
        how: dict[str, Any] = {"file_actions": self._streams.actions, "setpgroup": 0, "setsigdef": DEFAULTS}
        self._start = time.perf_counter()
        try:
            self._pid = os.posix_spawnp(words[0], words, os.environ, **how)
        except OSError:
            self._streams.close()
            raise
        self._until = time.monotonic() + order["timeout"] if order["timeout"] else None
        line.begin(self._pid)
        self._streams.hand_over()

    def outcome(self) -> dict[str, Any]:
        """Wait for the end and return what it has cost; if it takes too long, or the line is cut, end it."""
        late, cost = False, self._wait(self._until, heed=True)
        if cost is None:
            late = not self._line.cut
            self._kill(signal.SIGTERM)
            cost = self._wait(time.monotonic() + PATIENCE)
            self._kill(signal.SIGKILL)  # it, and whatever it has started
            cost = self._wait() if cost is None else cost
        said = {"late": late, "out": self._streams.text(1), "err": self._streams.text(2)}
        self._streams.close()
        return {**cost, **said} if cost is not None else said

    def _wait(self, until: float | None = None, heed: bool = False) -> dict[str, Any] | None:
        """Wait for the end, but not after a time, nor, if the line is heeded, after it is cut."""
        while not (cost := self._cost()):
            if (until is not None and time.monotonic() >= until) or (heed and self._line.cut):
                return None
            self._streams.move(self._line, until)
        return cost

    def _cost(self) -> dict[str, Any] | None:
        """Return what the program has cost; `None` if it still runs."""
        ended, status, usage = os.wait4(self._pid, os.WNOHANG)
        if not ended:
            return None
        cost = {"wall": time.perf_counter() - self._start, "user": usage.ru_utime, "system": usage.ru_stime}
        return cost | {"rss": _bytes(usage), "exit": os.waitstatus_to_exitcode(status)}

    def _kill(self, number: int) -> None:
        """Send a signal to the program and whatever it has started."""
        with suppress(ProcessLookupError, PermissionError):  # all have ended; PermissionError: how macOS says it
            os.killpg(self._pid, number)


def _bytes(usage: resource.struct_rusage) -> int:
    """Return the most memory that was used."""
    return usage.ru_maxrss if sys.platform == "darwin" else 1024 * usage.ru_maxrss


def main(orders: int, answers: int, begun: int) -> None:
    """Answer orders until the line is cut."""
    line = Line(orders, answers, begun)
    while (order := line.order()) is not None:
        try:
            line.answer(Run(order, line).outcome())
        except OSError as error:
            line.answer({"error": [error.errno, error.strerror, error.filename]})
        except ValueError as error:  # a word with a zero byte in it
            line.answer({"error": [errno.EINVAL, str(error), order["argv"][0]]})


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
