"""The state of a study: what was asked and told, and what was learned from it.

It changes only by `apply(event)`. A live call prepares the event's change, writes the event, and makes the change; a
replay and the history do the same without the write. What can fail fails in `prepare`, before anything is written.
"""

import copy
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace

import numpy as np

from equipoise._typing import FloatArray
from equipoise.answer import Standing
from equipoise.belief import Feasibility, JudgedPosterior, Milestone, Posterior
from equipoise.data import Comparison, Duel, Proposal, Reading, Trial, teaches, will_teach
from equipoise.likelihoods import Judge, Judgement
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
    Judged,
    Noted,
    Paired,
    Planned,
    Refitted,
    Rejudged,
    Retracted,
    Set,
    Stamped,
    Teaching,
    Told,
    anew,
)
from equipoise.offsets import Circumstances
from equipoise.reductions import Zero
from equipoise.spaces import Domain
from equipoise.study.docket import Case, Docket
from equipoise.study.door import Door, labelled
from equipoise.study.edits import corrected, last_step, rejudged, repeats, retracted, undoing
from equipoise.study.learning import Learning, Overdue, calmly
from equipoise.study.ledger import DuelGivenUp, Entry, Ledger
from equipoise.study.listening import Listening
from equipoise.study.notes import dead_note, drop_note, estranged_note, gap_note
from equipoise.study.outliers import LARGEST_PLAUSIBLE, SetAside, absurd
from equipoise.study.plans import Plan
from equipoise.study.positions import position, positions
from equipoise.study.reach import Reach
from equipoise.study.rules import NOTHING, Change, Note, Record, Setting, last_set
from equipoise.study.setup import Setup
from equipoise.study.times import Times
from equipoise.study.views import feasibility, records, standing, suspect

MOST_ANTICIPATED = 96
"""How many open duels are anticipated, the newest: what all of them cost and bring is in docs/reliability.md."""


MIN_EARLIER = 6
"""So many readings that nobody asked for are enough to fit a model to: they say what is best."""


class State:
    """The state of a study.

    Args:
        setup: What it is governed by.
    """

    def __init__(self, setup: Setup) -> None:
        self.setup = setup
        self.baseline = setup.baseline
        self._learning = Learning(setup.prior)
        self._ledger = Ledger(setup.space.decode)
        self.docket = Docket(setup.space.decode)
        self._listening = Listening(self._learning, setup.prior)
        self._past: list[Stamped] = []  # what happened
        self._events: list[Event] = []  # the same as if what was taken back had not been, and what was corrected had
        self._plans: list[Planned] = []
        self._canceled: set[int] = set()
        self.block = ""  # to which block what is told belongs
        self._notes: list[Noted] = []
        self.whole = True  # else an interrupt came in the middle of a change
        self._aside: frozenset[int] = frozenset()

    @property
    def posterior(self) -> Posterior:
        """The belief, given everything told and judged; made when it is asked for."""
        return self._listening.belief

    @property
    def overdue(self) -> Overdue | None:
        """The fit that was deferred and is still to be made, if there is one."""
        return self._learning.overdue

    def awaits(self, due: Overdue) -> bool:
        """Whether a fit can still be taken up: nothing that it was made from has changed, and no later one is known."""
        return due.learning is self._learning and self._learning.awaits(due.lessons)

    @property
    def judges(self) -> tuple[Judge, ...]:
        """What is known of each judge."""
        return self._listening.judges

    @property
    def readings(self) -> int:
        """How many readings were told, those of earlier campaigns apart."""
        return self._ledger.places.get("", 0)

    @property
    def duels(self) -> int:
        """How many duels there ever were."""
        return len(self._ledger.entries)

    @property
    def proposed(self) -> int:
        """How many duels were proposed: all but those that nobody asked for."""
        return self.duels - self._ledger.added

    @property
    def informed(self) -> bool:
        """Whether earlier readings say what is best."""
        return self._ledger.added >= MIN_EARLIER

    @property
    def trials(self) -> int:
        """How many trials there ever were."""
        return self._ledger.trials

    @property
    def open_trials(self) -> tuple[int, ...]:
        """The trials handed out and neither told nor failed."""
        return tuple(sorted(self._ledger.handed))

    def handed(self, i: int) -> Trial:
        """Return a trial that is out with a worker."""
        return self._ledger.handed[i]

    @property
    def door(self) -> Door:
        """What turns what is told of a trial into an event, or refuses it."""
        return Door(self._ledger, self.setup.space, self.docket, self.block)

    @property
    def last_answered(self) -> int | None:
        """The trial or pair whose last step `undo` would take back; `None` where there is none."""
        step = last_step(self._done)
        return None if step is None else self._done[step].trial  # type: ignore[union-attr]

    def undoing(self) -> Event | None:
        """Return the event that takes back the last step; `None` where there is none."""
        return undoing(self._done)

    @property
    def _done(self) -> list[Event]:
        """The events that happened, without their times."""
        return [stamped.event for stamped in self._past]

    def apply(self, event: Event, at: str | None = None) -> None:
        """Let an event happen at a time; one that has happened already, as after an interrupt, changes nothing.

        What it teaches is learned when the belief is asked for.
        """
        self.prepare(event, later=True).make(at)

    def prepare(self, event: Event, *, screen: bool = True, later: bool = False) -> Change:
        """Return what an event will change; whatever can fail fails here.

        Args:
            event: What happens.
            screen: Whether a reading is compared with the others, so that those which cannot be are set aside.
            later: Whether what it teaches is learned when the belief is asked for, not now.
        """
        ledger = self._ledger
        match event:
            case Planned(number):
                self._must_be("plan", len(self._plans), max(number, len(self._plans)))
                return self._change(event, lambda: self._plans.append(event)) if self._is_new(number) else NOTHING
            case Canceled(number):
                self._must_be_planned(number)
                return self._change(event, lambda: self._canceled.add(number))
            case Asked(trial, number, duel, worker, plan):
                if number < self.duels:
                    return NOTHING
                self._must_be("duel", self.duels, number)
                self._must_be("trial", self.trials, trial)
                self._must_be_planned(plan)
                return self._change(event, lambda: ledger.enter(duel, worker, plan))
            case Handed(trial, worker, point):
                if trial in ledger.handed:
                    return NOTHING
                if not ledger.waits(trial, worker):
                    raise ValueError(f"its trial must wait for worker {worker!r}, as the lines before say, got {trial}")
                return self._change(event, lambda: ledger.hand_out(worker, trial, point))
            case Told(trial, reading):
                if self.door.telling(trial, reading) is None:
                    return NOTHING
                if reading.point is not None:
                    self.setup.prior.at(reading.point[None])  # refused now, where f is known at listed points only
                aside = self._screened(event) if screen else self._aside
                if aside != self._aside:
                    return self._setting_aside(event, aside, later)
                return self._taught(event, ledger.must_be_open(trial), later)
            case Refitted(lessons, fit):
                self._learning.must_have_had(lessons)
                return self._fitting(lessons, fit) if self._learning.awaits(lessons) else NOTHING
            case Begun(block):
                return self._change(event, lambda: setattr(self, "block", block))
            case Added(trial, number, reading):
                if number < self.duels:
                    return NOTHING
                self._must_be("duel", self.duels, number)
                self._must_be("trial", self.trials, trial)
                aside = self._screened(event) if screen else self._aside
                if aside != self._aside and not event.withdrawn:
                    return self._setting_aside(event, aside, later)
                return self._adding(event, later)
            case Paired(trial, plan=plan):
                if trial in self.docket:
                    return NOTHING
                self._must_be("pair", self.trials, trial)
                self._must_be_planned(plan)
                return self._change(event, lambda: self._enter(event))
            case Judged(trial):
                said = self.docket.judgement(event)
                return NOTHING if said is None else self._judging(event, said, later)
            case Rejudged(trial, answer, judge):
                self.docket.rejudging(trial, answer)
                if repeats(event, self._done):
                    return NOTHING
                return self._rewritten(event, rejudged(self._events, Judged(trial, answer, judge)), later)
            case Failed(trial, reason):
                if self.door.failing(trial, reason) is None:
                    return NOTHING
                if trial in self.docket:
                    return self._change(event, lambda: self.docket.skip(trial, reason))
                entry = ledger.must_be_open(trial)
                why = f"duel {entry.number} given up: trial {trial} failed ({reason})"
                note = None if entry.void else DuelGivenUp(why)
                return self._change(event, lambda: ledger.fail(trial, reason), note)
            case Expired(trial):
                return self._change(event, lambda: ledger.reissue(trial)) if trial in ledger.handed else NOTHING
            case Corrected(trial, reading):
                if not (event.undone and trial in ledger.of_trial and ledger.of_trial[trial].added):  # it counts again
                    self.door.must_be_told(trial)
                if repeats(event, self._done):
                    return NOTHING
                return self._rewritten(event, corrected(self._events, trial, reading), later)
            case Retracted(trial):
                answered = trial in ledger.told or trial in ledger.failed or self.docket.answers(trial)
                return self._rewritten(event, retracted(self._events, trial), later) if answered else NOTHING
            case Noted(number):
                new = number >= self.next_note
                return self._change(event, lambda: self._notes.append(event)) if new else NOTHING
            case Set(name, value, why):
                last = last_set(self.settings, name)
                return NOTHING if last == Setting(name, value, why) else self._change(event, lambda: None)

    @property
    def next_note(self) -> int:
        """The number of the next note; a former version also numbered what are settings now."""
        return self._notes[-1].number + 1 if self._notes else 0

    @property
    def settings(self) -> list[Setting]:
        """The settings that were changed, in this order."""
        return [Setting(s.event.name, s.event.value, s.event.why, s.at) for s in self._past if isinstance(s.event, Set)]

    @property
    def notes(self) -> list[Note]:
        """What was said of the study, in this order."""
        decode, at = self.setup.space.decode, Times.of(self._past).noted
        return [
            Note(n.topic, n.text, None if n.point is None else decode(n.point), at.get(n.number)) for n in self._notes
        ]

    @property
    def plans(self) -> list[Plan]:
        """All plans, and how far it is with each."""
        return [Plan.of(plan, plan.number in self._canceled, self._serving(plan.number)) for plan in self._plans]

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
        found = standing(self._ledger, self.docket, self._plans, self.plans, self.setup, self.feasibility, space)
        return replace(found, attainable=self._attainable(space)) if self.limited else found

    def _attainable(self, space: Domain) -> Domain:
        """Return the part of a space where the limits let the study go."""
        return self.setup.limits.attainable(space, self.posterior, self.feasibility, self._tried)

    def anticipated(self) -> Posterior:
        """Return the belief as if what is open came out as expected: surer, so that the next proposal differs."""
        place = self.readings + 1
        lessons = [
            lesson for entry in self._ledger.open_duels[-MOST_ANTICIPATED:] for lesson in self._awaited(entry, place)
        ]
        return self.posterior.anticipate_all(lessons) if lessons else self.posterior

    def awaiting(self) -> Posterior:
        """Return the belief as if what is open came out as expected, the pairs that wait for a judge too."""
        posterior, waiting = self.anticipated(), self.docket.waiting[-MOST_ANTICIPATED:]
        return JudgedPosterior.over(posterior).expecting(waiting) if len(waiting) else posterior

    @property
    def feasibility(self) -> Feasibility:
        """Where readings can be had, by what was read and what failed."""
        return feasibility(self._ledger, self._aside, self.setup.space.extent)

    @property
    def limited(self) -> bool:
        """Whether not everything may be proposed."""
        return not self.setup.limits.none

    @property
    def unrestricted(self) -> bool:
        """Whether every setting may be asked for: there are no limits, and none has failed."""
        return not (self.limited or self._ledger.failed or self._aside)

    def reach(self, space: Domain, worker: str | None = None) -> Reach | None:
        """Return what is within a step of where the machine may stand, if steps are limited."""
        limits = self.setup.limits
        if limits.max_step is None:
            return None
        stands = positions(self._events, self._ledger, self.docket, limits.start, worker)
        return Reach.of(space, stands, limits.max_step)

    def allowed(self, space: Domain, reach: Reach | None) -> Domain:
        """Return the part of a space that may be asked for, by what was told: what is open makes nothing safe."""
        if self.unrestricted:
            return space
        return self.setup.limits.within(space, self.posterior, self.feasibility, reach, self._tried)

    def waiting(self, worker: str | None) -> Iterator[tuple[int, FloatArray]]:
        """Yield the trials that wait for a worker, and where they are to be measured, in this order."""
        return ((i, self._ledger.of_trial[i].point(i)) for i in self._ledger.waiting(worker))

    def partners(self, i: int) -> list[FloatArray]:
        """Return where the other readings of the duel of a trial were taken."""
        entry = self._ledger.of_trial[i]
        return [entry.point(j) for j in entry.readings if j != i]

    @property
    def _tried(self) -> FloatArray:
        """The points that were asked for and measured there, shape (n, d)."""
        tried = (entry for entry in self._ledger.entries if not entry.added)
        points = [entry.duel.points[k] for entry in tried for k, i in enumerate(entry.ids) if i in entry.readings]
        return np.array(points).reshape(-1, self.setup.space.dimension)

    @property
    def asked(self) -> FloatArray:
        """The points that were asked for, shape (n, d)."""
        asked = [*(entry.duel.points for entry in self._ledger.entries), *self.docket.pairs]
        return np.concatenate(asked) if asked else np.empty((0, self.setup.space.dimension))

    @property
    def latest(self) -> FloatArray | None:
        """The point that was handed out last, encoded, shape (d,): it is at the present context."""
        last = next((event for event in reversed(self._events) if isinstance(event, Asked | Handed | Paired)), None)
        if last is None or isinstance(last, Paired):
            return None if last is None else last.first
        return self._ledger.of_trial[last.trial].point(last.trial)

    def suspect(self) -> FloatArray | None:
        """Return a point whose only reading is held for spoiled though it was a good one, to be confirmed."""
        return suspect(self._ledger, self.posterior.spoiled, self.setup.sign)

    def records(
        self, aside: bool = True, judgements: bool = False, trials: Iterable[int] | None = None
    ) -> list[Record]:
        """Return what became of every trial, in the order in which they were told; then those that were not.

        Args:
            aside: Whether to say which readings the belief learns nothing from: else it need not be made.
            judgements: Whether to return the pairs instead.
            trials: Only these; all by default.
        """
        times, wanted = Times.of(self._past), None if trials is None else set(trials)
        if judgements:
            found = self.docket.records()
        else:
            found = records(self._ledger, self.posterior if aside else None, self.setup.space.decode, wanted)
        return [times.marked(record) for record in found if wanted is None or record.trial in wanted]

    def position(self, worker: str | None) -> FloatArray | None:
        """Return the point where the machine of a worker was moved last, or read; `None` if that is not known."""
        return position(self._done, self._ledger, worker)

    def history(self) -> "Iterator[State]":
        """Yield a state as it was before any reading or judgement, then after each: one object, which changes on."""
        again = State(self.setup)
        yield again
        for past, event in self.replay():
            if isinstance(event, (Told, Judged)):
                past.apply(event)
                yield past

    def replay(self) -> "Iterator[tuple[State, Event]]":
        """Yield each event, and the state as it was before: one object, which goes on changing."""
        again = State(self.setup)
        for event in list(self._events):
            yield again, event
            again.apply(event)  # once more changes nothing

    def differences(self) -> dict[int, float]:
        """Return the first reading less the second of every complete duel of two, by number, as values are learned."""
        pairs = [entry for entry in self._ledger.entries if len(entry.ids) == 2 and entry.complete]
        sign = self.setup.sign
        values = {entry.number: [entry.readings[i].value for i in entry.ids] for entry in pairs}
        return {number: sign * (first - second) for number, (first, second) in values.items()}

    def rebuilt(self) -> "State":
        """Return the state that the events which happened lead to; this one may be half changed."""
        again = State(self.setup)
        for stamped in list(self._past):
            again.apply(stamped.event, stamped.at)
        return again

    def copied(self) -> "State":
        """Return a copy with a ledger of its own."""
        new = copy.copy(self)
        new._ledger, new._events, new._past = copy.deepcopy(self._ledger), list(self._events), list(self._past)
        new.docket = self.docket.copied()
        new._plans, new._canceled, new._notes = list(self._plans), set(self._canceled), list(self._notes)
        new._learning = self._learning.copied()
        new._listening = self._listening.copied(new._learning)
        return new

    def _change(self, event: Event, make: Callable[[], object], note: Warning | None = None) -> Change:
        def made(at: str | None) -> None:
            self.whole = False
            make()
            self._past.append(Stamped(event, at))
            self._events.append(event)
            self.whole = True

        return Change(made, note, event)

    def _rewritten(self, event: Corrected | Retracted | Rejudged, events: list[Event], later: bool) -> Change:
        """Return the change to the state that a replay of other events leads to; fits since they differ are void."""
        pairs = zip(self._events, events, strict=False)
        first = next((i for i, (was, now) in enumerate(pairs) if was is not now), len(events))
        again = self._replayed([*events[:first], *anew(events[first:])])
        return self._replaced(event, again, later)

    def _replaced(self, event: Teaching, again: "State", later: bool) -> Change:
        """Return the change to a state made anew, which an event leads to, and with which fits."""
        fitted = again._fitted(event, later)

        def made(at: str | None) -> None:
            again._past = [*self._past, Stamped(fitted, at)]
            self.__dict__.update(again.__dict__)

        return Change(made, event=fitted)

    def _fitted(self, event: Teaching, later: bool) -> Event:
        """Return the event that has led here with the last fits; those that it knows are taken up."""
        heard = event.heard
        if heard is not None:
            self._listening.must_have_led_to(heard)
            self._listening.recall(heard)
        elif not later:
            heard = self._listening.news()
        if isinstance(event, Judged | Rejudged):
            return replace(event, heard=heard)
        fit = event.fit
        if fit is not None:
            self._learning.must_have_led_to(fit)
            self._learning.fit(fit)
        elif not later:
            fit = self._learning.last_fit
        return replace(event, fit=fit, heard=heard)

    def _replayed(self, events: list[Event]) -> "State":
        again = State(self.setup)
        for event in events:
            again.apply(event)
        return again

    def _screened(self, event: Told | Added) -> frozenset[int]:
        """Return the trials whose reading cannot be, given one more."""
        if not self._aside and abs(event.reading.value) <= LARGEST_PLAUSIBLE:
            return self._aside
        told = [*self._ledger.told.items(), (event.trial, event.reading)]
        return frozenset(told[k][0] for k in absurd([reading.value for _, reading in told]))

    def _setting_aside(self, news: Told | Added, aside: frozenset[int], later: bool) -> Change:
        """Return the change to the state in which other readings than before are set aside."""
        again = State(self.setup)
        again._aside = aside
        for event in anew([*self._events, news]):
            again.prepare(event, screen=False, later=True).make(None)
        strange = ", ".join(map(str, sorted(aside - self._aside)))
        note = SetAside(f"the reading of trial {strange} cannot be: nothing is learned from it; see `correct`")
        return replace(self._replaced(news, again, later), note=note if strange else None)

    def _taught(self, event: Told, entry: Entry, later: bool) -> Change:
        """Return the change that a reading makes."""
        setup, i, strange = self.setup, event.trial, event.trial in self._aside
        reading = self._placed(event.reading)
        now = entry.with_reading(i, reading, strange)
        late = not entry.void and (now.split or (setup.max_gap is not None and now.span > setup.max_gap))
        comparable = not (entry.void or late or self._forecasts_nothing)
        before = entry.told() if setup.offset.learns_readings else ()
        known = len(before) - before.count(None)  # its outcome is not among them: a reading was missing
        lessons = self._lessons(now, comparable)[known:]
        belief, fit = self._learning.after(lessons, event.fit, later, event.deferred)
        deferred = event.deferred and (belief is None or belief.overdue)
        baseline = self.baseline
        if baseline is not None and not strange:
            with calmly(setup.prior):
                predicted = float(self.posterior.at(now.point(i)[None]).mean[0])
            baseline = baseline.update(setup.sign * reading.value, predicted)

        def learn() -> None:
            self._ledger.record(i, reading, strange)
            self._learning.add(lessons, fit, belief, deferred)
            self.baseline = baseline
            if late:
                self._ledger.give_up(entry)

        note = self._estranged_note(belief) or self._drop_note(now, belief) or gap_note(now, late, setup.max_gap)
        return self._change(
            replace(event, fit=fit, deferred=deferred),
            learn,
            note or dead_note(self._ledger, reading.value, now.point(i)),
        )

    def _fitting(self, lessons: int, fit: Milestone | None) -> Change:
        """Return the change that a fit makes which was deferred; made now where it is not known."""
        known = self._learning.fit_after(lessons) if fit is None else fit
        self._must_be("lessons", lessons, known.lessons)
        self._learning.must_have_led_to(known)

        def learn() -> None:
            self._learning.refit(known)
            self._listening.refit()

        return self._change(Refitted(lessons, known), learn)

    def _judging(self, event: Judged, said: Judgement, later: bool) -> Change:
        """Return the change that a judgement makes."""
        belief, heard = self._listening.after(said, event.heard, later)

        def learn() -> None:
            self.docket.judge(event.trial, said)
            self._listening.add(said, heard, belief)

        return self._change(replace(event, heard=heard), learn)

    def _enter(self, event: Paired) -> None:
        self.docket.enter(event)
        self._ledger.trials += 1  # pairs are numbered with the trials

    def _serving(self, plan: int) -> list[Entry | Case]:
        return [*self._ledger.serving(plan), *self.docket.serving(plan)]

    def _adding(self, event: Added, later: bool) -> Change:
        """Return the change that a reading makes which nobody asked for."""
        i, told = event.trial, event.reading
        if not self.setup.offset.learns_readings:
            law = self.setup.offset
            raise ValueError(f"a reading that nobody asked for is no duel, and {law!r} learns from duels alone")
        assert told.point is not None
        self.setup.prior.at(told.point[None])  # refused now, where f is known at listed points only
        single, reading = Proposal.single(told.point), self._placed(told)
        duel = Duel(single, single.points, (1.0,), single.points[0], None)
        strange = not event.withdrawn and i in self._aside
        entry = Entry(event.number, duel, (i,), None, {i: reading}, event.withdrawn, added=True)
        entry = entry.with_reading(i, reading, strange)
        lessons = () if event.withdrawn else self._lessons(replace(entry, number=-1), comparable=False)
        belief, fit = self._learning.after(lessons, event.fit, later)

        def learn() -> None:
            self._ledger.add(entry)
            self._learning.add(lessons, fit, belief)

        return self._change(replace(event, fit=fit), learn, self._estranged_note(belief))

    def _estranged_note(self, belief: Posterior | None) -> Warning | None:
        """Return what is to be said of earlier campaigns once a reading is learned; it was, where that is not now."""
        return None if belief is None else estranged_note(belief, self._learning.belief)

    def _drop_note(self, entry: Entry, belief: Posterior | None) -> Warning | None:
        """Return what is to be said where a setting turns out not to be safe, at its own context."""
        limits = self.setup.limits
        if limits.drop is None or limits.start is None or belief is None:
            return None
        part = self.setup.space.through(entry.point(entry.ids[0]))
        here = replace(limits, start=part.snap(limits.start[None])[0])
        with calmly(self.setup.prior):
            return drop_note(here, entry, belief, self._learning.belief)

    def _placed(self, told: Reading) -> Reading:
        """Return a reading with its place in its campaign, and what was read before it."""
        campaign = told.told.campaign
        before = self._ledger.last_value(campaign)
        place = self._ledger.places.get(campaign, 0) + 1
        return replace(told, place=place, told=told.told.after(before))

    def _awaited(self, entry: Entry, place: int) -> tuple[Comparison, ...]:
        """Return what a duel still open will teach."""
        block = labelled(self.block, entry.worker)
        number, told = float(entry.number), entry.told()
        expected = Circumstances(block).after(self._ledger.last_value(""))
        return will_teach(entry.duel, told, self.setup.offset, number=number, place=place, expected=expected)

    @property
    def _forecasts_nothing(self) -> bool:
        """Whether there is nothing yet to forecast the first reading from: see `reductions/baselines.py`."""
        return not self._ledger.told and self.setup.baseline not in (None, Zero())

    def _lessons(self, entry: Entry, comparable: bool) -> tuple[Comparison, ...]:
        setup = self.setup
        told, number = entry.told(), float(entry.number)
        return teaches(entry.duel, told, setup.offset, number=number, sign=setup.sign, comparable=comparable)

    def _is_new(self, plan: int) -> bool:
        return plan >= len(self._plans)

    def _must_be_planned(self, plan: int | None) -> None:
        if plan is not None and self._is_new(plan):
            raise ValueError(f"its plan must be one of the lines before it, got {plan}")

    @staticmethod
    def _must_be(name: str, expected: int | None, found: int) -> None:
        if found != expected:
            raise ValueError(f"its {name} must be {expected}, as the lines before it say, got {found}")
