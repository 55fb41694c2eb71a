"""Two models on the same items: how soon it is decided, and how often as McNemar's test on all items says.

    python benchmarks/items.py --runs 300 --seed 9000
    python benchmarks/items.py --runs 300 --seed 70000 --items 200 --looks 200 --same    a look after every item

Effects in logits: half of the pairs do not differ; of a third the second is worse, of the rest better, by an
exponential size with a mean of 0.5. Constants were chosen with seed 5000.
"""

import argparse
import os

os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np

from equipoise.lab.experiments.loops import IdeaWorld, items_read


def main() -> None:
    """Simulate, and print a table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=300)
    parser.add_argument("--seed", type=int, default=9000)
    parser.add_argument("--items", type=int, default=1000)
    parser.add_argument("--looks", type=int, default=20)
    parser.add_argument("--same", action="store_true", help="No two models differ.")
    options = parser.parse_args()
    effects = IdeaWorld(size=0.5, same=options.same).effects(np.random.default_rng(options.seed), options.runs)
    runs = [items_read(e, options.items, options.seed + i, options.looks) for i, e in enumerate(effects.tolist())]
    print("all items say,runs,agree,median share of items read")
    for full in ("better", "worse", "same", "any"):
        chosen = [run for run in runs if full in ("any", run.full)]
        agree = np.mean([run.standing == run.full for run in chosen]) if chosen else float("nan")
        share = np.median([run.share for run in chosen]) if chosen else float("nan")
        print(f"{full},{len(chosen)},{agree:.3f},{share:.3f}")
    nothing = [run.standing != "same" for run, effect in zip(runs, effects, strict=True) if effect == 0]
    print(f"called different of {len(nothing)} pairs that are not: {np.mean(nothing):.3f}")


if __name__ == "__main__":
    main()
