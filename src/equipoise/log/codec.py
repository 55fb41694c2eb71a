"""Events as JSON, and back.

Numbers keep all their digits, so a study that is replayed is the same to the last bit. Points are encoded: the index
of one of finitely many, else its coordinates; "x" repeats them as the user knows them, rounded, for people to read.
"""

from collections.abc import Mapping
from functools import cached_property
from typing import Any

import numpy as np

from equipoise import _validation as check
from equipoise._typing import FloatArray
from equipoise.data import EVEN, Duel, Proposal, Reading, Side
from equipoise.log.events import Asked, Corrected, Event, Expired, Failed, Handed, Retracted, Told
from equipoise.spaces import Domain

PROPOSAL = "proposal"
"""The side of a comparison that is the whole proposal."""


class Codec:
    """Turns events of a study into JSON and back.

    Args:
        space: Where the points lie.

    Example:
        >>> import equipoise as eq
        >>> codec = Codec(eq.Box([(-2, 2)]))
        >>> codec.to_json(Told(3, Reading(0.5, time=12.0)))
        {'tell': 3, 'value': 0.5, 'time': 12.0}
        >>> codec.from_json({"tell": 3, "value": 0.5, "time": 12.0}).reading.time
        12.0
    """

    def __init__(self, space: Domain) -> None:
        self.space = space

    def to_json(self, event: Event) -> dict[str, Any]:
        """Return an event as a JSON object."""
        match event:
            case Asked(trial, number, duel, worker):
                return {"ask": trial, "duel": number} | self._duel(duel) | _given(worker=worker)
            case Handed(trial, worker):
                return {"hand": trial} | _given(worker=worker)
            case Told(trial, reading):
                return {"tell": trial} | self._reading(reading)
            case Failed(trial, reason):
                return {"fail": trial, "reason": reason}
            case Expired(trial):
                return {"expire": trial}
            case Corrected(trial, reading):
                return {"correct": trial} | self._reading(reading)
            case Retracted(trial):
                return {"retract": trial}

    def from_json(self, content: Mapping[str, Any]) -> Event:
        """Return the event that a JSON object describes; what is unknown in it is passed over."""
        match content:
            case {"ask": int(trial), "duel": int(number)}:
                return Asked(trial, number, self._to_duel(content), content.get("worker"))
            case {"hand": int(trial)}:
                return Handed(trial, content.get("worker"))
            case {"tell": int(trial)}:
                return Told(trial, self._to_reading(content))
            case {"fail": int(trial), "reason": str(reason)}:
                return Failed(trial, reason)
            case {"expire": int(trial)}:
                return Expired(trial)
            case {"correct": int(trial)}:
                return Corrected(trial, self._to_reading(content))
            case {"retract": int(trial)}:
                return Retracted(trial)
        raise ValueError(f"it is no event of this version of equipoise: {', '.join(content)}")

    def _duel(self, duel: Duel) -> dict[str, Any]:
        """Return a duel: its points, those of the proposal first, and which of them play which part."""
        table = [*duel.proposal.points]
        measure = [_place(table, point) for point in duel.points]
        first, second = (_part(table, side, duel.proposal) for side in (duel.first, duel.second))
        result = {"points": [self._point(p) for p in table], "measure": measure, "signs": duel.signs}
        result |= {"first": first, "second": second, "x": [readable(self.space.decode(p)) for p in duel.points]}
        if not np.array_equal(duel.proposal.weights, EVEN):
            result["weights"] = duel.proposal.weights.tolist()
        return result | ({"baseline": duel.baseline} if duel.baseline else {})

    def _to_duel(self, content: Mapping[str, Any]) -> Duel:
        points = np.array([self._to_point(p) for p in content["points"]])
        weights = np.array(content["weights"]) if "weights" in content else EVEN
        proposal = Proposal(points[: len(weights)], weights)
        first, second = (_side(part, proposal, points) for part in (content["first"], content["second"]))
        if first is None:
            raise ValueError("a duel must be of a point or of its own proposal")
        measured, signs = points[content["measure"]], tuple(content["signs"])
        return Duel(proposal, measured, signs, first, second, content.get("baseline", 0.0))

    def _reading(self, reading: Reading) -> dict[str, Any]:
        point = reading.point
        moved = {} if point is None else {"point": self._point(point), "x": readable(self.space.decode(point))}
        return {"value": reading.value} | moved | _given(time=reading.time, error=reading.error or None)

    def _to_reading(self, content: Mapping[str, Any]) -> Reading:
        return Reading(
            check.number("value", content["value"]),
            self._to_point(content["point"]) if "point" in content else None,
            check.number("time", content["time"]) if "time" in content else None,
            check.nonnegative("error", content.get("error", 0.0)),
        )

    def _point(self, point: FloatArray) -> int | list[float]:
        listed = self._index.get(point.tobytes())
        coordinates: list[float] = point.tolist()
        return coordinates if listed is None else listed

    def _to_point(self, value: int | list[float]) -> FloatArray:
        listed = self.space.points
        if isinstance(value, int) and listed is not None:
            point: FloatArray = listed[value]
            return point
        return np.array(value, dtype=np.float64).reshape(self.space.dimension)

    @cached_property
    def _index(self) -> dict[bytes, int]:
        """The index of each of finitely many points, by its bytes."""
        listed = self.space.points
        return {} if listed is None else {point.tobytes(): i for i, point in enumerate(listed)}


def readable(x: Any) -> Any:
    """Return the user's point for people to read: numbers of six digits, the representation of what JSON lacks.

    Example:
        >>> readable({"q1": 1 / 3, "lens": "in", "window": (0, 1)})
        {'q1': 0.333333, 'lens': 'in', 'window': '(0, 1)'}
    """
    if isinstance(x, Mapping):
        return {str(name): readable(value) for name, value in x.items()}
    if isinstance(x, np.ndarray):
        return [readable(value) for value in x.tolist()]
    if isinstance(x, float):
        return float(f"{x:.6g}") if np.isfinite(x) else repr(x)
    return x if x is None or isinstance(x, (bool, int, str)) else repr(x)


def _part(table: list[FloatArray], side: Side | None, proposal: Proposal) -> int | str | None:
    """Return which part a side of a comparison is: a point of the table, the proposal, or nothing."""
    if side is None or side is proposal:
        return None if side is None else PROPOSAL
    if isinstance(side, Proposal):
        raise ValueError("a duel that is logged must compare points, its own proposal or nothing")
    return _place(table, side)


def _side(part: int | str | None, proposal: Proposal, points: FloatArray) -> Side | None:
    """Undo `_part`."""
    if part is None:
        return None
    return points[part] if isinstance(part, int) else proposal


def _place(table: list[FloatArray], point: FloatArray) -> int:
    """Return where in the table a point stands, at its end where it was missing."""
    for i, known in enumerate(table):
        if known.tobytes() == point.tobytes():
            return i
    table.append(point)
    return len(table) - 1


def _given(**values: Any) -> dict[str, Any]:
    return {name: value for name, value in values.items() if value is not None}
