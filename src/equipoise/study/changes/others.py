"""The changes of all other events: judgements, failures, plans, fits, blocks, notes, settings, edits."""

from dataclasses import replace
from functools import singledispatch

from equipoise.data import Preference
from equipoise.log import (
    Begun,
    Canceled,
    Event,
    Expired,
    Failed,
    KeptFit,
    Noted,
    Planned,
    Refitted,
    Set,
    Told,
)
from equipoise.study.alerts import DuelGivenUp
from equipoise.study.changes.additions import added
from equipoise.study.changes.edits import corrected, retracted, widening
from equipoise.study.changes.trials import NOTHING, Change, Preparation, must_be
from equipoise.study.judged_pairs import judgement
from equipoise.study.tables import Setting, last_set, next_note, settings_of


def judged(on: Preparation, event: Told, answer: Preference) -> Change:
    """Return the change that a judgement makes."""
    state, said = on.state, judgement(on.state.ledger, event.trial, answer)
    lessons, known = state.lessons.judgements, None if event.fit is None else event.fit.judged
    belief, fit = lessons.after(said, known, on.later)

    def learn() -> None:
        state.ledger.judge(event.trial, said)
        lessons.add(said, fit, belief)

    return on.change(replace(event, fit=KeptFit.of(judged=fit)), learn)


@singledispatch
def of_other(event: Event, on: Preparation) -> Change:
    """Return the change of an event outside the loop of ask and tell."""
    raise TypeError(f"`event` must be an event of a study, got {event!r}")


of_other.register(added)
of_other.register(corrected)
of_other.register(retracted)
of_other.register(widening)


@of_other.register
def _planned(event: Planned, on: Preparation) -> Change:
    plans = on.state.planned
    if event.number < len(plans):
        return NOTHING
    must_be("plan", len(plans), event.number)
    return on.change(event, lambda: plans.append(event))


@of_other.register
def _canceled(event: Canceled, on: Preparation) -> Change:
    on.must_be_planned(event.number)
    return on.change(event, lambda: on.state.canceled.add(event.number))


@of_other.register
def _refitted(event: Refitted, on: Preparation) -> Change:
    lessons = on.state.lessons
    lessons.comparisons.must_have_had(event.lessons)
    if not lessons.comparisons.awaits(event.lessons):
        return NOTHING
    known = None if event.fit is None else event.fit.model
    fit = lessons.fit_after(event.lessons) if known is None else known
    must_be("lessons", event.lessons, fit.lessons)
    lessons.comparisons.must_have_led_to(fit)
    return on.change(Refitted(event.lessons, KeptFit(fit)), lambda: lessons.refit(fit))


@of_other.register
def _begun(event: Begun, on: Preparation) -> Change:
    return on.change(event, lambda: setattr(on.state, "block", event.block))


@of_other.register
def _failed(event: Failed, on: Preparation) -> Change:
    i, ledger = event.trial, on.state.ledger
    if on.state.requests.fail(i, event.reason) is None:
        return NOTHING
    alert, entry = None, ledger.of_trial[i]
    if i not in ledger.pairs and not entry.void:
        alert = DuelGivenUp(f"duel {entry.number} given up: trial {i} failed ({event.reason})")
    return on.change(event, lambda: ledger.fail(i, event.reason), alert)


@of_other.register
def _expired(event: Expired, on: Preparation) -> Change:
    ledger, i = on.state.ledger, event.trial
    return on.change(event, lambda: ledger.reissue(i)) if i in ledger.handed else NOTHING


@of_other.register
def _noted(event: Noted, on: Preparation) -> Change:
    return on.change(event, lambda: None) if event.number >= next_note(on.state.past) else NOTHING


@of_other.register
def _set(event: Set, on: Preparation) -> Change:
    same = last_set(settings_of(on.state.past), event.name) == Setting(event.name, event.value, event.why)
    return NOTHING if same else on.change(event, lambda: None)
