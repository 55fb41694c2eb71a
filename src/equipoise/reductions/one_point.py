"""The one-point reduction: one point of a pair, chosen by a coin."""

import math
from dataclasses import dataclass, field

from numpy.random import Generator

from equipoise import _validation as check
from equipoise.data import Duel, Proposal
from equipoise.offsets import Arbitrary
from equipoise.reductions.baselines import Baseline, Zero


@dataclass(frozen=True)
class OnePoint:
    """Measure one point of the pair, chosen by a fair coin; the outcome is `+-2 (y - c)`.

    It is unbiased for any offset fixed before the coin, even by an adversary who has seen every earlier reading.
    The price is noise that grows with `|b_t + fbar - c|`, hence the baseline.

    Args:
        baseline: A forecast of the reading; the paper's is zero.

    Example:
        >>> import numpy as np, equipoise as eq
        >>> duel = eq.OnePoint()(eq.Proposal.pair([0.0], [1.0]), np.random.default_rng(1))
        >>> len(duel.points), abs(duel.signs[0])
        (1, 2.0)
    """

    baseline: Baseline = field(default_factory=Zero)
    proposal_size = 2
    offset = Arbitrary()

    def __call__(self, proposal: Proposal, rng: Generator, baseline: float = 0.0) -> Duel:
        """Pick one point of the pair by a fair coin."""
        first, second = check.pair(proposal.points, "OnePoint")
        pick, sign = (0, 2.0) if rng.random() < 0.5 else (1, -2.0)
        return Duel(proposal, proposal.points[pick : pick + 1], (sign,), first, second, baseline)

    @staticmethod
    def outcome_noise(noise: float, offset_bound: float) -> float:
        """Return rho, the sub-Gaussian scale of the outcome.

        Args:
            noise: Sub-Gaussian scale sigma of one reading.
            offset_bound: A bound on `|b_t + (f(x1) + f(x2))/2 - c_t|`: the remainder of offset and function after
                the baseline. The paper's bound on `|b_t|` alone is too small (METHOD section 2, row 3).

        Example:
            >>> OnePoint.outcome_noise(1.0, offset_bound=0.0)
            2.0
        """
        sigma, C = check.nonnegative("noise", noise), check.nonnegative("offset_bound", offset_bound)
        return 2 * math.sqrt(C**2 + sigma**2)
