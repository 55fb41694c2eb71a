"""What happened, told otherwise: the events of a study with an answer corrected or taken back."""

from collections.abc import Iterable, Sequence
from dataclasses import replace

from equipoise.data import Reading
from equipoise.log.events import Added, Event, Failed, Judged, Told


def last_answered(events: Sequence[Event]) -> int | None:
    """Return the trial whose reading or failure came last and still stands; `None` where there is none."""
    answers = (e.trial for e in reversed(events) if isinstance(e, Told | Failed | Added | Judged) and _stands(e))
    return next(answers, None)


def corrected(events: Iterable[Event], trial: int, reading: Reading) -> list[Event]:
    """Return the events with another reading of a trial."""
    return [replace(e, reading=reading) if isinstance(e, Told | Added) and e.trial == trial else e for e in events]


def rejudged(events: Iterable[Event], judged: Judged) -> list[Event]:
    """Return the events with another answer to a pair."""
    return [judged if isinstance(e, Judged) and e.trial == judged.trial else e for e in events]


def retracted(events: Iterable[Event], trial: int) -> list[Event]:
    """Return the events without what was told of a trial; what nobody asked for keeps its number, as taken back."""
    left = [e for e in events if not (isinstance(e, Told | Failed | Judged) and e.trial == trial)]
    return [replace(e, withdrawn=True) if isinstance(e, Added) and e.trial == trial else e for e in left]


def _stands(event: Event) -> bool:
    return not (isinstance(event, Added) and event.withdrawn)
