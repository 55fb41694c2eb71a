"""The records that travel from a policy to the posterior: Proposal, Duel, Comparison; and the user's Trial.

A `Comparison` is the one kind of datum every method here learns from:

    outcome = f(first) - f(second) + something independent of the choice.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from equipoise import _validation as check
from equipoise._typing import FloatArray

EVEN = np.array([0.5, 0.5])
EVEN.flags.writeable = False
CERTAIN = np.ones(1)
CERTAIN.flags.writeable = False


@dataclass(frozen=True, slots=True, eq=False)
class Proposal:
    """Points worth measuring and the probability each deserves.

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
    def pair(cls, first: ArrayLike, second: ArrayLike) -> "Proposal":
        """Two points to be compared; equal ones are the greedy pair, from which nothing is learned."""
        return cls(np.array([first, second], dtype=np.float64), EVEN)

    @classmethod
    def single(cls, point: ArrayLike) -> "Proposal":
        """One point, measured with certainty."""
        return cls(np.array([point], dtype=np.float64), CERTAIN)


@dataclass(frozen=True, slots=True, eq=False)
class Comparison:
    """What a completed duel says about f: `outcome = f(first) - f(second) + noise`.

    Attributes:
        first: A point, shape (d,).
        second: A point, shape (d,); a `Proposal`, read as the mixture of its points under its weights; or
            `None` where the outcome is an absolute reading of `first`.
        outcome: The measured difference.
        time: When it was measured, counted in readings; matters only where the offset is tracked.
        variance: What its own error adds to the variance of the outcome's noise.
        duel: The duel it came from, where there was one.

    Example:
        >>> import equipoise as eq
        >>> eq.Comparison([0.2], [0.7], 0.31).outcome
        0.31
    """

    first: FloatArray
    second: "FloatArray | Proposal | None"
    outcome: float
    time: float = 0.0
    variance: float = 0.0
    duel: "Duel | None" = None

    def __post_init__(self) -> None:
        if self.duel is not None:  # built by the library from checked parts: nothing left to check
            return
        first = check.array("first", self.first, (None,))
        object.__setattr__(self, "first", first)
        if not (self.second is None or isinstance(self.second, Proposal)):
            object.__setattr__(self, "second", check.array("second", self.second, first.shape))
        object.__setattr__(self, "outcome", check.number("outcome", self.outcome))
        object.__setattr__(self, "time", check.number("time", self.time))
        object.__setattr__(self, "variance", check.nonnegative("variance", self.variance))


@dataclass(frozen=True, slots=True, eq=False)
class Duel:
    """What to measure for a proposal, in which order, and how the readings combine.

    `outcome = signs @ (readings - baseline)`. A reduction is bias-robust when the expected sum of the signs,
    over its coin, is zero: then no offset fixed before the coin can move the outcome's expectation.

    Attributes:
        proposal: What the policy asked for.
        points: What to measure, in this order, shape (r, d).
        signs: The sign and size with which each reading enters the outcome, shape (r,).
        first: The point whose merit the outcome estimates.
        second: What it is compared with (see `Comparison`).
        baseline: A number fixed before the coin, subtracted from each reading.
    """

    proposal: Proposal
    points: FloatArray
    signs: tuple[float, ...]
    first: FloatArray
    second: FloatArray | Proposal | None
    baseline: float = 0.0

    def comparison(
        self,
        readings: Sequence[float],
        executed: Sequence[FloatArray | None] | None = None,
        errors: Sequence[float] | None = None,
    ) -> Comparison:
        """Combine one reading per measured point into a comparison.

        Args:
            readings: What was read, in the order of `points`.
            executed: Where each was really measured, `None` where that is as it should be.
            errors: The standard error of each reading, where it has one of its own.
        """
        signs = self.signs
        if len(readings) != len(signs):
            raise ValueError(f"`readings` must have {len(signs)} entries, got {len(readings)}")
        if len(signs) == 2:  # both readings share the baseline: leave it out, so offsets cancel exactly
            outcome = signs[0] * readings[0] + signs[1] * readings[1]
        else:
            outcome = signs[0] * (readings[0] - self.baseline)
        if not math.isfinite(outcome):
            raise ValueError(f"`readings` must have a finite difference, got {list(readings)}")
        variance = 0.0 if errors is None else sum((s * e) ** 2 for s, e in zip(signs, errors, strict=True))
        first, second = self.first, self.second
        for sign, point in zip(signs, executed or (), strict=False):
            if point is not None:  # a positive sign is that of the first, a negative one that of the second
                first, second = (point, second) if sign > 0 else (first, point)
        return Comparison(first, second, outcome, variance=variance, duel=self)


@dataclass(frozen=True, slots=True)
class Trial:
    """One measurement to make: what the user holds between `ask` and `tell`. Equal when the ids are.

    Attributes:
        id: The number by which the reading is told.
        x: Where to measure: an array for `Finite` and `Box`.

    Example:
        >>> import equipoise as eq
        >>> trial = eq.Optimizer(eq.Box([(-2, 2), (-1, 1)]), rng=0).ask()
        >>> trial.id, trial.x.shape
        (0, (2,))
    """

    id: int
    x: Any = field(compare=False)
