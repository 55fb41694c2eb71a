"""The direct reduction: one point, with its reading trusted, as in ordinary optimization."""

from dataclasses import dataclass

from numpy.random import Generator

from equipoise.data import Duel, Proposal
from equipoise.offsets import Constant
from equipoise.reductions.reduction import draw


@dataclass(frozen=True)
class Direct:
    """Measure a point drawn by the weights and trust the reading, including its offset: ordinary optimization.

    Example:
        >>> import numpy as np, equipoise as eq
        >>> eq.Direct()(eq.Proposal.single([0.3]), np.random.default_rng(0)).second is None
        True
    """

    proposal_size = None
    offset = Constant()
    baseline = None

    def __call__(self, proposal: Proposal, rng: Generator, baseline: float = 0.0) -> Duel:
        """Draw a point by its weight."""
        i = draw(proposal, rng)
        return Duel(proposal, proposal.points[i : i + 1], (1.0,), proposal.points[i], None)
