"""Learning from judgements: each becomes a Gaussian pseudo-outcome, its site, beside what was read.

What is known from readings is the prior here. The sites are made consistent at each judgement while these are few, and
later whenever there are a tenth more of them: in between a new answer gets the site that its own cavity suggests, at a
cost quadratic in their number.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from equipoise._typing import FloatArray
from equipoise.belief.judgements.fit import FEW, JudgeFit
from equipoise.belief.judgements.fitting import KernelFit, fit_judges, thinned
from equipoise.belief.judgements.pairing import Pairing, outcome
from equipoise.belief.model import Form
from equipoise.belief.posterior import Posterior
from equipoise.likelihoods import MAX_SWEEPS, Judgement, Panel, propagate

GROWTH = 1.1
"""Beyond `FEW` judgements all sites are made consistent whenever there are this many times as many."""

LATER_SWEEPS = 3
"""How many sweeps that may take: most sites have been consistent before."""


@dataclass(frozen=True, eq=False)
class Judged:
    """What judges have said, and what was fitted to it.

    Attributes:
        judgements: What they said.
        fit: What was fitted.
        grown: The posterior of all data, if it is known.
        open: Pairs that are still to be judged and count as judged as expected, shape (k, 2, d).
    """

    judgements: tuple[Judgement, ...] = ()
    fit: JudgeFit = field(default_factory=JudgeFit)
    grown: Posterior | None = None
    open: FloatArray = field(default_factory=lambda: np.empty((0, 2, 0)))

    def panel(self, judgements: Sequence[Judgement], form: Form | None, reference: float) -> Panel:
        """Return the judges of some judgements; the first of all is the standard if answers teach the kernel."""
        return Panel(judgements, reference, None if form is None else self.judgements[0].judge)

    @property
    def needs_sweep(self) -> bool:
        """Whether all sites are to be made consistent."""
        n = len(self.judgements)
        return n <= FEW or n > GROWTH * self.fit.answers


# Below, `prior` is the posterior of the readings, `form` that of the model if answers teach the kernel, and `reference`
# the noise that a judge is expected to have: the unit of f if answers teach the kernel.


def fitted(judged: Judged, prior: Posterior, form: Form | None, reference: float) -> Judged:
    """Return it with the judges fitted, and the kernel if answers teach it."""
    some = [judged.judgements[i] for i in thinned(len(judged.judgements))]
    panel = judged.panel(some, form, reference)
    start, kernel = panel.theta(judged.fit.judges), judged.fit.kernel
    if form is not None:
        kernel, theta = KernelFit(some, form, panel, reference).best(kernel, start)
    else:
        theta = fit_judges(panel, Pairing.of(some).prior(prior), start)
    fit = replace(judged.fit, fitted=len(judged.judgements), judges=panel.judges(theta), kernel=kernel)
    return replace(judged, fit=fit)


def consistent(judged: Judged, prior: Posterior, form: Form | None, reference: float) -> Judged:
    """Return it with all sites made consistent: few from scratch, many from what they were."""
    said = judged.judgements
    panel, pairing = judged.panel(said, form, reference), Pairing.of(said)
    start, most = (None, MAX_SWEEPS) if len(said) <= FEW else (judged.fit.sites, LATER_SWEEPS)
    found = propagate(pairing.prior(prior), panel.answers(panel.theta(judged.fit.judges)), start, most)
    return replace(judged, fit=replace(judged.fit, answers=len(said), sites=found.sites), grown=None)


def appended(judged: Judged, before: Posterior, form: Form | None, reference: float) -> Judged:
    """Return it with the site of the last judgement that the posterior of all before it suggests."""
    last = judged.judgements[-1]
    panel = judged.panel([last], form, reference)
    mu, v = before.difference(last.first[None], last.second)
    sites = judged.fit.sites.and_of(panel.answers(panel.theta(judged.fit.judges)).tilt(mu, v), mu, v)
    value, precision = float(sites.outcome[-1]), float(sites.precision[-1])
    grown = before.with_outcomes(outcome(last.first, last.second, value, 1.0 / precision))
    return replace(judged, fit=replace(judged.fit, sites=sites), grown=grown)
