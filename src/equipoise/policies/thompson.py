"""Double Thompson sampling: the best points of two posterior draws duel.

    symbol   meaning                                                          shape
    C, F     covariance of f at k of the candidates, and a factor: C = F F'   (k, k), (k, r)
    values   posterior draws of f, one per row                                  (DRAWS, k)

A draw over k points costs the cube of k once for the factor, so k is bounded.
"""

from dataclasses import dataclass

import numpy as np
from numpy.random import Generator

from equipoise import _validation as check
from equipoise._typing import FloatArray
from equipoise.belief import Belief, Indices, fair_argmax
from equipoise.data import Proposal
from equipoise.policies.pairs import covariance_among, largest
from equipoise.policies.search import optimism
from equipoise.policies.semits import factor
from equipoise.reductions import TwoPoint

DRAWS = 4
"""Most posterior draws for one pair: the first point comes from the first, the second from the next that differs."""

PROMISING, RANDOM = 400, 100
"""Of more candidates than both together, those drawn over: the best by optimistic value, and some of the others."""


def contenders(belief: Belief, rng: Generator) -> Indices:
    """Return the candidates that are drawn over: all, or the promising ones and a random sample of the rest."""
    m = len(belief.mean)
    if m <= PROMISING + RANDOM:
        return np.arange(m)
    leader = belief.leader(rng)
    scores = belief.optimism(leader)
    scores[leader] = np.inf
    order = largest(scores, m, rng)
    return np.concatenate((order[:PROMISING], rng.choice(order[PROMISING:], RANDOM, replace=False)))


def two_winners(values: FloatArray, rng: Generator) -> tuple[int, int] | None:
    """Return the best point of the first draw and that of the next draw with another one, or none."""
    first = fair_argmax(values[0], rng)
    for draw in values[1:]:
        second = fair_argmax(draw, rng)
        if second != first:
            return first, second
    return None


@dataclass(frozen=True)
class DoubleThompson:
    """Duel the best points of two independent draws from the posterior.

    If both are the same point, up to two more draws look for another one; after that, the leader is measured
    twice. Of more than 500 candidates, a draw covers the 400 of largest optimistic value, `mean + width(leader, .)`,
    and 100 random others, to limit its cost.

    Args:
        scale: Factor on the posterior standard deviation. The posterior is that of a Gaussian process whose outcomes
            have noise of variance lambda, the regularizer; if they have another one, rho^2, the factor
            rho / sqrt(lambda) makes up for it. The default 1 is plain Thompson sampling: good as a rule, but a
            guarantee needs a scale that grows like the confidence coefficient.

    Example:
        >>> import numpy as np, equipoise as eq
        >>> posterior = eq.belief.FinitePosterior([[-1.0], [0.2], [1.0]], eq.Linear())
        >>> pair = DoubleThompson()(posterior.at(posterior.points), np.random.default_rng(1))
        >>> sorted(pair.points.ravel().tolist())  # a linear function is largest at an end
        [-1.0, 1.0]
    """

    scale: float = 1.0
    proposal_size = 2
    reduction = TwoPoint()
    scores = (optimism,)

    def __post_init__(self) -> None:
        check.nonnegative("scale", self.scale)

    def __call__(self, belief: Belief, rng: Generator) -> Proposal:
        """Propose the two winners."""
        keep = contenders(belief, rng)
        F = factor(covariance_among(belief, keep)) * self.scale
        values = belief.mean[keep] + rng.standard_normal((DRAWS, F.shape[1])) @ F.T
        pair = two_winners(values, rng)
        if pair is None:
            leader = belief.points[belief.leader(rng)]
            return Proposal.pair(leader, leader)
        return Proposal.pair(belief.points[keep[pair[0]]], belief.points[keep[pair[1]]])
