"""Interrupts of a command by a terminal or a shell: signals, and closed streams.

A request to terminate, or a hangup, ends a command as Ctrl-C does: it reports the results so far and loses nothing.
"""

import os
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager

NUMBERS = [getattr(signal, name) for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name)]
"""The signals that end a command; a signal that is ignored at the start, as under nohup, stays ignored."""

STREAMS = (1, 2)
"""Standard output and standard error."""


@contextmanager
def interruptible() -> Iterator[None]:
    """Make a request to terminate, or a hangup, raise KeyboardInterrupt, as Ctrl-C does."""
    terminals = [stream for stream in STREAMS if os.isatty(stream)]

    def interrupt(number: int, frame: object) -> None:
        _silence([stream for stream in terminals if not os.isatty(stream)])
        raise KeyboardInterrupt

    heeded = [number for number in NUMBERS if signal.getsignal(number) is not signal.SIG_IGN]
    before = {number: signal.signal(number, interrupt) for number in heeded}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def open_streams() -> None:
    """Open closed standard streams to the null device; otherwise the next file or pipe would take their numbers."""
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        if getattr(sys, name) is None:
            pipe = os.open(os.devnull, os.O_RDWR)
            os.set_inheritable(pipe, True)
            setattr(sys, name, os.fdopen(pipe, "w" if number else "r"))


def discard_unwritten() -> None:
    """Discard what standard output cannot take; else Python tries again when it ends, and exits with 120."""
    try:
        sys.stdout.flush()
    except OSError:
        _silence([sys.stdout.fileno()])


def _silence(streams: list[int]) -> None:
    """Redirect streams to the null device, since printing to them would be an error."""
    for stream in streams:
        nothing = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nothing, stream)
        os.close(nothing)
