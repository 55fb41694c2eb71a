"""Alarms: a failed trial, a pause, a reached goal, an overdue reading.

All of it is read from the log, so it does not matter whether this server measures or a program elsewhere.
"""

import math
import queue
import threading
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from typing import Literal

from equipoise.log import LogError
from equipoise.spaces import printable
from equipoise.study import Record, last_set
from equipoise.web.panels import seconds_each
from equipoise.web.station import Station
from equipoise.web.studies import Studies

OVERDUE_TIMES, SOONEST = 10.0, 60.0
"""A reading is overdue after this number of times the usual time, and this number of seconds at least."""

LOOK_SECONDS = 0.5
"""Seconds after which it looks again."""


@dataclass(frozen=True)
class Alarm:
    """What somebody should look at.

    Attributes:
        event: What has happened.
        text: The same in a sentence.
        trial: The trial it is about, if it is about one.
        at: When it happened, ISO 8601 in UTC; `None` if the log does not say it.
    """

    event: Literal["failed", "paused", "ended", "overdue"]
    text: str
    trial: int | None = None
    at: str | None = None


class Lookout:
    """Looks at a study.

    Args:
        station: The study.
        overdue: After how many seconds a reading is; `None` for a multiple of what readings usually take.
    """

    def __init__(self, station: Station, overdue: float | None = None) -> None:
        self._station, self._overdue = station, overdue
        self._size = -1
        self._said: set[Alarm] | None = None
        self._records: list[Record] = []

    def look(self, now: datetime | None = None) -> list[Alarm]:
        """Return what is new since it looked before; the study then has the alarm that stands.

        Args:
            now: The present time.
        """
        station = self._station
        with station.turn():
            if self._size != station.size:
                self._size, self._records = station.size, station.opt.records(aside=False)
            paused = self._paused()
        failed = [self._failed(record) for record in self._records if self._by_program(record)]
        newest = max((record.ended for record in self._records if record.ended), default="")
        standing = [paused, *(alarm for alarm in failed if alarm.at == newest), self._late(now or datetime.now(UTC))]
        station.alarm = next((alarm.text for alarm in standing if alarm is not None), "")
        found = {alarm: None for alarm in (*failed, *standing) if alarm is not None}
        said, self._said = self._said, {*found, *(self._said or ())}
        return [] if said is None else [alarm for alarm in found if alarm not in said]

    def _by_program(self, record: Record) -> bool:
        """Return whether a trial failed that nobody has reported by hand here."""
        by_hand = record.worker == self._station.worker and self._station.mode == "by hand"
        return record.failed is not None and not by_hand

    @staticmethod
    def _failed(record: Record) -> Alarm:
        reason = printable(record.failed or "", "")
        return Alarm("failed", f"Trial {record.trial} failed: {reason}", record.trial, record.ended)

    def _paused(self) -> Alarm | None:
        station = self._station
        last = last_set(station.opt.study.settings, "mode")
        if last is None or last.value != "pause":
            return None
        why = f": {printable(last.why, '')}" if last.why else ""
        return Alarm("ended" if last.why == station.reached != "" else "paused", f"Paused{why}", at=last.at)

    def _late(self, now: datetime) -> Alarm | None:
        """Return the alarm of the oldest reading that is overdue, if one is."""
        usual = seconds_each([record for record in self._records if record.value is not None])
        limit = self._overdue or (math.inf if usual is None else max(OVERDUE_TIMES * usual, SOONEST))
        waiting = [r for r in self._records if r.value is None and r.failed is None and r.asked and not r.void]
        for record in waiting if self._station.mode != "pause" else ():
            taken = (now - datetime.fromisoformat(record.asked or "")).total_seconds()
            if taken > limit:
                text = f"Trial {record.trial} is overdue: no reading for more than {_long(limit)}"
                return Alarm("overdue", text, record.trial, record.asked)
        return None


def _long(seconds: float) -> str:
    size, unit = next((each for each in ((3600.0, "h"), (60.0, "min")) if seconds >= 2 * each[0]), (1.0, "s"))
    return f"{seconds / size:.0f} {unit}"


class Watch:
    """Looks at all studies that a server has opened, and tells a program of what is new; it never waits for that.

    Args:
        studies: The studies.
    """

    def __init__(self, studies: Studies) -> None:
        self._studies, self._means = studies, studies.means
        self._lookouts: dict[Station, Lookout] = {}
        self._ending = threading.Event()
        self._queue: queue.SimpleQueue[tuple[Station, Alarm] | None] = queue.SimpleQueue()
        self._threads = [threading.Thread(target=each, daemon=True) for each in (self._look_on, self._tell_on)]

    def start(self) -> None:
        """Begin: ignore earlier events."""
        self.look()
        for thread in self._threads:
            thread.start()

    def stop(self) -> None:
        """End; a program that is being told is not waited for."""
        self._ending.set()
        self._queue.put(None)

    def look(self) -> None:
        """Look once."""
        for station in self._studies.opened:
            lookout = self._lookouts.setdefault(station, Lookout(station, self._means.overdue))
            try:
                for alarm in lookout.look():
                    self._queue.put((station, alarm))
            except LogError as error:  # a log that is gone, or damaged
                station.alarm = str(error)

    def _look_on(self) -> None:
        while not self._ending.wait(LOOK_SECONDS):
            self.look()

    def _tell_on(self) -> None:
        while (told := self._queue.get()) is not None:
            station, alarm = told
            try:
                if self._means.on_event is not None:
                    self._means.on_event({**asdict(alarm), "study": str(station.path)})
                station.deaf = ""
            except Exception as error:  # whatever the program does: it is said on the page
                station.deaf = f"The program of --on-event could not be told: {error or type(error).__name__}"
