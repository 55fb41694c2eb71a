"""The answer of a study: the best setting as far as is known, and a bound on what is left to gain."""

import math
from dataclasses import dataclass
from typing import Any

from numpy.random import Generator

from equipoise.acquisition import optimism
from equipoise.learned import LearnedPosterior
from equipoise.policies.ids import gap_bound
from equipoise.policies.policy import fair_argmax
from equipoise.posterior import Posterior
from equipoise.proposing import Proposer


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


def recommended(posterior: Posterior, proposer: Proposer, readings: int, rng: Generator) -> Recommendation:
    """Return the best of the points that a search finds, given a belief after so many readings."""
    belief = posterior.at(proposer.candidates(posterior, (optimism,), rng))
    leader = fair_argmax(belief.mean, rng)
    delta = gap_bound(belief.mean[leader] - belief.mean, belief.width(belief.psi(leader)))
    bound = float(delta[0]) if _knows_unit(posterior.active) else math.inf
    return Recommendation(proposer.space.decode(belief.points[leader]), bound, readings)


def _knows_unit(posterior: Posterior) -> bool:
    """Return whether the data say how large f is, where that is learned."""
    return not isinstance(posterior, LearnedPosterior) or posterior.comparisons >= posterior.schedule.first
