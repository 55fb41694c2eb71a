"""The ledger: every question of a study, from its proposal to its answer.

A question is a duel to measure or a pair to judge. Trials and pairs share one sequence of numbers, so that `retract`
takes back a reading and a judgement alike. Two-point duels wait for their second half here and nowhere else. Both
halves of a duel go to one worker: its own offset then cancels.

The ledger checks nothing when it changes: its callers ask it before whether the change is possible.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from equipoise.data import Duel, PairToJudge, Trial

if TYPE_CHECKING:
    from equipoise._typing import FloatArray
    from equipoise.data import Question, Reading, SeedName
    from equipoise.likelihoods import Judgement
    from equipoise.spaces import Domain

FEW_EQUAL = 10
"""The number of equal readings in a row after which the user is asked to check the sensor."""


@dataclass(slots=True)
class Entry:
    """A question in the ledger.

    Attributes:
        number: Its place in the sequence of duels, from 0; for a pair, its trial.
        question: The duel or pair.
        ids: The trial of each point of a duel, in the order of measurement; a pair is one trial.
        worker: The worker or judge assigned to it.
        readings: The readings so far, by trial.
        void: Whether it is abandoned: its readings no longer make a comparison, or the pair was skipped.
        aside: The trials with an implausible reading, which is ignored.
        plan: The number of the plan it serves, if any.
        added: Whether the study did not ask for it.
        moved: The points of trials handed out elsewhere than planned, at another context.
        seed: The seed on which it is measured, if the study has seeds.
        judgement: The judgement of a pair.
    """

    number: int
    question: Question
    ids: tuple[int, ...]
    worker: str | None = None
    readings: dict[int, Reading] = field(default_factory=dict)
    void: bool = False
    aside: frozenset[int] = frozenset()
    plan: int | None = None
    added: bool = False
    moved: dict[int, FloatArray] = field(default_factory=dict)
    seed: SeedName | None = None
    judgement: Judgement | None = None

    @property
    def duel(self) -> Duel:
        """The duel; only for an entry that is measured."""
        assert isinstance(self.question, Duel)
        return self.question

    @property
    def pair(self) -> PairToJudge:
        """The pair; only for an entry that is judged."""
        assert isinstance(self.question, PairToJudge)
        return self.question

    def point(self, i: int) -> FloatArray:
        """Return the encoded point, measured or planned, of trial i of a duel."""
        reading = self.readings.get(i)
        planned: FloatArray = self.moved.get(i, self.question.points[self.ids.index(i)])
        return planned if reading is None or reading.point is None else reading.point

    def usable(self) -> list[Reading | None]:
        """Return the plausible readings in the order of measurement; `None` for each missing one."""
        return [None if i in self.aside else self.readings.get(i) for i in self.ids]

    def with_reading(self, i: int, reading: Reading, aside: bool) -> Entry:
        """Return the entry with one more reading, which may be implausible."""
        strange = self.aside | {i} if aside else self.aside
        return replace(self, readings=self.readings | {i: reading}, aside=strange)

    @property
    def complete(self) -> bool:
        """True if it was judged, or all its readings were told and are plausible."""
        return self.judgement is not None or (not self.void and None not in self.usable())

    @property
    def split(self) -> bool:
        """True if its readings are from different blocks, and so differ by more than the settings."""
        return len({reading.circumstances.block for reading in self.readings.values()}) > 1

    @property
    def timed(self) -> bool:
        """True if the times of all its readings were told."""
        return all(reading.time is not None for reading in self.readings.values())

    @property
    def span(self) -> float:
        """The time between its first and last reading; 0 if not all times were told."""
        times = [reading.time for reading in self.readings.values() if reading.time is not None]
        return max(times) - min(times) if len(times) == len(self.ids) else 0.0


class Ledger:
    """The record of every trial and pair from its creation to its end.

    Args:
        decode: A function that turns an encoded point into the user's.
    """

    def __init__(self, decode: Callable[[FloatArray], Any]) -> None:
        self.trials = 0
        self.duels: list[Entry] = []
        self.pairs: dict[int, Entry] = {}  # by trial
        self.of_trial: dict[int, Entry] = {}
        self.handed: dict[int, Trial] = {}
        self.readings: dict[int, Reading] = {}  # in the order of telling
        self.judgements: dict[int, Judgement] = {}  # in the order of judging
        self.failed: dict[int, str] = {}
        self.skipped: dict[int, str] = {}
        self.added = 0  # number of duels that the study did not ask for
        self.places: dict[str, int] = {}  # number of readings of each campaign
        self.alike = 0  # number of last readings that are equal
        self.decode = decode
        self._waiting: dict[str | None, deque[Trial]] = {}
        self._pending: dict[int, Entry] = {}  # by trial of a duel, until it is told or fails

    @property
    def entries(self) -> Iterator[Entry]:
        """All questions: the duels, then the pairs."""
        yield from self.duels
        yield from self.pairs.values()

    @property
    def open_duels(self) -> list[Entry]:
        """The duels still open, oldest first."""
        by_number = {entry.number: entry for entry in self._pending.values() if not entry.void}
        return [by_number[number] for number in sorted(by_number)]

    @property
    def open_trials(self) -> tuple[int, ...]:
        """The trials handed out that were neither told nor failed."""
        return tuple(sorted(self.handed))

    @property
    def open_pairs(self) -> list[int]:
        """The pairs that wait for an answer, oldest first; no judge is asked of those judged elsewhere."""
        return [i for i, entry in self.pairs.items() if not (entry.complete or entry.void or entry.added)]

    def points_read(self) -> list[FloatArray]:
        """Return the settings of the readings of this campaign, in their order; a number that repeats counts once."""
        own = [(i, self.of_trial[i]) for i, reading in self.readings.items() if not reading.circumstances.campaign]
        found = {i if e.seed is None else (e.seed, e.point(i).tobytes()): e.point(i) for i, e in own}
        return [*found.values()]

    def origin(self, start: FloatArray | None, space: Domain) -> FloatArray | None:
        """Return the reference of comparisons, encoded, shape (d,): the start, or else the first setting measured."""
        ours = (i for i, reading in self.readings.items() if not reading.circumstances.campaign)
        first = next((self.of_trial[i].point(i) for i in ours), None) if start is None else start
        return None if first is None else space.snap(first[None])[0]

    @property
    def typical_error(self) -> float:
        """The standard error of a count or a share, at a glance, as the last one has it; 0 if readings are numbers."""
        last = next(reversed(self.readings.values()), None)
        return 0.0 if last is None or last.answers is None else last.deviation

    def last_value(self, campaign: str) -> float | None:
        """Return the last plausible value of a campaign, on the scale of f, if any."""
        ours = (
            (i, reading) for i, reading in reversed(self.readings.items()) if reading.circumstances.campaign == campaign
        )
        return next((reading.outcome for i, reading in ours if i not in self.of_trial[i].aside), None)

    def answered(self, i: int) -> bool:
        """Return whether a trial or pair was answered or has failed, which can be retracted."""
        return any(i in answers for answers in (self.readings, self.judgements, self.failed, self.skipped))

    def enter(
        self, question: Question, worker: str | None, plan: int | None = None, seed: SeedName | None = None
    ) -> None:
        """Take in a question; of a duel, whose points are to be measured in their order, a worker gets the first."""
        if isinstance(question, PairToJudge):
            pair = Entry(self.trials, question, (self.trials,), question.judge, plan=plan, added=question.added)
            self.pairs[self.trials] = self.of_trial[self.trials] = pair
            self.trials += 1
            return
        ids = tuple(range(self.trials, self.trials + len(question.points)))
        entry = Entry(len(self.duels), question, ids, worker, plan=plan, seed=seed)
        self.duels.append(entry)
        self.trials += len(ids)
        queue = self._waiting.setdefault(worker, deque())
        for i, point in zip(ids, question.points, strict=True):
            self._pending[i] = self.of_trial[i] = entry
            queue.append(Trial(i, self.decode(point), seed))
        self.hand_out(worker, ids[0])

    def add(self, entry: Entry) -> None:
        """Take in a duel that the study did not ask for, with its reading; if that is taken back, it is void."""
        (i,) = entry.ids
        self.duels.append(entry)
        self.trials, self.added = self.trials + 1, self.added + 1
        self.of_trial[i] = entry
        if not entry.void:
            self._count(i, entry.readings[i])

    def waiting(self, worker: str | None = None) -> tuple[int, ...]:
        """Return the trials that wait for a worker, in the order in which they are to be handed out."""
        return tuple(trial.id for trial in self._waiting.get(worker, ()))

    def hand_out(self, worker: str | None, i: int, point: FloatArray | None = None) -> None:
        """Give a worker a trial that waits for it, to be measured as planned or at another point."""
        queue = self._waiting[worker]
        trial = next(trial for trial in queue if trial.id == i)
        queue.remove(trial)
        if point is not None:
            self.of_trial[i].moved[i] = point
            trial = Trial(i, self.decode(point), trial.seed)
        self.handed[i] = trial

    def record(self, i: int, reading: Reading, aside: bool) -> None:
        """Note a reading."""
        entry = self._pending.pop(i)
        del self.handed[i]
        entry.readings[i] = reading
        self._count(i, reading)
        if aside:
            entry.aside |= {i}

    def _count(self, i: int, reading: Reading) -> None:
        last = next(reversed(self.readings.values()), reading)
        self.alike = self.alike + 1 if reading.value == last.value else 1
        self.readings[i] = reading
        self.places[reading.circumstances.campaign] = reading.place

    def judge(self, i: int, judgement: Judgement) -> None:
        """Note a judgement."""
        self.pairs[i].judgement = self.judgements[i] = judgement
        self.pairs[i].worker = judgement.judge

    def fail(self, i: int, reason: str) -> None:
        """Give up the duel of a trial that could not be measured, or a pair that was skipped."""
        if i in self.pairs:
            self.skipped[i], self.pairs[i].void = reason, True
            return
        entry = self._pending.pop(i)
        del self.handed[i]
        self.failed[i] = reason
        self.give_up(entry)

    def give_up(self, entry: Entry) -> None:
        """Mark a duel as void and forget its half that still waits."""
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
