"""A box of real numbers."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.random import Generator
from numpy.typing import ArrayLike, NDArray

from equipoise import _validation as check
from equipoise._typing import FloatArray
from equipoise.spaces.candidates import spread, subsets
from equipoise.spaces.columns import Column
from equipoise.spaces.constraints import Constraint, checked, described, given_again, rule, satisfied
from equipoise.spaces.numbers import Float


class Box:
    """A box of real numbers, encoded to the unit cube.

    Args:
        bounds: Lower and upper bound of each coordinate, shape (d, 2).
        candidates: How many quasi-random points an `ask` chooses from, rounded up to a power of two.
        constraint: Which points may be asked: a text, such as "x[0] + x[1] <= 1", a list of texts, or a function of a
            point, shape (d,). A log keeps texts, but not functions. All points by default.

    Example:
        >>> import equipoise as eq
        >>> box = eq.Box([(-2, 2), (-1, 1)])
        >>> box.encode([0.0, 0.5]), box.decode(box.encode([0.0, 0.5]))
        (array([0.5 , 0.75]), array([0. , 0.5]))
        >>> eq.Box([(-2, 2), (-1, 1)], constraint="x[0] + x[1] < 2").valid(box.encode([1.5, 0.6])[None])
        array([False])
    """

    points = settings = None
    contexts = levels = ()

    def __init__(self, bounds: ArrayLike, candidates: int = 512, constraint: Constraint | None = None) -> None:
        self.bounds = check.frozen(check.array("bounds", bounds, (None, 2)))
        self.dimension = len(self.bounds)
        self.constraint = checked(constraint)
        self.free = np.ones(self.dimension, dtype=np.bool_)
        self.groups = np.arange(self.dimension)
        self.extent = np.ones(self.dimension)
        self._lower, self._upper = self.bounds[:, 0], self.bounds[:, 1]
        with np.errstate(over="ignore"):
            self._range = self._upper - self._lower
        if not (self._range > 0).all():
            raise ValueError(f"`bounds` must have lower < upper in every row, got {self.bounds.tolist()}")
        if not np.isfinite(self._range).all():
            raise ValueError(f"`bounds` must have a finite range in every row, got {self.bounds.tolist()}")
        self._log2_candidates = (check.count("candidates", candidates) - 1).bit_length()
        self._rule = rule(self.constraint, self._columns())

    def __repr__(self) -> str:
        candidates = "" if self._log2_candidates == 9 else f", candidates={2**self._log2_candidates}"
        constraint = "" if self.constraint is None else f", constraint={self.constraint!r}"
        return f"Box({self.bounds.tolist()}{candidates}{constraint})"

    def at(self, context: Mapping[str, Any] | None) -> "Box":
        """Return the space itself: it has no contexts."""
        check.no_context(context)
        return self

    def through(self, point: FloatArray) -> "Box":
        """Return the space itself."""
        return self

    def candidates(self, rng: Generator) -> FloatArray:
        """Return scrambled Sobol' points of the unit cube."""
        return spread(self.dimension, self._log2_candidates, rng, self._kept)

    def near(self, points: FloatArray, scale: FloatArray, n: int, rng: Generator) -> FloatArray:
        """Return points that differ from a given one by about `scale`, in some coordinates."""
        start = np.repeat(points, n, axis=0)
        moved = start + rng.standard_normal(start.shape) * scale * subsets(len(start), self.dimension, rng)
        return self._kept(self.snap(moved))

    def valid(self, points: FloatArray) -> NDArray[np.bool_]:
        """Return which encoded points satisfy the constraint."""
        return satisfied(self._rule, self.decode, points)

    def snap(self, points: FloatArray) -> FloatArray:
        """Return the nearest points of the unit cube."""
        clipped: FloatArray = np.clip(points, 0.0, 1.0) + 0.0  # no -0.0: equal points have equal bytes
        return clipped

    def steps(self, given: Any) -> FloatArray:
        """Return the longest step of each coordinate in units of its range; a single number counts for all."""
        return check.steps("max_step", given, self.dimension) / self._range

    def encode(self, x: Any) -> FloatArray:
        """Return x as a point of the unit cube."""
        point = (check.array("x", x, (self.dimension,)) - self._lower) / self._range
        if (point < 0).any() or (point > 1).any():
            raise ValueError(f"`x` must lie within {self.bounds.tolist()}, got {x!r}")
        return point

    def decode(self, point: FloatArray) -> FloatArray:
        """Return a point of the unit cube in the user's coordinates."""
        x = self._lower * (1 - point) + self._upper * point  # both bounds come out exactly
        return np.minimum(np.maximum(x, self._lower), self._upper)  # rounding must not leave the box

    def to_dict(self) -> dict[str, Any]:
        """Return a description for JSON; it has only the name of a constraint that is a function."""
        result: dict[str, Any] = {"type": "box", "bounds": self.bounds.tolist(), "candidates": 2**self._log2_candidates}
        return result if self.constraint is None else result | {"constraint": described(self.constraint)}

    @classmethod
    def from_dict(cls, description: Mapping[str, Any], constraint: Constraint | None = None) -> "Box":
        """Return the box from the result of `to_dict`; give a constraint that is a function again."""
        return cls(description["bounds"], description.get("candidates", 512), given_again(description, constraint))

    def _columns(self) -> dict[str, Column]:
        ends = self.bounds.tolist()
        return {f"x[{i}]": Column(Float(low, high), slice(i, i + 1)) for i, (low, high) in enumerate(ends)}

    def _kept(self, points: FloatArray) -> FloatArray:
        return points if self.constraint is None else points[self.valid(points)]
