"""The charts of the screen: readings and offset, or judgements; the certificate; the estimate of f."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from equipoise.plots import chosen, series
from equipoise.spaces import labeled, printable
from equipoise.web.known import PagePanel, View
from equipoise.web.panels.svg import Chart, around

STEPS = 61
"""Number of values of a knob at which the estimate is drawn."""

BEST_POINTS = 12
"""Maximum number of points drawn of a finite set."""

MOST_STEPS = 3.5
"""End of the axis of words: beyond the words of the longest scale."""


def readings_chart(view: View) -> str:
    """Return a chart of the raw readings in the order they were told, with the estimated offset."""
    read = series.readings_of(view.opt)
    if not read:
        return '<p class="none">Nothing was read yet.</p>'
    offset = series.offsets(view.opt, view.best).tolist()
    good = [(k, record.level) for k, record in enumerate(read, 1) if record.aside is None]
    chart = Chart.of((0.5, max(len(read), 2) + 0.5), around([*(value for _, value in good), *offset]))
    parts = [
        chart.dots(good, "reading"),
        chart.line(list(enumerate(offset, 1)), "offset"),
        chart.crosses([(k, chart.y.high) for k, record in enumerate(read, 1) if record.aside is not None], "aside"),
    ]
    says = f"{len(read)} raw readings, and the estimated offset at the best setting."
    return chart.drawn(parts, "reading", series.reading_label(view.opt), says)


def answers_chart(view: View) -> str:
    """Return a chart of each judgement against its present estimate: words in their order, or numbers."""
    found = series.said(view.opt)
    across = found.differences.tolist()
    up = around(found.heights) if not found.ticks else around([*found.heights, -MOST_STEPS, MOST_STEPS], 0.0)
    chart = Chart.of(around([*across, 0.0]), up)
    parts = [chart.level(0.0, "axis"), chart.dots(list(zip(across, found.heights, strict=True)), "reading", 3.0)]
    says = f"{len(across)} judgements: the answers over the estimate."
    return chart.drawn(parts, "f(A) - f(B), estimated", "B better, A better", says)


def certificate_chart(bounds: Mapping[int, float], told: int, unit: str, counted: str = "readings") -> str:
    """Return a chart of the bound on the remaining gain against the number of readings or judgements."""
    known = series.certified({n: bound for n, bound in bounds.items() if n <= told})
    if not known:
        return '<p class="none">There is no bound yet.</p>'
    values = [bound for _, bound in known]
    log = min(values) > 0
    up = (min(values) / 1.3, max(values) * 1.3) if log else (0.0, 1.0)
    chart = Chart.of((0.5, max(told, 2) + 0.5), up, log_y=log)
    parts = [chart.line(known, "bound"), chart.dots(known, "bound", 1.6)]
    return chart.drawn(parts, counted, labeled("bound", unit), f"The remaining gain is at most {values[-1]:.3g}.")


def estimate_charts(view: View) -> list[str]:
    """Return charts of the estimate of f, relative to the best setting, along the two most important knobs."""
    opt, best = view.opt, view.best
    along = chosen(opt.space, series.foremost(opt, best), STEPS)
    if not along:
        return [curve_chart(view, series.plain(opt, best, BEST_POINTS))]
    return [curve_chart(view, series.sliced(opt, best, knob)) for knob in along]


def curve_chart(view: View, curve: series.Curve) -> str:
    """Return a chart of the estimate along a series of settings, with its interval, the leader and the readings."""
    knob = curve.knob
    low, high, middle = (list(zip(curve.at.tolist(), each.tolist(), strict=True)) for each in (*curve.ends, curve.mean))
    names = tuple(printable(str(value), "") for value in knob.values) if knob.is_choice else ()
    up = around([*(value for _, value in (*low, *high)), 0.0])
    chart = Chart.of(knob.limits, up, log_x=knob.log, names=names)
    if knob.steps:
        bars = [chart.line(pair, "whisker") for pair in zip(low, high, strict=True)]
        parts = [*bars, chart.dots(middle, "estimate")]
    else:
        parts = [chart.area([*low, *reversed(high)], "band"), chart.line(middle, "estimate")]
    parts += [chart.crosses([(value, chart.y.low) for value in sorted(set(curve.measured))], "where", 2.0)]
    parts += [chart.dots([(curve.leader, 0.0)], "leader", 4.5)]
    says = f"The estimate of f along {knob.name}, against the best setting, with its interval."
    return chart.drawn(parts, printable(knob.label, ""), labeled("f(x) - f(best)", view.unit), says)


def _told(view: View) -> Mapping[str, Any]:
    chart = answers_chart(view) if view.only_judged else readings_chart(view)
    return {"judged": view.only_judged, "chart": chart}


def _certified(view: View) -> Mapping[str, Any]:
    counted = "judgements" if view.only_judged else "readings"
    return {"chart": certificate_chart(view.bounds, view.answers, view.unit, counted)}


def front_chart(view: View) -> str:
    """Return a chart of the front of two objectives, relative to the start: each setting with its intervals."""
    found = series.compromises(view.opt, view.best)
    ends = [*found.low.tolist(), *found.high.tolist(), [0.0, 0.0]]
    chart = Chart.of(around([x for x, _ in ends]), around([y for _, y in ends]))
    bars = []
    for (x, y), (left, low), (right, high) in zip(
        *map(np.ndarray.tolist, (found.middle, found.low, found.high)), strict=True
    ):
        bars += [chart.line([(left, y), (right, y)], "whisker"), chart.line([(x, low), (x, high)], "whisker")]
    dots = [chart.dots([(x, y) for x, y in found.middle.tolist()], "estimate"), chart.crosses([(0.0, 0.0)], "where")]
    x, y = found.chosen.tolist()
    says = f"{len(found.middle)} settings that are not dominated with 95 %, against the start."
    return chart.drawn([*bars, *dots, chart.dots([(x, y)], "leader", 4.5)], *found.names, says)


def _estimated(view: View) -> Mapping[str, Any]:
    charts = estimate_charts(view) if view.answers and not view.blind else []
    return {"charts": charts, "blind": view.blind, "limited": view.limited, "f": series.objective_of(view.opt) or "f"}


READINGS = PagePanel(
    "readings",
    """{% if judged %}Judgements <small>the answers over the estimate</small>{% else %}
Raw readings <small><span class="key reading">●</span> reading <span class="key offset">━</span>
offset, as the best setting would read</small>{% endif %}""",
    _told,
    "{{ chart | safe }}",
    help="offset",
)
CERTIFICATE = PagePanel(
    "certificate",
    "Certificate <small>a bound on the remaining gain</small>",
    _certified,
    "{{ chart | safe }}",
    applies=lambda view: view.best.compromise is None,
    help="bound",
)
FRONT = PagePanel(
    "front",
    """Front <small>against the start <span class="key where">&times;</span>;
<span class="key leader">●</span> recommended</small>""",
    lambda view: {"chart": front_chart(view)},
    "{{ chart | safe }}",
    applies=lambda view: view.best.compromise is not None,
)
ESTIMATE = PagePanel(
    "estimate",
    """Estimate of {{ f }} <small>against the best <span class="key leader">●</span>, with its interval;
<span class="key where">&times;</span> measured{{ "; limits are not drawn" if limited }}</small>""",
    _estimated,
    """<div class="charts">{% for chart in charts %}{{ chart | safe }}{% else %}
<p>{{ "Hidden." if blind else "Nothing was read yet." }}</p>{% endfor %}</div>""",
    help="estimate",
)
