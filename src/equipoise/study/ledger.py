"""The ledger: which trials belong to which duel, what was told, what waits.

Two-point duels wait for their second half here and nowhere else. Both halves of a duel go to one worker: an offset of
its own then cancels. Whoever changes the ledger has asked it before whether the change is possible.
"""

from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any

from equipoise._typing import FloatArray
from equipoise.data import Duel, Reading, Trial


class DuelGivenUp(UserWarning):
    """A duel came to nothing, since a reading failed or came too late; everything learned before stays."""


class GapUnknown(UserWarning):
    """Readings were told without their times, so that the time between them cannot be compared with `max_gap`."""


class DropExceeded(UserWarning):
    """A setting that was asked for as safe turned out to be worse than the start by more than `drop`."""


class Estranged(UserWarning):
    """Readings of an earlier campaign contradict those of now; they stay in the log, nothing is learned from them."""


@dataclass(slots=True)
class Entry:
    """A duel in the ledger.

    Attributes:
        number: Its place in the sequence of duels, from 0.
        duel: What is measured.
        ids: The trial of each point, in the order of measurement.
        worker: Who measures it.
        readings: What was told so far, by trial.
        void: Given up: its readings no longer make a comparison.
        aside: The trials whose reading cannot be: nothing is learned from it.
        plan: The number of the plan it serves, if any.
        added: Whether nobody asked for it.
        moved: Where trials are to be measured that were handed out elsewhere than planned: at another context.
    """

    number: int
    duel: Duel
    ids: tuple[int, ...]
    worker: str | None = None
    readings: dict[int, Reading] = field(default_factory=dict)
    void: bool = False
    aside: frozenset[int] = frozenset()
    plan: int | None = None
    added: bool = False
    moved: dict[int, FloatArray] = field(default_factory=dict)

    def point(self, i: int) -> FloatArray:
        """Return the encoded point of trial i: where it was measured, or is to be."""
        told = self.readings.get(i)
        planned: FloatArray = self.moved.get(i, self.duel.points[self.ids.index(i)])
        return planned if told is None or told.point is None else told.point

    def told(self) -> list[Reading | None]:
        """Return what was told and can be, in the order of measurement."""
        return [None if i in self.aside else self.readings.get(i) for i in self.ids]

    def with_reading(self, i: int, reading: Reading, aside: bool) -> "Entry":
        """Return the entry with one more reading, which may be one that cannot be."""
        strange = self.aside | {i} if aside else self.aside
        return replace(self, readings=self.readings | {i: reading}, aside=strange)

    @property
    def complete(self) -> bool:
        """Whether all its readings were told and can be."""
        return not self.void and None not in self.told()

    @property
    def split(self) -> bool:
        """Whether its readings are of different blocks: then they differ by more than by the settings."""
        return len({reading.told.block for reading in self.readings.values()}) > 1

    @property
    def timed(self) -> bool:
        """Whether the time of every reading there is was told."""
        return all(reading.time is not None for reading in self.readings.values())

    @property
    def span(self) -> float:
        """The time between its first and last reading; 0 where not all times were told."""
        times = [reading.time for reading in self.readings.values() if reading.time is not None]
        return max(times) - min(times) if len(times) == len(self.ids) else 0.0


class Ledger:
    """Keeps every trial from its creation to its end.

    Args:
        decode: Turns an encoded point into the user's.
    """

    def __init__(self, decode: Callable[[FloatArray], Any]) -> None:
        self.trials = 0
        self.told: dict[int, Reading] = {}
        self.failed: dict[int, str] = {}
        self.entries: list[Entry] = []  # every duel there ever was, by number
        self.of_trial: dict[int, Entry] = {}
        self.handed: dict[int, Trial] = {}  # out with a worker
        self.added = 0  # how many of the duels nobody asked for
        self.places: dict[str, int] = {}  # how many readings each campaign has
        self._decode = decode
        self._waiting: dict[str | None, deque[Trial]] = {}
        self._pending: dict[int, Entry] = {}  # by trial, until it is told or fails

    @property
    def open_duels(self) -> list[Entry]:
        """The duels still open, oldest first."""
        by_number = {entry.number: entry for entry in self._pending.values() if not entry.void}
        return [by_number[number] for number in sorted(by_number)]

    @property
    def latest(self) -> Iterator[tuple[float, bytes]]:
        """Value and point of every reading, the last one first."""
        return ((reading.value, self.of_trial[i].point(i).tobytes()) for i, reading in reversed(self.told.items()))

    def last_value(self, campaign: str) -> float | None:
        """Return the last value of a campaign that can be, if any."""
        told = ((i, reading) for i, reading in reversed(self.told.items()) if reading.told.campaign == campaign)
        return next((reading.value for i, reading in told if i not in self.of_trial[i].aside), None)

    def serving(self, plan: int) -> list[Entry]:
        """Return the duels that serve a plan, in their order."""
        return [entry for entry in self.entries if entry.plan == plan]

    def enter(self, duel: Duel, worker: str | None, plan: int | None = None) -> Trial:
        """Take in a new duel, whose points are to be measured in their order, and give a worker the first."""
        ids = tuple(range(self.trials, self.trials + len(duel.points)))
        entry = Entry(len(self.entries), duel, ids, worker, plan=plan)
        self.entries.append(entry)
        self.trials += len(ids)
        queue = self._waiting.setdefault(worker, deque())
        for i, point in zip(ids, duel.points, strict=True):
            self._pending[i] = self.of_trial[i] = entry
            queue.append(Trial(i, self._decode(point)))
        return self.hand_out(worker, ids[0])

    def add(self, entry: Entry) -> None:
        """Take in what nobody asked for, with its reading; where that is taken back, it is void."""
        (i,) = entry.ids
        self.entries.append(entry)
        self.trials, self.added = self.trials + 1, self.added + 1
        self.of_trial[i] = entry
        if not entry.void:
            self._count(i, entry.readings[i])

    def waiting(self, worker: str | None = None) -> tuple[int, ...]:
        """Return the trials that wait for a worker, in the order in which they are to be handed out."""
        return tuple(trial.id for trial in self._waiting.get(worker, ()))

    def waits(self, i: int, worker: str | None) -> bool:
        """Return whether a trial waits for a worker."""
        return i in self.waiting(worker)

    def hand_out(self, worker: str | None, i: int, point: FloatArray | None = None) -> Trial:
        """Give a worker a trial that waits for it, to be measured where it was planned or at another point."""
        queue = self._waiting[worker]
        trial = next(trial for trial in queue if trial.id == i)
        queue.remove(trial)
        if point is not None:
            self.of_trial[i].moved[i] = point
            trial = Trial(i, self._decode(point))
        self.handed[i] = trial
        return trial

    def record(self, i: int, reading: Reading, aside: bool) -> None:
        """Note a reading."""
        entry = self._pending.pop(i)
        del self.handed[i]
        entry.readings[i] = reading
        self._count(i, reading)
        if aside:
            entry.aside |= {i}

    def _count(self, i: int, reading: Reading) -> None:
        self.told[i] = reading
        self.places[reading.told.campaign] = reading.place

    def fail(self, i: int, reason: str) -> None:
        """Give up the duel of a trial that could not be measured."""
        entry = self._pending.pop(i)
        del self.handed[i]
        self.failed[i] = reason
        self.give_up(entry)

    def give_up(self, entry: Entry) -> None:
        """Take a duel for void and forget its half that still waits."""
        entry.void = True
        queue = self._waiting.get(entry.worker, deque())
        for trial in [trial for trial in queue if trial.id in entry.ids]:
            queue.remove(trial)
            del self._pending[trial.id]

    def reissue(self, i: int) -> None:
        """Let a trial that was handed out wait again, before all others of its worker; of a void duel, forget it."""
        entry, trial = self._pending[i], self.handed.pop(i)
        if entry.void:
            del self._pending[i]
        else:
            self._waiting.setdefault(entry.worker, deque()).appendleft(trial)

    def must_be_open(self, i: int) -> Entry:
        """Return the duel of a trial that is out with a worker; refuse any other."""
        if i in self.failed:
            raise ValueError(f"`trial` must be open, got {i}, which failed ({self.failed[i]})")
        if i not in self.handed:
            raise ValueError(f"`trial` must be one that was asked for and is still open, got {i}")
        return self._pending[i]
