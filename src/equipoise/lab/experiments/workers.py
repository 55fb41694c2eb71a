"""Worker processes of joblib: they leave signals to the process that started them, and do not outlive it."""

import os
import signal
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

LOOK = 0.5
"""The seconds between two checks by a worker that its parent process still exists."""


@contextmanager
def deaf() -> Iterator[None]:
    """Block Ctrl-C and requests to terminate in the processes started inside the `with` block: their parent ends them.

    A signal that arrives in the meantime reaches this process at the end. Workers must block signals from their first
    moment on: a worker that is interrupted during its start prints a traceback. Windows has no such masks.
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
    """Start joblib's resource trackers; call this first, since it unblocks all signals again."""
    from multiprocessing import resource_tracker

    from joblib.externals.loky.backend import resource_tracker as loky_tracker

    resource_tracker.ensure_running()
    loky_tracker.ensure_running()


def end_with(parent: int) -> None:
    """End this process soon after its parent has ended for any reason; a worker calls this first.

    On Windows a process does not learn that its parent has ended, so it keeps running.
    """
    threading.Thread(target=_watch, args=(parent,), daemon=True).start()


def _watch(parent: int) -> None:
    while os.getppid() == parent:  # an orphan is given another parent
        time.sleep(LOOK)
    os._exit(1)  # regardless of the other threads: nobody waits for this process
