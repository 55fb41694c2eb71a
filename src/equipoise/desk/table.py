"""All trials of a study as a table."""

import csv
import io
from typing import Any

from equipoise.desk.cells import cell
from equipoise.desk.words import settings
from equipoise.optimizer import Optimizer
from equipoise.study.rules import Record


def row(record: Record, asked: str, ended: str | None) -> dict[str, Any]:
    """Return what became of a trial, one value for each column."""
    told = {"value": record.value, "error": record.error or None, "time": record.time, "failed": record.failed}
    who = {"trial": record.trial, "duel": record.duel, "worker": record.worker}
    rest = who | told | {"given up": record.void, "asked": asked, "ended": ended}
    where = {f"x.{name}" if name in rest else name: value for name, value in settings(record.x).items()}
    return who | where | rest


def as_csv(rows: list[dict[str, Any]], opt: Optimizer) -> str:
    """Return rows as a table; with its header, even if there are none."""
    file = io.StringIO()
    columns = rows[0] if rows else row(Record(0, 0, None, opt.recommend().x), "", None)
    writer = csv.DictWriter(file, list(columns), lineterminator="\n")
    writer.writerows({name: cell(value) for name, value in row.items()} for row in ({c: c for c in columns}, *rows))
    return file.getvalue()
