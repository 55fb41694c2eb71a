"""Compression of readings far below the best one to their order of magnitude.

    symbol   meaning                                                    shape
    y        readings less the best one when this was chosen            (n,)
    s        scale: what is less than s below the best stays as it is   ()
    u        compressed readings, of which f and the offset are learned (n,)

If a queue is overloaded or a model diverges, one number is a thousand times as far below the best as the others are
from each other. A stationary model of f takes its scale from that number, and loses the differences that matter. Hence
`u = -s log(1 - y / s)` below the best, and u = y above: near the best it is the reading, far below its logarithm. Both
s and whether anything is compressed are learned by the likelihood (Snelson, Rasmussen and Ghahramani 2004).
"""

import math
from dataclasses import dataclass

import numpy as np

from equipoise import _validation as check
from equipoise._typing import FloatArray

LARGEST_EXPONENT = 500.0
"""Differences of more than this many scales are not turned back further: they would no longer be numbers."""

STEP = math.sqrt(10.0)
"""Scales that are tried next to the present one are this many times as large, and as small."""

SKEWED = 3.0
"""Nothing is compressed unless the worst reading is this many times as far below the middle one as the best is above:
the readings of a paraboloid in one dimension are, seldom, those of a search that has climbed it are; both fits are then
compared."""


@dataclass(frozen=True)
class Compression:
    """How readings far below the best one, which is their origin, are compressed.

    Attributes:
        scale: How far below it readings begin to be compressed.

    Example:
        >>> compression = Compression(scale=2.0)
        >>> compression(np.array([1.0, 0.0, -0.2, -400.0])).round(2)
        array([  1.  ,   0.  ,  -0.19, -10.61])
        >>> compression.undone(compression(np.array([1.0, -400.0]))).round(6)
        array([   1., -400.])
    """

    scale: float

    def __post_init__(self) -> None:
        check.positive("scale", self.scale)

    def __call__(self, y: FloatArray) -> FloatArray:
        """Return compressed readings, shape (n,)."""
        u: FloatArray = np.maximum(y, 0.0) - self.scale * np.log1p(np.maximum(-y, 0.0) / self.scale)
        return u

    def undone(self, u: FloatArray) -> FloatArray:
        """Return the readings that were compressed, shape (n,)."""
        y: FloatArray = np.maximum(u, 0.0) - self.stretched(np.maximum(-u, 0.0))
        return y

    def stretched(self, below: FloatArray | float) -> FloatArray:
        """Return how far below the best one readings are that are so far below it once compressed."""
        stretched: FloatArray = self.scale * np.expm1(np.minimum(np.divide(below, self.scale), LARGEST_EXPONENT))
        return stretched

    def difference(self, compressed: float, depths: FloatArray) -> float:
        """Return a difference of two settings as readings show it, from what is left of it once compressed.

        Args:
            compressed: That of the first and the second setting; of the two the better one stays where it is.
            depths: How far below the best one both are, compressed.
        """
        if math.isinf(compressed):
            return compressed
        top, size = float(depths[0 if compressed >= 0 else 1]), abs(compressed)
        return math.copysign(float(self.stretched(top + size) - self.stretched(top)), compressed)

    def log_slope(self, y: FloatArray) -> float:
        """Return the logarithm of du/dy, summed over readings: what their density is multiplied by."""
        return -float(np.log1p(np.maximum(-y, 0.0) / self.scale).sum())

    @property
    def nearby(self) -> "list[Compression]":
        """Those to be tried next."""
        return [Compression(self.scale * factor) for factor in (1.0, STEP, 1 / STEP)]


def compressions(y: FloatArray) -> list[Compression]:
    """Return the compressions to be tried first of readings whose best one is 0; none if they are not skewed.

    Example:
        >>> compressions(np.array([0.0, -1.0, -2.0, -3.0])), len(compressions(np.array([0.0, -1.0, -2.0, -300.0])))
        ([], 2)
    """
    middle = float(-np.median(y))
    if not -y.min() - middle > SKEWED * middle > 0:
        return []
    return [Compression(middle * factor) for factor in (1.0, 1 / STEP)]
