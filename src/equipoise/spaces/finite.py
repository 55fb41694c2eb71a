"""A finite set of points, without names."""

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any

import numpy as np
from numpy.random import Generator
from numpy.typing import ArrayLike, NDArray

from equipoise import _validation as check
from equipoise._typing import FloatArray


class Finite:
    """A finite set of points with unscaled coordinates, or of names without features.

    Args:
        points: Shape (m, d); or m different names, all equally similar, as in a ranking.

    Example:
        >>> import equipoise as eq
        >>> len(eq.Finite([[0.0, 0.0], [0.5, 1.0], [1.0, 0.0]]).points)
        3
        >>> eq.Finite(["espresso", "filter", "press"]).encode("filter")
        array([0., 1., 0.])
    """

    LARGE = 5_000
    """Above this number of points, `candidates` are a sample, so the time of an `ask` does not grow with the set."""

    SAMPLE = 4_096
    """The number of candidates that a large set offers."""

    contexts, levels, settings = (), (), None

    def __init__(self, points: ArrayLike | Sequence[str]) -> None:
        self.names = _names(points)
        places = points if self.names is None else np.eye(len(self.names))  # all equally far from each other
        self.points = check.frozen(check.array("points", places, (None, None)))
        self.dimension = self.points.shape[1]
        self.free = np.zeros(self.dimension, dtype=np.bool_)
        self.groups = np.arange(self.dimension) if self.names is None else np.zeros(self.dimension, dtype=np.intp)
        extent = np.ptp(self.points, axis=0)
        self.extent = np.where(extent > 0, extent, 1.0)

    def __repr__(self) -> str:
        if self.names is not None:
            return f"Finite({len(self.names)} names)"
        return f"Finite({len(self.points)} points in {self.dimension} dimensions)"

    def at(self, context: Mapping[str, Any] | None) -> "Finite":
        """Return the space itself: it has no contexts."""
        check.no_context(context)
        return self

    def through(self, point: FloatArray) -> "Finite":
        """Return the space itself."""
        return self

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
        """Return which points are in the set; the set has no constraint."""
        if points is self.points:
            return np.ones(len(points), dtype=np.bool_)
        return np.array([point.tobytes() in self._members for point in points + 0.0], dtype=np.bool_)

    def snap(self, points: FloatArray) -> FloatArray:
        """Return the points as they are."""
        return points

    def steps(self, given: Any) -> FloatArray:
        """Return the longest step of each coordinate; a single number counts for all."""
        return check.steps("max_step", given, self.dimension)

    def encode(self, x: Any) -> FloatArray:
        """Return x as an array."""
        if self.names is not None:
            if x not in self.names:
                raise ValueError(f"`x` must be one of the {len(self.names)} names, got {x!r}")
            place: FloatArray = self.points[self.names.index(x)]
            return place
        return check.frozen(check.array("x", x, (self.dimension,)))

    def decode(self, point: FloatArray) -> Any:
        """Return a copy, so that the set stays as it is; or the name."""
        return point.copy() if self.names is None else self.names[int(point.argmax())]

    def to_dict(self) -> dict[str, Any]:
        """Return a description for JSON."""
        return {"type": "finite", "points": self.points.tolist() if self.names is None else list(self.names)}

    @classmethod
    def from_dict(cls, description: Mapping[str, Any]) -> "Finite":
        """Return the set from the result of `to_dict`."""
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


def _names(points: ArrayLike | Sequence[str]) -> tuple[str, ...] | None:
    """Return the names, if names were given; refuse duplicates."""
    if not isinstance(points, (list, tuple)) or not any(isinstance(each, str) for each in points):
        return None
    if not all(isinstance(each, str) for each in points) or len(set(points)) < len(points):
        raise ValueError(f"`points` must be different names, got {points!r}")
    return tuple(map(str, points))
