"""The pair whose better one is expected to be best.

EUBO is of Lin, Astudillo, Frazier and Bakshy (AISTATS 2022); qEUBO, for more than two, of Astudillo, Lin, Bakshy and
Frazier (AISTATS 2023).
"""

import math
from dataclasses import dataclass

import numpy as np
from numpy.random import Generator

from equipoise._typing import FloatArray
from equipoise.belief import Belief, fair_argmax
from equipoise.data import Proposal
from equipoise.policies.pairs import covariance_among, most_promising, pairwise_psi
from equipoise.policies.search import optimism
from equipoise.reductions import TwoPoint


def expected_best(mean: FloatArray, psi: FloatArray) -> FloatArray:
    """Return E[max(f(x_i), f(x_j))], shape (..., n, n), given all means and all variances of differences.

    Example:
        >>> expected_best(np.zeros(2), np.array([[0.0, 1.0], [1.0, 0.0]])).round(3)
        array([[0.   , 0.399],
               [0.399, 0.   ]])
    """
    from scipy.special import ndtr

    sd = np.sqrt(psi)
    other = mean[..., None, :]
    gap = mean[..., :, None] - other
    z = np.divide(gap, sd, out=np.zeros_like(gap), where=sd > 0)
    value = other + gap * ndtr(z) + sd * np.exp(-0.5 * z * z) / math.sqrt(2 * math.pi)
    best: FloatArray = np.where(sd > 0, value, other + np.maximum(gap, 0.0))
    return best


def once_each(values: FloatArray) -> FloatArray:
    """Return values of pairs, shape (..., n, n), with minus infinity in place of every pair's second mention."""
    n = values.shape[-1]
    first: FloatArray = np.where(np.tri(n, k=-1, dtype=np.bool_), -np.inf, values)
    return first


@dataclass(frozen=True)
class EUBO:
    """Duel the two candidates whose better one has the largest expectation; for judgements.

    Of more than 200 candidates only the leader and those of largest optimistic value, `mean + width(leader, .)`, count.

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
        keep = most_promising(belief, rng)
        value = expected_best(belief.mean[keep], pairwise_psi(covariance_among(belief, keep)))
        i, j = divmod(fair_argmax(once_each(value).ravel(), rng), len(keep))
        return Proposal.pair(belief.points[keep[i]], belief.points[keep[j]])
