"""If a context moves the best setting, which optimizers follow it, with and without a drift?

    python benchmarks/contexts.py --seeds 10 --out out/contexts.csv      # Xopt's column needs: pip install xopt
    python benchmarks/contexts.py --table out/contexts.csv

A bump of height 1 whose top lies elsewhere at each context: `lens` has 2 knobs and 1 context, `beam` 4 knobs and 2.
The context wanders through all of its range, and each learner is told it before it chooses. Two numbers a run:

    paid   the sum of f(top at c_t, c_t) - f(x_t, c_t) over all readings
    left   the same for what is recommended in the end, averaged over contexts from all of the range

`context` is `eq.Context` with everything else by default, `blind` the same study told nothing of the context. `xopt` is
Xopt's `UpperConfidenceBoundGenerator` with the context among its model's inputs, held at its present value by
`fixed_features` as a `ContextualVariable` is, but at once instead of with the next row; it recommends the top of its
model's mean at the context. Xopt's generator that models time as well cannot hold a feature fixed.
"""

import argparse
import os
import warnings
from collections import defaultdict
from collections.abc import Callable
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple

os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np
from runs import stored, sweep

import equipoise as eq
from equipoise._typing import FloatArray

NOISE = 0.05
FIELDS = ["learner", "problem", "drift", "seed", "paid", "left"]
DRIFTS: dict[str, Callable[[FloatArray, np.random.Generator], FloatArray]] = {
    "steady": lambda t, rng: 0.0 * t,
    "drift": lambda t, rng: 2 * np.sin(t / 20) + np.cumsum(0.1 * rng.standard_normal(len(t))),
}


class Problem(NamedTuple):
    """A bump whose top moves with the context.

    Attributes:
        top: The knobs at which it has its top, given the contexts, all from 0 to 1.
        width: Its standard deviation.
        knobs: How many knobs it has.
        contexts: How many contexts.
        readings: How many readings a run has.
    """

    top: Callable[[FloatArray], FloatArray]
    width: float
    knobs: int
    contexts: int
    readings: int

    @property
    def names(self) -> tuple[list[str], list[str]]:
        """The names of knobs and contexts."""
        return [f"q{i}" for i in range(self.knobs)], [f"c{i}" for i in range(self.contexts)]

    def value(self, q: FloatArray, c: FloatArray) -> float:
        """The bump: 1 at its top, whatever the context."""
        return float(np.exp(-(((q - self.top(c)) / self.width) ** 2).sum() / 2))

    def path(self, rng: np.random.Generator) -> FloatArray:
        """The contexts before each reading: waves of unrelated lengths, from 0 to 1, shape (n, contexts)."""
        waves = np.arange(self.readings)[:, None] / np.array([23.0, 37.0])[: self.contexts]
        path: FloatArray = 0.5 + 0.5 * np.sin(2 * np.pi * (waves + rng.random(self.contexts)))
        return path

    def everywhere(self) -> FloatArray:
        """Contexts from all of the range."""
        axis = np.linspace(0.1, 0.9, 9 if self.contexts == 1 else 4)
        return np.stack(np.meshgrid(*[axis] * self.contexts), axis=-1).reshape(-1, self.contexts)


PROBLEMS = {
    "lens": Problem(lambda c: np.array([0.15 + 0.7 * c[0], 0.5 + 0.3 * np.cos(3 * c[0])]), 0.25, 2, 1, 60),
    "beam": Problem(lambda c: np.array([0.2 + 0.6 * c[0], 0.3, 0.8 - 0.5 * c[1], 0.4]), 0.4, 4, 2, 90),
}


class Study:
    """Ours, told of the context or not."""

    def __init__(self, problem: Problem, seed: int, told: bool) -> None:
        self._knobs, self._contexts = problem.names
        given = {name: eq.Context(0, 1) for name in self._contexts} if told else {}
        self._opt = eq.Optimizer(eq.Space({name: eq.Float(0, 1) for name in self._knobs} | given), rng=seed)
        self._told = told

    def ask(self, c: FloatArray) -> FloatArray:
        """Return the knobs to measure at a context."""
        self._trial = self._opt.ask(context=self._context(c))
        return np.array([self._trial.x[name] for name in self._knobs])

    def tell(self, value: float) -> None:
        """Take the reading of what was asked for last."""
        self._opt.tell(self._trial, value)

    def best(self, c: FloatArray) -> FloatArray:
        """Return what is recommended for a context."""
        x = self._opt.recommend(context=self._context(c)).x
        return np.array([x[name] for name in self._knobs])

    def _context(self, c: FloatArray) -> dict[str, float] | None:
        return dict(zip(self._contexts, c.tolist(), strict=True)) if self._told else None


class XoptStudy:
    """Xopt's, by its own generator."""

    RANDOM = 6

    def __init__(self, problem: Problem, seed: int) -> None:
        import torch
        from xopt import VOCS
        from xopt.generators import get_generator

        torch.manual_seed(seed)
        torch.set_num_threads(1)
        self._knobs, self._contexts = problem.names
        variables = {name: [0, 1] for name in (*self._knobs, *self._contexts)}
        fixed = dict.fromkeys(self._contexts, 0.5)
        vocs = VOCS(variables=variables, objectives={"f": "MAXIMIZE"})
        self._generator = get_generator("upper_confidence_bound")(vocs=vocs, fixed_features=fixed)
        self._rng, self._rows = np.random.default_rng(seed), 0
        self._trained: tuple[int, Any] = (0, None)

    def ask(self, c: FloatArray) -> FloatArray:
        """Return the knobs to measure at a context."""
        self._generator.fixed_features = dict(zip(self._contexts, c.tolist(), strict=True))
        if self._rows < self.RANDOM:
            self._q = self._rng.random(len(self._knobs))
        else:
            row = self._generator.generate(1)[0]
            self._q = np.array([float(row[name]) for name in self._knobs])
        return self._q

    def tell(self, value: float) -> None:
        """Take the reading of what was asked for last."""
        import pandas as pd

        row = dict(zip(self._knobs, self._q.tolist(), strict=True)) | self._generator.fixed_features
        self._generator.add_data(pd.DataFrame([row | {"f": value}], index=[self._rows]))
        self._rows += 1

    def best(self, c: FloatArray) -> FloatArray:
        """The top of the mean at a context: of points all over, then of points ever nearer around the best."""
        if self._trained[0] != self._rows:
            self._trained = (self._rows, self._generator.train_model(self._generator.data))
        model = self._trained[1]
        q = self._rng.random((2000, len(self._knobs)))
        for reach in (0.1, 0.03, 0.01, 0.003):
            top = q[int(self._mean(model, q, c).argmax())]
            q = np.clip(np.vstack((top, top + reach * self._rng.standard_normal((500, len(top))))), 0, 1)
        return np.asarray(q[int(self._mean(model, q, c).argmax())])

    def _mean(self, model: Any, q: FloatArray, c: FloatArray) -> FloatArray:
        import torch

        points = np.column_stack((q, np.tile(c, (len(q), 1))))
        with torch.no_grad():
            return np.asarray(model.posterior(torch.tensor(points)).mean[:, 0].numpy())


LEARNERS: dict[str, Callable[[Problem, int], Any]] = {
    "context": lambda problem, seed: Study(problem, seed, told=True),
    "blind": lambda problem, seed: Study(problem, seed, told=False),
    "xopt": lambda problem, seed: XoptStudy(problem, seed),
}


def run(learner: str, name: str, drift: str, seed: int) -> dict[str, Any]:
    warnings.simplefilter("ignore")  # Xopt's, of its libraries
    problem, rng = PROBLEMS[name], np.random.default_rng(10_000 + seed)
    path = problem.path(rng)
    t = np.arange(float(problem.readings))
    offset = DRIFTS[drift](t, rng) + NOISE * rng.standard_normal(len(t))
    study, paid = LEARNERS[learner](problem, seed), 0.0
    for c, shift in zip(path, offset, strict=True):
        value = problem.value(study.ask(c), c)
        study.tell(value + float(shift))
        paid += 1 - value
    left = float(np.mean([1 - problem.value(study.best(c), c) for c in problem.everywhere()]))
    row = {"learner": learner, "problem": name, "drift": drift, "seed": seed}
    return row | {"paid": round(paid, 4), "left": round(left, 5)}


def table(out: Path) -> None:
    rows = defaultdict(list)
    for row in stored(out):
        rows[row["learner"], row["problem"], row["drift"]].append((float(row["paid"]), float(row["left"])))
    columns = [(problem, drift) for problem in PROBLEMS for drift in DRIFTS]
    for what in (0, 1):
        print("| " + " | ".join([FIELDS[4 + what], *(f"{problem}, {drift}" for problem, drift in columns)]) + " |")
        print("|---" * (1 + len(columns)) + "|")
        for learner in LEARNERS:
            cells = [_cell([found[what] for found in rows[learner, *column]], 1 + 2 * what) for column in columns]
            print("| " + " | ".join([f"`{learner}`", *cells]) + " |")
        print()


def _cell(values: list[float], digits: int) -> str:
    if len(values) < 2:
        return ""
    error = np.std(values, ddof=1) / len(values) ** 0.5
    return f"{np.mean(values):.{digits}f} ± {error:.{digits}f} ({len(values)})"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--learners", default="context,blind,xopt")
    parser.add_argument("--problems", default=",".join(PROBLEMS))
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--first-seed", type=int, default=0)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--out", type=Path, default=Path("out/contexts.csv"))
    parser.add_argument("--table", type=Path)
    options = parser.parse_args()
    if options.table is not None:
        table(options.table)
        return
    seeds = range(options.first_seed, options.first_seed + options.seeds)
    learners, problems = options.learners.split(","), options.problems.split(",")
    jobs = [(*job, seed) for seed in seeds for job in product(learners, problems, DRIFTS)]
    sweep(options.out, FIELDS, jobs, run, options.jobs)


if __name__ == "__main__":
    main()
