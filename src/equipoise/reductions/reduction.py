"""Reductions: rules that measure a proposal and turn its readings into a comparison.

    reduction    readings                        outcome          squared noise of the outcome
    TwoPoint     both, order by a fair coin      y(x1) - y(x2)    D^2 + 2 sigma^2               KK21 Eq. (3)
    OnePoint     one, by a fair coin             +-2 (y - c)      4 ((b + fbar - c)^2 + sigma^2)  KK21 Eq. (4)
    Centered     x drawn by the weights          y at phi(x) - sum_i w_i phi(x_i)                KK21 Eq. (16)
    Direct       x                               y, offset included: not bias-robust

sigma is the noise of a reading, D bounds how much the offset changes inside a pair, c is the baseline.
"""

from typing import Protocol

from numpy.random import Generator

from equipoise.data import Duel, Proposal
from equipoise.offsets import Offset
from equipoise.reductions.baselines import Baseline


class Reduction(Protocol):
    """The contract of a reduction, which turns a proposal into readings to take, without the posterior."""

    @property
    def proposal_size(self) -> int | None:
        """The number of points that a proposal must have; `None` for any number."""
        ...

    @property
    def offset(self) -> Offset:
        """The law of the offset that a learned model assumes, if the user names none."""
        ...

    @property
    def baseline(self) -> Baseline | None:
        """The initial forecast of a reading; `None` if it needs none."""
        ...

    def __call__(self, proposal: Proposal, rng: Generator, baseline: float = 0.0) -> Duel:
        """Toss the coin and return the duel to measure."""
        ...


def draw(proposal: Proposal, rng: Generator) -> int:
    """Draw an index by the proposal's weights; a single certain point needs no coin."""
    if len(proposal.weights) == 1:
        return 0
    threshold = rng.random() * float(proposal.weights.sum())
    return min(int(proposal.weights.cumsum().searchsorted(threshold, side="right")), len(proposal.weights) - 1)
