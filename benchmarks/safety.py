"""How often is a `drop` exceeded on functions that are not smooth?

    python benchmarks/safety.py --seeds 8 --readings 40

Two knobs, a drop of 0.5, a drifting offset: a smooth hill, the same hill with a cliff of eight drops beyond the start,
and with a comb whose teeth are four drops high and stand at a tenth of the range. Printed for each: how many readings
were below the limit, how often a study warned, and the mean gain over the start.
"""

import argparse
import os
import warnings
from collections.abc import Callable, Mapping

os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np

import equipoise as eq
from equipoise.study import DropExceeded

START, DROP = {"a": 0.3, "b": 0.5}, 0.5


def hill(x: Mapping[str, float]) -> float:
    return float(3 * np.exp(-6 * (x["a"] - 0.7) ** 2 - 4 * (x["b"] - 0.5) ** 2))


def cliff(x: Mapping[str, float]) -> float:
    return hill(x) - 4.0 * (x["a"] > 0.55)


def comb(x: Mapping[str, float]) -> float:
    return hill(x) + float(np.cos(60 * x["a"])) - 1.0


def study(f: Callable[[Mapping[str, float]], float], seed: int, readings: int) -> tuple[int, int, float]:
    """Return how many readings were below the limit, how many warnings there were, and what was gained."""
    rng, offset, below, warned = np.random.default_rng(seed), 0.0, 0, 0
    opt = eq.Optimizer(eq.Space(a=eq.Float(0, 1), b=eq.Float(0, 1)), start=START, drop=DROP, rng=seed)
    for _ in range(readings):
        trial = opt.ask()
        offset += 0.1 * rng.normal()
        below += f(START) - f(trial.x) > DROP
        with warnings.catch_warnings(record=True) as said:
            warnings.simplefilter("always")
            opt.tell(trial, f(trial.x) + offset + 0.05 * rng.normal())
        warned += sum(isinstance(note.message, DropExceeded) for note in said)
    return below, warned, f(opt.recommend().x) - f(START)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=8)
    parser.add_argument("--readings", type=int, default=40)
    given = parser.parse_args()
    print("| function | below the limit | warnings | gain |\n|---|---|---|---|")
    for f in (hill, cliff, comb):
        runs = np.array([study(f, seed, given.readings) for seed in range(given.seeds)])
        below, warned, gain = runs.sum(axis=0)
        total = given.seeds * given.readings
        print(f"| {f.__name__} | {below:.0f} of {total} | {warned:.0f} | {gain / given.seeds:.2f} |")
