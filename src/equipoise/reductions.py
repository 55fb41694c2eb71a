"""Reductions: how a proposal is measured, and with which signs its readings become a comparison.

    reduction    readings                        outcome          squared noise of the outcome
    TwoPoint     both, order by a fair coin      y(x1) - y(x2)    D^2 + 2 sigma^2               KK21 Eq. (3)
    OnePoint     one, by a fair coin             +-2 (y - c)      4 ((b + fbar - c)^2 + sigma^2)  KK21 Eq. (4)
    Centered     x drawn by the weights          y at phi(x) - sum_i w_i phi(x_i)                KK21 Eq. (16)
    Direct       x                               y, offset included: not bias-robust

sigma is the noise of a reading, D bounds how much the offset changes inside a pair, c is the baseline.
"""

import math
from dataclasses import dataclass, field
from typing import Protocol

from numpy.random import Generator

from equipoise import _validation as check
from equipoise.baselines import Baseline, Zero
from equipoise.duel import Duel, Proposal
from equipoise.offsets import Arbitrary, Constant, Offset, Tracked


class Reduction(Protocol):
    """Turns a proposal into readings to take; sees neither the posterior nor the readings."""

    @property
    def proposal_size(self) -> int | None:
        """How many points a proposal must have; `None` for any number."""
        ...

    @property
    def offset(self) -> Offset:
        """What a learned model may assume of the offset, where the user says nothing."""
        ...

    @property
    def baseline(self) -> Baseline | None:
        """The forecast of a reading it starts from; `None` where it needs none."""
        ...

    def __call__(self, proposal: Proposal, rng: Generator, baseline: float = 0.0) -> Duel:
        """Throw the coin and say what to measure."""
        ...


def _two_points(proposal: Proposal, reduction: str) -> None:
    if len(proposal.points) != 2:
        raise ValueError(f"`proposal` must have two points for {reduction}, got {len(proposal.points)}")


@dataclass(frozen=True)
class TwoPoint:
    """Measure both points of the pair in random order; the outcome is the difference of the readings.

    Unbiased for any offset fixed before the pair is drawn, bounded or not. An offset that reacts to the first
    reading before the second is taken (carry-over) breaks this: with `b_second = c f(first)` the duel estimates
    `(1 - c/2) (f(x1) - f(x2))` (METHOD section 2, row 6).

    Example:
        >>> import numpy as np, equipoise as eq
        >>> duel = eq.TwoPoint()(eq.Proposal.pair([0.0], [1.0]), np.random.default_rng(0))
        >>> float(duel.comparison([7.0 if x == [0.0] else 5.0 for x in duel.points.tolist()]).outcome)
        2.0
    """

    proposal_size = 2
    offset = Tracked()
    baseline = None

    def __call__(self, proposal: Proposal, rng: Generator, baseline: float = 0.0) -> Duel:
        """Order the pair by a fair coin."""
        _two_points(proposal, "TwoPoint")
        first, second = proposal.points
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


@dataclass(frozen=True)
class OnePoint:
    """Measure one point of the pair, chosen by a fair coin; the outcome is `+-2 (y - c)`.

    Unbiased for any offset fixed before the coin, even by an adversary who has seen every earlier reading.
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
        _two_points(proposal, "OnePoint")
        first, second = proposal.points
        pick, sign = (0, 2.0) if rng.random() < 0.5 else (1, -2.0)
        return Duel(proposal, proposal.points[pick : pick + 1], (sign,), first, second, baseline)

    @staticmethod
    def outcome_noise(noise: float, offset_bound: float) -> float:
        """Return rho, the sub-Gaussian scale of the outcome.

        Args:
            noise: Sub-Gaussian scale sigma of one reading.
            offset_bound: A bound on `|b_t + (f(x1) + f(x2))/2 - c_t|`: what is left of offset and function after
                the baseline. The paper's bound on `|b_t|` alone is too small (METHOD section 2, row 3).

        Example:
            >>> OnePoint.outcome_noise(1.0, offset_bound=0.0)
            2.0
        """
        sigma, C = check.nonnegative("noise", noise), check.nonnegative("offset_bound", offset_bound)
        return 2 * math.sqrt(C**2 + sigma**2)


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
        i = _draw(proposal, rng)
        return Duel(proposal, proposal.points[i : i + 1], (1.0,), proposal.points[i], proposal)


@dataclass(frozen=True)
class Direct:
    """Measure a point drawn by the weights and believe the reading, offset and all: ordinary optimization.

    Example:
        >>> import numpy as np, equipoise as eq
        >>> eq.Direct()(eq.Proposal.single([0.3]), np.random.default_rng(0)).comparison([1.5]).second is None
        True
    """

    proposal_size = None
    offset = Constant()
    baseline = None

    def __call__(self, proposal: Proposal, rng: Generator, baseline: float = 0.0) -> Duel:
        """Draw a point by its weight."""
        i = _draw(proposal, rng)
        return Duel(proposal, proposal.points[i : i + 1], (1.0,), proposal.points[i], None)


def _draw(proposal: Proposal, rng: Generator) -> int:
    """Draw an index by the proposal's weights; a certain one needs no coin."""
    if len(proposal.weights) == 1:
        return 0
    threshold = rng.random() * float(proposal.weights.sum())
    return min(int(proposal.weights.cumsum().searchsorted(threshold, side="right")), len(proposal.weights) - 1)
