"""Where the machine may stand: the settings from which the next one must be within `max_step`.

The likeliest comes first: where the last event has left the machine. The others are possible as well: readings may be
told in another order than they were taken, and of several open trials any may be the next one measured. A reading of an
earlier campaign moves nothing.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from equipoise._typing import FloatArray
from equipoise.log import Added, Asked, Event, Failed, Handed, Judged, Noted, Paired, Told
from equipoise.study.docket import Docket
from equipoise.study.ledger import Ledger


def positions(
    events: Sequence[Event], ledger: Ledger, docket: Docket, start: FloatArray | None, worker: str | None
) -> list[FloatArray]:
    """Return the points where the machine may stand, encoded, the likeliest first.

    Args:
        events: Everything that happened.
        ledger: All trials.
        docket: All pairs that were handed out to be judged.
        start: Where the machine stood before the study.
        worker: Who asks.
    """
    places = _Places(ledger, docket)
    left = next((found for event in reversed(events) if (found := places.after(event))), [])
    told = next((places.after(event) for event in reversed(events) if isinstance(event, Told)), [])
    handed = [event for event in events if isinstance(event, Asked | Handed)]
    mine = [event for event in handed if ledger.of_trial[event.trial].worker == worker]
    out = [point for last in (mine, handed) for event in last[-1:] for point in places.after(event)]
    added = next((event.reading for event in reversed(events) if isinstance(event, Added)), None)
    here = [] if added is None or added.point is None or added.told.campaign else [added.point]
    begun = [] if left or start is None else [start]
    return [*left, *begun, *told, *out, *places.open(), *here]


def position(events: Sequence[Event], ledger: Ledger, worker: str | None) -> FloatArray | None:
    """Return the point where the machine of a worker was moved last, or read; `None` if that is not known.

    Args:
        events: Everything that happened.
        ledger: All trials.
        worker: Who measures there.
    """
    for event in reversed(events):
        match event:
            case Noted(point=point) if point is not None:
                return point
            case Told(trial=i) if ledger.of_trial[i].worker == worker:
                return ledger.of_trial[i].point(i)
    return None


@dataclass(frozen=True)
class _Places:
    """Knows where trials and pairs are."""

    ledger: Ledger
    docket: Docket

    def after(self, event: Event) -> list[FloatArray]:
        """Return where the machine may stand after an event; nothing if that does not move it."""
        match event:
            case Noted(point=point) if point is not None:
                return [point]
            case Asked(trial=i) | Handed(trial=i) | Told(trial=i) | Failed(trial=i) if i in self.ledger.of_trial:
                return [self.ledger.of_trial[i].point(i)]
            case Paired(trial=i) | Judged(trial=i) | Failed(trial=i) if not self.docket.cases[i].asked.added:
                return self._pair(i)
        return []

    def open(self) -> Iterator[FloatArray]:
        """Yield where all open trials and pairs are to be measured or judged."""
        yield from (self.ledger.of_trial[i].point(i) for i in self.ledger.handed)
        for i in self.docket.open:
            yield from self._pair(i)

    def _pair(self, i: int) -> list[FloatArray]:
        asked = self.docket.cases[i].asked
        return [asked.second, asked.first]
