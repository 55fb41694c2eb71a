"""A space with places left out that turned out to be of no use."""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from equipoise._typing import FloatArray
from equipoise.spaces.domain import Domain


class Restricted:
    """A space whose candidates are only those that a rule keeps; where it keeps none, all of them.

    Args:
        space: The whole space.
        keep: Takes encoded points, shape (m, d), and returns which to keep, shape (m,).

    Example:
        >>> import numpy as np, equipoise as eq
        >>> left = Restricted(eq.Box([(0, 1)]), lambda points: points[:, 0] < 0.5)
        >>> bool(left.candidates(np.random.default_rng(0)).max() < 0.5)
        True
    """

    def __init__(self, space: Domain, keep: Callable[[FloatArray], NDArray[np.bool_]]) -> None:
        self._space, self._keep = space, keep
        self.dimension, self.free, self.groups, self.extent = space.dimension, space.free, space.groups, space.extent
        self.points = None if space.points is None else self._kept(space.points)

    def candidates(self, rng: Generator) -> FloatArray:
        """Return candidates of the space that are kept."""
        found = self._space.candidates(rng)
        return self.points if self.points is not None and found is self._space.points else self._kept(found)

    def near(self, points: FloatArray, scale: FloatArray, n: int, rng: Generator) -> FloatArray:
        """Return points around given ones that are kept; there may be none."""
        found = self._space.near(points, scale, n, rng)
        return found[self._keep(found)] if len(found) else found

    def valid(self, points: FloatArray) -> NDArray[np.bool_]:
        """Return which points are kept."""
        valid = self._space.valid(points)
        valid[valid] = self._keep(points[valid]) if valid.any() else False
        return valid

    def snap(self, points: FloatArray) -> FloatArray:
        """Return the nearest encodings of a setting."""
        return self._space.snap(points)

    def encode(self, x: Any) -> FloatArray:
        """Return the user's point as coordinates."""
        return self._space.encode(x)

    def decode(self, point: FloatArray) -> Any:
        """Return coordinates as the user's point."""
        return self._space.decode(point)

    def to_dict(self) -> dict[str, Any]:
        """Return the description of the whole space."""
        return self._space.to_dict()

    def _kept(self, points: FloatArray) -> FloatArray:
        kept = self._keep(points)
        return points[kept] if kept.any() else points
