"""The splits of a cross-validator, numbered continuously: a shuffling one is called again when all were used."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from numbers import Integral
from typing import Any

Split = tuple[Any, Any]
"""Indices of the training samples, and of the test samples."""


@dataclass
class Splits:
    """The splits for fits.

    Attributes:
        cv: The cross-validator that makes the splits of one round.
        per_round: Number of splits per round.
        rounds: The rounds made so far.
    """

    cv: Any
    per_round: int
    rounds: list[list[Split]] = field(default_factory=list)

    def at(self, k: int) -> "SingleSplit":
        """Return split k, counted from 0 over all rounds, as a separate cross-validator."""
        return SingleSplit(self, k)

    def made(self, k: int, X: Any, y: Any, params: dict[str, Any]) -> Split:
        """Return split k; further rounds are made on demand."""
        while len(self.rounds) <= k // self.per_round:
            self.rounds.append(list(self.cv.split(X, y, **params)))
        return self.rounds[k // self.per_round][k % self.per_round]

    @property
    def fixed(self) -> bool:
        """True if every round has the same splits, without shuffling or with a fixed seed."""
        shuffled = getattr(self.cv, "shuffle", True)
        return not shuffled or isinstance(getattr(self.cv, "random_state", 0), Integral)


@dataclass(frozen=True)
class SingleSplit:
    """One split, as a cross-validator."""

    splits: Splits
    k: int

    def split(self, X: Any, y: Any = None, **params: Any) -> Iterator[Split]:
        """Yield the split."""
        yield self.splits.made(self.k, X, y, params)
