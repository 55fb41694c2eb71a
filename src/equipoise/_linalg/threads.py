"""A limit of one thread for BLAS.

At the sizes of this library the threads of BLAS cost more than they save, especially on a busy machine. They also
change the last bits of a result, so that a replay would depend on their number.
"""

import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import lru_cache
from typing import Any

from equipoise._linalg.factors import lapack


@contextmanager
def one_thread() -> Iterator[None]:
    """Keep BLAS to one thread inside the `with` block; blocks may be nested, and open in several threads at once."""
    block = object()
    try:
        _limit.enter(block)
        yield
    finally:
        _limit.leave(block)


class _Limit:
    """The limit on BLAS threads, in effect in every thread that is inside a block.

    Some libraries keep one number of threads for the process: the last block that ends restores it. Others keep one for
    each thread: every block restores it for its thread.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._blocks: dict[object, list[int]] = {}  # each open block, with the numbers of threads at its start
        self._before: list[int] = []  # the numbers at the start of the first block

    def enter(self, block: object) -> None:
        with self._lock:
            found = [library.get_num_threads() for library in _libraries()]
            if not self._blocks:
                self._before = found
            self._blocks[block] = found
            for library, threads in zip(_libraries(), found, strict=True):
                if threads != 1:
                    _release(library)
                    library.set_num_threads(1)

    def leave(self, block: object) -> None:
        """Restore the numbers, except those that another block still needs."""
        with self._lock:
            found = self._blocks.pop(block, None)
            if found is None:  # an interrupt came before the block began
                return
            for library, mine, first in zip(_libraries(), found, self._before, strict=True):
                if _of_each_thread(library):
                    library.set_num_threads(mine)
                elif not self._blocks:
                    _release(library)
                    library.set_num_threads(first)
                    _release(library)


_limit = _Limit()
if hasattr(os, "register_at_fork"):  # a child that was forked inside a `with` block of another thread starts over
    os.register_at_fork(after_in_child=_limit.__init__)  # type: ignore[misc]


def _of_each_thread(library: Any) -> bool:
    """Return True if a library has a separate thread count for each calling thread, as threadpoolctl sets it."""
    return library.internal_api == "mkl" or getattr(library, "threading_layer", None) == "openmp"


def _release(library: Any) -> None:
    """Allow this thread to set the number of threads of the process.

    For OpenBLAS, threadpoolctl 3.8 obeys the first thread that sets it and ignores all others, without an error.
    """
    if hasattr(library, "clear_controlling_thread"):
        library.clear_controlling_thread(force=True)


@lru_cache(maxsize=1)
def _libraries() -> list[Any]:
    """Return the BLAS libraries of this process, including SciPy's."""
    from threadpoolctl import ThreadpoolController

    lapack()
    return [each for each in ThreadpoolController().lib_controllers if each.user_api == "blas"]
