"""The state of a study: its questions, its answers and their lessons.

It changes only by `apply(event)`. A live call prepares the event's change, writes the event, and makes the change; a
replay and the history do the same without the write. What can fail fails in `prepare`, before anything is written.
"""

from __future__ import annotations

import copy
from collections.abc import Iterator
from typing import TYPE_CHECKING

from equipoise.data import will_teach
from equipoise.log import Asked, Handed
from equipoise.offsets import Circumstances
from equipoise.reductions import Zero
from equipoise.study import outputs
from equipoise.study.changes import Preparation, prepared
from equipoise.study.ledger import Ledger
from equipoise.study.lessons import Lessons
from equipoise.study.requests import Requests, label

if TYPE_CHECKING:
    from equipoise._typing import FloatArray
    from equipoise.belief import StudyBelief
    from equipoise.data import Comparison
    from equipoise.log import Event, Planned, Stamped
    from equipoise.spaces import Domain
    from equipoise.study.changes import Change
    from equipoise.study.ledger import Entry
    from equipoise.study.plans import Plan
    from equipoise.study.setup import Setup

MOST_ANTICIPATED = 96
"""The most open duels anticipated, the newest ones: docs/reliability.md has the costs and benefits of all."""


class State:
    """The state of a study.

    Args:
        setup: The setup of the study.

    Attributes:
        ledger: All questions and their answers.
        lessons: The lessons of the answers.
        beside: The lessons about the outputs besides the first objective; `None` if there are none.
        sign: -1 if values are minimized.
        baseline: The forecast of the next reading, if the reduction needs one.
        needs_forecast: Whether the reduction needs one.
        limited: Whether proposals are limited.
        block: The present block, to which new answers belong.
        planned: All audits and verifications.
        canceled: The numbers of those that were canceled.
        aside: The trials with an implausible reading.
        past: The events that happened, each with its time.
        events: The same without what was retracted, and with corrections in place.
        whole: Whether no interrupt came in the middle of a change.
    """

    def __init__(self, setup: Setup) -> None:
        self.setup, self.sign = setup, setup.sign
        self.baseline, self.needs_forecast = setup.baseline, setup.baseline not in (None, Zero())
        self.ledger = Ledger(setup.space.decode)
        self.lessons = Lessons(setup.prior)
        self.beside = outputs.OutputLessons(setup.priors) if setup.laws else None
        self.block, self.whole, self.limited = "", True, not (setup.caution.none and not setup.safe)
        self.past: list[Stamped] = []
        self.events: list[Event] = []
        self.planned: list[Planned] = []
        self.canceled: set[int] = set()
        self.aside: frozenset[int] = frozenset()

    @property
    def belief(self) -> StudyBelief:
        """The belief given all readings and judgements; computed on demand."""
        lessons = self.lessons
        return lessons.judgements.belief if len(lessons.judgements) else lessons.comparisons.belief

    @property
    def readings(self) -> int:
        """The number of readings, without those of earlier campaigns."""
        return self.ledger.places.get("", 0)

    @property
    def duels(self) -> int:
        """The number of duels so far."""
        return len(self.ledger.duels)

    @property
    def proposed(self) -> int:
        """The number of proposed duels: all except those that the study did not ask for."""
        return self.duels - self.ledger.added

    @property
    def requests(self) -> Requests:
        """The requests, which turn an answer into an event or refuse it."""
        return Requests(self.ledger, self.setup, self.block)

    @property
    def done(self) -> list[Event]:
        """The events that happened, without their times."""
        return [stamped.event for stamped in self.past]

    def apply(self, event: Event, at: str | None = None, sets_aside: bool = True) -> None:
        """Apply an event at a time, ISO 8601 in UTC; one applied already, as after an interrupt, changes nothing.

        Its lessons are learned on demand. With `sets_aside` a reading is compared with the others, and implausible ones
        are set aside.
        """
        prepared(Preparation(self, sets_aside, later=True), event).make(at)

    def prepare(self, event: Event) -> Change:
        """Return the change of an event; all errors are raised here."""
        return prepared(Preparation(self), event)

    @property
    def plan(self) -> Plan | None:
        """The plan in progress, if any: the last one."""
        if not self.planned:
            return None
        from equipoise.study.plans import progress

        last = progress(self)[-1]
        return None if last.ended else last

    def serves(self, space: Domain) -> Plan | None:
        """Return the plan that the next duel in a part of the space serves, if any."""
        plan = self.plan
        return plan if plan is not None and plan.left and plan.concerns(space) else None

    def anticipated(self) -> StudyBelief:
        """Return the belief as if open questions came out as expected: surer, so that the next proposal differs."""
        place = self.readings + 1
        newest = self.ledger.open_duels[-MOST_ANTICIPATED:]
        lessons = [lesson for entry in newest for lesson in self.awaited(entry, place)]
        return self.belief.anticipate_all(lessons) if lessons else self.belief

    def awaited(self, entry: Entry, place: int) -> tuple[Comparison, ...]:
        """Return the expected lessons of an open duel, with outcomes of zero; the next reading is number `place`."""
        expected = Circumstances(label(self.block, entry)).after(self.ledger.last_value(""))
        number, offset, error = float(entry.number), self.setup.offset, self.ledger.typical_error
        found = entry.usable()
        return will_teach(entry.duel, found, offset, number=number, place=place, expected=expected, error=error)

    @property
    def forecasts_nothing(self) -> bool:
        """True if there are no data yet to forecast the first reading: see `reductions/baselines.py`."""
        return self.needs_forecast and not self.ledger.readings

    @property
    def unrestricted(self) -> bool:
        """True if every setting may be proposed: there are no limits, and no trial has failed."""
        return not (self.limited or self.ledger.failed or self.aside)

    @property
    def latest(self) -> FloatArray | None:
        """The point that was handed out last, encoded, shape (d,): it is at the present context."""
        last = next((event.trial for event in reversed(self.events) if isinstance(event, Asked | Handed)), None)
        return None if last is None else self.ledger.of_trial[last].point(last)

    def replay(self) -> Iterator[tuple[State, Event]]:
        """Yield each event and the state before it: a single object, which keeps changing."""
        again = self.fresh()
        for event in list(self.events):
            yield again, event
            again.apply(event)  # a repetition changes nothing

    def fresh(self, setup: Setup | None = None) -> State:
        """Return the state before anything has happened; under another setup if one is given."""
        return State(self.setup if setup is None else setup)

    def copied(self) -> State:
        """Return a copy with an independent ledger and lessons."""
        new, space = copy.copy(self), self.setup.space
        new.ledger = copy.deepcopy(self.ledger, {id(space): space})
        new.lessons, new.beside = self.lessons.copied(), self.beside and self.beside.copied()
        new.events, new.past = list(self.events), list(self.past)
        new.planned, new.canceled = list(self.planned), set(self.canceled)
        return new
