"""The audit: duels that try to disprove the bound of the leader.

The first half use points spread evenly over the space, independent of the belief. The second half use the most
promising points under a bolder model of the same data, with shorter lengthscales and twice the variance. The leader is
chosen again before each duel. All readings enter the ordinary belief (METHOD section 11).
"""

import numpy as np
from numpy.random import Generator

from equipoise._typing import FloatArray
from equipoise.answer.second_opinions import rescaled
from equipoise.belief import Feasibility, Posterior, StudyBelief
from equipoise.data import Proposal
from equipoise.policies import candidates, measured, optimism
from equipoise.spaces import Domain, Restricted

BOLD_LENGTHSCALES = (0.35, 0.5, 0.7)
"""Factors on the lengthscales in the search for rivals, used in turn."""

BOLD_VARIANCE = 2.0
"""The factor on the variance of f in that search."""


def audit_pair(
    space: Domain,
    belief: StudyBelief,
    feasibility: Feasibility,
    spread: FloatArray,
    k: int,
    duels: int,
    rng: Generator,
) -> Proposal:
    """Return the pair of duel k: the leader, and a rival to be found or one of the points `spread`, shape (n, d).

    If no other setting is allowed, the leader is its own rival: such a duel costs two readings and proves nothing.
    """
    where = space if feasibility.certain else Restricted(space, feasibility.allows)
    leader = _leader(where, belief.posterior, rng)
    if 2 * k < duels and len(spread):
        return Proposal.pair(leader, spread[0])
    bold = rescaled(belief, BOLD_LENGTHSCALES[k % len(BOLD_LENGTHSCALES)], BOLD_VARIANCE)
    found = candidates(where, bold, (optimism,), rng)
    found = found[(found != leader).any(axis=1)]
    if not len(found):
        return Proposal.pair(leader, leader)
    rivals = bold.at(np.concatenate((leader[None], found)))
    return Proposal.pair(leader, rivals.points[1 + int(rivals.optimism(0)[1:].argmax())])


def _leader(space: Domain, posterior: Posterior, rng: Generator) -> FloatArray:
    """Return the best of the measured points; if none of them may be measured again, the best of all allowed points."""
    known = measured(space, posterior)
    known = known if len(known) else candidates(space, posterior, (optimism,), rng)
    best: FloatArray = known[int(posterior.mean(known).argmax())]
    return best
