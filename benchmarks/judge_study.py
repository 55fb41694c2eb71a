"""Judgements in continuous spaces: final regret after 30 and 60 answers on scales of two, three and five steps.

A simulated judge feels f(first) - f(second) plus normal noise, and answers by thresholds; f is scaled so that its
standard deviation over the space is two noises of the judge. Regret is that of the recommended setting, in noises.

    python benchmarks/judge_study.py ours --seeds 8 --out ours.csv
    python benchmarks/judge_study.py botorch --seeds 4 --out botorch.csv    # qEUBO, PairwiseGP
    python benchmarks/judge_study.py table ours.csv botorch.csv
"""

import argparse
import csv
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

Array = Any
"""Numbers, of the shape that the text says."""
THRESHOLDS = {2: (), 3: (0.4,), 5: (0.4, 1.6)}
CHECKS = (30, 60)


def branin(x: Array) -> Array:
    a, b = 15 * x[..., 0] - 5, 15 * x[..., 1]
    return -((b - 5.1 / (4 * np.pi**2) * a**2 + 5 / np.pi * a - 6) ** 2) - 10 * (1 - 1 / (8 * np.pi)) * np.cos(a)


def camel(x: Array) -> Array:
    a, b = 4 * x[..., 0] - 2, 2 * x[..., 1] - 1
    return -(4 - 2.1 * a**2 + a**4 / 3) * a**2 - a * b - (4 * b**2 - 4) * b**2


def bump4(x: Array) -> Array:
    y: Array = np.exp(-4 * ((x - 0.35) ** 2).sum(axis=-1)) + 0.5 * np.exp(-6 * ((x - 0.8) ** 2).sum(axis=-1))
    return y


A6 = np.array(
    [[10, 3, 17, 3.5, 1.7, 8], [0.05, 10, 17, 0.1, 8, 14], [3, 3.5, 1.7, 10, 17, 8], [17, 8, 0.05, 10, 0.1, 14]]
)
P6 = 1e-4 * np.array(
    [
        [1312, 1696, 5569, 124, 8283, 5886],
        [2329, 4135, 8307, 3736, 1004, 9991],
        [2348, 1451, 3522, 2883, 3047, 6650],
        [4047, 8828, 8732, 5743, 1091, 381],
    ]
)


def hartmann6(x: Array) -> Array:
    inner = (A6 * (x[..., None, :] - P6) ** 2).sum(axis=-1)
    y: Array = np.exp(-inner) @ np.array([1.0, 1.2, 3.0, 3.2])
    return y


PROBLEMS: dict[str, tuple[Callable[[Array], Array], int]] = {
    "branin2": (branin, 2),
    "camel2": (camel, 2),
    "bump4": (bump4, 4),
    "hartmann6": (hartmann6, 6),
}


class Judge:
    """A judge of noise 1, and the regret of a setting."""

    def __init__(self, problem: str, steps: int, seed: int) -> None:
        function, self.dimension = PROBLEMS[problem]
        X = np.random.default_rng(0).random((20_000, self.dimension))
        values = function(X)
        self.scale = 2.0 / values.std()
        from scipy.optimize import minimize

        starts = X[np.argsort(-values)[:5]]
        bounds = [(0.0, 1.0)] * self.dimension
        self.top = max(-minimize(lambda x: -function(x), x, bounds=bounds).fun for x in starts)
        self.function, self.steps, self.rng = function, steps, np.random.default_rng(seed)

    def level(self, first: Array, second: Array) -> int:
        """The answer: how many steps from the middle, positive where the first is better."""
        z = self.scale * float(self.function(first) - self.function(second)) + self.rng.normal()
        if self.steps == 2:
            return 1 if z > 0 else -1
        return int(np.sign(z)) * sum(int(abs(z) > edge) for edge in THRESHOLDS[self.steps])

    def regret(self, x: Array) -> float:
        """By how much a setting is worse than the best."""
        return float(self.scale * (self.top - self.function(x)))


def ours(problem: str, steps: int, seed: int, policy: str) -> list[dict[str, Any]]:
    import equipoise as eq
    from equipoise.likelihoods import SCALES

    made: dict[str, Callable[[], Any]] = {
        "default": lambda: None,
        "challenger": lambda: eq.Challenger(scale=0.75),
        "challenger-1": lambda: eq.Challenger(scale=0.5),
        "thompson": eq.DoubleThompson,
        "maxmin": eq.policies.MaxMinLCB,
        "eubo": lambda: eq.policies.EUBO(),
    }
    judge = Judge(problem, steps, seed)
    opt = eq.Optimizer(eq.Box([(0, 1)] * judge.dimension), policy=made[policy](), rng=seed)
    spent, rows = 0.0, []
    words = SCALES[steps]
    for n in range(1, max(CHECKS) + 1):
        begun = time.process_time()
        pair = opt.ask_pair(steps=steps)
        spent += time.process_time() - begun
        level = judge.level(pair.first, pair.second)
        place = level + len(words) // 2 - (steps == 2 and level > 0)
        begun = time.process_time()
        opt.tell(pair, words[place])
        spent += time.process_time() - begun
        if n in CHECKS:
            rows.append(_row("ours " + policy, problem, steps, seed, n, judge.regret(opt.recommend().x), spent / n))
    return rows


def botorch(problem: str, steps: int, seed: int, policy: str) -> list[dict[str, Any]]:
    import torch
    from botorch.acquisition import PosteriorMean
    from botorch.acquisition.preference import qExpectedUtilityOfBestOption
    from botorch.fit import fit_gpytorch_mll
    from botorch.models.pairwise_gp import PairwiseGP, PairwiseLaplaceMarginalLogLikelihood
    from botorch.models.transforms.input import Normalize
    from botorch.optim import optimize_acqf

    torch.set_num_threads(1)
    torch.manual_seed(seed)
    judge, d = Judge(problem, 2, seed), PROBLEMS[problem][1]
    bounds = torch.tensor([[0.0] * d, [1.0] * d], dtype=torch.double)
    X, wins, spent, rows = torch.empty(0, d, dtype=torch.double), [], 0.0, []
    sobol = torch.quasirandom.SobolEngine(d, scramble=True, seed=seed)
    model = None
    for n in range(1, max(CHECKS) + 1):
        begun = time.process_time()
        if n <= 2 * d:
            pair = sobol.draw(2, dtype=torch.double)
        else:
            pair, _ = optimize_acqf(
                qExpectedUtilityOfBestOption(pref_model=model), bounds, q=2, num_restarts=4, raw_samples=128
            )
        spent += time.process_time() - begun
        level = judge.level(*pair.numpy())
        begun = time.process_time()
        k = len(X)
        X = torch.cat([X, pair])
        wins.append([k, k + 1] if level > 0 else [k + 1, k])
        if n >= 2 * d:
            model = PairwiseGP(X, torch.tensor(wins), input_transform=Normalize(d=d))
            fit_gpytorch_mll(PairwiseLaplaceMarginalLogLikelihood(model.likelihood, model))
        spent += time.process_time() - begun
        if n in CHECKS:
            assert model is not None
            best, _ = optimize_acqf(PosteriorMean(model), bounds, q=1, num_restarts=8, raw_samples=1024)
            best = best.squeeze(0)
            rows.append(_row("botorch qEUBO", problem, 2, seed, n, judge.regret(best.numpy()), spent / n))
    return rows


def _row(who: str, problem: str, steps: int, seed: int, n: int, regret: float, seconds: float) -> dict[str, Any]:
    return {"who": who, "problem": problem, "steps": steps, "seed": seed, "n": n, "regret": regret, "seconds": seconds}


def table(paths: list[Path]) -> None:
    """Print means and standard errors of the regret, and seconds of processor time an answer."""
    rows = [row for path in paths for row in csv.DictReader(path.open())]
    keys = sorted({(r["problem"], int(r["n"]), r["who"], int(r["steps"])) for r in rows})
    for problem, n, who, steps in keys:
        mine = [r for r in rows if (r["problem"], int(r["n"]), r["who"], int(r["steps"])) == (problem, n, who, steps)]
        y = np.array([float(r["regret"]) for r in mine])
        seconds = np.mean([float(r["seconds"]) for r in mine])
        print(
            f"{problem:10} n={n:3} {who:22} steps {steps}: {y.mean():.2f} ({y.std() / np.sqrt(len(y)):.2f}), "
            f"median {np.median(y):.2f}, {len(y)} seeds, {1e3 * seconds:.0f} ms"
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("what", choices=["ours", "botorch", "table"])
    parser.add_argument("files", nargs="*", type=Path)
    parser.add_argument("--problems", nargs="*", default=list(PROBLEMS))
    parser.add_argument("--policies", nargs="*", default=["default"])
    parser.add_argument("--steps", nargs="*", type=int, default=[2, 3, 5])
    parser.add_argument("--seeds", type=int, default=4)
    parser.add_argument("--first-seed", type=int, default=0)
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    if options.what == "table":
        table(options.files)
        return
    one = {"ours": ours, "botorch": botorch}[options.what]
    steps = options.steps if options.what == "ours" else [2]
    with options.out.open("a", newline="") as file:
        writer = csv.DictWriter(file, ["who", "problem", "steps", "seed", "n", "regret", "seconds"])
        if options.out.stat().st_size == 0:
            writer.writeheader()
        for seed in range(options.first_seed, options.first_seed + options.seeds):
            for problem in options.problems:
                for policy in options.policies:
                    for scale in steps:
                        writer.writerows(one(problem, scale, seed, policy))
                        file.flush()


if __name__ == "__main__":
    main()
