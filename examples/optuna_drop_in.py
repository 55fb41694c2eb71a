"""The same drifting problem in plain Optuna and with Equipoise: one line of code differs.

A service with three knobs is tuned while its traffic moves the metric by about as much as the knobs do. Every method
gets the same number of readings, the same noise and the same drift. Plain Optuna reports its best trial, and a
`DuelSampler` reports `best_params`; the score of each is the true value of the reported setting.

python examples/optuna_drop_in.py prints the table; --picture FILE draws it too.
"""

import importlib.util
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click
import numpy as np
import optuna
from numpy.typing import NDArray
from optuna.samplers import BaseSampler, GPSampler, TPESampler

from equipoise.integrations.optuna import DuelSampler, best_params, paired
from equipoise.plots.style import GRAY, METHODS, axes, pyplot

BEST = 0.4
MODES = {"greedy": 0.0, "lazy": 0.4, "hybrid": 0.2}
DRIFTS: dict[str, Callable[[NDArray[np.float64]], NDArray[np.float64]]] = {
    "tide": lambda t: 2 * np.sin(t / 20),
    "rising": lambda t: 0.03 * t,
    "steady": np.zeros_like,
}


def truth(params: dict[str, Any]) -> float:
    """The true gain, which no method sees without drift and noise."""
    rate, depth = math.log10(params["rate"]) + 2, (params["depth"] - 6) / 6
    return float(-0.5 * rate**2 - 2.0 * depth**2 + MODES[params["mode"]])


class Service:
    """The metric of a live service: the truth, a drift with a random walk, and noise."""

    def __init__(self, seed: int, drift: str) -> None:
        rng, t = np.random.default_rng(seed), np.arange(1000.0)
        walk = np.cumsum(0.1 * rng.standard_normal(len(t)))
        self.offsets = DRIFTS[drift](t) + (0.0 if drift == "steady" else walk)
        self.noise = 0.1 * rng.standard_normal(len(t))
        self.shown: list[float] = []

    def __call__(self, trial: Any) -> float:
        """An ordinary objective of Optuna."""
        trial.suggest_float("rate", 1e-4, 1.0, log=True)
        trial.suggest_int("depth", 1, 12)
        trial.suggest_categorical("mode", sorted(MODES))
        t = len(self.shown)
        self.shown.append(truth(trial.params) + float(self.offsets[t] + self.noise[t]))
        return self.shown[-1]


def plain(sampler: Callable[[int], BaseSampler]) -> Callable[[Service, int, int], list[float]]:
    def run(service: Service, seed: int, readings: int) -> list[float]:
        study = optuna.create_study(direction="maximize", sampler=sampler(seed))
        study.optimize(service, n_trials=readings)
        best = np.maximum.accumulate(service.shown)
        lucky = [service.shown.index(value) for value in best[9::10]]
        return [BEST - truth(study.trials[i].params) for i in lucky]

    return run


def duels(service: Service, seed: int, readings: int) -> list[float]:
    study = optuna.create_study(direction="maximize", sampler=DuelSampler(seed=seed))
    regret = []
    for _ in range(readings // 10):
        study.optimize(paired(service), n_trials=5)
        regret.append(BEST - truth(best_params(study)))
    return regret


def contenders() -> dict[str, Callable[[Service, int, int], list[float]]]:
    result = {"TPE": plain(lambda seed: TPESampler(seed=seed))}
    if importlib.util.find_spec("torch"):
        result["GP"] = plain(lambda seed: GPSampler(seed=seed))
    return result | {"DuelSampler": duels}


def draw(path: Path, regrets: dict[str, NDArray[np.float64]], shown: dict[str, Service]) -> None:
    plt = pyplot()
    colors = {name: METHODS["default" if name == "DuelSampler" else name] for name in shown}
    canvas, (left, right) = plt.subplots(1, 2, figsize=(11, 4.2), layout="constrained")
    offsets = next(iter(shown.values())).offsets
    for name, service in shown.items():
        axes(left).plot(service.shown, ".", color=colors[name], markersize=5, label=f"readings of {name}")
    left.plot(offsets[: len(service.shown)], color=GRAY, label="drift, unknown to all")
    left.set(title="What the service showed", xlabel="readings (first run)", ylabel="reading")
    for name, regret in regrets.items():
        x = 10 * np.arange(1, regret.shape[1] + 1)
        mean, error = regret.mean(axis=0), regret.std(axis=0, ddof=1) / len(regret) ** 0.5
        axes(right).plot(x, mean, "o-", color=colors[name], markersize=4, label=name)
        right.fill_between(x, mean - 2 * error, mean + 2 * error, color=colors[name], alpha=0.2, linewidth=0)
    runs = f"readings (mean of {len(regret)} runs ± 2 standard errors)"
    right.set(title="How far the reported setting is from the best", xlabel=runs, ylabel="regret", ylim=(0, None))
    for ax in (left, right):
        ax.legend(frameon=False)
    canvas.savefig(path, dpi=130)


def compare(seeds: int, readings: int) -> tuple[dict[str, NDArray[np.float64]], dict[str, Service]]:
    """Print a row for each method; return its regrets and its service under the first drift."""
    print(f"regret of the reported setting after {readings} readings, mean of {seeds} runs ± standard error")
    print(f"{'':12s}" + "".join(f"{drift:>16s}" for drift in DRIFTS))
    regrets: dict[str, NDArray[np.float64]] = {}
    shown: dict[str, Service] = {}
    for name, run in contenders().items():
        row = []
        for drift in DRIFTS:
            services = [Service(seed, drift) for seed in range(seeds)]
            regret = np.array([run(service, seed, readings) for seed, service in enumerate(services)])
            row.append(f"{regret[:, -1].mean():.3f} ± {regret[:, -1].std(ddof=1) / seeds**0.5:.3f}")
            regrets.setdefault(name, regret)
            shown.setdefault(name, services[0])
        print(f"{name:12s}" + "".join(f"{cell:>16s}" for cell in row), flush=True)
    return regrets, shown


@click.command(help=__doc__)
@click.option("--seeds", default=20, show_default=True)
@click.option("--readings", default=120, show_default=True)
@click.option("--picture", type=click.Path(path_type=Path), help="Draws it to this file.")
def main(seeds: int, readings: int, picture: Path | None) -> None:
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    regrets, shown = compare(seeds, readings)
    if picture:
        draw(picture, regrets, shown)


if __name__ == "__main__":
    main()
