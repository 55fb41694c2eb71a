"""Fitting again what a learned posterior assumes.

Hyperparameters; jumps and blips that were overlooked; feedback; earlier campaigns that turn out to be of another f.
Whatever is more than hyperparameters must earn what it explains: the density of the data must grow by half of
`jump^2` for each. See docs/method.md, sections 12 and 13.
"""

import math
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from equipoise._typing import FloatArray
from equipoise.belief.disturbances import answers, outliers, overlooked
from equipoise.belief.evidence import MAX_FITTED_DATA, Evidence, fit
from equipoise.belief.model import Hyperparameters
from equipoise.belief.observations import Observations
from equipoise.offsets import Disturbance, blip_covariance, jump_covariance

if TYPE_CHECKING:
    from equipoise.belief.learned import LearnedPosterior

MIN_DOUBT = 5.0
"""Logarithm of the odds at which an earlier campaign is of another f. Measured up to 100 new readings on camel2 and
hartmann6: at most 2.4 where it is of the same one, 6 to 8 where one coordinate is seen in a mirror."""

MIN_TO_CONTRADICT = 8
"""Fewer readings of now than this do not contradict an earlier campaign."""

LEAST_DEVIATION = 0.35
"""Least standard deviation of f, in units of the range of values it was seen to take."""

Fitted = tuple["LearnedPosterior", float]
"""A posterior, and the logarithm of the density of its data."""


def refit(posterior: "LearnedPosterior") -> "LearnedPosterior":
    """Fit the hyperparameters; with the jumps that were overlooked, where these explain the readings better."""
    now = posterior.accounting(posterior.form.feedback)
    fitted = _fitted(now, now.hyperparameters, now.glance())
    found = overlooked(fitted[0].exact, now.form, fitted[0].hyperparameters, posterior.jump)
    if found is not None:
        fitted = _better(now, fitted, found.jumps, found.blips)
    blips = outliers(posterior.data, posterior.form.extent) if posterior.law.jumps else ()
    if {time for time, _ in blips} - set(fitted[0].spoiled):
        fitted = _better(now, fitted, fitted[0].jumps, blips)
    if not now.form.feedback and answers(fitted[0].exact, posterior.jump):
        fitted = _better(now.accounting(feedback=True), fitted, (), ())
    return _lively(_reconciled(*fitted))


def _fitted(posterior: "LearnedPosterior", *starts: Hyperparameters) -> Fitted:
    """Fit the hyperparameters from the given starts; return the logarithm of the data's density too."""
    step, some = posterior.step, posterior.data.without_copies().thinned(MAX_FITTED_DATA)
    known: FloatArray | float = 0.0
    if posterior.jumps or posterior.blips:
        t = some.moments
        known = (jump_covariance(posterior.jumps, t, t) + blip_covariance(posterior.blips, t, t)) / step**2
    nulls = posterior._nulls[posterior._nulls != 0.0]  # a copy does not show that there is no noise
    evidence = Evidence(some.in_units_of(step), posterior.form, known, nulls / step)
    fitted, density = fit(evidence, starts, step)
    return posterior.having(fitted, posterior.jumps, posterior.blips), density - len(some) * math.log(step)


def _better(
    posterior: "LearnedPosterior", fitted: Fitted, jumps: tuple[Disturbance, ...], blips: tuple[Disturbance, ...]
) -> Fitted:
    """Return a fit, or the one with other disturbances where each of these earns what it must explain."""
    best, density = fitted
    rival = _recentered(posterior.having(posterior.form.guess(), jumps, blips))
    rival, rival_density = _fitted(rival, rival.glance())
    more = len(jumps) - len(best.jumps) + len(blips) - len(best.blips)
    more = max(more, int(posterior.form.feedback and not best.form.feedback))
    return (rival, rival_density) if rival_density - density > more * posterior.jump**2 / 2 else fitted


def _recentered(posterior: "LearnedPosterior") -> "LearnedPosterior":
    """Return the same with a first reading that is not spoiled as the origin, if that of now is."""
    data = posterior.data
    own, good = data.moments.campaign == "", ~np.isin(data.moments.time, posterior.spoiled)
    if not (own & good).any() or good[own.argmax()]:
        return posterior
    shift = float(data.outcomes[(own & good).argmax()])
    new = _on(posterior, replace(data, outcomes=data.outcomes - shift * own))
    new._origins = posterior._origins | {"": posterior._origins[""] + shift}
    return new


def _reconciled(posterior: "LearnedPosterior", density: float) -> "LearnedPosterior":
    """Return it without the campaigns that are of another f, and with those that no longer seem to be.

    A campaign is of another f where its readings and the others are likelier by themselves than together. It comes
    back where they are likelier together.

    Args:
        posterior: The posterior.
        density: Logarithm of the density of its data.
    """
    new, names = posterior, set(posterior.data.moments.campaign.tolist()) - {""}
    for name in sorted(names | posterior.estranged):
        known = new._forgotten.get(name)
        together = new.data if known is None else new.data.joined(known)
        belongs = together.moments.campaign == name
        if len(together) > MAX_FITTED_DATA or (~belongs).sum() < MIN_TO_CONTRADICT:
            continue
        rest, old = (together.take(np.flatnonzero(kept)) for kept in (~belongs, belongs))
        alone = _on(new, old)
        apart, by_itself = _fitted(_on(new, rest), new.hyperparameters), _fitted(alone, alone.glance())[1]
        joint = _fitted(_on(new, together), new.hyperparameters) if known is not None else (new, density)
        doubt = apart[1] + by_itself - joint[1]
        estranged = doubt > (0.0 if known is not None else MIN_DOUBT)
        new, density = apart if estranged else joint
        new._forgotten = {each: data for each, data in new._forgotten.items() if each != name}
        new._forgotten |= {name: old} if estranged else {}
    return new


def _on(posterior: "LearnedPosterior", data: Observations) -> "LearnedPosterior":
    """Return it with other data under the same hyperparameters."""
    model = posterior.form.model(posterior.hyperparameters, posterior.jumps, posterior.blips)
    return posterior._copy()._answering(posterior.exact.given(data, posterior.comparisons, model))


def _lively(posterior: "LearnedPosterior") -> "LearnedPosterior":
    """Let f vary at least as much as it was seen to: after a climb most data lie on top and say otherwise."""
    learned = posterior.hyperparameters
    seen = float(np.ptp(posterior.exact.mean(posterior.data.points)))
    least = (LEAST_DEVIATION * seen / learned.step) ** 2
    if learned.variance >= least:
        return posterior
    return posterior.having(replace(learned, variance=least), posterior.jumps, posterior.blips)
