"""The fits of a study, made after the reply: whoever enters a reading does not wait for them."""

import threading

from equipoise.log import LogError
from equipoise.optimizer import Optimizer


class Refits:
    """Makes the fits of a study that were deferred, in a thread of its own.

    Args:
        opt: The study.
    """

    def __init__(self, opt: Optimizer) -> None:
        self._opt = opt
        self._wanted = threading.Event()
        threading.Thread(target=self._run, daemon=True).start()

    def want(self) -> None:
        """Let it look whether a fit was deferred."""
        self._wanted.set()

    def _run(self) -> None:
        while True:
            self._wanted.wait()
            self._wanted.clear()
            catch_up(self._opt)


def catch_up(opt: Optimizer) -> None:
    """Make all fits that were deferred; one that cannot be written is made after the next reading that can be."""
    try:
        while opt.study.refit():
            pass
    except LogError:
        return  # a full disk or a log that is gone: whoever enters the next reading is told so
