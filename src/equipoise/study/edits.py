"""The events of a study, with an answer corrected or taken back."""

from collections.abc import Iterable, Sequence
from dataclasses import replace

from equipoise.data import Reading
from equipoise.log import Added, Corrected, Event, Failed, Judged, Rejudged, Retracted, Step, Told


def last_step(past: Sequence[Event]) -> int | None:
    """Return where the last step is that was not undone; `None` where there is none."""
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


def repeats(event: Corrected | Rejudged, past: Sequence[Event]) -> bool:
    """Return whether the last step of a trial was the same: after an interrupt an event may come a second time."""
    last = next((e for e in reversed(past) if isinstance(e, Step) and e.trial == event.trial), None)
    if isinstance(event, Corrected) and isinstance(last, Corrected):
        return last.undone == event.undone and _alike(last.reading, event.reading)
    if isinstance(event, Rejudged) and isinstance(last, Rejudged):
        return (last.answer, last.judge, last.undone) == (event.answer, event.judge, event.undone)
    return False


def _alike(a: Reading, b: Reading) -> bool:
    points = [None if each.point is None else each.point.tobytes() for each in (a, b)]
    return (a.value, a.time, a.error, points[0]) == (b.value, b.time, b.error, points[1])


def undoing(past: Sequence[Event]) -> Event | None:
    """Return the event that takes back the last step and nothing else; `None` where there is nothing to take back.

    An answer is retracted. A correction is corrected back. An answer that was retracted is given again.
    """
    k = last_step(past)
    if k is None:
        return None
    step = past[k]
    assert isinstance(step, Step)
    before = [e for e in past[:k] if isinstance(e, Step) and e.trial == step.trial and not isinstance(e, Retracted)]
    match step:
        case Corrected() | Rejudged():
            return _again(before, rewritten=True)
        case Retracted():
            return _again(before, rewritten=isinstance(before[0], Added))
    return Retracted(step.trial, undone=True)


def _again(answers: Sequence[Event], rewritten: bool) -> Event:
    """Return the event that makes the last of some answers to one trial stand: at its place, or told anew."""
    match answers[-1]:
        case Told(trial, reading) | Corrected(trial, reading) | Added(trial, _, reading):
            return Corrected(trial, reading, undone=True) if rewritten else Told(trial, reading, undone=True)
        case Judged(trial, answer, judge) | Rejudged(trial, answer, judge):
            return (Rejudged if rewritten else Judged)(trial, answer, judge, undone=True)
        case Failed(trial, reason):
            return Failed(trial, reason, undone=True)
    raise AssertionError(f"{answers[-1]} is no answer")


def corrected(events: Iterable[Event], trial: int, reading: Reading) -> list[Event]:
    """Return the events with another reading of a trial; one that was taken back counts again."""

    def now(event: Event) -> Event:
        if isinstance(event, Added) and event.trial == trial:
            return replace(event, reading=reading, withdrawn=False)
        return replace(event, reading=reading) if isinstance(event, Told) and event.trial == trial else event

    return [now(event) for event in events]


def rejudged(events: Iterable[Event], judged: Judged) -> list[Event]:
    """Return the events with another answer to a pair."""
    return [judged if isinstance(e, Judged) and e.trial == judged.trial else e for e in events]


def retracted(events: Iterable[Event], trial: int) -> list[Event]:
    """Return the events without what was told of a trial; what nobody asked for keeps its number, as taken back."""
    left = [e for e in events if not (isinstance(e, Told | Failed | Judged) and e.trial == trial)]
    return [replace(e, withdrawn=True) if isinstance(e, Added) and e.trial == trial else e for e in left]
