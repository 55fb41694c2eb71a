"""Which configuration should be the default? Ours and the peers, on problems with offsets.

    python benchmarks/study.py --learners default,TPE,CMA,random --seeds 20 --jobs 2 --out out/study.csv
    python benchmarks/study.py --table out/study.csv

Problems: camel2 (continuous, noise variance 0.1), hartmann6 (0.05), lin4 (20 actions in R^4, 1), branin (100), beam
(the beam line, 0.0025). 200 readings each. A row per run: cumulative regret at 50, 100 and 200 readings, true regret of
the final recommendation, CPU milliseconds per reading. Runs already in the file are not repeated. Peers are optional:
`pip install optuna cma`, and `pip install botorch` for BoTorch.
"""

import argparse
import importlib.util
import os
import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from typing import Any

os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np
from runs import Job, stored, sweep

import equipoise as eq
from equipoise._typing import FloatArray
from equipoise.lab import environments as env

READINGS = 200
FIELDS = ["learner", "problem", "bias", "seed", "regret_50", "regret_100", "regret_200", "final_regret", "cpu_ms"]

PROBLEMS: dict[str, tuple[Callable[[int], env.Function], float]] = {
    "camel2": (lambda seed: env.camelback(), 0.1**0.5),
    "hartmann6": (lambda seed: env.hartmann6(), 0.05**0.5),
    "lin4": (lambda seed: env.linear(rng=seed), 1.0),
    "branin": (lambda seed: env.branin(), 10.0),
    "beam": (lambda seed: env.beam_line(), 0.05),
}
UNIT = {"branin": 50.0, "beam": 0.3}
"""The offsets of the other problems are of the size of their signal; these are scaled to be so too."""

BIASES: dict[str, Callable[[], env.Bias]] = {
    "none": env.NoBias,
    "drift": env.Drift,
    "periodic": env.PeriodicDrift,
    "calibration": env.Calibration,
    "jumps": lambda: env.Jumps(rate=0.05, scale=2.0),
    "negative-repeat": env.NegativeRepeat,
    "printed-repeat": lambda: env.NegativeRepeat(of="reading"),
    "adversary": env.Adversary,
}

Ask = Callable[[], FloatArray]
Tell = Callable[[FloatArray, float], object]
Best = Callable[[], FloatArray]
Learner = tuple[Ask, Tell, Best]


def space_of(function: env.Function) -> eq.spaces.Domain:
    return eq.Box(function.bounds) if function.bounds is not None else eq.Finite(np.asarray(function.points))


def ours(**parts: Any) -> Callable[[env.Function, int], Learner]:
    def make(function: env.Function, seed: int) -> Learner:
        opt = eq.Optimizer(space_of(function), rng=seed + 10_000, **parts)
        open_trials: list[eq.Trial] = []

        def ask() -> FloatArray:
            open_trials.append(opt.ask())
            return np.asarray(open_trials[-1].x)

        return ask, lambda x, y: opt.tell(open_trials.pop(), y), lambda: np.asarray(opt.recommend().x)

    return make


def tpe(function: env.Function, seed: int) -> Learner:
    import optuna

    optuna.logging.set_verbosity(optuna.logging.ERROR)
    study = optuna.create_study(direction="maximize", sampler=optuna.samplers.TPESampler(seed=seed))
    current: list[Any] = []

    def point(params: dict[str, Any]) -> FloatArray:
        if function.points is not None:
            return np.asarray(function.points[params["i"]])
        return np.array([params[str(j)] for j in range(function.dimension)])

    def ask() -> FloatArray:
        trial = study.ask()
        current.append(trial)
        if function.points is not None:
            trial.suggest_categorical("i", list(range(len(function.points))))
        else:
            for j, (low, high) in enumerate(np.asarray(function.bounds)):
                trial.suggest_float(str(j), low, high)
        return point(trial.params)

    def tell(x: FloatArray, y: float) -> None:
        study.tell(current.pop(), y)

    return ask, tell, lambda: point(study.best_params)


def cmaes(function: env.Function, seed: int) -> Learner:
    import cma

    bounds = np.asarray(function.bounds)
    low, width = bounds[:, 0], bounds[:, 1] - bounds[:, 0]
    options = {"bounds": [0, 1], "seed": seed + 1, "verbose": -9}
    es = cma.CMAEvolutionStrategy(np.full(len(low), 0.5), 0.3, options)
    queue: list[FloatArray] = []
    done: list[tuple[FloatArray, float]] = []

    def ask() -> FloatArray:
        if not queue:
            queue.extend(np.asarray(x) for x in es.ask())
        return np.asarray(low + width * queue[0])

    def tell(x: FloatArray, y: float) -> None:
        done.append((queue.pop(0), -y))
        if not queue:
            es.tell([x for x, _ in done], [y for _, y in done])
            done.clear()

    return ask, tell, lambda: np.asarray(low + width * np.clip(es.result.xfavorite, 0, 1))


def botorch(reference: bool) -> Callable[[env.Function, int], Learner]:
    """BoTorch's UCB on raw readings, or on differences to a reference point measured every other time."""

    def make(function: env.Function, seed: int) -> Learner:
        import torch
        from botorch.acquisition import UpperConfidenceBound
        from botorch.fit import fit_gpytorch_mll
        from botorch.models import SingleTaskGP
        from botorch.optim import optimize_acqf
        from gpytorch.mlls import ExactMarginalLogLikelihood

        torch.set_num_threads(1)
        torch.manual_seed(seed)
        rng = np.random.default_rng(seed)
        bounds = np.asarray(function.bounds)
        low, width = bounds[:, 0], bounds[:, 1] - bounds[:, 0]
        X: list[FloatArray] = []
        Y: list[float] = []
        readings: list[float] = []
        unit = torch.tensor(np.array([np.zeros(len(low)), np.ones(len(low))]))
        anchor = np.full(len(low), 0.5)

        def model() -> Any:
            x, y = torch.tensor(np.array(X)), torch.tensor(np.array(Y))[:, None]
            gp = SingleTaskGP(x, (y - y.mean()) / y.std().clamp_min(1e-9))
            fit_gpytorch_mll(ExactMarginalLogLikelihood(gp.likelihood, gp))
            return gp

        def ask() -> FloatArray:
            if reference and len(readings) % 2 == 0:
                u = anchor
            elif len(X) < 2 * len(low) + 2:
                u = rng.random(len(low))
            else:
                acquisition = UpperConfidenceBound(model(), beta=4.0)
                best, _ = optimize_acqf(acquisition, unit, q=1, num_restarts=4, raw_samples=64)
                u = best.numpy()[0]
            return np.asarray(low + width * u)

        def tell(x: FloatArray, y: float) -> None:
            readings.append(y)
            if not reference or len(readings) % 2 == 0:
                X.append((x - low) / width)
                Y.append(y - readings[-2] if reference else y)

        def best() -> FloatArray:
            x = torch.tensor(np.array(X))
            return np.asarray(low + width * X[int(model().posterior(x).mean.argmax())])

        return ask, tell, best

    return make


LEARNERS: dict[str, Callable[[env.Function, int], Learner]] = {
    "default": ours(),
    "challenger-climb": ours(policy=eq.Challenger(climb=True)),
    "IDS": ours(policy=eq.IDS()),
    "thompson": ours(policy=eq.DoubleThompson()),
    "maxmin-LCB": ours(policy=eq.policies.MaxMinLCB()),
    "max-info": ours(policy=eq.policies.MaxInfo()),
    "duels": ours(offset=eq.Arbitrary()),
    "IDS-duels": ours(policy=eq.IDS(), offset=eq.Arbitrary()),
    "one-point": ours(reduction=eq.OnePoint(eq.BestForecaster())),
    "unguarded": ours(offset=eq.Tracked(guard=None)),
    "UCB": ours(policy=eq.UCB()),
    "random": ours(policy=eq.policies.Random()),
    "TPE": tpe,
    "CMA": cmaes,
    "BoTorch-UCB": botorch(reference=False),
    "BoTorch-reference": botorch(reference=True),
}
NEEDS = {"TPE": "optuna", "CMA": "cma", "BoTorch-UCB": "botorch", "BoTorch-reference": "botorch"}
BOXES_ONLY = {"CMA", "BoTorch-UCB", "BoTorch-reference"}


def scaled(bias: env.Bias, unit: float) -> env.Bias:
    return bias if unit == 1.0 else Scaled(bias, unit)


class Scaled:
    """A bias whose offsets are multiplied, for functions of another size."""

    def __init__(self, bias: env.Bias, unit: float) -> None:
        self._bias, self._unit = bias, unit

    def start(self, rng: np.random.Generator) -> "Scaled":
        """Begin its own process."""
        started = Scaled(self._bias, self._unit)
        started._process = self._bias.start(rng)  # type: ignore[attr-defined]
        return started

    def offset(self) -> float:
        """Return the next offset."""
        return self._unit * float(self._process.offset())  # type: ignore[attr-defined]

    def record(self, reading: env.Measurement) -> None:
        """Show the process what was read, in its own unit."""
        parts = (reading.value, reading.noise, reading.offset, reading.y)
        value, noise, offset, y = (part / self._unit for part in parts)
        self._process.record(  # type: ignore[attr-defined]
            reading._replace(value=value, noise=noise, offset=offset, y=y)
        )


def one(learner: str, problem: str, bias: str, seed: int) -> dict[str, Any]:
    make, noise = PROBLEMS[problem]
    function = make(seed)
    world = env.Environment(function, scaled(BIASES[bias](), UNIT.get(problem, 1.0)), noise, rng=seed)
    ask, tell, best = LEARNERS[learner](function, seed)
    regret, cpu = [], 0.0
    for _ in range(READINGS):
        start = time.process_time()
        x = ask()
        cpu += time.process_time() - start
        y = world.measure(x)
        regret.append(world.regret(x))
        start = time.process_time()
        tell(x, y)
        cpu += time.process_time() - start
    total = np.cumsum(regret)
    final = world.regret(best())
    values = (learner, problem, bias, seed, total[49], total[99], total[199], final, 1000 * cpu / READINGS)
    return dict(zip(FIELDS, values, strict=True))


def wanted(args: argparse.Namespace) -> Iterator[Job]:
    for seed in range(args.seeds):
        for learner in args.learners.split(","):
            for problem in args.problems.split(","):
                for bias in args.biases.split(","):
                    absent = learner in NEEDS and importlib.util.find_spec(NEEDS[learner]) is None
                    unfit = learner in BOXES_ONLY and problem == "lin4"
                    if not absent and not unfit:
                        yield learner, problem, bias, seed


def table(path: str) -> None:
    """Print mean +- 2 standard errors of the cumulative and the mean of the final regret, a row a learner."""
    groups: dict[tuple[str, str, str], list[tuple[float, float, float]]] = defaultdict(list)
    for row in stored(path):
        key = row["problem"], row["learner"], row["bias"]
        groups[key].append((float(row["regret_200"]), float(row["final_regret"]), float(row["cpu_ms"])))
    for problem in PROBLEMS:
        learners = [who for who in LEARNERS if any(key[:2] == (problem, who) for key in groups)]
        if not learners:
            continue
        print(f"\n**{problem}**: cumulative regret at {READINGS} readings (final regret)\n")
        print("| learner |" + "".join(f" {bias} |" for bias in BIASES) + " ms | seeds |")
        print("|---|" + "---|" * (len(BIASES) + 2))
        for who in learners:
            print(_row(who, [groups.get((problem, who, bias), []) for bias in BIASES]))


def _row(who: str, cells: list[list[tuple[float, float, float]]]) -> str:
    text = f"| {who} |"
    for cell in cells:
        total, final, _ = np.array(cell).T if cell else (np.array([]),) * 3
        error = 2 * total.std(ddof=1) / len(total) ** 0.5 if len(total) > 1 else 0.0
        text += f" {short(total.mean())} ± {short(error)} ({short(final.mean())}) |" if cell else " |"
    cpu = [row[2] for cell in cells for row in cell]
    return text + f" {short(float(np.mean(cpu)))} | {min((len(cell) for cell in cells if cell), default=0)} |"


def short(number: float) -> str:
    return f"{number:.0f}" if number >= 10 else f"{number:.2g}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--learners", default="default,TPE,CMA,UCB,random", help=", ".join(LEARNERS))
    parser.add_argument("--problems", default=",".join(PROBLEMS))
    parser.add_argument("--biases", default=",".join(BIASES))
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--out", default="out/study.csv")
    parser.add_argument("--table", metavar="CSV", help="print the table of a finished study")
    args = parser.parse_args()
    if args.table is None:
        sweep(args.out, FIELDS, list(wanted(args)), one, args.jobs)
    table(args.table or args.out)


if __name__ == "__main__":
    main()
