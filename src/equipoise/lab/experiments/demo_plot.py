"""The picture of the demonstration."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from equipoise import _linalg
from equipoise.lab.environments import camelback
from equipoise.lab.experiments.charts import STYLE, band, pyplot, save
from equipoise.lab.experiments.demo import COLORS, Contestant
from equipoise.plots import METHODS

GRAY = "#555555"
HEADLINE = "One drifting instrument, the same noise: learners that trust readings, and one that compares them"


def draw(contestants: Sequence[Contestant], path: Path) -> Path:
    """Draw the regret, the raw readings, and the points that each learner measured.

    Returns:
        The file written.
    """
    plt = pyplot()
    ending = path.suffix.removeprefix(".") or "png"
    with plt.rc_context(dict(STYLE)):
        canvas = plt.figure(figsize=(12.6, 3.1 + 0.8 * len(contestants)), layout="constrained")
        canvas.get_layout_engine().set(w_pad=0.12, h_pad=0.08)
        canvas.suptitle(HEADLINE, fontsize=12.5, fontweight="bold")
        names = [f"map {i}" for i in range(len(contestants))]
        axes = canvas.subplot_mosaic([["cost", "shown", name] for name in names])
        _cost(axes["cost"], contestants)
        _shown(axes["shown"], contestants)
        for name, contestant in zip(names, contestants, strict=True):
            _map(axes[name], contestant)
            axes[name].tick_params(labelbottom=name == names[-1])
        axes[names[-1]].set_xlabel("light: good    stars: best    large dot: measured often", color=GRAY)
        written = save(canvas, path.with_suffix(""), (ending,))
        plt.close(canvas)
    return written[0]


def _cost(ax: Any, contestants: Sequence[Contestant]) -> None:
    for contestant in contestants:
        runs, n = contestant.regret.shape
        band(ax, np.arange(1, n + 1), contestant.regret, _color(contestant), contestant.name)
    ax.set(title="What the search cost", xlabel=f"readings    (mean of {runs} runs ± 2 standard errors)")
    ax.set(ylabel="cumulative regret", xlim=(0, n))
    ax.set_ylim(bottom=0)
    ax.legend(loc="upper left")


def _shown(ax: Any, contestants: Sequence[Contestant]) -> None:
    offsets = [reading.offset for reading in contestants[0].readings]
    ax.plot(range(1, len(offsets) + 1), offsets, color="black", linewidth=0.9, label="offset, unknown to all")
    for contestant in contestants:
        times, shown = [r.time for r in contestant.readings], [r.y for r in contestant.readings]
        look = {"s": 9, "alpha": 0.65, "linewidths": 0}
        ax.scatter(times, shown, color=_color(contestant), label=f"readings of {contestant.name}", **look)
    ax.set(
        title="What the instrument showed", xlabel="readings    (first run)", ylabel="reading", xlim=(0, len(offsets))
    )
    ax.legend(loc="lower left", markerscale=2.5)


def _map(ax: Any, contestant: Contestant) -> None:
    function = camelback()
    a, b = np.linspace(-2, 2, 161), np.linspace(-1, 1, 81)
    values = function(np.stack(np.meshgrid(a, b), axis=-1))
    ax.imshow(values, origin="lower", extent=(-2, 2, -1, 1), cmap="Greys_r", vmin=-6.5, vmax=1.1, aspect="auto")
    ax.contour(a, b, values, levels=8, colors="white", linewidths=0.6, linestyles="solid", alpha=0.8)
    points = np.array([reading.x for reading in contestant.readings])
    firsts, place = _linalg.grouped(points)
    ax.scatter(*points[firsts].T, s=10 * np.sqrt(np.bincount(place)), color=_color(contestant), alpha=0.8, linewidths=0)
    tops = np.outer((1, -1), function.maximizer)  # two of the same height: f(x) = f(-x)
    ax.scatter(*tops.T, marker="*", s=110, color="white", edgecolor="black", linewidth=0.8, zorder=3)
    ax.set(title=f"Where {contestant.name} measured", xlim=(-2.08, 2.08), ylim=(-1.08, 1.08))
    ax.grid(False)


def _color(contestant: Contestant) -> str:
    return METHODS[COLORS[contestant.name]]
