"""The log of a study: one file, from which the study can be rebuilt at any time.

The first line says what the study is: the space, the parts of the optimizer, the key of its random numbers. Every
further line is an event (`events.py`), on the disk before `ask` or `tell` returns and before anything in memory
changes. Any number of processes may work on one log: each call locks it, learns what the others did, and appends.
"""

import os
import sys
import threading
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from equipoise.constraints import Constraint
from equipoise.descriptions import space_from_dict
from equipoise.domain import Domain
from equipoise.events import Codec, Event
from equipoise.lines import Lines, LogError, Place, TornLine
from equipoise.settings import chosen, described

__all__ = ["FORMAT", "Header", "Log", "LogError", "TornLine"]

Replay = Callable[[Event], None]
"""Lets an event happen again."""

FORMAT = 1
"""The version of the format that is written; earlier ones stay readable."""


class Header:
    """The first line of a log: what the study is.

    Args:
        content: The line, as JSON.
    """

    def __init__(self, content: Mapping[str, Any]) -> None:
        self.content = content

    @classmethod
    def of(cls, space: Domain, parts: Mapping[str, Any], key: list[int]) -> "Header":
        """Return that of a new study."""
        about = {"equipoise": FORMAT, "version": sys.modules["equipoise"].__version__, "at": now()}
        settings = {name: described(part) for name, part in parts.items()}
        return cls(about | {"space": space.to_dict(), "settings": settings, "key": key})

    @classmethod
    def read(cls, path: str | os.PathLike[str]) -> "Header":
        """Return that of a log."""
        content, _ = next(Lines(path).news(), ({}, None))
        found = content.get("equipoise")
        if not isinstance(found, int):
            raise LogError(f"{path} must be the log of a study, but its first line is not that of one")
        if found > FORMAT:
            raise LogError(f"{path} has format {found}, and this equipoise reads up to {FORMAT}: install a newer one")
        return cls(content)

    @property
    def key(self) -> list[int]:
        """The key of the study's random numbers."""
        key: list[int] = self.content["key"]
        return key

    def space(self, given: Domain | None = None, constraint: Constraint | None = None) -> Domain:
        """Return the study's space; it, or its constraint, is given again where JSON cannot hold it."""
        description = self.content["space"]
        if given is None:
            return space_from_dict(description, constraint)
        if given.to_dict() != description:
            raise ValueError(f"`space` must be the one the log describes, {description}, got {given!r}")
        return given

    def parts(self, given: Mapping[str, Any]) -> dict[str, Any]:
        """Return the parts of the study's optimizer, by argument; some are given again (see `settings.py`)."""
        settings = self.content["settings"]
        if unknown := sorted(set(given) - set(settings)):
            raise TypeError(f"resume takes `space`, `constraint`, {', '.join(settings)}, got {unknown}")
        return {name: chosen(name, description, given.get(name)) for name, description in settings.items()}


class Log:
    """The log of one study, and how far this process has followed it.

    Args:
        path: The file; `create` makes it.
        space: Where the study's points lie.

    Example:
        >>> import tempfile, equipoise as eq
        >>> path = Path(tempfile.mkdtemp()) / "study.jsonl"
        >>> opt = eq.Optimizer(eq.Box([(0, 1)]), log=path, rng=0)
        >>> opt.tell(opt.ask(), 0.83)
        >>> len(path.read_text().splitlines())
        3
    """

    def __init__(self, path: str | os.PathLike[str], space: Domain) -> None:
        self._lines = Lines(path)
        self.codec = Codec(space)
        self._written: Place | None = None

    @classmethod
    def create(cls, path: str | os.PathLike[str], space: Domain, parts: Mapping[str, Any], key: list[int]) -> "Log":
        """Start the log of a new study; refuse a file that holds anything."""
        Lines.create(path, Header.of(space, parts, key).content)
        return cls(path, space)

    @property
    def path(self) -> Path:
        """The file."""
        return self._lines.path

    def follow(self, replay: Replay) -> None:
        """Let everything happen that others have written since."""
        for content, place in self._lines.news():
            if place.lines == 1:  # the header
                continue
            try:
                replay(self.codec.from_json(content))
            except (LookupError, TypeError, ValueError) as error:
                raise self._lines.damaged(error) from error

    def take_up(self, replay: Replay) -> None:
        """Let everything happen that was ever written; only a log that needs mending must be one we may write."""
        self.follow(replay)
        if self._lines.torn:
            self.begin(replay)
            self.end(well=True)

    def begin(self, replay: Replay) -> None:
        """Keep other processes out, having followed them."""
        self._lines.lock()
        try:
            self.follow(replay)
            self._lines.mend()
            self.follow(replay)
        except BaseException:
            self._lines.unlock()
            raise

    def end(self, well: bool) -> None:
        """Let others in again; what was written counts as known if all went well, else it will be replayed."""
        if well and self._written is not None:
            self._lines.known = self._written
        self._written = None
        self._lines.unlock()

    def write(self, event: Event) -> None:
        """Put an event on the disk, in a turn."""
        self._written = self._lines.append(self.codec.to_json(event) | {"at": now()})


class Turn:
    """The `with` block in which a study is changed: one thread and one process at a time.

    Args:
        lock: Keeps other threads out.
        log: Keeps other processes out.
        replay: Lets happen what other processes have written.
    """

    def __init__(self, lock: threading.RLock, log: Log, replay: Replay) -> None:
        self._lock, self._log, self._replay = lock, log, replay

    def __enter__(self) -> None:
        self._lock.acquire()
        try:
            self._log.begin(self._replay)
        except BaseException:
            self._lock.release()
            raise

    def __exit__(self, kind: object, error: object, trace: object) -> None:
        try:
            self._log.end(well=kind is None)
        finally:
            self._lock.release()


def now() -> str:
    """Return the time for people to read, in UTC."""
    return datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
