"""Processor time per round of the paper's learners, beside that of the authors' code.

A round of IDS-two is a pair of readings. Times are those of the whole loop: ask and tell through `Optimizer`, the
environment and the runner. The authors' figures were measured on a two-core machine; so compare ratios, roughly.

    python benchmarks/paper_cost.py [--repetitions 3]
"""

import argparse
import os

os.environ.setdefault("OMP_NUM_THREADS", "1")  # before NumPy is imported: one thread, as in a sweep
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

from equipoise.lab.experiments import Experiment
from equipoise.lab.experiments.reports import markdown

# function, bias, learner, readings, authors' milliseconds per round, how many times faster this should be
CASES = [
    ("linear", "none", "UCB", 10_000, 0.10, 1),
    ("linear", "none", "IDS-one", 10_000, 0.26, 1),
    ("linear", "none", "IDS-two", 10_000, 0.27, 1),
    ("linear", "none", "SemiTS", 3_000, 0.79, 2),
    ("linear", "none", "BOSE", 10_000, 18.0, 20),
    ("camelback-grid", "periodic", "UCB", 1_000, 69.0, 30),
    ("camelback-grid", "periodic", "IDS-one", 1_000, 41.0, 15),
    ("camelback-grid", "periodic", "IDS-two", 1_000, 31.0, 15),
]


def microseconds(function: str, bias: str, learner: str, readings: int, repetitions: int) -> float:
    """Return the least time per round over some repetitions."""
    plan = Experiment(learner, function, bias, readings).plan
    seconds = min(plan.run(repetition).cpu_seconds for repetition in range(repetitions))
    rounds = readings / (2 if learner == "IDS-two" else 1)
    return 1e6 * seconds / rounds


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repetitions", type=int, default=3, help="runs of each learner; the fastest counts")
    repetitions = parser.parse_args().repetitions
    rows = []
    for function, bias, learner, readings, milliseconds, target in CASES:
        own = microseconds(function, bias, learner, readings, repetitions)
        ratio = 1e3 * milliseconds / own
        verdict = "yes" if ratio >= target else "NO"
        cells = (f"{own:.0f}", f"{1e3 * milliseconds:.0f}", f"{ratio:.1f}", f"{target}", verdict)
        rows.append([function, learner, *cells])
    columns = ["function", "learner", "us/round", "authors' us/round", "times faster", "target", "reached"]
    print(markdown(columns, rows), end="")


if __name__ == "__main__":
    main()
