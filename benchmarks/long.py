"""Long studies: the cost of ten thousand readings, and the regret that folding the old ones adds.

    python benchmarks/long.py                                        # 10,000 readings each: about ten minutes
    python benchmarks/long.py --regret --seeds 8 --out out/long.csv  # folded beside exact, 2,000 readings: an hour
    python benchmarks/long.py --table out/long.csv
    python benchmarks/long.py --block 500                            # the same with a new block every 500 readings

Problems: camel2 and hartmann6 under periodic drift. Costs are CPU milliseconds of an ask and a tell, averaged over the
last fifth, one BLAS thread, beside those at 200 readings of the same run; the memory is that of the process at its
largest. The study is on disk, so that it can be resumed.
"""

import argparse
import os
import resource
import tempfile
import time
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np
from runs import Job, stored, sweep
from tqdm import tqdm

import equipoise as eq
from equipoise.belief import Form, LearnedModel
from equipoise.lab import environments as env
from study import PROBLEMS

MARKS = 500, 1000, 2000
FIELDS = ["belief", "problem", "readings", "seed", *(f"regret_{n}" for n in MARKS), "final_regret", "cpu_ms"]


def run(opt: eq.Optimizer, world: env.Environment, readings: int, block: int = 0) -> Iterator[tuple[float, float]]:
    """Yield the CPU seconds of each ask and tell, and the regret of the reading."""
    for t in range(readings):
        start = time.process_time()
        trial = opt.ask()
        asked = time.process_time() - start
        reading, regret = world.measure(trial.x), world.regret(trial.x)
        start = time.process_time()
        opt.tell(trial, reading, block=f"{t // block}" if block else None)
        yield asked + time.process_time() - start, regret


def world_of(problem: str, seed: int) -> env.Environment:
    make, noise = PROBLEMS[problem]
    return env.Environment(make(seed), env.PeriodicDrift(), noise, rng=seed)


def one(belief: str, problem: str, readings: int, seed: int, block: int = 0) -> dict[str, Any]:
    """Return the row of a run whose belief is folded, or exact."""
    world = world_of(problem, seed)
    space, law = eq.Box(np.asarray(world.function.bounds)), eq.Tracked()
    form = Form(space.extent, space.groups, law)
    model = LearnedModel(form, guard=law.guard)
    model = model if belief == "folded" else replace(model, folding=None)
    opt = eq.Optimizer(space, posterior=model, rng=seed + 10_000)
    spent, regret = np.array(list(run(opt, world, readings, block))).T
    figures = {f"regret_{n}": regret[:n].sum().round(3) if n <= readings else np.nan for n in MARKS}
    figures["final_regret"] = round(world.regret(opt.recommend().x), 5)
    figures["cpu_ms"] = round(1000 * spent[-readings // 5 :].mean(), 1)
    return {"belief": belief, "problem": problem, "readings": readings, "seed": seed} | figures


def cost(problem: str, readings: int, block: int) -> None:
    """Print what a long study costs."""
    world = world_of(problem, 0)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "study.jsonl"
        opt = eq.Optimizer(eq.Box(np.asarray(world.function.bounds)), rng=10_000, log=path)
        rounds = tqdm(run(opt, world, readings, block), total=readings, leave=False)
        spent = 1000 * np.array([seconds for seconds, _ in rounds])
        memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        start = time.process_time()
        eq.resume(path).ask()
        resumed, size = time.process_time() - start, path.stat().st_size / 2**20
    early, late = spent[160:200].mean(), spent[-(readings // 5) :].mean()
    print(
        f"| {problem} | {early:.1f} | {late:.1f} | {late / early:.1f} | {np.median(spent[-(readings // 5) :]):.1f} "
        f"| {memory:.0f} | {resumed:.1f} | {size:.1f} |",
        flush=True,
    )


def table(path: str) -> None:
    """Print mean and standard error of both beliefs, and of their difference seed by seed."""
    rows, columns = stored(path), FIELDS[4:]
    print("| problem, readings | belief | runs | " + " | ".join(columns) + " |\n|" + "---|" * (len(columns) + 3))
    for problem, readings in sorted({(row["problem"], row["readings"]) for row in rows}):
        found = {}
        for belief in ("exact", "folded"):
            name = belief, problem, readings
            chosen = {row["seed"]: row for row in rows if (row["belief"], row["problem"], row["readings"]) == name}
            found[belief] = {seed: np.array([float(row[c]) for c in columns]) for seed, row in chosen.items()}
            _line(f"{problem}, {readings}", belief, list(found[belief].values()))
        both = sorted(found["exact"].keys() & found["folded"].keys())
        apart = [found["folded"][seed] - found["exact"][seed] for seed in both]
        _line(f"{problem}, {readings}", "folded - exact", apart)


def _line(problem: str, belief: str, values: list[np.ndarray]) -> None:
    if values:
        mean, error = np.mean(values, axis=0), np.std(values, axis=0, ddof=1) / len(values) ** 0.5
        cells = " | ".join(f"{m:.3g} ± {e:.2g}" for m, e in zip(mean, error, strict=True))
        print(f"| {problem} | {belief} | {len(values)} | {cells} |")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--readings", type=int, default=10_000)
    parser.add_argument("--problems", default="camel2,hartmann6")
    parser.add_argument("--block", type=int, default=0, help="readings of a block; without any by default")
    parser.add_argument("--regret", action="store_true", help="compare the regret of both beliefs")
    parser.add_argument("--seeds", type=int, default=8)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--out", default="out/long.csv")
    parser.add_argument("--table", metavar="CSV", help="print the table of finished runs")
    args = parser.parse_args()
    problems = args.problems.split(",")
    if args.table is not None:
        table(args.table)
    elif args.regret:
        readings, seeds, beliefs = min(args.readings, MARKS[-1]), range(args.seeds), ("folded", "exact")
        jobs: list[Job] = [(b, p, readings, seed) for seed in seeds for p in problems for b in beliefs]
        sweep(args.out, FIELDS, jobs, partial(one, block=args.block), args.jobs)
        table(args.out)
    else:
        print("| problem | at 200, ms | late, ms | ratio | median | memory, MB | resume, s | log, MB |\n|" + "---|" * 8)
        for problem in problems:
            cost(problem, args.readings, args.block)


if __name__ == "__main__":
    main()
