"""Starts programs and says what they cost; run as a script of its own, with nothing of the library.

The memory of a process counts, in the books of the system, from before its program is loaded: whoever starts it passes
its own size on. So programs are started by this small process (9 MB) instead of a large one. It imports little, starts
one program at a time as it is told, a JSON line each, and answers with a JSON line.
"""

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
"""Bytes at the end of what a program prints that are kept."""

POLL = 0.02
"""Seconds after which it is looked whether a program has ended whose output somebody else keeps open."""

PATIENCE = 2.0
"""Seconds a program has to end after it is asked to, before it is killed."""


class Launcher:
    """Runs one program at a time, and ends it when its time is up or this process is asked to terminate.

    Attributes:
        running: The process that runs, which leads a group of its own; `None` where there is none.
        asked: Whether it was asked to end.
    """

    def __init__(self) -> None:
        self.running: int | None = None
        self.asked = False
        signal.signal(signal.SIGALRM, self.hurry)
        signal.signal(signal.SIGTERM, self.terminate)

    def launch(self, order: dict[str, Any]) -> dict[str, Any]:
        """Run a program and return what it has cost.

        Args:
            order: `argv`, the words; `stdin`, a file; `stdout`, a file for what it prints, or nothing where that and
                its complaints go where ours do; `capture`, whether it is kept instead; `timeout`, in seconds, or 0.
        """
        self.asked, words = False, order["argv"]
        ends = os.pipe() if order["capture"] else None
        actions = _actions(order, ends)
        signal.setitimer(signal.ITIMER_REAL, order["timeout"])
        start = time.perf_counter()
        try:
            self.running = os.posix_spawnp(words[0], words, os.environ, file_actions=actions, setpgroup=0)
        except OSError as error:
            return {"error": f"{words[0]} could not be started: {error.strerror}"}
        out, status, usage, end = _kept(self.running, ends) if ends else (b"", *_ended(self.running))
        self.running = None
        signal.setitimer(signal.ITIMER_REAL, 0)
        cost = {"wall": end - start, "user": usage.ru_utime, "system": usage.ru_stime, "rss": _bytes(usage)}
        code = os.waitstatus_to_exitcode(status)
        return cost | {"exit": code, "late": self.asked, "out": out.decode(errors="replace")}

    def hurry(self, number: int, frame: object) -> None:
        """End the program whose time is up: politely, then not."""
        self.kill(signal.SIGKILL if self.asked else signal.SIGTERM)
        self.asked = True
        signal.setitimer(signal.ITIMER_REAL, PATIENCE)

    def terminate(self, number: int, frame: object) -> None:
        """End the program that runs, politely, then not; and ourselves."""
        self.kill(signal.SIGTERM)
        until = time.monotonic() + PATIENCE
        with suppress(ChildProcessError):
            while self.running and time.monotonic() < until and not os.waitpid(self.running, os.WNOHANG)[0]:
                time.sleep(POLL)
        self.kill(signal.SIGKILL)
        os._exit(0)

    def kill(self, number: int) -> None:
        """Send a signal to the program and whatever it has started."""
        if self.running is not None:
            with suppress(ProcessLookupError):
                os.killpg(self.running, number)


def _actions(order: dict[str, Any], ends: tuple[int, int] | None) -> list[Any]:
    """Return what a new process is to do with its standard input and output."""
    actions: list[Any] = [(os.POSIX_SPAWN_OPEN, 0, order["stdin"], os.O_RDONLY, 0)]
    if order["stdout"]:
        actions += [(os.POSIX_SPAWN_OPEN, 2, os.devnull, os.O_WRONLY, 0)]
    if ends:
        actions += [(os.POSIX_SPAWN_DUP2, ends[1], 1)]
    elif order["stdout"]:
        actions += [(os.POSIX_SPAWN_OPEN, 1, order["stdout"], os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o666)]
    return actions


def _ended(pid: int) -> tuple[int, resource.struct_rusage, float]:
    """Wait for a program."""
    _, status, usage = os.wait4(pid, 0)
    return status, usage, time.perf_counter()


def _kept(pid: int, ends: tuple[int, int]) -> tuple[bytes, int, resource.struct_rusage, float]:
    """Wait for a program; return the end of what it printed, though a child in the background might print on."""
    tail = b""
    os.close(ends[1])
    try:
        while True:
            if not select.select([ends[0]], [], [], POLL)[0]:
                done, status, usage = os.wait4(pid, os.WNOHANG)
                if done:
                    return tail, status, usage, time.perf_counter()
            elif more := os.read(ends[0], TAIL):
                tail = (tail + more)[-TAIL:]
            else:
                return (tail, *_ended(pid))
    finally:
        os.close(ends[0])


def _bytes(usage: resource.struct_rusage) -> int:
    """Return the most memory that was used."""
    return usage.ru_maxrss if sys.platform == "darwin" else 1024 * usage.ru_maxrss


def main(orders: int, answers: int) -> None:
    """Answer orders until there are no more."""
    launcher = Launcher()
    for pipe in (orders, answers):
        os.set_inheritable(pipe, False)
    with os.fdopen(orders) as asked, os.fdopen(answers, "w") as told:
        for line in asked:
            told.write(json.dumps(launcher.launch(json.loads(line))) + "\n")
            told.flush()


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]))
