"""All trials of a study as a table."""

import csv
import io
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from equipoise.desk.cells import cell
from equipoise.optimizer import Optimizer
from equipoise.study.rules import Record
from equipoise.study.sheets import row

Times = tuple[Mapping[int, str], Mapping[int, str]]
"""When each trial was asked for, and when it ended."""


def rows(records: Iterable[Record], times: Times) -> list[dict[str, Any]]:
    """Return what became of trials, a value for each column."""
    asked, ended = times
    return [row(record, asked=asked.get(record.trial), ended=ended.get(record.trial)) for record in records]


def as_csv(rows: list[dict[str, Any]], opt: Optimizer) -> str:
    """Return rows as a table; with its header, even if there are none."""
    file = io.StringIO()
    some = rows or [row(Record(0, 0, None, somewhere(opt)), asked=None, ended=None)]
    columns = {name: name for cells in some for name in cells}  # covariates are not in every row
    writer = csv.DictWriter(file, list(columns), lineterminator="\n")
    writer.writerows({name: cell(value) for name, value in cells.items()} for cells in (columns, *rows))
    return file.getvalue()


def somewhere(opt: Optimizer) -> Any:
    """Return a setting of a study, whichever."""
    return opt.space.decode(opt.space.candidates(np.random.default_rng(0))[0])
