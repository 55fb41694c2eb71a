"""What every policy is."""

from typing import Protocol

from numpy.random import Generator

from equipoise.belief import Belief
from equipoise.data import Proposal
from equipoise.policies.search import Score
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

    def __call__(self, belief: Belief, rng: Generator) -> Proposal:
        """Return a proposal made of candidates, `belief.points`."""
        ...
