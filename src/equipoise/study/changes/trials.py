"""The changes of the loop: a question is asked, its trials are handed out, readings are told; or added, unasked."""

from dataclasses import replace

from equipoise._typing import FloatArray
from equipoise.belief import Milestone, StudyBelief
from equipoise.data import Comparison, Duel, Preference, Proposal, Reading, teaches
from equipoise.log import Added, Asked, Event, Handed, KeptFit, Told
from equipoise.study.alerts import dead_alert, drop_alert, estranged_alert, gap_alert
from equipoise.study.changes.change import NOTHING, Change, Preparation, must_be
from equipoise.study.changes.learning_beside import learned_beside
from equipoise.study.changes.others import judged, of_other
from equipoise.study.changes.plausibility import LARGEST_PLAUSIBLE, absurd
from equipoise.study.changes.rewriting import setting_aside
from equipoise.study.ledger import Entry, Ledger
from equipoise.study.lessons import calmly, overdue
from equipoise.study.outputs import Taught


def prepared(on: Preparation, event: Event) -> Change:
    """Return what an event will change; nothing if it has happened already, as after an interrupt."""
    match event:
        case Asked():
            return _asked(on, event)
        case Handed():
            return _handed(on, event)
        case Told():
            return _told(on, event)
        case Added():
            return _added(on, event)
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
        return judged(on, event, answer)
    if answer.point is not None:
        _must_be_known(on, answer.point)
    aside = _implausible(on, event.trial, answer)
    if aside != state.aside:
        return setting_aside(on, event, aside)
    return _read(on, event, answer, state.ledger.must_be_open(event.trial))


def _added(on: Preparation, event: Added) -> Change:
    ledger = on.state.ledger
    if event.number < len(ledger.duels):
        return NOTHING
    must_be("duel", len(ledger.duels), event.number)
    must_be("trial", ledger.trials, event.trial)
    aside = _implausible(on, event.trial, event.answer)
    if aside != on.state.aside and not event.withdrawn:
        return setting_aside(on, event, aside)
    return _taken_in(on, event)


def _read(on: Preparation, event: Told, told: Reading, entry: Entry) -> Change:
    """Return the change that a reading makes."""
    state, setup, i, strange = on.state, on.state.setup, event.trial, event.trial in on.state.aside
    reading = _placed(on, told)
    now = entry.with_reading(i, reading, strange)
    late = not entry.void and (now.split or (setup.max_gap is not None and now.span > setup.max_gap))
    before = _usable(on, entry) if setup.offset.learns_readings else []
    known = len(before) - before.count(None)  # its outcome is not among them: a reading was missing
    lessons = _taught(on, now, comparable=not (entry.void or late or state.forecasts_nothing))[known:]
    comparisons = state.lessons.comparisons
    belief, fit = comparisons.after(lessons, _model(event), on.later, event.deferred)
    deferred = event.deferred and (belief is None or overdue(belief))
    baseline = state.baseline
    if baseline is not None and not strange:
        with calmly(setup.prior):
            predicted = float(state.belief.posterior.at(now.point(i)[None]).mean[0])
        baseline = baseline.update(state.sign * reading.outcome, predicted)
    comparable = not (entry.void or late)
    beside = None
    if state.beside is not None:
        beside = learned_beside(on, event, now, _usable(on, now), _usable(on, entry), comparable)

    def learn() -> None:
        state.ledger.record(i, reading, strange)
        comparisons.add(lessons, fit, belief, deferred)
        if state.beside is not None and beside is not None:
            state.beside.add(beside)
        state.baseline = baseline
        if late:
            state.ledger.give_up(entry)

    alert = _alert(on, now, late, belief) or dead_alert(state.ledger, reading, now.point(i))
    return on.change(replace(event, fit=_kept(fit, beside), deferred=deferred), learn, alert)


def _taken_in(on: Preparation, event: Added) -> Change:
    """Return the change that a reading makes which was not asked for."""
    state, i, told, law = on.state, event.trial, event.answer, on.state.setup.offset
    if not law.learns_readings:
        raise ValueError(f"a reading that the study did not ask for is no duel, and {law!r} learns from duels alone")
    assert told.point is not None
    _must_be_known(on, told.point)
    single, reading = Proposal.single(told.point), _placed(on, told)
    duel = Duel(single, single.points, (1.0,), single.points[0], None)
    strange = not event.withdrawn and i in state.aside
    entry = Entry(event.number, duel, (i,), None, {}, event.withdrawn, added=True, seed=event.seed)
    entry = entry.with_reading(i, reading, strange)
    alone, comparisons = replace(entry, number=-1), state.lessons.comparisons
    lessons = () if event.withdrawn else _taught(on, alone, comparable=False)
    belief, fit = comparisons.after(lessons, _model(event), on.later)
    beside = None
    if state.beside is not None:
        beside = learned_beside(on, event, alone, [] if event.withdrawn else _usable(on, alone), [], comparable=False)

    def learn() -> None:
        state.ledger.add(entry)
        comparisons.add(lessons, fit, belief)
        if state.beside is not None and beside is not None:
            state.beside.add(beside)

    alert = None if belief is None else estranged_alert(belief, comparisons.belief)
    return on.change(replace(event, fit=_kept(fit, beside)), learn, alert)


def _alert(on: Preparation, entry: Entry, late: bool, belief: StudyBelief | None) -> Warning | None:
    """Return what the user should know of a duel once a reading is learned; later that is known no more."""
    setup, limits = on.state.setup, on.state.setup.caution
    found: Warning | None = None
    if belief is not None:
        before = on.state.lessons.comparisons.belief
        found = estranged_alert(belief, before)
        if found is None and limits.drop is not None and limits.start is not None:
            part = setup.space.through(entry.point(entry.ids[0]))
            here = replace(limits, start=part.snap(limits.start[None])[0])
            with calmly(setup.prior):
                found = drop_alert(here, entry, belief, before)
    return found or gap_alert(entry, late, setup.max_gap)


def _placed(on: Preparation, told: Reading) -> Reading:
    """Return a reading with its place in its campaign, and what was read before it."""
    ledger, campaign, setup = on.state.ledger, told.told.campaign, on.state.setup
    reading = replace(told.under(setup.likelihood), place=ledger.places.get(campaign, 0) + 1)
    if not setup.offset.learns_readings:  # what was read before matters to no duel
        return reading
    return replace(reading, told=told.told.after(ledger.last_value(campaign)))


def _taught(on: Preparation, entry: Entry, comparable: bool) -> tuple[Comparison, ...]:
    setup, number = on.state.setup, float(entry.number)
    found = _usable(on, entry)
    return teaches(entry.duel, found, setup.offset, number=number, sign=on.state.sign, comparable=comparable)


def _usable(on: Preparation, entry: Entry) -> list[Reading | None]:
    """Return the readings of a duel that teach, in the order of measurement.

    The same setting on the same seed gives the same number again: that says nothing of the noise.
    """
    found = entry.usable()
    if entry.seed is None:
        return found
    return [
        None if reading is None or _known(on.state.ledger, entry, i, reading) else reading
        for i, reading in zip(entry.ids, found, strict=True)
    ]


def _known(ledger: Ledger, entry: Entry, i: int, reading: Reading) -> bool:
    """Return whether an earlier reading was of the same setting on the same seed."""
    at = entry.point(i).tobytes()
    earlier = ((j, ledger.of_trial[j]) for j, r in ledger.readings.items() if 0 < r.place < reading.place)
    return any(e.seed == entry.seed and j not in e.aside and e.point(j).tobytes() == at for j, e in earlier)


def _implausible(on: Preparation, trial: int, reading: Reading) -> frozenset[int]:
    """Return the trials whose reading cannot be, given one more."""
    known = on.state.aside
    if not on.sets_aside or (not known and abs(reading.value) <= LARGEST_PLAUSIBLE):
        return known
    told = [*on.state.ledger.readings.items(), (trial, reading)]
    return frozenset(told[k][0] for k in absurd([each.value for _, each in told]))


def _must_be_known(on: Preparation, point: FloatArray) -> None:
    """Refuse a point of which nothing can be known, since f is known at listed points only."""
    on.state.setup.prior.posterior.at(point[None])


def _model(event: Told | Added) -> Milestone | None:
    return None if event.fit is None else event.fit.model


def _kept(fit: Milestone | None, beside: Taught | None) -> KeptFit | None:
    """Return what a log keeps of the fits that a reading has led to; `None` if there is none."""
    return None if fit is None and beside is None else KeptFit.of(fit, None, None if beside is None else beside.fits)
