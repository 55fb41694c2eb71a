"""The answer of a study: the best setting as far as is known, and a bound on what is left to gain."""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.random import Generator

from equipoise.belief import Feasibility, Posterior
from equipoise.belief.posterior import fair_argmax
from equipoise.policies.search import candidates, optimism
from equipoise.spaces import Domain
from equipoise.spaces.restricted import Restricted


@dataclass(frozen=True, eq=False)
class Recommendation:
    """The best setting as far as is known.

    Attributes:
        x: The point of largest posterior mean.
        gap_bound: No other point is better by more than this (in a continuous space: none that the search found), with
            the probability the confidence coefficient promises: a theorem with `PaperConfidence` or `TightConfidence`
            and the right numbers, else an estimate. Infinite where the unit of f is learned and the data are too few.
        readings: How many readings were told.
    """

    x: Any
    gap_bound: float
    readings: int


def recommended(
    space: Domain, posterior: Posterior, readings: int, rng: Generator, feasibility: Feasibility | None = None
) -> Recommendation:
    """Return the best of the points that a search finds.

    Args:
        space: Where points lie.
        posterior: The belief.
        readings: How many readings were told.
        rng: The source of randomness.
        feasibility: Where readings can be had, if some failed.
    """
    if feasibility is None or feasibility.certain or not len(feasibility.reliable):
        belief = posterior.at(candidates(space, posterior, (optimism,), rng))
        leader = belief.leader(rng)
    else:
        rivals = candidates(Restricted(space, feasibility.allows), posterior, (optimism,), rng)
        belief = posterior.at(np.concatenate((feasibility.reliable, rivals)))
        leader = fair_argmax(belief.mean[: len(feasibility.reliable)], rng)
    bound = belief.gap_bound(leader) if posterior.knows_unit else math.inf
    return Recommendation(space.decode(belief.points[leader]), bound, readings)
