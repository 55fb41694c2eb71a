"""The guard: a law of the offset is believed as long as the pure duels do not contradict it.

Inside a pair the order is random, so the posterior of the duels stays unbiased whatever the offset does. The modeled
posterior learns faster but assumes a law of the offset, which an adversary breaks. Where the duels say, by several
standard deviations, that the modeled leader is beaten by their own, the duels are trusted (METHOD section 7).
"""

from collections.abc import Sequence
from functools import cached_property
from typing import Self

import numpy as np

from equipoise._typing import FloatArray
from equipoise.belief.anywhere import AnywherePosterior
from equipoise.belief.landscape import Landscape
from equipoise.belief.learned import LearnedPosterior
from equipoise.belief.model import Hyperparameters, Learned, Model
from equipoise.belief.observations import Observations
from equipoise.belief.posterior import Belief, Posterior, direction, says_nothing
from equipoise.data import Comparison
from equipoise.kernels import Kernel
from equipoise.offsets import Offset


class GuardedPosterior(Posterior):
    """Learns readings with a modeled offset and duels without, and answers with whichever can be trusted.

    Args:
        modeled: Learns from absolute readings.
        guard: How many standard deviations make a contradiction.

    Example:
        >>> import numpy as np, equipoise as eq
        >>> form = eq.belief.Form(np.ones(1), np.arange(1), eq.Tracked())
        >>> posterior = eq.belief.GuardedPosterior(eq.belief.LearnedPosterior(form))
        >>> posterior = posterior.condition(eq.Comparison([0.1], None, 3.0, time=1))
        >>> posterior.comparisons, posterior.contradicted
        (1, False)
    """

    _derived = ("contradicted",)

    def __init__(self, modeled: LearnedPosterior, guard: float = 3.0) -> None:
        super().__init__(modeled.kernel, modeled.regularizer, modeled.confidence)
        self.guard, self.modeled, self.form = guard, modeled, modeled.form
        noise, folding = 2 * modeled.regularizer, modeled.folding
        folding = None if folding is None else folding.of_pairs
        self.duels = AnywherePosterior(modeled.kernel, noise, modeled.confidence, folding=folding)

    @property
    def law(self) -> Offset:
        """What is assumed of the offset, as long as nothing contradicts it."""
        return self.modeled.law

    @property
    def fitted(self) -> Learned:
        """What was learned, but for the data."""
        return self.modeled.fitted

    @property
    def due(self) -> int:
        """How many data there will be when it fits next."""
        return self.modeled.due

    def condition(self, comparison: Comparison) -> Self:
        """Return the posterior that has also learned from a reading or from a duel."""
        if comparison.second is not None:
            return self._with(self.modeled, self.duels.condition(comparison))
        return self._following(self.modeled.condition(comparison))

    @property
    def overdue(self) -> bool:
        """Whether a fit is due that was left out."""
        return self.modeled.overdue

    def condition_only(self, comparison: Comparison) -> Self:
        """Return the posterior that has also learned from a reading or from a duel, and has fitted nothing."""
        if comparison.second is not None:
            return self.condition(comparison)
        return self._following(self.modeled.condition_only(comparison))

    def caught_up(self) -> Self:
        """Return it with the fit that is overdue, if one is."""
        return self._following(self.modeled.caught_up()) if self.overdue else self

    def anticipate(self, comparison: Comparison) -> Self:
        """Return the posterior as if `comparison` came out as expected."""
        if comparison.second is not None:
            return self._with(self.modeled, self.duels.anticipate(comparison))
        return self._with(self.modeled.anticipate(comparison), self.duels)

    def anticipate_all(self, comparisons: Sequence[Comparison]) -> Self:
        """Return the posterior as if all comparisons came out as expected."""
        pairs = [each for each in comparisons if each.second is not None]
        readings = [each for each in comparisons if each.second is None]
        return self._with(self.modeled.anticipate_all(readings), self.duels.anticipate_all(pairs))

    def told(self, comparisons: Sequence[Comparison], learned: Learned) -> Self:
        """Return what learning from readings and duels comes to, had they been known when all was learned anew.

        Args:
            comparisons: All it is to know.
            learned: What was learned before.
        """
        modeled = self.modeled.told(comparisons, learned)
        kernel, noise = modeled.kernel, 2 * modeled.regularizer
        pairs = [each for each in comparisons if each.second is not None]
        news = [each for each in pairs if not says_nothing(*direction(each))]
        duels = self.duels.given(Observations.of(news) if news else None, len(pairs), Model(kernel, noise))
        return self._with(modeled, _under(duels, kernel, noise))

    def must_understand(self, learned: Learned) -> None:
        """Refuse what cannot have been fitted by it."""
        self.modeled.must_understand(learned)

    def watching(self) -> Self:
        """Return the posterior that allows for a jump of the offset wherever the last readings insist on one."""
        return self._following(self.modeled.watching())

    def refitted(self) -> Self:
        """Return the posterior with hyperparameters fitted to all readings."""
        return self._following(self.modeled.refitted())

    def at(self, points: FloatArray) -> Belief:
        """Return the belief of the trusted posterior."""
        return self.active.at(points)

    def mean(self, points: FloatArray) -> FloatArray:
        """Return the mean of the trusted posterior, shape (m,)."""
        return self.active.mean(points)

    def landscape(self, leader: FloatArray) -> Landscape:
        """Return the landscape of the trusted posterior."""
        return self.active.landscape(leader)

    def offsets(self, leader: FloatArray) -> tuple[FloatArray, FloatArray] | None:
        """Return the time of each reading, and what the leader would have read then, where the law is trusted."""
        return None if self.contradicted else self.modeled.offsets(leader)

    @property
    def support(self) -> FloatArray:
        """The points of all readings."""
        return self.modeled.support

    @property
    def active(self) -> AnywherePosterior:
        """The trusted posterior."""
        return self.duels if self.contradicted else self.modeled.exact

    @property
    def knows_unit(self) -> bool:
        """Whether there were enough data to learn how large f is."""
        return self.modeled.knows_unit

    @property
    def pair_variance(self) -> float:
        """The variance of the difference of two readings of one pair at one point."""
        return self.modeled.pair_variance

    @property
    def proven(self) -> bool:
        """Never: a kernel that was learned is no assumption of a theorem."""
        return False

    @property
    def opinions(self) -> tuple[Posterior, ...]:
        """Those of the modeled posterior, and the duels, which jumps do not fool."""
        return (*self.modeled.opinions, self.duels)

    @property
    def knows_enough(self) -> bool:
        """Whether there were so many readings that what was learned of the model can be relied on."""
        return self.modeled.knows_enough

    @property
    def typical_step(self) -> float:
        """The size of a typical difference of readings."""
        return self.modeled.typical_step

    def supposing(self, hyperparameters: Hyperparameters) -> Self:
        """Return it with the model under given hyperparameters."""
        return self._following(self.modeled.supposing(hyperparameters))

    def rescaled(self, lengthscales: float, variance: float) -> AnywherePosterior:
        """Return the modeled posterior under other lengthscales and another variance of f."""
        return self.modeled.rescaled(lengthscales, variance)

    def shortened(self, share: float) -> AnywherePosterior:
        """Return the modeled posterior under short lengthscales."""
        return self.modeled.shortened(share)

    def cautious(self, unit: float) -> Posterior:
        """Return the modeled posterior under short lengthscales and a large variance of f."""
        return self.modeled.cautious(unit)

    @property
    def estranged(self) -> frozenset[str]:
        """The earlier campaigns whose readings contradict those of now."""
        return self.modeled.estranged

    @property
    def spoiled(self) -> tuple[float, ...]:
        """The times of the readings that are held for spoiled."""
        return self.modeled.spoiled

    @property
    def beta(self) -> float:
        """The confidence coefficient of the trusted posterior."""
        return self.active.beta

    @cached_property
    def contradicted(self) -> bool:
        """Whether the duels contradict the leader of the modeled posterior."""
        return contradicts(self.duels, self.modeled, self.guard)

    def _following(self, modeled: LearnedPosterior) -> Self:
        """Return the posterior with a changed model, whose kernel the duels take over."""
        if modeled.kernel == self.duels.kernel:
            return self._with(modeled, self.duels)
        return self._with(modeled, _under(self.duels, modeled.kernel, 2 * modeled.regularizer))

    def _with(self, modeled: LearnedPosterior, duels: AnywherePosterior) -> Self:
        new = self._copy()
        new.modeled, new.duels = modeled, duels
        new.kernel, new.regularizer, new.log_det = modeled.kernel, modeled.regularizer, modeled.log_det
        new.comparisons = modeled.comparisons
        return new


def contradicts(duels: AnywherePosterior, modeled: Posterior, guard: float) -> bool:
    """Return whether the duels say that the modeled leader is beaten by their own, also without any one of them."""
    points = duels.support
    if not len(points):
        return False
    ours = points[int(duels.mean(points).argmax())]
    theirs = points[int(modeled.mean(points).argmax())]
    mean, variance = duels.difference(ours[None], theirs)
    if mean[0] <= guard * np.sqrt(variance[0]):
        return False
    mean, variance = jackknife(duels, ours, theirs)
    return bool((mean > guard * np.sqrt(variance)).all())


def jackknife(posterior: AnywherePosterior, x: FloatArray, z: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return mean and variance of f(x) - f(z) without each datum in turn that is not folded, shapes (n,).

    Without datum i they are m - w_i r_i and v + w_i^2 / P_ii, with P = (K + lambda I)^-1, w = P cov(data, f(x) -
    f(z)) and r_i = (P y)_i / P_ii, by how much datum i surprises the others.
    """
    (mean,), (variance,) = posterior.difference(x[None], z)
    k = posterior.cross(np.array([x, z]))
    w, kept = posterior.inverse(k[0] - k[1]), len(posterior.observations or ())
    inverse = posterior.solve(np.eye(len(w)))
    precision = np.einsum("ni,ni->i", inverse, inverse)
    means, variances = mean - w * posterior.coefficients() / precision, variance + w**2 / precision
    return means[-kept:], variances[-kept:]


def _under(duels: AnywherePosterior, kernel: Kernel, noise: float) -> AnywherePosterior:
    """Return the duels under another kernel, their noise at least what their residuals show."""
    new = duels.under(Model(kernel, noise))
    residuals = new.residuals()
    seen = float(residuals @ residuals) / max(len(residuals), 1)
    return new if seen <= noise else duels.given(duels.source, duels.comparisons, Model(kernel, seen))
