"""Upper confidence bound: the ordinary optimizer, as a baseline."""

from dataclasses import dataclass

from numpy.random import Generator

from equipoise._typing import FloatArray
from equipoise.acquisition import optimism
from equipoise.duel import Proposal
from equipoise.policies.policy import fair_argmax
from equipoise.posterior import Posterior
from equipoise.reductions import Direct


@dataclass(frozen=True)
class UCB:
    """Measure where the upper confidence bound is largest, and believe the reading.

    LinUCB with `Linear()` and `PaperConfidence`, GP-UCB with any other kernel. Best when there is no offset, fooled
    when there is one. A larger coefficient makes it the corruption-robust GP-UCB of Bogunovic et al. (2020).

    Example:
        >>> import numpy as np, equipoise as eq
        >>> posterior = eq.CovariancePosterior([[0.0], [1.0]], eq.Linear())
        >>> eq.UCB()(posterior, posterior.points, np.random.default_rng(0)).points
        array([[1.]])
    """

    proposal_size = 1
    reduction = Direct()
    scores = (optimism,)

    def __call__(self, posterior: Posterior, candidates: FloatArray, rng: Generator) -> Proposal:
        """Propose one point."""
        belief = posterior.at(candidates)
        best = fair_argmax(belief.mean + belief.width(belief.variance), rng)
        return Proposal.single(candidates[best])
