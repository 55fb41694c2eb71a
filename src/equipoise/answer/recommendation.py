"""The answer of a study: the best setting as far as is known, and a bound on what is left to gain."""

import math
from dataclasses import dataclass
from typing import Any

from numpy.random import Generator

from equipoise.belief import Posterior
from equipoise.policies.search import candidates, optimism
from equipoise.spaces import Domain


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


def recommended(space: Domain, posterior: Posterior, readings: int, rng: Generator) -> Recommendation:
    """Return the best of the points that a search finds, given a belief after so many readings."""
    belief = posterior.at(candidates(space, posterior, (optimism,), rng))
    leader = belief.leader(rng)
    bound = belief.gap_bound(leader) if posterior.knows_unit else math.inf
    return Recommendation(space.decode(belief.points[leader]), bound, readings)
