"""Loops of experiments, simulated: greedy and the gate, by the seeds' share of the variance and by drift.

    python benchmarks/loops.py --loops 200 --seed 9000 --out out/loops.csv
    python benchmarks/loops.py --loops 100 --measurements 1000 --ideas 200 --share 0.8     a stream of 200 ideas
    python benchmarks/loops.py --loops 100 --measurements 1000 --ideas 200 --same          ideas that do nothing

Constants of the gate were chosen with seed 1000. The page reports seed 9000, which was looked at once before the rule
of betting was changed, and seed 31000, which never was.
"""

import argparse
import csv
import os
import sys

os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np

from equipoise.lab.experiments.loops import IdeaWorld, Loops, gated, greedy

COLUMNS: tuple[str, ...] = (
    "rule",
    "share",
    "drift",
    "measurements",
    "ideas",
    "gain",
    "gain_se",
    "excess",
    "excess_se",
    "kept",
)
COLUMNS += ("false_share", "false_share_se", "kept_of_ideas", "any_kept", "harmed")


def row(rule: str, world: IdeaWorld, measurements: int, found: Loops) -> dict[str, object]:
    """Return a row of the table: means and their standard errors."""
    root = np.sqrt(len(found.gain))
    excess, false = found.believed - found.gain, found.false / np.maximum(found.kept, 1)
    numbers = {"gain": found.gain.mean(), "gain_se": found.gain.std() / root, "excess": excess.mean()}
    numbers |= {"excess_se": excess.std() / root, "kept": found.kept.mean(), "false_share": false.mean()}
    numbers |= {"false_share_se": false.std() / root, "kept_of_ideas": found.kept.sum() / found.ideas.sum()}
    numbers |= {"any_kept": (found.kept > 0).mean(), "harmed": (found.gain < 0).mean(), "ideas": found.ideas.mean()}
    known = {"rule": rule, "share": world.share, "drift": world.drift, "measurements": measurements}
    return known | {name: round(float(number), 4) for name, number in numbers.items()}


def main() -> None:
    """Simulate, and print a table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--loops", type=int, default=200)
    parser.add_argument("--seed", type=int, default=9000)
    parser.add_argument("--measurements", type=int, nargs="+", default=[100])
    parser.add_argument("--ideas", type=int, default=10**9)
    parser.add_argument("--share", type=float, nargs="+", default=[0.0, 0.5, 0.8])
    parser.add_argument("--drift", type=float, nargs="+", default=[0.0, 0.1])
    parser.add_argument("--same", action="store_true", help="All ideas do nothing.")
    parser.add_argument("--out", help="A CSV file; standard output by default.")
    options = parser.parse_args()
    file = open(options.out, "w", newline="") if options.out else sys.stdout  # noqa: SIM115
    writer = csv.DictWriter(file, COLUMNS)
    writer.writeheader()
    for measurements in options.measurements:
        for drift in options.drift:
            for share in options.share:
                world = IdeaWorld(share, drift, same=options.same)
                for rule, found in (
                    ("greedy", greedy(world, measurements, max(2000, options.loops), options.seed)),
                    ("gate", gated(world, measurements, options.loops, options.seed, options.ideas)),
                ):
                    writer.writerow(row(rule, world, measurements, found))
                    file.flush()


if __name__ == "__main__":
    main()
