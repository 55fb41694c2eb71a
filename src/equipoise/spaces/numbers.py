"""Parameters that are numbers: `Float` and `Int`.

Each occupies one column of an encoded point, in [0, 1]. A parameter with steps is counted: its `grid` is the whole
number of steps, an `Int`, which knows how to list, spread and move them.
"""

import math
from dataclasses import dataclass, field
from decimal import Decimal
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from numpy.random import Generator

from equipoise import _validation as check
from equipoise._typing import FloatArray


@dataclass(frozen=True, repr=False)
class _Number:
    """The common base of `Float` and `Int`."""

    low: float
    high: float
    log: bool = False
    unit: str = field(default="", kw_only=True)

    width: ClassVar[int] = 1
    given: ClassVar[None] = None

    def __repr__(self) -> str:
        unit = f", unit={self.unit!r}" if self.unit else ""
        return f"{type(self).__name__}({self.low!r}, {self.high!r}{', log=True' * self.log}{unit})"

    def to_dict(self) -> dict[str, Any]:
        """Return a description for JSON."""
        unit = {"unit": self.unit} if self.unit else {}
        return {"type": type(self).__name__.lower(), "low": self.low, "high": self.high, "log": self.log} | unit

    def _set(self, low: float, high: float) -> None:
        """Check the bounds, and convert NumPy's numbers to Python's."""
        if not isinstance(self.log, (bool, np.bool_)):
            raise TypeError(f"`log` must be True or False, got {self.log!r}")
        if not isinstance(self.unit, str):
            raise TypeError(f"`unit` must be a text, got {self.unit!r}")
        if not low < high:
            raise ValueError(f"`low` must be below `high`, got {low!r} and {high!r}")
        if self.log and low <= 0:
            raise ValueError(f"`low` must be positive if `log` is true, got {low!r}")
        for name, value in (("low", low), ("high", high), ("log", bool(self.log))):
            object.__setattr__(self, name, value)


@dataclass(frozen=True, repr=False)
class Float(_Number):
    """A real number.

    Args:
        low: Its lower bound.
        high: Its upper bound.
        log: Whether to search by ratios instead of differences; needs `low` > 0.
        unit: The unit of the number, for people.
        step: The distance of its values, counted from `low`; the last one not above `high` becomes `high`. Any value by
            default.

    Example:
        >>> import equipoise as eq
        >>> rate = eq.Float(1e-4, 1e-2, log=True)
        >>> rate.encode("rate", 1e-3), rate.decode([1.0])
        ([0.5], 0.01)
        >>> gap = eq.Float(0, 1, step=0.1)
        >>> gap.decode([0.32]), gap.grid
        (0.3, Int(0, 10))
    """

    step: float | None = None

    OFF_GRID: ClassVar[float] = 1e-6
    """By how much of a step a value may miss the grid: it may have been printed and read again."""

    def __post_init__(self) -> None:
        self._set(check.number("low", self.low) + 0.0, check.number("high", self.high) + 0.0)
        if math.isinf(self.high / self.low if self.log else self.high - self.low):
            rule = "`high` / `low`" if self.log else "`high` - `low`"
            raise ValueError(f"{rule} must be finite, got {self.high!r} and {self.low!r}")
        if self.step is not None:
            self._set_step(check.positive("step", self.step))

    def __repr__(self) -> str:
        return super().__repr__() if self.step is None else f"{super().__repr__()[:-1]}, step={self.step!r})"

    @property
    def free(self) -> bool:
        """True if a gradient method may move it."""
        return self.step is None

    @cached_property
    def grid(self) -> "Int | None":
        """The number of steps above `low`; `None` without steps."""
        return None if self.step is None else Int(0, round((self.high - self.low) / self.step))

    def encode(self, name: str, value: Any) -> list[float]:
        """Return a value as the coordinate, in [0, 1]; `name` is for the error message."""
        x = check.number(name, value)
        slack = 0.0 if self.step is None else self.OFF_GRID * self.step
        if not self.low - slack <= x <= self.high + slack:
            raise ValueError(f"`{name}` must lie within [{self.low!r}, {self.high!r}], got {value!r}")
        if self.grid is not None:
            return self.grid.encode(name, self._steps(name, x))
        if self.log:
            return [math.log(x / self.low) / math.log(self.high / self.low)]
        return [(x - self.low) / (self.high - self.low)]

    def decode(self, coordinates: list[float]) -> float:
        """Return the value; both bounds come out exactly, and rounding never leaves them."""
        if self.grid is not None:
            return self._value(self.grid.decode(coordinates))
        u = coordinates[0]
        if u <= 0:
            return self.low
        if u >= 1:
            return self.high
        x = self.low * math.exp(u * math.log(self.high / self.low)) if self.log else self.low * (1 - u) + self.high * u
        return min(max(x, self.low), self.high)

    def snap(self, columns: FloatArray) -> FloatArray:
        """Return the nearest encodings, shape (m, 1)."""
        if self.grid is not None:
            return self.grid.snap(columns)
        return np.clip(columns, 0.0, 1.0) + 0.0  # no -0.0: equal points have equal bytes

    def spread(self, u: FloatArray) -> FloatArray:
        """Turn numbers even in [0, 1), shape (m,), into evenly spread encodings, shape (m, 1)."""
        return u[:, None] if self.grid is None else self.grid.spread(u)

    def to_dict(self) -> dict[str, Any]:
        """Return a description for JSON."""
        return super().to_dict() | ({} if self.step is None else {"step": self.step})

    def _set_step(self, step: float) -> None:
        """Check the step, and put the last value that it reaches in the place of `high`."""
        if self.log:
            raise ValueError(f"`step` must be None if `log` is true, got {step!r}")
        steps = (self.high - self.low) / step
        if not 1 - self.OFF_GRID <= steps <= Int.MAX:
            rule = "at most `high` - `low`" if steps < 1 else "such that at most 2**40 fit between `low` and `high`"
            raise ValueError(f"`step` must be {rule}, got {step!r}")
        object.__setattr__(self, "step", step)
        object.__setattr__(self, "high", self._value(math.floor(steps + self.OFF_GRID)))

    def _value(self, k: int) -> float:
        """Return the k-th value, in decimals: three steps of 0.1 are 0.3, which floats miss."""
        return float(Decimal(repr(self.low)) + k * Decimal(repr(self.step)))

    def _steps(self, name: str, x: float) -> int:
        """Return how many steps above `low` a value is; refuse a value between two steps."""
        assert self.step is not None
        k = round((x - self.low) / self.step)
        if abs(x - self._value(k)) > self.OFF_GRID * self.step:
            raise ValueError(f"`{name}` must be {self.low!r} plus a whole number of steps of {self.step!r}, got {x!r}")
        return k


@dataclass(frozen=True, repr=False)
class Int(_Number):
    """A whole number.

    Args:
        low: Its lower bound, included.
        high: Its upper bound, included.
        log: Whether to search by ratios instead of differences; needs `low` > 0.
        unit: The unit of the number, for people.

    Example:
        >>> import equipoise as eq
        >>> eq.Int(1, 5).encode("layers", 2), eq.Int(1, 5).decode([0.3])
        ([0.25], 2)
    """

    low: int
    high: int
    log: bool = False
    unit: str = field(default="", kw_only=True)

    free: ClassVar[bool] = False
    MAX: ClassVar[int] = 2**40
    """With more steps than this, or logarithms of larger numbers, a double may not distinguish neighbors."""

    def __post_init__(self) -> None:
        self._set(_whole("low", self.low), _whole("high", self.high))
        if (size := self.high if self.log else self.high - self.low) > self.MAX:
            rule = "`high`" if self.log else "`high` - `low`"
            raise ValueError(f"{rule} must be at most 2**40, got {size}: use a Float and round it")

    @property
    def grid(self) -> "Int":
        """The parameter that counts its values: itself."""
        return self

    @property
    def count(self) -> int:
        """The number of values."""
        return self.high - self.low + 1

    def encode(self, name: str, value: Any) -> list[float]:
        """Return a value as the coordinate, in [0, 1]; `name` is for the error message."""
        k = _whole(name, value) - self.low
        if not 0 <= k < self.count:
            raise ValueError(f"`{name}` must lie within [{self.low!r}, {self.high!r}], got {value!r}")
        return [math.log((self.low + k) / self.low) / self._log if self.log else k / (self.count - 1)]

    def decode(self, coordinates: list[float]) -> int:
        """Return the value nearest to the coordinate."""
        u = min(max(coordinates[0], 0.0), 1.0)
        return round(self.low * math.exp(u * self._log)) if self.log else self.low + round(u * (self.count - 1))

    def snap(self, columns: FloatArray) -> FloatArray:
        """Return the nearest encodings, shape (m, 1)."""
        return self.place(self._steps(columns[:, 0]))

    def place(self, k: FloatArray) -> FloatArray:
        """Return the encodings of the k-th values, shape (m,), counted from zero; shape (m, 1)."""
        if not self.log:
            return k[:, None] / (self.count - 1)
        # One by one: in NumPy the last bit of a logarithm may depend on its place in the array.
        return np.fromiter(map(math.log, ((self.low + k) / self.low).tolist()), np.float64, len(k))[:, None] / self._log

    def spread(self, u: FloatArray) -> FloatArray:
        """Turn numbers even in [0, 1), shape (m,), into evenly spread encodings, shape (m, 1)."""
        if not self.log:
            return self.place(np.minimum(np.floor(u * self.count), self.count - 1))
        least = self.low - 0.5  # each value stands for what rounds to it
        return self.place(np.clip(np.rint(least * ((self.high + 0.5) / least) ** u), self.low, self.high) - self.low)

    def move(self, columns: FloatArray, scale: FloatArray, rng: Generator) -> FloatArray:
        """Return encodings that are a step away, shape (m, 1)."""
        jump = scale * rng.standard_normal(columns.shape)
        old, new = self._steps(columns[:, 0]), self._steps((columns + jump)[:, 0])
        one = old + np.where(jump[:, 0] < 0, -1, 1)
        one = np.where((one < 0) | (one >= self.count), 2 * old - one, one)
        return self.place(np.where(new == old, one, new))

    def neighbors(self, columns: FloatArray) -> FloatArray:
        """Return the encodings one below and one above, if they exist; shape (k, 1)."""
        k = self._steps(columns) + np.array([-1.0, 1.0])
        return self.place(k[(k >= 0) & (k < self.count)])

    @property
    def _log(self) -> float:
        return math.log(self.high / self.low)

    def _steps(self, u: FloatArray) -> FloatArray:
        """Return which values are nearest to the coordinates, counted from zero."""
        u = np.clip(u, 0.0, 1.0)
        k = np.rint(self.low * np.exp(u * self._log)) - self.low if self.log else np.rint(u * (self.count - 1))
        return k + 0.0


def _whole(name: str, value: Any) -> int:
    """Return `value` as an integer, of any size; 3.0 is one."""
    if isinstance(value, (int, np.integer)) and not isinstance(value, bool):
        return int(value)
    result = check.number(name, value)
    if not result.is_integer():
        raise ValueError(f"`{name}` must be a whole number, got {value!r}")
    return int(result)
