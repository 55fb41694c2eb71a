"""Arrays of any library: NumPy directly, torch or cupy through the array API standard.

The mathematics is written once, over arrays whose leading axes broadcast; `namespace` returns the library to call.
"""

from typing import Any

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from equipoise._typing import FloatArray

Array = Any
"""An array of NumPy, torch, cupy or any library of the array API; its shape is given where it is used."""

ROUNDING = 1e-10
"""Scores that differ by less, relative to the best, are equal up to rounding. Symmetric points of a grid were measured
to differ by up to 1e-13 after 60 readings."""


def namespace(array: Array) -> Any:
    """Return the library that an array belongs to; plain numbers are NumPy's.

    Example:
        >>> namespace(np.zeros(3)) is np, namespace(1.0) is np
        (True, True)
    """
    if isinstance(array, (np.ndarray, np.generic, float, int)):
        return np
    try:
        from array_api_compat import array_namespace
    except ImportError as error:
        name = type(array).__module__.split(".")[0]
        raise ImportError(f"arrays of {name} need array-api-compat: install equipoise[gpu]") from error
    return array_namespace(array)


def pick(values: Array, index: Array) -> Array:
    """Return the entry of each row at its index: (n, m, ...) and (n,) to (n, ...), or (m,) and () to ().

    Example:
        >>> pick(np.array([[1.0, 2.0], [3.0, 4.0]]), np.array([1, 0]))
        array([2., 3.])
    """
    if isinstance(values, np.ndarray):
        return values[index] if values.ndim == 1 else values[np.arange(len(index)), index]
    aligned = namespace(values).reshape(index, (-1, *(1,) * (values.ndim - 1)))
    return namespace(values).take_along_axis(values, aligned, axis=1)[:, 0, ...]


def difference_variance(
    variance: FloatArray, covariance_with_z: FloatArray, variance_z: float | FloatArray
) -> FloatArray:
    """Return psi of every point against z, shape (..., m). Only this function clips it at zero."""
    # METHOD section 2, row 1: KK21 Eq. (6) prints squares that do not belong there.
    psi: FloatArray = namespace(variance).maximum(variance + (variance_z - 2.0 * covariance_with_z), 0.0)
    return psi


def half_width(variance: FloatArray, beta: float | FloatArray, regularizer: float) -> FloatArray:
    """Return the half-width of the confidence interval of a quantity of the given variance."""
    width: FloatArray = namespace(variance).sqrt(beta / regularizer * variance)  # KK21 Eq. (7); METHOD 2, row 2
    return width


def tied(scores: FloatArray, best: float | FloatArray) -> NDArray[np.bool_]:
    """Return a mask of the scores that are best up to rounding, shape (..., m): symmetric points tie on any processor.

    Args:
        scores: Shape (..., m).
        best: The largest of them, shape () or (..., 1).
    """
    least = namespace(best).minimum(best * (1.0 - ROUNDING), best * (1.0 + ROUNDING))
    ties: NDArray[np.bool_] = scores >= least
    return ties


def fair_argmax(scores: FloatArray, rng: Generator) -> int:
    """Return the index of the largest score; choose among ties uniformly at random."""
    best = int(scores.argmax())
    ties = tied(scores, float(scores[best]))
    if np.count_nonzero(ties) == 1:
        return best
    return int(rng.choice(np.flatnonzero(ties)))


def gap_bound(g: FloatArray, width: FloatArray) -> FloatArray:
    """Return delta_t, KK21 above Eq. (8): the most by which a candidate is plausibly better than the leader.

    The leader is among the candidates, with gap and width zero, so the bound is never negative.
    """
    delta: FloatArray = namespace(g).max(width - g, axis=-1, keepdims=True)
    return delta
