"""The value of prior knowledge: earlier readings, and a limit below the start.

    python benchmarks/world.py --what history --seeds 6 --jobs 2 --out out/history.csv
    python benchmarks/world.py --what limits --seeds 3 --jobs 2 --out out/limits.csv
    python benchmarks/world.py --table out/history.csv out/limits.csv

History: 100 earlier readings, taken by our own default under another drift, 50 away, then 100 new ones: the regret of
these without the earlier ones ("new"), with them ("history"), and with 100 of another function ("other": its first
coordinate seen in a mirror).

Limits: starts at 60 % of the height, a drop of 15 % of it, 100 readings: how many readings lie below the limit, by how
much the worst one does in drops, and what is gained over the start in heights; without a limit ("free"), with one
("drop"), and with the same rule on the readings as they are ("absolute"), which drift fools.
"""

import argparse
import os
import warnings
from collections import defaultdict
from collections.abc import Callable
from typing import Any

os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np
from runs import Job, stored, sweep
from wide import BIASES, PROBLEMS, Scaled, World

import equipoise as eq
from equipoise._typing import FloatArray
from equipoise.lab import environments as env

READINGS = 100
FIELDS = ["variant", "problem", "bias", "seed", "regret", "final", "below", "worst", "gain"]
HISTORY, LIMITS = ("new", "history", "other"), ("free", "drop", "absolute")
CHOSEN_ON, SEED = ("camel2", "hartmann3"), 500
"""Constants of the limits were chosen on these functions, seeds 0 and 1; the table is of others and of later seeds."""


def mirrored(function: env.Function) -> Callable[[FloatArray], float]:
    """Return a function of a box with its first coordinate seen in a mirror."""
    low, high = np.asarray(function.bounds)[0]
    return lambda x: float(function(np.concatenate(([low + high - x[0]], x[1:]))))


def earlier(world: World, of: Callable[[FloatArray], float], noise: float, unit: float, seed: int) -> Any:
    """Return 100 readings of a study that was made before, under its own drift: points and values."""
    rng = np.random.default_rng(seed + 1)
    opt = eq.Optimizer(world.space, rng=seed + 1)
    for t in range(READINGS):
        trial = opt.ask()
        drift = unit * (50.0 + 0.03 * t + np.sin(t / 9))
        opt.tell(trial, of(world.array(trial.x)) + drift + noise * rng.normal())
    return [(record.x, record.value) for record in opt.records() if record.value is not None]


def with_history(variant: str, problem: str, bias: str, seed: int) -> dict[str, Any]:
    family = PROBLEMS[problem]
    world = family.make(seed)
    nature = env.Environment(world.function, Scaled(BIASES[bias], family.unit), family.noise, rng=seed)
    opt = eq.Optimizer(world.space, rng=seed + 2)
    if variant != "new":
        of = mirrored(world.function) if variant == "other" else lambda x: float(world.function(x))
        for x, value in earlier(world, of, family.noise, family.unit, seed):
            opt.add(x, value, block="earlier")
    regret = 0.0
    for _ in range(READINGS):
        trial = opt.ask()
        regret += nature.regret(world.array(trial.x))
        opt.tell(trial, nature.measure(world.array(trial.x)))
    final = nature.regret(world.array(opt.recommend().x))
    learned = opt.study.belief.learned
    assert learned is not None
    return {"regret": regret, "final": final, "below": int("earlier" in learned.strangers)}


def standing_at(world: World, seed: int) -> tuple[FloatArray, float]:
    """Return a setting at 60 % of the height, the height counted from the lowest fiftieth, and that height."""
    low, high = np.asarray(world.function.bounds).T
    points = low + (high - low) * np.random.default_rng(seed).random((4000, len(low)))
    values = np.asarray(world.function(points))
    least = float(np.quantile(values, 0.02))
    span = world.function.maximum - least
    return points[int(np.abs(values - least - 0.6 * span).argmin())], span


def with_limits(variant: str, problem: str, bias: str, seed: int) -> dict[str, Any]:
    family = PROBLEMS[problem]
    world = family.make(seed)
    nature = env.Environment(world.function, Scaled(BIASES[bias], family.unit), family.noise, rng=seed)
    start, span = standing_at(world, seed)
    drop, f0 = 0.15 * span, float(world.function(start))
    rule: dict[str, Any] = {} if variant == "free" else {"drop": drop}
    rule |= {"offset": eq.Constant()} if variant == "absolute" else {}
    opt = eq.Optimizer(world.space, start=start, rng=seed + 2, **rule)
    short = []
    for _ in range(READINGS):
        trial = opt.ask()
        short.append((f0 - float(world.function(trial.x))) / drop)
        opt.tell(trial, nature.measure(trial.x))
    gain = (float(world.function(opt.recommend().x)) - f0) / span
    return {"below": sum(each > 1 for each in short), "worst": max(short), "gain": gain}


def one(variant: str, problem: str, bias: str, seed: int) -> dict[str, Any]:
    warnings.simplefilter("ignore")
    found = (with_history if variant in HISTORY else with_limits)(variant, problem, bias, seed)
    return {"variant": variant, "problem": problem, "bias": bias, "seed": seed} | found


def table(path: str) -> None:
    """Print a row for each variant: means and their standard errors over all runs."""
    groups: dict[tuple[str, str], list[dict[str, str]]] = defaultdict(list)
    for row in stored(path):
        groups[row["variant"], row["problem"] if row["variant"] in HISTORY else row["bias"]].append(row)
    print("| variant | on | runs | regret | final | below, or forgotten | worst | gain |")
    print("|---|---|---|---|---|---|---|---|")
    for (variant, on), rows in sorted(groups.items()):
        cells = [_mean(rows, name) for name in FIELDS[4:]]
        print(f"| {variant} | {on} | {len(rows)} | " + " | ".join(cells) + " |")


def _mean(rows: list[dict[str, str]], name: str) -> str:
    values = np.array([float(row[name]) for row in rows if row[name]])
    if not len(values):
        return ""
    error = values.std(ddof=1) / len(values) ** 0.5 if len(values) > 1 else 0.0
    return f"{values.mean():.3g} ± {error:.2g}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--what", choices=["history", "limits"], default="history")
    parser.add_argument("--problems", default="")
    parser.add_argument("--biases", default="")
    parser.add_argument("--seeds", type=int, default=4)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--out", default="out/world.csv")
    parser.add_argument("--table", nargs="*")
    args = parser.parse_args()
    if args.table is None:
        history = args.what == "history"
        problems = args.problems or ("camel2,hartmann6" if history else "gp2-matern,branin,gp3-rbf,levy4,hartmann6")
        biases = args.biases or ("drift" if history else "none,drift,periodic,jumps,walk,calibration,blocks-6")
        jobs: list[Job] = [
            (variant, problem, bias, SEED + seed)
            for seed in range(args.seeds)
            for problem in problems.split(",")
            for bias in biases.split(",")
            for variant in (HISTORY if history else LIMITS)
        ]
        sweep(args.out, FIELDS, jobs, one, args.jobs)
    for path in args.table or [args.out]:
        table(path)


if __name__ == "__main__":
    main()
