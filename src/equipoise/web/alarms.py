"""Alarms: a failed trial, a pause, a reached goal, an overdue reading.

All of it is read from the log, so it does not matter whether this server or another program measures.
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
"""A reading is overdue after this multiple of the usual time, and after this number of seconds at least."""

LOOK_SECONDS = 0.5
"""Seconds between two looks."""


@dataclass(frozen=True)
class Alarm:
    """An event that needs attention.

    Attributes:
        event: The kind of event.
        text: The same in a sentence.
        trial: The number of the trial, if the event concerns one.
        at: The time of the event, ISO 8601 in UTC; `None` if the log does not record it.
    """

    event: Literal["failed", "paused", "ended", "overdue"]
    text: str
    trial: int | None = None
    at: str | None = None


class Lookout:
    """A detector of alarms in a study.

    Args:
        station: The study.
        overdue: Seconds after which a reading is overdue; `None` for a multiple of the usual time.
    """

    def __init__(self, station: Station, overdue: float | None = None) -> None:
        self._station, self._overdue = station, overdue
        self._size = -1
        self._said: set[Alarm] | None = None
        self._records: list[Record] = []

    def look(self, now: datetime | None = None) -> list[Alarm]:
        """Return the alarms that are new since the last look, and set the current alarm of the study.

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
        """Return whether a trial failed without a report by hand here."""
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
        """Return the alarm of the oldest overdue reading, if one is overdue."""
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
    """A thread that looks at all opened studies and notifies a program of alarms, without waiting for that program.

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
        """Start the thread; ignore earlier events."""
        self.look()
        for thread in self._threads:
            thread.start()

    def stop(self) -> None:
        """Stop the thread, without waiting for a notification that is under way."""
        self._ending.set()
        self._queue.put(None)

    def look(self) -> None:
        """Look once."""
        for station in self._studies.opened:
            lookout = self._lookouts.setdefault(station, Lookout(station, self._means.overdue))
            try:
                for alarm in lookout.look():
                    self._queue.put((station, alarm))
            except LogError as error:  # a missing or damaged log
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
            except Exception as error:  # any error of the program: the page shows it
                station.deaf = f"The program of --on-event could not be told: {error or type(error).__name__}"
