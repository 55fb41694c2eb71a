"""The series shown in the pictures of a study: `course` and `estimate` draw them with matplotlib, the page as SVG."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from equipoise._typing import FloatArray
from equipoise.answer import Recommendation
from equipoise.optimizer import Optimizer
from equipoise.plots.importance import shares
from equipoise.plots.knobs import Knob, coordinates, encoded, knobs
from equipoise.spaces import Space, labeled, names, printable
from equipoise.study import Record, unit_of


def readings_of(opt: Optimizer) -> list[Record]:
    """Return the readings of this campaign, in the order they were told."""
    return [record for record in opt.records() if record.value is not None and not record.earlier]


def objective_of(opt: Optimizer) -> str:
    """Return the name of f for a title or an axis: that of the first objective; empty if readings have no names."""
    outputs = opt.study.setup.outputs
    return "" if outputs is None else printable(outputs.first.name, "")


def reading_label(opt: Optimizer) -> str:
    """Return the label of an axis of readings, with their unit."""
    return labeled(objective_of(opt) or "value", unit_of(opt.study.settings))


def offsets(opt: Optimizer, best: Recommendation | None = None, context: Mapping[str, Any] | None = None) -> FloatArray:
    """Return the estimated offset of every reading told, in the user's unit and direction, shape (n,).

    The offset cannot be distinguished from the level of f, so it is shown as the expected reading of the recommended
    setting. If the offset is tracked, it is the posterior mean of that; else each reading less the estimated difference
    between its setting and the recommended one, including the noise.

    Args:
        opt: The study.
        best: Its recommendation, if known.
        context: The context of the best setting, in a space with contexts; the last one requested by default.
    """
    return opt.study.setup.likelihood.expected(_levels(opt, best or opt.recommend(context=context))[1])


def _levels(opt: Optimizer, best: Recommendation) -> tuple[FloatArray, FloatArray, bool]:
    """Return every reading, and the simultaneous reading expected of the recommended setting, as f, shape (n,).

    The third value is True if the offset has a law.
    """
    readings = readings_of(opt)
    sign = -1.0 if opt.study.setup.minimize else 1.0
    leader = opt.space.encode(best.x)
    y = np.array([[record.value, 1.0 if record.of is None else record.of] for record in readings]).reshape(-1, 2)
    outcomes = opt.study.setup.likelihood.glance(y)[0]
    modeled = opt.study.belief.offsets(leader)
    if modeled is not None:
        when, values = modeled  # interpolated, if a reading is excluded
        return outcomes, np.interp(np.arange(1, len(readings) + 1), when, values * sign), True
    mean = opt.posterior.at(np.array([leader, *(opt.space.encode(record.x) for record in readings)])).mean
    return outcomes, outcomes - sign * (mean[1:] - mean[0]), False


@dataclass(frozen=True)
class Gains:
    """The gain of each reading over the start, without the drift; up is better, also if f is minimized.

    Attributes:
        number: The readings that count, by their number among all, from 1, shape (n,).
        gain: Each reading less the estimated offset, against the start; if the offset has no law, the estimate of f at
            its setting, shape (n,).
        best: The estimated gain of the best setting read up to then, by the present belief, shape (n,).
        modeled: True if the offset has a law, so that a gain is a reading and not only an estimate.
    """

    number: FloatArray
    gain: FloatArray
    best: FloatArray
    modeled: bool


def progress(opt: Optimizer, best: Recommendation, start: Any) -> Gains:
    """Return the gain of each reading over the start, combined with its contexts, without the drift."""
    readings = readings_of(opt)
    kept = np.array([k for k, record in enumerate(readings) if record.aside is None], dtype=int)
    sign = -1.0 if opt.study.setup.minimize else 1.0
    given = opt.space.contexts if isinstance(opt.space, Space) else ()
    starts = [start | {name: readings[k].x[name] for name in given} if given else start for k in kept]
    points = [opt.space.encode(x) for x in (best.x, *starts, *(readings[k].x for k in kept))]
    mean = opt.posterior.at(np.array(points)).mean
    first, at = mean[1 : 1 + len(kept)], mean[1 + len(kept) :]
    outcomes, offset, modeled = _levels(opt, best)
    gain = sign * (outcomes - offset)[kept] + mean[0] - first
    return Gains(kept + 1.0, gain, np.maximum.accumulate(at - first), modeled)


def start_of(opt: Optimizer) -> Any:
    """Return the starting setting of a study: the user's, else the first one read; `None` before that."""
    said = opt.study.setup.start
    return next((record.x for record in readings_of(opt)), None) if said is None else opt.space.decode(said)


@dataclass(frozen=True)
class Said:
    """The judges' answers about pairs, and the present estimates of these pairs.

    Attributes:
        judges: The judge of each answer, in the order of judging.
        differences: The estimates of f(first) - f(second), shape (n,).
        heights: The height of each answer: a number itself, or the position of a word in the scale.
        ticks: The words of the longest scale, with their heights; empty if all answers are numbers.
    """

    judges: list[str]
    differences: FloatArray
    heights: list[float]
    ticks: dict[str, float]


def said(opt: Optimizer) -> Said:
    """Return the judges' answers about each pair, and its present estimate."""
    answers = opt.study.answers()
    words = max((pair.answers for pair, _ in answers), key=len)
    ticks = {word: place - 0.5 * (len(words) - 1) for place, word in enumerate(words)}
    points = np.array([opt.space.encode(x) for pair, _ in answers for x in (pair.first, pair.second)])
    mean = opt.posterior.mean(points).reshape(-1, 2)
    heights = [ticks[answer] if isinstance(answer, str) else answer for _, answer in answers]
    spoken = any(isinstance(answer, str) for _, answer in answers)
    return Said([pair.judge for pair, _ in answers], mean[:, 0] - mean[:, 1], heights, ticks if spoken else {})


def certified(bounds: Mapping[int, float]) -> list[tuple[int, float]]:
    """Return the bounds on the remaining gain by ascending number of answers, without missing ones."""
    return [(n, bound) for n, bound in sorted(bounds.items()) if math.isfinite(bound)]


def against(opt: Optimizer, best: Recommendation, points: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return the estimate of f(x) - f(best) in the user's direction, and half the width of its interval, shape (m,)."""
    belief = opt.posterior.at(np.concatenate((points, opt.space.encode(best.x)[None])))
    leader = len(points)
    difference = (belief.mean - belief.mean[leader]) * (-1.0 if opt.study.setup.minimize else 1.0)
    return difference[:-1], belief.width(belief.psi(leader))[:-1]


def foremost(opt: Optimizer, best: Recommendation) -> tuple[str, ...]:
    """Return the parameters to draw along, in the order of the space; of more than two, the most important."""
    known = [knob.name for knob in knobs(opt.space, 2)]
    kept = {each.knob.name for each in shares(opt, best)[:2]} if len(known) > 2 else {*known}
    return tuple(name for name in known if name in kept)


@dataclass(frozen=True)
class Agreement:
    """The measured and the predicted difference of each complete pair of readings.

    Attributes:
        predicted: The estimate of f(first) - f(second), in the user's direction, shape (m,).
        read: The first reading less the second, shape (m,).
    """

    predicted: FloatArray
    read: FloatArray


def agreement(opt: Optimizer) -> Agreement:
    """Return measured and predicted differences: within a pair the offset cancels, for any law."""
    halves: dict[int, list[Record]] = {}
    for record in readings_of(opt):
        if record.aside is None and not record.void and record.positions == 2:
            halves.setdefault(record.duel, []).append(record)
    pairs = [pair for pair in halves.values() if len(pair) == 2]
    points = np.array([opt.space.encode(record.x) for pair in pairs for record in pair])
    mean = opt.posterior.mean(points).reshape(-1, 2) if pairs else np.empty((0, 2))
    sign = -1.0 if opt.study.setup.minimize else 1.0
    y = np.array([[record.value, 1.0 if record.of is None else record.of] for pair in pairs for record in pair])
    outcomes = opt.study.setup.likelihood.glance(y.reshape(-1, 2))[0].reshape(-1, 2)
    return Agreement(sign * (mean[:, 0] - mean[:, 1]), outcomes[:, 0] - outcomes[:, 1])


@dataclass(frozen=True)
class Curve:
    """The estimate of f(x) - f(best) at settings in a row.

    Attributes:
        knob: The parameter that changes along the row.
        at: The position of each setting on its axis, shape (n,).
        mean: The estimate, in the user's direction, shape (n,).
        width: Half the width of its interval, shape (n,).
        leader: The position of the best setting.
        measured: The positions of measured settings, if the row goes through all settings.
    """

    knob: Knob
    at: FloatArray
    mean: FloatArray
    width: FloatArray
    leader: float
    measured: list[float]

    @property
    def ends(self) -> tuple[FloatArray, FloatArray]:
        """The ends of the intervals."""
        return self.mean - self.width, self.mean + self.width


def sliced(opt: Optimizer, best: Recommendation, knob: Knob) -> Curve:
    """Return the slice through the leader along a parameter."""
    points, valid = encoded(opt.space, [knob.put(best.x, value) for value in knob.values])
    at = np.array([knob.position(value) for value in knob.values])[valid]
    return Curve(knob, at, *against(opt, best, points[valid]), knob.position(knob.get(best.x)), measured(opt, knob))


def surface(opt: Optimizer, best: Recommendation, pair: Sequence[Knob]) -> tuple[FloatArray, FloatArray]:
    """Return the estimate of f(x) - f(best) over two parameters through the leader, and half the interval's width.

    The first parameter is the horizontal one. Both have shape (values up, values across), with NaN at settings that may
    not be measured.
    """
    across, up = pair
    grid = [up.put(across.put(best.x, a), b) for b in up.values for a in across.values]
    points, valid = encoded(opt.space, grid)
    found = np.full((2, len(grid)), np.nan)
    found[:, valid] = against(opt, best, points[valid])
    mean, width = found.reshape(2, len(up.values), len(across.values))
    return mean, width


def plain(opt: Optimizer, best: Recommendation, most: int) -> Curve:
    """Return a plain set of points: along its coordinate if it has one, else the best `most` of them in order."""
    points, axis = opt.space.candidates(np.random.default_rng(0)), coordinates(opt.space)
    mean, width = against(opt, best, points)
    if len(axis) == 1 and not axis[0].is_choice:
        order = np.argsort(points[:, 0])
        return Curve(axis[0], points[order, 0], mean[order], width[order], axis[0].get(best.x), measured(opt, axis[0]))
    leader = int((points == opt.space.encode(best.x)).all(axis=1).argmax())
    ranks = mean * (1.0 if opt.study.setup.minimize else -1.0)
    ranks[leader] = -np.inf  # first, also of equals
    order = np.argsort(ranks, kind="stable")[:most]
    called = names(opt.space) or [f"{i}" for i in range(len(points))]
    knob = Knob("point", [called[i] for i in order], lambda x, value: x, lambda x: called[leader], steps=True)
    return Curve(knob, np.arange(float(len(order))), mean[order], width[order], 0.0, [])


def measured(opt: Optimizer, knob: Knob) -> list[float]:
    """Return the positions of measured settings on the axis of a parameter."""
    return [knob.position(knob.get(record.x)) for record in opt.records() if record.value is not None]


@dataclass(frozen=True)
class Compromises:
    """The front of two objectives, against the start.

    Attributes:
        names: The objectives: horizontal and vertical.
        middle: The center of each setting's intervals, in the unit of the readings, shape (m, 2).
        low: The lower ends of the intervals, shape (m, 2).
        high: The upper ends, shape (m, 2).
        chosen: The position of the recommended setting, shape (2,).
    """

    names: tuple[str, str]
    middle: FloatArray
    low: FloatArray
    high: FloatArray
    chosen: FloatArray


def compromises(
    opt: Optimizer, best: Recommendation, along: tuple[str, ...] = (), context: Mapping[str, Any] | None = None
) -> Compromises:
    """Return the front of a study with several objectives, along two of them: the first two by default."""
    points, outputs = opt.front(context=context), opt.study.setup.outputs
    names = () if outputs is None else tuple(each.name for each in outputs.objectives)
    wanted = along or names[:2]
    if len(wanted) != 2 or not set(wanted) <= set(names):
        raise ValueError(f"`along` must name two of the objectives {', '.join(names)}, got {', '.join(wanted)}")
    across, up = wanted
    rows = [[point.against_start[name] for name in (across, up)] for point in points]
    middle, low, high = (
        np.array([[getattr(each, what) for each in row] for row in rows]).reshape(-1, 2)
        for what in ("value", "low", "high")
    )
    found = None if best.compromise is None else best.compromise.against_start
    chosen = np.zeros(2) if found is None else np.array([found[across].value, found[up].value])
    return Compromises((across, up), middle, low, high, chosen)
