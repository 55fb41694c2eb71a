"""How each kind of event changes a state: prepared first, then made. What can fail fails while it is prepared."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import singledispatchmethod
from typing import TYPE_CHECKING

from equipoise._typing import FloatArray
from equipoise.belief import Milestone, StudyBelief
from equipoise.data import Comparison, Duel, Preference, Proposal, Reading, teaches
from equipoise.likelihoods import Judgement
from equipoise.log import (
    Added,
    Asked,
    Begun,
    Canceled,
    Corrected,
    Event,
    Expired,
    Failed,
    Handed,
    KeptFit,
    Noted,
    Planned,
    Refitted,
    Retracted,
    Set,
    Stamped,
    Teaching,
    Told,
    anew,
)
from equipoise.study.alerts import (
    LARGEST_PLAUSIBLE,
    DuelGivenUp,
    SetAside,
    absurd,
    dead_alert,
    drop_alert,
    estranged_alert,
    gap_alert,
)
from equipoise.study.edits import repeats, with_answer, without_answer
from equipoise.study.ledger import Entry
from equipoise.study.lessons import calmly, overdue
from equipoise.study.outputs import Taught, of_output
from equipoise.study.views import Setting, last_set

if TYPE_CHECKING:
    from equipoise.study.state import State


@dataclass(frozen=True, slots=True)
class Change:
    """What an event will change, computed but not made yet.

    Attributes:
        make: Makes the change at a time, ISO 8601 in UTC; cannot fail.
        alert: What the user should know of it.
        event: The event as it is to be written: with what was fitted by it.
    """

    make: Callable[[str | None], object]
    alert: Warning | None = None
    event: Event | None = None


NOTHING = Change(lambda at: None)


@dataclass(frozen=True, eq=False)
class Changes:
    """Prepares the changes of a state.

    Attributes:
        state: What happened.
        sets_aside: Whether a reading is compared with the others, so that those which cannot be are set aside.
        later: Whether what an event teaches is learned when the belief is asked for, not now.
    """

    state: "State"
    sets_aside: bool = True
    later: bool = False

    @singledispatchmethod
    def of(self, event: Event) -> Change:
        """Return what an event will change; nothing if it has happened already, as after an interrupt."""
        raise TypeError(f"`event` must be an event of a study, got {event!r}")

    @of.register
    def _planned(self, event: Planned) -> Change:
        plans = self.state._plans
        if event.number < len(plans):
            return NOTHING
        _must_be("plan", len(plans), event.number)
        return self._change(event, lambda: plans.append(event))

    @of.register
    def _canceled(self, event: Canceled) -> Change:
        self._must_be_planned(event.number)
        return self._change(event, lambda: self.state._canceled.add(event.number))

    @of.register
    def _asked(self, event: Asked) -> Change:
        ledger = self.state.ledger
        if isinstance(event.question, Duel):
            if event.number is not None and event.number < len(ledger.duels):
                return NOTHING
            _must_be("duel", len(ledger.duels), event.number)
        elif event.trial in ledger.pairs:
            return NOTHING
        _must_be("pair" if event.number is None else "trial", ledger.trials, event.trial)
        self._must_be_planned(event.plan)
        return self._change(event, lambda: ledger.enter(event.question, event.worker, event.plan, event.seed))

    @of.register
    def _handed(self, event: Handed) -> Change:
        ledger, i, worker = self.state.ledger, event.trial, event.worker
        if i in ledger.handed:
            return NOTHING
        if i not in ledger.waiting(worker):
            raise ValueError(f"its trial must wait for worker {worker!r}, as the lines before say, got {i}")
        return self._change(event, lambda: ledger.hand_out(worker, i, event.point))

    @of.register
    def _told(self, event: Told) -> Change:
        if self.state.requests.telling(event.trial, event.answer) is None:
            return NOTHING
        if isinstance(event.answer, Preference):
            return self._judged(event, self.state.ledger.judgement(event.trial, event.answer))
        if event.answer.point is not None:
            self._must_be_known(event.answer.point)
        aside = self._implausible(event.trial, event.answer)
        if aside != self.state._aside:
            return self._setting_aside(event, aside)
        return self._read(event, event.answer, self.state.ledger.must_be_open(event.trial))

    @of.register
    def _refitted(self, event: Refitted) -> Change:
        lessons = self.state.lessons
        lessons.comparisons.must_have_had(event.lessons)
        if not lessons.comparisons.awaits(event.lessons):
            return NOTHING
        known = None if event.fit is None else event.fit.model
        fit = lessons.fit_after(event.lessons) if known is None else known
        _must_be("lessons", event.lessons, fit.lessons)
        lessons.comparisons.must_have_led_to(fit)
        return self._change(Refitted(event.lessons, KeptFit(fit)), lambda: lessons.refit(fit))

    @of.register
    def _begun(self, event: Begun) -> Change:
        return self._change(event, lambda: setattr(self.state, "block", event.block))

    @of.register
    def _added(self, event: Added) -> Change:
        ledger = self.state.ledger
        if event.number < len(ledger.duels):
            return NOTHING
        _must_be("duel", len(ledger.duels), event.number)
        _must_be("trial", ledger.trials, event.trial)
        aside = self._implausible(event.trial, event.answer)
        if aside != self.state._aside and not event.withdrawn:
            return self._setting_aside(event, aside)
        return self._adding(event)

    @of.register
    def _failed(self, event: Failed) -> Change:
        i, ledger = event.trial, self.state.ledger
        if self.state.requests.fail(i, event.reason) is None:
            return NOTHING
        alert, entry = None, ledger.of_trial[i]
        if i not in ledger.pairs and not entry.void:
            alert = DuelGivenUp(f"duel {entry.number} given up: trial {i} failed ({event.reason})")
        return self._change(event, lambda: ledger.fail(i, event.reason), alert)

    @of.register
    def _expired(self, event: Expired) -> Change:
        ledger, i = self.state.ledger, event.trial
        return self._change(event, lambda: ledger.reissue(i)) if i in ledger.handed else NOTHING

    @of.register
    def _corrected(self, event: Corrected) -> Change:
        entry = self.state.ledger.of_trial.get(event.trial)
        again = event.undone and entry is not None and entry.added  # a reading that was taken back counts again
        if not again or isinstance(event.answer, Preference):
            self.state.requests.must_be_answered(event.trial)
        if repeats(event, self.state.done):
            return NOTHING
        return self._rewritten(event, with_answer(self.state.events, event.trial, event.answer))

    @of.register
    def _retracted(self, event: Retracted) -> Change:
        if not self.state.ledger.answered(event.trial):
            return NOTHING
        return self._rewritten(event, without_answer(self.state.events, event.trial))

    @of.register
    def _noted(self, event: Noted) -> Change:
        new = event.number >= self.state.next_note
        return self._change(event, lambda: None) if new else NOTHING

    @of.register
    def _set(self, event: Set) -> Change:
        same = last_set(self.state.settings, event.name) == Setting(event.name, event.value, event.why)
        return NOTHING if same else self._change(event, lambda: None)

    def _change(self, event: Event, make: Callable[[], object], alert: Warning | None = None) -> Change:
        state = self.state

        def made(at: str | None) -> None:
            state.whole = False
            make()
            state.past.append(Stamped(event, at))
            state.events.append(event)
            state.whole = True

        return Change(made, alert, event)

    def _rewritten(self, event: Corrected | Retracted, events: list[Event]) -> Change:
        """Return the change to the state that a replay of other events leads to; fits since they differ are void."""
        pairs = zip(self.state.events, events, strict=False)
        first = next((i for i, (was, now) in enumerate(pairs) if was is not now), len(events))
        again = self.state.fresh()
        for each in (*events[:first], *anew(events[first:])):
            again.apply(each)
        return self._replaced(event, again)

    def _setting_aside(self, news: Told | Added, aside: frozenset[int]) -> Change:
        """Return the change to the state in which other readings than before are set aside."""
        state, again = self.state, self.state.fresh()
        again._aside = aside
        for event in anew([*state.events, news]):
            Changes(again, sets_aside=False, later=True).of(event).make(None)
        strange = ", ".join(map(str, sorted(aside - state._aside)))
        alert = SetAside(f"the reading of trial {strange} cannot be: nothing is learned from it; see `correct`")
        return replace(self._replaced(news, again), alert=alert if strange else None)

    def _replaced(self, event: Teaching, again: "State") -> Change:
        """Return the change to a state made anew, which an event leads to, and with which fits."""
        readings = isinstance(event, Retracted) or isinstance(event.answer, Reading)
        fit = again.lessons.fitted(event.fit, self.later, readings)
        given = {} if event.fit is None else event.fit.beside
        known = {} if again.beside is None else again.beside.fitted(given, self.later)
        fitted = replace(event, fit=KeptFit.of(*((None, None) if fit is None else (fit.model, fit.judged)), known))
        state = self.state

        def made(at: str | None) -> None:
            again.past = [*state.past, Stamped(fitted, at)]
            state.__dict__.update(again.__dict__)

        return Change(made, event=fitted)

    def _implausible(self, trial: int, reading: Reading) -> frozenset[int]:
        """Return the trials whose reading cannot be, given one more."""
        known = self.state._aside
        if not self.sets_aside or (not known and abs(reading.value) <= LARGEST_PLAUSIBLE):
            return known
        told = [*self.state.ledger.readings.items(), (trial, reading)]
        return frozenset(told[k][0] for k in absurd([each.value for _, each in told]))

    def _judged(self, event: Told, said: Judgement) -> Change:
        """Return the change that a judgement makes."""
        lessons, known = self.state.lessons.judgements, None if event.fit is None else event.fit.judged
        belief, fit = lessons.after(said, known, self.later)

        def learn() -> None:
            self.state.ledger.judge(event.trial, said)
            lessons.add(said, fit, belief)

        return self._change(replace(event, fit=KeptFit.of(judged=fit)), learn)

    def _read(self, event: Told, told: Reading, entry: Entry) -> Change:
        """Return the change that a reading makes."""
        state, setup, i, strange = self.state, self.state.setup, event.trial, event.trial in self.state._aside
        reading = self._placed(told)
        now = entry.with_reading(i, reading, strange)
        late = not entry.void and (now.split or (setup.max_gap is not None and now.span > setup.max_gap))
        before = self._usable(entry) if setup.offset.learns_readings else []
        known = len(before) - before.count(None)  # its outcome is not among them: a reading was missing
        lessons = self._taught(now, comparable=not (entry.void or late or state.forecasts_nothing))[known:]
        belief, fit = state.lessons.comparisons.after(lessons, _model(event), self.later, event.deferred)
        deferred = event.deferred and (belief is None or overdue(belief))
        baseline = state.baseline
        if baseline is not None and not strange:
            with calmly(setup.prior):
                predicted = float(state.belief.posterior.at(now.point(i)[None]).mean[0])
            baseline = baseline.update(state.sign * reading.outcome, predicted)

        def learn() -> None:
            state.ledger.record(i, reading, strange)
            state.lessons.comparisons.add(lessons, fit, belief, deferred)
            if state.beside is not None and beside is not None:
                state.beside.add(beside)
            state.baseline = baseline
            if late:
                state.ledger.give_up(entry)

        beside = self._beside(event, now, self._usable(entry), comparable=not (entry.void or late))
        alert = self._alert(now, late, belief) or dead_alert(state.ledger, reading.value, now.point(i))
        return self._change(
            replace(event, fit=KeptFit.of(fit, None, None if beside is None else beside.fits), deferred=deferred),
            learn,
            alert,
        )

    def _adding(self, event: Added) -> Change:
        """Return the change that a reading makes which was not asked for."""
        i, told, setup = event.trial, event.answer, self.state.setup
        if not setup.offset.learns_readings:
            law = setup.offset
            raise ValueError(
                f"a reading that the study did not ask for is no duel, and {law!r} learns from duels alone"
            )
        assert told.point is not None
        self._must_be_known(told.point)
        single, reading = Proposal.single(told.point), self._placed(told)
        duel = Duel(single, single.points, (1.0,), single.points[0], None)
        strange = not event.withdrawn and i in self.state._aside
        entry = Entry(event.number, duel, (i,), None, {}, event.withdrawn, added=True).with_reading(i, reading, strange)
        lessons = () if event.withdrawn else self._taught(replace(entry, number=-1), comparable=False)
        comparisons = self.state.lessons.comparisons
        belief, fit = comparisons.after(lessons, _model(event), self.later)
        beside = self._beside(event, replace(entry, number=-1), [], comparable=False, withdrawn=event.withdrawn)

        def learn() -> None:
            self.state.ledger.add(entry)
            comparisons.add(lessons, fit, belief)
            if self.state.beside is not None and beside is not None:
                self.state.beside.add(beside)

        alert = None if belief is None else estranged_alert(belief, comparisons.belief)
        return self._change(
            replace(event, fit=KeptFit.of(fit, None, None if beside is None else beside.fits)), learn, alert
        )

    def _alert(self, entry: Entry, late: bool, belief: StudyBelief | None) -> Warning | None:
        """Return what the user should know of a duel once a reading is learned; later that is known no more."""
        setup = self.state.setup
        found: Warning | None = None
        limits = setup.caution
        if belief is not None:
            before = self.state.lessons.comparisons.belief
            found = estranged_alert(belief, before)
            if found is None and limits.drop is not None and limits.start is not None:
                part = setup.space.through(entry.point(entry.ids[0]))
                here = replace(limits, start=part.snap(limits.start[None])[0])
                with calmly(setup.prior):
                    found = drop_alert(here, entry, belief, before)
        return found or gap_alert(entry, late, setup.max_gap)

    def _placed(self, told: Reading) -> Reading:
        """Return a reading with its place in its campaign, and what was read before it."""
        ledger, campaign = self.state.ledger, told.told.campaign
        place = ledger.places.get(campaign, 0) + 1
        understood = told.under(self.state.setup.likelihood)
        return replace(understood, place=place, told=told.told.after(ledger.last_value(campaign)))

    def _taught(self, entry: Entry, comparable: bool) -> tuple[Comparison, ...]:
        setup, number = self.state.setup, float(entry.number)
        found = self._usable(entry)
        return teaches(entry.duel, found, setup.offset, number=number, sign=self.state.sign, comparable=comparable)

    def _must_be_known(self, point: FloatArray) -> None:
        """Refuse a point of which nothing can be known, since f is known at listed points only."""
        self.state.setup.prior.posterior.at(point[None])

    def _beside(
        self,
        event: Told | Added,
        entry: Entry,
        before: Sequence[Reading | None],
        comparable: bool,
        withdrawn: bool = False,
    ) -> Taught | None:
        """Return what a reading teaches of the outputs beside the first objective; `None` if there are none.

        Args:
            event: What happened.
            entry: The question with the new reading.
            before: The readings that it had, `None` for each that was missing.
            comparable: Whether its readings may be combined.
            withdrawn: Whether the reading counts no more.
        """
        setup, course, lessons = self.state.setup, self.state.beside, {}
        if course is None:
            return None
        for name, law in setup.laws.items():
            known = [of_output(reading, name) for reading in before] if law.learns_readings else []
            now = [of_output(reading, name) for reading in self._usable(entry)]
            number, sign = float(entry.number), setup.signs[name]
            taught = teaches(entry.duel, now, law, number=number, sign=sign, comparable=comparable)
            lessons[name] = () if withdrawn else taught[len(known) - known.count(None) :]
        fits = {} if event.fit is None else event.fit.beside
        return course.after(lessons, fits, self.later)

    def _usable(self, entry: Entry) -> list[Reading | None]:
        """Return the readings of a duel that teach, in the order of measurement.

        The same setting on the same seed gives the same number again: that says nothing of the noise.
        """
        found = entry.usable()
        if entry.seed is None:
            return found
        return [
            None if reading is None or self._known(entry, i, reading) else reading
            for i, reading in zip(entry.ids, found, strict=True)
        ]

    def _known(self, entry: Entry, i: int, reading: Reading) -> bool:
        """Return whether an earlier reading was of the same setting on the same seed."""
        ledger, at = self.state.ledger, entry.point(i).tobytes()
        earlier = ((j, ledger.of_trial[j]) for j, r in ledger.readings.items() if 0 < r.place < reading.place)
        return any(e.seed == entry.seed and j not in e.aside and e.point(j).tobytes() == at for j, e in earlier)

    def _must_be_planned(self, plan: int | None) -> None:
        if plan is not None and plan >= len(self.state._plans):
            raise ValueError(f"its plan must be one of the lines before it, got {plan}")


def _model(event: Told | Added) -> Milestone | None:
    return None if event.fit is None else event.fit.model


def _must_be(name: str, expected: int, found: int | None) -> None:
    if found != expected:
        raise ValueError(f"its {name} must be {expected}, as the lines before it say, got {found}")
