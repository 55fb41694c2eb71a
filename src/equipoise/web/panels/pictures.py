"""The charts with a separate page: knob importance, predictions, a map of two knobs, every slice."""

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from equipoise.plots import Importance, Knob, chosen, contexts, knobs, series, shares
from equipoise.spaces import labeled, printable
from equipoise.study import unit_of
from equipoise.web.known import View
from equipoise.web.panels.drawings import STEPS, curve_chart
from equipoise.web.panels.svg import Chart, around

CELLS = 25
"""Number of values of each knob on the map."""


def agreement_chart(view: View) -> str:
    """Return a chart of measured against predicted differences, one point per complete pair; empty without pairs."""
    found, unit = series.agreement(view.opt), unit_of(view.opt.study.settings)
    if not len(found.read):
        return ""
    ends = around([*found.predicted.tolist(), *found.read.tolist(), 0.0])
    chart = Chart.of(ends, ends)
    dots = list(zip(found.predicted.tolist(), found.read.tolist(), strict=True))
    parts = [chart.line([(ends[0], ends[0]), (ends[1], ends[1])], "axis"), chart.dots(dots, "reading", 3.0)]
    says = f"{len(dots)} pairs: the first reading less the second, over what is now estimated of it."
    names = labeled("f(first) - f(second), estimated", unit), labeled("first reading - second", unit)
    return chart.drawn(parts, *names, says)


def map_chart(view: View, pair: Sequence[Knob]) -> tuple[str, str]:
    """Return a map of two knobs, a stronger color means a better value; and the range of values, in words."""
    opt, (across, up) = view.opt, pair
    mean, _ = series.surface(opt, view.best, pair)
    better = -mean if opt.study.setup.minimize else mean
    low, high = np.nanmin(better), np.nanmax(better)
    share = (better - low) / (high - low) if high > low else np.zeros_like(better)
    options = [tuple(printable(str(v), "") for v in knob.values) if knob.is_choice else () for knob in pair]
    chart = Chart.of(across.limits, up.limits, log_x=across.log, log_y=up.log, names=options[0], names_y=options[1])
    x, y = (
        _cells([at(knob.position(v)) for v in knob.values]) for knob, at in ((across, chart.x.at), (up, chart.y.at))
    )
    cells = [
        f'<rect class="cell" x="{a:.2f}%" y="{b:.2f}%" width="{wide:.2f}%" height="{tall:.2f}%"'
        f' fill-opacity="{0.9 * share[j, i]:.2f}"/>'
        for j, (b, tall) in enumerate(y)
        for i, (a, wide) in enumerate(x)
        if np.isfinite(share[j, i])
    ]
    at = (across.position(across.get(view.best.x)), up.position(up.get(view.best.x)))
    dots = list(zip(*(series.measured(opt, knob) for knob in pair), strict=True))
    crosses = [chart.crosses(dots, kind, 2.0) for kind in ("halo", "where")]
    unit = f" {view.unit}" if view.unit else ""
    ends = f"from {np.nanmin(mean):.3g} to {np.nanmax(mean):.3g}{unit} against the best"
    parts = ["".join(cells), *crosses, chart.dots([at], "leader", 5.0)]
    labels = printable(across.label, ""), printable(up.label, "")
    return chart.drawn(parts, *labels, f"A map of {across.name} and {up.name}: {ends}."), ends


def _cells(centers: Sequence[float]) -> list[tuple[float, float]]:
    """Return the begin and the length of each cell, so rounded that no gap is between neighbors."""
    step = (centers[-1] - centers[0]) / (len(centers) - 1)
    ends = [round(centers[0] + (k - 0.5) * step, 2) for k in range(len(centers) + 1)]
    return [(min(pair), abs(pair[1] - pair[0])) for pair in pairwise(ends)]


def gathered(view: View, along: Sequence[str]) -> dict[str, Any]:
    """Return the template values of the page of pictures.

    Args:
        view: The study.
        along: The two knobs of the map; if not two, the most important ones.
    """
    opt = view.opt
    known = [knob.name for knob in (*knobs(opt.space, 2), *contexts(opt.space, 2))]
    found: list[Importance] = shares(opt, view.best) if view.answers else []
    names = [name for name in dict.fromkeys(along) if name in known]
    names = names if len(names) == 2 else [each.knob.name for each in found[:2]]
    along_each = [chosen(opt.space, [each.knob.name], STEPS)[0] for each in found]
    return {
        "shares": [(printable(each.knob.name, ""), 100 * each.total, 100 * each.alone) for each in found],
        "agreement": agreement_chart(view),
        "map": map_chart(view, chosen(opt.space, names, CELLS)) if len(names) == 2 else (),
        "names": names,
        "known": known,
        "slices": [curve_chart(view, series.sliced(opt, view.best, knob)) for knob in along_each],
        "limited": view.limited,
    }
