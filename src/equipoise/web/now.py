"""What is to be done now: the upper left of the screen, as a record."""

import hashlib
import math
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal

from equipoise.optimizer import Optimizer
from equipoise.spaces import printable
from equipoise.study import Record, Setting, last_set, unit_of
from equipoise.web.context_page import ContextField, context_fields
from equipoise.web.dials import Dial, dials
from equipoise.web.pair_page import Last, Sides, Sitting, last, sides

Mode = Literal["by hand", "automatic", "pause"]
"""Who measures, or whether nobody does."""


KNOBS_PER_COLUMN, MOST_COLUMNS = 8, 3
"""A setting of more knobs than fit in one column is shown in several, side by side."""


@dataclass(frozen=True)
class Now:
    """What is to be done now.

    Attributes:
        mode: Who measures, or whether nobody does.
        readings: How many readings there are.
        trial: The trial to measure; `None` where none is handed out.
        half: Which part of which pair it is, in words.
        dials: The setting of that trial.
        unit: Of a reading.
        asked: When it was handed out.
        busy: Whether a program measures it.
        paused: Since when it is paused, and why.
        machine: Whether there is a program to measure by itself.
        trouble: What keeps it from measuring.
        needs: What must be said before the next setting can be handed out.
        sides: The pair to be judged, where pairs are judged here.
        judging: Whether pairs are judged here.
        judge: Who judges; `None` where nobody has said so.
        last: The last answer of that judge.
    """

    mode: Mode
    readings: int
    trial: int | None = None
    half: str = ""
    dials: tuple[Dial, ...] = ()
    unit: str = ""
    asked: str = ""
    busy: bool = False
    paused: str = ""
    machine: bool = False
    trouble: str = ""
    needs: tuple[ContextField, ...] = ()
    sides: Sides | None = None
    judging: bool = False
    judge: str | None = None
    last: Last | None = None

    @property
    def columns(self) -> tuple[tuple[int, int], ...]:
        """Between which knobs, counted from 1, each column of the setting goes: many knobs have several beside another.

        Example:
            >>> Now("by hand", 0, dials=(Dial("q", "1", "", ""),) * 14).columns
            ((1, 7), (8, 14))
        """
        count = len(self.dials)
        columns = min(math.ceil(count / KNOBS_PER_COLUMN), MOST_COLUMNS)
        rows = math.ceil(count / max(columns, 1))
        return tuple((rows * k + 1, min(rows * (k + 1), count)) for k in range(columns))

    @property
    def version(self) -> str:
        """A text that differs where the form does: a screen that shows another one is out of date."""
        said = repr((self.mode, self.trial, self.asked, self.busy, self.paused, self.unit, self.trouble, self.sides))
        said += repr((self.judge, self.last))
        return hashlib.sha256(said.encode()).hexdigest()[:16]


def now(
    opt: Optimizer,
    worker: str | None,
    machine: bool = False,
    busy: bool = False,
    sitting: Sitting | None = None,
) -> Now:
    """Return what is to be done now.

    Args:
        opt: The study.
        worker: For whom.
        machine: Whether there is a program to measure by itself.
        busy: Whether it measures.
        sitting: How pairs are judged here, if they are.
    """
    settings = opt.study.settings
    mode, said = mode_of(settings, machine), opt.readings
    paused = _paused(settings) if mode == "pause" else ""
    general: dict[str, Any] = {"unit": unit_of(settings), "busy": busy, "paused": paused, "machine": machine}
    if sitting is not None:
        shown, mine = sides(opt, sitting), last(opt, sitting)
        needs = context_fields(opt) if shown is None else ()
        return Now(mode, said, **general, needs=needs, sides=shown, judging=True, judge=sitting.judge, last=mine)
    record = current(opt, worker)
    if record is None:
        return Now(mode, said, needs=context_fields(opt), **general)
    setting, asked = dials(opt.space, record.x, opt.study.position(worker)), clock(record.asked)
    return Now(mode, said, record.trial, _half(record), setting, asked=asked, **general)


def current(opt: Optimizer, worker: str | None) -> Record | None:
    """Return the trial that a worker is to measure: the oldest that it has."""
    waiting = opt.records(aside=False, trials=opt.study.open_trials)
    return next((record for record in waiting if record.worker == worker), None)


def mode_of(settings: Sequence[Setting], machine: bool) -> Mode:
    """Return who measures; without a program to measure by itself, somebody does by hand."""
    usual: Mode = "automatic" if machine else "by hand"
    last = last_set(settings, "mode")
    value = usual if last is None else last.value
    return "pause" if value == "pause" else "by hand" if value == "by hand" else usual


def clock(at: str | None) -> str:
    """Return a time of a study as the clock on the wall shows it; nothing if there is none.

    Example:
        >>> clock(None), len(clock("2026-11-16T02:40:11.123Z"))
        ('', 8)
    """
    return "" if at is None else datetime.fromisoformat(at).astimezone().strftime("%H:%M:%S")


def _half(record: Record) -> str:
    order = {1: "first", 2: "second"}.get(record.position, f"{record.position}th")
    return f"pair {record.duel}" + (f", {order} of {record.positions}" if record.positions > 1 else "")


def _paused(settings: Sequence[Setting]) -> str:
    """Return since when it is paused, and why."""
    last = last_set(settings, "mode")
    assert last is not None
    text = printable(last.why, "")
    return f"since {clock(last.at)}" + (f": {text}" if text else "")
