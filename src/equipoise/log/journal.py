"""The journal of a study: every event is written here before it is applied.

A journal is what an `Optimizer` writes to: a file (`Log`), or JSON objects in memory (`MemoryLog`), which another
program keeps. The first line of a file describes the study: the space, the parts of the optimizer, the key of its
random numbers. Every further line is an event, on the disk before `ask` or `tell` returns and before anything in memory
changes. Any number of processes may work on one log: each call locks it, applies the events of others, and appends.
"""

import os
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any, Protocol

from equipoise.log.codec import Codec
from equipoise.log.events import Stamped
from equipoise.log.header import Header
from equipoise.log.jsonl import Lines, LogError, Place
from equipoise.spaces import Domain

Apply = Callable[[Stamped], None]
"""A function that applies an event in memory."""


class Journal(Protocol):
    """The store of the events of a study."""

    @property
    def path(self) -> Path | None:
        """The file, if there is one."""
        ...

    def take_up(self, apply: Apply) -> Warning | None:
        """Apply every written event; return the notices for the user."""
        ...

    def follow(self, apply: Apply) -> None:
        """Apply all events that others have written since."""
        ...

    def begin(self, apply: Apply) -> Warning | None:
        """Lock the log and apply the events of others; return the notices for the user."""
        ...

    def write(self, *events: Stamped) -> None:
        """Keep events, all of them or none, in a turn; they have not happened yet."""
        ...

    def end(self, well: bool) -> None:
        """Unlock the log; written events count as known if all went well, else they will be replayed.

        It may be called a second time, and when `begin` has not come to its end.
        """
        ...


class Log:
    """The log of one study, and how far this process has followed it.

    Args:
        path: The file; `create` makes it.
        space: The space of the study's points.

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
    def of(cls, header: Header, space: Domain) -> "Log":
        """Return the log that a header was read from, known up to there."""
        assert header.lines is not None
        log = cls(header.lines.path, space)
        log._lines = header.lines
        return log

    @classmethod
    def create(cls, path: str | os.PathLike[str], space: Domain, settings: Mapping[str, Any], key: list[int]) -> "Log":
        """Start the log of a new study; refuse a file that holds anything."""
        header = Header.of(space, settings, key)
        return cls.of(Header(header.content, Lines.create(path, header.content)), space)

    @property
    def path(self) -> Path:
        """The file."""
        return self._lines.path

    def follow(self, apply: Apply) -> None:
        """Apply all events that others have written since."""
        for content, place in self._lines.news():
            if place.lines == 1:  # the header
                continue
            try:
                stamped = self.codec.from_line(content)
                apply(stamped)
                self.codec = self.codec.after(stamped)
            except LogError:
                raise
            except Exception as error:  # whatever it is, it is the line that is wrong
                raise self._lines.damaged(error) from error

    def take_up(self, apply: Apply) -> Warning | None:
        """Apply all written events; write permission is needed only for a log that needs mending."""
        self.follow(apply)
        if not self._lines.torn:
            return None
        try:
            return self.begin(apply)
        finally:
            self.end(well=True)

    def begin(self, apply: Apply) -> Warning | None:
        """Lock out other processes and apply their events; return a notice of a line that a crash left incomplete."""
        self._lines.lock()
        self.follow(apply)
        if not self._lines.torn:
            return None
        notice = self._lines.mend()
        self.follow(apply)
        return notice

    def end(self, well: bool) -> None:
        """Unlock the log; written events count as known if all went well, else they will be replayed."""
        if well and self._written is not None:
            self._lines.known = self._written
        self._written = None
        self._lines.unlock()

    def write(self, *events: Stamped) -> None:
        """Write events to the disk, in a turn; earlier events of the turn were applied before."""
        if self._written is not None:
            self._lines.known = self._written
        self._written = self._lines.append(*map(self.codec.to_line, events))
        self.codec = self.codec.after(*events)


class MemoryLog:
    """A journal in memory, as JSON objects, for programs that keep the state of a study themselves.

    Args:
        space: The space of the study's points.
        events: The earlier events.

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
        self._known = 0

    def take_up(self, apply: Apply) -> None:
        """Apply all written events."""
        self.follow(apply)

    def follow(self, apply: Apply) -> None:
        """Apply the events that an interrupted call wrote: nobody else writes."""
        while self._known < len(self.events):
            stamped = self._codec.from_line(self.events[self._known])
            apply(stamped)
            self._codec = self._codec.after(stamped)
            self._known += 1

    def begin(self, apply: Apply) -> None:
        """Do nothing: no other process has access."""
        self.follow(apply)

    def write(self, *events: Stamped) -> None:
        """Keep events."""
        self.events.extend(map(self._codec.to_line, events))
        self._codec = self._codec.after(*events)

    def end(self, well: bool) -> None:
        """Written events count as known if all went well."""
        if well:
            self._known = len(self.events)
