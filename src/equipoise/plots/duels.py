"""The duels: their settings and winners."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from equipoise.optimizer import Optimizer
from equipoise.plots.knobs import Knob, chosen, coordinates
from equipoise.plots.series import foremost
from equipoise.plots.style import ORANGE, axes, dark, star, whole
from equipoise.study import Record

Duel = list[Record]


def duels(opt: Optimizer, *along: str, ax: Any = None, context: Mapping[str, Any] | None = None) -> Any:
    """Draw every duel, and every pair that was judged, as a line between its two settings, with a dot at the winner.

    With one parameter the second axis is the number of the duel; with more, the picture is the plane of two of them.
    A setting measured alone is a dot.

    Args:
        opt: The study.
        *along: Names of one or two parameters; as for `estimate` by default.
        ax: Axes to draw on.
        context: The context of the best setting, in a space with contexts; the last one requested by default.

    Returns:
        The Axes.
    """
    ax = axes(ax)
    best = opt.recommend(context=context)
    along = along or foremost(opt, best)
    plane = chosen(opt.space, along) if along else coordinates(opt.space)[:2]
    if fought := _fought(opt):
        _draw(opt, fought, plane, ax)
    at = [knob.position(knob.get(best.x)) for knob in plane]
    if len(plane) == 2:
        star(ax, *at)
    else:
        ax.axvline(at[0], color=ORANGE, linewidth=1.0, linestyle=(0, (4, 3)))
    return _dressed(plane, ax)


def _fought(opt: Optimizer) -> list[Duel]:
    """Return the readings of every complete duel, in the order of the duels."""
    by_number: dict[int, Duel] = {}
    for record in opt.records():
        if record.value is not None and not record.void:
            by_number.setdefault(record.duel, []).append(record)
    whole = max(map(len, by_number.values()), default=0)
    return [by_number[number] for number in sorted(by_number) if len(by_number[number]) == whole] + _judged(opt)


def _judged(opt: Optimizer) -> list[Duel]:
    """Return judgements as readings: 1 for the preferred setting, 0 for the other; without ties."""
    sign, found = -1.0 if opt.study.setup.minimize else 1.0, []
    for number, (pair, answer) in enumerate(opt.study.answers()):
        level = answer if isinstance(answer, float) else answer.endswith("first") - answer.endswith("second")
        if level:
            better = (sign * (level > 0), sign * (level < 0))
            sides = zip((pair.first, pair.second), better, strict=True)
            found.append([Record(pair.id, number, pair.judge, x, float(value)) for x, value in sides])
    return found


def _draw(opt: Optimizer, fought: list[Duel], plane: list[Knob], ax: Any) -> None:
    from matplotlib.collections import LineCollection

    sign = -1.0 if opt.study.setup.minimize else 1.0
    numbers = np.array([duel[0].duel for duel in fought])
    segments, winners = [], []
    for duel in fought:
        places = [_place(record, plane) for record in duel]
        segments.append(places if len(places) > 1 else places * 2)
        winners.append(places[int(np.argmax([sign * record.level for record in duel]))])
    lines = LineCollection(segments, cmap=dark(), linewidths=1.0, alpha=float(np.clip(30 / len(fought), 0.25, 0.7)))
    lines.set_array(numbers)
    ax.add_collection(lines)
    dots = ax.scatter(*np.array(winners).T, c=numbers, cmap=dark(), s=16, linewidths=0, zorder=3)
    if len(plane) == 2:
        whole(ax.figure.colorbar(dots, ax=ax, label="duel").ax.yaxis)
    if len(plane) == 1:
        ax.autoscale_view()
        whole(ax.yaxis)


def _place(record: Record, plane: list[Knob]) -> tuple[float, float]:
    at = [knob.position(knob.get(record.x)) for knob in plane]
    return (at[0], at[1]) if len(at) == 2 else (at[0], float(record.duel))


def _dressed(plane: list[Knob], ax: Any) -> Any:
    ax.set(ylabel="duel", title="The duels fought: a dot at the winner")
    for which, knob in zip("xy", plane, strict=False):
        knob.dress(ax, which)
        getattr(ax, f"set_{which}lim")(knob.limits)
    return ax
