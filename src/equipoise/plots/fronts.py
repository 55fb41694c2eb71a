"""The front of several objectives: the gain of each setting over the start, with its intervals."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from equipoise.optimizer import Optimizer
from equipoise.plots.series import compromises
from equipoise.plots.style import BLUE, GRAY, LIGHT, axes, star


def front(opt: Optimizer, *along: str, ax: Any = None, context: Mapping[str, Any] | None = None) -> Any:
    """Draw the settings of the front against the start, in two objectives, each with its interval.

    Args:
        opt: A study with several objectives.
        *along: The names of two objectives; the first two by default.
        ax: Axes to draw on.
        context: The context to show, in a space with contexts; the last one requested by default.

    Returns:
        The Axes.
    """
    found = compromises(opt, opt.recommend(context=context), along, context)
    ax = axes(ax)
    ax.axhline(0.0, color=LIGHT, linewidth=1.0)
    ax.axvline(0.0, color=LIGHT, linewidth=1.0)
    x, y = found.middle.T
    below, above = np.abs(found.middle - found.low).T, np.abs(found.high - found.middle).T
    errors = {"xerr": (below[0], above[0]), "yerr": (below[1], above[1])}
    ax.errorbar(x, y, **errors, fmt="o", color=BLUE, ecolor=LIGHT, markersize=4, label="not dominated, with 95 %")
    ax.plot([0.0], [0.0], marker="s", color=GRAY, linestyle="none", label="start")
    star(ax, *found.chosen, label="recommended")
    ax.set_xlabel(f"{found.names[0]}, against the start")
    ax.set_ylabel(f"{found.names[1]}, against the start")
    ax.legend(frameon=False, fontsize=8)
    return ax
