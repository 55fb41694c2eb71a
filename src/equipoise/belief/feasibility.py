"""The settings that can be measured, learned from the trials that were read and those that failed.

    symbol   meaning                                                       shape
    r_i, f_i number of readings and of failures at place i                 (n,)
    w_i(x)   weight of place i at x: exp(-z^2 / 2)                         (m, n)
    z        distance in bandwidths, each coordinate by its extent         (m, n)
    p(x)     probability that x can be measured                            (m,)

A kernel-weighted beta-binomial, METHOD section 12: `p = (a + sum w_i r_i) / (a + b + sum w_i (r_i + f_i))`. Its
bandwidth is the one that best predicts each trial from all others.
"""

from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from equipoise import _linalg
from equipoise._typing import FloatArray

PRIOR_READ, PRIOR_FAILED = 1.8, 0.2
"""The prior, in trials: nine in ten places can be measured. It is worth two trials, so that one failure leaves a place
at 0.6: one failure, such as a closed shutter, does not exclude a place, but a second one there does."""

BANDWIDTHS = (0.05, 0.1, 0.2, 0.4)
"""The bandwidths tried, in units of the extent times the root of the dimension over two."""

MOST_CAUTION, LEAST_CAUTION = 0.97, 0.66
"""The least probability of a proposal, relative to the likeliest trial or an unknown place, after very many failures
and after the first: else the edge of a failing region, where half of all trials fail, is proposed forever."""

LEAST_EVER = 0.5
"""The least probability of a recommendation: places that fail more often than not are not recommended. They are not
proposed either, unless the data show that failures depend on the place rather than the time."""

LOCAL_NATS = 1.0
"""The gain in prediction by nearby trials over all trials alike that shows that failures depend on the place."""

MAX_PLACES = 300
"""The most places kept, since the cost is quadratic: those that failed, then the latest."""


@dataclass(frozen=True, eq=False)
class Feasibility:
    """The settings that can be measured; immutable.

    Args:
        extent: Range of each encoded coordinate, shape (d,).
        points: The distinct places of the trials, shape (n, d).
        read: The number of readings of each, shape (n,).
        failed: The number of failures of each, shape (n,).

    Example:
        >>> import numpy as np
        >>> trials = np.array([[0.1], [0.2], [0.3], [0.7], [0.8], [0.9]])
        >>> known = Feasibility.of(np.ones(1), trials, trials[:, 0] < 0.5)
        >>> known.probability(np.array([[0.25], [0.75]])).round(2)
        array([0.95, 0.41])
    """

    extent: FloatArray
    points: FloatArray = field(default_factory=lambda: np.empty((0, 0)))
    read: FloatArray = field(default_factory=lambda: np.empty(0))
    failed: FloatArray = field(default_factory=lambda: np.empty(0))

    @classmethod
    def of(cls, extent: FloatArray, trials: FloatArray, read: NDArray[np.bool_]) -> "Feasibility":
        """Return the model learned from trials, shape (t, d), in their order; `read` is a mask of those read."""
        last, place = _linalg.grouped(trials[::-1])
        points, place = trials[::-1][last], place[::-1]
        counts = [np.bincount(place, good, len(points)).astype(np.float64) for good in (read, ~read)]
        kept = np.lexsort((last, counts[1] == 0))[:MAX_PLACES]  # failed places first, then the latest
        return cls(extent, points[kept], *(count[kept] for count in counts))

    @property
    def certain(self) -> bool:
        """True if no trial has failed."""
        return not self.failed.any()

    def probability(self, points: FloatArray) -> FloatArray:
        """Return p at points of shape (m, d), shape (m,)."""
        if self.certain:
            return np.ones(len(points))
        w = self._weights(points, self._bandwidth)
        return _ratio(w @ self.read, w @ (self.read + self.failed))

    def allows(self, points: FloatArray) -> NDArray[np.bool_]:
        """Return a mask of the points worth a trial, shape (m,)."""
        allowed: NDArray[np.bool_] = self.probability(points) >= self._least
        return allowed

    @cached_property
    def reliable(self) -> FloatArray:
        """The points that were read and do not fail more often than not, shape (k, d).

        If a trial failed, only these are recommended: the best point often lies at the edge of the measurable region,
        and there the probability is not reliable.
        """
        points: FloatArray = self.points[self.read > 0]
        return points[self.probability(points) >= LEAST_EVER]

    @cached_property
    def _least(self) -> float:
        """The least probability of being measurable that a proposal must have."""
        if self.certain or not self._local:
            return 0.0 if self.certain else LEAST_EVER
        caution = MOST_CAUTION - (MOST_CAUTION - LEAST_CAUTION) / float(self.failed.sum())
        unknown = PRIOR_READ / (PRIOR_READ + PRIOR_FAILED)
        return caution * max(unknown, float(self.probability(self.points).max()))

    @cached_property
    def _bandwidth(self) -> float:
        """The bandwidth that best predicts each trial from all others."""
        scale = (len(self.extent) / 2) ** 0.5
        tried: list[float] = [scale * each for each in BANDWIDTHS]
        return min(tried, key=lambda each: self._surprise(self._weights(self.points, each)))

    @cached_property
    def _local(self) -> bool:
        """True if failures depend on the place: if nearby trials predict better than all trials alike."""
        here, alike = self._weights(self.points, self._bandwidth), np.ones((len(self.points), len(self.points)))
        return self._surprise(here) + LOCAL_NATS < self._surprise(alike)

    def _surprise(self, w: FloatArray) -> float:
        """Return minus the log probability of each trial given all others, summed, under weights (n, n)."""
        read, trials = w @ self.read, w @ (self.read + self.failed)
        good, bad = _ratio(read - 1.0, trials - 1.0), 1.0 - _ratio(read, trials - 1.0)
        terms = (self.read, good), (self.failed, bad)
        return -sum(float(n[n > 0] @ np.log(p[n > 0])) for n, p in terms)

    def _weights(self, points: FloatArray, bandwidth: float) -> FloatArray:
        unit = bandwidth * self.extent
        a, b = points / unit, self.points / unit
        z2 = (a * a).sum(axis=1)[:, None] + (b * b).sum(axis=1) - 2.0 * (a @ b.T)
        w: FloatArray = np.exp(-0.5 * np.maximum(z2, 0.0))
        return w


def _ratio(read: FloatArray, trials: FloatArray) -> FloatArray:
    p: FloatArray = (PRIOR_READ + read) / (PRIOR_READ + PRIOR_FAILED + trials)
    return p
