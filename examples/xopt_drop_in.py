"""The same drifting beam with Xopt's own generators and with Equipoise's: one line of the YAML changes.

Two magnets are tuned while the detector drifts by more than the magnets change the beam, with one reading per second of
a simulated clock. `upper_confidence_bound` ignores time, `time_dependent_upper_confidence_bound` models it. Both report
the top of their model's mean, the latter for the present time. The score of each is the true value of the reported
setting.

python examples/xopt_drop_in.py      # needs: pip install equipoise[xopt]
"""

import warnings
from collections.abc import Callable
from typing import Any

import click
import numpy as np
import torch
from numpy.typing import NDArray
from xopt import VOCS, Evaluator, Xopt
from xopt.generators import get_generator
from xopt.generators.bayesian import time_dependent

from equipoise.integrations.xopt import XoptDuelGenerator

DRIFTS: dict[str, Callable[[NDArray[np.float64]], NDArray[np.float64]]] = {
    "tide": lambda t: 2 * np.sin(t / 20),
    "rising": lambda t: 0.03 * t,
    "steady": np.zeros_like,
}
GRID = np.stack(np.meshgrid(np.linspace(0, 1, 41), np.linspace(-1, 1, 41)), axis=-1).reshape(-1, 2)


class Beam:
    """The beam, its detector and the clock."""

    def __init__(self, seed: int, drift: str) -> None:
        rng, t = np.random.default_rng(seed), np.arange(1000.0)
        walk = np.cumsum(0.1 * rng.standard_normal(len(t)))
        self._shown = DRIFTS[drift](t) + (0.0 if drift == "steady" else walk) + 0.1 * rng.standard_normal(len(t))
        self._readings, self._now = 0, 1000.0

    def time(self) -> float:
        """Read the clock."""
        return self._now

    def sleep(self, seconds: float) -> None:
        """Let time pass."""
        self._now += seconds

    def measure(self, point: dict[str, Any]) -> dict[str, float]:
        """Read the detector."""
        self.sleep(1.0)
        self._readings += 1
        return {"f": truth(point) + float(self._shown[self._readings]), "time": self._now}


def truth(point: dict[str, Any]) -> float:
    return float(-4 * (point["q1"] - 0.7) ** 2 - (point["q2"] - 0.2) ** 2)


def reported(X: Xopt, beam: Beam) -> dict[str, Any]:
    """The setting that a generator reports after the run."""
    if isinstance(X.generator, XoptDuelGenerator):
        best: dict[str, Any] = X.generator.get_best_points()[0]
        return best
    timed = isinstance(X.generator, time_dependent.TimeDependentBayesianGenerator)
    points = np.column_stack((GRID, np.full(len(GRID), beam.time()))) if timed else GRID
    model = X.generator.train_model(X.data)
    with torch.no_grad():
        mean = model.posterior(torch.tensor(points)).mean
    return dict(zip(("q1", "q2"), GRID[int(mean[:, 0].argmax())], strict=True))


def run(name: str, seed: int, drift: str, readings: int) -> float:
    torch.manual_seed(seed)
    beam = Beam(seed, drift)
    time_dependent.time = beam  # its clock, else it would wait in real time
    vocs = VOCS(variables={"q1": [0, 1], "q2": [-1, 1]}, objectives={"f": "MAXIMIZE"})
    options = {"seed": seed} if name == "duel" else {}
    X = Xopt(generator=get_generator(name)(vocs=vocs, **options), evaluator=Evaluator(function=beam.measure))
    if name != "duel":
        X.random_evaluate(4, seed=seed)
    while len(X.data if X.data is not None else ()) < readings:
        X.step()
    return -truth(reported(X, beam))


@click.command(help=__doc__)
@click.option("--seeds", default=10, show_default=True)
@click.option("--readings", default=40, show_default=True)
@click.option("--drift", "drifts", type=click.Choice(list(DRIFTS)), multiple=True, default=list(DRIFTS))
def main(seeds: int, readings: int, drifts: tuple[str, ...]) -> None:
    warnings.simplefilter("ignore")  # Xopt's, of its libraries
    print(f"regret of the reported setting after {readings} readings, mean of {seeds} runs ± standard error")
    print(f"{'':40s}" + "".join(f"{drift:>16s}" for drift in drifts))
    for name in ("duel", "upper_confidence_bound", "time_dependent_upper_confidence_bound"):
        print(f"{name:40s}", end="", flush=True)
        for drift in drifts:
            regret = np.array([run(name, seed, drift, readings) for seed in range(seeds)])
            cell = f"{regret.mean():.3f} ± {regret.std(ddof=1) / seeds**0.5:.3f}"
            print(f"{cell:>16s}", end="", flush=True)
        print()


if __name__ == "__main__":
    main()
