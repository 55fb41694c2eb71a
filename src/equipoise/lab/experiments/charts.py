"""The paper's figures, drawn with matplotlib (the extra `plot`)."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from equipoise._typing import FloatArray
from equipoise.lab.experiments.figures import Figure, Outcome, World
from equipoise.lab.experiments.statistics import two_standard_errors
from equipoise.plots import METHODS
from equipoise.plots import pyplot as pyplot

NAMES = {"IDS-one": "one-point", "IDS-two": "two-point", "IDS-pairs": "pairs"}
COLORS: Mapping[str, str] = {
    name: METHODS[NAMES.get(name, name)]
    for name in ("UCB", "UCB-scaled", "BOSE", "SemiTS", "IDS-one", "IDS-two", "IDS-pairs", "random")
}
"""The colors of the paper's learners."""

STYLE: Mapping[str, Any] = {
    "font.size": 10,
    "axes.titlesize": 11,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "grid.color": "#e6e6e6",
    "grid.linewidth": 0.8,
    "axes.axisbelow": True,
    "axes.edgecolor": "#555555",
    "xtick.color": "#333333",
    "ytick.color": "#333333",
    "legend.frameon": False,
    "savefig.dpi": 200,
    "pdf.fonttype": 42,
}
"""Plot style: quiet axes, and text stored as text."""


THIN: Mapping[str, Any] = {"linewidth": 0.9, "linestyle": (0, (4, 2))}
"""The line style of a variant, in the color of its learner."""


def draw(figure: Figure, outcome: Outcome, stem: Path) -> list[Path]:
    """Draw a figure in the paper's arrangement.

    Returns:
        The files written: PNG and PDF.
    """
    plt = pyplot()
    rows = -(-len(figure.panels) // figure.columns)
    with plt.rc_context(dict(STYLE)):
        canvas, axes = plt.subplots(
            rows, figure.columns, figsize=(4.4 * figure.columns, 3.0 * rows + 0.6), squeeze=False, layout="constrained"
        )
        for ax, world in zip(axes.flat, figure.panels, strict=True):
            _panel(ax, figure, world, outcome)
        for ax in axes[-1]:
            ax.set_xlabel("readings")
        for ax in axes[:, 0]:
            ax.set_ylabel("cumulative regret")
        _legend(canvas, axes.flat[0], thin=bool(figure.thin))
        paths = save(canvas, stem, ("png", "pdf"))
        plt.close(canvas)
    return paths


def band(ax: Any, at: ArrayLike, R: FloatArray, color: str, label: str) -> None:
    """Draw the mean of curves of shape (r, k) and two standard errors around it, starting at zero."""
    at = np.concatenate(([0], at))
    mean, error = (np.concatenate(([0.0], values)) for values in (R.mean(axis=0), two_standard_errors(R)))
    ax.plot(at, mean, color=color, linewidth=1.8, label=label)
    ax.fill_between(at, mean - error, mean + error, color=color, alpha=0.18, linewidth=0)


def save(canvas: Any, stem: Path, endings: tuple[str, ...]) -> list[Path]:
    """Write a figure in several formats and return the files."""
    stem.parent.mkdir(parents=True, exist_ok=True)
    paths = [stem.parent / f"{stem.name}.{ending}" for ending in endings]
    for path in paths:
        canvas.savefig(path, bbox_inches="tight")
    return paths


def _panel(ax: Any, figure: Figure, world: World, outcome: Outcome) -> None:
    for learner in figure.learners:
        curves = outcome[world, learner]
        band(ax, curves.at, curves.regret, COLORS[learner], figure.label(learner))
    for learner in figure.thin:
        curves = outcome[world, learner]
        color = COLORS[learner.removesuffix("-honest").removesuffix("-authors")]
        mean = curves.regret.mean(axis=0)
        ax.plot(curves.at, mean, color=color, **THIN)
    ax.set_title(world.title)
    ax.set_xlim(0, outcome[world, figure.learners[0]].at[-1])
    ax.set_ylim(bottom=0)
    ax.ticklabel_format(style="plain")


def _legend(canvas: Any, ax: Any, thin: bool) -> None:
    if thin:
        ax.plot([], [], color="#333333", label="other setting, see table", **THIN)
    handles, labels = ax.get_legend_handles_labels()
    canvas.legend(handles, labels, loc="outside lower center", ncols=len(labels), handlelength=2.2)
