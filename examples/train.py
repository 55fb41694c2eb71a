"""Tune a simulation whose result depends more on the seed than on the settings.

A store orders `gap` pieces whenever its stock is below `point`; they arrive three days later. A seed is half a year of
customers. Three searches have the same number of simulations:

- luckiest: random settings, one seed each; the best profit wins;
- three seeds: random settings, the mean of three seeds each; the best mean wins;
- duels: the study asks for a setting and a seed, and compares settings under the same seed.

Each winner is then simulated under 50 fresh seeds, which give its true value. Training a model works in the same way:
see docs/train.md.

    python examples/train.py                       # about half a minute on one core
    python examples/train.py --runs 24 --seeds 1   # a quick look
"""

import argparse
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

import equipoise as eq

SPACE = eq.Space(point=eq.Float(5, 100), gap=eq.Float(5, 150))
FRESH = range(10_000, 10_050)
DAYS = 180


def profit(x: Mapping[str, Any], seed: int) -> float:
    """Return the profit a day: sales, less storage, less a fee for each order."""
    rng = np.random.default_rng(seed)
    season = rng.gamma(4.0, 2.5)  # customers a day, in this half year: all settings gain or lose by it
    stock, earned, due = 30.0, 0.0, [0.0] * 3
    for wanted in rng.poisson(rng.gamma(4.0, season / 4.0, DAYS)).tolist():
        stock += due.pop(0)
        sold = min(stock, wanted)
        stock -= sold
        order = x["gap"] if stock + sum(due) < x["point"] else 0.0
        due.append(order)
        earned += 2.0 * sold - 0.05 * stock - 5.0 * (order > 0)
    return float(earned / DAYS)


def by_means(runs: int, seed: int, of: int) -> tuple[Mapping[str, Any], float]:
    """Return the best of random settings by the mean of some seeds each, and that mean."""
    points = SPACE.candidates(np.random.default_rng(seed))[: runs // of]
    settings = [SPACE.decode(point) for point in points]
    means = [float(np.mean([profit(x, of * k + i) for i in range(of)])) for k, x in enumerate(settings)]
    best = int(np.argmax(means))
    return settings[best], means[best]


def main(arguments: Sequence[str] | None = None) -> None:
    """Print the profit that each search promises, and the true one."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=60, help="simulations of each search")
    parser.add_argument("--seeds", type=int, default=10, help="how often each search is made")
    given = parser.parse_args(arguments)
    found: dict[str, list[tuple[Mapping[str, Any], float]]] = {"luckiest": [], "three seeds": [], "duels": []}
    for seed in range(given.seeds):
        found["luckiest"].append(by_means(given.runs, seed, 1))
        found["three seeds"].append(by_means(given.runs, seed, 3))
        study = eq.Optimizer(SPACE, seeds=True, rng=seed)
        found["duels"].append((study.run(profit, readings=given.runs).x, np.nan))
    print(f"profit a day, mean of {given.seeds} searches of {given.runs} simulations")
    for name, winners in found.items():
        worth = [np.mean([profit(x, seed) for seed in FRESH]) for x, _ in winners]
        believed = np.mean([value for _, value in winners])
        claim = "" if np.isnan(believed) else f"   believed {believed:6.2f}"
        print(f"{name:12} on 50 fresh seeds {np.mean(worth):6.2f} ± {np.std(worth) / len(worth) ** 0.5:.2f}{claim}")


if __name__ == "__main__":
    main()
