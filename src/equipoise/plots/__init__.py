"""Pictures of a study, drawn with matplotlib (the extra `plot`).

Each function takes an `Optimizer` and, if you like, the Axes to draw on, and returns Axes. `overview` draws all of them
in one figure, as `equipoise plot` does.

Example:
    >>> import matplotlib
    >>> matplotlib.use("Agg")
    >>> import equipoise as eq
    >>> opt = eq.Optimizer(eq.Space(q1=eq.Float(0, 1)), rng=0)
    >>> for day in range(20):
    ...     trial = opt.ask()
    ...     opt.tell(trial, -4 * (trial.x["q1"] - 0.7) ** 2 + 0.1 * day)
    >>> eq.plots.estimate(opt).get_xlabel()
    'q1'
"""

from equipoise.plots import style
from equipoise.plots.course import answers, certificate, predicted, progress, readings
from equipoise.plots.duels import duels
from equipoise.plots.estimate import estimate, slices
from equipoise.plots.fronts import front
from equipoise.plots.importance import Importance as Importance
from equipoise.plots.importance import importances
from equipoise.plots.importance import shares as shares
from equipoise.plots.knobs import Knob as Knob
from equipoise.plots.knobs import chosen as chosen
from equipoise.plots.knobs import contexts as contexts
from equipoise.plots.knobs import knobs as knobs
from equipoise.plots.overview import overview
from equipoise.plots.paired import contest
from equipoise.plots.style import METHODS as METHODS
from equipoise.plots.style import pyplot as pyplot

__all__ = [
    "answers",
    "certificate",
    "contest",
    "duels",
    "estimate",
    "front",
    "importances",
    "overview",
    "predicted",
    "progress",
    "readings",
    "slices",
    "style",
]
