"""Policies for many learners at once: the points that each learner proposes.

A policy with a method `choose` is called directly. The others are here, with the formulas of `policies/` but
another algorithm, because that of a single learner does not suit arrays or costs too much for many learners:

    DoubleThompson   a single learner stops at the first draw with another winner
    MaxMinLCB, EUBO  a single learner evaluates only its promising candidates, in varying number: here they are masked
    SemiTS           separate draws per learner cost five times as much: they are shared, see `posterior_draws.py`
    BOSE             weights computed one learner after the other cost 3.3 times as much: see `balancing.py`

To add a policy, give it `choose`; if that is impossible, add an entry to `FORMS`.
"""

from collections.abc import Callable
from typing import Any

from equipoise.belief import Array, namespace, pick
from equipoise.lab.fleet.array_math import placed, to_numpy
from equipoise.lab.fleet.balancing import balanced_weights
from equipoise.lab.fleet.beliefs import Beliefs
from equipoise.lab.fleet.covariances import Directions
from equipoise.lab.fleet.semiparametric import winning_weights
from equipoise.lab.fleet.throwing import Throws
from equipoise.policies import (
    BOSE,
    DRAWS,
    EUBO,
    LARGEST,
    PROMISING,
    RANDOM,
    DoubleThompson,
    MaxMinLCB,
    Policy,
    Random,
    SemiTS,
    expected_best,
    lower_bounds,
    once_each,
    pairwise_psi,
    plausible,
)

Choose = Callable[[Any, Beliefs, Throws, Directions | None], Directions]
"""The type of a function from a policy, the beliefs, the coins and the last choice to the new choice."""


def double_thompson(policy: DoubleThompson, beliefs: Beliefs, throws: Throws, last: Directions | None) -> Directions:
    """Choose the best of the first draw and that of the next draw with another winner; else the leader twice."""
    _at_most(PROMISING + RANDOM, policy, beliefs)
    values = throws.draws(beliefs, DRAWS, policy.scale)
    xp = namespace(values)
    winners = [throws.argmax(values[:, k, :]) for k in range(DRAWS)]
    second = winners[-1]
    for other in winners[-2:0:-1]:
        second = xp.where(other == winners[0], second, other)
    alone = second == winners[0]
    if not bool(xp.any(alone)):
        return Directions(winners[0], second)
    leader = throws.argmax(beliefs.mean)
    return Directions(xp.where(alone, leader, winners[0]), xp.where(alone, leader, second))


def maxmin_lcb(policy: MaxMinLCB, beliefs: Beliefs, throws: Throws, last: Directions | None) -> Directions:
    """Choose the plausible point with the best worst case, and the plausible point that attains this worst case."""
    psi, xp = _all_psi(policy, beliefs), namespace(beliefs.mean)
    throws.argmax(beliefs.mean)  # a single learner finds the leader first: toss the same coins
    width = xp.reshape(beliefs.width(xp.reshape(psi, (psi.shape[0], -1))), psi.shape)
    alive = plausible(beliefs.mean, width)
    bounds = xp.where(alive[:, None, :], lower_bounds(beliefs.mean, width), xp.inf)
    first = throws.argmax(xp.where(alive, xp.min(bounds, axis=-1), -xp.inf))
    return Directions(first, throws.argmax(-pick(bounds, first)))


def eubo(policy: EUBO, beliefs: Beliefs, throws: Throws, last: Directions | None) -> Directions:
    """Choose the two points with the largest expected maximum."""
    psi = _all_psi(policy, beliefs)
    value = once_each(expected_best(to_numpy(beliefs.mean), to_numpy(psi)))
    pair = throws.argmax(namespace(psi).asarray(value.reshape(len(value), -1), **placed(psi)))
    return Directions(pair // psi.shape[1], pair % psi.shape[1])


def semits(policy: SemiTS, beliefs: Beliefs, throws: Throws, last: Directions | None) -> Directions:
    """Weight every point by how often it is the best of a draw."""
    return Directions(mixture=winning_weights(policy, beliefs, throws))


def bose(policy: BOSE, beliefs: Beliefs, throws: Throws, last: Directions | None) -> Directions:
    """Choose the weights under which no plausible point stands out."""
    return Directions(mixture=balanced_weights(policy, beliefs, None if last is None else last.mixture))


FORMS: dict[type, Choose] = {
    DoubleThompson: double_thompson,
    MaxMinLCB: maxmin_lcb,
    EUBO: eubo,
    SemiTS: semits,
    BOSE: bose,
}
"""The fleet versions of policies without `choose`."""


def chooser(policy: Policy) -> Choose:
    """Return the fleet version of a policy; refuse a policy that has none.

    Example:
        >>> chooser(BOSE()) is bose
        True
    """
    if type(policy) in FORMS:
        return FORMS[type(policy)]
    if not hasattr(policy, "choose") or policy == Random(pairs=True):
        names = ", ".join(each.__name__ for each in FORMS)
        raise ValueError(f"`policy` must have `choose` or be one of {names} for a fleet, got {policy!r}")
    return _as_it_is


def _as_it_is(policy: Any, beliefs: Beliefs, throws: Throws, last: Directions | None) -> Directions:
    return Directions(*policy.choose(beliefs, throws))


def _all_psi(policy: Policy, beliefs: Beliefs) -> Array:
    """Return the variances of all differences, shape (L, m, m); refuse too many points."""
    _at_most(LARGEST, policy, beliefs)
    return pairwise_psi(beliefs.covariances.full())


def _at_most(largest: int, policy: Policy, beliefs: Beliefs) -> None:
    if beliefs.mean.shape[1] > largest:
        few = f"at most {largest} points in a fleet"
        raise ValueError(f"`policy` must fit: {policy!r} needs {few}, got {beliefs.mean.shape[1]}")
