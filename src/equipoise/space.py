"""Spaces: where points lie.

A space encodes the user's points to rows of numbers, which is all the other parts see, and decodes them again. It
offers candidates; it knows nothing of the posterior.
"""

from typing import Any, Protocol

import numpy as np
from numpy.random import Generator
from numpy.typing import ArrayLike

from equipoise import _validation as check
from equipoise._typing import FloatArray


class Domain(Protocol):
    """Contract of every space."""

    @property
    def dimension(self) -> int:
        """Number of coordinates of an encoded point."""
        ...

    @property
    def points(self) -> FloatArray | None:
        """All encoded points, shape (m, d), where they are finitely many; else `None`."""
        ...

    def candidates(self, rng: Generator) -> FloatArray:
        """Return encoded points to choose from, shape (m, d)."""
        ...

    def encode(self, x: Any) -> FloatArray:
        """Return the user's point as coordinates, shape (d,)."""
        ...

    def decode(self, point: FloatArray) -> Any:
        """Return coordinates as the user's point."""
        ...


class Finite:
    """A finite set of points; their coordinates are used as they are.

    Args:
        points: Shape (m, d).

    Example:
        >>> import equipoise as eq
        >>> len(eq.Finite([[0.0, 0.0], [0.5, 1.0], [1.0, 0.0]]).points)
        3
    """

    def __init__(self, points: ArrayLike) -> None:
        self.points = check.frozen(check.array("points", points, (None, None)))
        self.dimension = self.points.shape[1]

    def __repr__(self) -> str:
        return f"Finite({len(self.points)} points in {self.dimension} dimensions)"

    def candidates(self, rng: Generator) -> FloatArray:
        """Return all points."""
        return self.points

    def encode(self, x: Any) -> FloatArray:
        """Return x as an array."""
        return check.frozen(check.array("x", x, (self.dimension,)))

    def decode(self, point: FloatArray) -> FloatArray:
        """Return a copy, so that nobody changes the set."""
        return point.copy()


class Box:
    """A box of real numbers, encoded to the unit cube.

    Args:
        bounds: Lower and upper bound of each coordinate, shape (d, 2).
        candidates: How many quasi-random points an `ask` chooses from, rounded up to a power of two.

    Example:
        >>> import equipoise as eq
        >>> box = eq.Box([(-2, 2), (-1, 1)])
        >>> box.encode([0.0, 0.5]), box.decode(box.encode([0.0, 0.5]))
        (array([0.5 , 0.75]), array([0. , 0.5]))
    """

    points = None

    def __init__(self, bounds: ArrayLike, candidates: int = 512) -> None:
        self.bounds = check.frozen(check.array("bounds", bounds, (None, 2)))
        self.dimension = len(self.bounds)
        self._lower = self.bounds[:, 0]
        self._range = self.bounds[:, 1] - self.bounds[:, 0]
        if not (self._range > 0).all():
            raise ValueError(f"`bounds` must have lower < upper in every row, got {self.bounds.tolist()}")
        self._log2_candidates = (check.count("candidates", candidates) - 1).bit_length()

    def __repr__(self) -> str:
        return f"Box({self.bounds.tolist()})"

    def candidates(self, rng: Generator) -> FloatArray:
        """Return scrambled Sobol' points of the unit cube."""
        from scipy.stats import qmc  # slow to import, and only boxes need it

        sobol = qmc.Sobol(self.dimension, rng=int(rng.integers(2**63)))
        return np.asarray(sobol.random_base2(self._log2_candidates), dtype=np.float64)

    def encode(self, x: Any) -> FloatArray:
        """Return x as a point of the unit cube."""
        point = (check.array("x", x, (self.dimension,)) - self._lower) / self._range
        if (point < 0).any() or (point > 1).any():
            raise ValueError(f"`x` must lie within {self.bounds.tolist()}, got {x!r}")
        return point

    def decode(self, point: FloatArray) -> FloatArray:
        """Return a point of the unit cube in the user's coordinates."""
        return self._lower + self._range * point
