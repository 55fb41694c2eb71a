"""The changes that rewrite what happened: answers are corrected or retracted, readings set aside, ranges widened."""

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from equipoise.data import Preference, Reading
from equipoise.log import (
    Added,
    Corrected,
    Event,
    KeptFit,
    Retracted,
    Stamped,
    Teaching,
    Told,
    Widened,
    across,
    anew,
    widened,
)
from equipoise.study.alerts import SetAside
from equipoise.study.changes.edits import repeats, with_answer, without_answer
from equipoise.study.changes.trials import NOTHING, Change, Preparation
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


def widening(event: Widened, on: Preparation) -> Change:
    """Return the change to the state in which all points lie in a wider space, and all is learned again."""
    state, setup = on.state, on.state.setup
    space = widened(setup.space, event)
    if space is setup.space:  # it lies in the wider space already: all but the fit was done
        return NOTHING if event in state.done else on.change(event, lambda: state.lessons.fitted(event.fit, True))
    if not setup.learned:
        raise ValueError("a range can be widened if the model is learned: a `kernel` is given for the range as it is")
    again = state.fresh(setup.within(space))
    for each in anew(state.events):
        again.apply(across(each, setup.space, space))
    again.past = [Stamped(across(e, setup.space, space), s.at) for s in state.past for e in anew([s.event])]
    return _replaced(on, event, again, again.past)


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


def _replaced(
    on: Preparation, event: Teaching | Widened, again: "State", past: Sequence[Stamped] | None = None
) -> Change:
    """Return the change to a state made again, which an event leads to, and with which fits."""
    readings = isinstance(event, Retracted | Widened) or isinstance(event.answer, Reading)
    fit = again.lessons.fitted(event.fit, on.later, readings)
    given = {} if event.fit is None else event.fit.beside
    known = {} if again.beside is None else again.beside.fitted(given, on.later)
    fitted = replace(event, fit=KeptFit.of(*((None, None) if fit is None else (fit.model, fit.judged)), known))
    state = on.state

    def made(at: str | None) -> None:
        again.past = [*(state.past if past is None else past), Stamped(fitted, at)]
        state.__dict__.update(again.__dict__)

    return Change(made, event=fitted)
