"""Proposals and recommendable settings of a study with limits or several objectives.

symbol   meaning                                                              shape
p        probability that all limits hold                                     (m,)
r, s     reference and range of each objective, as differences to the start   (K,)
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from equipoise import _linalg
from equipoise.answer import USABLE, Doubtful, dominated
from equipoise.data import Proposal
from equipoise.policies import SURELY, candidates, measured, simplex, two_compromises, weighed
from equipoise.spaces import Restricted
from equipoise.study.outputs.company import accompanied

if TYPE_CHECKING:
    from equipoise._typing import FloatArray
    from equipoise.belief import Feasibility, Indices, Posterior
    from equipoise.policies import Policy
    from equipoise.spaces import Domain
    from equipoise.study.outputs.company import Teaching
    from equipoise.study.outputs.holding import Named

LIKELY = 0.1
"""The least probability of holding the limits at which a setting is considered."""

ANCHORS = 4
"""The number of usable settings, the best ones, towards which others are drawn."""

CENTERS, REACH, NEAR = 3, (0.1, 0.02), 40
"""The number of best settings to search around, the distances in units of the extent, and the points for each."""

CLIMBERS, STEPS, TRIES = 8, (0.2, 0.1, 0.05), 32
"""The number of candidates from which to search for better ones, the distances in units of the extent, and the points
for each. Random candidates are never at the bounds where fronts end: with this search the front of ZDT1 is 1.03 of the
best random one instead of 0.95 (4 seeds, no offset)."""

BOLDNESS = 1.0
"""The optimism of that search, in standard deviations. With 2, jumps led it to corners of six dimensions: DTLZ2 fell
from 0.94 to 0.87 (8 seeds); with 1 it is 0.95. With 0 the beam line gained nothing."""

FINALISTS = 256
"""The number of candidates over which functions are drawn."""

OUTER = 0.1
"""The distance of an objective's reference below the front, in units of its range, so that its ends count too."""

DIGITS = 9
"""The significant digits of a score: far from all readings, candidates are equal up to rounding."""

OPTIMISM = 2.0
"""The optimism, in standard deviations, with which the candidates for joint draws are selected."""


def likely(space: Domain, named: Named | None) -> Domain:
    """Return the part of a space where all limits may hold; all of it if there are none."""
    if named is None or not named.limited:
        return space
    return Restricted(space, lambda points: named.probability(points) >= LIKELY)


def within_limits(
    space: Domain, posterior: Posterior, feasible: Feasibility, named: Named
) -> tuple[Restricted, Doubtful] | tuple[None, None]:
    """Return the part of a space where all limits hold with 95 %, and the settings that may hold them."""
    if not named.limited:
        return None, None
    return usable(space, posterior, feasible, named), doubtful(space, feasible, named)


def doubtful(space: Domain, feasible: Feasibility, named: Named) -> Doubtful:
    """Return the settings that may hold all limits: with a probability of at least 5 %."""

    def keep(points: FloatArray) -> NDArray[np.bool_]:
        kept = feasible.allows(points)
        kept[kept] = named.probability(points[kept]) >= 1.0 - USABLE if kept.any() else False
        return kept

    return Doubtful(Restricted(space, keep), [slack for _, slack in named.known_slacks()])


def usable(space: Domain, posterior: Posterior, feasible: Feasibility, named: Named) -> Restricted:
    """Return the part of a space where all limits hold with 95 %.

    If no setting is known to, the part has only the measured setting that comes nearest.
    """

    def keep(points: FloatArray) -> NDArray[np.bool_]:
        kept = feasible.allows(points)
        kept[kept] = named.surely(points[kept]) >= USABLE if kept.any() else False
        return kept

    known = measured(space, posterior).reshape(-1, space.dimension)
    if not len(known):
        return Restricted(space, keep)
    holds = named.surely(known)
    sure, mean = np.flatnonzero(holds >= USABLE), posterior.mean(known)
    best = sure[np.argsort(-mean[sure])[:ANCHORS]] if len(sure) else _nearest(named, known, holds, mean)
    return Restricted(space, keep, known[best])


def _nearest(named: Named, points: FloatArray, holds: FloatArray, mean: FloatArray) -> Indices:
    """Return the index of the setting to recommend if none is known to hold all limits, shape (1,).

    It most probably does, or else breaks them least, or else is best. As long as an output is unknown, it is the start,
    which limits relative to it allow.
    """
    moved = np.zeros(len(points)) if named.start is None else (points != named.start).any(axis=1) & bool(named.unknown)
    return np.lexsort((-mean, named.excess(points), -np.round(holds, 2), moved))[:1]


def proposed(
    policy: Policy,
    posterior: Posterior,
    space: Domain,
    named: Named | None,
    rng: Generator,
    teaching: Teaching | None = None,
) -> Proposal:
    """Return the next proposal: that of the policy within the limits; for several objectives a compromise.

    Args:
        policy: Chooses among settings by the first objective.
        posterior: The belief about the first objective.
        space: The settings that may be proposed.
        named: The belief about all outputs; `None` if they have no names.
        rng: The source of randomness.
        teaching: Returns the lessons of readings at points; `None` if only pairs teach.
    """
    if named is not None and named.outputs.several and named.start is not None:
        return compromise(named, space, named.start, rng)
    if named is not None and named.limited:
        return limited_proposal(policy, posterior, space, named, rng, teaching)
    return policy(posterior.at(candidates(space, posterior, policy.scores, rng)), rng)


def limited_proposal(
    policy: Policy,
    posterior: Posterior,
    space: Domain,
    named: Named,
    rng: Generator,
    teaching: Teaching | None = None,
) -> Proposal:
    """Return the proposal of a policy under limits.

    A policy that weighs optimism against the probability that limits hold has a method `within`, as `Challenger`;
    any other one chooses among settings that are more likely to hold them than not.
    """
    points = candidates(likely(space, named), posterior, policy.scores, rng)
    points = np.concatenate((points, _around(space, posterior, named, rng)))
    belief = posterior.at(points[_linalg.firsts(points)])
    holds = named.probability(belief.points)
    within = getattr(policy, "within", None)
    if within is not None:
        return accompanied(within, posterior, belief, named, holds, rng, teaching)
    kept = holds >= min(0.5, float(holds.max()))
    return policy(posterior.at(belief.points[kept]), rng)


def _around(space: Domain, posterior: Posterior, named: Named, rng: Generator) -> FloatArray:
    """Return points around the best settings measured that hold all limits, and these, shape (m, d)."""
    known = measured(space, posterior).reshape(-1, space.dimension)
    sure = known[named.probability(known) >= SURELY] if len(known) else known
    best = sure[np.argsort(-posterior.mean(sure))[:CENTERS]] if len(sure) else sure
    return np.concatenate((best, *_near(space, best, rng)))


def _near(space: Domain, points: FloatArray, rng: Generator) -> list[FloatArray]:
    return [space.near(points, reach * space.extent, NEAR, rng) for reach in REACH] if len(points) else []


def compromise(named: Named, space: Domain, start: FloatArray, rng: Generator) -> Proposal:
    """Return two settings that are the best compromise by two joint draws of all objectives.

    Args:
        named: The belief about the objectives, and about the limits if there are any.
        space: The settings that may be proposed.
        start: The reference of comparisons, encoded, shape (d,).
        rng: The source of randomness.
    """
    posteriors, part = named.wanted, likely(space, named)
    known = measured(part, posteriors[0]).reshape(-1, space.dimension)
    w = simplex(len(posteriors), rng)
    r, s = frame(posteriors, known if len(known) else start[None], start)
    best = known[_largest(weighed(gains(posteriors, known, start), r, s, w), CENTERS)]
    points = np.concatenate((start[None], known, *_near(part, best, rng), part.candidates(rng)))
    points = climbed(part, points, lambda some: weighed(gains(posteriors, some, start, BOLDNESS), r, s, w), rng)
    points = points[_linalg.firsts(points)]
    bold = weighed(gains(posteriors, points, start, OPTIMISM), r, s, w)
    chosen = np.concatenate(([0], 1 + np.sort(_largest(bold[1:], FINALISTS))))  # a draw depends on their order
    beliefs = [posterior.at(points[chosen]) for posterior in posteriors]
    holds = named.probability(points[chosen]) if named.limited else None
    first, second = two_compromises(beliefs, 0, r, s, w, holds, rng)
    return Proposal.pair(points[chosen[first]], points[chosen[second]])


def climbed(space: Domain, points: FloatArray, score: Callable[[FloatArray], FloatArray], rng: Generator) -> FloatArray:
    """Return some points, shape (m, d), and more: around those of the largest score, ever closer."""
    values, found = score(points), [points]
    best = _largest(values, CLIMBERS)
    tops, values = points[best], values[best]
    for step in STEPS:
        found.append(space.near(tops, step * space.extent, TRIES, rng))
        tops, values = np.concatenate((tops, found[-1])), np.concatenate((values, score(found[-1])))
        best = _largest(values, CLIMBERS)
        tops, values = tops[best], values[best]
    return np.concatenate(found)


def _largest(values: FloatArray, most: int) -> Indices:
    """Return the indices of the largest values; those that are equal up to rounding are in their order."""
    scale = float(np.abs(values).max(initial=0.0)) or 1.0
    return np.argsort(-np.round(values / scale, DIGITS), kind="stable")[:most]


def frame(posteriors: Sequence[Posterior], points: FloatArray, start: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return reference and range of each objective over the front of some points, as differences to the start."""
    Y = gains(posteriors, points, start).T
    front = Y[~dominated(Y)]
    low, high = front.min(axis=0), front.max(axis=0)
    scatter = np.sqrt([posterior.kernel.diagonal(start[None])[0] for posterior in posteriors])
    s = np.maximum(high - low, 0.1 * scatter)
    return np.minimum(low, 0.0) - OUTER * s, s  # METHOD section 18: f_k(x0) - m_k


def gains(
    posteriors: Sequence[Posterior], points: FloatArray, start: FloatArray, deviations: float = 0.0
) -> FloatArray:
    """Return by how much each objective is above the start, and some standard deviations more, shape (K, m)."""
    if not len(points):
        return np.empty((len(posteriors), 0))
    found = [posterior.difference(points, start) for posterior in posteriors]
    return np.array([mean + deviations * np.sqrt(variance) for mean, variance in found])
