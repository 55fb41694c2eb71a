"""Parameters that are not numbers: `Choice`, one of several options, and `Fixed`, a constant.

A choice occupies one column of an encoded point for each option, a constant none.
"""

import math
import operator
from collections.abc import Iterable, Mapping, Set
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.random import Generator

from equipoise._typing import FloatArray

HOT = math.sqrt(0.5)  # so that two different options lie at distance one


@dataclass(frozen=True)
class Choice:
    """One of several options without an order; they may be any objects.

    Args:
        options: At least two, all different.

    Example:
        >>> import equipoise as eq
        >>> color = eq.Choice(["red", "green", "blue"])
        >>> color.decode(color.encode("color", "green"))
        'green'
    """

    options: tuple[Any, ...]

    free: ClassVar[bool] = False
    given: ClassVar[None] = None

    def __init__(self, options: Iterable[Any]) -> None:
        if isinstance(options, (str, bytes, Mapping, Set)) or not isinstance(options, Iterable):
            raise TypeError(f"`options` must be a list or the like, in a lasting order, got {options!r}")
        values = tuple(options.tolist() if isinstance(options, np.ndarray) else options)
        if len(values) < 2:
            raise ValueError(f"`options` must be at least two, got {values!r}: a single value needs no Choice")
        if any(a is b or (_is_scalar(a) and _same(a, b)) for i, a in enumerate(values) for b in values[:i]):
            raise ValueError(f"`options` must be different from each other, got {values!r}")
        object.__setattr__(self, "options", values)

    def __repr__(self) -> str:
        return f"Choice({list(self.options)!r})"

    @property
    def width(self) -> int:
        """The number of columns it occupies."""
        return len(self.options)

    @property
    def grid(self) -> "Choice":
        """The parameter that counts its values: itself."""
        return self

    @property
    def count(self) -> int:
        """The number of values."""
        return len(self.options)

    def encode(self, name: str, value: Any) -> list[float]:
        """Return an option as coordinates, all zero except one; `name` is for the error message."""
        # The object itself comes first, then an equal one: 1, 1.0 and True are three options.
        for alike in (operator.is_, _same, _equal):
            for k, option in enumerate(self.options):
                if alike(option, value):
                    return [HOT if j == k else 0.0 for j in range(self.count)]
        raise ValueError(f"`{name}` must be one of {list(self.options)!r}, got {value!r}")

    def decode(self, coordinates: list[float]) -> Any:
        """Return the option of the largest coordinate: the object itself."""
        return self.options[coordinates.index(max(coordinates))]

    def snap(self, columns: FloatArray) -> FloatArray:
        """Return the nearest encodings, shape (m, width)."""
        return self.place(columns.argmax(axis=1))

    def place(self, k: Any) -> FloatArray:
        """Return the encodings of the k-th options, shape (m,), counted from zero; shape (m, width)."""
        result = np.zeros((len(k), self.count))
        result[np.arange(len(k)), np.asarray(k, dtype=np.intp)] = HOT
        return result

    def spread(self, u: FloatArray) -> FloatArray:
        """Turn numbers even in [0, 1), shape (m,), into evenly spread encodings, shape (m, width)."""
        return self.place(np.minimum(u * self.count, self.count - 1))

    def move(self, columns: FloatArray, scale: FloatArray, rng: Generator) -> FloatArray:
        """Return encodings of other options, shape (m, width)."""
        return self.place((columns.argmax(axis=1) + rng.integers(1, self.count, size=len(columns))) % self.count)

    def neighbors(self, columns: FloatArray) -> FloatArray:
        """Return the encodings of all other options, shape (width - 1, width)."""
        return self.place(np.delete(np.arange(self.count), columns.argmax()))

    def to_dict(self) -> dict[str, Any]:
        """Return a description for JSON."""
        return {"type": "choice", "options": [_described(option) for option in self.options]}


@dataclass(frozen=True)
class Fixed:
    """A constant: not tuned, but part of every point. Plain values given to a space mean this.

    Args:
        value: The constant, of any kind.

    Example:
        >>> import equipoise as eq
        >>> eq.Space(gain=eq.Float(0, 1), limits=eq.spaces.Fixed((0, 5)), mode="fast")
        Space(gain=Float(0.0, 1.0), limits=Fixed((0, 5)), mode=Fixed('fast'))
    """

    value: Any

    width: ClassVar[int] = 0
    grid: ClassVar[None] = None

    @property
    def given(self) -> list[float]:
        """Its coordinates without a given value: none."""
        return []

    def __repr__(self) -> str:
        return f"Fixed({self.value!r})"

    def encode(self, name: str, value: Any) -> list[float]:
        """Return no coordinates, and refuse another value; `name` is for the error message."""
        if not (value is self.value or _equal(self.value, value)):
            raise ValueError(f"`{name}` must be the constant {self.value!r}, got {value!r}")
        return []

    def decode(self, coordinates: list[float]) -> Any:
        """Return the constant: the object itself."""
        return self.value

    def to_dict(self) -> dict[str, Any]:
        """Return a description for JSON."""
        return {"type": "fixed", "value": _described(self.value)}


def _is_scalar(value: Any) -> bool:
    """Return whether JSON preserves the value."""
    return value is None or type(value) in (bool, int, str) or (type(value) is float and math.isfinite(value))


def _described(value: Any) -> Any:
    return value if _is_scalar(value) else {"repr": repr(value)}


def restored(name: str, value: Any) -> Any:
    """Return a value from a description; refuse one that JSON could not hold."""
    if not _is_scalar(value):
        raise ValueError(
            f"the values of parameter {name!r} must be text, numbers, true, false or null to be loaded again, "
            f"got {value!r}: make the space in Python instead"
        )
    return value


def _same(a: Any, b: Any) -> bool:
    return type(a) is type(b) and _equal(a, b)


def _equal(a: Any, b: Any) -> bool:
    try:
        return bool(np.all(a == b))
    except (TypeError, ValueError):  # arrays of other shapes, and objects that will not be compared
        return False
