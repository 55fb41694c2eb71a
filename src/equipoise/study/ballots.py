"""Judgements in tables: a row each, with the settings in both places, what was said, and by whom.

What a study writes as a table it can read again. The settings in the first place have `first.` before the names of the
parameters, those in the second `second.`; names without features stand in the columns `first` and `second`.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from equipoise.judging import SCALES, Pair, answered, known_scale
from equipoise.spaces import Domain
from equipoise.spaces.readouts import settings
from equipoise.study.sheets import COLUMNS, RowError, Sheet, empty, tuned

SIDES = ("first", "second")
"""The places of a pair."""


@dataclass(frozen=True, slots=True)
class Ruling:
    """What became of a pair that was handed out, or taken in from elsewhere.

    Attributes:
        pair: The pair.
        answer: What was said; `None` where nothing was (yet).
        skipped: Why nothing was said.
        added: Whether nobody asked for it, so that no coin has decided on the order.
        plan: The audit or verification it serves, by its number.
    """

    pair: Pair
    answer: str | float | None = None
    skipped: str | None = None
    added: bool = False
    plan: int | None = None


@dataclass(frozen=True)
class Ballots:
    """How to read a table of judgements.

    Attributes:
        space: Where points lie.
        steps: The scale, where a row does not say it in a column called steps.

    Example:
        >>> import equipoise as eq
        >>> rows = [{"first": "press", "second": "filter", "answer": "equal", "judge": "anna"}]
        >>> Ballots.of(eq.Finite(["filter", "press"]), rows).judgement(rows[0])
        {'first': 'press', 'second': 'filter', 'answer': 'equal', 'judge': 'anna', 'steps': 3}
    """

    space: Domain
    steps: int

    @classmethod
    def of(cls, space: Domain, rows: Iterable[Mapping[str, Any]]) -> "Ballots":
        """Return how to read rows: on the shortest scale that has all their words, where they do not say it."""
        said = {str(cells.get("answer")).strip() for cells in rows}
        words = said.intersection(SCALES[max(SCALES)])
        return cls(space, next(steps for steps, scale in SCALES.items() if words <= set(scale)))

    def must_have(self, columns: Sequence[str]) -> None:
        """Refuse a table that lacks a column."""
        needed = [*(_column(side, name) for side in SIDES for name in tuned(self.space)), "answer"]
        if missing := [name for name in needed if name not in columns]:
            raise ValueError(f"the table must have the columns {', '.join(needed)}; it lacks {', '.join(missing)}")

    def judgement(self, cells: Mapping[str, Any]) -> dict[str, Any] | None:
        """Return the arguments of `Optimizer.add_judgement` that a row gives; `None` where nothing was said.

        Raises:
            RowError: It gives no judgement.
        """
        if empty(cells.get("answer")):
            return None
        steps = self.steps if empty(cells.get("steps")) else _scale(cells["steps"])
        sides = {side: self._side(side, cells) for side in SIDES}
        judge = "" if empty(cells.get("judge")) else str(cells["judge"])
        return {**sides, "answer": _answer(cells["answer"], steps), "judge": judge, "steps": steps}

    def _side(self, side: str, cells: Mapping[str, Any]) -> Any:
        cell = {name: cells.get(_column(side, name)) for name in tuned(self.space)}
        named = {f"x.{name}" if name in COLUMNS else name: value for name, value in cell.items()}
        try:
            return Sheet(self.space, value="").point(named)
        except RowError as error:
            raise RowError(f"{side} place: {error}") from None


def columns(rulings: Iterable[Ruling]) -> dict[str, list[Any]]:
    """Return what became of pairs as columns by name: the table of a study's judgements."""
    rows = [row(ruling) for ruling in rulings]
    return {name: [cells[name] for cells in rows] for name in (rows[0] if rows else ())}


def row(ruling: Ruling, **more: Any) -> dict[str, Any]:
    """Return what became of a pair, a value for each column.

    Args:
        ruling: What became of it.
        **more: Further columns.
    """
    pair = ruling.pair
    shown = {
        _column(side, name): value
        for side, x in zip(SIDES, (pair.first, pair.second), strict=True)
        for name, value in settings(x).items()
    }
    said = {"answer": ruling.answer, "skipped": ruling.skipped, "steps": len(pair.answers)}
    kept = {"again": pair.again, "plan": ruling.plan, "added": ruling.added}
    return {"pair": pair.id, "judge": pair.judge or None} | shown | said | kept | more


def _column(side: str, name: str) -> str:
    return side if name == "x" else f"{side}.{name}"


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
