"""Refits of the assumptions of a learned posterior.

These are hyperparameters, a season, overlooked jumps and blips, feedback, and campaigns that measured a different f.
Every addition beyond hyperparameters must improve the fit enough: the log density of the data must grow by half of
`jump^2` for each. See docs/method.md, sections 12 and 13.
"""

import math
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, TypeVar

import numpy as np
from numpy.typing import NDArray

from equipoise._typing import FloatArray
from equipoise.belief.disturbances import answers, outliers, overlooked, season, stepping
from equipoise.belief.evidence import MAX_FITTED_DATA, Evidence, fit, typical_step
from equipoise.belief.model import Form, Hyperparameters
from equipoise.belief.observations import Observations
from equipoise.likelihoods import Compression, compressions
from equipoise.offsets import Disturbance, blip_covariance, jump_covariance

if TYPE_CHECKING:
    from equipoise.belief.learned import LearnedBelief

MIN_DOUBT = 5.0
"""The log odds at which an earlier campaign counts as measuring a different f. Measured for up to 100 new readings on
camel2 and hartmann6: at most 2.4 for the same f, 6 to 8 for an f with one coordinate mirrored."""

MIN_TO_CONTRADICT = 8
"""The fewest current readings that can contradict an earlier campaign."""

LEAST_DEVIATION = 0.35
"""The least standard deviation of f, in units of its observed range."""

STEP_SHARE = 0.3
"""The share of the usual gain that a jump of an offset with frequent steps must achieve, 3 nats instead of 10: among
many jumps one more is likely. Measured with a new level every 5 readings: at 8 nats too few jumps are found; without
jumps the gain stays below 3."""

TELLING_APART = 3.0
"""The gain, in nats, required for distinguishing parameter values. On tables of program times the mean gain is 4 to 7
after 50 to 120 readings. Without a required gain, a smooth function of 12 whole numbers and 6 choices was modeled as
such a table in two runs of six (final regret 0.30 instead of 0.11, and 0.34 instead of 0.31)."""

LEAST_COUNTED = 0.1
"""The least share of the squared step of counts and shares that is not counting noise. If that noise is included, the
mean squared error of f after 40 counts of rate about 1 is 0.64 instead of 0.42 (16 studies in one dimension)."""

B = TypeVar("B", bound="LearnedBelief")


def having(
    belief: B, hyperparameters: Hyperparameters, jumps: tuple[Disturbance, ...], blips: tuple[Disturbance, ...]
) -> B:
    """Return the belief from the same data under other hyperparameters and disturbances."""
    exact = belief.exact.under(belief.form.model(hyperparameters, jumps, blips))
    return replace(belief, hyperparameters=hyperparameters, exact=exact)


def accounting(belief: B, feedback: bool, period: float | None = None) -> B:
    """Return the belief in a form that includes the circumstances of the readings and the season, if there is one."""
    form = belief.form.accounting(belief.data.moments, feedback, belief.form.period if period is None else period)
    if form is belief.form:
        return belief
    carried = form.carried(belief.hyperparameters, belief.form)
    return having(replace(belief, form=form), carried, belief.jumps, belief.blips)


def rescaled(belief: B) -> B:
    """Estimate the unit of the outcomes if they are too few to fit anything else."""
    now = accounting(belief, belief.form.feedback)
    return having(now, now.form.guess(_step(now)), belief.jumps, belief.blips)


def refit(belief: B) -> B:
    """Fit the hyperparameters, with overlooked jumps if these explain the readings better.

    While the model is being chosen, counts and shares are approximated as Gaussian outcomes, so that rival models
    explain the same data. Then the hyperparameters are fitted to the sites. If these agree, the slope of their evidence
    is that with the sites held fixed, so both converge from fit to fit. A second round changed nothing.
    """
    if not belief.data.sited:
        return _refitted(belief)
    new = _refitted(_on(belief, belief.data.at_a_glance(only=True)))
    new = _on(new, new.data.closely())
    return _lively(_fitted(new, new.hyperparameters)[0])


def _refitted(belief: B) -> B:
    jump, period = belief.model.jump, season(belief.exact, belief.form, belief.hyperparameters, belief.model.jump)
    now = accounting(belief, belief.form.feedback, period if belief.form.period else None)
    best = _likelier(now)
    now = _in_form(now, best[0].form)
    best = _compressed(now, best)
    if period and not now.form.period:
        best = _better(accounting(now, now.form.feedback, period), best, (), ())
        now = accounting(now, now.form.feedback, best[0].form.period)
    found = overlooked(best[0].exact, now.form, best[0].hyperparameters, jump)
    if found is not None:
        best = _better(now, best, found.jumps, found.blips)
    blips = outliers(belief.data, belief.form.extent) if belief.law.jumps else ()
    if {time for time, _ in blips} - {time for time, _ in best[0].blips}:
        best = _better(now, best, best[0].jumps, blips)
    jumps = stepping(best[0].exact, now.form, best[0].hyperparameters, best[1])
    if jumps:
        best = _better(now, best, jumps, (), STEP_SHARE)
    if not now.form.feedback and answers(best[0].exact, jump):
        best = _better(accounting(now, feedback=True), best, (), ())
    return _lively(_reconciled(*best))


def _likelier(belief: B) -> tuple[B, float]:
    """Return the fit of the likelier form: with parameter values distinguished or not."""
    forms = [_in_form(belief, form) for form in belief.form.rivals]
    fits = [_fitted(each, each.hyperparameters, _glance(each)) for each in forms]
    return max(fits, key=lambda fit: fit[1] - TELLING_APART * fit[0].form.leveled)


def _in_form(belief: B, form: Form) -> B:
    """Return the belief in another form; guess its lengthscales if their number differs."""
    if form.leveled == belief.form.leveled:
        return belief
    guess, known = form.guess(), belief.hyperparameters
    learned = replace(guess, noise=known.noise, offset=known.offset, step=known.step)
    return having(replace(belief, form=form), learned, belief.jumps, belief.blips)


def _compressed(belief: B, best: tuple[B, float]) -> tuple[B, float]:
    """Return the likeliest fit and its log density, with or without compression of readings far below the best one.

    Compression must improve the fit as much as a jump must. A law under which readings change with time excludes
    compression: the distance of a reading to the best one would depend on when it was taken.
    """
    if not belief.law.timeless or belief.data.answers is not None:
        return best
    now = belief.compression
    plain = belief if now is None else compressed(belief, None)
    if belief.origins.keys() - {""}:
        return best if now is None else _fitted(plain, belief.hyperparameters, _glance(plain))
    y = plain.data.without_copies().outcomes
    y, fits = y - y.max(), [best] if now is None else []
    for each in compressions(y) if now is None else (None, *now.nearby):
        rival = compressed(plain, each)
        found, density = _fitted(rival, belief.hyperparameters, _glance(rival))
        slope = 0.0 if each is None else each.log_slope(y) - belief.model.jump**2 / 2
        fits.append((found, density + slope))
    return max(fits, key=lambda fit: fit[1])


def compressed(belief: B, compression: Compression | None) -> B:
    """Return the belief from the same readings in another compression; if any, the best reading is their origin."""
    before, now = belief.compression, replace(belief, compression=compression)
    if before is not None:
        now = _changed(now, before.undone)
    if compression is None:
        return now
    return _changed(_shifted(now, float(now.data.outcomes.max())), compression)


def _changed(belief: B, change: Callable[[FloatArray], FloatArray]) -> B:
    """Return the belief with all outcomes changed."""
    data, *strangers = (
        replace(each, outcomes=change(each.outcomes)) for each in (belief.data, *belief.strangers.values())
    )
    return _on(replace(belief, strangers=dict(zip(belief.strangers, strangers, strict=True))), data)


def _unspoiled(belief: "LearnedBelief") -> Observations:
    """Return the readings without spoiled ones and copies; all of them if all are spoiled."""
    data = belief.data.without_copies()
    kept = np.flatnonzero(~_spoiled(belief, data) | (data.moments.campaign != ""))
    return data.take(kept) if 0 < len(kept) < len(data) else data


def _spoiled(belief: "LearnedBelief", data: Observations) -> NDArray[np.bool_]:
    """Return a mask of the data taken at the time of a spoiled reading, shape (n,)."""
    return np.isin(data.moments.time, [time for time, _ in belief.blips])


def _step(belief: "LearnedBelief") -> float:
    """Return the approximate typical step of unspoiled readings, in duels not split by a jump."""
    data = _unspoiled(belief).at_a_glance()
    step = typical_step(data, belief.form.law, [time for time, _ in belief.jumps])
    if data.answers is None:
        return step
    return math.sqrt(max(step**2 - float(data.variances.mean()), LEAST_COUNTED * step**2))


def _glance(belief: "LearnedBelief") -> Hyperparameters:
    """Return a rough estimate from the readings, as a start of the fit."""
    data = _unspoiled(belief).in_units_of(_step(belief))
    return replace(belief.form.guess(), offset=belief.form.law.estimate(data.moments, data.outcomes))


def _fitted(belief: B, *starts: Hyperparameters) -> tuple[B, float]:
    """Fit the hyperparameters from the given starts; return the logarithm of the data's density too."""
    step, some = _step(belief), belief.data.without_copies().thinned(MAX_FITTED_DATA)
    known: FloatArray | float = 0.0
    if belief.jumps or belief.blips:
        t = some.moments
        known = (jump_covariance(belief.jumps, t, t) + blip_covariance(belief.blips, t, t)) / step**2
    nulls = belief.nulls[belief.nulls != 0.0]  # a copied reading is no evidence of zero noise
    evidence = Evidence(some.in_units_of(step), belief.form, known, nulls / step)
    found, density = fit(evidence, starts, step)
    return having(belief, found, belief.jumps, belief.blips), density - len(some) * math.log(step)


def _better(
    belief: B,
    best: tuple[B, float],
    jumps: tuple[Disturbance, ...],
    blips: tuple[Disturbance, ...],
    share: float = 1.0,
) -> tuple[B, float]:
    """Return a fit, or the one with other disturbances if each of these gains its share of half of `jump^2`."""
    rival = _recentered(having(belief, belief.form.guess(), jumps, blips))
    rival, density = _fitted(rival, _glance(rival))
    more = len(jumps) - len(best[0].jumps) + len(blips) - len(best[0].blips)
    more = max(more, int(share < 1.0 or belief.form.law != best[0].form.law))
    price = share * belief.model.jump**2 / 2
    return (rival, density) if density - best[1] > more * price else best


def _recentered(belief: B) -> B:
    """Return the belief with the first unspoiled reading as the origin, if the present origin is spoiled."""
    data = belief.data
    own, good = data.moments.campaign == "", ~_spoiled(belief, data)
    if not (own & good).any() or good[own.argmax()]:
        return belief
    return _shifted(belief, float(data.outcomes[(own & good).argmax()]))


def _shifted(belief: B, shift: float) -> B:
    """Return the belief with the origin of the current readings raised by `shift`."""
    own = belief.data.moments.campaign == ""
    new = _on(belief, belief.data.less(shift * own))
    return replace(new, origins={**belief.origins, "": belief.origins[""] + shift})


def _reconciled(belief: B, density: float) -> B:
    """Return the belief without campaigns that measured a different f, and with those that no longer seem to.

    A campaign measured a different f if its readings and the others are likelier separately than together, where all
    have the log density `density`. It is used again if they are likelier together.
    """
    new, names = belief, set(belief.data.moments.campaign.tolist()) - {""}
    for name in sorted(names | belief.strangers.keys()):
        known = new.strangers.get(name)
        together = new.data if known is None else new.data.joined(known)
        belongs = together.moments.campaign == name
        if len(together) > MAX_FITTED_DATA or (~belongs).sum() < MIN_TO_CONTRADICT:
            continue
        rest, old = (together.take(np.flatnonzero(kept)) for kept in (~belongs, belongs))
        alone = _on(new, old)
        apart, by_itself = _fitted(_on(new, rest), new.hyperparameters), _fitted(alone, _glance(alone))[1]
        joint = _fitted(_on(new, together), new.hyperparameters) if known is not None else (new, density)
        doubt = apart[1] + by_itself - joint[1]
        strange = doubt > (0.0 if known is not None else MIN_DOUBT)
        new, density = apart if strange else joint
        others = {each: data for each, data in new.strangers.items() if each != name}
        new = replace(new, strangers=others | ({name: old} if strange else {}))
    return new


def _on(belief: B, data: Observations) -> B:
    """Return the belief with other data under the same hyperparameters."""
    model = belief.form.model(belief.hyperparameters, belief.jumps, belief.blips)
    return replace(belief, exact=belief.exact.given(data, belief.exact.comparisons, model))


def _lively(belief: B) -> B:
    """Make f vary at least as much as observed: after a climb most data lie near the top and suggest too little."""
    learned = belief.hyperparameters
    seen = float(np.ptp(belief.exact.mean(belief.data.points)))
    least = (LEAST_DEVIATION * seen / learned.step) ** 2
    if learned.variance >= least:
        return belief
    return having(belief, replace(learned, variance=least), belief.jumps, belief.blips)
