"""The picture of the demonstration."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from equipoise.environments import camelback
from equipoise.experiments.charts import COLORS, STYLE, band, pyplot, save
from equipoise.experiments.demo import Contestant

PALETTE = (COLORS["UCB"], COLORS["IDS-two"])
GRAY = "#555555"
HEADLINE = "One drifting instrument, the same noise: one learner believes its readings, the other compares them"


def draw(contestants: Sequence[Contestant], path: Path) -> Path:
    """Draw regret, raw readings, and where each learner measured.

    Args:
        contestants: The two learners.
        path: The file to write; its ending says the format, PNG by default.

    Returns:
        The file written.
    """
    plt = pyplot()
    ending = path.suffix.removeprefix(".") or "png"
    with plt.rc_context(dict(STYLE)):
        canvas = plt.figure(figsize=(12.6, 4.7), layout="constrained")
        canvas.get_layout_engine().set(w_pad=0.12, h_pad=0.08)
        canvas.suptitle(HEADLINE, fontsize=12.5, fontweight="bold")
        axes = canvas.subplot_mosaic([["cost", "shown", "top"], ["cost", "shown", "below"]])
        _cost(axes["cost"], contestants)
        _shown(axes["shown"], contestants)
        for where, contestant, color in zip(("top", "below"), contestants, PALETTE, strict=True):
            _map(axes[where], contestant, color)
        axes["top"].tick_params(labelbottom=False)
        axes["below"].set_xlabel("light: good    star: best    large dot: measured often", color=GRAY)
        written = save(canvas, path.with_suffix(""), (ending,))
        plt.close(canvas)
    return written[0]


def _cost(ax: Any, contestants: Sequence[Contestant]) -> None:
    for contestant, color in zip(contestants, PALETTE, strict=True):
        runs, n = contestant.regret.shape
        band(ax, np.arange(1, n + 1), contestant.regret, color, contestant.name)
    ax.set(title="What the search cost", xlabel=f"readings    (mean of {runs} runs ± 2 standard errors)")
    ax.set(ylabel="cumulative regret", xlim=(0, n))
    ax.set_ylim(bottom=0)
    ax.legend(loc="upper left")


def _shown(ax: Any, contestants: Sequence[Contestant]) -> None:
    offsets = [reading.offset for reading in contestants[0].readings]
    ax.plot(range(1, len(offsets) + 1), offsets, color="black", linewidth=0.9, label="offset, unknown to both")
    for contestant, color in zip(contestants, PALETTE, strict=True):
        times, shown = [r.time for r in contestant.readings], [r.y for r in contestant.readings]
        ax.scatter(times, shown, s=7, color=color, alpha=0.65, linewidths=0, label=f"readings of {contestant.name}")
    ax.set(
        title="What the instrument showed", xlabel="readings    (first run)", ylabel="reading", xlim=(0, len(offsets))
    )
    ax.legend(loc="lower left", markerscale=2.5)


def _map(ax: Any, contestant: Contestant, color: str) -> None:
    function = camelback()
    a, b = np.linspace(-2, 2, 161), np.linspace(-1, 1, 81)
    values = function(np.stack(np.meshgrid(a, b), axis=-1))
    ax.imshow(values, origin="lower", extent=(-2, 2, -1, 1), cmap="Greys_r", vmin=-6.5, vmax=1.1, aspect="auto")
    ax.contour(a, b, values, levels=8, colors="white", linewidths=0.6, linestyles="solid", alpha=0.8)
    points = np.array([reading.x for reading in contestant.readings])
    distinct, counts = np.unique(points, axis=0, return_counts=True)
    ax.scatter(*distinct.T, s=10 * np.sqrt(counts), color=color, alpha=0.8, linewidths=0)
    ax.scatter(*function.maximizer, marker="*", s=110, color="white", edgecolor="black", linewidth=0.8, zorder=3)
    ax.set(title=f"Where {contestant.name} measured", xlim=(-2.08, 2.08), ylim=(-1.08, 1.08))
    ax.grid(False)
