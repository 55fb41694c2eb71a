"""When things happened in a study: each event keeps its time."""

from collections.abc import Iterable
from dataclasses import dataclass, field, replace

from equipoise.log import Added, Asked, Failed, Handed, Judged, Noted, Paired, Retracted, Stamped, Told
from equipoise.study.rules import Record


@dataclass(frozen=True)
class Times:
    """Times of trials, pairs and notes, by number; what has none is missing.

    Attributes:
        asked: When each trial or pair was last handed out.
        ended: When it was told, judged or failed.
        noted: When each note was written.
    """

    asked: dict[int, str | None] = field(default_factory=dict)
    ended: dict[int, str | None] = field(default_factory=dict)
    noted: dict[int, str | None] = field(default_factory=dict)

    @classmethod
    def of(cls, events: Iterable[Stamped]) -> "Times":
        """Return the times that events say, in the order in which they happened.

        Example:
            >>> times = Times.of([Stamped(Failed(3, "no beam"), "2026-11-16T02:40:11.123Z")])
            >>> times.ended
            {3: '2026-11-16T02:40:11.123Z'}
        """
        times = cls()
        for stamped in events:
            times._add(stamped)
        return times

    def marked(self, record: Record) -> Record:
        """Return what became of a trial or pair, with its times."""
        return replace(record, asked=self.asked.get(record.trial), ended=self.ended.get(record.trial))

    def _add(self, stamped: Stamped) -> None:
        at = stamped.at
        match stamped.event:
            case Asked(trial=i) | Handed(trial=i) | Paired(trial=i):
                self.asked[i] = at
            case Added(trial=i):
                self.asked[i] = self.ended[i] = at
            case Told(trial=i) | Judged(trial=i) | Failed(trial=i):
                self.ended[i] = at
            case Retracted(trial=i):
                self.ended.pop(i, None)
            case Noted(number=number):
                self.noted[number] = at
