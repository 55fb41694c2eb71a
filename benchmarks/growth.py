"""How the cost of a round grows with learners, candidates, dimensions and readings, as a picture.

python benchmarks/fleet.py --part growth --picture docs/images/performance.png
"""

import statistics
import time
from collections.abc import Callable
from typing import Any

import numpy as np
from compiled import CompiledDuels

import equipoise as eq
from equipoise._typing import FloatArray
from equipoise.lab.environments import Drift
from equipoise.lab.fleet import Blueprint, SharedCoins

ACTIONS, FEATURES = 20, 4
"""The paper's linear problem."""


def growth(picture: str) -> None:
    """Measure the cost of a round of IDS-two as one number grows and the others stay, and draw it."""
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(2, 2, figsize=(9, 6), constrained_layout=True)
    _draw(axes[0, 0], "learners", [1, 10, 50, 200, 1000, 5000], lambda n: _round_cost(n, 20, 4) / n, "array program")
    _draw(axes[0, 0], "learners", [1000, 5000, 20000], _compiled_cost, "compiled (g++), one core")
    counts, label = [20, 50, 100, 300, 1000], "candidates"
    _draw(axes[0, 1], label, counts, lambda n: _round_cost(50, n, 4) / 50, "linear, 4 features, 50 learners")
    _draw(axes[0, 1], label, counts, lambda n: _round_cost(5, n, 2, eq.RBF(0.3)) / 5, "RBF kernel, 5 learners")
    features, taken = [2, 4, 8, 16, 32, 64], [100, 1000, 10000]
    _draw(axes[1, 0], "dimensions", features, lambda n: _round_cost(50, 20, n) / 50, "linear, 20 points, 50 learners")
    _draw(
        axes[1, 0], "dimensions", features[:5], lambda n: _default_costs(n, [100])[0], "default Optimizer, 100 readings"
    )
    late = [_round_cost(50, 20, 4, rounds=n // 2, last=500) / 50 for n in taken]
    _draw(axes[1, 1], "readings taken before", taken, dict(zip(taken, late, strict=True)).get, "linear, 50 learners")
    some = [20, 50, 100, 200, 500, 1000, 3000]
    grown = dict(zip(some, _default_costs(2, some), strict=True))
    _draw(axes[1, 1], "readings taken before", some, grown.get, "default Optimizer, 2 dimensions")
    figure.suptitle("Processor time of a round (a duel, two readings), one thread; IDS-two but for the default")
    figure.savefig(picture, dpi=130)
    print(f"growth: {picture}")


def _draw(axis: Any, label: str, sizes: list[int], cost: Callable[[int], float | None], name: str) -> None:
    costs = [cost(n) for n in sizes]
    print(f"growth: {name}: " + ", ".join(f"{n:,} {label} {each:.2f} us" for n, each in zip(sizes, costs, strict=True)))
    axis.loglog(sizes, costs, "o-", label=name)
    axis.set(xlabel=label, ylabel="us a learner")
    axis.xaxis.set_major_formatter("{x:,.0f}")
    axis.yaxis.set_major_formatter("{x:,g}")
    axis.minorticks_off()
    if label != "learners":
        axis.set_xticks(sorted({float(n) for line in axis.lines for n in line.get_xdata()}))
    axis.set_ylim(0.3, 9e5)
    axis.grid(alpha=0.3)
    axis.legend(frameon=False, loc="upper right" if axis.get_subplotspec().rowspan.start == 0 else "center right")


def _round_cost(
    learners: int, points: int, features: int, kernel: eq.kernels.Kernel | None = None, rounds: int = 40, last: int = 30
) -> float:
    """Return microseconds of processor time of a round of all learners: the least of three medians of the last ones."""
    settings = sphere(points, features), kernel or eq.Linear(), eq.IDS()
    blueprint = Blueprint(*settings, confidence=eq.PaperConfidence())
    return min(statistics.median(_round_times(blueprint, learners, rounds)[-last:]) for _ in range(3))


def _round_times(blueprint: Blueprint, learners: int, rounds: int) -> list[float]:
    beliefs, coins, rng = blueprint.prior(learners), SharedCoins(np.random.default_rng(0)), np.random.default_rng(1)
    times = []
    for _ in range(rounds):
        noise = rng.standard_normal((learners, 2))
        start = time.process_time()
        duels = blueprint.propose(beliefs, coins)
        beliefs = blueprint.learn(beliefs, duels, noise)
        times.append(1e6 * (time.process_time() - start))
    return times


def _default_costs(dimension: int, marks: list[int]) -> list[float]:
    """Return microseconds of processor time of two asks and tells of the default after this many readings each.

    Averages over the fifth of the readings before each mark: what is learned is fitted again now and then.
    """
    optimizer, rng = eq.Optimizer(eq.Box([(0.0, 1.0)] * dimension), rng=0), np.random.default_rng(1)
    spent = []
    for t in range(max(marks)):
        noise = 0.1 * rng.standard_normal() + 0.01 * t
        start = time.process_time()
        trial = optimizer.ask()
        optimizer.tell(trial, noise - float(((trial.x - 0.3) ** 2).sum()))
        spent.append(2e6 * (time.process_time() - start))
    return [statistics.mean(spent[n - n // 5 : n]) for n in marks]


def _compiled_cost(learners: int, rounds: int = 100) -> float:
    """Return microseconds of processor time of a round and learner in compiled code."""
    duels = CompiledDuels.on(*unit_actions("cpu", learners), Drift())
    start = time.process_time()
    duels.play(rounds)
    return 1e6 * (time.process_time() - start) / (rounds * learners)


def sphere(points: int, dimension: int) -> FloatArray:
    X: FloatArray = np.random.default_rng(0).standard_normal((points, dimension))
    X /= np.linalg.norm(X, axis=1, keepdims=True)
    return X


def unit_actions(device: str, learners: int) -> tuple[Any, Any]:
    """Return actions and a parameter on the unit sphere for each learner."""
    if device == "cpu":
        rng = np.random.default_rng(0)
        drawn = rng.standard_normal((ACTIONS + 1, FEATURES, learners), dtype=np.float32)
        drawn /= np.sqrt((drawn * drawn).sum(axis=1, keepdims=True))
        return drawn[:-1], drawn[-1]
    import torch

    torch.manual_seed(0)
    tensor = torch.randn((ACTIONS + 1, FEATURES, learners), device=device)
    tensor /= tensor.norm(dim=1, keepdim=True)
    return tensor[:-1], tensor[-1]
