"""Pictures of a comparison: the readings of each arm by round, their paired differences, and the intervals."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from equipoise.answer import Interval
from equipoise.plots.style import BLUE, GRAY, GREEN, LIGHT, ORANGE, PINK, axes, pyplot, whole
from equipoise.programs import Question, Verdict

COLORS = (BLUE, ORANGE, GREEN, PINK, GRAY)
LOOKS = 40
"""The number of rounds at which the interval is drawn."""


def contest(verdict: Verdict) -> Any:
    """Draw the readings of every arm with their drift, the differences from the first arm, and the final intervals.

    Args:
        verdict: The result of `equipoise.compare`, or of a contest.

    Returns:
        Three Axes.

    Example:
        >>> import matplotlib
        >>> matplotlib.use("Agg")
        >>> import equipoise as eq
        >>> verdict = eq.compare({"old": lambda: 3.0, "new": lambda: 2.0}, rng=0)
        >>> [ax.get_title() for ax in contest(verdict)]
        ['Readings', 'Differences from old', 'Intervals']
    """
    _, each = pyplot().subplots(1, 3, figsize=(13.5, 4.0), layout="constrained", width_ratios=(1.2, 1.2, 1.0))
    _readings(verdict, axes(each[0]))
    _differences(verdict, axes(each[1]))
    _intervals(verdict, axes(each[2]))
    return each


def _readings(verdict: Verdict, ax: Any) -> None:
    """Draw every reading: the common movement of all arms is the drift."""
    for color, arm in zip(_colors(), verdict.question.arms, strict=False):
        at = [(i, told[arm]) for i, told in enumerate(verdict.rounds, 1) if arm in told]
        if at:
            ax.plot(*zip(*at, strict=True), ".-", color=color, linewidth=0.6, markersize=4, label=arm)
    unit = {"time": "seconds", "memory": "bytes", "reading": "reading"}[verdict.question.kind]
    ax.set(xlabel="round", ylabel=unit, title="Readings")
    whole(ax.xaxis)
    _legend(ax)


def _differences(verdict: Verdict, ax: Any) -> None:
    """Draw the difference of every round, and the interval after each."""
    first = verdict.question.arms[0]
    for color, arm in list(zip(_colors(), verdict.question.arms, strict=False))[1:]:
        both = [(i, told) for i, told in enumerate(verdict.rounds, 1) if first in told and arm in told]
        if not both:
            continue
        d = [verdict.question.difference(told[first], told[arm]) for _, told in both]
        at = [i for i, _ in both]
        ax.plot(at, [_shown(x, verdict.question) for x in d], ".", color=color, alpha=0.5, markersize=4, label=arm)
        if not verdict.sessions:
            _band(ax, at, d, verdict.question, color)
    ax.axhline(0, color=GRAY, linewidth=0.8)
    ax.set(xlabel="round", ylabel=_unit(verdict.question), title=f"Differences from {first}")
    whole(ax.xaxis)
    _legend(ax)


def _band(ax: Any, at: Sequence[int], d: Sequence[float], question: Question, color: str) -> None:
    """Draw the interval over the rounds."""
    looks = sorted({int(n) for n in np.linspace(1, len(d), LOOKS)})
    found = [(at[n - 1], question.interval(d[:n], question.alpha_each)) for n in looks]
    known = [(x, interval) for x, interval in found if np.isfinite(interval.width)]
    if known:
        low, high = ([_shown(getattr(interval, end), question) for _, interval in known] for end in ("low", "high"))
        ax.fill_between([x for x, _ in known], low, high, color=color, alpha=0.2, linewidth=0)


def _intervals(verdict: Verdict, ax: Any) -> None:
    """Draw the interval of each arm and session, and over all."""
    question, rows = verdict.question, _rows(verdict)
    margin = question.on_scale(question.margin)
    if margin:
        ax.axvspan(_shown(-margin, question), _shown(margin, question), color=LIGHT, alpha=0.5, linewidth=0)
    for y, (_, interval) in enumerate(rows):
        value, low, high = (_shown(x, question) for x in (interval.value, interval.low, interval.high))
        ax.plot([value], [y], "o", color=BLUE)
        if np.isfinite(low) and np.isfinite(high):
            ax.plot([low, high], [y, y], color=BLUE, linewidth=2)
    ax.axvline(0, color=GRAY, linewidth=0.8)
    ax.set_yticks(range(len(rows)), [name for name, _ in rows])
    ax.set(ylim=(len(rows) - 0.5, -0.5), xlabel=_unit(question), title="Intervals")


def _rows(verdict: Verdict) -> list[tuple[str, Interval]]:
    """Return a name and an interval for each row, from the top."""
    found = [*verdict.against_first, *([verdict.floor] if verdict.floor else [])]
    if not verdict.sessions:
        return [(each.second, each.interval) for each in found]
    over = [(f"{each.second}, all", each.interval) for each in verdict.against_first]
    sessions = [
        (f"{each.second}, {number}", each.interval)
        for number, session in enumerate(verdict.sessions, 1)
        for each in session.against_first
    ]
    return [*sessions, *over]


def _shown(d: float, question: Question) -> float:
    """Return a difference in the form to be drawn: ratios in percent."""
    return float(100 * np.expm1(d)) if question.scale == "ratio" else d


def _unit(question: Question) -> str:
    return "percent" if question.scale == "ratio" else "difference of readings"


def _legend(ax: Any) -> None:
    """Add a legend if there is anything to label."""
    if ax.get_legend_handles_labels()[0]:
        ax.legend(frameon=False, fontsize="small")


def _colors() -> list[str]:
    return [*COLORS] * 10
