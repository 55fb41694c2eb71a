"""The course of a study: what was read and how the offset moved, and how the certificate fell."""

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from equipoise._typing import FloatArray
from equipoise.answer import Recommendation, left_to_gain
from equipoise.optimizer import Optimizer
from equipoise.plots.style import BLUE, GRAY, GREEN, LIGHT, ORANGE, PINK, axes, logarithmic, whole
from equipoise.spaces import labeled
from equipoise.study import unit_of

WORKERS = (BLUE, GREEN, PINK, "#56B4E9", "#E69F00", "#000000")


MOST_BLOCKS = 20
"""More changes of the block than this are not marked."""


def offsets(opt: Optimizer, best: Recommendation | None = None, context: Mapping[str, Any] | None = None) -> FloatArray:
    """Return the estimated offset of every reading told, in the user's unit and direction, shape (n,).

    Nobody can tell the offset from the level of f, so it is shown as what the recommended setting would have read.
    Where the offset is tracked, it is the posterior mean of that; else each reading less the estimated difference
    between its setting and the recommended one, noise and all.

    Args:
        opt: The study.
        best: What it recommends, where that is known.
        context: Where the best setting is, in a space with contexts; the context asked for last by default.
    """
    told = [record for record in opt.records() if record.value is not None and not record.earlier]
    sign = -1.0 if opt.study.setup.minimize else 1.0
    leader = opt.space.encode((best or opt.recommend(context=context)).x)
    modeled = opt.posterior.offsets(leader)
    if modeled is not None:
        when, values = modeled
        tracked: FloatArray = np.interp(np.arange(1, len(told) + 1), when, values * sign)  # in between, if set aside
        return tracked
    mean = opt.posterior.at(np.array([leader, *(opt.space.encode(record.x) for record in told)])).mean
    offset: FloatArray = np.array([record.value for record in told]) - sign * (mean[1:] - mean[0])
    return offset


def readings(opt: Optimizer, ax: Any = None, *, context: Mapping[str, Any] | None = None) -> Any:
    """Draw the raw readings in the order they were told, with the estimated offset laid over them.

    Args:
        opt: The study.
        ax: Axes to draw on.
        context: Where the best setting is, in a space with contexts; the context asked for last by default.

    Returns:
        The Axes.
    """
    ax = axes(ax)
    told = [record for record in opt.records() if record.value is not None and not record.earlier]
    ax.set(xlabel="reading", ylabel=labeled("value", unit_of(opt.study.settings)), title="What was read")
    whole(ax.xaxis)
    if not told:
        return ax
    number = np.arange(1, len(told) + 1)
    workers = list(dict.fromkeys(record.worker for record in told))
    for k, worker in enumerate(workers):
        mine = [i for i, record in enumerate(told) if record.worker == worker and record.aside is None]
        values = [told[i].value for i in mine]
        label = "readings" if len(workers) == 1 else f"readings of {worker or 'nobody'}"
        color = GRAY if len(workers) == 1 else WORKERS[k % len(WORKERS)]
        ax.plot(number[mine], values, "o", color=color, markersize=3.5, alpha=0.75, markeredgewidth=0, label=label)
    aside = [i for i, record in enumerate(told) if record.aside is not None]
    if aside:  # as far off as they are, they would leave no room for the others
        top = ax.get_xaxis_transform()
        ax.plot(
            number[aside], np.full(len(aside), 0.97), "x", color=PINK, markersize=6, transform=top, label="set aside"
        )
    beside = sorted({name for record in told for name in record.covariates})
    label = "estimated offset, at the best setting" + (f", by {', '.join(beside)}" if beside else "")
    ax.plot(number, offsets(opt, context=context), color=ORANGE, linewidth=1.6, label=label)
    _blocks([record.block for record in told], ax)
    ax.legend(frameon=False, fontsize="small")
    return ax


def _blocks(names: list[str | None], ax: Any) -> None:
    """Mark where blocks begin, by name, while there is room; workers take turns, so they are not marked."""
    begins = [i for i in range(len(names)) if i == 0 or names[i] != names[i - 1]]
    if not any(names) or len(begins) > MOST_BLOCKS:
        return
    for i in begins:
        ax.axvline(i + 0.5, color=LIGHT, linewidth=0.8, zorder=0)
        if names[i]:
            at = ax.get_xaxis_transform()
            ax.text(i + 0.7, 0.02, names[i], transform=at, fontsize="x-small", color=GRAY, rotation=90, va="bottom")


def answers(opt: Optimizer, ax: Any = None) -> Any:
    """Draw what judges said of each pair over what is now believed of it: words in their order, or numbers.

    Args:
        opt: The study.
        ax: Axes to draw on.

    Returns:
        The Axes.
    """
    ax = axes(ax)
    said = opt.study.answers()
    unit = opt.recommend().unit if said else ""
    ax.set(xlabel=labeled("f(first) - f(second), estimated", unit), title="What was said")
    if not said:
        return ax
    words = max((pair.answers for pair, _ in said), key=len)
    points = np.array([opt.space.encode(x) for pair, _ in said for x in (pair.first, pair.second)])
    mean = opt.posterior.mean(points).reshape(-1, 2)
    for k, name in enumerate(dict.fromkeys(pair.judge for pair, _ in said)):
        mine = [i for i, (pair, _) in enumerate(said) if pair.judge == name]
        heights = [_height(said[i][1], words) for i in mine]
        ax.plot(mean[mine, 0] - mean[mine, 1], heights, "o", color=WORKERS[k % len(WORKERS)], alpha=0.5, label=name)
    if any(isinstance(answer, str) for _, answer in said):
        ax.set_yticks([_height(word, words) for word in words], words)
    ax.axvline(0.0, color=LIGHT, linewidth=1.0, zorder=0)
    if ax.get_legend_handles_labels()[1] != [""]:
        ax.legend(frameon=False, fontsize="small")
    return ax


def _height(answer: str | float, words: tuple[str, ...]) -> float:
    """Return where an answer is drawn: a number at itself, a word by its place in the scale."""
    return words.index(answer) - 0.5 * (len(words) - 1) if isinstance(answer, str) else answer


def certificate(opt: Optimizer, ax: Any = None, points: int = 40, *, context: Mapping[str, Any] | None = None) -> Any:
    """Draw how the bound on what is left to gain, over all settings, fell reading by reading.

    Replays the study, so it takes about as long as `resume`.

    Args:
        opt: The study.
        ax: Axes to draw on.
        points: At how many numbers of readings the bound is computed.
        context: Where, in a space with contexts; the context asked for last by default.

    Returns:
        The Axes.
    """
    ax = axes(ax)
    told = opt.readings + opt.judgements
    at = np.unique(np.linspace(min(1, told), told, points).round().astype(int)).tolist()
    known = [best for best in opt.study.history(at, context=context) if math.isfinite(best.overall.bound)]
    bounds = [best.overall.bound for best in known]
    words = [word for word, n in (("readings", opt.readings), ("judgements", opt.judgements)) if n]
    unit = known[-1].unit if known else ""
    label = labeled("bound on what is left to gain", unit)
    ax.set(xlabel=" and ".join(words) or "readings", ylabel=label, title="No bound yet")
    whole(ax.xaxis)
    if not known:
        return ax
    numbers = [best.readings + best.judgements for best in known]
    ax.plot(numbers, bounds, color=BLUE, linewidth=1.8)
    ax.plot(numbers[-1:], bounds[-1:], "o", color=ORANGE, markersize=6)
    ax.set_title(left_to_gain(known[-1].overall, unit))
    if min(bounds) > 0:
        logarithmic(ax, "y")
    ax.grid(color=LIGHT, linewidth=0.6, alpha=0.6)
    return ax
