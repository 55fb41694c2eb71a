"""The change of an added reading, which the study did not ask for."""

from dataclasses import replace

from equipoise.data import Duel, Proposal
from equipoise.log import Added
from equipoise.study.alerts import estranged_alert
from equipoise.study.changes.edits import setting_aside
from equipoise.study.changes.learning_beside import learned_beside
from equipoise.study.changes.trials import (
    NOTHING,
    Change,
    Preparation,
    implausible,
    kept,
    model_of,
    must_be,
    must_be_known,
    placed,
    taught,
    usable,
)
from equipoise.study.ledger import Entry


def added(event: Added, on: Preparation) -> Change:
    """Return the change that an added reading makes."""
    ledger = on.state.ledger
    if event.number < len(ledger.duels):
        return NOTHING
    must_be("duel", len(ledger.duels), event.number)
    must_be("trial", ledger.trials, event.trial)
    aside = implausible(on, event.trial, event.answer)
    if aside != on.state.aside and not event.withdrawn:
        return setting_aside(on, event, aside)
    return _taken_in(on, event)


def _taken_in(on: Preparation, event: Added) -> Change:
    state, i, told, law = on.state, event.trial, event.answer, on.state.setup.offset
    if not law.learns_readings:
        rule = "`offset` must let single readings teach if the study is to take one that it did not ask for"
        raise ValueError(f"{rule}, got {law!r}, which learns from duels alone")
    assert told.point is not None
    must_be_known(on, told.point)
    single, reading = Proposal.single(told.point), placed(on, told)
    duel = Duel(single, single.points, (1.0,), single.points[0], None)
    strange = not event.withdrawn and i in state.aside
    entry = Entry(event.number, duel, (i,), None, {}, event.withdrawn, added=True, seed=event.seed)
    entry = entry.with_reading(i, reading, strange)
    alone, comparisons = replace(entry, number=-1), state.lessons.comparisons
    lessons = () if event.withdrawn else taught(on, alone, comparable=False)
    belief, fit = comparisons.after(lessons, model_of(event), on.later)
    beside = None
    if state.beside is not None:
        beside = learned_beside(on, event, alone, [] if event.withdrawn else usable(on, alone), [], comparable=False)

    def learn() -> None:
        state.ledger.add(entry)
        comparisons.add(lessons, fit, belief)
        if state.beside is not None and beside is not None:
            state.beside.add(beside)

    alert = None if belief is None else estranged_alert(belief, comparisons.belief)
    return on.change(replace(event, fit=kept(fit, beside)), learn, alert)
