"""Edits of a study: correct or retract an answer, undo a step, set a reading aside, widen a range.

An edit rebuilds the state from the remaining events.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from equipoise.data import Preference, Reading
from equipoise.log import (
    Added,
    Corrected,
    Failed,
    KeptFit,
    Retracted,
    Stamped,
    Step,
    Told,
    Widened,
    across,
    widened,
    without_fits,
)
from equipoise.study.alerts import SetAside
from equipoise.study.changes.trials import NOTHING, Change, Preparation
from equipoise.study.judged_pairs import must_be_answered

if TYPE_CHECKING:
    from equipoise.data import Answer
    from equipoise.log import Event, Teaching
    from equipoise.study.state import State


def corrected(event: Corrected, on: Preparation) -> Change:
    """Return the change that a corrected answer makes; an undo may restore a retracted reading in this way."""
    entry = on.state.ledger.of_trial.get(event.trial)
    again = event.undone and entry is not None and entry.added
    if not again or isinstance(event.answer, Preference):
        must_be_answered(on.state.ledger, event.trial)
    if repeats(event, on.state.done):
        return NOTHING
    return _rewritten(on, event, with_answer(on.state.events, event.trial, event.answer))


def retracted(event: Retracted, on: Preparation) -> Change:
    """Return the change that a retracted answer makes."""
    if not on.state.ledger.answered(event.trial):
        return NOTHING
    return _rewritten(on, event, without_answer(on.state.events, event.trial))


def widening(event: Widened, on: Preparation) -> Change:
    """Return the change that a wider range makes: all points lie in the wider space, and all is learned again."""
    state, setup = on.state, on.state.setup
    space = widened(setup.space, event)
    if space is setup.space:  # it lies in the wider space already: all but the fit was done
        return NOTHING if event in state.done else on.change(event, lambda: state.lessons.fitted(event.fit, True))
    if not setup.learned:
        raise ValueError("a range can be widened if the model is learned: a `kernel` is given for the range as it is")
    again = state.fresh(setup.within(space))
    for each in without_fits(state.events):
        again.apply(across(each, setup.space, space))
    again.past = [Stamped(across(e, setup.space, space), s.at) for s in state.past for e in without_fits([s.event])]
    return _replaced(on, event, again, again.past)


def setting_aside(on: Preparation, news: Told | Added, aside: frozenset[int]) -> Change:
    """Return the change that sets other readings aside than before."""
    again = on.state.fresh()
    again.aside = aside
    for event in without_fits([*on.state.events, news]):
        again.apply(event, sets_aside=False)
    strange = ", ".join(map(str, sorted(aside - on.state.aside)))
    alert = SetAside(f"the reading of trial {strange} is impossible and was ignored; see `correct`")
    return replace(_replaced(on, news, again), alert=alert if strange else None)


def _rewritten(on: Preparation, event: Corrected | Retracted, events: list[Event]) -> Change:
    """Return the change to the state after other events; fits from the first difference on are void."""
    pairs = zip(on.state.events, events, strict=False)
    first = next((i for i, (was, now) in enumerate(pairs) if was is not now), len(events))
    again = on.state.fresh()
    for each in (*events[:first], *without_fits(events[first:])):
        again.apply(each)
    return _replaced(on, event, again)


def _replaced(
    on: Preparation, event: Teaching | Widened, again: State, past: Sequence[Stamped] | None = None
) -> Change:
    """Return the change of an event that replaces the state by a rebuilt one; the event keeps the new fits."""
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


def repeats(event: Corrected, past: Sequence[Event]) -> bool:
    """Return whether the last step of a trial was the same: an event may come twice after an interrupt."""
    last = next((e for e in reversed(past) if isinstance(e, Step) and e.trial == event.trial), None)
    return isinstance(last, Corrected) and last.undone == event.undone and _alike(last.answer, event.answer)


def _alike(a: Answer, b: Answer) -> bool:
    if isinstance(a, Preference) or isinstance(b, Preference):
        return a == b
    points = [None if each.point is None else each.point.tobytes() for each in (a, b)]
    return (a.value, a.values, a.time, a.error, points[0]) == (b.value, b.values, b.time, b.error, points[1])


def with_answer(events: Iterable[Event], trial: int, answer: Answer) -> list[Event]:
    """Return the events with another answer to a trial or pair; a retracted reading counts again."""

    def now(event: Event) -> Event:
        if isinstance(event, Added) and event.trial == trial and isinstance(answer, Reading):
            return replace(event, answer=answer, withdrawn=False)
        return replace(event, answer=answer) if isinstance(event, Told) and event.trial == trial else event

    return [now(event) for event in events]


def without_answer(events: Iterable[Event], trial: int) -> list[Event]:
    """Return the events without the answer to a trial; an added reading keeps its number, as withdrawn."""
    left = [e for e in events if not (isinstance(e, Told | Failed) and e.trial == trial)]
    return [replace(e, withdrawn=True) if isinstance(e, Added) and e.trial == trial else e for e in left]


def last_step(past: Sequence[Event]) -> int | None:
    """Return the index of the last step that was not undone; `None` if there is none."""
    undone = 0
    for k in range(len(past) - 1, -1, -1):
        event = past[k]
        if not isinstance(event, Step):
            continue
        if event.undone:
            undone += 1
        elif undone:
            undone -= 1
        else:
            return k
    return None


def last_answered(past: Sequence[Event]) -> int | None:
    """Return the trial or pair whose last step `undo` would take back; `None` if there is none."""
    k = last_step(past)
    step = None if k is None else past[k]
    return step.trial if isinstance(step, Step) else None


def undoing(past: Sequence[Event]) -> Event | None:
    """Return the event that undoes the last step; `None` if there is none.

    An answer is retracted. A correction is corrected back. An answer that was retracted is given again.
    """
    k = last_step(past)
    if k is None:
        return None
    step = past[k]
    assert isinstance(step, Step)
    before = [e for e in past[:k] if isinstance(e, Step) and e.trial == step.trial and not isinstance(e, Retracted)]
    match step:
        case Corrected():
            return _again(before[-1], rewritten=True)
        case Retracted():
            return _again(before[-1], rewritten=isinstance(before[0], Added))
    return Retracted(step.trial, undone=True)


def _again(answered: Event, rewritten: bool) -> Event:
    """Return the event that restores an answer: at its place, or told again."""
    if isinstance(answered, Failed):
        return Failed(answered.trial, answered.reason, undone=True)
    assert isinstance(answered, Told | Corrected | Added)
    return (Corrected if rewritten else Told)(answered.trial, answered.answer, undone=True)
