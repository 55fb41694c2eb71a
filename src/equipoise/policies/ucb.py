"""Upper confidence bound: the ordinary optimizer, as a baseline."""

from dataclasses import dataclass

from numpy.random import Generator

from equipoise.belief import Array, Belief
from equipoise.data import Proposal
from equipoise.policies.policy import Candidates, Chance, chosen
from equipoise.policies.search import optimism
from equipoise.reductions import Direct


@dataclass(frozen=True)
class UCB:
    """Measure the point with the largest upper confidence bound, and trust the reading.

    LinUCB with `Linear()` and `PaperConfidence`, GP-UCB with any other kernel. It is best without an offset and fails
    with one. A larger coefficient makes it the corruption-robust GP-UCB of Bogunovic et al. (2020).

    Example:
        >>> import numpy as np, equipoise as eq
        >>> posterior = eq.belief.FinitePosterior([[0.0], [1.0]], eq.Linear())
        >>> eq.UCB()(posterior.at(posterior.points), np.random.default_rng(0)).points
        array([[1.]])
    """

    proposal_size = 1
    reduction = Direct()
    scores = (optimism,)

    def __call__(self, belief: Belief, rng: Generator) -> Proposal:
        """Propose one point."""
        return chosen(self, belief, rng)

    def choose(self, belief: Candidates, chance: Chance) -> tuple[Array, ...]:
        """Return the index of the largest upper confidence bound."""
        return (chance.argmax(belief.mean + belief.width(belief.variance)),)
