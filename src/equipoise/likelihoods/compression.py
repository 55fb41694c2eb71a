"""Compression of readings far below the best one to their order of magnitude.

    symbol   meaning                                                    shape
    y        readings minus the best one when this was chosen           (n,)
    s        scale: readings less than s below the best change little   ()
    u        compressed readings: f and the offset are learned from u   (n,)

If a queue is overloaded or a model diverges, one reading lies a thousand times as far below the best as the others lie
apart. A stationary model of f takes its scale from this reading and loses the relevant differences. Therefore
`u = -s log(1 - y / s)` below the best, and u = y above: near the best u equals the reading, far below it is
logarithmic. The likelihood determines s, and whether to compress at all (Snelson, Rasmussen and Ghahramani 2004).
"""

import math
from dataclasses import dataclass

import numpy as np

from equipoise import _validation as check
from equipoise._typing import FloatArray

LARGEST_EXPONENT = 500.0
"""The largest difference, in scales, that is expanded: larger ones would overflow."""

STEP = math.sqrt(10.0)
"""The factor between the present scale and the next larger and smaller ones tried."""

SKEWED = 3.0
"""The least skewness for trying compression: the distance of the worst reading below the median, divided by that of the
best above it. Readings of a paraboloid in one dimension seldom reach it, those of a search that has climbed it do. Both
fits are then compared."""


@dataclass(frozen=True)
class Compression:
    """The compression of readings far below the best one, which is their origin.

    Attributes:
        scale: The distance below it at which compression begins.

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
        """Return the readings before compression, shape (n,)."""
        y: FloatArray = np.maximum(u, 0.0) - self.stretched(np.maximum(-u, 0.0))
        return y

    def stretched(self, below: FloatArray | float) -> FloatArray:
        """Return the distances of readings below the best one from their compressed distances."""
        stretched: FloatArray = self.scale * np.expm1(np.minimum(np.divide(below, self.scale), LARGEST_EXPONENT))
        return stretched

    def difference(self, compressed: float, depths: FloatArray) -> float:
        """Return the difference of two settings in units of readings from their compressed difference.

        Args:
            compressed: The difference of the first and the second setting; the better one is held fixed.
            depths: The compressed distances of both below the best reading.
        """
        if math.isinf(compressed):
            return compressed
        top, size = float(depths[0 if compressed >= 0 else 1]), abs(compressed)
        return math.copysign(float(self.stretched(top + size) - self.stretched(top)), compressed)

    def log_slope(self, y: FloatArray) -> float:
        """Return the sum over readings of the logarithm of du/dy, the factor of their density."""
        return -float(np.log1p(np.maximum(-y, 0.0) / self.scale).sum())

    @property
    def nearby(self) -> "list[Compression]":
        """The compressions to try next."""
        return [Compression(self.scale * factor) for factor in (1.0, STEP, 1 / STEP)]


def compressions(y: FloatArray) -> list[Compression]:
    """Return the compressions to try first for readings with best value 0; none if they are not skewed.

    Example:
        >>> compressions(np.array([0.0, -1.0, -2.0, -3.0])), len(compressions(np.array([0.0, -1.0, -2.0, -300.0])))
        ([], 2)
    """
    middle = float(-np.median(y))
    if not -y.min() - middle > SKEWED * middle > 0:
        return []
    return [Compression(middle * factor) for factor in (1.0, 1 / STEP)]
