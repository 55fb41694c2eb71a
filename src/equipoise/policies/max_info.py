"""The least certain pair among the plausible: MaxInP.

S21 is Saha, Optimal Algorithms for Stochastic Contextual Preference Bandits, NeurIPS 2021.
"""

from dataclasses import dataclass

import numpy as np
from numpy.random import Generator

from equipoise._typing import FloatArray
from equipoise.belief import Belief, fair_argmax
from equipoise.data import Proposal
from equipoise.policies.pairs import plausible_pairs
from equipoise.policies.search import optimism
from equipoise.reductions import TwoPoint


def widest_pair(psi: FloatArray, rng: Generator) -> tuple[int, int]:
    """Return the pair of largest psi, shape (n, n), by a fair draw among equals."""
    i, j = np.triu_indices(len(psi))
    pair = fair_argmax(psi[i, j], rng)
    return int(i[pair]), int(j[pair])


@dataclass(frozen=True)
class MaxInfo:
    """Duel the two candidates of least certain difference, among those that no other beats with confidence.

    MaxInP of Saha (2021), with measured differences as feedback: pure exploration of the plausible points. If there are
    more than 200, only the leader and those of largest optimistic value, `mean + width(leader, .)`, are paired. If no
    difference is uncertain, the leader is measured twice.

    Example:
        >>> import numpy as np, equipoise as eq
        >>> posterior = eq.belief.FinitePosterior([[0.0], [0.3], [1.0]], eq.Linear())
        >>> MaxInfo()(posterior.at(posterior.points), np.random.default_rng(0)).points.ravel()
        array([0., 1.])
    """

    proposal_size = 2
    reduction = TwoPoint()
    scores = (optimism,)

    def __call__(self, belief: Belief, rng: Generator) -> Proposal:
        """Propose the most instructive pair."""
        alive, psi = plausible_pairs(belief, rng)
        first, second = widest_pair(psi, rng)  # METHOD section 7, after S21
        if psi[first, second] == 0:  # nothing to learn
            first = second = fair_argmax(belief.mean[alive], rng)
        return Proposal.pair(belief.points[alive[first]], belief.points[alive[second]])
