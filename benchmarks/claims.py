"""Do the claims hold? Estimate, audit and verification, on functions that no rule was chosen on.

    python benchmarks/claims.py --seeds 7 --out out/claims.csv
    python benchmarks/claims.py --table out/claims.csv --figure docs/images/claims.png

A run has 100 readings of the default, an audit of 24 duels and a verification of 24 duels: 196 readings. A row says, in
units of the function's range, the true regret of what was recommended and the bound that was claimed: by estimate at 60
and 100 readings, by the rule of version 0.1.0 (mean and two standard deviations, point by point) at 100, by audit at
148. `verified` says whether the intervals of the leader against the start and two runners-up held at each of the 24
times of looking, all three at once; `against_start` whether the estimated interval at 100 readings did. Runs already in
the file are not repeated.
"""

import argparse
import os
from functools import partial
from typing import Any

os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np
from runs import Job, stored, sweep
from wide import BIASES, Problem, Scaled, draw, height, moved, plain

import equipoise as eq
from equipoise._typing import FloatArray
from equipoise.answer.sequential import paired
from equipoise.answer.verification import ALPHA
from equipoise.lab import environments as env
from equipoise.policies import candidates, optimism

EARLY, READINGS, DUELS = 60, 100, 24
OFFSETS = ("none", "drift", "walk", "periodic", "jumps", "calibration", "pairs-10", "blocks-6")

PROBLEMS: dict[str, Problem] = {
    "gp2-matern": Problem(plain(partial(draw, 2, 2.5)), 0.22, 1.0, 2),
    "levy2": Problem(plain(lambda seed: moved(env.levy(2), 0.05, 4.0, seed)), 0.22, 1.0, 2),
    "gp3-rbf": Problem(plain(partial(draw, 3, None)), 0.22, 1.0, 3),
    "hartmann3": Problem(plain(lambda seed: env.hartmann3()), 0.2, 1.0, 3),
    "styblinski3": Problem(plain(lambda seed: moved(env.styblinski_tang(3), 5 / 493, 0.0, seed)), 0.22, 1.0, 3),
    "gp4-matern": Problem(plain(partial(draw, 4, 2.5)), 0.22, 1.0, 4),
    "additive4": Problem(plain(lambda seed: env.additive(4, rng=seed)), 0.22, 1.0, 4),
    "rosenbrock4": Problem(plain(lambda seed: moved(env.rosenbrock(4), 5e-4, 0.5, seed, 2.0)), 0.22, 1.0, 4),
}
FIRST_SEED = 30_000
FIELDS = ["problem", "bias", "seed"]
CLAIMS = ["estimate_60", "estimate_100", "old_100", "audited_148"]
FIELDS += [f"{what}_{name}" for name in CLAIMS for what in ("true", "bound")]
FIELDS += ["verified", "verified_width", "against_start"]


class Run:
    """One study, and what is true of it."""

    def __init__(self, problem: str, bias: str, seed: int) -> None:
        family = PROBLEMS[problem]
        self.world = family.make(seed)
        offsets = Scaled(BIASES[bias], family.unit)
        self.nature = env.Environment(self.world.function, offsets, family.noise, rng=seed)
        self.opt = eq.Optimizer(self.world.space, rng=seed + 10_000)
        self.unit = height(self.world.function)

    def measure(self, readings: int) -> None:
        """Ask and tell."""
        for _ in range(readings):
            trial = self.opt.ask()
            self.opt.tell(trial, self.nature.measure(self.world.array(trial.x)))

    def f(self, x: Any) -> float:
        """Return the true value at a point."""
        return float(self.world.function(self.world.array(x)[None])[0])

    def claim(self, name: str) -> dict[str, float]:
        """Return the true regret of the recommendation and the bound on it over all settings."""
        best = self.opt.recommend()
        regret = self.nature.regret(self.world.array(best.x))
        return {f"true_{name}": regret / self.unit, f"bound_{name}": best.overall.bound / self.unit}

    def old(self) -> dict[str, float]:
        """Return the same by the rule of version 0.1.0."""
        opt, rng = self.opt, np.random.default_rng(0)
        belief = opt.posterior.at(candidates(opt.space, opt.posterior, (optimism,), rng))
        leader = belief.leader(rng)
        regret = self.nature.regret(self.world.array(opt.space.decode(belief.points[leader])))
        return {"true_old_100": regret / self.unit, "bound_old_100": belief.gap_bound(leader) / self.unit}

    def against_start(self) -> bool:
        """Return whether the interval of the difference to the start holds."""
        best, start = self.opt.recommend(), self.opt.records()[0].x
        found = best.against_start
        assert found is not None
        return found.low <= self.f(best.x) - self.f(start) <= found.high

    def verified(self) -> dict[str, float]:
        """Return whether all intervals held at all times of looking, and how wide the last one of the start is."""
        plan = self.opt.verify(DUELS)
        assert plan.points is not None
        leader, *rivals = (self.opt.space.decode(point) for point in plan.points)
        before = len(self.opt.records())
        self.measure(2 * DUELS)
        pairs: dict[int, dict[str, float]] = {}
        for record in self.opt.records()[before:]:
            assert record.value is not None
            pairs.setdefault(record.duel, {})[str(record.x)] = record.value
        held, width = True, 0.0
        for rival in reversed(rivals):
            known = [pair for pair in pairs.values() if str(rival) in pair and len(pair) == 2]
            found = [pair[str(leader)] - pair[str(rival)] for pair in known]
            looks = [paired(found[: n + 1], ALPHA / len(rivals)) for n in range(len(found))]
            held &= all(self.f(leader) - self.f(rival) in look for look in looks)
            width = looks[-1].width
        return {"verified": float(held), "verified_width": width / self.unit}


def one(problem: str, bias: str, seed: int) -> dict[str, Any]:
    """Return a row of the table."""
    run = Run(problem, bias, seed)
    run.measure(EARLY)
    row: dict[str, Any] = {"problem": problem, "bias": bias, "seed": seed} | run.claim("estimate_60")
    run.measure(READINGS - EARLY)
    row |= run.claim("estimate_100") | run.old() | {"against_start": float(run.against_start())}
    run.opt.audit(DUELS)
    run.measure(2 * DUELS)
    return row | run.claim("audited_148") | run.verified()


def column(rows: list[dict[str, str]], name: str) -> FloatArray:
    return np.array([float(row[name]) for row in rows])


def held(rows: list[dict[str, str]], name: str) -> FloatArray:
    """Return which claims held; those of no finite bound, which claim nothing, are left out."""
    bound, true = column(rows, f"bound_{name}"), column(rows, f"true_{name}")
    return (true <= bound)[np.isfinite(bound)].astype(np.float64)


def share(found: FloatArray) -> str:
    return f"{100 * found.mean():.0f}" if len(found) else "-"


def line(title: str, rows: list[dict[str, str]]) -> str:
    cells = [share(held(rows, name)) for name in ("old_100", "estimate_60", "estimate_100", "audited_148")]
    cells += [share(column(rows, name)) for name in ("verified", "against_start")]
    for name in ("old_100", "estimate_100", "audited_148"):
        bound, true = column(rows, f"bound_{name}"), column(rows, f"true_{name}")
        cells.append(f"{np.median(bound) / np.median(true):.1f}")
    return f"| {title} | {len(rows)} | " + " | ".join(cells) + " |"


def table(path: str) -> None:
    """Print how often each claim held, in percent, and how wide it was: median bound over median regret."""
    rows = stored(path)
    print("| | runs | 0.1.0 | estimate at 60 | at 100 | audited | verified | start | width 0.1.0 | at 100 | audited |")
    print("|---|" + "---|" * 10)
    groups = {bias: [row for row in rows if row["bias"] == bias] for bias in OFFSETS}
    groups |= {problem: [row for row in rows if row["problem"] == problem] for problem in PROBLEMS}
    for title, group in (groups | {"all": rows}).items():
        if group:
            print(line(title, group))
    known = np.isfinite(column(rows, "bound_estimate_60"))
    print(f"\nFinite bound at {EARLY} readings: {share(known)} % of runs.")
    print(f"Verified interval of the start: {np.median(column(rows, 'verified_width')):.2f} of the range wide, median.")


def figure(path: str, out: str) -> None:
    """Draw bound against true regret, a point a run, for each kind of claim."""
    from matplotlib import pyplot as plt

    rows = stored(path)
    names = {"old_100": "0.1.0: 2 sd, point by point", "estimate_100": "estimate", "audited_148": "audited"}
    fig, axes = plt.subplots(1, 3, figsize=(11, 4.1), sharex=True, sharey=True, layout="constrained")
    for ax, (name, title) in zip(axes, names.items(), strict=True):
        true, bound = column(rows, f"true_{name}"), column(rows, f"bound_{name}")
        kept = np.isfinite(bound)
        true, bound = np.maximum(true[kept], 1e-4), np.maximum(bound[kept], 1e-3)
        right = true <= bound
        ax.plot(true[right], bound[right], "o", color="#0072B2", markersize=3, alpha=0.5, label="held")
        ax.plot(true[~right], bound[~right], "x", color="#D55E00", markersize=5, label="did not hold")
        ax.plot([1e-4, 1], [1e-4, 1], color="black", linewidth=0.8)
        ax.set(xscale="log", yscale="log", xlabel="true regret / range", xlim=(7e-5, 1), ylim=(1e-3, 1))
        ax.set_title(f"{title}: {100 * right.mean():.0f} % of {len(right)} held", fontsize="medium")
    axes[0].set_ylabel("bound claimed / range")
    axes[0].legend(frameon=False, loc="lower right")
    fig.savefig(out, dpi=150)


def chosen(names: str, known: Any) -> list[str]:
    wanted = names.split(",") if names else list(known)
    unknown = set(wanted) - set(known)
    if unknown:
        raise SystemExit(f"{', '.join(unknown)}: must be some of {', '.join(known)}")
    return wanted


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--problems", default="", help="all by default: " + ", ".join(PROBLEMS))
    parser.add_argument("--biases", default="", help="all by default: " + ", ".join(OFFSETS))
    parser.add_argument("--seeds", type=int, default=7)
    parser.add_argument("--first", type=int, default=FIRST_SEED, help="first seed")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--out", default="out/claims.csv")
    parser.add_argument("--table", metavar="CSV", help="print the table of finished runs")
    parser.add_argument("--figure", metavar="PNG", help="draw the picture too")
    args = parser.parse_args()
    if args.table is None:
        seeds = range(args.first, args.first + args.seeds)
        problems, biases = chosen(args.problems, PROBLEMS), chosen(args.biases, OFFSETS)
        jobs: list[Job] = [(p, b, seed) for seed in seeds for p in problems for b in biases]
        sweep(args.out, FIELDS, jobs, one, args.jobs)
    table(args.table or args.out)
    if args.figure:
        figure(args.table or args.out, args.figure)


if __name__ == "__main__":
    main()
