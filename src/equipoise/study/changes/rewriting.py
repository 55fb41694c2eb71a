"""The changes that rewrite what happened: an answer is corrected or retracted, or readings are set aside."""

from dataclasses import replace
from typing import TYPE_CHECKING

from equipoise.data import Preference, Reading
from equipoise.log import Added, Corrected, Event, KeptFit, Retracted, Stamped, Teaching, Told, anew
from equipoise.study.alerts import SetAside
from equipoise.study.changes.change import NOTHING, Change, Preparation
from equipoise.study.changes.edits import repeats, with_answer, without_answer
from equipoise.study.judged_pairs import must_be_answered

if TYPE_CHECKING:
    from equipoise.study.state import State


def corrected(event: Corrected, on: Preparation) -> Change:
    """Return the change that another answer makes; a reading that was taken back counts again if that is undone."""
    entry = on.state.ledger.of_trial.get(event.trial)
    again = event.undone and entry is not None and entry.added
    if not again or isinstance(event.answer, Preference):
        must_be_answered(on.state.ledger, event.trial)
    if repeats(event, on.state.done):
        return NOTHING
    return _rewritten(on, event, with_answer(on.state.events, event.trial, event.answer))


def retracted(event: Retracted, on: Preparation) -> Change:
    """Return the change that is made by taking back an answer."""
    if not on.state.ledger.answered(event.trial):
        return NOTHING
    return _rewritten(on, event, without_answer(on.state.events, event.trial))


def setting_aside(on: Preparation, news: Told | Added, aside: frozenset[int]) -> Change:
    """Return the change to the state in which other readings than before are set aside."""
    again = on.state.fresh()
    again.aside = aside
    for event in anew([*on.state.events, news]):
        again.apply(event, sets_aside=False)
    strange = ", ".join(map(str, sorted(aside - on.state.aside)))
    alert = SetAside(f"the reading of trial {strange} cannot be: nothing is learned from it; see `correct`")
    return replace(_replaced(on, news, again), alert=alert if strange else None)


def _rewritten(on: Preparation, event: Corrected | Retracted, events: list[Event]) -> Change:
    """Return the change to the state that a replay of other events leads to; fits since they differ are void."""
    pairs = zip(on.state.events, events, strict=False)
    first = next((i for i, (was, now) in enumerate(pairs) if was is not now), len(events))
    again = on.state.fresh()
    for each in (*events[:first], *anew(events[first:])):
        again.apply(each)
    return _replaced(on, event, again)


def _replaced(on: Preparation, event: Teaching, again: "State") -> Change:
    """Return the change to a state made anew, which an event leads to, and with which fits."""
    readings = isinstance(event, Retracted) or isinstance(event.answer, Reading)
    fit = again.lessons.fitted(event.fit, on.later, readings)
    given = {} if event.fit is None else event.fit.beside
    known = {} if again.beside is None else again.beside.fitted(given, on.later)
    fitted = replace(event, fit=KeptFit.of(*((None, None) if fit is None else (fit.model, fit.judged)), known))
    state = on.state

    def made(at: str | None) -> None:
        again.past = [*state.past, Stamped(fitted, at)]
        state.__dict__.update(again.__dict__)

    return Change(made, event=fitted)
