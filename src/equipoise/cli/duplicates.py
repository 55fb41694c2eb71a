"""Duplicate rows: rows of a table that the study already has, and that would count twice."""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from equipoise.optimizer import Optimizer
from equipoise.study import Record

DIGITS = 9
"""Number of digits to which stored coordinates must agree; they are stored in encoded form."""

SETTINGS = ("x", "against")
"""The arguments of a row that contain settings."""

Row = Mapping[str, Any]


def repeated(opt: Optimizer, rows: Sequence[Row]) -> list[bool]:
    """Return for each row whether the study already has it; two equal rows need two equal records.

    Two readings are equal if they have the same point and value, and the same block, seed, time and
    error if the row gives them; two judgements if the same judge gave the same answer to the same ordered pair.

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
    """Return the values of a record that correspond to the arguments of a row, by name."""
    places = [_point(opt, x) for x in record.places.values()]
    known = {name: getattr(record, name) for name in ("block", "seed", "time", "error", "steps")}
    said = {"value": _key(record.told) if record.steps is None else record.answer, "judge": record.worker or ""}
    return known | said | dict(zip(SETTINGS, places, strict=False))


def _key(said: Any) -> Any:
    """Return a canonical form of an answer: numbers by name are sorted by name."""
    return tuple(sorted(said.items())) if isinstance(said, Mapping) else said


def _point(opt: Optimizer, x: Any) -> tuple[float, ...]:
    """Return a canonical form of a point, which does not depend on how it was written."""
    return tuple(np.round(opt.space.encode(x), DIGITS).tolist())
