"""A study as a table, written and read again: a row for each question that was measured, or for each that was judged.

Columns are called after the parameters. A parameter that is called as another column, such as `value`, has an `x.`
before its name. The coordinates of points without names are called x[0], x[1] and so on, and names without features
stand in a column called x. A judgement is about two settings: there the parameters have `first.` and `second.` before
their names, and names without features stand in the columns first and second.
"""

import csv
import io
from collections.abc import Container, Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from equipoise._validation import NUMBER
from equipoise.likelihoods import DEFAULT_STEPS
from equipoise.spaces import Domain, settings
from equipoise.study.views import Record

COLUMNS = frozenset(
    {"trial", "duel", "worker", "block", "value", "of", "error", "time", "failed", "given up", "set aside"}
    | {"asked", "ended"}
)
"""The columns of a table of readings beside those of the parameters and covariates."""

FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n")
"""What a cell begins with that a spreadsheet would run."""


def column(name: str, place: str = "x", taken: Container[str] = COLUMNS) -> str:
    """Return the column of a parameter.

    Args:
        name: What the parameter is called.
        place: Of the setting: "x" where it was measured; "first" or "second" where two were judged.
        taken: The names of other columns.

    Example:
        >>> column("q1"), column("value"), column("value", "first"), column("x", "second")
        ('q1', 'x.value', 'first.value', 'second')
    """
    if place == "x":
        return f"x.{name}" if name in taken else name
    return place if name == "x" else f"{place}.{name}"


def row(record: Record, **more: Any) -> dict[str, Any]:
    """Return a question and its answer, a value for each column.

    Args:
        record: The question.
        **more: Further columns.
    """
    who, said = _measured(record) if record.steps is None else _judged(record)
    places = {place: settings(x) for place, x in record.places.items()}
    where = {column(name, place): value for place, x in places.items() for name, value in x.items()}
    kept = who | said | more
    beside = {**record.values, **record.covariates}
    return who | where | kept | {name: value for name, value in beside.items() if name not in where | kept}


def _measured(record: Record) -> tuple[dict[str, Any], dict[str, Any]]:
    who = {"trial": record.trial, "duel": record.duel, "worker": record.worker, "block": record.block}
    share = {} if record.of is None else {"of": record.of}
    said = {"value": record.value, **share, "error": record.error or None, "time": record.time, "failed": record.failed}
    return who, said | {"given up": record.void, "set aside": record.aside}


def _judged(record: Record) -> tuple[dict[str, Any], dict[str, Any]]:
    said = {"answer": record.answer, "skipped": record.failed, "steps": record.steps}
    kept = {"again": record.again, "plan": record.plan, "added": record.added}
    return {"pair": record.trial, "judge": record.worker}, said | kept


def timed(records: Iterable[Record]) -> list[dict[str, Any]]:
    """Return questions as rows, with the times of each."""
    return [row(record, asked=record.asked, ended=record.ended) for record in records]


def columns(records: Iterable[Record]) -> dict[str, list[Any]]:
    """Return questions as columns, by name."""
    rows = [row(record) for record in records]
    return {name: [cells.get(name) for cells in rows] for name in _named(rows)}


def as_csv(rows: Sequence[Mapping[str, Any]], space: Domain, judgements: bool = False) -> str:
    """Return rows as a CSV file; an empty table has its header too. What UTF-8 cannot say is escaped."""
    file = io.StringIO()
    header = _named(rows or timed([_example(space, judgements)]))
    writer = csv.DictWriter(file, list(header), lineterminator="\n")
    writer.writerows({name: cell(value) for name, value in cells.items()} for cells in (header, *rows))
    return file.getvalue().encode("utf-8", "backslashreplace").decode("utf-8")


def cell(value: Any) -> Any:
    """Return a value for a spreadsheet: a text that it would run gets an apostrophe before it.

    Example:
        >>> [cell(value) for value in (-0.5, "-5", "=1+1", "open", None)]
        [-0.5, '-5', "'=1+1", 'open', None]
    """
    text = "" if value is None else str(value)
    return f"'{text}" if text.startswith(FORMULA) and NUMBER.fullmatch(text) is None else value


def _named(rows: Iterable[Mapping[str, Any]]) -> dict[str, str]:
    """Return the names of all columns, in the order in which they appear: covariates are not in every row."""
    return {name: name for cells in rows for name in cells}


def _example(space: Domain, judgements: bool) -> Record:
    """Return an open question about any setting."""
    x = space.decode(space.candidates(np.random.default_rng(0))[0])
    return Record(0, 0, None, (x, x), steps=DEFAULT_STEPS) if judgements else Record(0, 0, None, x)
