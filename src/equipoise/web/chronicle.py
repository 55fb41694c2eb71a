"""When things happened in a study, followed line by line: the events themselves have no clock."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from equipoise.log.jsonl import Lines


@dataclass(frozen=True, slots=True)
class Half:
    """Which part of its duel a trial is.

    Attributes:
        duel: Number of the duel.
        place: Its place among the trials of the duel, from 1.
        of: How many trials the duel has.
        worker: Who measures it.
    """

    duel: int
    place: int
    of: int
    worker: str | None


class Chronicle:
    """Times, and the order of things, by the lines of a log.

    Args:
        path: The log.

    Attributes:
        halves: Which part of its duel each trial is.
        asked: When each trial was last handed out.
        ended: When it was told or failed.
        noted: When each note was written.
        skipped: Why nothing was said of a pair that was to be judged.
    """

    def __init__(self, path: Path) -> None:
        self._lines = Lines(path)
        self.halves: dict[int, Half] = {}
        self.asked: dict[int, str] = {}
        self.ended: dict[int, str] = {}
        self.noted: list[str] = []
        self.skipped: dict[int, str] = {}
        self._read: dict[str | None, tuple[str, int]] = {}
        self._moved: tuple[str, int] | None = None

    @property
    def bytes(self) -> int:
        """How much of the log is known."""
        return self._lines.known.bytes

    def follow(self) -> None:
        """Read what was written since."""
        for content, _ in self._lines.news():
            self._learn(content)

    def stands(self, worker: str | None) -> tuple[str, int] | None:
        """Return what last said where the machine of a worker is: ("tell", trial) or ("note", number)."""
        return self._read.get(worker, self._moved)

    def _learn(self, content: Mapping[str, Any]) -> None:
        at = str(content.get("at", ""))
        match content:
            case {"ask": int(trial), "duel": int(duel), "measure": list(points)}:
                worker = content.get("worker")
                for k in range(len(points)):
                    self.halves[trial + k] = Half(duel, k + 1, len(points), worker)
                self.asked[trial] = at
            case {"add": int(trial), "duel": int(duel)}:  # a reading that nobody asked for
                self.halves[trial] = Half(duel, 1, 1, None)
                self.asked[trial] = self.ended[trial] = at
            case {"pair": int(trial)} | {"hand": int(trial)}:
                self.asked[trial] = at
            case {"tell": int(trial)}:
                self.ended[trial] = at
                if trial in self.halves:
                    self._read[self.halves[trial].worker] = ("tell", trial)
            case {"fail": int(trial)} | {"judge": int(trial)}:
                self.ended[trial] = at
                if "fail" in content and trial not in self.halves:  # it is a pair
                    self.skipped[trial] = str(content.get("reason", ""))
            case {"retract": int(trial)}:
                self.ended.pop(trial, None)
                self.skipped.pop(trial, None)
            case {"note": int(number)}:
                self.noted.append(at)
                if "point" in content:
                    self._moved, self._read = ("note", number), {}


def clock(at: str) -> str:
    """Return a time of the log as the clock on the wall shows it; nothing where there is none.

    Example:
        >>> clock("nonsense"), len(clock("2026-11-16T02:40:11.123Z"))
        ('', 8)
    """
    try:
        return datetime.fromisoformat(at.replace("Z", "+00:00")).astimezone().strftime("%H:%M:%S")
    except ValueError:
        return ""
