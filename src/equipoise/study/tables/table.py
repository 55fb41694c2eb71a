"""A study as a table, written and read again: a row for each question that was measured, or for each that was judged.

Each parameter has a column of its name. If another column has this name too, such as `value`, the parameter's column
gets the prefix `x.`. The coordinates of points without names have the columns x[0], x[1] and so on, and names without
features have a column x. A judgement is about two settings: the columns of parameters then have the prefixes `first.`
and `second.`, and names without features have the columns first and second.
"""

import csv
import io
from collections.abc import Container, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import numpy as np

from equipoise._validation import NUMBER
from equipoise.likelihoods import DEFAULT_STEPS, SCALES, answered, known_scale, parsed
from equipoise.offsets import seed_label
from equipoise.spaces import Choice, Context, Domain, Int, names, settings, tuned
from equipoise.study.tables.record import PLACES, Record

COLUMNS = frozenset(
    {"trial", "duel", "worker", "block", "seed", "value", "of", "error", "time", "failed", "given up", "set aside"}
    | {"asked", "ended"}
)
"""The columns of a table of readings besides those of the parameters and covariates."""

FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n")
"""The first characters of a cell that a spreadsheet would run."""


def column(name: str, place: str = "x", taken: Container[str] = COLUMNS) -> str:
    """Return the column of a parameter.

    Args:
        name: The name of the parameter.
        place: Of the setting: "x" where it was measured; "first" or "second" if two were judged.
        taken: The names of other columns.

    Example:
        >>> column("q1"), column("value"), column("value", "first"), column("x", "second")
        ('q1', 'x.value', 'first.value', 'second')
    """
    if place == "x":
        return f"x.{name}" if name in taken else name
    return place if name == "x" else f"{place}.{name}"


def row(record: Record, outputs: Iterable[str] = (), **more: Any) -> dict[str, Any]:
    """Return a question and its answer, a value for each column; an output that was never told has a column, too."""
    who, said = _measured(record) if record.steps is None else _judged(record)
    places = {place: settings(x) for place, x in record.places.items()}
    where = {column(name, place): value for place, x in places.items() for name, value in x.items()}
    kept = who | said | more
    told = {} if record.steps is not None else dict.fromkeys(outputs)
    beside = {**told, **record.values, **record.covariates}
    return who | where | kept | {name: value for name, value in beside.items() if name not in where | kept}


def _measured(record: Record) -> tuple[dict[str, Any], dict[str, Any]]:
    who = {"trial": record.trial, "duel": record.duel, "worker": record.worker, "block": record.block}
    who |= {} if record.seed is None else {"seed": record.seed}
    share = {} if record.of is None else {"of": record.of}
    said = {"value": record.value, **share, "error": record.error or None, "time": record.time, "failed": record.failed}
    return who, said | {"given up": record.void, "set aside": record.aside}


def _judged(record: Record) -> tuple[dict[str, Any], dict[str, Any]]:
    said = {"answer": record.answer, "skipped": record.failed, "steps": record.steps}
    kept = {"again": record.again, "plan": record.plan, "added": record.added}
    return {"pair": record.trial, "judge": record.worker}, said | kept


def timed(records: Iterable[Record], outputs: Sequence[str] = ()) -> list[dict[str, Any]]:
    """Return questions as rows, with the times of each."""
    return [row(record, outputs, asked=record.asked, ended=record.ended) for record in records]


def columns(records: Iterable[Record], outputs: Sequence[str] = ()) -> dict[str, list[Any]]:
    """Return questions as columns, by name."""
    rows = [row(record, outputs) for record in records]
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


def plain(text: str) -> str:
    """Return the text in a cell that `cell` has written.

    Example:
        >>> [plain(text) for text in ("'=1+1", "'quoted'", "-5")]
        ['=1+1', "'quoted'", '-5']
    """
    return text[1:] if text.startswith("'") and cell(text[1:]) == text else text


def _named(rows: Iterable[Mapping[str, Any]]) -> dict[str, str]:
    """Return the names of all columns, in the order in which they appear: covariates are not in every row."""
    return {name: name for cells in rows for name in cells}


def _example(space: Domain, judgements: bool) -> Record:
    """Return an open question about any setting."""
    x = space.decode(space.candidates(np.random.default_rng(0))[0])
    return Record(0, 0, None, (x, x), steps=DEFAULT_STEPS) if judgements else Record(0, 0, None, x)


class RowError(ValueError):
    """A row is neither a reading nor a judgement; the message says why."""


@dataclass(frozen=True)
class Table:
    """The rules for reading a table.

    Attributes:
        space: The space of the points.
        value: The column of the readings.
        covariates: The columns of the covariates.
        block: The block of rows that do not name one.
        judgements: Whether the rows are judgements, which have neither value nor covariates nor block.
        steps: The scale of judgements that do not name one.
        outputs: The columns of the numbers of a reading, if there are several, instead of `value`.
        seeds: Whether a column seed is used, if there is one.

    Example:
        >>> import equipoise as eq
        >>> table = Table(eq.Space(q1=eq.Float(0, 1), lens=eq.Choice(["in", "out"])), covariates=("humidity",))
        >>> table.read({"q1": "0.3", "lens": "in", "value": "41.7", "humidity": "0.4", "operator": "anna"})
        {'x': {'q1': 0.3, 'lens': 'in'}, 'value': 41.7, 'covariates': {'humidity': 0.4}}
        >>> rows = [{"first": "press", "second": "filter", "answer": "equal", "judge": "anna"}]
        >>> Table.of(eq.Finite(["filter", "press"]), list(rows[0]), rows, judgements=True).read(rows[0])
        {'x': 'press', 'against': 'filter', 'value': 'equal', 'judge': 'anna', 'steps': 3}
    """

    space: Domain
    value: str = "value"
    covariates: tuple[str, ...] = ()
    block: str | None = None
    judgements: bool = False
    steps: int = DEFAULT_STEPS
    outputs: tuple[str, ...] = ()
    seeds: bool = False

    @classmethod
    def of(cls, space: Domain, columns: Sequence[str], rows: Iterable[Mapping[str, Any]], **how: Any) -> "Table":
        """Return the rules for rows, judgements on the shortest scale with all their words. Refuse other columns."""
        words = {str(cells.get("answer")).strip() for cells in rows}.intersection(SCALES[max(SCALES)])
        table = cls(space, steps=next(steps for steps, scale in SCALES.items() if words <= set(scale)), **how)
        needed = [each for place in table.places.values() for each in table._columns(place, columns).values()]
        needed += ["answer"] if table.judgements else [*(table.outputs or [table.value]), *table.covariates]
        if missing := [name for name in needed if name not in columns]:
            raise ValueError(f"the table must have the columns {', '.join(needed)}; it lacks {', '.join(missing)}")
        return table

    @property
    def places(self) -> dict[str, str]:
        """The place name of the columns of each argument that is a setting."""
        return dict(zip(("x", "against"), PLACES, strict=True)) if self.judgements else {"x": "x"}

    def read(self, cells: Mapping[str, Any]) -> dict[str, Any] | None:
        """Return the arguments of `Optimizer.add` from a row; `None` if it has no answer.

        Raises:
            RowError: The row is invalid.
        """
        if self.judgements and empty(cells.get("answer")):
            return None
        where = {name: self._setting(place, cells) for name, place in self.places.items()}
        return where | (self._judgement(cells) if self.judgements else self._reading(cells))

    def _reading(self, cells: Mapping[str, Any]) -> dict[str, Any]:
        found = self._by_name(cells) if self.outputs else self._value(cells)
        for name in ("time", "error"):
            if not empty(cells.get(name)) and name != self.value:
                found[name] = _number(name, cells[name])
        block = self.block if empty(cells.get("block")) else str(cells["block"])
        if self.seeds and not empty(cells.get("seed")):
            found["seed"] = _seed(cells["seed"])
            ours = f", {seed_label('', found['seed'])}"  # a study with seeds writes it behind the block
            block = f", {block or ''}".removesuffix(ours).removeprefix(", ") or None
        found |= {} if block is None else {"block": block}
        beside = {name: _number(name, cells[name]) for name in self.covariates if not empty(cells.get(name))}
        return found | ({"covariates": beside} if beside else {})

    def _value(self, cells: Mapping[str, Any]) -> dict[str, Any]:
        found, of = cells.get(self.value), cells.get("of")
        if isinstance(found, str) and "/" in found:
            with suppress(ValueError):
                return {"value": parsed(found)}  # a share such as 17/200
        value = _number(self.value, found)
        return {"value": value if empty(of) or self.value == "of" else (value, _number("of", of))}

    def _by_name(self, cells: Mapping[str, Any]) -> dict[str, Any]:
        missing = [name for name in self.outputs[1:] if empty(cells.get(name))]
        told = {name: _number(name, cells.get(name)) for name in self.outputs if name not in missing}
        return {"value": told} | ({"missing": missing} if missing else {})

    def _judgement(self, cells: Mapping[str, Any]) -> dict[str, Any]:
        steps = self.steps if empty(cells.get("steps")) else _scale(cells["steps"])
        judge = "" if empty(cells.get("judge")) else str(cells["judge"])
        return {"value": _answer(cells["answer"], steps), "judge": judge, "steps": steps}

    def _setting(self, place: str, cells: Mapping[str, Any]) -> Any:
        parameters: Mapping[str, Any] = getattr(self.space, "parameters", {})
        found = {
            name: _value(parameters.get(name, names(self.space)), at, cells.get(at))
            for name, at in self._columns(place, cells).items()
        }
        if names(self.space) is not None:
            return found["x"]
        return found if parameters else np.array(list(found.values()))

    def _columns(self, place: str, columns: Container[str]) -> dict[str, str]:
        """Return the column of each parameter that is tuned."""
        named = tuned(self.space)
        taken = {*COLUMNS, self.value, *(name for name in named if f"x.{name}" in columns)}
        return {name: column(name, place, taken) for name in named}


def empty(cell: Any) -> bool:
    """Return whether a cell is empty."""
    return cell is None or cell != cell or (isinstance(cell, str) and not cell.strip())


def _seed(cell: Any) -> int | str:
    """Return the seed in a cell: a whole number if it is one, however a table writes it."""
    text = str(cell).strip().removesuffix(".0")
    return int(text) if text.isdecimal() else text


def _value(parameter: Any, column: str, cell: Any) -> Any:
    """Return the value in a cell of a parameter or of names; for a coordinate without a name, a number."""
    if isinstance(parameter, Context):
        return _value(parameter.values, column, cell)
    if isinstance(parameter, Choice):
        return _option(parameter.options, ", ".join(map(str, parameter.options)), column, cell)
    if isinstance(parameter, tuple):
        return _option(parameter, f"the {len(parameter)} names", column, cell)
    found = _number(column, cell)
    return int(found) if isinstance(parameter, Int) and found.is_integer() else found


def _number(column: str, cell: Any) -> float:
    if empty(cell):
        raise RowError(f"{column} is empty")
    try:
        return float(cell)
    except (TypeError, ValueError):
        raise RowError(f"{column} must be a number, got {cell!r}") from None


def _option(options: Iterable[Any], described: str, column: str, cell: Any) -> Any:
    """Return the option that a cell names."""
    for option in options:
        if cell == option or str(cell).strip() == str(option) or (option is None and empty(cell)):
            return option
    raise RowError(f"{column} must be one of {described}, got {cell!r}")


def _scale(cell: Any) -> int:
    try:
        return known_scale(int(cell))
    except (TypeError, ValueError) as error:
        raise RowError(f"steps must be those of a scale, got {cell!r}") from error


def _answer(cell: Any, steps: int) -> str | float:
    """Return a word of the scale, or a number."""
    text = cell.strip() if isinstance(cell, str) else cell
    try:
        return answered(float(text), steps)
    except (TypeError, ValueError):
        pass  # no number: a word, then
    try:
        return answered(text, steps)
    except (TypeError, ValueError) as error:
        raise RowError(str(error)) from None
