"""Questions and answers: proposals, pairs to judge, trials, and judges' preferences."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from equipoise._typing import FloatArray

EVEN = np.array([0.5, 0.5])
EVEN.flags.writeable = False
CERTAIN = np.ones(1)
CERTAIN.flags.writeable = False


@dataclass(frozen=True, slots=True, eq=False)
class Proposal:
    """Points to measure, with their probabilities.

    Attributes:
        points: The points, shape (k, d).
        weights: Probabilities that sum to one, shape (k,).

    Example:
        >>> import equipoise as eq
        >>> eq.Proposal.pair([0.0], [1.0]).weights
        array([0.5, 0.5])
    """

    points: FloatArray
    weights: FloatArray

    @classmethod
    def pair(cls, first: ArrayLike, second: ArrayLike) -> Proposal:
        """Two points to be compared; equal ones are the greedy pair, from which nothing is learned."""
        return cls(np.array([first, second], dtype=np.float64), EVEN)

    @classmethod
    def single(cls, point: ArrayLike) -> Proposal:
        """One point, measured with certainty."""
        return cls(np.array([point], dtype=np.float64), CERTAIN)


@dataclass(frozen=True, slots=True, eq=False)
class Encoded:
    """A setting as the space encodes it, to the last bit: to decode and to encode it again may round.

    Attributes:
        point: Shape (d,).
    """

    point: FloatArray


Side = FloatArray | Proposal
"""One side of a comparison: a point, shape (d,), or a mixture of points under their weights."""


SeedName = int | str
"""A seed, a split, an instance or a scenario under which two settings are compared."""


@dataclass(frozen=True, slots=True, eq=False)
class PairToJudge:
    """Two settings to judge against each other.

    Attributes:
        points: The settings, encoded, in the order in which they are shown, shape (2, d).
        steps: The number of steps of the scale.
        judge: The judge who is asked.
        again: The trial of the earlier pair that it repeats in the other order.
        added: Whether it was judged elsewhere, so that no coin decided the order.
    """

    points: FloatArray
    steps: int
    judge: str = ""
    again: int | None = None
    added: bool = False


@dataclass(frozen=True, slots=True)
class Preference:
    """A judge's answer to a pair.

    Attributes:
        answer: A word of the scale; or a number, the advantage of the first setting in the judge's unit.
        judge: The name of the judge.
    """

    answer: str | float
    judge: str = ""


@dataclass(frozen=True, slots=True)
class Trial:
    """One measurement to make, between `ask` and `tell`. Trials with equal ids are equal.

    Attributes:
        id: The number of the trial, for `tell`.
        x: The setting to measure: an array for `Finite` and `Box`.
        seed: The seed to measure under, if the study has seeds: both halves of a pair have the same.

    Example:
        >>> import equipoise as eq
        >>> trial = eq.Optimizer(eq.Box([(-2, 2), (-1, 1)]), rng=0).ask()
        >>> trial.id, trial.x.shape
        (0, (2,))
    """

    id: int
    x: Any = field(compare=False)
    seed: SeedName | None = field(default=None, compare=False)

    def __repr__(self) -> str:
        seed = "" if self.seed is None else f", seed={self.seed!r}"
        return f"Trial(id={self.id}, x={self.x!r}{seed})"
