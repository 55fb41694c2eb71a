"""The ledger: which trials belong to which duel, what was told, what waits.

Two-point duels wait for their second half here and nowhere else. The ledger checks before it changes anything, so a
refused call leaves everything as it was.
"""

import warnings
from collections import deque
from dataclasses import dataclass, field

from equipoise.duel import Duel, Trial


class DuelGivenUp(UserWarning):
    """A reading failed, so its duel teaches nothing; everything learned before stays."""


@dataclass(slots=True)
class OpenDuel:
    """A duel with readings still to come.

    Attributes:
        number: Its place in the sequence of duels, from 0.
        duel: What is measured.
        ids: The trial of each point, in the order of measurement.
        readings: What was told so far, by trial.
    """

    number: int
    duel: Duel
    ids: tuple[int, ...]
    readings: dict[int, float] = field(default_factory=dict)

    def in_order(self) -> list[float]:
        """Return the readings in the order of the duel's points."""
        return [self.readings[i] for i in self.ids]


class Ledger:
    """Keeps every trial from its creation to its end."""

    def __init__(self) -> None:
        self.duels = 0
        self.trials = 0
        self.waiting: deque[Trial] = deque()
        self.open: dict[int, OpenDuel] = {}  # by trial, as long as its duel is open
        self.told: dict[int, float] = {}
        self.failed: dict[int, str] = {}
        self._void: set[int] = set()  # handed out, then lost with the other half of their duel

    @property
    def open_duels(self) -> list[Duel]:
        """The duels still open, oldest first."""
        by_number = {entry.number: entry.duel for entry in self.open.values()}
        return [by_number[number] for number in sorted(by_number)]

    @property
    def open_trials(self) -> tuple[int, ...]:
        """The trials handed out and neither told nor failed."""
        waiting = {trial.id for trial in self.waiting}
        ids = [*self.open, *self._void]
        return tuple(sorted(i for i in ids if i not in waiting and not self._ended(i)))

    def enter(self, duel: Duel, points: list[object]) -> None:
        """Take in a new duel whose points, as the user knows them, are to be measured in this order."""
        ids = tuple(range(self.trials, self.trials + len(points)))
        entry = OpenDuel(self.duels, duel, ids)
        self.duels += 1
        self.trials += len(points)
        for i, x in zip(ids, points, strict=True):
            self.open[i] = entry
            self.waiting.append(Trial(i, x))

    def tell(self, i: int, value: float) -> OpenDuel | None:
        """Record a reading and return its duel if that completes it; the same value told twice is no news."""
        if i in self.told:
            if self.told[i] == value:
                return None
            raise ValueError(f"trial {i} was told {self.told[i]!r} already, got {value!r}")
        self._must_be_open(i)
        self.told[i] = value
        if i in self._void:
            self._void.remove(i)
            return None
        entry = self.open[i]
        entry.readings[i] = value
        if len(entry.readings) < len(entry.ids):
            return None
        self._close(entry)
        return entry

    def fail(self, i: int, reason: str) -> None:
        """Give up the duel of a trial that could not be measured."""
        if i in self.failed:
            return
        if i in self.told:
            raise ValueError(f"trial {i} was told {self.told[i]!r} already, so it cannot fail")
        self._must_be_open(i)
        self.failed[i] = reason
        if i in self._void:
            self._void.remove(i)
            return
        entry = self.open[i]
        waiting = {trial.id for trial in self.waiting}
        self._close(entry)
        self._void.update(j for j in entry.ids if j not in waiting and not self._ended(j))
        self.waiting = deque(trial for trial in self.waiting if trial.id not in entry.ids)
        warnings.warn(f"duel {entry.number} given up: trial {i} failed ({reason})", DuelGivenUp, stacklevel=4)

    def _ended(self, i: int) -> bool:
        return i in self.told or i in self.failed

    def _must_be_open(self, i: int) -> None:
        if i in self.failed:
            raise ValueError(f"trial {i} failed already ({self.failed[i]})")
        known = i in self._void or i in self.open
        if not known or any(trial.id == i for trial in self.waiting):
            raise ValueError(f"`trial` must be one that was asked for and is still open, got {i}")

    def _close(self, entry: OpenDuel) -> None:
        for i in entry.ids:
            del self.open[i]
