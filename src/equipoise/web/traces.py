"""The charts of the screen: readings and offset, the estimate of f, the certificate."""

import math
from collections.abc import Mapping, Sequence

import numpy as np

from equipoise._typing import FloatArray
from equipoise.answer import Recommendation
from equipoise.likelihoods import Pair
from equipoise.optimizer import Optimizer
from equipoise.plots.course import offsets
from equipoise.plots.estimate import against, foremost
from equipoise.plots.knobs import Knob, chosen, coordinates, encoded
from equipoise.spaces import labeled, printable
from equipoise.study import Record
from equipoise.web.svg import Chart, around

WIDE, TALL, HALF = (430.0, 135.0), (430.0, 245.0), (240.0, 265.0)
"""Sizes of the charts, in the units of their own picture: the page scales them."""

STEPS = 61
"""Values of a knob at which the estimate is drawn."""

BEST = 12
"""Points of a plain set that are drawn."""


def readings_chart(opt: Optimizer, best: Recommendation, unit: str) -> str:
    """Return the raw readings in the order they were told, with the estimated offset laid over them."""
    told = [record for record in opt.records() if record.value is not None and not record.earlier]
    good = [(k, record) for k, record in enumerate(told, 1) if record.aside is None]
    offset = offsets(opt, best).tolist() if told else []
    values = _values([record for _, record in good])
    chart = Chart.of((0.5, max(len(told), 2) + 0.5), around([*values, *offset]), TALL)
    parts = [
        chart.dots(list(zip([k for k, _ in good], values, strict=True)), "reading"),
        chart.line(list(enumerate(offset, 1)), "offset"),
        chart.crosses([(k, chart.y.high) for k, record in enumerate(told, 1) if record.aside is not None], "aside"),
    ]
    says = f"{len(told)} raw readings, and the estimated offset at the best setting."
    return chart.drawn(parts, "reading", labeled("value", unit), says)


def _values(told: Sequence[Record]) -> list[float]:
    return [record.value for record in told if record.value is not None]


def answers_chart(opt: Optimizer) -> str:
    """Return what judges said of each pair over what is now believed of it, numbers by their sign."""
    said = opt.study.answers()
    points = np.array([opt.space.encode(x) for pair, _ in said for x in (pair.first, pair.second)])
    mean = opt.posterior.mean(points).reshape(-1, 2)
    across = (mean[:, 0] - mean[:, 1]).tolist()
    heights = [_height(pair, answer) for pair, answer in said]
    chart = Chart.of(around([*across, 0.0]), (-3.5, 3.5), TALL)
    parts = [chart.level(0.0, "axis"), chart.dots(list(zip(across, heights, strict=True)), "reading", 3.0)]
    says = f"{len(said)} judgements: what was said, over what is believed."
    return chart.drawn(parts, "f(A) - f(B), estimated", "B better, A better", says)


def _height(pair: Pair, answer: str | float) -> float:
    """Return where an answer is drawn: by its place in the scale; a number by its sign."""
    if isinstance(answer, str):
        return pair.answers.index(answer) - 0.5 * (len(pair.answers) - 1)
    return float(np.sign(answer))


def certificate_chart(bounds: Mapping[int, float], told: int, unit: str, counted: str = "readings") -> str:
    """Return how the bound on what is left to gain fell, by the number of readings or judgements."""
    known = [(float(n), bound) for n, bound in sorted(bounds.items()) if math.isfinite(bound) and n <= told]
    log = bool(known) and min(bound for _, bound in known) > 0
    up = _ratio([bound for _, bound in known]) if log else (0.0, 1.0)
    chart = Chart.of((0.5, max(told, 2) + 0.5), up, WIDE, log_y=log)
    says = f"At most {known[-1][1]:.3g} is left to gain." if known else "There is no bound yet."
    if not known:
        return f'<p class="none">{says}</p>'
    return chart.drawn(
        [chart.line(known, "bound"), chart.dots(known, "bound", 1.6)], counted, labeled("bound", unit), says
    )


def _ratio(values: Sequence[float]) -> tuple[float, float]:
    return min(values) / 1.3, max(values) * 1.3


def estimate_charts(opt: Optimizer, best: Recommendation, unit: str) -> list[str]:
    """Return the estimate of f against that of the best setting: slices along the two knobs that matter most."""
    along = foremost(opt, best)
    if along:
        size = HALF if len(along) > 1 else TALL
        return [_slice(opt, best, knob, size, unit) for knob in chosen(opt.space, along, STEPS)]
    points = opt.space.candidates(np.random.default_rng(0))
    axis = coordinates(opt.space)
    if len(axis) == 1 and not axis[0].is_choice:
        order = np.argsort(points[:, 0])
        return [_row(opt, best, axis[0], points[order, 0], points[order], TALL, unit)]
    return [_ranked(opt, best, points, unit)]


def _slice(opt: Optimizer, best: Recommendation, knob: Knob, size: tuple[float, float], unit: str) -> str:
    points, valid = encoded(opt.space, [knob.put(best.x, value) for value in knob.values])
    at = np.array([knob.position(value) for value in knob.values])[valid]
    return _row(opt, best, knob, at, points[valid], size, unit)


def _row(
    opt: Optimizer,
    best: Recommendation,
    knob: Knob,
    at: FloatArray,
    points: FloatArray,
    size: tuple[float, float],
    unit: str,
) -> str:
    """Return the estimate at points that stand in a row, with its interval, the leader and where was measured."""
    mean, width = against(opt, best, points)
    low, high, middle = (
        list(zip(at.tolist(), each.tolist(), strict=True)) for each in (mean - width, mean + width, mean)
    )
    names = tuple(printable(str(value), "") for value in knob.values) if knob.is_choice else ()
    up = around([*(mean - width).tolist(), *(mean + width).tolist(), 0.0])
    chart = Chart.of(knob.limits, up, size, log_x=knob.log, names=names)
    told = [knob.position(knob.get(record.x)) for record in opt.records() if record.value is not None]
    if knob.steps:
        bars = [chart.line(pair, "whisker") for pair in zip(low, high, strict=True)]
        parts = [*bars, chart.dots(middle, "estimate")]
    else:
        parts = [chart.area([*low, *reversed(high)], "band"), chart.line(middle, "estimate")]
    parts += [chart.crosses([(value, chart.y.low) for value in sorted(set(told))], "where", 2.0)]
    parts += [chart.dots([(knob.position(knob.get(best.x)), 0.0)], "leader", 4.5)]
    says = f"The estimate of f along {knob.name}, against the best setting, with its interval."
    return chart.drawn(parts, printable(knob.label, ""), labeled("f(x) - f(best)", unit), says)


def _ranked(opt: Optimizer, best: Recommendation, points: FloatArray, unit: str) -> str:
    """Return the best of a plain set of points, in order, with their intervals."""
    mean, width = against(opt, best, points)
    order = np.argsort(mean if opt.study.setup.minimize else -mean, kind="stable")[:BEST]
    mean, width = mean[order], width[order]
    up = around([*(mean - width).tolist(), *(mean + width).tolist(), 0.0])
    chart = Chart.of((-0.5, len(order) - 0.5), up, TALL, names=tuple(map(str, order)))
    bars = [
        chart.line([(k, m - w), (k, m + w)], "whisker")
        for k, (m, w) in enumerate(zip(mean.tolist(), width.tolist(), strict=True))
    ]
    parts = [*bars, chart.dots(list(enumerate(mean.tolist())), "estimate")]
    return chart.drawn(
        parts, "point", labeled("f(x) - f(best)", unit), "The best points by estimate, with their intervals."
    )
