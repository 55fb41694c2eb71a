"""A log of a comparison or a gate: its first line names the kind; each record is on the disk before it counts."""

import os
import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from equipoise.log import Lines, LogError


class Records:
    """The records of one file, by all its writers, each entered into memory once it is on the disk.

    Args:
        path: The file.
        kind: The key in the first line that names the kind of log; its value is the format.
        format: The format that is understood.
        what: The kind in words, for messages.
        enter: Called with each record, in order.
        first: The content of the first line of a new file; `None` to read only.
        notify: Called with a notice for the user if a crash has left an incomplete line.

    Example:
        >>> import tempfile
        >>> path, seen = Path(tempfile.mkdtemp()) / "notes.jsonl", []
        >>> records = Records(path, "notes", 1, "notes", seen.append, {"of": "a day"})
        >>> with records.writing():
        ...     records.append({"said": "so"})
        >>> records.first["of"], seen
        ('a day', [{'said': 'so'}])
    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        kind: str,
        format: int,
        what: str,
        enter: Callable[[Mapping[str, Any]], object],
        first: Mapping[str, Any] | None = None,
        notify: Callable[[Warning], object] = warnings.warn,
    ) -> None:
        self.path, self._enter, self._notify = Path(path), enter, notify
        if first is not None and (not self.path.exists() or self.path.stat().st_size == 0):
            Lines.create(self.path, {kind: format, **first})
        self._lines = Lines(self.path)
        said = self._lines.first()
        if said is None or said.get(kind) != format:
            raise LogError(f"{self.path} must be {what}, format {format}, but it is not")
        self.first: Mapping[str, Any] = said

    def read(self) -> None:
        """Enter the new records."""
        for content, _ in self._lines.news():
            try:
                self._enter(content)
            except (KeyError, TypeError, IndexError, ValueError) as error:
                raise self._lines.damaged(f"it cannot be read: {error!r}") from None

    def append(self, content: Mapping[str, Any]) -> None:
        """Write a record to the disk, and enter it; call it inside `writing`."""
        self._lines.append(content)
        self.read()

    @contextmanager
    def writing(self) -> Iterator[None]:
        """Keep other writers out, and read everything that they wrote."""
        self._lines.lock()
        try:
            self.read()
            notice = self._lines.mend()
            if notice is not None:
                self._notify(notice)
            self.read()
            yield
        finally:
            self._lines.unlock()
