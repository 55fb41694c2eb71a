"""Arrays of any library: NumPy's as they are, those of torch or cupy through the array API standard.

The mathematics is written once, over arrays whose leading axes broadcast; `namespace` says whose functions to call.
"""

from typing import Any

import numpy as np

from equipoise._typing import FloatArray

Array = Any
"""An array of NumPy, torch, cupy or any library of the array API; its shape is given where it is used."""


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
    """Return the entry of each row that its index says: (n, m, ...) and (n,) to (n, ...), or (m,) and () to ().

    Example:
        >>> pick(np.array([[1.0, 2.0], [3.0, 4.0]]), np.array([1, 0]))
        array([2., 3.])
    """
    if isinstance(values, np.ndarray):
        return values[index] if values.ndim == 1 else values[np.arange(len(index)), index]
    aligned = namespace(values).reshape(index, (-1, *(1,) * (values.ndim - 1)))
    return namespace(values).take_along_axis(values, aligned, axis=1)[:, 0, ...]


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
    """Return where new arrays must be made to work with this one: nothing for NumPy, the device elsewhere."""
    return {} if isinstance(array, np.ndarray) else {"device": array.device}


def to_numpy(array: Array) -> FloatArray:
    """Return an array as NumPy's, brought back from a device if need be.

    Example:
        >>> to_numpy(np.ones(2))
        array([1., 1.])
    """
    if isinstance(array, np.ndarray):
        return array
    back: Any = array.cpu() if hasattr(array, "cpu") else array.get() if hasattr(array, "get") else array
    return np.asarray(back)
