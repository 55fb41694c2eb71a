"""The pair of a leader and a follower in a game over lower confidence bounds.

PKK24 is Pasztor, Kassraie and Krause, Bandits with Preference Feedback: A Stackelberg Game Perspective, NeurIPS 2024.
"""

from dataclasses import dataclass

from numpy.random import Generator

from equipoise._typing import FloatArray
from equipoise.belief import Belief, fair_argmax
from equipoise.data import Proposal
from equipoise.policies.pairs import plausible_pairs
from equipoise.policies.search import optimism
from equipoise.reductions import TwoPoint


def lower_bounds(mean: FloatArray, width: FloatArray) -> FloatArray:
    """Return the lower confidence bound of f(x_i) - f(x_j), shape (..., n, n), given all widths."""
    return mean[..., :, None] - mean[..., None, :] - width


@dataclass(frozen=True)
class MaxMinLCB:
    """Duel the candidate whose worst case is best with the one that makes it worst.

    MaxMinLCB of Pasztor, Kassraie and Krause (2024), with measured differences instead of preferences: the first
    maximizes `min_z mean(x) - mean(z) - width(x, z)`, the second is the minimizing z, both among the candidates that no
    other beats with confidence. If more than 200 are left, only the leader and those of largest optimistic value,
    `mean + width(leader, .)`, count. A lone survivor is measured twice.

    Example:
        >>> import numpy as np, equipoise as eq
        >>> posterior = eq.belief.FinitePosterior([[0.0], [0.4], [1.0]], eq.Linear())
        >>> MaxMinLCB()(posterior.at(posterior.points), np.random.default_rng(0)).points.ravel()
        array([0.4, 1. ])
    """

    proposal_size = 2
    reduction = TwoPoint()
    scores = (optimism,)

    def __call__(self, belief: Belief, rng: Generator) -> Proposal:
        """Propose the two players."""
        alive, psi = plausible_pairs(belief, rng)
        bounds = lower_bounds(belief.mean[alive], belief.width(psi))
        first = fair_argmax(bounds.min(axis=1), rng)  # METHOD section 7, after PKK24
        second = fair_argmax(-bounds[first], rng)
        return Proposal.pair(belief.points[alive[first]], belief.points[alive[second]])
