"""The estimate of f relative to the recommended setting, since an offset hides the zero of f."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from equipoise._typing import FloatArray
from equipoise.answer import PHRASES, Recommendation, claimed
from equipoise.optimizer import Optimizer
from equipoise.plots.importance import shares
from equipoise.plots.knobs import Knob, chosen, contexts, coordinates, knobs
from equipoise.plots.series import Curve, against, foremost, measured, plain, sliced, surface
from equipoise.plots.style import BLUE, GRAY, MAP, ORANGE, axes, pyplot, shown, star, titled
from equipoise.spaces import dials, labeled

UNKNOWN = 0.1
"""The share of the range of all colors: a map is hatched where an interval extends further than this to each side."""

HATCH, CLEAR = (1.0, 1.0, 1.0, 0.6), (0.0, 0.0, 0.0, 0.0)
LEGEND = {"fontsize": "small", "framealpha": 0.85, "edgecolor": "none"}
BEST = 25
"""The number of points shown of a plain set with more than two coordinates."""


def estimate(opt: Optimizer, *along: str, ax: Any = None, context: Mapping[str, Any] | None = None) -> Any:
    """Draw the estimate of f and the leader, with their uncertainty.

    One parameter gives a line with its confidence band, two give a map. If the space has more, the picture is the slice
    through the leader along the two parameters that matter most, or along those in `along`.

    Args:
        opt: The study.
        *along: Names of one or two parameters, of contexts too; those of a `Box` are called `x[0]`, `x[1]` and so on.
        ax: Axes to draw on.
        context: The context to show, in a space with contexts; the last one requested by default.

    Returns:
        The Axes.
    """
    best, ax = opt.recommend(context=context), axes(ax)
    along = along or foremost(opt, best)
    if not along:
        return _points(opt, best, ax)
    if len(along) == 1:
        return _line(opt, best, chosen(opt.space, along)[0], ax)
    return _map(opt, best, chosen(opt.space, along, points=61), ax)


def slices(opt: Optimizer, axs: Sequence[Any] | None = None, *, context: Mapping[str, Any] | None = None) -> list[Any]:
    """Draw the slice through the leader along every parameter, the most important first.

    Args:
        opt: The study.
        axs: Axes to draw on, one for each parameter.
        context: The context to show, in a space with contexts; the last one requested by default.

    Returns:
        The Axes.
    """
    known = knobs(opt.space)
    if not known:
        raise ValueError(f"`opt` must have parameters to slice along, got the plain set {opt.space!r}")
    best = opt.recommend(context=context)
    axs = _panels(len(known)) if axs is None else list(axs)
    ranks = {each.knob.name: -each.total for each in shares(opt, best)}
    for i, (knob, ax) in enumerate(zip(sorted(known, key=lambda knob: ranks[knob.name]), axs, strict=True)):
        _line(opt, best, knob, axes(ax))
        ax.set_title("")
        if i:
            ax.set_ylabel("")
            ax.legend_.remove()
    return axs


def _panels(n: int) -> list[Any]:
    columns = min(n, 3)
    rows = -(-n // columns)
    size = (3.4 * columns, 2.8 * rows)
    _, grid = pyplot().subplots(rows, columns, figsize=size, squeeze=False, sharey=True, layout="constrained")
    for ax in grid.flat[n:]:
        ax.set_visible(False)
    return list(grid.flat[:n])


def _line(opt: Optimizer, best: Recommendation, knob: Knob, ax: Any) -> Any:
    row, rug = sliced(opt, best, knob), ax.get_xaxis_transform()
    low = np.full(len(row.measured), 0.015)
    ax.plot(row.measured, low, "|", color=GRAY, markersize=7, alpha=0.6, transform=rug)
    return _row(opt, best, row, ax)


def _row(opt: Optimizer, best: Recommendation, row: Curve, ax: Any) -> Any:
    """Draw the estimate at settings in a row, with its interval, the leader and the certificate."""
    if row.knob.steps:
        look = {"fmt": "o", "color": BLUE, "markersize": 5, "capsize": 3, "elinewidth": 1.2}
        ax.errorbar(row.at, row.mean, row.width, **look, label="estimate")
    else:
        ax.fill_between(row.at, *row.ends, color=BLUE, alpha=0.18, linewidth=0, label="confidence")
        ax.plot(row.at, row.mean, color=BLUE, linewidth=1.8, label="estimate")
    star(ax, row.leader, 0.0, label="best")
    if not _given(opt, [row.knob]):
        _bound(opt, best, ax)
    row.knob.dress(ax, "x")
    ax.set(ylabel=labeled("f(x) - f(best)", best.unit), title=_headline(opt, best, [row.knob]))
    ax.legend(frameon=False, fontsize="small")
    return ax


def _given(opt: Optimizer, drawn: list[Knob]) -> bool:
    """Return True if a picture goes along a context: users cannot choose a context, so no bound is drawn."""
    return not {knob.name for knob in drawn}.isdisjoint(knob.name for knob in contexts(opt.space, 2))


def _bound(opt: Optimizer, best: Recommendation, ax: Any) -> None:
    """Draw the certificate, a bound on all values."""
    claim = best.overall
    if math.isfinite(claim.bound):
        at = -claim.bound if opt.study.setup.minimize else claim.bound
        ground = PHRASES[claim.kind].lower()
        ax.axhline(at, color=ORANGE, linewidth=1.0, linestyle=(0, (4, 3)), label=f"{ground}, nothing lies beyond")


def _map(opt: Optimizer, best: Recommendation, pair: list[Knob], ax: Any) -> Any:
    across, up = pair
    mean, width = surface(opt, best, pair)
    mean, label = _within_contexts(opt, pair, mean)
    label = labeled(label, best.unit)
    x, y = ([knob.position(value) for value in knob.values] for knob in pair)
    if across.steps or up.steps:
        drawn = ax.pcolormesh(x, y, mean, cmap=_cmap(opt), shading="nearest")
    else:
        drawn = ax.contourf(x, y, mean, levels=14, cmap=_cmap(opt))
        ax.contour(drawn, colors="white", linewidths=0.4, alpha=0.6, linestyles="solid")
        if not _given(opt, pair):
            _undecided(x, y, width - mean if opt.study.setup.minimize else width + mean, ax)
    vague = UNKNOWN * float(np.nanmax(mean) - np.nanmin(mean))
    _unknown(x, y, width, vague, ax, steps=across.steps or up.steps)
    _measured(opt, pair, ax)
    star(ax, *(knob.position(knob.get(best.x)) for knob in pair))
    ax.figure.colorbar(drawn, ax=ax, label=label)
    across.dress(ax, "x")
    up.dress(ax, "y")
    ax.set_title(_headline(opt, best, pair))
    return ax


def _within_contexts(opt: Optimizer, pair: list[Knob], mean: FloatArray) -> tuple[FloatArray, str]:
    """Return the surface of a map and its label: along a context, each setting relative to the best one there.

    An effect of a context on all settings alike is hardly distinguishable from a drift, and users cannot choose it.
    """
    given = [_given(opt, [knob]) for knob in pair]
    if given.count(True) != 1:
        return mean, "f(x) - f(best), estimated"
    top = (np.nanmin if opt.study.setup.minimize else np.nanmax)(mean, axis=0 if given[0] else 1, keepdims=True)
    return mean - top, "f(x) - f(best there), estimated"


def _undecided(x: list[float], y: list[float], upper: FloatArray, ax: Any) -> None:
    """Outline the region that may still hide something better than the leader."""
    if np.nanmin(upper) < 0 < np.nanmax(upper):
        ax.contour(x, y, upper, levels=[0.0], colors=ORANGE, linewidths=1.2, linestyles="dashed")
        ax.plot([], [], color=ORANGE, linewidth=1.2, linestyle="dashed", label="inside: may still be better")
        ax.legend(**LEGEND)


def _unknown(x: list[float], y: list[float], width: FloatArray, limit: float, ax: Any, steps: bool) -> None:
    """Hatch the region with an interval so wide that the color says little."""
    from matplotlib.colors import ListedColormap

    if not np.nanmax(width) > limit:
        return
    look: dict[str, Any] = {"hatch": "////", "linewidth": 0.0}
    if steps:
        vague = np.ma.masked_where(~(width > limit), width)
        ax.pcolor(x, y, vague, shading="nearest", cmap=ListedColormap([CLEAR]), edgecolor=HATCH, **look)
    else:
        drawn = ax.contourf(x, y, width, levels=[limit, np.inf], colors="none", hatches=[look["hatch"]])
        drawn.set(edgecolor=HATCH, linewidth=0.0)
    text = f"hatched: uncertain by more than ±{shown(float(f'{limit:.2g}'))}"
    ax.fill_between([], [], facecolor=GRAY, edgecolor="white", label=text, **look)
    ax.legend(**LEGEND)


def _measured(opt: Optimizer, pair: list[Knob], ax: Any) -> None:
    at = [measured(opt, knob) for knob in pair]
    ax.plot(*at, "o", color="white", markersize=3, markeredgecolor="black", markeredgewidth=0.4, alpha=0.8)


def _points(opt: Optimizer, best: Recommendation, ax: Any) -> Any:
    """Draw a plain set of points: along its coordinate, on its plane, or the best of them in order."""
    axis = coordinates(opt.space)
    if len(axis) != 2:
        if len(axis) > 1 or axis[0].is_choice:
            ax.tick_params(axis="x", rotation=90)
        return _row(opt, best, plain(opt, best, BEST), ax)
    points = opt.space.candidates(np.random.default_rng(0))
    mean, _ = against(opt, best, points)
    drawn = _surface(points, mean, ax, _cmap(opt))
    ax.figure.colorbar(drawn, ax=ax, label=labeled("f(x) - f(best), estimated", best.unit))
    _measured(opt, axis, ax)
    star(ax, *best.x)
    ax.set(xlabel="x[0]", ylabel="x[1]", title=_headline(opt, best, axis))
    return ax


def _surface(points: FloatArray, mean: FloatArray, ax: Any, cmap: str) -> Any:
    """Draw values at points of the plane: as an image for a full grid without gaps, else as dots."""
    x, y = (np.unique(column) for column in points.T)
    if len(x) * len(y) != len(points):
        return ax.scatter(*points.T, c=mean, cmap=cmap, s=float(np.clip(30_000 / len(points), 12, 150)), linewidths=0)
    surface = np.empty((len(y), len(x)))
    surface[np.searchsorted(y, points[:, 1]), np.searchsorted(x, points[:, 0])] = mean
    return ax.pcolormesh(x, y, surface, cmap=cmap, shading="nearest")


def _cmap(opt: Optimizer) -> str:
    return MAP + "_r" if opt.study.setup.minimize else MAP


def _headline(opt: Optimizer, best: Recommendation, drawn: list[Knob]) -> str:
    """Return the full setting, in several lines if it is long, with its claim."""
    given = contexts(opt.space, 2)
    free = [knob for knob in knobs(opt.space, 2) or drawn if knob.name not in {each.name for each in given}]
    values = ({knob.name: knob.get(best.x) for knob in each} for each in (given, free))
    at, where = (", ".join(map(str, dials(best.readouts, each))) for each in values)
    where = f"Best{f' at {at}' * bool(given)}: {where}"
    if len(free) + len(given) > len(drawn):
        where += " (slice through it)"
    return titled(where, claimed(best.overall, best.unit).rstrip("."))
