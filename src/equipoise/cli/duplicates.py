"""Rows of a table that a study has already: a table that is taken in twice would count twice."""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from equipoise.optimizer import Optimizer
from equipoise.study import Record, Ruling

DIGITS = 9
"""Of coordinates, which are stored as they are encoded, that must be equal."""

Row = Mapping[str, Any]


def repeated(opt: Optimizer, rows: Sequence[Row], judgements: bool = False) -> list[bool]:
    """Return for each row whether the study has it already; two that are alike need two there.

    A reading is the same if it was read at the same point with the same value, and with the same block, time and error
    if the row says them; a judgement if the same judge said the same of the same settings in the same order.

    Args:
        opt: The study.
        rows: Arguments of `Optimizer.add` or, for judgements, of `Optimizer.add_judgement`.
        judgements: Whether they are judgements.

    Example:
        >>> import equipoise as eq
        >>> opt = eq.Optimizer(eq.Space(q=eq.Float(0, 1)), rng=0)
        >>> _ = opt.add({"q": 0.5}, 3.0, block="2025")
        >>> repeated(opt, [{"x": {"q": 0.5}, "value": 3.0}, {"x": {"q": 0.5}, "value": 3.0, "block": "2024"}])
        [True, False]
    """
    known = list(map(_judged, opt.rulings()) if judgements else map(_read, opt.records(judged=False)))
    places = ("first", "second") if judgements else ("x",)
    for each in known:
        each |= {place: _point(opt, each[place]) for place in places}
    left: dict[tuple[str, ...], Counter[tuple[Any, ...]]] = {}
    found = []
    for row in rows:
        names = tuple(sorted(set(row) - {"covariates"}))
        if names not in left:
            left[names] = Counter(tuple(each[name] for name in names) for each in known)
        said = {**row, **{place: _point(opt, row[place]) for place in places}}
        key = tuple(said[name] for name in names)
        found.append(left[names][key] > 0)
        left[names][key] -= 1
    return found


def _read(record: Record) -> dict[str, Any]:
    names = ("x", "value", "block", "time", "error")
    return {name: getattr(record, name) for name in names}


def _judged(ruling: Ruling) -> dict[str, Any]:
    pair = ruling.pair
    said = {"first": pair.first, "second": pair.second, "answer": ruling.answer}
    return said | {"judge": pair.judge, "steps": len(pair.answers)}


def _point(opt: Optimizer, x: Any) -> tuple[float, ...]:
    """Return a point so that equal ones are equal, however they are written."""
    return tuple(np.round(opt.space.encode(x), DIGITS).tolist())
