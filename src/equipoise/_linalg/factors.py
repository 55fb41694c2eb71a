"""The linear algebra routines of the library, loaded at the first call."""

import os
import sys
from functools import lru_cache
from importlib.machinery import PathFinder
from importlib.util import module_from_spec
from typing import Any

import numpy as np
from numpy.typing import NDArray

from equipoise._typing import FloatArray

JITTERS = (0.0, 1e-12, 1e-9, 1e-6, 1e-3)
"""The relative increases of the diagonal to try until a matrix can be factored."""


def cholesky(K: FloatArray) -> FloatArray:
    """Return the lower Cholesky factor of a positive definite matrix."""
    L, minor = lapack().dpotrf(K, lower=1, clean=1)
    if minor:
        raise np.linalg.LinAlgError(f"the leading minor of order {minor} must be positive definite")
    factor: FloatArray = L
    return factor


def safe_cholesky(K: FloatArray) -> FloatArray:
    """Return the lower Cholesky factor of a matrix that is positive definite up to rounding.

    If rounding spoils it, the diagonal is raised as little as possible: readings then count as slightly less certain.
    """
    for jitter in JITTERS:
        try:
            return cholesky(K if not jitter else K + jitter * np.diag(K.diagonal()))
        except np.linalg.LinAlgError:
            continue
    return np.diag(np.sqrt(K.diagonal()))  # no correlations remain, and nothing fails


def semidefinite(C: FloatArray) -> FloatArray:
    """Return a symmetric matrix without negative eigenvalues, if rounding has made any.

    Example:
        >>> semidefinite(np.diag([1.0, -1e-3])).tolist()
        [[1.0, 0.0], [0.0, 0.0]]
    """
    try:
        cholesky(C + JITTERS[1] * np.abs(C).max(initial=0.0) * np.eye(len(C)))
        return C
    except np.linalg.LinAlgError:
        values, vectors = np.linalg.eigh(C)
        root = vectors * np.sqrt(np.maximum(values, 0.0))
        proper: FloatArray = root @ root.T
        return proper


def noisy_cholesky(C: FloatArray, noise: FloatArray) -> FloatArray:
    """Return the lower Cholesky factor of C + diag(noise), if C is a covariance up to rounding, however large.

    Example:
        >>> noisy_cholesky(np.diag([3.0, -5.0]), np.array([1.0, 1.0])).round(6).tolist()
        [[2.0, 0.0], [0.0, 1.0]]
    """
    try:
        return cholesky(C + np.diag(noise))
    except np.linalg.LinAlgError:
        return safe_cholesky(semidefinite(C) + np.diag(noise))


def solve_lower(L: FloatArray, b: FloatArray, transposed: bool = False, overwrite: bool = False) -> FloatArray:
    """Return L^-1 b, or L'^-1 b, for a lower triangular L.

    Args:
        L: Shape (n, n).
        b: Shape (n,) or (n, m).
        transposed: If true, return L'^-1 b.
        overwrite: If true, b is no longer needed: fresh memory costs as much as a small solve.
    """
    if not b.size:
        return np.empty_like(b)
    trans = int(transposed)
    if L.flags.f_contiguous:
        solved, zero = lapack().dtrtrs(L, b, lower=1, trans=trans, overwrite_b=overwrite)
    else:  # rows are contiguous: the transposed factor needs no copy
        solved, zero = lapack().dtrtrs(L.T, b, lower=0, trans=1 - trans, overwrite_b=overwrite)
    if zero:
        raise np.linalg.LinAlgError(f"the diagonal must have no zero, got one at {zero - 1}")
    result: FloatArray = solved
    return result


def firsts(points: FloatArray) -> NDArray[np.intp]:
    """Return the index of the first occurrence of each distinct point, of shape (d,), with the points ascending.

    Example:
        >>> firsts(np.array([[1.0, 2.0], [0.0, 3.0], [1.0, 2.0]]))
        array([1, 0])
    """
    return grouped(points)[0]


def grouped(points: FloatArray) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Return the first occurrence of each distinct point, the points ascending, and the group of each point.

    `np.unique(axis=0)` does the same more slowly. It also turns a KeyboardInterrupt into a TypeError, if a signal comes
    while NumPy compares two rows.

    Args:
        points: Shape (m, d).

    Returns:
        Indices of the k distinct points, shape (k,), and for each point its index among them, shape (m,).

    Example:
        >>> grouped(np.array([[1.0, 2.0], [0.0, 3.0], [1.0, 2.0]]))
        (array([1, 0]), array([1, 0, 1]))
    """
    order = np.lexsort(points.T[::-1])
    ordered = points[order]
    new = np.ones(len(points), dtype=np.bool_)
    new[1:] = (ordered[1:] != ordered[:-1]).any(axis=1)
    place = np.empty(len(points), dtype=np.intp)
    place[order] = np.cumsum(new) - 1
    return order[new], place


@lru_cache(maxsize=1)
def lapack() -> Any:
    """Return SciPy's LAPACK routines: only the compiled module, unless `scipy.linalg` is loaded anyway.

    The package around it takes a quarter of a second to import, and its checks twenty times as long as a small solve.
    """
    import scipy

    if "scipy.linalg" not in sys.modules:
        spec = PathFinder.find_spec("_flapack", [os.path.join(root, "linalg") for root in scipy.__path__])
        if spec is not None and spec.loader is not None:
            compiled = module_from_spec(spec)
            spec.loader.exec_module(compiled)
            return compiled
    from scipy.linalg import lapack

    return lapack
