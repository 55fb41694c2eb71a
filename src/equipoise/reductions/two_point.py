"""The two-point reduction: both points of a pair, in random order."""

import math
from dataclasses import dataclass

from numpy.random import Generator

from equipoise import _validation as check
from equipoise.data import Duel, Proposal
from equipoise.offsets import Tracked


@dataclass(frozen=True)
class TwoPoint:
    """Measure both points of the pair in random order; the outcome is the difference of the readings.

    It is unbiased for any offset fixed before the pair is drawn, bounded or not. An offset that reacts to the first
    reading before the second is taken (carry-over) breaks this: with `b_second = c f(first)` the duel estimates
    `(1 - c/2) (f(x1) - f(x2))` (METHOD section 2, row 6).

    Example:
        >>> import numpy as np, equipoise as eq
        >>> duel = eq.TwoPoint()(eq.Proposal.pair([0.0], [1.0]), np.random.default_rng(0))
        >>> duel.outcome([7.0 if x == [0.0] else 5.0 for x in duel.points.tolist()])
        2.0
    """

    proposal_size = 2
    offset = Tracked()
    baseline = None

    def __call__(self, proposal: Proposal, rng: Generator, baseline: float = 0.0) -> Duel:
        """Order the pair by a fair coin."""
        first, second = check.pair(proposal.points, "TwoPoint")
        if rng.random() < 0.5:
            return Duel(proposal, proposal.points, (1.0, -1.0), first, second)
        return Duel(proposal, proposal.points[::-1], (-1.0, 1.0), first, second)

    @staticmethod
    def outcome_noise(noise: float, offset_change: float = 0.0) -> float:
        """Return rho, the sub-Gaussian scale of the outcome.

        Args:
            noise: Sub-Gaussian scale sigma of one reading.
            offset_change: D, a bound on the change of the offset inside a pair.

        Example:
            >>> round(TwoPoint.outcome_noise(1.0), 4)
            1.4142
        """
        sigma, D = check.nonnegative("noise", noise), check.nonnegative("offset_change", offset_change)
        return math.sqrt(D**2 + 2 * sigma**2)  # KK21 after Eq. (3)
