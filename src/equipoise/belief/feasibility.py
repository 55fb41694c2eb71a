"""Where a reading can be had at all: learned from the trials that were read and those that failed.

    symbol   meaning                                                       shape
    s_i      1 where trial i was read, 0 where it failed                   (n,)
    w_i(x)   weight of trial i at x: exp(-r^2 / 2)                         (m, n)
    r        distance in bandwidths, each coordinate in its extent         (m, n)
    p(x)     probability that x can be measured                            (m,)

A kernel-weighted beta-binomial, METHOD section 12: `p = (a + sum w_i s_i) / (a + b + sum w_i)`. Its bandwidth is the
one under which each trial is best predicted by all others.
"""

from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from equipoise._typing import FloatArray

PRIOR_READ, PRIOR_FAILED = 1.8, 0.2
"""What is assumed before any trial, in trials: nine in ten places can be measured. Worth two trials, so that one
failure leaves a place at 0.6: a shutter that was closed for a moment does not ban it, a second failure there does."""

BANDWIDTHS = (0.05, 0.1, 0.2, 0.4)
"""Bandwidths tried, in units of the extent times the root of the dimension over two."""

LEAST_TO_RECOMMEND = 0.5
"""Places that fail more often than not are not recommended."""

MOST_CAUTION, LEAST_CAUTION = 0.97, 0.66
"""What is asked for must be this much as likely to be read as the likeliest trial or an unknown place, after very many
failures and after the first: else the edge of a region that fails, where half of all do, is asked for for ever."""


@dataclass(frozen=True, eq=False)
class Feasibility:
    """What is known of where readings can be had; immutable.

    Args:
        extent: Range of each encoded coordinate, shape (d,).
        points: Where trials were, shape (n, d).
        read: Which of them were read, shape (n,).

    Example:
        >>> import numpy as np
        >>> known = Feasibility(np.ones(1))
        >>> for x in (0.1, 0.2, 0.3, 0.7, 0.8, 0.9):
        ...     known = known.told(np.array([x]), read=x < 0.5)
        >>> known.probability(np.array([[0.25], [0.75]])).round(2)
        array([0.95, 0.41])
    """

    extent: FloatArray
    points: FloatArray = field(default_factory=lambda: np.empty((0, 0)))
    read: NDArray[np.bool_] = field(default_factory=lambda: np.empty(0, dtype=np.bool_))

    @property
    def certain(self) -> bool:
        """Whether nothing ever failed."""
        return bool(self.read.all())

    def told(self, point: FloatArray, read: bool) -> "Feasibility":
        """Return it with one more trial."""
        points = point[None] if not len(self.points) else np.concatenate((self.points, point[None]))
        return Feasibility(self.extent, points, np.append(self.read, read))

    def probability(self, points: FloatArray) -> FloatArray:
        """Return p at some points, shape (m, d): (m,)."""
        if self.certain:
            return np.ones(len(points))
        return _predicted(self._weights(points, self._bandwidth), self.read)

    def allows(self, points: FloatArray) -> NDArray[np.bool_]:
        """Return which points are worth a trial, shape (m,)."""
        allowed: NDArray[np.bool_] = self.probability(points) >= self._least
        return allowed

    @property
    def reliable(self) -> FloatArray:
        """The points that were read and do not fail more often than not, shape (k, d).

        Where something failed, only these are recommended: the best of all places often lies at the edge of what can
        be measured, where no probability is to be trusted.
        """
        points: FloatArray = np.unique(self.points[self.read], axis=0)
        return points[self.probability(points) >= LEAST_TO_RECOMMEND]

    @cached_property
    def _least(self) -> float:
        """The least probability with which a place must be measurable to be asked for."""
        failed = len(self.read) - int(self.read.sum())
        if not failed:
            return 0.0
        caution = MOST_CAUTION - (MOST_CAUTION - LEAST_CAUTION) / failed
        unknown = PRIOR_READ / (PRIOR_READ + PRIOR_FAILED)
        return caution * max(unknown, float(self.probability(self.points).max()))

    @cached_property
    def _bandwidth(self) -> float:
        """The bandwidth under which each trial is best predicted by all others."""

        def surprise(bandwidth: float) -> float:
            w = self._weights(self.points, bandwidth)
            np.fill_diagonal(w, 0.0)
            p = _predicted(w, self.read)
            return -float(np.log(np.where(self.read, p, 1.0 - p)).sum())

        scale = (len(self.extent) / 2) ** 0.5
        tried: list[float] = [scale * each for each in BANDWIDTHS]
        return min(tried, key=surprise)

    def _weights(self, points: FloatArray, bandwidth: float) -> FloatArray:
        z = (points[:, None, :] - self.points[None]) / (bandwidth * self.extent)
        w: FloatArray = np.exp(-0.5 * np.einsum("mnd,mnd->mn", z, z))
        return w


def _predicted(w: FloatArray, read: NDArray[np.bool_]) -> FloatArray:
    p: FloatArray = (PRIOR_READ + w @ read) / (PRIOR_READ + PRIOR_FAILED + w.sum(axis=1))
    return p
