"""The few routines of linear algebra used, imported at the first call: `scipy.linalg` is slow to import."""

from typing import Any

from equipoise._typing import FloatArray


def cholesky(K: FloatArray) -> FloatArray:
    """Return the lower Cholesky factor of a positive definite matrix."""
    from scipy.linalg import cholesky

    L: FloatArray = cholesky(K, lower=True, check_finite=False)
    return L


def solve_lower(L: FloatArray, b: FloatArray, transposed: bool = False) -> FloatArray:
    """Return L^-1 b, or L'^-1 b, for a lower triangular L."""
    from scipy.linalg import solve_triangular

    solved: FloatArray = solve_triangular(L, b, lower=True, trans=int(transposed), check_finite=False)
    return solved


def lapack() -> Any:
    """Return the LAPACK routines."""
    import scipy.linalg.lapack

    return scipy.linalg.lapack
