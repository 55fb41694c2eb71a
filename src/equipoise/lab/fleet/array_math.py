"""Products and devices of arrays of any library, for many learners at once."""

from typing import Any

import numpy as np

from equipoise._typing import FloatArray
from equipoise.belief import Array


def times(matrix: Array, vector: Array) -> Array:
    """Return matrix times vector, (..., n, m) and (..., m) to (..., n).

    Example:
        >>> times(np.eye(2), np.array([1.0, 2.0]))
        array([1., 2.])
    """
    return (matrix @ vector[..., None])[..., 0]


def outer(first: Array, second: Array) -> Array:
    """Return all products of two vectors, (..., n) and (..., m) to (..., n, m).

    Example:
        >>> outer(np.array([1.0, 2.0]), np.array([3.0, 4.0]))
        array([[3., 4.], [6., 8.]])
    """
    return first[..., :, None] * second[..., None, :]


def placed(array: Array) -> dict[str, Any]:
    """Return the arguments that create new arrays next to this one: none for NumPy, else the device."""
    return {} if isinstance(array, np.ndarray) else {"device": array.device}


def to_numpy(array: Array) -> FloatArray:
    """Return an array as a NumPy array, copied from a device if necessary.

    Example:
        >>> to_numpy(np.ones(2))
        array([1., 1.])
    """
    if isinstance(array, np.ndarray):
        return array
    back: Any = array.cpu() if hasattr(array, "cpu") else array.get() if hasattr(array, "get") else array
    return np.asarray(back)
