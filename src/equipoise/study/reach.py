"""What is within one step of where the machine may stand.

symbol   meaning                                  shape
low      least coordinates that may be set next   (d,)
high     largest coordinates                      (d,)
step     longest step of each coordinate          (d,)
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from equipoise._typing import FloatArray
from equipoise.spaces import Domain

ROUNDING = 1e-12
"""By how much a difference may exceed a limit: coordinates are rounded."""


@dataclass(frozen=True, eq=False)
class Reach:
    """The settings within one step of where the machine may stand: a box.

    Attributes:
        at: Where it stands most likely, encoded, shape (d,).
        low: The least coordinates, shape (d,).
        high: The largest coordinates, shape (d,).
        step: The longest step of each coordinate, shape (d,); infinite if there is no limit.
    """

    at: FloatArray
    low: FloatArray
    high: FloatArray
    step: FloatArray

    @classmethod
    def of(cls, space: Domain, stands: Sequence[FloatArray], step: FloatArray) -> "Reach":
        """Return what is within a step of the first position, and of all others if that is possible.

        Args:
            space: The part of the space at the present context, at which all positions are taken.
            stands: Where the machine may stand, the likeliest first.
            step: The longest step of each coordinate, shape (d,).
        """
        first, *others = space.snap(np.array(stands))
        low, high = first - step, first + step
        for other in others:
            least, most = np.maximum(low, other - step), np.minimum(high, other + step)
            if (least <= most + ROUNDING).all():
                low, high = least, most
        return cls(first, low, high, step)

    def contains(self, points: FloatArray) -> NDArray[np.bool_]:
        """Return which points, shape (m, d), are within a step, shape (m,)."""
        inside = (points >= self.low - ROUNDING) & (points <= self.high + ROUNDING)
        within: NDArray[np.bool_] = np.logical_and.reduce(inside, axis=1)
        return within

    def joins(self, points: FloatArray, other: FloatArray) -> NDArray[np.bool_]:
        """Return which points, shape (m, d), are within a step of another one, shape (d,): either may come first."""
        near: NDArray[np.bool_] = np.logical_and.reduce(np.abs(points - other) <= self.step + ROUNDING, axis=1)
        return near

    def towards(self, point: FloatArray) -> FloatArray:
        """Return the coordinates within reach that are nearest to a point, shape (d,)."""
        return np.clip(point, self.low, self.high)
