"""Studies to draw, and how to find on Axes what was drawn."""

import warnings

import numpy as np

import equipoise as eq

MIXED = eq.Space(
    rate=eq.Float(1e-4, 1e-1, log=True), n=eq.Int(1, 6), mode=eq.Choice(["slow", "fast"]), lens="in", candidates=32
)
SPACES = {
    "line": eq.Space(q1=eq.Float(0, 1), candidates=32),
    "box": eq.Box([(-2, 2), (-1, 1)], 32),
    "six": eq.Box([(0, 1)] * 6, 32),
    "mixed": MIXED,
    "row": eq.Finite(np.linspace(0, 1, 12)[:, None]),
    "grid": eq.Finite(np.stack(np.meshgrid(np.arange(4.0), np.arange(3.0)), -1).reshape(-1, 2)),
    "scattered": eq.Finite(np.random.default_rng(0).uniform(0, 1, (12, 2))),
    "many": eq.Finite(np.random.default_rng(0).uniform(0, 1, (40, 5))),
}


def made(space, readings=14, **options):
    """A study of a bowl around 0.3 in every number, whose readings drift; the eleventh trial fails."""
    opt = eq.Optimizer(space, rng=0, **{"kernel": eq.RBF(0.5), "regularizer": 0.1} | options)
    for t in range(readings):
        trial = opt.ask()
        numbers = trial.x.values() if isinstance(trial.x, dict) else trial.x
        bowl = -sum((float(v) - 0.3) ** 2 for v in numbers if not isinstance(v, str))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", eq.DuelGivenUp)
            if t == 10:
                opt.tell(trial, failed="beam lost")
            else:
                opt.tell(trial, (-bowl if opt.study.setup.minimize else bowl) + t / 4)
    return opt


def stars(ax):
    """Where leaders are marked."""
    return [(float(line.get_xdata()[0]), float(line.get_ydata()[0])) for line in ax.lines if line.get_marker() == "*"]


def line_of(ax, label):
    """Return the data of a line by its label."""
    return next(line for line in ax.lines if line.get_label() == label).get_xydata()
