"""Checks of arguments: every message names the argument, the rule and the value."""

import math
import re
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from equipoise._typing import FloatArray

MAX_NAME = 200
"""The most characters of a name."""

NUMBER = re.compile(r"[+-]?(\d+\.?\d*(e[+-]?\d+)?|\.\d+(e[+-]?\d+)?|nan|inf|infinity)", re.ASCII | re.IGNORECASE)
"""A number as programs print it: `float` also takes 1_000 and the digits of other scripts."""


def number(name: str, value: Any) -> float:
    """Return `value` as a finite float."""
    if isinstance(value, np.ndarray) and value.ndim == 0:
        value = value[()]
    if not isinstance(value, Real) or isinstance(value, (bool, np.bool_)):
        raise TypeError(f"`{name}` must be a real number, got {value!r}")
    try:
        result = float(value)
    except OverflowError:  # an integer too large for a float
        result = math.inf
    if not math.isfinite(result):
        raise ValueError(f"`{name}` must be finite, got {value!r}")
    return result


def single(name: str, value: Any) -> tuple[float, ...]:
    """Return the numbers of an answer that is one finite number."""
    return (number(name, value),)


def positive(name: str, value: Any) -> float:
    """Return `value` as a finite float above zero."""
    result = number(name, value)
    if result <= 0:
        raise ValueError(f"`{name}` must be positive, got {value!r}")
    return result


def nonnegative(name: str, value: Any) -> float:
    """Return `value` as a finite float that is zero or more."""
    result = number(name, value)
    if result < 0:
        raise ValueError(f"`{name}` must not be negative, got {value!r}")
    return result


LARGEST_ERROR = 1e150
"""The largest standard error: its square must be a number too."""


def standard_error(name: str, value: Any) -> float:
    """Return `value` as a finite float that is zero or more and has a square."""
    result = nonnegative(name, value)
    if result > LARGEST_ERROR:
        raise ValueError(f"`{name}` must be at most {LARGEST_ERROR:g}, got {value!r}")
    return result


def probability(name: str, value: Any) -> float:
    """Return `value` as a float strictly between zero and one."""
    result = number(name, value)
    if not 0 < result < 1:
        raise ValueError(f"`{name}` must lie strictly between 0 and 1, got {value!r}")
    return result


def fraction(name: str, value: Any) -> float:
    """Return `value` as a float from zero to one."""
    result = number(name, value)
    if not 0 <= result <= 1:
        raise ValueError(f"`{name}` must lie between 0 and 1, got {value!r}")
    return result


def count(name: str, value: Any, at_least: int = 1) -> int:
    """Return `value` as an integer not below `at_least`."""
    if isinstance(value, (bool, np.bool_)) or not isinstance(value, (int, np.integer)):
        raise TypeError(f"`{name}` must be an integer, got {value!r}")
    if value < at_least:
        raise ValueError(f"`{name}` must be at least {at_least}, got {value!r}")
    return int(value)


def name(what: str, value: Any) -> str:
    """Return `value` as a name: a text of some characters, all of which can be printed."""
    if not isinstance(value, str):
        raise TypeError(f"`{what}` must be a name, got {value!r}")
    if not value.strip() or len(value) > MAX_NAME or not value.isprintable():
        raise ValueError(f"`{what}` must be a printable name of 1 to {MAX_NAME} characters, got {value!r}")
    return value


def array(name: str, value: ArrayLike, shape: tuple[int | None, ...]) -> FloatArray:
    """Return `value` as a finite float array; `None` in `shape` stands for any length above zero."""
    try:
        given = np.asarray(value)
        if given.dtype.kind not in "biufO":  # NumPy would read text as numbers and drop imaginary parts
            raise TypeError(f"dtype {given.dtype}")
        result = np.asarray(given, dtype=np.float64)
    except (TypeError, ValueError, OverflowError) as error:
        raise TypeError(f"`{name}` must be an array of real numbers, got {value!r}") from error
    fits = result.ndim == len(shape) and all(
        have > 0 if want is None else have == want for have, want in zip(result.shape, shape, strict=True)
    )
    if not fits:
        letters = iter("nd")
        rule = ", ".join(next(letters) if want is None else str(want) for want in shape)
        raise ValueError(f"`{name}` must have shape ({rule}), got {result.shape}")
    if not np.isfinite(result).all():
        raise ValueError(f"`{name}` must be finite, got {value!r}")
    return result


def steps(name: str, value: Any, dimension: int) -> FloatArray:
    """Return `value`, one positive number or one for each coordinate, as an array of shape (dimension,)."""
    result = array(name, [value] * dimension if np.ndim(value) == 0 else value, (dimension,))
    if not (result > 0).all():
        raise ValueError(f"`{name}` must be positive, got {value!r}")
    return result


def no_context(context: Any) -> None:
    """Refuse a context if the space has none."""
    if context is not None:
        raise ValueError(f"`context` must be None, since the space has no Context, got {context!r}")


def pair(points: FloatArray, reduction: str) -> FloatArray:
    """Return the points of a proposal, shape (2, d); refuse any other number of them."""
    if len(points) != 2:
        raise ValueError(f"`proposal` must have two points for {reduction}, got {len(points)}")
    return points


def frozen(values: FloatArray) -> FloatArray:
    """Return a read-only copy of `values`, with -0.0 turned into 0.0 so that equal points have equal bytes.

    A frozen array is returned itself, so that its identity can be relied upon.
    """
    owned = values.base is None and not values.flags.writeable
    if owned and not (np.signbit(values) & (values == 0)).any():
        return values
    result = np.array(values + 0.0, order="C")
    result.flags.writeable = False
    return result


def seed(what: str, value: Any) -> int | str:
    """Return a seed that two settings are measured under: a whole number or a name."""
    return name(what, value) if isinstance(value, str) else count(what, value, at_least=0)
