"""A study as it is looked at: by an optimizer of its own, so that who enters a reading does not wait for pictures."""

import os
import threading
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from equipoise.log import LogError
from equipoise.optimizer import Optimizer, resume
from equipoise.web.known import Known, known
from equipoise.web.notices import unheard

PAST_BOUNDS = 12
"""Numbers of readings at which the certificate of an older study is computed anew, in the background."""


class Viewer:
    """Computes what is known of a study, once after each change.

    Args:
        path: Its log.
        start: The setting where it started, as was said; `None` where that is the first that was read.
        blind: Whether settings are hidden.
        several: Whether several people judge, each of whom has an undo of their own.

    Attributes:
        revision: A number that differs where more is known of the past, though nothing was written.
    """

    def __init__(self, path: Path, start: Any, blind: bool, several: bool) -> None:
        self._path, self._start, self._blind, self._several = path, start, blind, several
        self.revision = 0
        self._lock = threading.Lock()
        self._followed = 0  # bytes of the log that are surely known: more may be
        self._known: Known | None = None
        self._bounds: dict[int, float] = {}
        threading.Thread(target=self._look_back, daemon=True).start()

    @cached_property
    def _opt(self) -> Optimizer:
        return resume(self._path, notify=unheard)  # what is recommended says it

    def known(self) -> Known:
        """Return what is known."""
        with self._lock:
            size = size_of(self._path)
            if size != self._followed:
                self._opt.study.follow()
                self._followed = size
            version = f"{self._followed}.{self.revision}"  # what comes while it is computed makes it old
            if self._known is None or self._known.version != version:
                self._known = self._made(version)
            return self._known

    def _made(self, version: str) -> Known:
        best = self._opt.recommend()
        self._bounds[best.readings + best.judgements] = best.overall.bound
        start = first_setting(self._opt, self._start)
        found = known(self._opt, best, start, dict(self._bounds), version, self._blind)
        return replace(found, undo=None) if self._several else found

    def _look_back(self) -> None:
        """Compute the certificate as it was at some times before: with an optimizer of its own, off the way."""
        try:
            past = resume(self._path, notify=unheard)
        except LogError:
            return  # a log that is gone meanwhile: whoever looks at it next is told so
        told = past.readings + past.judgements
        if told < 2:
            return
        at = np.unique(np.linspace(1, told, PAST_BOUNDS).round().astype(int)).tolist()
        bounds = {best.readings + best.judgements: best.overall.bound for best in past.study.history(at)}
        with self._lock:
            self._bounds = bounds | self._bounds
            self.revision += 1


def first_setting(opt: Optimizer, said: Any) -> Any:
    """Return the setting where a study started: as was said, or the first that was read."""
    told = (record.x for record in opt.records() if record.value is not None and not record.earlier)
    return next(told, None) if said is None else said


def size_of(path: Path) -> int:
    """Return the bytes of a log: another number where somebody has written."""
    try:
        return os.stat(path).st_size
    except OSError as error:
        raise LogError(f"{path} cannot be read: {error.strerror or error}") from error
