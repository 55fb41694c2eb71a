"""Contexts: coordinates of f that the user cannot choose, and the part of a space at one context.

    f(x, c)   the function: x are the chosen parameters, c the context, and the kernel is over both

A space with contexts has all of them among its coordinates. Proposals, searches and recommendations
work in a part of it, in which each context is `Pinned` at its value: a space like any other, without contexts.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from equipoise._typing import FloatArray
from equipoise.spaces.numbers import Float
from equipoise.spaces.options import Choice

SAME = 1e-9
"""Coordinates that differ by less are one context: decoding and encoding again changes them by rounding."""


@dataclass(frozen=True)
class Context:
    """A coordinate of f that you cannot choose, such as a temperature, the kind of sample or the hour of the day.

    Every `ask` gives its value, and `recommend` returns the best setting for it.

    Args:
        low: Its lower bound; or instead the list of its options.
        high: Its upper bound.
        log: Whether to search by ratios instead of differences; needs `low` > 0.
        step: The distance of its values, if it has steps.
        unit: The unit of the number, for people.

    Example:
        >>> import equipoise as eq
        >>> space = eq.Space(q1=eq.Float(0, 1), temp=eq.Context(0, 40), sample=eq.Context(["dry", "wet"]))
        >>> part = space.at({"temp": 21, "sample": "wet"})
        >>> part.decode(part.encode({"q1": 0.5}))
        {'q1': 0.5, 'temp': 21.0, 'sample': 'wet'}
        >>> opt = eq.Optimizer(space, rng=0)
        >>> opt.ask(context={"temp": 30, "sample": "dry"}).x["temp"]
        30.0
    """

    values: Float | Choice

    def __init__(
        self,
        low: float | Iterable[Any],
        high: float | None = None,
        log: bool = False,
        step: float | None = None,
        *,
        unit: str = "",
    ) -> None:
        if high is not None:
            object.__setattr__(self, "values", Float(low, high, log=log, step=step, unit=unit))  # type: ignore[arg-type]
        elif isinstance(low, Iterable) and not log and step is None and not unit:
            object.__setattr__(self, "values", Choice(low))
        else:
            raise TypeError(f"`Context` must have `low` and `high`, or a list of options, got {low!r}")

    @property
    def width(self) -> int:
        """The number of columns it occupies."""
        return self.values.width

    def __repr__(self) -> str:
        return f"Context{repr(self.values).removeprefix(type(self.values).__name__)}"

    def ranging(self, over: Float) -> "Context":
        """Return the context with the range of a number."""
        return Context(over.low, over.high, over.log, over.step, unit=over.unit)

    def to_dict(self) -> dict[str, Any]:
        """Return a description for JSON."""
        return self.values.to_dict() | {"type": "context"}


@dataclass(frozen=True)
class Pinned:
    """A context at one value: it keeps its columns, and they hold this value."""

    values: Float | Choice
    coordinates: tuple[float, ...]

    free: ClassVar[bool] = False
    count: ClassVar[int] = 1

    def __repr__(self) -> str:
        return f"Pinned({self.decode(list(self.coordinates))!r})"

    @property
    def width(self) -> int:
        """The number of columns it occupies."""
        return len(self.coordinates)

    @property
    def given(self) -> list[float]:
        """Its coordinates, if its value is not given."""
        return list(self.coordinates)

    def encode(self, name: str, value: Any) -> list[float]:
        """Return the coordinates; any other value is refused, `name` is for the error message."""
        if np.abs(np.subtract(self.values.encode(name, value), self.coordinates)).max() > SAME:
            now = self.values.decode(list(self.coordinates))
            raise ValueError(f"`{name}` must be that of the context, {now!r}, got {value!r}")
        return self.given

    def decode(self, coordinates: list[float]) -> Any:
        """Return the value."""
        return self.values.decode(coordinates)

    def snap(self, columns: FloatArray) -> FloatArray:
        """Return its only encoding, for each row, shape (m, width)."""
        return self.place(columns)

    def place(self, k: FloatArray) -> FloatArray:
        """Return its only encoding, for each row of k, shape (m, width)."""
        return np.tile(self.coordinates, (len(k), 1))

    def holds(self, columns: FloatArray) -> NDArray[np.bool_]:
        """Return which rows, shape (m, width), are at this context."""
        here: NDArray[np.bool_] = (columns == self.coordinates).all(axis=1)
        return here

    def to_dict(self) -> dict[str, Any]:
        """Return the description of the context."""
        return self.values.to_dict() | {"type": "context"}
