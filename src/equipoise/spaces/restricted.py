"""A space without points that are useless or must not be measured."""

from collections.abc import Callable, Iterator, Mapping
from functools import cached_property
from typing import Any

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from equipoise._typing import FloatArray
from equipoise.spaces.domain import Domain

SHARES = (0.7, 0.5, 0.35, 0.25, 0.17, 0.1, 0.06, 0.03, 0.015)
"""The distances from an anchor tried for a refused candidate, as shares of its original distance."""


class Restricted:
    """A space whose candidates are only those that a rule keeps.

    Args:
        space: The whole space.
        keep: Takes encoded points, shape (m, d), and returns which to keep, shape (m,).
        anchors: Points that are always kept, shape (k, d): a rejected candidate moves towards one of them until it is
            kept. Without anchors it is left out; if none is left, all are kept.

    Example:
        >>> import numpy as np, equipoise as eq
        >>> left = Restricted(eq.Box([(0, 1)]), lambda points: points[:, 0] < 0.5)
        >>> bool(left.candidates(np.random.default_rng(0)).max() < 0.5)
        True
    """

    def __init__(
        self, space: Domain, keep: Callable[[FloatArray], NDArray[np.bool_]], anchors: FloatArray | None = None
    ) -> None:
        self._space, self._keep, self.anchors = space, keep, anchors
        self.dimension, self.free, self.groups, self.extent = space.dimension, space.free, space.groups, space.extent
        self.levels = space.levels
        self.contexts, self.snap, self.steps = space.contexts, space.snap, space.steps
        self.encode, self.decode, self.to_dict = space.encode, space.decode, space.to_dict  # all as in the whole space
        self.points = None if space.points is None else self._kept(space.points)

    @cached_property
    def settings(self) -> FloatArray | None:
        """All settings that are kept, if those of the space are few; `None` if none of them is."""
        found = self._space.settings
        kept = None if found is None else found[self._keep(found)]
        return kept if kept is not None and len(kept) else None

    def at(self, context: Mapping[str, Any] | None) -> "Restricted":
        """Return the part at a context, of which the same is kept."""
        return self._part(self._space.at(context))

    def through(self, point: FloatArray) -> "Restricted":
        """Return the part at the context of a point, of which the same is kept."""
        return self._part(self._space.through(point))

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

    def _part(self, part: Domain) -> "Restricted":
        anchors = None if self.anchors is None else part.snap(self.anchors)
        return self if part is self._space else Restricted(part, self._keep, anchors)

    def _kept(self, points: FloatArray) -> FloatArray:
        kept = self._keep(points)
        if self.anchors is None:
            return points[kept] if kept.any() else points
        if self._space.points is not None:
            anchored: NDArray[np.bool_] = (points[:, None] == self.anchors).all(axis=2).any(axis=1)
            inside: FloatArray = points[kept | anchored]
            return inside
        return np.concatenate((self.anchors, points[kept], *self._drawn(points[~kept])))

    def _drawn(self, points: FloatArray) -> Iterator[FloatArray]:
        """Yield points drawn towards an anchor, by little, then by more, until they are kept."""
        assert self.anchors is not None
        towards = self.anchors[np.arange(len(points)) % len(self.anchors)]
        for share in SHARES:
            if not len(points):
                return
            moved = self._space.snap(towards + share * (points - towards))
            kept = self._space.valid(moved)
            kept[kept] = self._keep(moved[kept]) if kept.any() else False
            yield moved[kept]
            points, towards = points[~kept], towards[~kept]
