"""The base of policies: the points to choose from, and the choice by index, for one learner or for many.

A policy that has `choose` runs in a fleet as it is: `choose(belief, chance)` sees the `Belief` of one learner, or an
object with the same members whose arrays have a leading axis, and returns the index of each point it proposes.
"""

from collections.abc import Sequence
from typing import Any, Protocol

import numpy as np
from numpy.random import Generator

from equipoise._typing import FloatArray
from equipoise.belief import Array, Belief, Posterior, fair_argmax
from equipoise.data import CERTAIN, EVEN, Proposal
from equipoise.policies.search import Score, measured, search
from equipoise.reductions import Reduction
from equipoise.spaces import Domain

Candidates = Any
"""A `Belief`, or the beliefs of many learners: mean, variance, regularizer, psi(j), gaps(j), width(variance)."""


class Policy(Protocol):
    """The contract of a policy, which proposes settings and never sees a reading, an offset or the horizon."""

    @property
    def proposal_size(self) -> int | None:
        """The number of points of a proposal; `None` if it varies."""
        ...

    @property
    def reduction(self) -> Reduction:
        """The default reduction."""
        ...

    @property
    def scores(self) -> tuple[Score, ...] | None:
        """The functions that a search over a continuous space maximizes for it; `None` if it needs no search."""
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


def candidates(
    space: Domain, posterior: Posterior, scores: Sequence[Score] | None, rng: Generator, listed: bool = True
) -> FloatArray:
    """Return the points to choose from, shape (m, d): all points of the space, or those found by climbing the scores.

    The policy maximizes the scores besides the posterior mean; `None` if it needs no search. All `settings` of a space
    that has them are looked at, unless `listed` is false.
    """
    if posterior.points is not None:
        part = space.points is not None and len(space.points) < len(posterior.points)
        return space.points if part and space.points is not None else posterior.points
    if listed and space.settings is not None:
        return space.settings
    everywhere = space.candidates(rng)
    if everywhere is space.points:
        return everywhere
    if scores is not None:
        return search(space, posterior, scores, everywhere, rng)
    known = measured(space, posterior)
    return np.concatenate((known, everywhere)) if len(known) else everywhere


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
