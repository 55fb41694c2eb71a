"""Rows of a table that a study has already: a table that is taken in twice would count twice."""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from equipoise.optimizer import Optimizer
from equipoise.study import Record

DIGITS = 9
"""Of coordinates, which are stored as they are encoded, that must be equal."""

SETTINGS = ("x", "against")
"""The arguments of a row that are settings."""

Row = Mapping[str, Any]


def repeated(opt: Optimizer, rows: Sequence[Row]) -> list[bool]:
    """Return for each row whether the study has it already; two that are alike need two there.

    A reading is the same if it was read at the same point with the same value, and with the same block, seed, time and
    error if the row says them; a judgement if the same judge said the same of the same settings in the same order.

    Example:
        >>> import equipoise as eq
        >>> opt = eq.Optimizer(eq.Space(q=eq.Float(0, 1)), rng=0)
        >>> _ = opt.add({"q": 0.5}, 3.0, block="2025")
        >>> repeated(opt, [{"x": {"q": 0.5}, "value": 3.0}, {"x": {"q": 0.5}, "value": 3.0, "block": "2024"}])
        [True, False]
    """
    judgements = any("against" in row for row in rows)
    known = [_said(opt, record) for record in opt.records(aside=False, judgements=judgements)]
    left: dict[tuple[str, ...], Counter[tuple[Any, ...]]] = {}
    found = []
    for row in rows:
        names = tuple(sorted(set(row) - {"covariates", "missing"}))
        if names not in left:
            left[names] = Counter(tuple(each[name] for name in names) for each in known)
        key = tuple(_point(opt, row[name]) if name in SETTINGS else _key(row[name]) for name in names)
        found.append(left[names][key] > 0)
        left[names][key] -= 1
    return found


def _said(opt: Optimizer, record: Record) -> dict[str, Any]:
    """Return what may be compared with the arguments of a row, by their names."""
    places = [_point(opt, x) for x in record.places.values()]
    known = {name: getattr(record, name) for name in ("block", "seed", "time", "error", "steps")}
    said = {"value": _key(record.told) if record.steps is None else record.answer, "judge": record.worker or ""}
    return known | said | dict(zip(SETTINGS, places, strict=False))


def _key(said: Any) -> Any:
    """Return an answer so that equal ones are equal: numbers by name in the order of their names."""
    return tuple(sorted(said.items())) if isinstance(said, Mapping) else said


def _point(opt: Optimizer, x: Any) -> tuple[float, ...]:
    """Return a point so that equal ones are equal, however they are written."""
    return tuple(np.round(opt.space.encode(x), DIGITS).tolist())
