"""The few routines of linear algebra used, imported at the first call as `scipy.linalg` is slow to, in one thread.

At the sizes met here the threads of BLAS cost more than they bring, above all on a busy machine, and they change the
last bits of a result, so that a replay would depend on their number.
"""

import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import lru_cache
from typing import Any

import numpy as np

from equipoise._typing import FloatArray

JITTERS = (0.0, 1e-12, 1e-9, 1e-6, 1e-3)
"""By how much the diagonal is raised, relative to itself, until a matrix can be factored."""


def cholesky(K: FloatArray) -> FloatArray:
    """Return the lower Cholesky factor of a positive definite matrix."""
    from scipy.linalg import cholesky

    L: FloatArray = cholesky(K, lower=True, check_finite=False)
    return L


def safe_cholesky(K: FloatArray) -> FloatArray:
    """Return the lower Cholesky factor of a matrix that is positive definite but for rounding.

    Where rounding spoils it, the diagonal is raised as little as helps: readings then count as a little less sure.
    """
    for jitter in JITTERS:
        try:
            return cholesky(K if not jitter else K + jitter * np.diag(K.diagonal()))
        except np.linalg.LinAlgError:
            continue
    return np.diag(np.sqrt(K.diagonal()))  # nothing is shared any more, and nothing fails


def solve_lower(L: FloatArray, b: FloatArray, transposed: bool = False) -> FloatArray:
    """Return L^-1 b, or L'^-1 b, for a lower triangular L."""
    from scipy.linalg import solve_triangular

    solved: FloatArray = solve_triangular(L, b, lower=True, trans=int(transposed), check_finite=False)
    return solved


def lapack() -> Any:
    """Return the LAPACK routines."""
    import scipy.linalg.lapack

    return scipy.linalg.lapack


@contextmanager
def one_thread() -> Iterator[None]:
    """Keep BLAS to one thread inside the `with` block; it may be entered from several threads and inside itself."""
    _limit.enter()
    try:
        yield
    finally:
        _limit.leave()


class _Limit:
    """The limit on BLAS threads: set by the first who enters, lifted by the last who leaves."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._inside = 0
        self._before: list[int] = []

    def enter(self) -> None:
        with self._lock:
            if not self._inside:
                self._before = [library.get_num_threads() for library in _libraries()]
                for library in _libraries():
                    library.set_num_threads(1)
            self._inside += 1

    def leave(self) -> None:
        with self._lock:
            self._inside -= 1
            if not self._inside:
                for library, threads in zip(_libraries(), self._before, strict=True):
                    library.set_num_threads(threads)


_limit = _Limit()
if hasattr(os, "register_at_fork"):  # a child that was forked inside a `with` block of another thread starts anew
    os.register_at_fork(after_in_child=_limit.__init__)  # type: ignore[misc]


@lru_cache(maxsize=1)
def _libraries() -> list[Any]:
    """Return the BLAS libraries of this process, those of SciPy loaded."""
    import scipy.linalg  # noqa: F401
    from threadpoolctl import ThreadpoolController

    return [each for each in ThreadpoolController().lib_controllers if each.user_api == "blas"]
