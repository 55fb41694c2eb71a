"""The belief that has also learned from judgements: each is a Gaussian pseudo-outcome beside what was read.

What is known from readings is the prior here. Where there are enough readings to know the unit of f, or a kernel was
given, the judgements teach f and what the judges are like; else also the kernel, and the first judge's noise is the
unit. The sites are made consistent at each judgement while these are few, and later whenever there are a tenth more of
them: in between a new answer gets the site that its own cavity suggests, at a cost quadratic in their number.

`heard` is what was learned but for the judgements; with them it gives the belief back, to the last bit (`recalled`).
"""

from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property
from typing import Self

import numpy as np

from equipoise._typing import FloatArray
from equipoise.belief.judgements.fitting import VARIANCE, Fitted, KernelFit, fit_judges, thinned
from equipoise.belief.judgements.heard import FEW, REFITS, Heard
from equipoise.belief.judgements.pairing import Pairing, outcome
from equipoise.belief.landscape import Landscape
from equipoise.belief.observations import Observations
from equipoise.belief.posterior import Belief, Posterior
from equipoise.data import Comparison
from equipoise.likelihoods import MAX_SWEEPS, Judge, Judgement, Panel, choice_probability, propagate
from equipoise.offsets import Offset

GROWTH = 1.1
"""Beyond `FEW` judgements all sites are made consistent whenever there are so many times as many."""

LATER_SWEEPS = 3
"""How many sweeps that may take: most sites have been consistent before."""

ANSWERS_PER_PARAMETER = 15
"""How many answers an estimate of what is left to gain needs, as many as readings."""

LEAST_DEVIATION = 0.35
"""Least standard deviation of f, in units of the range of values it was seen to take, as for readings."""


SCALES = tuple(2.0**k for k in range(-4, 8))
"""Variances of f that are tried where answers alone teach it, in units of the most plausible one."""

SCALE_DEVIATION = 1.6
"""Standard deviation of the prior of their logarithm: that of the fit would hold a judge who hardly errs impossible."""

LEAST_CHANCE = 0.002
"""Less likely ones are left out."""

SCALE_SWEEPS = 40
"""Most sweeps of expectation propagation under each."""


class JudgedPosterior(Posterior):
    """A posterior that learns from judgements beside whatever another one learns from.

    Args:
        base: Learns from readings and comparisons.

    Example:
        >>> import numpy as np, equipoise as eq
        >>> belief = JudgedPosterior(eq.belief.AnywherePosterior(eq.RBF(0.5)))
        >>> a, b = np.array([1.0]), np.array([0.0])
        >>> for answer in ("first", "much first", "first", "equal"):
        ...     belief = belief.judge(Judgement(a, b, answer))
        >>> belief.comparisons, round(belief.preference(a, b), 2)
        (4, 0.8)
    """

    _derived = ("exact", "_settled", "_outcomes", "_supposed", "_rested")

    def __init__(self, base: Posterior) -> None:
        super().__init__(base.kernel, base.regularizer, base.confidence)
        self.base, self.points, self.form = base, base.points, base.form
        self.judgements: tuple[Judgement, ...] = ()
        self.heard = Heard()
        self._grown: Posterior | None = None  # the belief of all data, where it is known
        self._open = np.empty((0, 2, 0))
        self._take_over()

    @classmethod
    def over(cls, posterior: Posterior) -> "JudgedPosterior":
        """Return a posterior as one that learns from judgements, if it is not one already."""
        return posterior if isinstance(posterior, cls) else cls(posterior)

    def judge(self, judgement: Judgement) -> Self:
        """Return the posterior that has also learned from a judgement."""
        new = self._copy()
        new.judgements = (*self.judgements, judgement)
        n = len(new.judgements)
        due = n >= self.heard.due
        if due:
            new._fit()
        if due or n <= FEW or n > GROWTH * self.heard.answers:
            new._propagate()
        else:
            new._append(self._settled)
        new._take_over()
        return new

    def recalled(self, judgements: Sequence[Judgement], heard: Heard) -> Self:
        """Return the posterior that has learned from judgements what was kept of them.

        Args:
            judgements: As many as there were.
            heard: What was learned from them beside the same readings.
        """
        new = self._copy()
        new.judgements, new.heard = tuple(judgements), heard
        if len(judgements) <= FEW:
            new._propagate()
        new._take_over()
        return new

    @property
    def judges(self) -> tuple[Judge, ...]:
        """What is known of each judge; nothing before the first fit."""
        return self.heard.judges

    def condition(self, comparison: Comparison) -> Self:
        """Return the posterior that has also learned from a reading or a comparison."""
        return self._on(self.base.condition(comparison))

    def resting_on(self, base: Posterior) -> "JudgedPosterior":
        """Return the same judgements beside other readings; the last answer to that is kept."""
        if base is self.base:
            return self
        kept: tuple[Posterior, JudgedPosterior] | None = self.__dict__.get("_rested")
        if kept is None or kept[0] is not base:
            kept = self.__dict__["_rested"] = base, self._on(base)
        return kept[1]

    def _on(self, base: Posterior) -> Self:
        """Return it with another base: judges are learned anew where the unit of f is another."""
        new = self._copy()
        new.base, new._grown = base, None
        n, other = len(new.judgements), new._unit != self._unit
        if other and n >= REFITS.first:
            new._fit()
        if 0 < n <= FEW or (other and n):
            new._propagate()
        new._take_over()
        return new

    def anticipate(self, comparison: Comparison) -> Self:
        """Return the posterior as if `comparison` came out as expected: surer."""
        return self.anticipate_all([comparison])

    def anticipate_all(self, comparisons: Sequence[Comparison]) -> Self:
        """Return the posterior as if all comparisons came out as expected."""
        new = self._copy()
        new.base, new._grown = self.base.anticipate_all(comparisons), None
        return new

    def expecting(self, pairs: FloatArray) -> Self:
        """Return the posterior as if pairs that are still to be judged, shape (k, 2, d), came out as expected."""
        new = self._copy()
        new._open, new._grown = pairs, self._settled
        return new

    @cached_property
    def exact(self) -> Posterior:
        """The posterior of all data, answers as pseudo-outcomes."""
        posterior = self._settled
        for first, second in self._open:
            (mean,), _ = posterior.difference(first[None], second)
            posterior = posterior.beside(outcome(first, second, float(mean), self.noise_variance))
        return posterior

    def at(self, points: FloatArray) -> Belief:
        """Return the belief about f at the given points."""
        return self.exact.at(points)

    def mean(self, points: FloatArray) -> FloatArray:
        """Return the posterior mean of f alone, shape (m,)."""
        return self.exact.mean(points)

    def landscape(self, leader: FloatArray) -> Landscape | None:
        """Return the belief with gradients against a leader."""
        return self.exact.landscape(leader)

    def offsets(self, leader: FloatArray) -> tuple[FloatArray, FloatArray] | None:
        """Return the time of each reading, and what the leader would have read then; `None` if not modeled."""
        return self.base.offsets(leader)

    def preference(self, first: FloatArray, second: FloatArray) -> float | None:
        """Return how often the first point would be chosen over the second, neither having the better place.

        The judge is the one who gave most answers.
        """
        (mean,), (variance,) = self.difference(first[None], second)
        return choice_probability(float(mean), float(variance) + self.noise_variance)

    @property
    def noise_variance(self) -> float:
        """The variance of what the judge who gave most answers feels, in the squared unit of f."""
        if not self.judges:
            return self._reference**2
        said = [each.judge for each in self.judgements]
        return max(self.judges, key=lambda judge: said.count(judge.name)).noise ** 2

    @property
    def support(self) -> FloatArray:
        """The points of all data."""
        return self.exact.support

    @property
    def law(self) -> Offset:
        """What is assumed of the offset of readings."""
        return self.base.law

    @property
    def active(self) -> Posterior:
        """The posterior of all data."""
        return self.exact

    @property
    def knows_unit(self) -> bool:
        """Whether there were enough data to learn how large f is."""
        return self.base.knows_unit or len(self.judgements) >= REFITS.first

    @property
    def knows_enough(self) -> bool:
        """Whether there were enough data for an estimate of what is left to gain."""
        parameters = 1 if self.form is None else self.form.parameters
        few = self.comparisons < ANSWERS_PER_PARAMETER * parameters
        return self.knows_unit and (self.base.knows_enough if self.form is None or few else True)

    @property
    def proven(self) -> bool:
        """Never: the judges were learned."""
        return False

    @property
    def opinions(self) -> tuple[Posterior, ...]:
        """Those of what was read, with the answers beside each."""
        return tuple(self._beside(each) for each in self._supposed.opinions)

    @property
    def scales(self) -> tuple[tuple[float, Posterior], ...]:
        """What is believed under each size of f that the answers leave open, with its probability given all of them.

        Answers say who is better, and hardly by how many noises of the judge: the largest evidence alone is too sure.
        """
        kernel = self.heard.kernel
        if kernel is None or self.form is None or not self._teaches_kernel:
            return super().scales
        found = [self._under(replace(kernel, variance=factor * kernel.variance)) for factor in SCALES]
        logs = np.array([evidence for evidence, _ in found])
        chances = np.exp(logs - logs.max())
        chances /= chances.sum()
        return tuple((float(p), each) for p, (_, each) in zip(chances, found, strict=True) if p >= LEAST_CHANCE)

    def _under(self, kernel: Fitted) -> tuple[float, Posterior]:
        """Return how likely a kernel is given the answers, by a logarithm, and what is believed under it."""
        assert self.form is not None
        base = self.base.supposing(kernel.hyperparameters(self.form, self._reference)).active
        panel, pairing = self._panel(self.judgements), Pairing.of(self.judgements)
        found = propagate(pairing.prior(base), panel.answers(panel.theta(self.judges)), self.heard.sites, SCALE_SWEEPS)
        outcomes = pairing.outcomes(found.sites)
        z = (np.log(kernel.variance) - VARIANCE.mean) / SCALE_DEVIATION
        believed = base if outcomes is None else base.beside(outcomes)
        return found.log_evidence - 0.5 * float(z * z), believed

    def rescaled(self, lengthscales: float, variance: float) -> Posterior:
        """Return it under lengthscales and a variance of f multiplied by these, where it learns them."""
        return self._beside(self._supposed.rescaled(lengthscales, variance))

    def shortened(self, share: float) -> Posterior:
        """Return it under lengthscales of at most this share of the prior's median, where it learns them."""
        return self._beside(self._supposed.shortened(share))

    @property
    def pair_variance(self) -> float:
        """The variance of the difference of two readings of a pair at one point; without readings, of the judge."""
        return self.base.pair_variance if self.base.comparisons else self.noise_variance

    @property
    def spoiled(self) -> tuple[float, ...]:
        """The times of the readings that are held for spoiled."""
        return self.base.spoiled

    @property
    def estranged(self) -> frozenset[str]:
        """The earlier campaigns whose readings contradict those of now."""
        return self.base.estranged

    def cautious(self, unit: float) -> Posterior:
        """Return what to rely on where it must not be wrong: what is so for readings, with the answers beside."""
        return self._beside(self._supposed.cautious(unit))

    @property
    def beta(self) -> float:
        """The confidence coefficient."""
        return self.exact.beta

    @property
    def _teaches_kernel(self) -> bool:
        """Whether the kernel is to be learned from judgements."""
        return self.form is not None and not self.base.knows_unit

    @property
    def _unit(self) -> float | None:
        """The unit of f where a judge's noise is it; `None` where f has its own."""
        return self._reference if self._teaches_kernel else None

    @property
    def _reference(self) -> float:
        """The noise that a judge is expected to have: the unit of f where that has none."""
        if self._teaches_kernel:
            return self.base.typical_step
        return float(np.sqrt(self.base.pair_variance))

    @cached_property
    def _supposed(self) -> Posterior:
        """The base, under the kernel that judgements have taught where readings have not."""
        kernel = self.heard.kernel
        if self.form is None or kernel is None or not self._teaches_kernel:
            return self.base
        return self.base.supposing(kernel.hyperparameters(self.form, self._reference))

    @cached_property
    def _settled(self) -> Posterior:
        """The posterior of all data, but for the pairs that are still to be judged."""
        return self._beside(self._supposed.active) if self._grown is None else self._grown

    @cached_property
    def _outcomes(self) -> Observations | None:
        """The answers as pseudo-outcomes, those of one pair of points together."""
        return Pairing.of(self.judgements).outcomes(self.heard.sites) if self.judgements else None

    def _beside(self, posterior: Posterior) -> Posterior:
        return posterior if self._outcomes is None else posterior.beside(self._outcomes)

    def _panel(self, judgements: Sequence[Judgement]) -> Panel:
        standard = self.judgements[0].judge if self._teaches_kernel else None
        return Panel(judgements, self._reference, standard)

    def _fit(self) -> None:
        """Learn the judges, and the kernel where that is to be learned, in a copy that nobody has seen yet."""
        some = [self.judgements[i] for i in thinned(len(self.judgements))]
        panel = self._panel(some)
        start = panel.theta(self.judges)
        kernel = self.heard.kernel
        if self._teaches_kernel and self.form is not None:
            kernel, theta = KernelFit(some, self.form, panel, self._reference).best(kernel, start)
        else:
            theta = fit_judges(panel, Pairing.of(some).prior(self._supposed.active), start)
        self.heard = replace(self.heard, fitted=len(self.judgements), judges=panel.judges(theta), kernel=kernel)

    def _propagate(self) -> None:
        """Make all sites consistent, in a copy that nobody has seen yet: few from scratch, many from what they were."""
        n, panel, pairing = len(self.judgements), self._panel(self.judgements), Pairing.of(self.judgements)
        start, most = (None, MAX_SWEEPS) if n <= FEW else (self.heard.sites, LATER_SWEEPS)
        answers = panel.answers(panel.theta(self.judges))
        found = propagate(pairing.prior(self._supposed.active), answers, start, most)
        self.heard, self._grown = replace(self.heard, answers=n, sites=found.sites), None

    def _append(self, before: Posterior) -> None:
        """Give the last judgement the site that what was believed before it suggests."""
        last = self.judgements[-1]
        panel = self._panel([last])
        mu, v = before.difference(last.first[None], last.second)
        sites = self.heard.sites.and_of(panel.answers(panel.theta(self.judges)).tilt(mu, v), mu, v)
        value, precision = float(sites.outcome[-1]), float(sites.precision[-1])
        self.heard = replace(self.heard, sites=sites)
        self._grown = before.beside(outcome(last.first, last.second, value, 1.0 / precision))

    def _take_over(self) -> None:
        """Take up what is counted, in a copy that nobody has seen yet."""
        self.kernel, self.regularizer = self._supposed.kernel, self._supposed.regularizer
        self.comparisons = self.base.comparisons + len(self.judgements)
        self.misfit, self.log_det = self.base.misfit, self.base.log_det
