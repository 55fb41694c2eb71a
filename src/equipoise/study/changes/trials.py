"""The changes of the loop: a question is asked, its trials are handed out, readings are told.

A change that an event will make to a state is prepared first, then made. All errors occur while it is prepared.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from equipoise.data import Duel, Preference, teaches
from equipoise.log import Asked, Handed, KeptFit, Stamped, Told
from equipoise.study.ledger import FEW_EQUAL
from equipoise.study.lessons import calmly, overdue

if TYPE_CHECKING:
    from equipoise._typing import FloatArray
    from equipoise.belief import Milestone, StudyBelief
    from equipoise.data import Comparison, Reading
    from equipoise.log import Added, Event
    from equipoise.study.ledger import Entry
    from equipoise.study.outputs import Taught
    from equipoise.study.state import State


@dataclass(frozen=True, slots=True)
class Change:
    """A prepared change of a state.

    Attributes:
        make: Makes the change at a time, ISO 8601 in UTC; cannot fail.
        alert: The warning for the user, if any.
        event: The event to write, with the fit that it caused.
    """

    make: Callable[[str | None], object]
    alert: Warning | None = None
    event: Event | None = None


NOTHING = Change(lambda at: None)

LARGEST_PLAUSIBLE = 1e20
"""Values up to this are never set aside here, whatever the others are: units from 1e-12 to 1e12 lie far below. The code
for an overload, 9.9e37, lies far above."""


@dataclass(frozen=True, eq=False)
class Preparation:
    """The inputs for preparing the change of an event.

    Attributes:
        state: The state.
        sets_aside: Whether to compare a reading with the others and set implausible ones aside.
        later: Whether to learn from an event on demand instead of now.
    """

    state: State
    sets_aside: bool = True
    later: bool = False

    def change(self, event: Event, make: Callable[[], object], alert: Warning | None = None) -> Change:
        """Return the change of an event, which `make` applies to the state."""
        state = self.state

        def made(at: str | None) -> None:
            state.whole = False
            make()
            state.past.append(Stamped(event, at))
            state.events.append(event)
            state.whole = True

        return Change(made, alert, event)

    def must_be_planned(self, plan: int | None) -> None:
        """Refuse an unknown plan."""
        if plan is not None and plan >= len(self.state.planned):
            raise ValueError(f"its plan must be one of the lines before it, got {plan}")


def must_be(name: str, expected: int, found: int | None) -> None:
    """Refuse a number that is not the next one."""
    if found != expected:
        raise ValueError(f"its {name} must be {expected}, as the lines before it say, got {found}")


def prepared(on: Preparation, event: Event) -> Change:
    """Return the change of an event; an empty one if it was applied already, as after an interrupt."""
    match event:
        case Asked():
            return _asked(on, event)
        case Handed():
            return _handed(on, event)
        case Told():
            return _told(on, event)
    from equipoise.study.changes.others import of_other  # loaded when it is needed

    return of_other(event, on)


def _asked(on: Preparation, event: Asked) -> Change:
    ledger = on.state.ledger
    if isinstance(event.question, Duel):
        if event.number is not None and event.number < len(ledger.duels):
            return NOTHING
        must_be("duel", len(ledger.duels), event.number)
    elif event.trial in ledger.pairs:
        return NOTHING
    must_be("pair" if event.number is None else "trial", ledger.trials, event.trial)
    on.must_be_planned(event.plan)
    return on.change(event, lambda: ledger.enter(event.question, event.worker, event.plan, event.seed))


def _handed(on: Preparation, event: Handed) -> Change:
    ledger, i, worker = on.state.ledger, event.trial, event.worker
    if i in ledger.handed:
        return NOTHING
    if i not in ledger.waiting(worker):
        raise ValueError(f"its trial must wait for worker {worker!r}, as the lines before say, got {i}")
    return on.change(event, lambda: ledger.hand_out(worker, i, event.point))


def _told(on: Preparation, event: Told) -> Change:
    state, answer = on.state, event.answer
    if state.requests.telling(event.trial, answer) is None:
        return NOTHING
    if isinstance(answer, Preference):
        from equipoise.study.changes.others import judged

        return judged(on, event, answer)
    if answer.point is not None:
        must_be_known(on, answer.point)
    if (aside := implausible(on, event.trial, answer)) != state.aside:
        from equipoise.study.changes.edits import setting_aside

        return setting_aside(on, event, aside)
    return _read(on, event, answer, state.ledger.must_be_open(event.trial))


def _read(on: Preparation, event: Told, told: Reading, entry: Entry) -> Change:
    """Return the change that a reading makes."""
    state, setup, i, strange = on.state, on.state.setup, event.trial, event.trial in on.state.aside
    reading = placed(on, told)
    now = entry.with_reading(i, reading, strange)
    late = not entry.void and (now.split or (setup.max_gap is not None and now.span > setup.max_gap))
    comparable = not (entry.void or late)
    before = usable(on, entry) if setup.offset.learns_readings else []
    known = len(before) - before.count(None)  # its outcome is not among them: a reading was missing
    lessons = taught(on, now, comparable=comparable and not state.forecasts_nothing)[known:]
    comparisons = state.lessons.comparisons
    belief, fit = comparisons.after(lessons, model_of(event), on.later, event.deferred)
    deferred = event.deferred and (belief is None or overdue(belief))
    baseline = state.baseline
    if baseline is not None and not strange:
        with calmly(setup.prior):
            predicted = float(state.belief.posterior.at(now.point(i)[None]).mean[0])
        baseline = baseline.update(state.sign * reading.outcome, predicted)
    beside = None
    if state.beside is not None:
        from equipoise.study.changes.learning_beside import learned_beside

        beside = learned_beside(on, event, now, usable(on, now), usable(on, entry), comparable)

    def learn() -> None:
        state.ledger.record(i, reading, strange)
        comparisons.add(lessons, fit, belief, deferred)
        if state.beside is not None and beside is not None:
            state.beside.add(beside)
        state.baseline = baseline
        if late:
            state.ledger.give_up(entry)

    alert = _duel_alert(on, now, late, belief) or _sensor_alert(on, reading, now.point(i))
    return on.change(replace(event, fit=kept(fit, beside), deferred=deferred), learn, alert)


def _duel_alert(on: Preparation, entry: Entry, late: bool, belief: StudyBelief | None) -> Warning | None:
    """Return a warning about a duel with a new reading and the resulting belief, if any."""
    setup, given = on.state.setup, belief is None or belief.learned is None
    if given and not late and setup.max_gap is None and setup.caution.drop is None:
        return None
    from equipoise.study.alerts import reading_alert

    return reading_alert(setup, entry, late, belief, on.state.lessons.comparisons.belief)


def _sensor_alert(on: Preparation, reading: Reading, point: FloatArray) -> Warning | None:
    """Return a warning about a sensor whose readings are equal, if any."""
    if len(reading.values) <= 1 and on.state.ledger.alike < FEW_EQUAL - 1:
        return None
    from equipoise.study.dead_sensor import dead_alert

    return dead_alert(on.state.ledger, reading, point)


def placed(on: Preparation, told: Reading) -> Reading:
    """Return a reading with its place in its campaign and the reading before it."""
    ledger, campaign, setup = on.state.ledger, told.circumstances.campaign, on.state.setup
    reading = replace(told.under(setup.likelihood), place=ledger.places.get(campaign, 0) + 1)
    if not setup.offset.learns_readings:  # the previous reading does not affect a duel
        return reading
    return replace(reading, circumstances=told.circumstances.after(ledger.last_value(campaign)))


def taught(on: Preparation, entry: Entry, comparable: bool) -> tuple[Comparison, ...]:
    """Return the lessons of the readings of a question."""
    setup, number = on.state.setup, float(entry.number)
    found = usable(on, entry)
    return teaches(entry.duel, found, setup.offset, number=number, sign=on.state.sign, comparable=comparable)


def usable(on: Preparation, entry: Entry) -> list[Reading | None]:
    """Return the informative readings of a duel, in the order of measurement.

    The same setting on the same seed repeats the same number, which tells nothing about the noise.
    """
    found = entry.usable()
    if entry.seed is None:
        return found
    from equipoise.study.settings_read import is_known

    return [
        None if reading is None or is_known(on.state.ledger, entry, i, reading) else reading
        for i, reading in zip(entry.ids, found, strict=True)
    ]


def implausible(on: Preparation, trial: int, reading: Reading) -> frozenset[int]:
    """Return the trials with an implausible reading, given one more; every number of a trial must be plausible."""
    known = on.state.aside
    largest = max(map(abs, (reading.value, *reading.values.values())))
    if not on.sets_aside or (not known and largest <= LARGEST_PLAUSIBLE):
        return known
    from equipoise.study.changes.plausibility import absurd_readings

    return absurd_readings(on.state.ledger.readings | {trial: reading})


def must_be_known(on: Preparation, point: FloatArray) -> None:
    """Refuse an unlisted point if f is modeled at listed points only."""
    on.state.setup.prior.posterior.at(point[None])


def model_of(event: Told | Added) -> Milestone | None:
    """Return the fit stored with the event."""
    return None if event.fit is None else event.fit.model


def kept(fit: Milestone | None, beside: Taught | None) -> KeptFit | None:
    """Return the fits after a reading that a log stores; `None` if there are none."""
    return None if fit is None and beside is None else KeptFit.of(fit, None, None if beside is None else beside.fits)
