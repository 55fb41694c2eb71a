"""All trials of a study, or all its judgements, as a table."""

import csv
import io
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from equipoise.desk.cells import cell
from equipoise.judging import SCALES, Pair
from equipoise.optimizer import Optimizer
from equipoise.study import Record, Ruling, ballots
from equipoise.study.sheets import row

Times = tuple[Mapping[int, str], Mapping[int, str]]
"""When each trial was asked for, and when it ended."""


def rows(records: Iterable[Record], times: Times) -> list[dict[str, Any]]:
    """Return what became of trials, a value for each column."""
    asked, ended = times
    return [row(record, asked=asked.get(record.trial), ended=ended.get(record.trial)) for record in records]


def ballot_rows(rulings: Iterable[Ruling], times: Times) -> list[dict[str, Any]]:
    """Return what became of pairs, a value for each column."""
    asked, ended = times
    return [ballots.row(each, asked=asked.get(each.pair.id), ended=ended.get(each.pair.id)) for each in rulings]


def as_csv(rows: list[dict[str, Any]], opt: Optimizer, judgements: bool = False) -> str:
    """Return rows as a table; with its header, even if there are none. What UTF-8 cannot say is escaped."""
    file = io.StringIO()
    some = rows or [_none(opt, judgements)]
    columns = {name: name for cells in some for name in cells}  # covariates are not in every row
    writer = csv.DictWriter(file, list(columns), lineterminator="\n")
    writer.writerows({name: cell(value) for name, value in cells.items()} for cells in (columns, *rows))
    return file.getvalue().encode("utf-8", "backslashreplace").decode("utf-8")


def _none(opt: Optimizer, judgements: bool) -> dict[str, Any]:
    """Return a row of the right columns."""
    x, nothing = somewhere(opt), {"asked": None, "ended": None}
    if judgements:
        return ballots.row(Ruling(Pair(0, x, x, SCALES[max(SCALES)])), **nothing)
    return row(Record(0, 0, None, x), **nothing)


def somewhere(opt: Optimizer) -> Any:
    """Return a setting of a study, whichever."""
    return opt.space.decode(opt.space.candidates(np.random.default_rng(0))[0])
