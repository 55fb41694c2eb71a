"""Other models of the same data, under which a claim must hold too.

A learned model may be wrong itself. So a claim must also hold under shorter lengthscales and another variance of f, and
without the readings that need a model of the offset.
"""

import math
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from equipoise._typing import FloatArray
from equipoise.belief import (
    ANSWERED_VARIANCE,
    Belief,
    Judged,
    JudgedKernel,
    LearnedBelief,
    Pairing,
    Posterior,
    StudyBelief,
)
from equipoise.likelihoods import choice_probability, propagate

BOLD_LENGTHSCALES = 0.7
"""The lengthscales of a second opinion, in units of the learned ones, which are too long at times."""

SHORT_LENGTHSCALE = 0.6
"""The longest lengthscale of the model that finds holes, in units of the prior's median."""

HOLE_VARIANCE = 0.65
"""A hole is where that model has at least this share of its prior variance left."""

READINGS_PER_PARAMETER = 15
"""The number of readings for an estimate of the bound: with fewer it holds far too seldom (docs/claims.md)."""

ANSWERS_PER_PARAMETER = 15
"""The number of answers for an estimate of the bound, the same as for readings."""

SCALES = tuple(2.0**k for k in range(-4, 8))
"""The variances of f tried if only answers teach it, in units of the most plausible one."""

SCALE_DEVIATION = 1.6
"""Standard deviation of the prior of their logarithm: the prior of the fit would exclude a judge who hardly errs."""

LEAST_CHANCE = 0.002
"""The least probability: less likely variances are left out."""

SCALE_SWEEPS = 40
"""The most sweeps of expectation propagation under each variance."""


def knows_enough(belief: StudyBelief) -> bool:
    """Return whether there are enough data for an estimate of the bound."""
    learned = belief.learned
    if learned is None:
        return True
    parameters = learned.form.parameters
    if belief.judged is not None and belief.comparisons >= ANSWERS_PER_PARAMETER * parameters:
        return belief.knows_unit
    readings = learned.exact.comparisons * (1 if learned.law.learns_readings else 2)
    return belief.knows_unit and readings >= READINGS_PER_PARAMETER * parameters


def opinions(belief: StudyBelief) -> tuple[Posterior, ...]:
    """Return all models that must agree before a claim; among them the pure duels, which jumps do not fool."""
    source = belief.compared
    if not isinstance(source, LearnedBelief):
        return (belief.with_answers(source),)
    found = [source.exact, _rescaled(source, BOLD_LENGTHSCALES, 1.0)]
    return tuple(belief.with_answers(each) for each in (*found, *(() if source.duels is None else (source.duels,))))


def rescaled(belief: StudyBelief, lengthscales: float, variance: float) -> Posterior:
    """Return the posterior under scaled lengthscales and a scaled variance of f, if these are learned."""
    source = belief.compared
    if not isinstance(source, LearnedBelief):
        return belief.with_answers(source)
    return belief.with_answers(_rescaled(source, lengthscales, variance))


def holes(belief: StudyBelief, points: FloatArray) -> tuple[Belief, NDArray[np.bool_]]:
    """Return the belief at points under a model of short lengthscales, and which points it knows little about."""
    short = _shortened(belief)
    here = short.at(points)
    return here, here.variance >= HOLE_VARIANCE * short.kernel.diagonal(points)


def _shortened(belief: StudyBelief) -> Posterior:
    """Return the posterior under lengthscales of at most a share of the prior's median, if they are learned."""
    source = belief.compared
    if not isinstance(source, LearnedBelief):
        return belief.with_answers(source)
    longest = SHORT_LENGTHSCALE * math.exp(source.form.table[0].mean)
    lengthscales = tuple(min(each, longest) for each in source.hyperparameters.lengthscales)
    return belief.with_answers(_under(source, lengthscales, source.hyperparameters.variance))


def scales(belief: StudyBelief) -> tuple[tuple[float, Posterior], ...]:
    """Return the posterior under each size of f that answers leave open, with the probability of that size.

    Answers say which setting is better, and hardly by how much, so the most plausible size alone would be too certain.
    If the size of f is known, there is one posterior.
    """
    kernel, learned, judged = belief.fit.kernel, belief.learned, belief.judged
    if kernel is None or learned is None or judged is None or belief.compared is learned:
        return ((1.0, belief.posterior),)
    found = [_scaled(judged, learned, replace(kernel, variance=factor * kernel.variance)) for factor in SCALES]
    logs = np.array([evidence for evidence, _ in found])
    chances = np.exp(logs - logs.max())
    chances /= chances.sum()
    return tuple((float(p), each) for p, (_, each) in zip(chances, found, strict=True) if p >= LEAST_CHANCE)


def preference(belief: StudyBelief, first: FloatArray, second: FloatArray) -> float | None:
    """Return how often the first point would be chosen over the second, averaged over both orders.

    The judge is the one with most answers; `None` without judgements.
    """
    if belief.judged is None:
        return None
    (mean,), (variance,) = belief.posterior.difference(first[None], second)
    return choice_probability(float(mean), float(variance) + belief.judge_variance)


def _rescaled(source: LearnedBelief, lengthscales: float, variance: float) -> Posterior:
    learned = source.hyperparameters
    return _under(source, tuple(lengthscales * each for each in learned.lengthscales), variance * learned.variance)


def _under(source: LearnedBelief, lengthscales: tuple[float, ...], variance: float) -> Posterior:
    """Return the posterior of the readings under other hyperparameters of f."""
    other = replace(source.hyperparameters, lengthscales=lengthscales, variance=variance)
    return source.exact.under(source.form.model(other, source.jumps, source.blips))


def _scaled(judged: Judged, learned: LearnedBelief, kernel: JudgedKernel) -> tuple[float, Posterior]:
    """Return the log probability of a kernel given the answers, and the posterior under it."""
    reference = learned.hyperparameters.step
    source = learned.under(kernel.hyperparameters(learned.form, reference)).trusted
    panel = judged.panel(judged.judgements, learned.form, reference)
    pairing, answers = Pairing.of(judged.judgements), panel.answers(panel.theta(judged.fit.judges))
    found = propagate(pairing.prior(source), answers, judged.fit.sites, SCALE_SWEEPS)
    outcomes = pairing.outcomes(found.sites)
    z = (np.log(kernel.variance) - ANSWERED_VARIANCE.mean) / SCALE_DEVIATION
    believed = source if outcomes is None else source.with_outcomes(outcomes)
    return found.log_evidence - 0.5 * float(z * z), believed
