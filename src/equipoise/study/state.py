"""The state of a study: what was asked and told, and what was learned from it.

It changes only by `apply(event)`. A live call prepares the event's change, writes the event, and makes the change; a
replay and the history do the same without the write. What can fail fails in `prepare`, before anything is written.
"""

import copy
from collections.abc import Iterable, Iterator
from dataclasses import replace

import numpy as np

from equipoise._typing import FloatArray
from equipoise.answer import Standing
from equipoise.belief import Feasibility, StudyBelief
from equipoise.data import Comparison, will_teach
from equipoise.log import Asked, Event, Handed, Noted, Planned, Set, Stamped, Told
from equipoise.offsets import Circumstances
from equipoise.reductions import Zero
from equipoise.spaces import Domain
from equipoise.study.changes import Change, Changes
from equipoise.study.edits import last_step, undoing
from equipoise.study.ledger import Entry, Ledger
from equipoise.study.lessons import Lessons
from equipoise.study.limits import Reach, position, positions
from equipoise.study.outputs import Named, OutputLessons, usable
from equipoise.study.plans import Plan
from equipoise.study.requests import Requests, label
from equipoise.study.setup import Setup
from equipoise.study.views import Note, Record, Setting, feasibility, origin, records, standing, suspect

MOST_ANTICIPATED = 96
"""How many open duels are anticipated, the newest: what all of them cost and bring is in docs/reliability.md."""

MIN_EARLIER = 6
"""This number of readings that were not asked for is enough to fit a model to: they say what is best."""


class State:
    """The state of a study.

    Args:
        setup: What it is governed by.

    Attributes:
        ledger: All questions and their answers.
        lessons: What the answers teach.
        beside: What they teach of the outputs beside the first objective; `None` if there are none.
        sign: -1 if values are minimized.
        baseline: The forecast of the next reading, if the reduction needs one.
        limited: Whether not everything may be proposed.
        block: The block to which what is told belongs.
        past: What happened, each with its time.
        events: The same as if what was taken back had not been, and what was corrected had been right.
        whole: Whether no interrupt came in the middle of a change.
    """

    def __init__(self, setup: Setup) -> None:
        self.setup, self.sign = setup, setup.sign
        self.baseline, self._needs_forecast = setup.baseline, setup.baseline not in (None, Zero())
        self.ledger = Ledger(setup.space.decode)
        self.lessons = Lessons(setup.prior)
        self.beside = OutputLessons(setup.priors) if setup.laws else None
        self.block, self.whole, self.limited = "", True, not (setup.caution.none and not setup.safe)
        self.past: list[Stamped] = []
        self.events: list[Event] = []
        self._plans: list[Planned] = []
        self._canceled: set[int] = set()
        self._aside: frozenset[int] = frozenset()  # the trials whose reading cannot be

    @property
    def belief(self) -> StudyBelief:
        """The belief, given everything told and judged; made when it is asked for."""
        return self.lessons.belief

    def named(self, space: Domain, belief: StudyBelief | None = None) -> Named | None:
        """Return what is believed of the outputs in a part of the space; `None` if they have no names.

        Args:
            space: The part of the space.
            belief: That about the first objective; all that is known by default.
        """
        outputs = self.setup.outputs
        if outputs is None:
            return None
        beliefs = {
            outputs.first.name: self.belief if belief is None else belief,
            **(self.beside.beliefs if self.beside else {}),
        }
        return Named(outputs, beliefs, origin(self.ledger, self.setup, space))

    @property
    def readings(self) -> int:
        """How many readings were told, those of earlier campaigns apart."""
        return self.ledger.places.get("", 0)

    @property
    def duels(self) -> int:
        """How many duels there ever were."""
        return len(self.ledger.duels)

    @property
    def proposed(self) -> int:
        """How many duels were proposed: all but those that the study did not ask for."""
        return self.duels - self.ledger.added

    @property
    def informed(self) -> bool:
        """Whether earlier readings say what is best."""
        return self.ledger.added >= MIN_EARLIER

    @property
    def trials(self) -> int:
        """How many trials and pairs there ever were."""
        return self.ledger.trials

    @property
    def open_trials(self) -> tuple[int, ...]:
        """The trials handed out and neither told nor failed."""
        return tuple(sorted(self.ledger.handed))

    @property
    def requests(self) -> Requests:
        """What turns what is told of a trial or pair into an event, or refuses it."""
        return Requests(self.ledger, self.setup, self.block)

    @property
    def last_answered(self) -> int | None:
        """The trial or pair whose last step `undo` would take back; `None` if there is none."""
        step = last_step(self.done)
        return None if step is None else self.done[step].trial  # type: ignore[union-attr]

    def undoing(self) -> Event | None:
        """Return the event that takes back the last step; `None` if there is none."""
        return undoing(self.done)

    @property
    def done(self) -> list[Event]:
        """The events that happened, without their times."""
        return [stamped.event for stamped in self.past]

    def apply(self, event: Event, at: str | None = None) -> None:
        """Let an event happen at a time; one that has happened already, as after an interrupt, changes nothing.

        What it teaches is learned when the belief is asked for.
        """
        Changes(self, later=True).of(event).make(at)

    def prepare(self, event: Event) -> Change:
        """Return what an event will change; whatever can fail fails here."""
        return Changes(self).of(event)

    @property
    def next_note(self) -> int:
        """The number of the next note; a former version also numbered what are settings now."""
        return next((s.event.number + 1 for s in reversed(self.past) if isinstance(s.event, Noted)), 0)

    @property
    def settings(self) -> list[Setting]:
        """The settings that were changed, in this order."""
        return [Setting(s.event.name, s.event.value, s.event.why, s.at) for s in self.past if isinstance(s.event, Set)]

    @property
    def notes(self) -> list[Note]:
        """The notes on the study, in this order."""
        decode, noted = self.setup.space.decode, [(s.event, s.at) for s in self.past if isinstance(s.event, Noted)]
        return [Note(n.topic, n.text, None if n.point is None else decode(n.point), at) for n, at in noted]

    @property
    def plans(self) -> list[Plan]:
        """All plans, and how far it is with each."""
        return [Plan.of(plan, plan.number in self._canceled, self._serving(plan.number)) for plan in self._plans]

    def _serving(self, plan: int) -> list[Entry]:
        return [entry for entry in self.ledger.entries if entry.plan == plan]

    @property
    def plan(self) -> Plan | None:
        """The plan that is under way, if any: the last one."""
        plans = self.plans
        return plans[-1] if plans and not plans[-1].ended else None

    def serves(self, space: Domain) -> Plan | None:
        """Return the plan that the next duel in a part of the space serves, if any."""
        plan = self.plan if self._plans else None
        return plan if plan is not None and plan.left and plan.concerns(space) else None

    def standing(self, space: Domain) -> Standing:
        """Return what is known of the study besides the belief, as it concerns a part of the space."""
        feasible = None if self.unrestricted else self.feasibility
        found = standing(self.ledger, self._plans, self.plans, self.setup, feasible, space)
        named, part = self.named(space), None
        if self.limited:
            safe = named if self.setup.safe else None
            part = self.setup.caution.attainable(space, self.belief, self.feasibility, self._tried, safe)
        if named is not None and named.limited:
            part = usable(space if part is None else part, self.belief.posterior, self.feasibility, named)
        return found if part is None else replace(found, attainable=part)

    def anticipated(self) -> StudyBelief:
        """Return the belief as if what is open came out as expected: surer, so that the next proposal differs."""
        place = self.readings + 1
        newest = self.ledger.open_duels[-MOST_ANTICIPATED:]
        lessons = [lesson for entry in newest for lesson in self._awaited(entry, place)]
        return self.belief.anticipate_all(lessons) if lessons else self.belief

    def _awaited(self, entry: Entry, place: int) -> tuple[Comparison, ...]:
        """Return what a duel still open will teach."""
        expected = Circumstances(label(self.block, entry)).after(self.ledger.last_value(""))
        number, offset, error = float(entry.number), self.setup.offset, self.ledger.typical_error
        found = entry.usable()
        return will_teach(entry.duel, found, offset, number=number, place=place, expected=expected, error=error)

    def awaiting(self) -> StudyBelief:
        """Return the belief as if what is open came out as expected, the pairs that wait for a judge too."""
        belief, waiting = self.anticipated(), self.ledger.waiting_pairs[-MOST_ANTICIPATED:]
        return belief.expecting(waiting) if len(waiting) else belief

    @property
    def forecasts_nothing(self) -> bool:
        """Whether there is nothing yet to forecast the first reading from: see `reductions/baselines.py`."""
        return self._needs_forecast and not self.ledger.readings

    @property
    def feasibility(self) -> Feasibility:
        """Where readings can be had, by what was read and what failed."""
        return feasibility(self.ledger, self._aside, self.setup.space.extent)

    @property
    def unrestricted(self) -> bool:
        """Whether every setting may be asked for: there are no limits, and none has failed."""
        return not (self.limited or self.ledger.failed or self._aside)

    def reach(self, space: Domain, worker: str | None = None) -> Reach | None:
        """Return what is within a step of where the machine may stand, if steps are limited."""
        limits = self.setup.caution
        if limits.max_step is None:
            return None
        return Reach.of(space, positions(self.events, self.ledger, limits.start, worker), limits.max_step)

    def allowed(self, space: Domain, reach: Reach | None) -> Domain:
        """Return the part of a space that may be asked for, by what was told: what is open makes nothing safe."""
        if self.unrestricted:
            return space
        safe = self.named(space) if self.setup.safe else None
        return self.setup.caution.within(space, self.belief, self.feasibility, reach, self._tried, safe)

    def waiting(self, worker: str | None) -> Iterator[tuple[int, FloatArray]]:
        """Yield the trials that wait for a worker, and where they are to be measured, in this order."""
        return ((i, self.ledger.of_trial[i].point(i)) for i in self.ledger.waiting(worker))

    def partners(self, i: int) -> list[FloatArray]:
        """Return where the other readings of the duel of a trial were taken."""
        entry = self.ledger.of_trial[i]
        return [entry.point(j) for j in entry.readings if j != i]

    @property
    def _tried(self) -> FloatArray:
        """The points that were asked for and measured there, shape (n, d)."""
        tried = (entry for entry in self.ledger.duels if not entry.added)
        points = [entry.duel.points[k] for entry in tried for k, i in enumerate(entry.ids) if i in entry.readings]
        return np.array(points).reshape(-1, self.setup.space.dimension)

    @property
    def asked(self) -> FloatArray:
        """The points that were asked for, shape (n, d)."""
        asked = [entry.question.points for entry in self.ledger.entries]
        return np.concatenate(asked) if asked else np.empty((0, self.setup.space.dimension))

    @property
    def latest(self) -> FloatArray | None:
        """The point that was handed out last, encoded, shape (d,): it is at the present context."""
        last = next((event.trial for event in reversed(self.events) if isinstance(event, Asked | Handed)), None)
        return None if last is None else self.ledger.of_trial[last].point(last)

    def suspect(self) -> FloatArray | None:
        """Return a point whose only reading seems to be spoiled though it was a good one, to be confirmed."""
        return suspect(self.ledger, self.belief, self.sign)

    def records(
        self, aside: bool = True, judgements: bool = False, trials: Iterable[int] | None = None
    ) -> list[Record]:
        """Return a record for every trial handed out, in the order of answers; then for those that have none.

        Args:
            aside: Whether to say which readings the belief learns nothing from: else it need not be made.
            judgements: Whether to return the pairs instead.
            trials: Only these; all by default.
        """
        belief = self.belief if aside and not judgements else None
        return records(self.ledger, self.past, self.setup.space.decode, belief, judgements, trials)

    def position(self, worker: str | None) -> FloatArray | None:
        """Return the point where the machine of a worker was moved last, or read; `None` if that is not known."""
        return position(self.done, self.ledger, worker)

    def history(self) -> "Iterator[State]":
        """Yield a state as it was before any reading or judgement, then after each: one object, which changes on."""
        yield self.fresh()
        for past, event in self.replay():
            if isinstance(event, Told):
                past.apply(event)
                yield past

    def replay(self) -> "Iterator[tuple[State, Event]]":
        """Yield each event, and the state as it was before: one object, which goes on changing."""
        again = self.fresh()
        for event in list(self.events):
            yield again, event
            again.apply(event)  # once more changes nothing

    def differences(self) -> dict[int, float]:
        """Return the first reading less the second of every complete duel of two, by number, as values are learned."""
        pairs = [entry for entry in self.ledger.duels if len(entry.ids) == 2 and entry.complete]
        values = {entry.number: [entry.readings[i].outcome for i in entry.ids] for entry in pairs}
        return {number: self.sign * (first - second) for number, (first, second) in values.items()}

    def fresh(self) -> "State":
        """Return the state before anything has happened."""
        return State(self.setup)

    def rebuilt(self) -> "State":
        """Return the state that the events which happened lead to; this one may be half changed."""
        again = self.fresh()
        for stamped in list(self.past):
            again.apply(stamped.event, stamped.at)
        return again

    def copied(self) -> "State":
        """Return a copy with a ledger and lessons of its own."""
        new, space = copy.copy(self), self.setup.space
        new.ledger = copy.deepcopy(self.ledger, {id(space): space})
        new.lessons, new.beside = self.lessons.copied(), self.beside and self.beside.copied()
        new.events, new.past = list(self.events), list(self.past)
        new._plans, new._canceled = list(self._plans), set(self._canceled)
        return new
