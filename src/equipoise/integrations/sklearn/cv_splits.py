"""The splits of a cross-validator, numbered on and on: one that shuffles is asked again when all were used."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from numbers import Integral
from typing import Any

Split = tuple[Any, Any]
"""Indices of the samples to train on, and of those to test on."""


@dataclass
class Splits:
    """The splits that fits may be made on.

    Attributes:
        cv: What makes the splits of one round.
        per_round: How many there are.
        rounds: Those that were made.
    """

    cv: Any
    per_round: int
    rounds: list[list[Split]] = field(default_factory=list)

    def at(self, k: int) -> "SingleSplit":
        """Return split k, counted from 0 over all rounds, as its own cross-validator."""
        return SingleSplit(self, k)

    def made(self, k: int, X: Any, y: Any, params: dict[str, Any]) -> Split:
        """Return split k; further rounds are made as they are needed."""
        while len(self.rounds) <= k // self.per_round:
            self.rounds.append(list(self.cv.split(X, y, **params)))
        return self.rounds[k // self.per_round][k % self.per_round]

    @property
    def fixed(self) -> bool:
        """Whether every round has the same splits: nothing is shuffled, or always with the same seed."""
        shuffled = getattr(self.cv, "shuffle", True)
        return not shuffled or isinstance(getattr(self.cv, "random_state", 0), Integral)


@dataclass(frozen=True)
class SingleSplit:
    """One split, as a cross-validator."""

    splits: Splits
    k: int

    def split(self, X: Any, y: Any = None, **params: Any) -> Iterator[Split]:
        """Yield it."""
        yield self.splits.made(self.k, X, y, params)
