"""A parameter as a constraint text sees it: its values at many points at once."""

from collections.abc import Mapping
from dataclasses import dataclass
from numbers import Real
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from equipoise._typing import FloatArray
from equipoise.spaces.numbers import Float, Int
from equipoise.spaces.options import Choice, Fixed

Kind = Literal["number", "truth", "label"]
"""The kinds of values: numbers; 1 and 0 for true and false; or the numbers of options, which are only equal or not."""


@dataclass(frozen=True)
class Column:
    """A parameter, and which coordinates of an encoded point are its own.

    Example:
        >>> import numpy as np, equipoise as eq
        >>> lens = Column(eq.Choice(["in", "out"]), slice(0, 2))
        >>> lens.kind, lens.read(np.array([[0.7, 0.0], [0.0, 0.7]]))
        ('label', array([0., 1.]))
    """

    parameter: Float | Int | Choice | Fixed
    where: slice

    @property
    def options(self) -> tuple[Any, ...]:
        """The values of a choice or a constant; nothing for numbers."""
        match self.parameter:
            case Choice(options=options):
                return options
            case Fixed(value=value):
                return (value,)
        return ()

    @property
    def kind(self) -> Kind:
        """The kind of its values."""
        if isinstance(self.parameter, (Float, Int)):
            return "number"
        if all(isinstance(option, (bool, np.bool_)) for option in self.options):
            return "truth"
        return "label" if None in map(_number, self.options) else "number"

    def read(self, points: FloatArray) -> FloatArray:
        """Return the values at encoded points, shape (m, d), as `decode` would give them; shape (m,)."""
        p, columns = self.parameter, points[:, self.where]
        if isinstance(p, Fixed):
            return np.full(len(points), self._table()[0])
        if isinstance(p, Choice):
            chosen: NDArray[np.intp] = columns.argmax(axis=1)
            return self._table()[chosen]
        if p.log or not (p.free or isinstance(p, Int)):  # number by number, for the last bit: see `arithmetic.py`
            return np.array([p.decode([u]) for u in columns[:, 0].tolist()], dtype=np.float64)
        u = np.clip(columns[:, 0], 0.0, 1.0)
        if isinstance(p, Int):
            return np.rint(u * (p.count - 1)) + p.low
        return np.clip(p.low * (1 - u) + p.high * u, p.low, p.high)

    def _table(self) -> FloatArray:
        values = range(len(self.options)) if self.kind == "label" else map(_number, self.options)
        return np.array(list(values), dtype=np.float64)


Columns = Mapping[str, Column]
"""The parameters of a space, by the name that a text uses."""


def _number(value: Any) -> float | None:
    """Return a number as a float, if it fits."""
    try:
        return float(value) if isinstance(value, (Real, np.bool_)) else None
    except OverflowError:
        return None
