"""The picture of runs on real data: the regret of each competitor's recommendation, by kind of world."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from equipoise.lab.experiments.charts import STYLE, pyplot, save
from equipoise.lab.experiments.real.lineup import COMPETITORS
from equipoise.lab.experiments.statistics import two_standard_errors
from equipoise.plots import METHODS

KINDS = ("all real: batches", "cake, drifting", "fullerenes, still", "fullerenes, drifting")
COLORS = {"def": "default", "UCB": "UCB", "TPE": "TPE", "CMA": "CMA", "ran": "blocks"}
"""The color of a competitor, by the first letters of its name."""


def kind_of(world: str) -> str:
    """Return the kind of a world.

    Example:
        >>> kind_of("oats, 4 a batch"), kind_of("fullerenes + water")
        ('all real: batches', 'fullerenes, drifting')
    """
    if world.endswith("a batch"):
        return KINDS[0]
    if world.startswith("cake"):
        return KINDS[1]
    return KINDS[3] if "+" in world else KINDS[2]


def draw(rows: Sequence[Mapping[str, str]], path: Path) -> Path:
    """Draw a panel for each kind of world: mean regret of the recommendation and two standard errors."""
    plt = pyplot()
    names = [name for name in COMPETITORS if any(row["competitor"] == name for row in rows)]
    kinds = [kind for kind in KINDS if any(kind_of(row["world"]) == kind for row in rows)]
    with plt.rc_context(dict(STYLE)):
        size = (2.2 + 2.6 * len(kinds), 1.2 + 0.3 * len(names))
        canvas, axes = plt.subplots(1, len(kinds), figsize=size, sharey=True, squeeze=False, layout="constrained")
        for ax, kind in zip(axes[0], kinds, strict=True):
            _panel(ax, kind, names, [row for row in rows if kind_of(row["world"]) == kind])
        axes[0, 0].set_yticks(range(len(names)), names)
        axes[0, 0].set_ylim(len(names) - 0.5, -0.5)
        canvas.supxlabel("regret of the recommendation, percent of the arms' range (± 2 standard errors)", fontsize=10)
        written = save(canvas, path.with_suffix(""), (path.suffix.removeprefix(".") or "png",))
        plt.close(canvas)
    return written[0]


def _panel(ax: Any, kind: str, names: Sequence[str], rows: Sequence[Mapping[str, str]]) -> None:
    for y, name in enumerate(names):
        regret = np.array([float(row["regret"]) for row in rows if row["competitor"] == name])
        if len(regret):
            color, plain = METHODS[COLORS[name[:3]]], "told" not in name and "reference" not in name
            error = float(np.nan_to_num(two_standard_errors(regret)))
            ax.errorbar(regret.mean(), y, xerr=error, fmt="o", color=color, markerfacecolor=color if plain else "white")
    ax.set(title=kind, xlim=(0, None))
    ax.grid(axis="y", visible=False)
