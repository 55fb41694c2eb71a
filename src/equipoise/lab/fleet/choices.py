"""Policies for many learners at once: which points each proposes.

    symbol   meaning                                                          shape
    xh       leader of each learner: its point of largest mean                (L,)
    g        mean(xh) - mean(z) >= 0                                          (L, m)
    psi      posterior variance of f(xh) - f(z)                               (L, m)
    delta    largest plausible regret of the leader                           (L, 1)
    p        probability of dueling the rival rather than the leader itself   (L,)

A policy is the object that `Optimizer` takes too; here stands only how it looks at many beliefs, its formulas are in
`policies/`. To add one, add an entry to `CHOOSERS`.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from equipoise.belief import Array, namespace, pick, placed, to_numpy
from equipoise.lab.fleet.balancing import balanced_weights
from equipoise.lab.fleet.beliefs import Beliefs
from equipoise.lab.fleet.semiparametric import winning_weights
from equipoise.lab.fleet.throwing import Throws
from equipoise.policies import (
    BOSE,
    DRAWS,
    EUBO,
    IDS,
    LARGEST,
    PROMISING,
    RANDOM,
    UCB,
    Challenger,
    DoubleThompson,
    MaxMinLCB,
    Policy,
    Random,
    SemiTS,
    expected_best,
    lower_bounds,
    merits,
    once_each,
    pairwise_psi,
    plausible,
    probability,
)


@dataclass(frozen=True, eq=False)
class Choices:
    """What the learners propose: `Proposal` with a leading axis, by index.

    Attributes:
        first: A point of each learner, shape (L,); `None` where a proposal is a mixture.
        second: The point it is compared with, shape (L,); `None` where there is none.
        weights: Probabilities of all points, shape (L, m), where a proposal is a mixture; `None` elsewhere.
    """

    first: Array = None
    second: Array = None
    weights: Array = None


def ucb(policy: UCB, beliefs: Beliefs, throws: Throws, last: Choices | None) -> Choices:
    """Choose the largest upper confidence bound."""
    return Choices(throws.argmax(beliefs.mean + beliefs.width(beliefs.variance)))


def ids(policy: IDS, beliefs: Beliefs, throws: Throws, last: Choices | None) -> Choices:
    """Choose the leader and its rival of least ratio, or the leader twice: KK21 Algorithm 1."""
    leader = throws.argmax(beliefs.mean)
    psi, g = beliefs.psi(leader), beliefs.gaps(leader)
    merit, delta = merits(g, psi, beliefs.width(psi), beliefs.regularizer)
    rival = throws.argmax(merit)
    xp = namespace(g)
    p = xp.where(pick(merit, rival) > -xp.inf, probability(pick(g, rival), delta[:, 0]), 0.0)
    p = xp.maximum(p, policy.floor)
    return Choices(leader, xp.where((p < 1.0) & (throws.random(p, p < 1.0) >= p), leader, rival))


def challenger(policy: Challenger, beliefs: Beliefs, throws: Throws, last: Choices | None) -> Choices:
    """Choose the leader and the point that may beat it by most."""
    leader = throws.argmax(beliefs.mean)
    widening = policy.widening(throws.exponential(beliefs.mean[:, 0]))[:, None]
    upper = beliefs.mean + widening * beliefs.width(beliefs.psi(leader))  # METHOD section 7
    return Choices(leader, throws.argmax(upper))


def double_thompson(policy: DoubleThompson, beliefs: Beliefs, throws: Throws, last: Choices | None) -> Choices:
    """Choose the best of the first draw and that of the next where it is another; else the leader twice."""
    if beliefs.mean.shape[1] > PROMISING + RANDOM:
        few = f"at most {PROMISING + RANDOM} points in a fleet"
        raise ValueError(f"`policy` must fit: DoubleThompson needs {few}, got {beliefs.mean.shape[1]}")
    values = throws.draws(beliefs, DRAWS, policy.scale)
    xp = namespace(values)
    winners = [throws.argmax(values[:, k, :]) for k in range(DRAWS)]
    second = winners[-1]
    for other in winners[-2:0:-1]:
        second = xp.where(other == winners[0], second, other)
    alone = second == winners[0]
    if not bool(xp.any(alone)):
        return Choices(winners[0], second)
    leader = throws.argmax(beliefs.mean)
    return Choices(xp.where(alone, leader, winners[0]), xp.where(alone, leader, second))


def maxmin_lcb(policy: MaxMinLCB, beliefs: Beliefs, throws: Throws, last: Choices | None) -> Choices:
    """Choose the plausible point whose worst case is best, and the plausible one that makes it worst."""
    psi, xp = _all_psi(policy, beliefs), namespace(beliefs.mean)
    throws.argmax(beliefs.mean)  # the leader, whom a learner alone looks for first: the same coins are thrown
    width = xp.reshape(beliefs.width(xp.reshape(psi, (psi.shape[0], -1))), psi.shape)
    alive = plausible(beliefs.mean, width)
    bounds = xp.where(alive[:, None, :], lower_bounds(beliefs.mean, width), xp.inf)
    first = throws.argmax(xp.where(alive, xp.min(bounds, axis=-1), -xp.inf))
    return Choices(first, throws.argmax(-pick(bounds, first)))


def eubo(policy: EUBO, beliefs: Beliefs, throws: Throws, last: Choices | None) -> Choices:
    """Choose the two points whose better one is expected to be best."""
    psi = _all_psi(policy, beliefs)
    value = once_each(expected_best(to_numpy(beliefs.mean), to_numpy(psi)))
    pair = throws.argmax(namespace(psi).asarray(value.reshape(len(value), -1), **placed(psi)))
    return Choices(pair // psi.shape[1], pair % psi.shape[1])


def _all_psi(policy: Policy, beliefs: Beliefs) -> Array:
    """Return the variances of all differences, shape (L, m, m); refuse too many points."""
    if beliefs.mean.shape[1] > LARGEST:
        few = f"at most {LARGEST} points in a fleet"
        raise ValueError(f"`policy` must fit: {policy!r} needs {few}, got {beliefs.mean.shape[1]}")
    return pairwise_psi(beliefs.covariances.full())


def uniform(policy: Random, beliefs: Beliefs, throws: Throws, last: Choices | None) -> Choices:
    """Choose a point by chance."""
    return Choices(throws.integers(beliefs.mean[:, 0], beliefs.mean.shape[1]))


def semits(policy: SemiTS, beliefs: Beliefs, throws: Throws, last: Choices | None) -> Choices:
    """Choose every point as often as it is the best of a draw."""
    return Choices(weights=winning_weights(policy, beliefs, throws))


def bose(policy: BOSE, beliefs: Beliefs, throws: Throws, last: Choices | None) -> Choices:
    """Choose the weights under which no plausible point stands out."""
    return Choices(weights=balanced_weights(policy, beliefs, None if last is None else last.weights))


Chooser = Callable[[Any, Beliefs, Throws, Choices | None], Choices]
"""Takes a policy, the beliefs, the coins and what was chosen last; returns what is chosen now."""

CHOOSERS: dict[type, Chooser] = {
    UCB: ucb,
    IDS: ids,
    Challenger: challenger,
    DoubleThompson: double_thompson,
    MaxMinLCB: maxmin_lcb,
    EUBO: eubo,
    Random: uniform,
    SemiTS: semits,
    BOSE: bose,
}
"""How each policy looks at many beliefs."""


def chooser(policy: Policy) -> Chooser:
    """Return how a policy looks at many beliefs; refuse one that cannot.

    Example:
        >>> chooser(IDS()) is ids
        True
    """
    if type(policy) not in CHOOSERS:
        names = ", ".join(each.__name__ for each in CHOOSERS)
        raise ValueError(f"`policy` must be one of {names} for a fleet, got {policy!r}")
    return CHOOSERS[type(policy)]
