"""What every policy is, and how it chooses by index, for one learner or for many.

A policy that has `choose` runs in a fleet as it is: `choose(belief, chance)` sees the `Belief` of one learner, or an
object with the same members whose arrays have a leading axis, and returns the index of each point it proposes.
"""

from typing import Any, Protocol

from numpy.random import Generator

from equipoise.belief import Array, Belief, fair_argmax
from equipoise.data import CERTAIN, EVEN, Proposal
from equipoise.policies.search import Score
from equipoise.reductions import Reduction

Candidates = Any
"""A `Belief`, or the beliefs of many learners: mean, variance, regularizer, psi(j), gaps(j), width(variance)."""


class Policy(Protocol):
    """Chooses what to propose; never sees a reading, an offset or the horizon."""

    @property
    def proposal_size(self) -> int | None:
        """How many points a proposal has; `None` if it varies."""
        ...

    @property
    def reduction(self) -> Reduction:
        """The reduction it is meant for, used if the user names none."""
        ...

    @property
    def scores(self) -> tuple[Score, ...] | None:
        """The functions that a search over a continuous space climbs for it; `None` if it needs no search."""
        ...

    def __call__(self, belief: Belief, rng: Generator) -> Proposal:
        """Return a proposal made of candidates, `belief.points`."""
        ...


class Chance(Protocol):
    """The random numbers that a policy asks for: scalars for one learner, shape (L,) for L learners."""

    def argmax(self, scores: Array) -> Array:
        """Return the index of the largest score along the last axis; ties are broken fairly."""
        ...

    def random(self, like: Array, needed: Array | None = None) -> Array:
        """Return a uniform number each; learners for whom `needed` is false get zero and draw nothing."""
        ...

    def exponential(self, like: Array) -> Array:
        """Return an exponential number of mean one each."""
        ...

    def integers(self, like: Array, high: int) -> Array:
        """Return a whole number below `high` each."""
        ...


class Chooser(Protocol):
    """A policy whose choice broadcasts over learners."""

    def choose(self, belief: Candidates, chance: Chance) -> tuple[Array, ...]:
        """Return the index of each point that is proposed."""
        ...


class _One:
    """The random numbers of one learner."""

    def __init__(self, rng: Generator) -> None:
        self._rng = rng

    def argmax(self, scores: Array) -> int:
        return fair_argmax(scores, self._rng)

    def random(self, like: Array, needed: Array | None = None) -> float:
        return self._rng.random() if needed is None or needed else 0.0

    def exponential(self, like: Array) -> float:
        return self._rng.exponential()

    def integers(self, like: Array, high: int) -> int:
        return int(self._rng.integers(high))


def chosen(policy: Chooser, belief: Belief, rng: Generator) -> Proposal:
    """Return the proposal of a policy for one learner: the points of the indices that it chooses."""
    indices = policy.choose(belief, _One(rng))
    return Proposal(belief.points.take(indices, axis=0), CERTAIN if len(indices) == 1 else EVEN)
