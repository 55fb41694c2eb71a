"""The ledger: which trials belong to which duel, what was told, what waits.

Two-point duels wait for their second half here and nowhere else. The ledger checks before it changes anything, so a
refused call leaves everything as it was. Both halves of a duel go to one worker: an offset of its own then cancels.
"""

from collections import deque
from dataclasses import dataclass, field

from equipoise._typing import FloatArray
from equipoise.duel import Comparison, Duel, Trial


class DuelGivenUp(UserWarning):
    """A duel came to nothing, since a reading failed or came too late; everything learned before stays."""


@dataclass(frozen=True, slots=True)
class Reading:
    """What was told of a trial.

    Attributes:
        value: The number read.
        point: Where it was really measured, encoded, if that is not where it should have been.
        time: When, in the user's clock.
        error: The reading's own standard error.
    """

    value: float
    point: FloatArray | None = None
    time: float | None = None
    error: float = 0.0


@dataclass(slots=True)
class OpenDuel:
    """A duel with readings still to come.

    Attributes:
        number: Its place in the sequence of duels, from 0.
        duel: What is measured.
        ids: The trial of each point, in the order of measurement.
        worker: Who measures it.
        readings: What was told so far, by trial.
        void: Given up: its readings no longer make a comparison.
    """

    number: int
    duel: Duel
    ids: tuple[int, ...]
    worker: str | None = None
    readings: dict[int, Reading] = field(default_factory=dict)
    void: bool = False

    def point(self, i: int) -> FloatArray:
        """Return the encoded point of trial i."""
        point: FloatArray = self.duel.points[self.ids.index(i)]
        return point

    def completed_by(self, i: int) -> bool:
        """Return whether a reading of trial i is all that is missing."""
        return not self.void and all(j == i or j in self.readings for j in self.ids)

    def span(self) -> float:
        """Return the time between its first and last reading; 0 where times were not told."""
        times = [reading.time for reading in self.readings.values() if reading.time is not None]
        return max(times) - min(times) if len(times) == len(self.ids) else 0.0

    def comparison(self, sign: float) -> Comparison:
        """Return what the complete duel says; `sign` is -1 where values are minimized."""
        told = [self.readings[i] for i in self.ids]
        executed = [reading.point for reading in told]
        errors = [reading.error for reading in told]
        return self.duel.comparison([sign * reading.value for reading in told], executed, errors)


class Ledger:
    """Keeps every trial from its creation to its end."""

    def __init__(self) -> None:
        self.trials = 0
        self.told: dict[int, Reading] = {}
        self.failed: dict[int, str] = {}
        self.entries: list[OpenDuel] = []  # every duel there ever was, by number
        self._waiting: dict[str | None, deque[Trial]] = {}
        self._pending: dict[int, OpenDuel] = {}  # by trial, until it is told or fails
        self._handed: dict[int, Trial] = {}  # out with a worker

    @property
    def duels(self) -> int:
        """How many duels there ever were."""
        return len(self.entries)

    @property
    def open_duels(self) -> list[OpenDuel]:
        """The duels still open, oldest first."""
        by_number = {entry.number: entry for entry in self._pending.values() if not entry.void}
        return [by_number[number] for number in sorted(by_number)]

    @property
    def open_trials(self) -> tuple[int, ...]:
        """The trials handed out and neither told nor failed."""
        return tuple(sorted(self._handed))

    def enter(self, duel: Duel, points: list[object], worker: str | None = None) -> OpenDuel:
        """Take in a new duel whose points, as the user knows them, are to be measured in this order."""
        ids = tuple(range(self.trials, self.trials + len(points)))
        entry = OpenDuel(self.duels, duel, ids, worker)
        self.entries.append(entry)
        self.trials += len(points)
        queue = self._waiting.setdefault(worker, deque())
        for i, x in zip(ids, points, strict=True):
            self._pending[i] = entry
            queue.append(Trial(i, x))
        return entry

    def next_for(self, worker: str | None = None) -> Trial | None:
        """Return the next trial that waits for a worker, if any; it goes on waiting."""
        queue = self._waiting.get(worker)
        return queue[0] if queue else None

    def hand_out(self, worker: str | None = None) -> Trial:
        """Give a worker the next trial that waits for it."""
        trial = self._waiting[worker].popleft()
        self._handed[trial.id] = trial
        return trial

    def expect(self, i: int, reading: Reading) -> OpenDuel | None:
        """Return the duel a reading belongs to, or refuse it; `None` where it was told before and is no news."""
        if i in self.told:
            if self.told[i].value == reading.value:
                return None
            rule = f"`value` of trial {i} must stay {self.told[i].value!r}, as told before"
            raise ValueError(f"{rule}, got {reading.value!r}")
        return self.must_be_open(i)

    def record(self, i: int, reading: Reading) -> None:
        """Note a reading that `expect` has let pass."""
        entry = self._pending.pop(i)
        del self._handed[i]
        self.told[i] = entry.readings[i] = reading

    def expect_failure(self, i: int) -> OpenDuel | None:
        """Return the duel a trial that failed belongs to, or refuse it; `None` where that is no news."""
        if i in self.failed:
            return None
        if i in self.told:
            raise ValueError(f"`trial` must be open to fail, got {i}, which was told {self.told[i].value!r}")
        return self.must_be_open(i)

    def fail(self, i: int, reason: str) -> None:
        """Give up the duel of a trial that could not be measured, and that `expect_failure` has let pass."""
        entry = self._pending.pop(i)
        del self._handed[i]
        self.failed[i] = reason
        self.give_up(entry)

    def give_up(self, entry: OpenDuel) -> None:
        """Take a duel for void and forget its half that still waits."""
        entry.void = True
        queue = self._waiting.get(entry.worker, deque())
        for trial in [trial for trial in queue if trial.id in entry.ids]:
            queue.remove(trial)
            del self._pending[trial.id]

    def reissue(self, i: int) -> None:
        """Let a trial that was handed out wait again, before all others of its worker; of a void duel, forget it."""
        entry, trial = self.must_be_open(i), self._handed.pop(i)
        if entry.void:
            del self._pending[i]
        else:
            self._waiting.setdefault(entry.worker, deque()).appendleft(trial)

    def must_be_open(self, i: int) -> OpenDuel:
        """Return the duel of a trial that is out with a worker; refuse any other."""
        if i in self.failed:
            raise ValueError(f"`trial` must be open, got {i}, which failed ({self.failed[i]})")
        if i not in self._handed:
            raise ValueError(f"`trial` must be one that was asked for and is still open, got {i}")
        return self._pending[i]
