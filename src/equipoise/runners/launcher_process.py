"""Starts programs and reports their cost; run as a separate script, without the library.

It is a separate process for two reasons. The system counts the memory of a program from before the
program is loaded: the starting process passes on its own size, and this process is small (9 MB). And a program must
end with the process that wants its result, however that process ends. So this process watches the pipe of its orders:
if the pipe is closed, or a request to terminate comes, it ends the program and all its children.

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
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

TAIL = 2**16
"""Maximum number of bytes kept from the end of a program's output; a pipe holds no more."""

LONGEST_WAIT = 3600.0
"""Maximum wait in seconds before the clock is checked: a timeout may be longer than the system can wait."""

PATIENCE = 2.0
"""Seconds that a program has to end after a request to terminate, before it is killed."""

DEFAULTS = [number for number in (signal.SIGPIPE, signal.SIGXFSZ) if signal.getsignal(number) is signal.SIG_IGN]
"""Signals that Python ignores, and that a program must not ignore."""


class Line:
    """The pipes to the process that sends orders.

    Args:
        orders: The pipe of orders.
        answers: The pipe of answers.
        begun: The pipe for the number of each started process.

    Attributes:
        cut: Whether no more orders will come: the other process has ended, or asks this one to terminate.
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
        """Wait until a pipe is ready, a program has ended, the line is cut or the deadline has passed."""
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
        """Report the number of the running process; it is read only if this process is killed."""
        with suppress(BlockingIOError, BrokenPipeError):
            os.write(self._begun, b"%d\n" % pid)

    def answer(self, said: dict[str, Any]) -> None:
        """Answer an order."""
        rest = json.dumps(said).encode() + b"\n"
        with suppress(BrokenPipeError):
            while rest:
                rest = rest[os.write(self._answers, rest) :]


class Tail:
    """The end of a program's output into a pipe.

    Attributes:
        pipe: Our end of the pipe, or `None` after the other end was closed.
        kept: The last bytes that were read.
    """

    def __init__(self, pipe: int) -> None:
        os.set_blocking(pipe, False)
        self.pipe: int | None = pipe
        self.kept = b""

    def read(self) -> None:
        """Read the present content of the pipe."""
        if self.pipe is None:
            return
        with suppress(BlockingIOError):
            more = os.read(self.pipe, TAIL)
            self.kept = (self.kept + more)[-TAIL:]
            if not more:
                self.close()

    def close(self) -> None:
        """Stop reading."""
        if self.pipe is not None:
            os.close(self.pipe)
            self.pipe = None


class Feed:
    """The remaining input of a program.

    Attributes:
        pipe: Our end of the pipe, or `None` after everything was written, or the program closed its input.
    """

    def __init__(self, pipe: int, rest: bytes) -> None:
        os.set_blocking(pipe, False)
        self.pipe: int | None = pipe
        self._rest = rest

    def write(self) -> None:
        """Write as much as fits."""
        try:
            while self.pipe is not None and self._rest:
                self._rest = self._rest[os.write(self.pipe, self._rest) :]
        except BlockingIOError:
            return
        except BrokenPipeError:
            pass
        self.close()

    def close(self) -> None:
        """Stop writing."""
        if self.pipe is not None:
            os.close(self.pipe)
            self.pipe = None


class StandardStreams:
    """The standard streams of a program: files, pipes with an end here, or our own.

    Args:
        order: `stdin`, a file, or nothing for the text `sent`; `stdout`, a file, or nothing to share ours;
            `capture` and `complaints`, whether to keep the end of standard output and of standard error instead.
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
        """The file actions of a new process that set up its streams."""
        return [(os.POSIX_SPAWN_DUP2, pipe, stream) for stream, pipe in self._theirs.items()]

    def hand_over(self) -> None:
        """Close the ends that belong to the program only."""
        while self._theirs:
            os.close(self._theirs.popitem()[1])

    def move(self, line: Line, until: float | None) -> None:
        """Wait for an event; read and write as much as possible."""
        tails = {tail.pipe: tail for tail in self.tails.values() if tail.pipe is not None}
        feeds = {feed.pipe: feed for feed in self._feeds if feed.pipe is not None}
        readable, writable = line.wait(list(tails), list(feeds), until)
        for pipe in readable:
            tails[pipe].read()
        for pipe in writable:
            feeds[pipe].write()

    def text(self, stream: int) -> str:
        """Return the end of a stream, with the rest of its pipe."""
        tail = self.tails.get(stream)
        if tail is None:
            return ""
        tail.read()
        return tail.kept.decode(errors="replace")

    def close(self) -> None:
        """Close everything: a child in the background may still print, but nothing reads that."""
        self.hand_over()
        for tail in self.tails.values():
            tail.close()
        for feed in self._feeds:
            feed.close()


PERF_EVENT_OPEN = {"x86_64": 298, "aarch64": 241, "riscv64": 241, "ppc64le": 319, "s390x": 331}
"""The number of the system call, for each kind of processor that runs Linux."""

ATTRIBUTES, FLAGS_AT = 128, 40
"""Size of `perf_event_attr` in bytes, and the offset of its flags."""

SOFTWARE, SWITCHES = 1, (3, 4)
"""The type of the kernel's software events, and those of them that happen in the kernel: a switch to another
program or to another core. All other events are counted in user mode, which most kernels allow for all users."""

INHERIT, EXCLUDE_KERNEL, EXCLUDE_HYPERVISOR = 1 << 1, 1 << 5, 1 << 6


class Counters:
    """Counters of kernel events for a program and all its children.

    Each event is counted twice: for this process and its children, and for this process alone. The difference is the
    program's, and the program itself needs no change.

    Args:
        events: Type and number of each event, as for `perf_event_open`.
    """

    def __init__(self, events: list[list[int]]) -> None:
        self._pipes: list[tuple[int, int]] = []
        try:
            for kind, number in events:
                self._pipes.append((_counter(kind, number, INHERIT), _counter(kind, number, 0)))
        except OSError:
            self.close()
            raise

    def read(self) -> list[int]:
        """Return the number of each event in the started program."""
        return [_count(both) - _count(ours) for both, ours in self._pipes]

    def close(self) -> None:
        """Close the counters."""
        for pipes in self._pipes:
            for pipe in pipes:
                os.close(pipe)


def _counter(kind: int, number: int, inherit: int) -> int:
    """Open a counter of this process, for user mode."""
    import ctypes  # only if needed: it would enlarge every started program
    import struct

    call = PERF_EVENT_OPEN.get(os.uname().machine) if sys.platform == "linux" else None
    if call is None:
        raise OSError(errno.ENOSYS, "events are counted on Linux only", "perf_event_open")
    attributes = ctypes.create_string_buffer(ATTRIBUTES)
    struct.pack_into("=IIQ", attributes, 0, kind, ATTRIBUTES, number)
    user_only = 0 if kind == SOFTWARE and number in SWITCHES else EXCLUDE_KERNEL
    struct.pack_into("=Q", attributes, FLAGS_AT, inherit | user_only | EXCLUDE_HYPERVISOR)
    libc = ctypes.CDLL(None, use_errno=True)
    pipe: int = libc.syscall(call, attributes, 0, -1, -1, 0)
    if pipe < 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()), "perf_event_open")
    os.set_inheritable(pipe, False)
    return pipe


def _count(pipe: int) -> int:
    return int.from_bytes(os.read(pipe, 8), sys.byteorder)


@contextmanager
def placed(folder: str | None, cores: list[int] | None) -> Iterator[None]:
    """Change the folder and the allowed cores while a program is started: it inherits both."""
    everywhere = os.sched_getaffinity(0) if cores else None
    home = os.open(".", os.O_RDONLY) if folder else None
    try:
        if cores:
            os.sched_setaffinity(0, cores)
        if folder:
            os.chdir(folder)
        yield
    finally:
        if home is not None:
            os.fchdir(home)
            os.close(home)
        if everywhere is not None:
            os.sched_setaffinity(0, everywhere)


class Run:
    """A running program, the first of its own process group.

    Args:
        order: The order: `argv`, the words; `timeout`, in seconds, or 0; `folder`, `cores` and `events`;
            and the keys of `StandardStreams`.
        line: The pipes to the process that sent the order.
    """

    def __init__(self, order: dict[str, Any], line: Line) -> None:
        self._line, self._streams, words = line, StandardStreams(order), order["argv"]
        how: dict[str, Any] = {"file_actions": self._streams.actions, "setpgroup": 0, "setsigdef": DEFAULTS}
        self._counters: Counters | None = None
        try:
            self._counters = Counters(order.get("events") or [])
            with placed(order.get("folder"), order.get("cores")):
                self._start = time.perf_counter()
                self._pid = os.posix_spawnp(words[0], words, os.environ, **how)
        except OSError:
            self.close()
            raise
        self._until = time.monotonic() + order["timeout"] if order["timeout"] else None
        line.begin(self._pid)
        self._streams.hand_over()

    def close(self) -> None:
        """Close all files of the program."""
        self._streams.close()
        if self._counters is not None:
            self._counters.close()

    def outcome(self) -> dict[str, Any]:
        """Wait for the end and return the cost; end the program after the timeout, or if the line is cut."""
        late, cost = False, self._wait(self._until, heed=True)
        if cost is None:
            late = not self._line.cut
            self._kill(signal.SIGTERM)
            cost = self._wait(time.monotonic() + PATIENCE)
            self._kill(signal.SIGKILL)  # the program and all its children
            cost = self._wait() if cost is None else cost
        counts = self._counters.read() if self._counters is not None else []
        said = {"late": late, "out": self._streams.text(1), "err": self._streams.text(2), "counts": counts}
        self.close()
        return {**cost, **said} if cost is not None else said

    def _wait(self, until: float | None = None, heed: bool = False) -> dict[str, Any] | None:
        """Wait for the end, until a deadline, or until the line is cut if `heed` is true."""
        while not (cost := self._cost()):
            if (until is not None and time.monotonic() >= until) or (heed and self._line.cut):
                return None
            self._streams.move(self._line, until)
        return cost

    def _cost(self) -> dict[str, Any] | None:
        """Return the cost of the program; `None` if it is still running."""
        ended, status, usage = os.wait4(self._pid, os.WNOHANG)
        if not ended:
            return None
        cost = {"wall": time.perf_counter() - self._start, "user": usage.ru_utime, "system": usage.ru_stime}
        return cost | {"rss": _bytes(usage), "exit": os.waitstatus_to_exitcode(status)}

    def _kill(self, number: int) -> None:
        """Send a signal to the program and all its children."""
        with suppress(ProcessLookupError, PermissionError):  # all have ended; macOS raises PermissionError
            os.killpg(self._pid, number)


def _bytes(usage: resource.struct_rusage) -> int:
    """Return the peak memory in bytes."""
    return usage.ru_maxrss if sys.platform == "darwin" else 1024 * usage.ru_maxrss


def main(orders: int, answers: int, begun: int) -> None:
    """Answer orders until the line is cut."""
    line = Line(orders, answers, begun)
    while (order := line.order()) is not None:
        try:
            line.answer(Run(order, line).outcome())
        except OSError as error:
            line.answer({"error": [error.errno, error.strerror, error.filename]})
        except ValueError as error:  # a word contains a zero byte
            line.answer({"error": [errno.EINVAL, str(error), order["argv"][0]]})


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
