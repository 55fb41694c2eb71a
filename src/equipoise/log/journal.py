"""The journal of a study: where every event is written before it happens.

A journal is what an `Optimizer` writes to: a file (`Log`), or JSON objects in memory (`MemoryLog`), which another
program keeps. The first line of a file says what the study is: the space, the parts of the optimizer, the key of its
random numbers. Every further line is an event, on the disk before `ask` or `tell` returns and before anything in memory
changes. Any number of processes may work on one log: each call locks it, learns what the others did, and appends.
"""

import os
import threading
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any, Protocol

from equipoise.log.codec import Codec
from equipoise.log.events import Event
from equipoise.log.header import Header, now
from equipoise.log.jsonl import Lines, Place
from equipoise.spaces import Domain

Apply = Callable[[Event], None]
"""Lets an event happen in memory."""


class Journal(Protocol):
    """Where the events of a study are written."""

    @property
    def path(self) -> Path | None:
        """The file, where there is one."""
        ...

    def take_up(self, apply: Apply) -> None:
        """Let everything happen that was ever written."""
        ...

    def follow(self, apply: Apply) -> None:
        """Let everything happen that others have written since."""
        ...

    def begin(self, apply: Apply) -> None:
        """Keep others out, having followed them."""
        ...

    def write(self, event: Event) -> None:
        """Keep an event, in a turn; it has not happened yet."""
        ...

    def end(self, well: bool) -> None:
        """Let others in again; what was written counts as known if all went well, else it will be replayed."""
        ...


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

    def follow(self, apply: Apply) -> None:
        """Let everything happen that others have written since."""
        for content, place in self._lines.news():
            if place.lines == 1:  # the header
                continue
            try:
                apply(self.codec.from_json(content))
            except (LookupError, TypeError, ValueError) as error:
                raise self._lines.damaged(error) from error

    def take_up(self, apply: Apply) -> None:
        """Let everything happen that was ever written; only a log that needs mending must be one we may write."""
        self.follow(apply)
        if self._lines.torn:
            self.begin(apply)
            self.end(well=True)

    def begin(self, apply: Apply) -> None:
        """Keep other processes out, having followed them."""
        self._lines.lock()
        try:
            self.follow(apply)
            self._lines.mend()
            self.follow(apply)
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


class MemoryLog:
    """A journal in memory, as JSON objects, for programs that keep the state of a study themselves.

    Args:
        space: Where the study's points lie.
        events: What has happened before.

    Example:
        >>> import equipoise as eq
        >>> space = eq.Box([(0, 1)])
        >>> journal = eq.log.MemoryLog(space)
        >>> opt = eq.Optimizer(space, log=journal, rng=0)
        >>> opt.tell(opt.ask(), 0.83)
        >>> again = eq.Optimizer(space, log=eq.log.MemoryLog(space, journal.events), rng=0)
        >>> again.readings, again.ask().id
        (1, 1)
    """

    path = None

    def __init__(self, space: Domain, events: Iterable[Mapping[str, Any]] = ()) -> None:
        self.events = [dict(event) for event in events]
        self._codec = Codec(space)

    def take_up(self, apply: Apply) -> None:
        """Let everything happen that was ever written."""
        for event in self.events:
            apply(self._codec.from_json(event))

    def follow(self, apply: Apply) -> None:
        """Do nothing: nobody else writes."""

    def begin(self, apply: Apply) -> None:
        """Do nothing: there is nobody to keep out."""

    def write(self, event: Event) -> None:
        """Keep an event."""
        self.events.append(self._codec.to_json(event))

    def end(self, well: bool) -> None:
        """Do nothing."""


class Turn:
    """The `with` block in which a study is changed: one thread and one process at a time.

    Args:
        lock: Keeps other threads out.
        journal: Keeps other processes out.
        apply: Lets happen what other processes have written.
    """

    def __init__(self, lock: threading.RLock, journal: Journal, apply: Apply) -> None:
        self._lock, self._journal, self._apply = lock, journal, apply

    def __enter__(self) -> None:
        self._lock.acquire()
        try:
            self._journal.begin(self._apply)
        except BaseException:
            self._lock.release()
            raise

    def __exit__(self, kind: object, error: object, trace: object) -> None:
        try:
            self._journal.end(well=kind is None)
        finally:
            self._lock.release()
