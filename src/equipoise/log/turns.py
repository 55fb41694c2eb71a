"""Turns at a study: one thread and one process at a time, and a study that is whole however a call ends.

Ctrl-C, or a request to terminate, may come between any two lines. The holder of a lock must then give it back, and a
partial change must be repaired: by the journal, which knows the written events, and by `mend`, which makes
the memory again. Clean-up therefore runs twice: an interrupt may arrive during the first run.
"""

import os
import threading
from collections.abc import Callable
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from equipoise.log.journal import Apply, Journal

T = TypeVar("T")


class Turns:
    """Takes turns at a study.

    Args:
        mend: Repairs the memory after an interrupted change.
        apply: Applies a written event to the memory.

    Attributes:
        journal: Writes events; `None` for a study without a log.
        notices: Notices for the user, until they are taken.

    Example:
        >>> turns = Turns(lambda: None, lambda event: None)
        >>> turns.look(lambda: 3)
        3
    """

    def __init__(self, mend: Callable[[], None], apply: "Apply") -> None:
        self.journal: Journal | None = None
        self.notices: list[Warning] = []
        self._mend, self._apply = mend, apply
        self._lock: Any = threading.RLock()
        self._process = os.getpid()

    def look(self, act: Callable[[], T]) -> T:
        """Do something while no other thread changes the study."""
        return self._alone(lambda: self._mended(act))

    def change(self, act: Callable[[], T]) -> tuple[T, tuple[Warning, ...]]:
        """Do something that changes the study, while nobody else does: no thread and no process.

        Returns:
            What it returns, and the notices for the user.
        """
        return self._alone(lambda: self._changed(act))

    def notice(self, what: Warning | None) -> None:
        """Keep a notice for the user, if there is one."""
        self.notices += [] if what is None else [what]

    def noticed(self) -> tuple[Warning, ...]:
        """Take the notices for the user."""
        notices, self.notices = tuple(self.notices), []
        return notices

    def _alone(self, act: Callable[[], T]) -> T:
        """Do something while no other thread has a turn.

        A `with` statement would not do: an interrupt can come after it took the lock and before its block begins
        (Python 3.14), and a trace function can raise between the block and the end.
        """
        self._must_be_free()
        try:
            try:
                self._lock.acquire()
                return act()
            finally:
                self._release()
        finally:
            self._release()

    def _release(self) -> None:
        """Give the lock back if this thread has it."""
        if self._lock._is_owned():
            self._lock.release()

    def _mended(self, act: Callable[[], T]) -> T:
        self._mend()
        return act()

    def _changed(self, act: Callable[[], T]) -> tuple[T, tuple[Warning, ...]]:
        well = False
        try:
            try:
                self._begin()
                result = act(), self.noticed()
                well = True
                return result
            finally:
                self._end(well)
        except BaseException:
            self._end(well=False)
            self._mend()
            raise

    def _begin(self) -> None:
        self._mend()
        if self.journal is not None:
            self.notice(self.journal.begin(self._apply))

    def _end(self, well: bool) -> None:
        if self.journal is not None:
            self.journal.end(well)

    def _must_be_free(self) -> None:
        """Refuse a call from inside another one: from a constraint, a kernel, a signal handler.

        A process that was forked while another thread, which does not live on here, had the lock gets a new one.
        """
        if self._process != os.getpid():
            self._lock, self._process = threading.RLock(), os.getpid()
        if self._lock._is_owned():
            raise RuntimeError("a study must not be used from inside its own call, as a callback of it would")


def now() -> str:
    """Return the time for people to read, in UTC."""
    return datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
