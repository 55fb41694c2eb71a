"""How far a study has come: what was asked and told, and what was learned from it.

Everything that changes during a study changes here, in steps that are checked first and taken afterwards: an error
on the way, also one of the log, leaves everything as it was. Live calls and the replay of a log take the same steps.
"""

import copy
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Any, NamedTuple

from equipoise.baselines import Baseline, Zero
from equipoise.domain import Domain
from equipoise.duel import Comparison, Duel
from equipoise.events import Asked, Event, Expired, Failed, Handed, Told
from equipoise.ledger import Ledger, OpenDuel, Reading
from equipoise.posterior import Posterior


@dataclass(frozen=True, slots=True)
class Record:
    """What became of a trial that was handed out.

    Attributes:
        trial: Its number.
        duel: The number of its duel.
        worker: Who measured it.
        x: Where it was measured.
        value: The reading; `None` where there is none (yet).
        time: When, in the user's clock, where that was told.
        error: The reading's own standard error.
        failed: Why there is no reading.
        void: Whether its duel was given up.
    """

    trial: int
    duel: int
    worker: str | None
    x: Any
    value: float | None = None
    time: float | None = None
    error: float = 0.0
    failed: str | None = None
    void: bool = False


class Lesson(NamedTuple):
    """What a reading teaches.

    Attributes:
        posterior: The belief after it.
        baseline: The forecast after it.
        late: Whether it came too long after the other half of its duel.
    """

    posterior: Posterior
    baseline: Baseline | None
    late: bool


class Progress:
    """The state of a study.

    Args:
        space: Where points lie.
        prior: The belief before any data.
        baseline: The forecast before any data.
        sign: -1 where values are minimized.
        max_gap: The longest time between the halves of a duel.
    """

    def __init__(
        self, space: Domain, prior: Posterior, baseline: Baseline | None, sign: float, max_gap: float | None
    ) -> None:
        self.ledger = Ledger()
        self.posterior, self.baseline = prior, baseline
        self._before = prior, baseline
        self._space, self._sign, self._max_gap = space, sign, max_gap

    def enter(self, duel: Duel, worker: str | None) -> None:
        """Take in a new duel."""
        self.ledger.enter(duel, [self._space.decode(point) for point in duel.points], worker)

    def lesson(self, entry: OpenDuel, i: int, reading: Reading) -> Lesson:
        """Return what a reading teaches; nothing changes yet."""
        posterior, baseline, sign = self.posterior, self.baseline, self._sign
        point = entry.point(i) if reading.point is None else reading.point
        if reading.point is not None:
            posterior.at(point[None])  # refused now, not with the other half, where f is known at listed points only
        if posterior.learns_readings:
            time, variance = len(self.ledger.told) + 1.0, reading.error**2
            posterior = posterior.condition(Comparison(point, None, sign * reading.value, time, variance, entry.duel))
        if baseline is not None:
            baseline = baseline.update(sign * reading.value, float(self.posterior.at(point[None]).mean[0]))
        late = False
        learned = posterior.learns_readings and entry.duel.second is None  # the reading said all that the duel does
        blind = not (self.ledger.told or self.baseline in (None, Zero()))  # nothing to forecast from: see baselines.py
        if entry.completed_by(i) and not learned and not blind:
            complete = OpenDuel(entry.number, entry.duel, entry.ids, readings=entry.readings | {i: reading})
            late = self._max_gap is not None and complete.span() > self._max_gap
            posterior = posterior if late else posterior.condition(complete.comparison(sign))
        return Lesson(posterior, baseline, late)

    def learn(self, entry: OpenDuel, i: int, reading: Reading, lesson: Lesson) -> None:
        """Note a reading and what it teaches."""
        self.ledger.record(i, reading)
        self.posterior, self.baseline = lesson.posterior, lesson.baseline
        if lesson.late:
            self.ledger.give_up(entry)

    def replay(self, event: Event) -> None:
        """Let an event happen again; one that has happened already, as after an interrupt, changes nothing."""
        ledger = self.ledger
        match event:
            case Asked(trial, number, duel, worker):
                if number >= ledger.duels:
                    self._must_be("duel", ledger.duels, number)
                    self.enter(duel, worker)
                    self._must_be("trial", ledger.hand_out(worker).id, trial)
            case Handed(trial, worker):
                if trial not in ledger.open_trials:
                    waits = ledger.next_for(worker)
                    self._must_be("trial", None if waits is None else waits.id, trial)
                    ledger.hand_out(worker)
            case Told(trial, reading):
                entry = ledger.expect(trial, reading)
                if entry is not None:
                    self.learn(entry, trial, reading, self.lesson(entry, trial, reading))
            case Failed(trial, reason):
                if ledger.expect_failure(trial) is not None:
                    ledger.fail(trial, reason)
            case Expired(trial):
                if trial in ledger.open_trials:
                    ledger.reissue(trial)

    def records(self) -> list[Record]:
        """Return what became of every trial, in the order in which they were told; then those that were not."""
        of_trial = {i: entry for entry in self.ledger.entries for i in entry.ids}
        handed = (*self.ledger.told, *self.ledger.failed, *self.ledger.open_trials)
        return [self._record(i, of_trial[i]) for i in handed]

    def retraced(self, readings: int) -> Iterator[Posterior]:
        """Yield the belief before any reading, then after each, up to so many."""
        again = Progress(self._space, *self._before, self._sign, self._max_gap)
        for entry in self.ledger.entries:
            again.enter(entry.duel, entry.worker)
            for _ in entry.ids:
                again.ledger.hand_out(entry.worker)
        yield again.posterior
        for i, reading in islice(self.ledger.told.items(), readings):
            duel = again.ledger.must_be_open(i)
            again.learn(duel, i, reading, again.lesson(duel, i, reading))
            yield again.posterior

    def copied(self) -> "Progress":
        """Return a copy with a ledger of its own."""
        new = copy.copy(self)
        new.ledger, new.posterior = copy.deepcopy(self.ledger), copy.copy(self.posterior)
        return new

    def _record(self, i: int, entry: OpenDuel) -> Record:
        reading, failed = self.ledger.told.get(i), self.ledger.failed.get(i)
        if reading is None:
            x = self._space.decode(entry.point(i))
            return Record(i, entry.number, entry.worker, x, failed=failed, void=entry.void)
        x = self._space.decode(entry.point(i) if reading.point is None else reading.point)
        told = (reading.value, reading.time, reading.error)
        return Record(i, entry.number, entry.worker, x, *told, void=entry.void)

    @staticmethod
    def _must_be(name: str, expected: int | None, found: int) -> None:
        if found != expected:
            raise ValueError(f"its {name} must be {expected}, as the lines before it say, got {found}")
