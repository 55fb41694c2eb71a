"""Events as JSON, and back.

Numbers keep all their digits, so a study that is replayed is the same to the last bit. Points are encoded: the index
of one of finitely many, else its coordinates; "x" repeats them as the user knows them, rounded, for people to read.
"""

from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime
from functools import cached_property
from typing import Any

import numpy as np

from equipoise import _validation as check
from equipoise._typing import FloatArray
from equipoise.data import EVEN, Answer, Duel, PairToJudge, Preference, Proposal, Reading, SeedName, Side
from equipoise.likelihoods import known_scale
from equipoise.log.events import (
    FORMER_SETTINGS,
    MODES,
    Added,
    Asked,
    Begun,
    Canceled,
    Corrected,
    Event,
    Expired,
    Failed,
    Handed,
    Noted,
    Planned,
    Refitted,
    Retracted,
    Set,
    Stamped,
    Step,
    Teaching,
    Told,
    Widened,
    unfitted,
)
from equipoise.log.fits import KeptFit
from equipoise.offsets import Circumstances
from equipoise.spaces import Domain, Space

PROPOSAL = "proposal"
"""The side of a comparison that is the whole proposal."""

MAX_PLANNED = 10**6
"""The most duels that a plan may have."""

ROUNDING = 1e-6
"""By how much a point may lie outside of its space, and weights may miss 1: other machines round otherwise."""

FORMER = {"pair": "ask", "judge": "tell", "heard": "judged"}
"""Keys by which versions up to 0.2.0 wrote pairs, judgements and the fit to judges; the last one stood
beside the fit and is a part of it now."""


class Codec:
    """Turns events of a study into JSON and back.

    Args:
        space: Where the points lie.
        before: Where the points of the JSON lie, if that is a space with narrower ranges.

    Example:
        >>> import equipoise as eq
        >>> codec = Codec(eq.Box([(-2, 2)]))
        >>> codec.to_json(Told(3, Reading(0.5, time=12.0)))
        {'tell': 3, 'value': 0.5, 'time': 12.0}
        >>> codec.from_json({"tell": 3, "value": 0.5, "time": 12.0}).answer.time
        12.0
    """

    def __init__(self, space: Domain, before: Domain | None = None) -> None:
        self.space, self._before = space, space if before is None else before

    def after(self, *events: Stamped) -> "Codec":
        """Return the codec of the events after some events."""
        space = self.space
        for stamped in events:
            space = widened(space, stamped.event) if isinstance(stamped.event, Widened) else space
        return self if space is self.space else Codec(space)

    def to_json(self, event: Event) -> dict[str, Any]:
        """Return an event as a JSON object."""
        return self._content(event) | _given(undo=getattr(event, "undone", False) or None)

    def from_json(self, content: Mapping[str, Any]) -> Event:
        """Return the event that a JSON object describes; unknown keys are ignored.

        The content is checked like the arguments of `ask` and `tell`, since a log may come from a stranger.
        """
        event = self._event(_renewed(content))
        return replace(event, undone=True) if isinstance(event, Step) and content.get("undo") is True else event

    def to_line(self, stamped: Stamped) -> dict[str, Any]:
        """Return an event and its time as the JSON object that a journal keeps."""
        return self.to_json(stamped.event) | _given(at=stamped.at)

    def from_line(self, content: Mapping[str, Any]) -> Stamped:
        """Return an event of a journal with its time, which is `None` if it cannot be read."""
        return Stamped(self.from_json(content), _time(content.get("at")))

    def _content(self, event: Event) -> dict[str, Any]:
        match event:
            case Planned(number, purpose, duels, points):
                return {"plan": number, "kind": purpose, "duels": duels} | self._finalists(points)
            case Canceled(number):
                return {"cancel": number}
            case Begun(block):
                return {"begin": block}
            case Added(trial, number, answer, seed=seed):
                return {"add": trial, "duel": number} | _given(seed=seed) | self._answer(answer) | _fit(event)
            case Asked(trial, Duel() as duel, number, worker, plan, seed):
                return {"ask": trial, "duel": number} | self._duel(duel) | _given(worker=worker, plan=plan, seed=seed)
            case Asked(trial, PairToJudge() as pair, plan=plan):
                return {"ask": trial} | self._pair(pair, plan)
            case Handed(trial, worker, point):
                return {"hand": trial} | _given(worker=worker) | self._moved(point)
            case Told(trial, answer):
                return {"tell": trial} | self._answer(answer) | _fit(event) | _given(deferred=event.deferred or None)
            case Refitted(lessons):
                return {"refit": lessons} | _fit(event)
            case Failed(trial, reason):
                return {"fail": trial, "reason": reason}
            case Expired(trial):
                return {"expire": trial}
            case Corrected(trial, answer):
                return {"correct": trial} | self._answer(answer) | _fit(event)
            case Retracted(trial):
                return {"retract": trial} | _fit(event)
            case Noted(number, topic, text, point):
                return {"note": number, "topic": topic, "text": text} | self._moved(point)
            case Set(name, value, why):
                return {"set": name, "value": value} | _given(why=why or None)
            case Widened(name, low, high, why):
                return {"set": name, "value": [low, high]} | _given(why=why or None) | _fit(event)
        raise AssertionError(f"{event!r} is not an event")

    def _event(self, content: Mapping[str, Any]) -> Event:
        match content:
            case {"ask": trial, "duel": number}:
                duel, worker = self._to_duel(content), _worker(content)
                plan, seed = _optional("plan", content), _seed(content)
                return Asked(_number("ask", trial), duel, _number("duel", number), worker, plan, seed)
            case {"ask": trial, "points": points, "steps": steps}:
                pair = self._to_pair(points, known_scale(steps), content)
                return Asked(_number("ask", trial), pair, plan=_optional("plan", content))
            case {"plan": number, "kind": kind, "duels": duels}:
                return self._to_plan(_number("plan", number), kind, _number("duels", duels), content)
            case {"add": trial, "duel": number}:
                reading, fit = self._to_added(content), _to_fit(content)
                return Added(_number("add", trial), _number("duel", number), reading, fit=fit, seed=_seed(content))
            case {"begin": block}:
                return Begun(check.name("begin", block))
            case {"cancel": number}:
                return Canceled(_number("cancel", number))
            case {"hand": trial}:
                return Handed(_number("hand", trial), _worker(content), self._to_moved(content))
            case {"tell": trial}:
                answer, fit, deferred = self._to_answer(content), _to_fit(content), content.get("deferred") is True
                return Told(_number("tell", trial), answer, fit, deferred)
            case {"refit": lessons, "fit": fit}:
                return Refitted(_number("refit", lessons), KeptFit.from_json(fit))
            case {"fail": trial, "reason": str(reason)}:
                return Failed(_number("fail", trial), reason)
            case {"expire": trial}:
                return Expired(_number("expire", trial))
            case {"correct": trial}:
                return Corrected(_number("correct", trial), self._to_answer(content), _to_fit(content))
            case {"retract": trial}:
                return Retracted(_number("retract", trial), _to_fit(content))
            case {"set": str(name), "value": [low, high]}:
                ends = check.number("low", low), check.number("high", high)
                return Widened(name, *ends, str(content.get("why", "")), _to_fit(content))
            case {"set": name, "value": value}:
                return Set(name, value, content.get("why", ""))
            case {"note": _, "topic": str(topic), "text": str(text)} if topic in FORMER_SETTINGS:
                return Set("mode", topic, text) if topic in MODES else Set(topic, text)
            case {"note": number, "topic": str(topic), "text": str(text)}:
                return Noted(_number("note", number), topic, text, self._to_moved(content))
        keys = ", ".join(content)
        raise ValueError(f"it is an unknown event, perhaps of a newer version of equipoise, with the keys {keys}")

    def point(self, value: Any) -> FloatArray:
        """Return the point that JSON describes, encoded, shape (d,); refuse one that does not lie in the space."""
        encoded: FloatArray = self._to_points([value])[0]
        return encoded

    def _duel(self, duel: Duel) -> dict[str, Any]:
        """Return a duel: its points, those of the proposal first, and which of them play which part."""
        table = [*duel.proposal.points]
        measure = [_place(table, point) for point in duel.points]
        first, second = (_part(table, side, duel.proposal) for side in (duel.first, duel.second))
        result = {"points": [self._point(p) for p in table], "measure": measure, "signs": list(duel.signs)}
        result |= {"first": first, "second": second, "x": [readable(self.space.decode(p)) for p in duel.points]}
        if not np.array_equal(duel.proposal.weights, EVEN):
            result["weights"] = duel.proposal.weights.tolist()
        return result | ({"baseline": duel.baseline} if duel.baseline else {})

    def _to_duel(self, content: Mapping[str, Any]) -> Duel:
        points = self._to_points(_listed("points", content["points"]))
        weights = check.array("weights", content["weights"], (None,)) if "weights" in content else EVEN
        if len(weights) > len(points) or (weights < 0).any() or abs(weights.sum() - 1) > ROUNDING:
            raise ValueError("`weights` must be those of points, at least 0, and sum to 1")
        proposal = Proposal(points[: len(weights)], weights)
        first, second = (_side(part, proposal, points) for part in (content["first"], content["second"]))
        if first is None:
            raise ValueError("a duel must be of a point or of its own proposal")
        measure = [_index("measure", i, points) for i in _listed("measure", content["measure"])]
        signs = tuple(check.number("signs", sign) for sign in _listed("signs", content["signs"]))
        if len(signs) != len(measure):
            raise ValueError(f"`signs` must be one for each measured point, got {list(signs)}")
        baseline = check.number("baseline", content.get("baseline", 0.0))
        return Duel(proposal, points[measure], signs, first, second, baseline)

    def _finalists(self, points: FloatArray | None) -> dict[str, Any]:
        if points is None:
            return {}
        return {"points": [self._point(p) for p in points], "x": [readable(self.space.decode(p)) for p in points]}

    def _to_plan(self, number: int, kind: Any, duels: int, content: Mapping[str, Any]) -> Planned:
        if kind not in ("audit", "verify"):
            raise ValueError(f"`kind` must be audit or verify, got {kind!r}")
        if not 1 <= duels <= MAX_PLANNED:
            raise ValueError(f"`duels` must be from 1 to {MAX_PLANNED}, got {duels}")
        if kind == "audit" and "points" not in content:
            return Planned(number, "audit", duels)
        points = self._to_points(_listed("points", content["points"]))
        if kind == "audit":
            return Planned(number, "audit", duels, points)
        if len(points) < 2 or (points[1:] == points[0]).all(axis=1).any():
            raise ValueError("a verification must be of a point against others")
        return Planned(number, "verify", duels, points)

    def _pair(self, pair: PairToJudge, plan: int | None) -> dict[str, Any]:
        said = {"points": [self._point(point) for point in pair.points], "steps": pair.steps}
        shown = {"x": [readable(self.space.decode(point)) for point in pair.points]}
        return said | shown | _given(by=pair.judge or None, plan=plan, again=pair.again, added=pair.added or None)

    def _to_pair(self, points: Any, steps: int, content: Mapping[str, Any]) -> PairToJudge:
        both, judge = self._to_points(_listed("points", points, 2)), _name("by", content)
        return PairToJudge(both, steps, judge, _optional("again", content), content.get("added") is True)

    def _answer(self, answer: Answer) -> dict[str, Any]:
        if isinstance(answer, Preference):
            return {"answer": answer.answer} | _given(by=answer.judge or None)
        given = {"time": answer.time, "error": answer.error or None, "values": dict(answer.values) or None}
        return {"value": answer.value} | self._moved(answer.point) | _given(**given, **answer.circumstances.to_dict())

    def _to_answer(self, content: Mapping[str, Any]) -> Answer:
        if "answer" not in content:
            return self._to_reading(content)
        answer = content["answer"]
        return Preference(answer if isinstance(answer, str) else check.number("answer", answer), _name("by", content))

    def _to_reading(self, content: Mapping[str, Any]) -> Reading:
        return Reading(
            check.number("value", content["value"]),
            self._to_moved(content),
            check.number("time", content["time"]) if "time" in content else None,
            check.standard_error("error", content.get("error", 0.0)),
            circumstances=Circumstances.of(*(content.get(key) for key in ("block", "campaign", "covariates"))),
            values=_values(content.get("values", {})),
        )

    def _to_added(self, content: Mapping[str, Any]) -> Reading:
        reading = self._to_reading(content)
        if reading.point is None:
            raise ValueError("an added reading must have a `point`, where it was taken")
        return reading

    def _moved(self, point: FloatArray | None) -> dict[str, Any]:
        """Return the point at which a trial is, or was, really measured."""
        return {} if point is None else {"point": self._point(point), "x": readable(self.space.decode(point))}

    def _to_moved(self, content: Mapping[str, Any]) -> FloatArray | None:
        return self.point(content["point"]) if "point" in content else None

    def _point(self, point: FloatArray) -> int | list[float]:
        listed = self._index.get(point.tobytes())
        coordinates: list[float] = point.tolist()
        return coordinates if listed is None else listed

    def _to_points(self, values: list[Any]) -> FloatArray:
        """Return encoded points, shape (n, d); refuse points outside of the space."""
        listed = self._before.points
        if listed is not None and all(type(value) is int for value in values):
            return self._across(listed[[_index("points", value, listed) for value in values]])
        return self._across(self._inside(np.array([self._to_point(value) for value in values])))

    def _to_point(self, value: Any) -> FloatArray:
        listed = self._before.points
        if type(value) is int and listed is not None:
            point: FloatArray = listed[_index("point", value, listed)]
            return point
        return check.array("point", value, (self.space.dimension,))

    def _across(self, points: FloatArray) -> FloatArray:
        before, space = self._before, self.space
        if before is space or not (isinstance(before, Space) and isinstance(space, Space)):
            return points
        return before.across(points, space)

    def _inside(self, points: FloatArray) -> FloatArray:
        if np.abs(self._before.snap(points) - points).max() > ROUNDING:
            raise ValueError(f"its points must lie in the space, got {points.tolist()}")
        return points

    @cached_property
    def _index(self) -> dict[bytes, int]:
        """The index of each of finitely many points, by its bytes."""
        listed = self.space.points
        return {} if listed is None else {point.tobytes(): i for i, point in enumerate(listed)}


def widened(space: Domain, event: Widened) -> Space:
    """Return the space from an event on."""
    if not isinstance(space, Space):
        raise ValueError(f"`space` must have parameters with names for one to be widened, got {space!r}")
    return space.widened(event.name, event.low, event.high)


def across(event: Event, before: Domain, space: Domain) -> Event:
    """Return an event, without its fit, whose points are those of a space with wider ranges."""
    return Codec(space, before).from_json(Codec(before).to_json(unfitted(event)))


def readable(x: Any) -> Any:
    """Return a setting for people to read: numbers with six digits, and the representation of values without JSON.

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
    """Return a side of a comparison as JSON: the index of a point of the table, the proposal, or `None`."""
    if side is None or side is proposal:
        return None if side is None else PROPOSAL
    if isinstance(side, Proposal):
        raise ValueError("a duel that is logged must compare points, its own proposal or nothing")
    return _place(table, side)


def _side(part: Any, proposal: Proposal, points: FloatArray) -> Side | None:
    """Undo `_part`."""
    if part is None:
        return None
    return proposal if part == PROPOSAL else points[_index("first and second", part, points)]


def _place(table: list[FloatArray], point: FloatArray) -> int:
    """Return the index of a point in the table; a new point is appended."""
    for i, known in enumerate(table):
        if known.tobytes() == point.tobytes():
            return i
    table.append(point)
    return len(table) - 1


def _renewed(content: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return an event of any version by the keys of this one."""
    if not FORMER.keys() & content:
        return content
    new = {FORMER.get(key, key): value for key, value in content.items()}
    fit = {name: new.pop(name) for name in ("judged",) if name in new}
    return new | {"fit": {**new.get("fit", {}), **fit}} if fit else new


def _fit(event: Teaching | Refitted | Widened) -> dict[str, Any]:
    return {} if event.fit is None else {"fit": event.fit.to_json()}


def _to_fit(content: Mapping[str, Any]) -> KeptFit | None:
    return KeptFit.from_json(content["fit"]) if "fit" in content else None


def _given(**values: Any) -> dict[str, Any]:
    return {name: value for name, value in values.items() if value is not None}


def _time(text: Any) -> str | None:
    """Return a time of a log if it is one, with its time zone."""
    try:
        return None if datetime.fromisoformat(text).tzinfo is None else str(text)
    except (TypeError, ValueError):
        return None


def _number(name: str, value: Any) -> int:
    return check.count(name, value, at_least=0)


def _index(name: str, value: Any, points: FloatArray) -> int:
    """Return the place of a point in a table."""
    if _number(name, value) >= len(points):
        raise ValueError(f"`{name}` must be below {len(points)}, got {value}")
    return int(value)


def _listed(name: str, value: Any, length: int | None = None) -> list[Any]:
    if not isinstance(value, list) or not value or length not in (None, len(value)):
        raise TypeError(f"`{name}` must be a list{f' of {length}' if length else ''}, got {value!r}")
    return value


def _optional(key: str, content: Mapping[str, Any]) -> int | None:
    return _number(key, content[key]) if key in content else None


def _seed(content: Mapping[str, Any]) -> SeedName | None:
    return check.seed("seed", content["seed"]) if "seed" in content else None


def _values(content: Any) -> dict[str, float]:
    """Return the numbers that were read, by name."""
    if not isinstance(content, Mapping):
        raise TypeError(f"`values` must be numbers by name, got {content!r}")
    return {check.name("values", name): check.number("values", value) for name, value in content.items()}


def _name(key: str, content: Mapping[str, Any]) -> str:
    name = content.get(key, "")
    if not isinstance(name, str):
        raise TypeError(f"`{key}` must be a name, got {name!r}")
    return name


def _worker(content: Mapping[str, Any]) -> str | None:
    worker = content.get("worker")
    if worker is not None and not isinstance(worker, str):
        raise TypeError(f"`worker` must be a name, got {worker!r}")
    return worker
