"""The guard: a tracked offset is believed as long as the pure duels do not contradict it.

Inside a pair the order is random, so the posterior of the duels stays unbiased whatever the offset does. The tracked
posterior learns faster but assumes a law of the offset, which an adversary breaks. Where the duels say, by several
standard deviations, that the tracked leader is beaten by their own, the duels are trusted (METHOD section 7).
"""

from functools import cached_property
from typing import Self

import numpy as np

from equipoise._typing import FloatArray
from equipoise.dual import DualPosterior
from equipoise.duel import Comparison
from equipoise.kernels import Kernel
from equipoise.learned import LearnedPosterior
from equipoise.posterior import Belief, Posterior


class GuardedPosterior(Posterior):
    """Learns readings with a tracked offset and duels without, and answers with whichever can be trusted.

    Args:
        tracked: Learns from absolute readings.
        guard: How many standard deviations make a contradiction.

    Example:
        >>> import numpy as np, equipoise as eq
        >>> posterior = eq.GuardedPosterior(eq.LearnedPosterior(np.ones(1), np.arange(1), eq.Tracked()))
        >>> posterior = posterior.condition(eq.Comparison([0.1], None, 3.0, time=1))
        >>> posterior.comparisons, posterior.contradicted
        (1, False)
    """

    learns_readings = True

    def __init__(self, tracked: LearnedPosterior, guard: float = 3.0) -> None:
        super().__init__(tracked.kernel, tracked.regularizer, tracked.confidence)
        self._guard = guard
        self._tracked = tracked
        self._duels = DualPosterior(tracked.kernel, 2 * tracked.regularizer, tracked.confidence)

    def condition(self, comparison: Comparison) -> Self:
        """Return the posterior that has also learned from a reading or from a duel."""
        return self._conditioned(comparison, anticipated=False)

    def anticipate(self, comparison: Comparison) -> Self:
        """Return the posterior as if `comparison` came out as expected."""
        return self._conditioned(comparison, anticipated=True)

    def at(self, points: FloatArray) -> Belief:
        """Return the belief of the trusted posterior."""
        return self.active.at(points)

    @property
    def support(self) -> FloatArray:
        """The points of all readings."""
        return self._tracked.support

    @property
    def active(self) -> DualPosterior:
        """The trusted posterior."""
        return self._duels if self.contradicted else self._tracked

    @property
    def tracked(self) -> LearnedPosterior:
        """The posterior that tracks the offset, trusted or not."""
        return self._tracked

    @property
    def beta(self) -> float:
        """The confidence coefficient of the trusted posterior."""
        return self.active.beta

    @cached_property
    def contradicted(self) -> bool:
        """Whether the duels contradict the tracked leader."""
        return contradicts(self._duels, self._tracked, self._guard)

    def _conditioned(self, comparison: Comparison, anticipated: bool) -> Self:
        new = self._copy()
        if comparison.second is not None:
            duels = self._duels
            new._duels = duels.anticipate(comparison) if anticipated else duels.condition(comparison)
            return new
        tracked = self._tracked
        new._tracked = tracked.anticipate(comparison) if anticipated else tracked.condition(comparison)
        if new._tracked.kernel != self._duels.kernel:
            new._duels = _under(self._duels, new._tracked.kernel, 2 * new._tracked.regularizer)
        tracked = new._tracked
        new.kernel, new.regularizer, new.log_det = tracked.kernel, tracked.regularizer, tracked.log_det
        new.comparisons = tracked.comparisons
        return new


def contradicts(duels: DualPosterior, tracked: DualPosterior, guard: float) -> bool:
    """Return whether the duels say that the tracked leader is beaten by their own, also without any one of them."""
    points = duels.support
    if not len(points):
        return False
    ours = points[int(duels.mean(points).argmax())]
    theirs = points[int(tracked.mean(points).argmax())]
    mean, variance = duels.difference(ours[None], theirs)
    if mean[0] <= guard * np.sqrt(variance[0]):
        return False
    mean, variance = duels.jackknife(ours, theirs)
    return bool((mean > guard * np.sqrt(variance)).all())


def _under(duels: DualPosterior, kernel: Kernel, regularizer: float) -> DualPosterior:
    """Return the duels under another kernel, their noise at least what their residuals show."""
    new = duels.under(kernel, regularizer)
    residuals = new.residuals()
    seen = float(residuals @ residuals) / max(len(residuals), 1)
    return new if seen <= regularizer else duels.under(kernel, seen)
