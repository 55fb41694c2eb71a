"""A function to be maximized, with its domain and its declared optimum.

Notation: d the dimension, m the number of points of a finite domain. All functions here are to be maximized.
"""

import dataclasses
import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from equipoise._typing import FloatArray
from equipoise._validation import array, count, frozen, number

Evaluate = Callable[[FloatArray], FloatArray]
"""The type of a function from points of shape (..., d) to values of shape (...)."""


@dataclass(frozen=True, eq=False)
class Function:
    """A function on a box or on a finite set of points, with its largest value there.

    Build one with `Function.box` or `Function.finite`, which fill in the optimum. Values are defined outside the domain
    as well (a grid's function can be evaluated between its points), but `maximum` is valid only on the domain.

    Args:
        name: The name of the function.
        evaluate: Takes points of shape (..., d), returns values of shape (...). To pickle the function, this must
            pickle too: a module-level function, or an object with `__call__`.
        maximum: The largest value on the domain.
        maximizer: A point of the domain with that value, shape (d,).
        bounds: Lowest and highest value of each coordinate, shape (d, 2); None if the domain is finite.
        points: All points of a finite domain, shape (m, d); None if the domain is a box.
        parts: The terms of a sum over coordinates, one function of one coordinate each; empty otherwise.

    Examples:
        >>> hill = Function.box("hill", lambda x: 1 - ((x - 0.5) ** 2).sum(-1), [[0, 1]] * 2, [0.5, 0.5])
        >>> hill([[0.5, 0.5], [0.5, 1.0]])
        array([1.  , 0.75])
        >>> coarse = hill.on_grid(4)
        >>> coarse.points.shape, round(coarse.maximum, 4)
        ((16, 2), 0.9444)
    """

    name: str
    evaluate: Evaluate
    maximum: float
    maximizer: FloatArray
    bounds: FloatArray | None = None
    points: FloatArray | None = None
    parts: tuple["Function", ...] = ()

    def __post_init__(self) -> None:
        """Check the domain and freeze every array."""
        if self.bounds is not None and self.points is None:
            object.__setattr__(self, "bounds", checked_bounds(self.bounds))
            d = len(self.bounds)
        elif self.points is not None and self.bounds is None:
            object.__setattr__(self, "points", frozen(array("points", self.points, (None, None))))
            d = self.points.shape[1]
        else:
            raise ValueError("exactly one of `bounds` and `points` must be given, got both or neither")
        object.__setattr__(self, "maximum", number("maximum", self.maximum))
        object.__setattr__(self, "maximizer", frozen(array("maximizer", self.maximizer, (d,))))

    def __reduce__(self) -> tuple[type["Function"], tuple[object, ...]]:
        # Copies are built again: arrays stay read-only, and the lookup table is not copied.
        return type(self), tuple(getattr(self, field.name) for field in dataclasses.fields(self))

    @classmethod
    def box(cls, name: str, evaluate: Evaluate, bounds: ArrayLike, maximizer: ArrayLike) -> "Function":
        """Return a function on a box whose maximizer is known.

        Args:
            name: The name of the function.
            evaluate: Takes (..., d), returns (...).
            bounds: Shape (d, 2).
            maximizer: Shape (d,).

        Examples:
            >>> Function.box("parabola", lambda x: 1 - x[..., 0] ** 2, [[-1, 1]], [0]).maximum
            1.0
        """
        bounds = checked_bounds(bounds)
        maximizer = array("maximizer", maximizer, (len(bounds),))
        maximum = float(evaluate(maximizer)) + 0.0  # never -0.0
        return cls(name, evaluate, maximum, maximizer, bounds=bounds)

    @classmethod
    def finite(cls, name: str, evaluate: Evaluate, points: ArrayLike) -> "Function":
        """Return a function on finitely many points; its optimum is the best of them.

        Args:
            name: The name of the function.
            evaluate: Takes (..., d), returns (...).
            points: Shape (m, d).

        Examples:
            >>> Function.finite("parabola", lambda x: 1 - x[..., 0] ** 2, [[-1], [0.5], [2]]).maximizer
            array([0.5])
        """
        points = frozen(array("points", points, (None, None)))
        values = evaluate(points)
        best = int(np.argmax(values))
        return cls(name, evaluate, float(values[best]), points[best], points=points)

    @property
    def dimension(self) -> int:
        """The number of coordinates d."""
        return len(self.maximizer)

    @property
    def is_finite(self) -> bool:
        """True if the domain is a finite set of points."""
        return self.points is not None

    @cached_property
    def table(self) -> dict[bytes, tuple[FloatArray, float]]:
        """Point and value by the bytes of the point, for a finite domain; empty for a box."""
        if self.points is None:
            return {}
        values = self.evaluate(self.points).tolist()
        return {x.tobytes(): (x, value) for x, value in zip(self.points, values, strict=True)}

    def __call__(self, x: ArrayLike) -> FloatArray:
        """Return the values at `x`, shape (..., d) to shape (...); a plain number for a single point."""
        points = np.asarray(x, dtype=np.float64)
        if points.ndim == 0 or points.shape[-1] != self.dimension:
            raise ValueError(f"`x` must have shape (..., {self.dimension}), got {points.shape}")
        return self.evaluate(points)

    def locate(self, x: ArrayLike) -> tuple[FloatArray, float]:
        """Return a single point, shape (d,), as a read-only array, and its value; this is the fast path of a reading.

        A point of a finite domain is looked up; -0.0 counts as 0.0.

        Examples:
            >>> hill = Function.finite("hill", lambda x: 1 - x[..., 0] ** 2, [[0.0], [0.5]])
            >>> hill.locate([-0.0])
            (array([0.]), 1.0)
        """
        if type(x) is np.ndarray and x.shape == self.maximizer.shape:
            found = self.table.get(x.tobytes())
            if found is not None:
                return found
        point = self._checked_point(x)
        found = self.table.get(point.tobytes())
        return (point, float(self.evaluate(point))) if found is None else found

    def _checked_point(self, x: ArrayLike) -> FloatArray:
        """Return `x` checked and frozen; the common case skips the slower general check."""
        if (
            type(x) is np.ndarray
            and x.dtype == np.float64
            and x.shape == self.maximizer.shape
            and math.isfinite(x.dot(x))
        ):
            point: FloatArray = x + 0.0
            point.flags.writeable = False
            return point
        return frozen(array("x", x, (self.dimension,)))

    def regret(self, x: ArrayLike) -> FloatArray:
        """Return `maximum - f(x)`: not negative on the domain, up to rounding; (..., d) to (...)."""
        return self.maximum - self(x)

    def on_grid(self, per_dimension: int) -> "Function":
        """Return the same function on a regular grid with its own optimum.

        Args:
            per_dimension: The number of points along each coordinate, including both ends; row-major, the last
                coordinate varies fastest.
        """
        if self.bounds is None:
            raise ValueError(f"`on_grid` needs a function on a box, but {self.name!r} has a finite domain")
        n = count("per_dimension", per_dimension, at_least=2)
        axes = [np.linspace(low, high, n) for low, high in self.bounds]
        points = np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1).reshape(-1, self.dimension)
        grid = Function.finite(f"{self.name}-grid", self.evaluate, points)
        return dataclasses.replace(grid, parts=tuple(part.on_grid(n) for part in self.parts))


def checked_bounds(bounds: ArrayLike) -> FloatArray:
    """Return `bounds` as a read-only array of shape (d, 2) with the low end first.

    Examples:
        >>> checked_bounds([[0, 1]])
        array([[0., 1.]])
    """
    result = frozen(array("bounds", bounds, (None, 2)))
    if not (result[:, 0] < result[:, 1]).all():
        raise ValueError(f"`bounds` must have low < high in every row, got {bounds!r}")
    return result
