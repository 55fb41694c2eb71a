"""The course of a study: the readings with the offset, and the certificate."""

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from equipoise.answer import Difference, left_to_gain
from equipoise.optimizer import Optimizer
from equipoise.plots import series
from equipoise.plots.style import BLUE, GRAY, GREEN, LIGHT, ORANGE, PINK, axes, logarithmic, star, titled, whole
from equipoise.spaces import labeled
from equipoise.study import unit_of

WORKERS = (BLUE, GREEN, PINK, "#56B4E9", "#E69F00", "#000000")


MOST_BLOCKS = 20
"""The number of block changes above which they are not marked."""


def readings(opt: Optimizer, ax: Any = None, *, context: Mapping[str, Any] | None = None) -> Any:
    """Draw the raw readings in the order told, with the estimated offset on top.

    Args:
        opt: The study.
        ax: Axes to draw on.
        context: The context of the best setting, in a space with contexts; the last one requested by default.

    Returns:
        The Axes.
    """
    ax = axes(ax)
    read = series.readings_of(opt)
    ax.set(xlabel="reading", ylabel=series.reading_label(opt), title="Readings")
    whole(ax.xaxis)
    if not read:
        return ax
    number = np.arange(1, len(read) + 1)
    workers = list(dict.fromkeys(record.worker for record in read))
    for k, worker in enumerate(workers):
        mine = [i for i, record in enumerate(read) if record.worker == worker and record.aside is None]
        values = [read[i].level for i in mine]
        label = "readings" if len(workers) == 1 else f"readings of {worker or 'nobody'}"
        color = GRAY if len(workers) == 1 else WORKERS[k % len(WORKERS)]
        ax.plot(number[mine], values, "o", color=color, markersize=3.5, alpha=0.75, markeredgewidth=0, label=label)
    aside = [i for i, record in enumerate(read) if record.aside is not None]
    if aside:  # outliers, which would compress all other readings
        top = ax.get_xaxis_transform()
        ax.plot(
            number[aside], np.full(len(aside), 0.97), "x", color=PINK, markersize=6, transform=top, label="set aside"
        )
    beside = sorted({name for record in read for name in record.covariates})
    label = "estimated offset, at the best setting" + (f", by {', '.join(beside)}" if beside else "")
    ax.plot(number, series.offsets(opt, context=context), color=ORANGE, linewidth=1.6, label=label)
    _blocks([record.block for record in read], ax)
    ax.legend(frameon=False, fontsize="small")
    return ax


def progress(opt: Optimizer, ax: Any = None, *, context: Mapping[str, Any] | None = None) -> Any:
    """Draw the gain of each reading over the start, without the drift; up is better.

    A dot is a reading minus the estimated offset. The line is the best setting read up to then, by the present belief;
    the star is the recommended setting, with its interval. If the offset has no law, it cannot be separated from the
    noise: the dots are then estimates, not readings.

    Args:
        opt: The study.
        ax: Axes to draw on.
        context: The context of the best setting, in a space with contexts; the last one requested by default.

    Returns:
        The Axes.
    """
    ax, start = axes(ax), series.start_of(opt)
    ax.set(xlabel="reading", title="Progress, with the drift taken out")
    whole(ax.xaxis)
    if start is None or not opt.readings:
        return ax
    best = opt.recommend(context=context)
    ax.set_ylabel(labeled("better than the start by", best.unit))
    found = series.progress(opt, best, start)
    label = "reading less offset" if found.modeled else "estimate at each setting read"
    ax.axhline(0.0, color=LIGHT, linewidth=1.0, zorder=0)
    ax.plot(found.number, found.gain, "o", color=GRAY, markersize=3.5, alpha=0.75, markeredgewidth=0, label=label)
    ax.plot(found.number, found.best, color=BLUE, linewidth=1.8, drawstyle="steps-post", label="best setting so far")
    if best.against_start is not None:
        _recommended(best.against_start, len(series.readings_of(opt)) + 1, ax)
    ax.legend(frameon=False, fontsize="small")
    return ax


def _recommended(known: Difference, at: int, ax: Any) -> None:
    """Mark the gain of the recommended setting over the start, with its interval if there is one."""
    star(ax, at, known.value, label="recommended")
    if math.isfinite(known.low):
        ax.plot([at, at], [known.low, known.high], color=ORANGE, linewidth=1.6)


def _blocks(names: list[str | None], ax: Any) -> None:
    """Mark the starts of blocks by name if there is room; workers alternate, so their blocks are not marked."""
    begins = [i for i in range(len(names)) if i == 0 or names[i] != names[i - 1]]
    if not any(names) or len(begins) > MOST_BLOCKS:
        return
    for i in begins:
        ax.axvline(i + 0.5, color=LIGHT, linewidth=0.8, zorder=0)
        if names[i]:
            at = ax.get_xaxis_transform()
            ax.text(i + 0.7, 0.02, names[i], transform=at, fontsize="x-small", color=GRAY, rotation=90, va="bottom")


def predicted(opt: Optimizer, ax: Any = None) -> Any:
    """Draw readings over predictions, one dot for each complete pair of readings.

    Within a pair the offset cancels: both axes are the first setting minus the second. The study has learned from these
    readings, so the dots lie somewhat nearer to the line than new ones would.

    Args:
        opt: The study.
        ax: Axes to draw on.

    Returns:
        The Axes.
    """
    ax, unit = axes(ax), unit_of(opt.study.settings)
    found = series.agreement(opt)
    ax.set(xlabel=labeled("f(first) - f(second), estimated", unit), title="Predicted and read")
    ax.set_ylabel(labeled("first reading - second", unit))
    ax.axline((0.0, 0.0), slope=1.0, color=LIGHT, linewidth=1.0, zorder=0)
    ax.plot(found.predicted, found.read, "o", color=GRAY, markersize=3.5, alpha=0.75, markeredgewidth=0)
    return ax


def answers(opt: Optimizer, ax: Any = None) -> Any:
    """Draw the judges' answer to each pair over its estimate: words in their order, or numbers.

    Args:
        opt: The study.
        ax: Axes to draw on.

    Returns:
        The Axes.
    """
    ax = axes(ax)
    unit = opt.recommend().unit if opt.judgements else ""
    ax.set(xlabel=labeled("f(first) - f(second), estimated", unit), title="What was said")
    if not opt.judgements:
        return ax
    found = series.said(opt)
    for k, name in enumerate(dict.fromkeys(found.judges)):
        mine = [i for i, judge in enumerate(found.judges) if judge == name]
        heights = [found.heights[i] for i in mine]
        ax.plot(found.differences[mine], heights, "o", color=WORKERS[k % len(WORKERS)], alpha=0.5, label=name)
    if found.ticks:
        ax.set_yticks(list(found.ticks.values()), list(found.ticks))
    ax.axvline(0.0, color=LIGHT, linewidth=1.0, zorder=0)
    if ax.get_legend_handles_labels()[1] != [""]:
        ax.legend(frameon=False, fontsize="small")
    return ax


def certificate(opt: Optimizer, ax: Any = None, points: int = 40, *, context: Mapping[str, Any] | None = None) -> Any:
    """Draw the bound on the remaining gain, over all settings, after each reading.

    Replays the study, so it takes about as long as `resume`.

    Args:
        opt: The study.
        ax: Axes to draw on.
        points: The number of points of the curve: numbers of readings at which the bound is computed.
        context: The context to show, in a space with contexts; the last one requested by default.

    Returns:
        The Axes.
    """
    ax = axes(ax)
    told = opt.readings + opt.judgements
    at = np.unique(np.linspace(min(1, told), told, points).round().astype(int)).tolist()
    past = {best.readings + best.judgements: best for best in opt.study.history(at, context=context)}
    known = series.certified({n: best.overall.bound for n, best in past.items()})
    words = [word for word, n in (("readings", opt.readings), ("judgements", opt.judgements)) if n]
    unit = past[known[-1][0]].unit if known else ""
    label = labeled("bound on the remaining gain", unit)
    ax.set(xlabel=" and ".join(words) or "readings", ylabel=label, title="No bound yet")
    whole(ax.xaxis)
    if not known:
        return ax
    numbers, bounds = zip(*known, strict=True)
    ax.plot(numbers, bounds, color=BLUE, linewidth=1.8)
    ax.plot(numbers[-1:], bounds[-1:], "o", color=ORANGE, markersize=6)
    ax.set_title(titled(left_to_gain(past[numbers[-1]].overall, unit)))
    if min(bounds) > 0:
        logarithmic(ax, "y")
    ax.grid(color=LIGHT, linewidth=0.6, alpha=0.6)
    return ax
