"""Readings in tables: a row each, a column for each parameter and for whatever else was told of it.

What a study writes as a table it can read again: columns are called after the parameters, and `value`, `time`, `error`
and `block`. A parameter that is called as one of these, or as another column of a study's table, has an `x.` before its
name. The coordinates of points without names are called x[0], x[1] and so on.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from equipoise.spaces import Choice, Context, Domain, Int
from equipoise.spaces.readouts import settings
from equipoise.study.rules import Record

COLUMNS = frozenset(
    {"trial", "duel", "worker", "block", "value", "error", "time", "failed", "given up", "set aside", "asked", "ended"}
)
"""The columns of a study's table beside those of its parameters and covariates."""


class RowError(ValueError):
    """A row is no reading; its message says why."""


@dataclass(frozen=True)
class Sheet:
    """How to read a table.

    Attributes:
        space: Where points lie.
        value: The column of the readings.
        block: The column of the blocks; a table need not have it.
        covariates: The columns of what was measured beside.
        otherwise: The block of the rows that do not say theirs.

    Example:
        >>> import equipoise as eq
        >>> sheet = Sheet(eq.Space(q1=eq.Float(0, 1), lens=eq.Choice(["in", "out"])), covariates=("humidity",))
        >>> sheet.reading({"q1": "0.3", "lens": "in", "value": "41.7", "humidity": "0.4", "operator": "anna"})
        {'x': {'q1': 0.3, 'lens': 'in'}, 'value': 41.7, 'covariates': {'humidity': 0.4}}
    """

    space: Domain
    value: str = "value"
    block: str = "block"
    covariates: tuple[str, ...] = ()
    otherwise: str | None = None

    def must_have(self, columns: Sequence[str]) -> None:
        """Refuse a table that lacks a column."""
        needed = [*self._places(columns), self.value, *self.covariates]
        if missing := [name for name in needed if name not in columns]:
            raise ValueError(f"the table must have the columns {', '.join(needed)}; it lacks {', '.join(missing)}")

    def reading(self, cells: Mapping[str, Any]) -> dict[str, Any]:
        """Return the arguments of `Optimizer.add` that a row gives; raise `RowError` where it gives no reading."""
        told: dict[str, Any] = {"x": self.point(cells), "value": _number(self.value, cells.get(self.value))}
        for name in ("time", "error"):
            if not empty(cells.get(name)) and name != self.value:
                told[name] = _number(name, cells[name])
        block = self.otherwise if empty(cells.get(self.block)) else str(cells[self.block])
        told |= {} if block is None else {"block": block}
        beside = {name: _number(name, cells[name]) for name in self.covariates if not empty(cells.get(name))}
        return told | ({"covariates": beside} if beside else {})

    def point(self, cells: Mapping[str, Any]) -> Any:
        """Return the setting that a row names; raise `RowError` where it names none."""
        if names(self.space) is not None:
            return _name(self.space, cells.get("x"))
        parameters = getattr(self.space, "parameters", {})
        places = self._places(list(cells)).items()
        found = {name: _value(parameters.get(name), column, cells.get(column)) for column, name in places}
        return found if parameters else np.array(list(found.values()))

    def _places(self, columns: Sequence[str]) -> dict[str, str]:
        """Return the parameters that are tuned, by the column of each."""
        taken = {*COLUMNS, self.value}
        names = tuned(self.space)
        return {f"x.{name}" if name in taken or f"x.{name}" in columns else name: name for name in names}


def names(space: Domain) -> tuple[str, ...] | None:
    """Return the settings, where they are names without features."""
    found: tuple[str, ...] | None = getattr(space, "names", None)
    return found


def tuned(space: Domain) -> list[str]:
    """Return the names of what is tuned or given, contexts too; names without features are called x."""
    if names(space) is not None:
        return ["x"]
    parameters = getattr(space, "parameters", None)
    if parameters is None:
        return [f"x[{i}]" for i in range(space.dimension)]
    return [name for name, parameter in parameters.items() if parameter.width]


def columns(records: Iterable[Record]) -> dict[str, list[Any]]:
    """Return what became of trials as columns by name: the table of a study."""
    rows = [row(record) for record in records]
    names = {name: None for cells in rows for name in cells}  # in the order in which they appear
    return {name: [cells.get(name) for cells in rows] for name in names}


def row(record: Record, **more: Any) -> dict[str, Any]:
    """Return what became of a trial, a value for each column of a study's table.

    Args:
        record: What became of it.
        **more: Further columns.
    """
    who = {"trial": record.trial, "duel": record.duel, "worker": record.worker, "block": record.block}
    told = {"value": record.value, "error": record.error or None, "time": record.time, "failed": record.failed}
    kept = who | told | {"given up": record.void, "set aside": record.aside} | more
    where = {f"x.{name}" if name in COLUMNS else name: value for name, value in settings(record.x).items()}
    return who | where | kept | {name: value for name, value in record.covariates.items() if name not in where | kept}


def empty(cell: Any) -> bool:
    """Return whether a cell says nothing."""
    return cell is None or cell != cell or (isinstance(cell, str) and not cell.strip())


def _value(parameter: Any, column: str, cell: Any) -> Any:
    """Return what a cell says of a parameter; of a coordinate without a name a number."""
    if isinstance(parameter, Context):
        return _value(parameter.values, column, cell)
    if isinstance(parameter, Choice):
        return _option(parameter, column, cell)
    found = _number(column, cell)
    return int(found) if isinstance(parameter, Int) and found.is_integer() else found


def _number(column: str, cell: Any) -> float:
    if empty(cell):
        raise RowError(f"{column} is empty")
    try:
        return float(cell)
    except (TypeError, ValueError):
        raise RowError(f"{column} must be a number, got {cell!r}") from None


def _name(space: Domain, cell: Any) -> str:
    """Return the setting that a cell names."""
    known = names(space) or ()
    if str(cell).strip() not in known:
        raise RowError(f"x must be one of the {len(known)} names, got {cell!r}")
    return str(cell).strip()


def _option(choice: Choice, column: str, cell: Any) -> Any:
    """Return the option that a cell names."""
    for option in choice.options:
        if cell == option or str(cell).strip() == str(option):
            return option
    raise RowError(f"{column} must be one of {', '.join(map(str, choice.options))}, got {cell!r}")
