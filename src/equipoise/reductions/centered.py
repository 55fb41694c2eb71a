"""The centered reduction: one point drawn by its weight, compared with the mixture of all."""

from dataclasses import dataclass

from numpy.random import Generator

from equipoise.data import Duel, Proposal
from equipoise.offsets import Arbitrary
from equipoise.reductions.reduction import draw


@dataclass(frozen=True)
class Centered:
    """Measure one point drawn by the proposal's weights and compare it with their mixture.

    The doubly-robust datum of BOSE and SemiTS. For an even pair it is the one-point duel at half scale, so with
    regularizer lambda it equals `OnePoint` with 4 lambda (METHOD section 2, row 8).

    Example:
        >>> import numpy as np, equipoise as eq
        >>> duel = eq.Centered()(eq.Proposal.pair([0.0], [1.0]), np.random.default_rng(0))
        >>> duel.second is duel.proposal
        True
    """

    proposal_size = None
    offset = Arbitrary()
    baseline = None

    def __call__(self, proposal: Proposal, rng: Generator, baseline: float = 0.0) -> Duel:
        """Draw a point by its weight."""
        i = draw(proposal, rng)
        return Duel(proposal, proposal.points[i : i + 1], (1.0,), proposal.points[i], proposal)
