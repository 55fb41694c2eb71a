"""Worker processes that joblib starts: they leave signals to the process that started them, and do not outlive it."""

import os
import signal
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

LOOK = 0.5
"""Seconds after which a worker looks again whether the process that started it is still there."""


@contextmanager
def deaf() -> Iterator[None]:
    """Let processes that are started inside hear neither Ctrl-C nor a request to terminate: their parent ends them.

    A signal that comes meanwhile reaches this process at the end. Workers are deaf from their first moment on: one that
    is interrupted while it starts prints a traceback. Windows has no such masks.
    """
    if sys.platform == "win32":
        yield
        return
    _start_trackers()
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT, signal.SIGTERM})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _start_trackers() -> None:
    """Start what cleans up after workers; to be done before, since it unblocks all signals again."""
    from multiprocessing import resource_tracker

    from joblib.externals.loky.backend import resource_tracker as loky_tracker

    resource_tracker.ensure_running()
    loky_tracker.ensure_running()


def end_with(parent: int) -> None:
    """End this process soon after the one that started it, however that ended: what a worker does first.

    On Windows a process is not told that its parent has ended, and stays.
    """
    threading.Thread(target=_watch, args=(parent,), daemon=True).start()


def _watch(parent: int) -> None:
    while os.getppid() == parent:  # an orphan is given another parent
        time.sleep(LOOK)
    os._exit(1)  # whatever the other threads do: nobody waits for it
