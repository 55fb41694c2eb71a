"""The studies of a server, by name: one file, or all files of a folder."""

import re
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import Any

from equipoise.web.forms import RefusedError
from equipoise.web.means import NOTHING, Means
from equipoise.web.now import Sitting
from equipoise.web.station import Station

SUFFIX, ARCHIVE = ".jsonl", "archive"
"""Suffix of a log, and the folder of archived logs."""


class Studies:
    """The studies of a server. Only names that it found itself lead to a file.

    Args:
        path: The log of a study, which need not exist yet, or a folder.
        worker: The name of the worker who measures here.
        machine: Whether a program measures.
        context: The context at which settings are requested, if a study has contexts.
        sitting: How pairs are judged here; `None` if they are not.
        means: The means of the server besides the studies.
    """

    def __init__(
        self,
        path: Path,
        worker: str | None = "page",
        machine: bool = False,
        context: Mapping[str, Any] | None = None,
        sitting: Sitting | None = None,
        means: Means = NOTHING,
    ) -> None:
        self.means = means
        self.path, self.worker, self.machine, self.context, self.sitting = path, worker, machine, context, sitting
        self.folder = path.is_dir()
        self._stations: dict[str, Station] = {}
        self._lock = threading.Lock()

    @property
    def only(self) -> str | None:
        """The name of the only study; `None` if there is a folder of them."""
        return None if self.folder else self.path.name

    def files(self) -> dict[str, Path]:
        """Return the existing logs, by name."""
        if not self.folder:
            return {self.path.name: self.path} if self.path.exists() and self.path.stat().st_size else {}
        return _logs(self.path)

    def archived(self) -> dict[str, Path]:
        """Return the archived logs, by name."""
        return _logs(self.path / ARCHIVE) if self.folder else {}

    def station(self, name: str) -> Station | None:
        """Return a study, opened once; `None` if no study has that name."""
        path = self.files().get(name)
        if path is None:
            return None
        with self._lock:
            if name not in self._stations:
                self._stations[name] = Station(path, self.worker, self.machine, self.context, self.sitting, self.means)
            return self._stations[name]

    @property
    def opened(self) -> list[Station]:
        """The studies that a user has opened."""
        return list(self._stations.values())

    def forget(self, name: str) -> None:
        """Open a study anew at the next request, since its file may be another one; a measuring program keeps it."""
        if not self.machine:
            with self._lock:
                self._stations.pop(name, None)

    @contextmanager
    def closed(self, name: str) -> Iterator[None]:
        """Forget a study while its file is moved."""
        with self._lock:
            station = self._stations.pop(name, None)
            with nullcontext() if station is None else station.turn():
                yield

    def place(self, name: str) -> Path:
        """Return the path of a new study of a name, or refuse the name."""
        if not self.folder:
            return self.path
        if re.fullmatch(r"[A-Za-z0-9][\w-]{0,80}", name, re.ASCII) is None:
            raise RefusedError("A study is named by letters from a to z, digits, _ and -.")
        return self.path / f"{name}{SUFFIX}"


def _logs(folder: Path) -> dict[str, Path]:
    """Return the logs of a folder by name, the newest first."""
    found = sorted(folder.glob(f"*{SUFFIX}"), key=lambda path: -path.stat().st_mtime)
    return {path.name: path for path in found if path.is_file() and not path.name.startswith(".")}
