"""The pair whose better one is expected to be best.

EUBO is of Lin, Astudillo, Frazier and Bakshy (AISTATS 2022); qEUBO, for more than two, of Astudillo, Lin, Bakshy and
Frazier (AISTATS 2023).
"""

import math
from dataclasses import dataclass

import numpy as np
from numpy.random import Generator

from equipoise._typing import FloatArray
from equipoise.belief.posterior import Belief
from equipoise.data import Proposal
from equipoise.policies.pairs import LARGEST, covariance_among, largest, pairwise_psi
from equipoise.policies.search import optimism
from equipoise.reductions.two_point import TwoPoint


def expected_best(mean: FloatArray, psi: FloatArray) -> FloatArray:
    """Return E[max(f(x_i), f(x_j))], shape (n, n), given all variances of differences.

    Example:
        >>> expected_best(np.zeros(2), np.array([[0.0, 1.0], [1.0, 0.0]])).round(3)
        array([[0.   , 0.399],
               [0.399, 0.   ]])
    """
    from scipy.special import ndtr

    sd = np.sqrt(psi)
    gap = mean[:, None] - mean
    z = np.divide(gap, sd, out=np.zeros_like(gap), where=sd > 0)
    value = mean + gap * ndtr(z) + sd * np.exp(-0.5 * z * z) / math.sqrt(2 * math.pi)
    best: FloatArray = np.where(sd > 0, value, np.maximum(mean[:, None], mean))
    return best


@dataclass(frozen=True)
class EUBO:
    """Duel the two candidates whose better one is expected to be best: for judges, who need not like both.

    Of more than 200 candidates, the leader and those of largest optimistic value, `mean + width(leader, .)`, count.

    Example:
        >>> import numpy as np, equipoise as eq
        >>> posterior = eq.belief.FinitePosterior([[0.0], [0.4], [1.0]], eq.RBF(0.5))
        >>> posterior = posterior.condition(eq.Comparison([1.0], [0.4], 0.7))
        >>> sorted(EUBO()(posterior.at(posterior.points), np.random.default_rng(0)).points.ravel().tolist())
        [0.0, 1.0]
    """

    proposal_size = 2
    reduction = TwoPoint()
    scores = (optimism,)

    def __call__(self, belief: Belief, rng: Generator) -> Proposal:
        """Propose the pair."""
        leader = belief.leader(rng)
        scores = belief.optimism(leader)
        scores[leader] = np.inf
        keep = largest(scores, LARGEST, rng)
        value = expected_best(belief.mean[keep], pairwise_psi(covariance_among(belief, keep)))
        i, j = np.divmod(int(value.argmax()), len(keep))
        return Proposal.pair(belief.points[keep[i]], belief.points[keep[j]])
