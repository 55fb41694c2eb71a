"""Quality by fits: comparing on the same seed, against means of three seeds and successive halving.

    python benchmarks/training.py run --seeds 0-4 --out training.csv     # minutes
    python benchmarks/training.py table training.csv --picture training.svg
    python benchmarks/training.py nothing --seeds 100-115               # two minutes: seeds that share nothing
    python benchmarks/training.py shared --seeds 100-107                # a minute: seeds that share a level and more

A reading is one fit of a model on a random split, or one run of a simulation, under a seed. Quality is what a setting
gains on the mean over 50 fresh seeds, between the default (0) and the best that any method found (1).

    ours      eq.Optimizer(seeds=True)
    pairs     eq.Optimizer without seeds, a new seed for each pair
    tpe3      Optuna's TPE on means of the same three seeds
    halving   scikit-learn's HalvingRandomSearchCV: of models on five splits of more and more samples, of simulations
              on 1, 3 and 9 seeds; the best third goes on. A fit of few samples counts like any other
"""

import argparse
import csv
import math
from collections import defaultdict
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from typing import Any

import numpy as np
import optuna
from scipy.stats import loguniform, randint, uniform
from sklearn.base import BaseEstimator, clone
from sklearn.datasets import load_breast_cancer, load_diabetes, load_wine
from sklearn.ensemble import GradientBoostingRegressor
from sklearn.experimental import enable_halving_search_cv  # noqa: F401
from sklearn.linear_model import Ridge
from sklearn.model_selection import HalvingRandomSearchCV, ShuffleSplit, train_test_split
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import PolynomialFeatures, StandardScaler
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeRegressor

import equipoise as eq
from equipoise._typing import FloatArray
from equipoise.lab.environments import FUNCTIONS, Function, waves

Setting = Mapping[str, Any]
Task = Callable[[Setting, int], float]
"""Reads a setting under a seed."""
FRESH = range(10_000, 10_050)
LOOKS = (15, 30, 45, 60, 90)
SPLITS, SEEDS, FACTOR = 5, 9, 3
"""Of halving: splits of each model (as by default), most seeds of each simulation, and the share that goes on."""


@dataclass(frozen=True)
class Fit:
    """A task: a model that is fitted on a random split."""

    model: Any
    data: Any

    def __call__(self, x: Setting, seed: int) -> float:
        """Return the score of a fit."""
        X, y = self.data
        a, b, c, d = train_test_split(X, y, test_size=0.3, random_state=seed)
        return float(self.seeded(seed).set_params(**x).fit(a, c).score(b, d))

    def seeded(self, seed: int) -> Any:
        """Return the model with all its seeds set."""
        names = [name for name in self.model.get_params() if name.endswith("random_state")]
        return clone(self.model).set_params(**dict.fromkeys(names, seed))


class Simulation(BaseEstimator):  # type: ignore[misc]
    """A simulation as scikit-learn sees one: what is fitted are its seeds."""

    def __init__(self, task: Task, seed: int, runs: int = 1, **x: Any) -> None:
        self.task, self.seed, self.runs, self.x = task, seed, runs, x

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return all it was made with."""
        return {"task": self.task, "seed": self.seed, "runs": self.runs, **self.x}

    def set_params(self, **given: Any) -> "Simulation":
        """Set some of it."""
        self.__init__(**self.get_params() | given)  # type: ignore[misc]
        return self

    def fit(self, X: Any, y: Any = None) -> "Simulation":
        """Do nothing: there is nothing to fit."""
        return self

    def score(self, X: Any, y: Any = None) -> float:
        """Return the mean over its seeds."""
        return float(np.mean([self.task(self.x, 1000 * self.seed + k) for k in range(self.runs)]))


def queue(x: Setting, seed: int, customers: int = 400) -> float:
    """Return less the cost of a queue: servers that cost, speed that costs more, and waiting."""
    rng = np.random.default_rng(seed)
    arrivals, work = np.cumsum(rng.exponential(1.0, customers)), rng.lognormal(0.0, 1.0, customers)
    free, waited = np.zeros(int(x["servers"])), 0.0
    for at, job in zip(arrivals, work, strict=True):
        k = int(free.argmin())
        begin = max(at, free[k])
        free[k], waited = begin + job / x["speed"], waited + begin - at
    return -float(waited / customers + 0.5 * x["servers"] * x["speed"] ** 1.5)


def store(x: Setting, seed: int, days: int = 200) -> float:
    """Return the profit a day of a store that orders up to a level when its stock is below a point."""
    rng = np.random.default_rng(seed)
    demand, stock, profit, due = rng.poisson(rng.gamma(4.0, 2.5, days)), 30.0, 0.0, [0.0] * 3
    for each in demand:
        stock += due.pop(0)
        sold = min(stock, float(each))
        stock -= sold
        order = x["gap"] if stock + sum(due) < x["point"] else 0.0
        due.append(order)
        profit += 2.0 * sold - 0.05 * stock - 5.0 * (order > 0)
    return float(profit / days)


def tasks() -> dict[str, tuple[eq.Space, Task, Setting]]:
    """Return each task: its space, what reads a setting under a seed, and the default."""
    diabetes, cancer, wine = (load(return_X_y=True) for load in (load_diabetes, load_breast_cancer, load_wine))
    ridge = make_pipeline(PolynomialFeatures(2), StandardScaler(), Ridge())
    mlp = make_pipeline(StandardScaler(), MLPClassifier((8,), max_iter=40))
    models: dict[str, tuple[Any, Any, dict[str, Any], Setting]] = {
        "ridge": (ridge, diabetes, {"ridge__alpha": eq.Float(1e-2, 1e4, log=True)}, {"ridge__alpha": 1.0}),
        "svc": (
            make_pipeline(StandardScaler(), SVC()),
            cancer,
            {"svc__C": eq.Float(1e-2, 1e3, log=True), "svc__gamma": eq.Float(1e-4, 1.0, log=True)},
            {"svc__C": 0.03, "svc__gamma": 0.3},
        ),
        "tree": (
            DecisionTreeRegressor(),
            diabetes,
            {"max_depth": eq.Int(1, 12), "min_samples_leaf": eq.Int(1, 60)},
            {"max_depth": 12, "min_samples_leaf": 1},
        ),
        "boosting": (
            GradientBoostingRegressor(n_estimators=30),
            diabetes,
            {
                "learning_rate": eq.Float(0.01, 1, log=True),
                "max_depth": eq.Int(1, 5),
                "min_samples_leaf": eq.Int(1, 40),
                "subsample": eq.Float(0.3, 1),
            },
            {"learning_rate": 0.1, "max_depth": 3, "min_samples_leaf": 1, "subsample": 1.0},
        ),
        "mlp": (
            mlp,
            wine,
            {
                "mlpclassifier__learning_rate_init": eq.Float(1e-4, 1e-1, log=True),
                "mlpclassifier__alpha": eq.Float(1e-5, 10, log=True),
            },
            {"mlpclassifier__learning_rate_init": 1e-3, "mlpclassifier__alpha": 1e-4},
        ),
    }
    found: dict[str, tuple[eq.Space, Task, Setting]] = {}
    for name, (model, data, space, default) in models.items():
        found[name] = eq.Space(space), Fit(model, data), default
    queues = eq.Space(servers=eq.Int(1, 6), speed=eq.Float(0.3, 3.0))
    found["queue"] = queues, queue, {"servers": 4, "speed": 1.5}
    found["store"] = eq.Space(point=eq.Float(5, 100), gap=eq.Float(5, 150)), store, {"point": 10.0, "gap": 30.0}
    return found


def ours(space: eq.Space, task: Task, seed: int, seeds: Any = True) -> dict[int, Setting]:
    """Return what our study recommends after some fits."""
    opt, last = eq.Optimizer(space, seeds=seeds, rng=seed), 0
    found: dict[int, Setting] = {}
    for n in range(1, max(LOOKS) + 1):
        trial = opt.ask()
        last = trial.id // 2 if trial.seed is None else int(trial.seed)
        opt.tell(trial, task(trial.x, 1000 * seed + last))
        if n in LOOKS:
            found[n] = opt.recommend().x
    return found


def pairs(space: eq.Space, task: Task, seed: int) -> dict[int, Setting]:
    """Return the same of a study that is not told of seeds."""
    return ours(space, task, seed, seeds=None)


def unshared(function: Function, x: FloatArray, seed: int, sd: float = 0.3) -> float:
    """Return a reading to which a seed adds luck of each setting alone, the same one each time."""
    words = np.frombuffer(np.asarray(x).tobytes(), dtype=np.uint32).tolist()
    return float(function(x)) + sd * float(np.random.default_rng([seed, *words]).standard_normal())


def nothing(seeds: range, readings: int = 80) -> None:
    """Print what asking for seeds costs where they share nothing: Branin over its spread, so that sd 0.3 is much."""
    function = FUNCTIONS["branin"](np.random.default_rng(0))
    assert function.bounds is not None
    low, high = function.bounds.T
    scale = float(function(np.random.default_rng(0).uniform(low, high, (10_000, 2))).std())
    costs: dict[str, list[tuple[float, float]]] = {"with seeds": [], "without": []}
    for run in seeds:
        for method, given in (("with seeds", True), ("without", None)):
            opt, read = eq.Optimizer(eq.Box(function.bounds), seeds=given, rng=run), 0.0
            for _ in range(readings):
                trial = opt.ask()
                seed = trial.id if trial.seed is None else int(trial.seed)
                read += (function.maximum - float(function(trial.x))) / scale
                opt.tell(trial, unshared(function, trial.x, 1000 * run + seed, 0.3 * scale) / scale)
            costs[method].append((read, (function.maximum - float(function(opt.recommend().x))) / scale))
    found = {method: np.array(each) for method, each in costs.items()}
    more = found["with seeds"][:, 0] - found["without"][:, 0]
    for method, each in found.items():
        regret, error = each[:, 0].mean(), each[:, 0].std(ddof=1) / math.sqrt(len(each))
        print(f"{method}: regret {regret:.1f} ± {error:.1f}, final {np.median(each[:, 1]):.3f} in the median")
    error = more.std(ddof=1) / math.sqrt(len(more))
    print(f"more with seeds, run by run: {more.mean():.1f} ± {error:.1f}, {len(more)} runs")


def shared(seeds: range, readings: int = 120) -> None:
    """Print the final regret on hartmann6 if seeds have a level of sd 1 and effects h, and noise is of sd 0.05."""
    function = FUNCTIONS["hartmann6"](np.random.default_rng(0))
    assert function.bounds is not None
    for sd in (0.1, 0.5):
        for method, given, each in (("with seeds", True, 1), ("pairs", None, 2), ("a new seed each", None, 1)):
            left = []
            for run in seeds:
                opt = eq.Optimizer(eq.Box(function.bounds), seeds=given, rng=run)
                for _ in range(readings):
                    trial = opt.ask()
                    seed = trial.id // each if trial.seed is None else int(trial.seed)
                    opt.tell(trial, float(function(trial.x)) + effect(trial.x, 1000 * run + seed, sd))
                left.append(function.maximum - float(function(opt.recommend().x)))
            print(f"h of sd {sd}, {method:16} {np.median(left):.3f} of " + " ".join(f"{r:.3f}" for r in sorted(left)))


def effect(x: FloatArray, seed: int, sd: float) -> float:
    """Return what a seed adds to a reading: its level, its effect on the setting, and noise."""
    rng = np.random.default_rng(seed)
    level, h = rng.standard_normal(), waves(len(x), 0.5, 64, rng)
    words = np.asarray(x).view(np.uint32).tolist()
    return float(level + sd * h(x) + 0.05 * np.random.default_rng([seed, *words]).standard_normal())


def suggested(trial: Any, space: eq.Space) -> Setting:
    """Return the parameters of a space as Optuna suggests them."""
    return {
        name: (trial.suggest_int if isinstance(p, eq.Int) else trial.suggest_float)(name, p.low, p.high, log=p.log)
        for name, p in space.parameters.items()
        if isinstance(p, (eq.Int, eq.Float))
    }


def tpe3(space: eq.Space, task: Task, seed: int) -> dict[int, Setting]:
    """Return the best trial of TPE on means of three seeds."""
    study = optuna.create_study(direction="maximize", sampler=optuna.samplers.TPESampler(seed=seed))
    found: dict[int, Setting] = {}
    for n in range(3, max(LOOKS) + 1, 3):
        study.optimize(
            lambda t: float(np.mean([task(suggested(t, space), 1000 * seed + k) for k in range(3)])), n_trials=1
        )
        if n in LOOKS:
            found[n] = study.best_params
    return found


def distribution(p: eq.Int | eq.Float) -> Any:
    """Return a parameter as scikit-learn draws it."""
    if isinstance(p, eq.Int):
        return randint(p.low, p.high + 1)
    return loguniform(p.low, p.high) if p.log else uniform(p.low, p.high - p.low)


def rungs(candidates: int) -> list[int]:
    """Return how many settings each round of halving has."""
    found = [candidates]
    while found[-1] > 1:
        found.append(math.ceil(found[-1] / FACTOR))
    return found


def halving(space: eq.Space, task: Task, seed: int) -> dict[int, Setting]:
    """Return the best setting by scikit-learn's successive halving within each number of fits."""
    some = {k: distribution(p) for k, p in space.parameters.items() if isinstance(p, (eq.Int, eq.Float))}
    found: dict[int, Setting] = {}
    for n in LOOKS:
        if isinstance(task, Fit):
            candidates = max(c for c in range(2, n) if SPLITS * sum(rungs(c)) <= n)
            model, (X, y), rounds = task.seeded(seed), task.data, len(rungs(candidates))
            folds = ShuffleSplit(SPLITS, test_size=0.3, random_state=seed)
            more: dict[str, Any] = {"cv": folds, "min_resources": len(X) // FACTOR ** (rounds - 1)}
        else:
            most = SEEDS if n > 20 else SEEDS // FACTOR
            candidates, model, (X, y) = n // len(rungs(most)), Simulation(task, seed), (np.zeros((2, 1)), np.zeros(2))
            more = {"cv": [([0], [1])], "resource": "runs", "max_resources": most, "min_resources": 1}
        search = HalvingRandomSearchCV(
            model,
            some,
            n_candidates=candidates,
            factor=FACTOR,
            random_state=seed,
            refit=False,
            return_train_score=False,
            **more,
        )
        best = search.fit(X, y).best_params_
        found[n] = {name: best[name] for name in some}
    return found


METHODS = {"ours": ours, "pairs": pairs, "tpe3": tpe3, "halving": halving}
NAMES = {
    "ours": "a study with seeds",
    "pairs": "a study without",
    "tpe3": "TPE on means of three",
    "halving": "HalvingRandomSearchCV",
}


def run(out: Path, seeds: range, names: list[str], methods: list[str]) -> None:
    """Write the quality of what each method recommends, a line for each look."""
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    known = tasks()
    with out.open("a", newline="") as file:
        writer = csv.writer(file)
        for seed in seeds:
            for name in names or list(known):
                measured = partial(quality_of, cache(partial(truth, known[name][1])))
                for method in methods:
                    for n, x in METHODS[method](*known[name][:2], seed).items():
                        writer.writerow([name, method, seed, n, measured(x), measured(known[name][2])])
                file.flush()


def truth(task: Task, x: tuple[tuple[str, Any], ...]) -> float:
    """Return the mean over fresh seeds."""
    return float(np.mean([task(dict(x), seed) for seed in FRESH]))


def quality_of(measured: Callable[[tuple[tuple[str, Any], ...]], float], x: Setting) -> float:
    """Return the mean of a setting, measured once."""
    return measured(tuple(sorted(x.items())))


def qualities(path: Path) -> dict[tuple[str, int], dict[tuple[str, int], float]]:
    """Return the quality of each method after n fits, by task and seed."""
    with path.open() as file:
        rows = [(t, m, int(s), int(n), float(v), float(d)) for t, m, s, n, v, d in csv.reader(file)]
    best = {t: max(v for u, *_, v, _ in rows if u == t) for t, *_ in rows}
    found: dict[tuple[str, int], dict[tuple[str, int], float]] = defaultdict(dict)
    for t, m, s, n, value, default in rows:
        found[m, n][t, s] = max((value - default) / (best[t] - default), -1.0)
    return found


Points = list[tuple[float, float]]
"""A mean and its standard error for each number of fits."""


def table(path: Path, picture: Path | None) -> None:
    """Print mean quality by fits, of all tasks and of each, and draw it with bands of one standard error."""
    found = qualities(path)
    methods = [method for method in METHODS if (method, LOOKS[0]) in found]
    names = list(dict.fromkeys(t for t, _ in found[methods[0], LOOKS[0]]))
    print(f"{'':20}" + "".join(f"{n:>16}" for n in LOOKS))
    drawn = {"all": {method: points(found, method, names) for method in methods}}
    drawn |= {task: {method: points(found, method, [task]) for method in methods} for task in names}
    for task, lines in drawn.items():
        for method, line in lines.items():
            print(f"{task:10}{method:10}" + "".join(f"{mean:8.3f} ± {error:.3f}" for mean, error in line))
    if picture is not None:
        draw(drawn, picture)


def points(found: Mapping[tuple[str, int], dict[tuple[str, int], float]], method: str, tasks: list[str]) -> Points:
    """Return the mean quality of a method on some tasks by fits."""
    some = [np.array([v for (t, _), v in found[method, n].items() if t in tasks]) for n in LOOKS]
    return [(float(v.mean()), float(v.std(ddof=1)) / math.sqrt(len(v))) for v in some]


def draw(drawn: Mapping[str, Mapping[str, Points]], picture: Path) -> None:
    """Draw quality by fits: all tasks, and each."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(9, 4.4), layout="constrained")
    grid = figure.subplots(2, math.ceil(len(drawn) / 2), sharex=True).ravel()
    for axes, (task, lines) in zip(grid, drawn.items(), strict=False):
        for method, line in lines.items():
            mean, error = np.array(line).T
            (shown,) = axes.plot(LOOKS, mean, marker=".", label=NAMES[method])
            axes.fill_between(LOOKS, mean - error, mean + error, color=shown.get_color(), alpha=0.2, lw=0)
        least = min(mean for mean, _ in lines["ours"])
        axes.set_title("all tasks" if task == "all" else task, fontsize="medium")
        axes.set_ylim(min(least, 0.85) - 0.1, 1.02)
    grid[0].set_ylabel("quality on fresh seeds")
    figure.supxlabel("fits")
    figure.legend(*grid[0].get_legend_handles_labels(), loc="outside upper center", ncols=4, frameon=False)
    figure.savefig(picture)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    commands = parser.add_subparsers(dest="command", required=True)
    measured = commands.add_parser("run")
    measured.add_argument("tasks", nargs="*")
    measured.add_argument("--seeds", default="0-4")
    measured.add_argument("--methods", nargs="+", default=list(METHODS), choices=METHODS)
    measured.add_argument("--out", type=Path, required=True)
    for name, default in (("nothing", "100-115"), ("shared", "100-107")):
        commands.add_parser(name).add_argument("--seeds", default=default)
    shown = commands.add_parser("table")
    shown.add_argument("csv", type=Path)
    shown.add_argument("--picture", type=Path)
    given = parser.parse_args()
    if given.command == "table":
        table(given.csv, given.picture)
        return
    first, last = map(int, given.seeds.split("-"))
    seeds = range(first, last + 1)
    if given.command == "run":
        run(given.out, seeds, given.tasks, given.methods)
    else:
        {"nothing": nothing, "shared": shared}[given.command](seeds)


if __name__ == "__main__":
    main()
