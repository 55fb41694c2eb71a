"""Learning from judgements: each becomes a Gaussian pseudo-outcome, its site, in addition to the readings.

The posterior of the comparisons is the prior here. If there are enough readings to know the unit of f, or a kernel was
given, f and the judges' parameters are learned. Otherwise the kernel is learned too, and the first judge's noise is the
unit. The sites are made consistent after each judgement while these are few, and later whenever there are a tenth more
of them. In between, a new answer gets the site that its cavity suggests, at a cost quadratic in their number.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np

from equipoise._typing import FloatArray
from equipoise.belief.judgements.fit import REFITS, JudgeFit
from equipoise.belief.judgements.fitting import KernelFit, fit_judges, thinned
from equipoise.belief.judgements.pairing import Pairing, outcome
from equipoise.belief.learned import LearnedBelief
from equipoise.belief.model import Form
from equipoise.belief.observations import Observations
from equipoise.belief.posterior import Lazy, Posterior, Source, exact, trusted
from equipoise.likelihoods import FEW, GROWTH, MAX_SWEEPS, Judgement, Panel, propagate
from equipoise.offsets import Moments

LATER_SWEEPS = 3
"""The most sweeps for that: most sites were consistent before."""


@dataclass(frozen=True, eq=False)
class Judged:
    """The judgements and the fit to them.

    Attributes:
        judgements: The judgements.
        fit: The fit to them.
        grown: The posterior of all data, if it is known.
        open: Open pairs, assumed to be judged as expected, shape (k, 2, d).
    """

    judgements: tuple[Judgement, ...] = ()
    fit: JudgeFit = field(default_factory=JudgeFit)
    grown: Posterior | None = None
    open: FloatArray = field(default_factory=lambda: np.empty((0, 2, 0)))

    def panel(self, judgements: Sequence[Judgement], form: Form | None, reference: float) -> Panel:
        """Return the judges of some judgements; the first one is the standard if the kernel is learned from answers."""
        return Panel(judgements, reference, None if form is None else self.judgements[0].judge)

    @property
    def needs_sweep(self) -> bool:
        """True if all sites have to be made consistent."""
        n = len(self.judgements)
        return n <= FEW or n > GROWTH * self.fit.answers


@dataclass(frozen=True, eq=False)
class Mixed(Lazy):
    """The comparisons with added judgements.

    Attributes:
        source: The posterior or belief learned from comparisons.
        judged: The judgements and their fit.
    """

    source: Source
    judged: Judged

    @cached_property
    def posterior(self) -> Posterior:
        """The posterior of all data: judges' answers enter as pseudo-outcomes."""
        posterior = self.settled
        for first, second in self.judged.open:
            (mean,), _ = posterior.difference(first[None], second)
            posterior = posterior.with_outcomes(outcome(first, second, float(mean), self.felt_variance))
        return posterior

    @cached_property
    def settled(self) -> Posterior:
        """The posterior of all data, without the open pairs."""
        return self.with_answers(trusted(self.compared)) if self.judged.grown is None else self.judged.grown

    @cached_property
    def compared(self) -> Source:
        """The comparisons under the kernel learned from judgements, if readings do not determine it."""
        form, kernel = self._taught_form, self.judged.fit.kernel
        if form is None or kernel is None or not isinstance(self.source, LearnedBelief):
            return self.source
        return self.source.under(kernel.hyperparameters(form, self.reference))

    @property
    def knows_unit(self) -> bool:
        """True if there are enough data to learn the scale of f."""
        return self._taught_form is None or len(self.judged.judgements) >= REFITS.first

    @property
    def felt_variance(self) -> float:
        """The perception variance of the judge with most answers, in the squared unit of f."""
        judges, names = self.judged.fit.judges, [each.judge for each in self.judged.judgements]
        return max(judges, key=lambda judge: names.count(judge.name)).noise ** 2 if judges else self.reference**2

    @property
    def reference(self) -> float:
        """The expected noise of a judge: it is the unit of f if readings do not determine one."""
        if self._taught_form is not None and isinstance(self.source, LearnedBelief):
            return self.source.hyperparameters.step
        return float(np.sqrt(pair_variance(self.source)))

    def with_answers(self, posterior: Posterior) -> Posterior:
        """Return a posterior of the comparisons with the judges' answers added."""
        return posterior if self._outcomes is None else posterior.with_outcomes(self._outcomes)

    def judge(self, judgement: Judgement) -> Judged:
        """Return the judgements and their fit with one more judgement."""
        new = replace(self.judged, judgements=(*self.judged.judgements, judgement))
        due = len(new.judgements) >= new.fit.due
        new = self._fitted(new) if due else new
        return self._consistent(new) if due or new.needs_sweep else self._appended(new)

    def recalled(self, judgements: Sequence[Judgement], fit: JudgeFit) -> Judged:
        """Return judgements with an earlier fit to them."""
        new = Judged(tuple(judgements), fit)
        return self._consistent(new) if len(judgements) <= FEW else new

    def on(self, source: Source) -> Judged:
        """Return the same with other comparisons: refit the judges if the unit of f differs."""
        there, new = replace(self, source=source), replace(self.judged, grown=None)
        n, other = len(new.judgements), there._unit != self._unit
        if other and n >= REFITS.first:
            new = there._fitted(new)
        return there._consistent(new) if 0 < n <= FEW or (other and n) else new

    @property
    def _taught_form(self) -> Form | None:
        """The form of the model if judgements teach the kernel, which is neither given nor known from readings."""
        learned = isinstance(self.source, LearnedBelief) and not self.source.knows_unit
        return self.source.form if learned and isinstance(self.source, LearnedBelief) else None

    @property
    def _unit(self) -> float | None:
        """The unit of f if it is a judge's noise; `None` if readings or a given kernel determine it."""
        return None if self._taught_form is None else self.reference

    @cached_property
    def _outcomes(self) -> Observations | None:
        """The answers as pseudo-outcomes, merged for each pair of points."""
        said = self.judged.judgements
        return Pairing.of(said).outcomes(self.judged.fit.sites) if said else None

    def _panel(self, judged: Judged, some: Sequence[Judgement]) -> Panel:
        return judged.panel(some, self._taught_form, self.reference)

    def _fitted(self, judged: Judged) -> Judged:
        """Return judgements after fitting the judges, and the kernel if it is learned from answers."""
        some = [judged.judgements[i] for i in thinned(len(judged.judgements))]
        panel, form, kernel = self._panel(judged, some), self._taught_form, judged.fit.kernel
        theta = panel.theta(judged.fit.judges)
        if form is not None:
            kernel, theta = KernelFit(some, form, panel, self.reference).best(kernel, theta)
        else:
            theta = fit_judges(panel, Pairing.of(some).prior(trusted(self.source)), theta)
        fit = replace(judged.fit, fitted=len(judged.judgements), judges=panel.judges(theta), kernel=kernel)
        return replace(judged, fit=fit)

    def _consistent(self, judged: Judged) -> Judged:
        """Return judgements with all sites made consistent: few from scratch, many from their present values."""
        said, prior = judged.judgements, trusted(replace(self, judged=judged).compared)
        panel, pairing = self._panel(judged, said), Pairing.of(said)
        start, most = (None, MAX_SWEEPS) if len(said) <= FEW else (judged.fit.sites, LATER_SWEEPS)
        found = propagate(pairing.prior(prior), panel.answers(panel.theta(judged.fit.judges)), start, most)
        return replace(judged, fit=replace(judged.fit, answers=len(said), sites=found.sites), grown=None)

    def _appended(self, judged: Judged) -> Judged:
        """Return judgements with a site for the last one, as the posterior of all earlier ones suggests."""
        last = judged.judgements[-1]
        panel = self._panel(judged, [last])
        mu, v = self.settled.difference(last.first[None], last.second)
        sites = judged.fit.sites.and_of(panel.answers(panel.theta(judged.fit.judges)).tilt(mu, v), mu, v)
        value, precision = float(sites.outcome[-1]), float(sites.precision[-1])
        grown = self.settled.with_outcomes(outcome(last.first, last.second, value, 1.0 / precision))
        return replace(judged, fit=replace(judged.fit, sites=sites), grown=grown)


def pair_variance(source: Source) -> float:
    """Return the variance of the difference of two readings of one pair at one point, noise and offset.

    The less noisy of the next pair and one that begins a reading later counts: a block may end inside the other.
    """
    noise = exact(source).regularizer
    if not isinstance(source, LearnedBelief) or not source.law.learns_readings:
        return noise
    offset = source.exact.offset
    offset = None if offset is None else replace(offset, jumps=(), blips=())  # past disturbances cancel
    if offset is None:
        return 2 * noise
    n = float(len(source.exact.observations or ()))
    pairs = [Moments(np.array([first, first + 1.0]), np.zeros(2)) for first in (n + 1, n + 2)]
    return 2 * noise + min(float(K[0, 0] + K[1, 1] - 2 * K[0, 1]) for K in (offset(pair, pair) for pair in pairs))
