"""Spaces without names: a finite set of points, and a box.

A space encodes the user's points to rows of numbers, which is all the other parts see, and decodes them again. It
offers candidates; it knows nothing of the posterior. Spaces of named parameters: `equipoise.named_space`.
"""

from collections.abc import Mapping
from functools import cached_property
from typing import Any

import numpy as np
from numpy.random import Generator
from numpy.typing import ArrayLike, NDArray

from equipoise import _validation as check
from equipoise._typing import FloatArray
from equipoise.constraints import Constraint, checked, given_again, name_of, satisfied
from equipoise.domain import Domain
from equipoise.sampling import spread, subsets

__all__ = ["Box", "Domain", "Finite"]


class Finite:
    """A finite set of points; their coordinates are used as they are.

    Args:
        points: Shape (m, d).

    Example:
        >>> import equipoise as eq
        >>> len(eq.Finite([[0.0, 0.0], [0.5, 1.0], [1.0, 0.0]]).points)
        3
    """

    LARGE = 5_000
    """Above so many points, `candidates` are some of them: the time of an `ask` must not grow with the set."""

    SAMPLE = 4_096
    """How many candidates a large set offers."""

    def __init__(self, points: ArrayLike) -> None:
        self.points = check.frozen(check.array("points", points, (None, None)))
        self.dimension = self.points.shape[1]
        self.free = np.zeros(self.dimension, dtype=np.bool_)
        self.groups = np.arange(self.dimension)
        extent = np.ptp(self.points, axis=0)
        self.extent = np.where(extent > 0, extent, 1.0)

    def __repr__(self) -> str:
        return f"Finite({len(self.points)} points in {self.dimension} dimensions)"

    def candidates(self, rng: Generator) -> FloatArray:
        """Return all points; of a large set, some drawn at random."""
        if len(self.points) <= self.LARGE:
            return self.points
        return self.points[rng.choice(len(self.points), self.SAMPLE, replace=False, shuffle=False)]

    def near(self, points: FloatArray, scale: FloatArray, n: int, rng: Generator) -> FloatArray:
        """Return, of a large set, the n other points nearest to each given one."""
        if len(self.points) <= self.LARGE or not len(points) or n < 1:
            return np.empty((0, self.dimension))
        last = min(n, len(self.points)) - 1
        nearest = [np.argpartition(self._distances(point, scale), last)[: last + 1] for point in points]
        return self.points[np.unique(nearest)]

    def valid(self, points: FloatArray) -> NDArray[np.bool_]:
        """Return which are in the set: leave out of it what must never be asked."""
        if points is self.points:
            return np.ones(len(points), dtype=np.bool_)
        return np.array([point.tobytes() in self._members for point in points + 0.0], dtype=np.bool_)

    def snap(self, points: FloatArray) -> FloatArray:
        """Return the points as they are."""
        return points

    def encode(self, x: Any) -> FloatArray:
        """Return x as an array."""
        return check.frozen(check.array("x", x, (self.dimension,)))

    def decode(self, point: FloatArray) -> FloatArray:
        """Return a copy, so that nobody changes the set."""
        return point.copy()

    def to_dict(self) -> dict[str, Any]:
        """Return a description made of what JSON knows."""
        return {"type": "finite", "points": self.points.tolist()}

    @classmethod
    def from_dict(cls, description: Mapping[str, Any]) -> "Finite":
        """Return the set that `to_dict` described."""
        return cls(description["points"])

    @cached_property
    def _members(self) -> frozenset[bytes]:
        return frozenset(point.tobytes() for point in self.points)

    def _distances(self, point: FloatArray, scale: FloatArray) -> FloatArray:
        """Return the squared distance to every point, shape (m,); infinite to the point itself."""
        steps = self.points - point
        steps /= scale
        result: FloatArray = np.einsum("ij,ij->i", steps, steps)
        result[result == 0] = np.inf
        return result


class Box:
    """A box of real numbers, encoded to the unit cube.

    Args:
        bounds: Lower and upper bound of each coordinate, shape (d, 2).
        candidates: How many quasi-random points an `ask` chooses from, rounded up to a power of two.
        constraint: Takes a point, shape (d,), and returns whether it may be measured: what is not true there is
            never asked. Any point may be by default.

    Example:
        >>> import equipoise as eq
        >>> box = eq.Box([(-2, 2), (-1, 1)])
        >>> box.encode([0.0, 0.5]), box.decode(box.encode([0.0, 0.5]))
        (array([0.5 , 0.75]), array([0. , 0.5]))
        >>> eq.Box([(-2, 2), (-1, 1)], constraint=lambda x: x[0] + x[1] < 2).valid(box.encode([1.5, 0.6])[None])
        array([False])
    """

    points = None

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

    def __repr__(self) -> str:
        candidates = "" if self._log2_candidates == 9 else f", candidates={2**self._log2_candidates}"
        constraint = "" if self.constraint is None else f", constraint={self.constraint!r}"
        return f"Box({self.bounds.tolist()}{candidates}{constraint})"

    def candidates(self, rng: Generator) -> FloatArray:
        """Return scrambled Sobol' points of the unit cube."""
        return spread(self.dimension, self._log2_candidates, rng, self._kept)

    def near(self, points: FloatArray, scale: FloatArray, n: int, rng: Generator) -> FloatArray:
        """Return points some of whose coordinates differ by about `scale` from a given one."""
        start = np.repeat(points, n, axis=0)
        moved = start + rng.standard_normal(start.shape) * scale * subsets(len(start), self.dimension, rng)
        return self._kept(self.snap(moved))

    def valid(self, points: FloatArray) -> NDArray[np.bool_]:
        """Return which encoded points satisfy the constraint."""
        return satisfied(self.constraint, self.decode, points)

    def snap(self, points: FloatArray) -> FloatArray:
        """Return the nearest points of the unit cube."""
        clipped: FloatArray = np.clip(points, 0.0, 1.0) + 0.0  # no -0.0: equal points have equal bytes
        return clipped

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
        """Return a description made of what JSON knows; a constraint is only noted."""
        result = {"type": "box", "bounds": self.bounds.tolist(), "candidates": 2**self._log2_candidates}
        return result if self.constraint is None else result | {"constraint": name_of(self.constraint)}

    @classmethod
    def from_dict(cls, description: Mapping[str, Any], constraint: Constraint | None = None) -> "Box":
        """Return the box that `to_dict` described; a constraint it had must be given again."""
        return cls(description["bounds"], description.get("candidates", 512), given_again(description, constraint))

    def _kept(self, points: FloatArray) -> FloatArray:
        return points if self.constraint is None else points[self.valid(points)]
