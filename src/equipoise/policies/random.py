"""Uniformly random search: what any policy has to beat."""

from dataclasses import dataclass

from numpy.random import Generator

from equipoise.belief.posterior import Belief
from equipoise.data import Proposal
from equipoise.reductions.direct import Direct


@dataclass(frozen=True)
class Random:
    """Measure a candidate drawn uniformly, whatever was learned; the reading is believed.

    Example:
        >>> import numpy as np, equipoise as eq
        >>> posterior = eq.belief.FinitePosterior([[0.0], [0.5], [1.0]], eq.RBF(0.5))
        >>> rng = np.random.default_rng(0)
        >>> sorted({float(Random()(posterior.at(posterior.points), rng).points[0, 0]) for _ in range(20)})
        [0.0, 0.5, 1.0]
    """

    proposal_size = 1
    reduction = Direct()
    scores = None

    def __call__(self, belief: Belief, rng: Generator) -> Proposal:
        """Propose one point."""
        return Proposal.single(belief.points[rng.integers(len(belief.points))])
