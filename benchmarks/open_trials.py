"""Many open trials: the cost of a further ask, and the settings that the workers get.

    python benchmarks/open_trials.py                                    # a minute
    python benchmarks/open_trials.py --duels 450 --seeds 6 --rest       # what is found in the end: half an hour
    python benchmarks/open_trials.py --anticipated 100000               # as if the number anticipated had no limit

A study tunes the camelback function, read with noise under a drifting offset. After some readings this many duels are
begun, each by its own worker, and none is told: two trials a duel are open. "ask" is the median CPU time of the
last asks in milliseconds, on one BLAS thread. "points" and "cells" count the different points of these duels, and the
cells of a 20 x 20 grid they lie in; "regret" is what one of their readings costs on average. With --rest all are told
in the end, and "found" is what the recommendation then costs.
"""

import os

os.environ.setdefault("OMP_NUM_THREADS", "1")

import argparse
import time
from collections.abc import Callable
from itertools import pairwise

import numpy as np

import equipoise as eq
from equipoise.lab import environments as env
from equipoise.study import state

GRID = 20
TIMED_ASKS = 15
STUDIES: dict[str, Callable[[eq.Box, int], eq.Optimizer]] = {
    "kernel given": lambda space, seed: eq.Optimizer(space, kernel=eq.Matern52(0.3), regularizer=0.05, rng=seed),
    "all learned": lambda space, seed: eq.Optimizer(space, rng=seed),
}


def crowd(opt: eq.Optimizer, world: env.Environment, duels: int, rest: bool) -> list[float]:
    """Begin this many duels at once; return the columns of the table."""
    moments, first = [], []
    for i in range(duels):
        moments.append(time.process_time())
        first.append(opt.ask(worker=str(i)))
    moments.append(time.process_time())
    ask = float(np.median([b - a for a, b in pairwise(moments[-TIMED_ASKS - 1 :])]))
    second = [opt.ask(worker=str(i)) for i in range(duels)]
    points = np.array([trial.x for trial in (*first, *second)])
    cells = np.floor([GRID * opt.space.encode(point) for point in points])
    regret = float(world.function.regret(points).mean())
    for trial in (each for pair in zip(first, second, strict=True) for each in pair) if rest else ():
        opt.tell(trial, world.measure(trial.x))
    found = world.regret(opt.recommend().x) if rest else np.nan
    return [1000 * ask, len(np.unique(points, axis=0)), len(np.unique(cells, axis=0)), regret, found]


def row(study: str, readings: int, duels: int, seeds: int, rest: bool) -> str:
    """Return a row of the table: means over the seeds."""
    outcomes = []
    for seed in range(seeds):
        world = env.Environment(env.camelback(), env.PeriodicDrift(), 0.1, rng=seed)
        bounds = world.function.bounds
        assert bounds is not None
        opt = STUDIES[study](eq.Box(bounds), seed)
        for _ in range(readings):
            trial = opt.ask()
            opt.tell(trial, world.measure(trial.x))
        outcomes.append(crowd(opt, world, duels, rest))
    ask, points, cells, regret, found = np.mean(outcomes, axis=0)
    return f"| {study} | {duels} | {ask:.0f} | {points:.0f} | {cells:.0f} | {regret:.3f} | {found:.4f} |"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--duels", type=int, nargs="+", default=[16, 96, 450])
    parser.add_argument("--readings", type=int, default=60)
    parser.add_argument("--seeds", type=int, default=1)
    parser.add_argument("--anticipated", type=int, default=state.MOST_ANTICIPATED)
    parser.add_argument("--rest", action="store_true")
    args = parser.parse_args()
    state.MOST_ANTICIPATED = args.anticipated
    print("| study | open duels | ask, ms | points | cells | regret | found |\n|---|---|---|---|---|---|---|")
    for study in STUDIES:
        for duels in args.duels:
            print(row(study, args.readings, duels, args.seeds, args.rest), flush=True)


if __name__ == "__main__":
    main()
