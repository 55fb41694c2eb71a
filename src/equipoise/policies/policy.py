"""What every policy is, and the fair choice among equals they share."""

from typing import Protocol

import numpy as np
from numpy.random import Generator

from equipoise._typing import FloatArray
from equipoise.acquisition import Score
from equipoise.duel import Proposal
from equipoise.posterior import Posterior
from equipoise.reductions import Reduction


class Policy(Protocol):
    """Chooses what to propose; never sees a reading, an offset or the horizon."""

    @property
    def proposal_size(self) -> int | None:
        """How many points a proposal has; `None` where it varies."""
        ...

    @property
    def reduction(self) -> Reduction:
        """The reduction it is meant for, used where the user names none."""
        ...

    @property
    def scores(self) -> tuple[Score, ...] | None:
        """What a search over a continuous space climbs for it; `None` where it wants no search at all."""
        ...

    def __call__(self, posterior: Posterior, candidates: FloatArray, rng: Generator) -> Proposal:
        """Return a proposal made of `candidates`, shape (m, d)."""
        ...


def fair_argmax(scores: FloatArray, rng: Generator) -> int:
    """Return the index of the largest score; among exact ties, each with the same probability."""
    best = int(scores.argmax())
    ties = scores == scores[best]
    if np.count_nonzero(ties) == 1:
        return best
    return int(rng.choice(np.flatnonzero(ties)))
