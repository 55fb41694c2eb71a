"""Does the default find the top, whatever the offset does? Lost runs first, cumulative regret second.

    python benchmarks/wide.py --half choose --learners default,thompson --seeds 10 --jobs 2 --out out/wide.csv
    python benchmarks/wide.py --half choose --table out/wide.csv
    python benchmarks/wide.py --half report --seeds 20 --out out/wide-report.csv

Two halves. Constants, priors and policies are chosen on `choose`; `report` is run once, at the end, and nothing is
changed after it was seen. The halves share no seed, and some problems are in one of them only (`HALVES`).

A row per run of 200 readings: cumulative regret at 80 and 200 readings, true regret of the final recommendation,
whether the recommendation at 80 and at 200 readings was lost, CPU milliseconds per ask and tell. Lost: below the top by
more than 20 % of the function's range (largest less smallest value). Runs already in the file are not repeated. Every
function has a noise of about 5 % of its range, and offsets of the size of its signal (`Problem.unit`), but for levels
that are constant within a pair or a block, or that each of four workers has: these cancel and may be of any size.
"""

import argparse
import os
import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple, Protocol

os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np
from runs import Job, stored, sweep

import equipoise as eq
from equipoise._typing import FloatArray
from equipoise.lab import environments as env

READINGS, EARLY = 200, 80
LOST = 0.2
"""A recommendation below the top by more than this share of the function's range is lost."""

WORKERS = 4
FIELDS = [
    "learner",
    "problem",
    "bias",
    "seed",
    "regret_80",
    "regret_200",
    "final_regret",
    "lost_80",
    "lost_200",
    "cpu_ms",
]


class World(NamedTuple):
    """A function as a learner meets it.

    Attributes:
        function: To be maximized, over arrays.
        space: Where the learner looks.
        array: Turns the learner's point into an array.
    """

    function: env.Function
    space: eq.spaces.Domain
    array: Callable[[Any], FloatArray]


@dataclass(frozen=True)
class Problem:
    """A family of functions.

    Attributes:
        make: Returns the function of a seed.
        noise: Standard deviation of the noise of a reading.
        unit: By how much the offsets are multiplied: their size is made for a range of about five.
        dimension: Number of parameters.
    """

    make: Callable[[int], World]
    noise: float
    unit: float
    dimension: int


def plain(make: Callable[[int], env.Function]) -> Callable[[int], World]:
    """Return a family over the function's own domain."""

    def world(seed: int) -> World:
        function = make(seed)
        bounds, points = function.bounds, function.points
        space: eq.spaces.Domain = eq.Finite(np.asarray(points)) if bounds is None else eq.Box(bounds)
        return World(function, space, np.asarray)

    return world


@dataclass(frozen=True, eq=False)
class Moved:
    """x to scale f(x - shift)."""

    evaluate: Callable[[FloatArray], FloatArray]
    scale: float
    shift: FloatArray

    def __call__(self, x: FloatArray) -> FloatArray:
        """Return the values at x."""
        return self.scale * self.evaluate(x - self.shift)


def moved(
    function: env.Function, scale: float, reach: float = 0.0, seed: int = 0, half: float | None = None
) -> env.Function:
    """Return a function scaled and moved by up to `reach` in each coordinate; over [-half, half]^d where given."""
    shift = np.random.default_rng(seed).uniform(-reach, reach, function.dimension)
    bounds = function.bounds if half is None else [[-half, half]] * function.dimension
    evaluate = Moved(function.evaluate, scale, shift)
    return env.Function.box(function.name, evaluate, np.asarray(bounds), function.maximizer + shift)


def draw(dimension: int, smoothness: float | None, seed: int, shortest: float = 0.15) -> env.Function:
    """Return a draw of a Gaussian process whose lengthscale, up to 0.3 of the range, is drawn too."""
    rng = np.random.default_rng(seed)
    lengthscale = rng.uniform(shortest, 0.3)
    return env.gp_draw(bounds=[[0, 1]] * dimension, lengthscale=lengthscale, smoothness=smoothness, rng=rng)


COUNTS, OPTIONS = 6, ("a", "b", "c")


@dataclass(frozen=True, eq=False)
class Mixed:
    """(x, y, number, option) to a draw over x, y, the number and the option, which is one corner of a triangle."""

    waves: Callable[[FloatArray], FloatArray]

    def __call__(self, x: FloatArray) -> FloatArray:
        """Return the values at x."""
        corner = np.eye(len(OPTIONS))[np.clip(np.rint(x[..., 3]).astype(int), 0, len(OPTIONS) - 1)]
        number = x[..., 2:3] / (COUNTS - 1)
        return self.waves(np.concatenate((x[..., :2], number, corner), axis=-1))


def mixed(seed: int) -> World:
    """Return a function of two Floats, an Int and a Choice."""
    lengthscale = [0.25, 0.25, 0.5, 1.0, 1.0, 1.0]
    waves = env.gp_draw(points=np.zeros((1, 6)), lengthscale=lengthscale, features=512, rng=seed).evaluate
    side = np.linspace(0.0, 1.0, 51)
    mesh = np.meshgrid(side, side, np.arange(COUNTS), np.arange(len(OPTIONS)), indexing="ij")
    points = np.stack(mesh, axis=-1).reshape(-1, 4).astype(np.float64)
    evaluate = Mixed(waves)
    values = np.concatenate([evaluate(block) for block in np.array_split(points, 16)])
    best = points[int(values.argmax())]  # a grid of steps of 2 %: below the very top by a few thousandths
    bounds = np.array([[0, 1], [0, 1], [0, COUNTS - 1], [0, len(OPTIONS) - 1]])
    space = eq.Space(x=eq.Float(0, 1), y=eq.Float(0, 1), n=eq.Int(0, COUNTS - 1), c=eq.Choice(OPTIONS))
    function = env.Function.box("mixed", evaluate, bounds, best)
    return World(function, space, lambda p: np.array([p["x"], p["y"], p["n"], OPTIONS.index(p["c"])], dtype=np.float64))


PROBLEMS: dict[str, Problem] = {
    "two-bumps": Problem(plain(lambda seed: env.two_bumps(rng=seed)), 0.05, 1 / 3, 2),
    "peak3": Problem(plain(lambda seed: env.peak(rng=seed)), 0.22, 5 / 3, 3),
    "gp2-rbf": Problem(plain(partial(draw, 2, None)), 0.22, 1.0, 2),
    "gp2-matern": Problem(plain(partial(draw, 2, 2.5)), 0.22, 1.0, 2),
    "gp3-rbf": Problem(plain(partial(draw, 3, None)), 0.22, 1.0, 3),
    "gp3-matern": Problem(plain(partial(draw, 3, 2.5)), 0.22, 1.0, 3),
    "gp3-smooth": Problem(plain(partial(draw, 3, None, shortest=0.3)), 0.22, 1.0, 3),
    "gp4-rbf": Problem(plain(partial(draw, 4, None)), 0.22, 1.0, 4),
    "gp4-matern": Problem(plain(partial(draw, 4, 2.5)), 0.22, 1.0, 4),
    "levy4": Problem(plain(lambda seed: moved(env.levy(4), 0.1, 4.0, seed)), 0.22, 1.0, 4),
    "ackley5": Problem(plain(lambda seed: moved(env.ackley(5), 0.25, 2.0, seed, 5.0)), 0.22, 1.0, 5),
    "rosenbrock4": Problem(plain(lambda seed: moved(env.rosenbrock(4), 5e-4, 0.5, seed, 2.0)), 0.22, 1.0, 4),
    "styblinski5": Problem(plain(lambda seed: moved(env.styblinski_tang(5), 5 / 822, 0.0, seed)), 0.22, 1.0, 5),
    "mixed": Problem(mixed, 0.22, 1.0, 4),
    "camel2": Problem(plain(lambda seed: env.camelback()), 0.1**0.5, 1.0, 2),
    "hartmann6": Problem(plain(lambda seed: env.hartmann6()), 0.05**0.5, 1.0, 6),
    "lin4": Problem(plain(lambda seed: env.linear(rng=seed)), 1.0, 1.0, 4),
    "branin": Problem(plain(lambda seed: env.branin()), 10.0, 50.0, 2),
    "beam": Problem(plain(lambda seed: env.beam_line()), 0.05, 0.3, 3),
}

BOTH = ("two-bumps", "peak3", "gp3-smooth", "camel2", "hartmann6", "lin4", "mixed", "ackley5")
HALVES: dict[str, tuple[tuple[str, ...], int]] = {
    "choose": ((*BOTH, "gp2-rbf", "gp3-matern", "gp4-rbf", "levy4", "branin"), 1000),
    "report": ((*BOTH, "gp2-matern", "gp3-rbf", "gp4-matern", "rosenbrock4", "styblinski5", "beam"), 0),
}
"""The problems of each half, and its first seed."""

BIASES: dict[str, env.Bias] = {
    "none": env.NoBias(),
    "drift": env.Drift(),
    "walk": env.RandomWalk(0.3),
    "periodic": env.PeriodicDrift(),
    "jumps": env.Jumps(rate=0.05, scale=2.0),
    "calibration": env.Calibration(),
    "pairs-1": env.BlockOffsets(2, 1.0),
    "pairs-10": env.BlockOffsets(2, 10.0),
    "pairs-1000": env.BlockOffsets(2, 1000.0),
    "blocks-4": env.BlockOffsets(4, 5.0),
    "blocks-6": env.BlockOffsets(6, 5.0),
    "blocks-10": env.BlockOffsets(10, 5.0),
    "workers": env.NoBias(),
}
"""The offsets; `workers` are four, told in turn, with constant offsets of their own of standard deviation 10."""


class Learner(Protocol):
    """What is compared: asked by a worker, told in any order."""

    def ask(self, worker: str | None) -> tuple[Any, Any]:
        """Return a ticket and the point to measure."""

    def tell(self, ticket: Any, y: float) -> None:
        """Report the reading of a ticket."""

    def best(self) -> Any:
        """Return the point recommended now."""


class Ours:
    """An optimizer of this library."""

    def __init__(self, space: eq.spaces.Domain, seed: int, **parts: Any) -> None:
        self._opt = eq.Optimizer(space, rng=seed + 10_000, **parts)

    def ask(self, worker: str | None) -> tuple[Any, Any]:
        """Return the trial and its point."""
        trial = self._opt.ask(worker=worker)
        return trial, trial.x

    def tell(self, ticket: Any, y: float) -> None:
        """Report the reading of a trial."""
        self._opt.tell(ticket, y)

    def best(self) -> Any:
        """Return the recommended point."""
        return self._opt.recommend().x


LEARNERS: dict[str, Callable[[eq.spaces.Domain, int], Learner]] = {
    "default": Ours,
    "thompson": lambda space, seed: Ours(space, seed, policy=eq.DoubleThompson()),
    "unguarded": lambda space, seed: Ours(space, seed, offset=eq.Tracked(guard=None)),
    "duels": lambda space, seed: Ours(space, seed, offset=eq.Arbitrary()),
    "UCB": lambda space, seed: Ours(space, seed, policy=eq.UCB()),
    "random": lambda space, seed: Ours(space, seed, policy=eq.policies.Random()),
}


class Scaled:
    """A bias whose offsets are multiplied, for functions of another size."""

    def __init__(self, bias: env.Bias, unit: float) -> None:
        self._bias, self._unit = bias, unit

    def start(self, rng: np.random.Generator) -> "ScaledProcess":
        """Begin a process."""
        return ScaledProcess(self._bias.start(rng), self._unit)


class ScaledProcess:
    """A process whose offsets are multiplied, and which sees readings in its own unit."""

    def __init__(self, process: env.BiasProcess, unit: float) -> None:
        self._process, self._unit = process, unit

    def offset(self) -> float:
        """Return the next offset."""
        return self._unit * self._process.offset()

    def record(self, reading: env.Measurement) -> None:
        """Show the process what was read."""
        parts = (reading.value, reading.noise, reading.offset, reading.y)
        value, noise, offset, y = (part / self._unit for part in parts)
        self._process.record(reading._replace(value=value, noise=noise, offset=offset, y=y))


def height(function: env.Function) -> float:
    """Return the range of a function: its maximum less the smallest value found at many points."""
    from scipy.stats import qmc

    points = function.points
    if points is None:
        low, high = np.asarray(function.bounds).T
        points = low + qmc.Sobol(function.dimension, scramble=False).random(2**12) * (high - low)
    return function.maximum - float(np.min(function(points)))


def run(world: World, learner: Learner, problem: Problem, bias: str, seed: int, readings: int) -> dict[str, float]:
    """Return the figures of one run."""
    nature = env.Environment(world.function, Scaled(BIASES[bias], problem.unit), problem.noise, rng=seed)
    workers = [str(i) for i in range(WORKERS)] if bias == "workers" else [None]
    levels = 10.0 * problem.unit * np.random.default_rng(seed).standard_normal(WORKERS) * (bias == "workers")
    regret: list[float] = []
    waiting: dict[str | None, tuple[Any, Any]] = {}
    early, cpu = 0.0, 0.0
    for turn in range(readings):
        begin = time.process_time()
        waiting |= {worker: learner.ask(worker) for worker in workers if worker not in waiting}
        cpu += time.process_time() - begin
        ticket, x = waiting.pop(workers[turn % len(workers)])
        point = world.array(x)
        y = nature.measure(point) + float(levels[turn % WORKERS])
        regret.append(nature.regret(point))
        begin = time.process_time()
        learner.tell(ticket, y)
        cpu += time.process_time() - begin
        if len(regret) == EARLY:
            early = nature.regret(world.array(learner.best()))
    final = nature.regret(world.array(learner.best())) if readings > EARLY else early
    total, span = np.cumsum(regret), LOST * height(world.function)
    lost = {"lost_80": float(early > span), "lost_200": float(final > span)}
    cumulative = {"regret_80": float(total[EARLY - 1]), "regret_200": float(total[-1]), "final_regret": final}
    return cumulative | lost | {"cpu_ms": 1000 * cpu / readings}


def one(learner: str, problem: str, bias: str, seed: int, readings: int = READINGS) -> dict[str, Any]:
    """Return a row of the table."""
    family = PROBLEMS[problem]
    world = family.make(seed)
    figures = run(world, LEARNERS[learner](world.space, seed), family, bias, seed, readings)
    return {"learner": learner, "problem": problem, "bias": bias, "seed": seed} | figures


def wanted(args: argparse.Namespace) -> Iterator[Job]:
    problems, first = HALVES[args.half]
    for seed in range(first + args.skip, first + args.skip + args.seeds):
        for learner in args.learners.split(","):
            for problem in args.problems.split(",") if args.problems else problems:
                if problem not in problems:
                    raise SystemExit(f"{problem} is not in the half {args.half}: {', '.join(problems)}")
                for bias in args.biases.split(","):
                    yield learner, problem, bias, seed


def table(path: str) -> None:
    """Print, for each learner, lost runs and cumulative regret of every problem under every offset."""
    cells: dict[tuple[str, str, str], list[dict[str, str]]] = defaultdict(list)
    for row in stored(path):
        cells[row["learner"], row["problem"], row["bias"]].append(row)
    learners = [who for who in LEARNERS if any(key[0] == who for key in cells)]
    biases = [bias for bias in BIASES if any(key[2] == bias for key in cells)]
    for who in learners:
        print(f"\n**{who}**: cumulative regret at {READINGS} readings ± standard error (lost at {EARLY}, {READINGS})\n")
        print("| problem |" + "".join(f" {bias} |" for bias in biases) + " ms | seeds |")
        print("|---|" + "---|" * (len(biases) + 2))
        for problem in PROBLEMS:
            line = [cells.get((who, problem, bias), []) for bias in biases]
            if any(line):
                print(_row(problem, line))
        print("\n" + _summary([row for key, rows in cells.items() if key[0] == who for row in rows]))


def _row(problem: str, cells: list[list[dict[str, str]]]) -> str:
    text = f"| {problem} |"
    for rows in cells:
        total = _column(rows, "regret_200")
        error = total.std(ddof=1) / len(total) ** 0.5 if len(total) > 1 else 0.0
        lost = [int(_column(rows, name).sum()) for name in ("lost_80", "lost_200")]
        text += f" {_short(total.mean())} ± {_short(error)} ({lost[0]}, {lost[1]}) |" if rows else " |"
    cpu = _column([row for rows in cells for row in rows], "cpu_ms")
    return text + f" {_short(float(cpu.mean()))} | {min(len(rows) for rows in cells if rows)} |"


def _summary(rows: list[dict[str, str]]) -> str:
    parts = []
    for name, few in (("up to 4 parameters", True), ("5 and more", False)):
        group = [row for row in rows if (PROBLEMS[row["problem"]].dimension <= 4) == few]
        if group:
            early, late = (int(_column(group, field).sum()) for field in ("lost_80", "lost_200"))
            share = 100 * late / len(group)
            parts.append(f"{name}: lost {early} at {EARLY}, {late} at {READINGS} ({share:.1f} %) of {len(group)} runs")
    return "; ".join(parts)


def _column(rows: list[dict[str, str]], name: str) -> FloatArray:
    return np.array([float(row[name]) for row in rows])


def _short(number: float) -> str:
    return f"{number:.0f}" if number >= 10 else f"{number:.2g}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--half", choices=list(HALVES), default="choose")
    parser.add_argument("--learners", default="default", help=", ".join(LEARNERS))
    parser.add_argument("--problems", default="", help="all of the half by default: " + ", ".join(PROBLEMS))
    parser.add_argument("--biases", default=",".join(BIASES))
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--skip", type=int, default=0, help="seeds of the half to leave out")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--out", default="out/wide.csv")
    parser.add_argument("--table", metavar="CSV", help="print the table of a finished study")
    args = parser.parse_args()
    if args.table is None:
        sweep(args.out, FIELDS, list(wanted(args)), one, args.jobs)
    table(args.table or args.out)


if __name__ == "__main__":
    main()
