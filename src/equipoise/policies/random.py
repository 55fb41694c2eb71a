"""Uniformly random search, the baseline of all policies."""

from dataclasses import dataclass

from numpy.random import Generator

from equipoise.belief import Array, Belief
from equipoise.data import Proposal
from equipoise.policies.policy import Candidates, Chance, chosen
from equipoise.reductions import Direct, Reduction, TwoPoint


@dataclass(frozen=True)
class Random:
    """Measure a random candidate and trust the reading, or compare two random candidates.

    Args:
        pairs: Whether to propose two different candidates, to be compared or judged: a ranking of all settings.

    Example:
        >>> import numpy as np, equipoise as eq
        >>> posterior = eq.belief.FinitePosterior([[0.0], [0.5], [1.0]], eq.RBF(0.5))
        >>> rng = np.random.default_rng(0)
        >>> sorted({float(Random()(posterior.at(posterior.points), rng).points[0, 0]) for _ in range(20)})
        [0.0, 0.5, 1.0]
    """

    pairs: bool = False
    scores = None

    @property
    def proposal_size(self) -> int:
        """One point, or two."""
        return 2 if self.pairs else 1

    @property
    def reduction(self) -> Reduction:
        """The default reduction: it trusts a single reading and compares two."""
        return TwoPoint() if self.pairs else Direct()

    def __call__(self, belief: Belief, rng: Generator) -> Proposal:
        """Propose one point, or two."""
        if self.pairs:
            return Proposal.pair(*belief.points[rng.choice(len(belief.points), 2, replace=len(belief.points) < 2)])
        return chosen(self, belief, rng)

    def choose(self, belief: Candidates, chance: Chance) -> tuple[Array, ...]:
        """Return the index of one candidate; pairs are not chosen for many learners at once."""
        return (chance.integers(belief.mean[..., 0], belief.mean.shape[-1]),)
