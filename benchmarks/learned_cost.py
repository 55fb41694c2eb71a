"""The cost of an ask and a tell if everything is learned, and its growth, beside Optuna's TPE in the same run.

    python benchmarks/learned_cost.py                    # to 200 readings
    python benchmarks/learned_cost.py --readings 2000    # how it grows: some minutes

CPU milliseconds per reading with refits amortized, one BLAS thread, drifting offset. "so far" averages over all
readings, "now" over the last fifth. "exponent" is the growth of "now" from one line to the next: 2 is quadratic.
"""

import argparse
import math
import os
import time
from collections.abc import Iterator

os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np
from tqdm import tqdm

from equipoise.lab import environments as env
from study import LEARNERS, PROBLEMS


def costs(learner: str, problem: str, readings: int) -> Iterator[float]:
    """Yield the CPU seconds of each ask and tell."""
    make, noise = PROBLEMS[problem]
    world = env.Environment(make(0), env.PeriodicDrift(), noise, rng=0)
    ask, tell, _ = LEARNERS[learner](world.function, 0)
    for _ in range(readings):
        start = time.process_time()
        x = ask()
        asked = time.process_time() - start
        y = world.measure(x)
        start = time.process_time()
        tell(x, y)
        yield asked + time.process_time() - start


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--readings", type=int, default=200)
    parser.add_argument("--learners", default="default,TPE")
    parser.add_argument("--problems", default="camel2,hartmann6")
    args = parser.parse_args()
    marks = [n for n in (50, 100, 200, 500, 1000, 2000) if n < args.readings] + [args.readings]
    print("| problem | learner | readings | so far, ms | now, ms | exponent |\n|---|---|---|---|---|---|")
    for problem in args.problems.split(","):
        for learner in args.learners.split(","):
            list(costs(learner, problem, 20))  # what is imported on first use
            spent = 1000 * np.array(
                list(tqdm(costs(learner, problem, args.readings), total=args.readings, leave=False))
            )
            last = None
            for n in marks:
                now = float(spent[n - n // 5 : n].mean())
                growth = "" if last is None else f"{math.log(now / last[1]) / math.log(n / last[0]):.1f}"
                print(f"| {problem} | {learner} | {n} | {spent[:n].mean():.1f} | {now:.1f} | {growth} |", flush=True)
                last = n, now


if __name__ == "__main__":
    main()
