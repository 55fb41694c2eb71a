"""Edits of what happened: an answer is replaced or taken back, and the last step is undone."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from equipoise.data import Preference, Reading
from equipoise.log import Added, Corrected, Failed, Retracted, Step, Told

if TYPE_CHECKING:
    from equipoise.data import Answer
    from equipoise.log import Event


def repeats(event: Corrected, past: Sequence[Event]) -> bool:
    """Return whether the last step of a trial was the same: after an interrupt an event may come a second time."""
    last = next((e for e in reversed(past) if isinstance(e, Step) and e.trial == event.trial), None)
    return isinstance(last, Corrected) and last.undone == event.undone and _alike(last.answer, event.answer)


def _alike(a: Answer, b: Answer) -> bool:
    if isinstance(a, Preference) or isinstance(b, Preference):
        return a == b
    points = [None if each.point is None else each.point.tobytes() for each in (a, b)]
    return (a.value, a.values, a.time, a.error, points[0]) == (b.value, b.values, b.time, b.error, points[1])


def with_answer(events: Iterable[Event], trial: int, answer: Answer) -> list[Event]:
    """Return the events with another answer to a trial or pair; a reading that was taken back counts again."""

    def now(event: Event) -> Event:
        if isinstance(event, Added) and event.trial == trial and isinstance(answer, Reading):
            return replace(event, answer=answer, withdrawn=False)
        return replace(event, answer=answer) if isinstance(event, Told) and event.trial == trial else event

    return [now(event) for event in events]


def without_answer(events: Iterable[Event], trial: int) -> list[Event]:
    """Return the events without the answer to a trial; a reading that was not asked for keeps its number, withdrawn."""
    left = [e for e in events if not (isinstance(e, Told | Failed) and e.trial == trial)]
    return [replace(e, withdrawn=True) if isinstance(e, Added) and e.trial == trial else e for e in left]


def last_step(past: Sequence[Event]) -> int | None:
    """Return where the last step is that was not undone; `None` if there is none."""
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
    """Return the event that takes back the last step and nothing else; `None` if there is nothing to take back.

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
    """Return the event that makes an answer stand again: at its place, or told anew."""
    if isinstance(answered, Failed):
        return Failed(answered.trial, answered.reason, undone=True)
    assert isinstance(answered, Told | Corrected | Added)
    return (Corrected if rewritten else Told)(answered.trial, answered.answer, undone=True)
