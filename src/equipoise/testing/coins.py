"""Coins of a reduction, tossed many times: the readings, the comparisons, and the gains of adversaries.

    symbol   meaning                                                              shape
    m        number of points of the proposal
    s        signs of the readings, zero if a duel has fewer                      (N, r)
    u        first - second, as coefficients of the proposal's points             (N, m)
    v        weight of each in the readings: sum of its signs                     (N, m)
    b        offset of each reading of a duel, fixed before the coin              (r,)

The outcome is v'f + s'b, and least squares treats it as u'f. So its error must be uncorrelated with u over the coin:
E[(v - u) u'] = 0, or f itself misleads, and E[s u'] = 0, or an offset does. For a pair, whose u is fixed, this means
that the signs of each reading have mean zero, and so has their sum. Against an adversary who has seen every earlier
coin and reading the same must hold given the past. The z-scores of correct reductions exceed `Z` with probability 6e-7
each, of some hundred components: one check in ten thousand, and always the same one, as the seeds are fixed.
"""

import math
from collections.abc import Callable, Iterator

import numpy as np

from equipoise._typing import FloatArray
from equipoise.data import Comparison, Duel, Proposal, Reading, Side, teaches
from equipoise.offsets import Arbitrary
from equipoise.reductions import Reduction
from equipoise.testing.rule import require

Z = 5.0
"""The largest accepted error of a mean, in standard errors: two-sided error 5.7e-7."""

DRAWS = 2_000
"""The number of tosses: they expose a coin with probability 0.57 for one side instead of a half (z above 6)."""

SIZE = 3
"""The points of the proposal for a reduction that accepts any number."""

Strategy = Callable[[FloatArray, FloatArray], FloatArray]
"""A function from the signs of the last duel and the errors so far to the offset of each coming reading."""


def even(size: int) -> Proposal:
    """Return a proposal of `size` points with equal weights."""
    return Proposal(np.arange(float(size))[:, None], np.full(size, 1 / size))


def proposal_for(reduction: Reduction) -> Proposal:
    """Return a proposal that the reduction accepts: even weights if the size is fixed, else uneven ones."""
    if reduction.proposal_size is not None:
        return even(reduction.proposal_size)
    return Proposal(even(SIZE).points, np.array([0.2, 0.5, 0.3]))


def thrown(reduction: Reduction, n: int, baseline: float = 0.0) -> Iterator[Duel]:
    """Yield n duels of one proposal."""
    proposal, rng = proposal_for(reduction), np.random.default_rng(0)
    return (reduction(proposal, rng, baseline) for _ in range(n))


def index(proposal: Proposal, point: FloatArray) -> int:
    """Return the index of a point in the proposal."""
    found = np.flatnonzero((proposal.points == point).all(axis=1))
    require(len(found), f"the point {np.asarray(point).tolist()} is none of the proposal's")
    return int(found[0])


def compared(proposal: Proposal, what: Duel | Comparison) -> FloatArray:
    """Return u, shape (m,)."""
    return _coefficients(proposal, what.first) - _coefficients(proposal, what.second)


def moments_of(reduction: Reduction) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return s, u and v of many duels."""
    proposal, duels = proposal_for(reduction), list(thrown(reduction, DRAWS))
    s = np.zeros((DRAWS, max(len(duel.signs) for duel in duels)))
    v = np.zeros((DRAWS, len(proposal.points)))
    for i, duel in enumerate(duels):
        s[i, : len(duel.signs)] = duel.signs
        for point, sign in zip(duel.points, duel.signs, strict=True):
            v[i, index(proposal, point)] += sign
    return s, np.array([compared(proposal, duel) for duel in duels]), v


def as_last(signs: FloatArray, total: FloatArray) -> FloatArray:
    """Expect the coin to fall as it did last."""
    return 2.0 * np.sign(signs)


def against_last(signs: FloatArray, total: FloatArray) -> FloatArray:
    """Expect the coin to fall on the other side than last."""
    return -2.0 * np.sign(signs)


def push(signs: FloatArray, total: FloatArray) -> FloatArray:
    """Push in the direction of the errors so far, by a different amount for each reading."""
    return 2.0 * float(np.sign(total[0] + 1e-9)) * np.cos(np.arange(len(signs), dtype=np.float64))


STRATEGIES: tuple[Strategy, ...] = (as_last, against_last, push)


def errors(reduction: Reduction, strategy: Strategy) -> Iterator[FloatArray]:
    """Yield the error of each outcome times u, shape (m,), while an adversary chooses offsets and baseline."""
    rng, world, proposal = np.random.default_rng(0), np.random.default_rng(1), proposal_for(reduction)
    f = world.normal(size=len(proposal.points))
    signs, total = np.ones(1), np.zeros(len(proposal.points))
    while True:
        b = strategy(signs, total)
        duel = reduction(proposal, rng, math.tanh(float(total[0])))
        noise = 0.3 * world.standard_normal(len(duel.signs))
        y = f[[index(proposal, x) for x in duel.points]] + np.resize(b, len(duel.signs)) + noise
        (told,) = teaches(duel, [Reading(float(value), place=i + 1) for i, value in enumerate(y)], Arbitrary())
        u = compared(proposal, told)
        error = (told.outcome - float(u @ f)) * u
        signs, total = np.array(duel.signs), total + error
        yield error


def _coefficients(proposal: Proposal, side: Side | None) -> FloatArray:
    """Return a side of a comparison as coefficients of the proposal's points, shape (m,)."""
    result = np.zeros(len(proposal.points))
    if isinstance(side, Proposal):
        for point, weight in zip(side.points, side.weights, strict=True):
            result[index(proposal, point)] += weight
    elif side is not None:
        result[index(proposal, side)] = 1.0
    return result
