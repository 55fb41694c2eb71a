"""A cautious model of the same readings, for decisions that must not be wrong.

    symbol   meaning                                         shape
    l        lengthscales of f, in extents                   (k,)
    t        time of a disturbance                           ()

In this model f is rougher and larger than learned, and the noise is larger, above all after few readings. A fall of the
offset is believed only once a place has been read both before and after it: until then f may have fallen, as it does
beyond a cliff. A rise is believed at once: else later readings would seem better than they are. A low reading never
counts as an outlier.
"""

import math
from dataclasses import replace

import numpy as np

from equipoise._typing import FloatArray
from equipoise.belief import AnywherePosterior, LearnedBelief, Observations, Posterior, StudyBelief, of_now

SHARE_OF_LEARNED = 0.7
"""Lengthscales, in units of the learned ones, which are too long at times."""

LONGEST = 0.5
"""Longest lengthscale, in units of the prior's median."""

UNSURE_READINGS = 6.0
"""The noise has at least the variance of a typical step, times this number over that of the readings. Few readings do
not tell f from a drift: of 240 readings with a `drop`, on a walk as high as the drop, 2 were below the limit instead of
6, and 0 instead of 9 with readings of a machine that was rebuilt (12 seeds, 20 readings each)."""

WIDEST = 1e100
"""The largest standard deviation of f, in steps of the readings: its square must be a number too."""

WIDEST_LOG = 1e6
"""The same of the logarithm of a rate or of odds; at 1e6 expectation propagation has all digits that it needs."""

SAME_PLACE = 0.1
"""Readings at most this many lengthscales apart share a place."""


def cautious(belief: StudyBelief, unit: float) -> Posterior:
    """Return the belief for decisions that must not be wrong: present readings; a cautious model if it was learned.

    `unit` is the least standard deviation of f.
    """
    source = belief.compared
    if isinstance(source, LearnedBelief):
        return belief.with_answers(_careful(source.present, unit))
    return belief.with_answers(of_now(source, source.model) if isinstance(source, AnywherePosterior) else source)


def _careful(belief: LearnedBelief, unit: float) -> AnywherePosterior:
    """Return the readings of a belief under the cautious model."""
    form, learned = belief.form, belief.hyperparameters
    longest = LONGEST * math.exp(form.table[0].mean)
    lengthscales = tuple(min(SHARE_OF_LEARNED * each, longest) for each in learned.lengthscales)
    data = belief.exact.source
    widest = WIDEST if data is None or data.answers is None else WIDEST_LOG
    variance = max(learned.variance, min(unit / learned.step, widest) ** 2)
    noise = max(learned.noise, min(1.0, UNSURE_READINGS / max(belief.exact.size, 1)))
    other = replace(learned, lengthscales=lengthscales, variance=variance, noise=noise)
    scales = np.asarray(lengthscales)[form.groups] * form.extent
    jumps, blips = belief.jumps, belief.blips
    if jumps or blips:
        data = _own(belief.data)
        jumps = tuple(each for each in jumps if _rises(data, each[0]) or _seen_on_both_sides(data, each[0], scales))
        blips = tuple(each for each in blips if _stands_out(data, each[0]))
    return belief.exact.under(form.model(other, jumps, blips))


def _own(data: Observations) -> Observations:
    """Return the readings of the present campaign, in the order of their times."""
    own = np.flatnonzero(data.moments.campaign == "")
    return data.take(own[np.argsort(data.moments.time[own], kind="stable")])


def _seen_on_both_sides(data: Observations, t: float, scales: FloatArray) -> bool:
    """Return whether a place was read both before a time and from then on."""
    places, before = data.points / scales, data.moments.time < t
    apart = np.abs(places[before][:, None] - places[~before]).max(axis=2, initial=0.0)
    return bool((apart <= SAME_PLACE).any())


def _rises(data: Observations, t: float) -> bool:
    """Return whether the first reading from a time on lies above the previous one."""
    at = int(np.searchsorted(data.moments.time, t))
    return 0 < at < len(data) and bool(data.outcomes[at] > data.outcomes[at - 1])


def _stands_out(data: Observations, t: float) -> bool:
    """Return whether the reading at a time lies above those next to it."""
    at = np.flatnonzero(data.moments.time == t)
    beside = np.flatnonzero(np.isin(np.arange(len(data)), (*(at - 1), *(at + 1))))
    return bool(len(at) and len(beside) and data.outcomes[at[0]] > data.outcomes[beside].mean())
