"""Several numbers per trial: is the recommendation good, does it hold its limits, and how large is the front?

    python benchmarks/outputs.py --seeds 8 --readings 100
    python benchmarks/outputs.py --safe --seeds 8 --readings 100
    python benchmarks/outputs.py --bounds --seeds 8 --readings 100
    python benchmarks/outputs.py --fronts --seeds 4 --readings 100

Every output of a plant has its own offset: none, a random walk, or jumps. Limits are relative to the start.
Beside (`outputs_peers.py`): Optuna's TPE and GPSampler with constraints, Xopt's expected improvement with constraints;
for fronts NSGA-II, GPSampler and BoTorch's qNEHVI. They believe the readings as they stand; each recommends the best of
its trials whose readings hold the limits. What is not installed is left out.

Printed for each plant and offset, over the seeds: what is left to gain of what the start leaves (mean; an infeasible
recommendation counts as the start), the share of runs with at most 5 % left, the share whose recommendation breaks a
limit, and of safe runs the share that ever broke a limit by more than a tenth of its output's range. For fronts: the
hypervolume of the true values of what is returned, over that of the best points that 8,192 random ones contain.
"""

import argparse
import importlib.util
import os
import time
import warnings
from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np
from outputs_peers import Peer, Point, best_feasible, by_optuna, not_dominated, qnehvi, xopt_ei

import equipoise as eq
from equipoise.answer import hypervolume
from equipoise.lab.environments import (
    Jumps,
    NoBias,
    Plant,
    PlantReadings,
    RandomWalk,
    beam_line_with_loss,
    branin_in_a_disk,
    dtlz2,
    gp_plant,
    townsend,
    zdt1,
)

NOISE = 0.01
OFFSETS = {"none": NoBias(), "walk": RandomWalk(0.03), "jumps": Jumps(rate=0.05, scale=0.3)}
"""In units of the range of each output."""

Solver = Callable[[Plant, PlantReadings, int, int, bool], tuple[Point, list[Point]]]


def space(plant: Plant) -> eq.Box:
    return eq.Box(plant.bounds)


def ours(plant: Plant, readings: PlantReadings, n: int, seed: int, safe: bool) -> tuple[Point, list[Point]]:
    """Return what is recommended, and what was asked for."""
    opt = eq.Optimizer(
        space(plant), objective=plant.objective, limits=plant.limits, start=plant.start, safe=safe, rng=seed
    )
    asked = _measured(opt, readings, n)
    return opt.recommend().x, asked


def _measured(opt: eq.Optimizer, readings: PlantReadings, n: int) -> list[Point]:
    asked = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for _ in range(n):
            trial = opt.ask()
            asked.append(trial.x)
            opt.tell(trial, readings.measure(trial.x))
    return asked


def beside(peer: Peer) -> Solver:
    """Return the same of a peer, which recommends the best of its readings that hold the limits."""

    def solver(plant: Plant, readings: PlantReadings, n: int, seed: int, safe: bool) -> tuple[Point, list[Point]]:
        points, read = peer(plant, readings, n, seed)
        return best_feasible(plant, points, read), points

    return solver


def in_optuna(plant: Plant, readings: PlantReadings, n: int, seed: int, safe: bool) -> tuple[Point, list[Point]]:
    """Return the same of our sampler in Optuna, whose start is the first trial."""
    import optuna

    from equipoise.integrations.optuna import DuelSampler, best_params, paired

    optuna.logging.set_verbosity(optuna.logging.ERROR)
    names, asked = [str(i) for i in range(len(plant.bounds))], []
    (wanted,) = plant.objectives

    def measured(trial: Any) -> float:
        x = np.array([trial.suggest_float(name, *ends) for name, ends in zip(names, plant.bounds, strict=True)])
        asked.append(x)
        found = readings.measure(x)
        for name, value in found.items():
            trial.set_user_attr(name, value)
        return plant.objectives[wanted] * found[wanted]

    study = optuna.create_study(direction="maximize", sampler=DuelSampler(limits=plant.limits, seed=seed))
    study.enqueue_trial(dict(zip(names, plant.start.tolist(), strict=True)))
    study.optimize(paired(measured), n_trials=n // 2)
    best = best_params(study)
    return np.array([best[name] for name in names]), asked


SOLVERS: dict[str, tuple[Solver, str]] = {
    "equipoise": (ours, "equipoise"),
    "DuelSampler": (in_optuna, "optuna"),
    "tpe": (beside(by_optuna(lambda optuna, **given: optuna.samplers.TPESampler(**given))), "optuna"),
    "gp": (beside(by_optuna(lambda optuna, **given: optuna.samplers.GPSampler(**given))), "torch"),
    "xopt": (beside(xopt_ei), "xopt"),
}
"""Each solver, and the package without which it is left out."""


LIMITED = {
    "branin-disk": lambda seed: branin_in_a_disk(),
    "townsend": lambda seed: townsend(),
    "gp3": lambda seed: gp_plant(3, 1, rng=seed),
    "gp6": lambda seed: gp_plant(6, 2, rng=seed),
    "beam line": lambda seed: beam_line_with_loss(),
}


@cache
def limited_plant(name: str, seed: int) -> Plant:
    """Return a plant, the same for all offsets and solvers: to find its best setting takes seconds."""
    return LIMITED[name](seed)


def limited(name: str, offset: str, solver: Solver, given: argparse.Namespace) -> list[tuple[float, bool, bool]]:
    """Return of each seed what is left to gain, whether a limit is broken, and whether one ever was by a tenth."""
    found = []
    for seed in _seeds(given):
        plant = limited_plant(name, seed)
        readings = PlantReadings(plant, OFFSETS[offset], NOISE, rng=1000 + seed)
        best, asked = solver(plant, readings, given.readings, seed, given.safe)
        base = float(plant.values(plant.start)[0])
        broken = not bool(plant.holds(best))
        left = 1.0 if broken else (plant.best - float(plant.values(best)[0])) / max(plant.best - base, 1e-9)
        found.append((left, broken, bool(plant.violation(np.array(asked)).max() > 0.1)))
    return found


def available(solvers: dict[str, Any], wanted: list[str] | None) -> dict[str, Any]:
    """Return the solvers that are wanted and whose package is installed; say which are left out, and why."""
    found = {}
    for who, (solver, package) in solvers.items():
        if wanted and who not in wanted:
            continue
        if importlib.util.find_spec(package) is None:
            print(f"{who} is left out: the package `{package}` is not installed")
            continue
        found[who] = solver
    return found


def report_limited(given: argparse.Namespace) -> None:
    wanted = ["equipoise"] if given.safe else given.solvers
    solvers = available(SOLVERS, wanted)
    print("| plant | offset | | left | within 5 % | recommended breaks | ever breaks by a tenth | s |")
    print("|---|---|---|---|---|---|---|---|")
    for name in given.plants or LIMITED:
        for offset in given.offsets or OFFSETS:
            for who, solver in solvers.items():
                begun = time.process_time()
                left, broken, ever = np.array(limited(name, offset, solver, given), dtype=float).T
                spent = (time.process_time() - begun) / given.seeds
                shares = f"{np.mean(left <= 0.05):.2f} | {broken.mean():.2f} | {ever.mean():.2f}"
                print(f"| {name} | {offset} | {who} | {_with_error(left)} | {shares} | {spent:.1f} |", flush=True)


def report_bounds(given: argparse.Namespace) -> None:
    print("| plant | offset | bound held | bound (median) | regret (median) |")
    print("|---|---|---|---|---|")
    for name in given.plants or LIMITED:
        for offset in given.offsets or OFFSETS:
            found = np.array([_bounded(name, offset, seed, given.readings) for seed in _seeds(given)])
            held, bounds, regrets = found.T
            middle = f"{np.median(bounds):.3f} | {np.median(regrets):.3f}"
            print(f"| {name} | {offset} | {held.sum():.0f} of {len(held)} | {middle} |", flush=True)


def _bounded(name: str, offset: str, seed: int, n: int) -> tuple[bool, float, float]:
    """Return whether the bound of a study holds, the bound, and the regret, as shares of what the start leaves."""
    plant = limited_plant(name, seed)
    opt = eq.Optimizer(space(plant), objective=plant.objective, limits=plant.limits, start=plant.start, rng=seed)
    _measured(opt, PlantReadings(plant, OFFSETS[offset], NOISE, rng=1000 + seed), n)
    best, scale = opt.recommend(), plant.best - float(plant.values(plant.start)[0])
    regret = plant.best - float(plant.values(best.x)[0])
    return regret <= best.gap_bound, best.gap_bound / scale, regret / scale


def _seeds(given: argparse.Namespace) -> range:
    return range(given.first, given.first + given.seeds)


def _with_error(values: Sequence[float] | np.ndarray) -> str:
    error = np.std(values, ddof=1) / np.sqrt(len(values)) if len(values) > 1 else np.nan
    return f"{np.mean(values):.3f} ± {error:.3f}"


FRONTS: dict[str, tuple[Callable[[], Plant], list[float]]] = {
    "zdt1": (zdt1, [-1.1, -6.0]),
    "dtlz2": (dtlz2, [-2.0, -2.0]),
    "beam line": (lambda: beam_line_with_loss("flux, -loss"), [0.0, -30.0]),
}
"""Each plant and the reference of its hypervolume."""

Claims = tuple[list[bool], list[bool]]
"""Which intervals against the start hold, and which settings are not dominated by more than their tolerance."""

Front = Callable[[Plant, PlantReadings, list[float], int, int], tuple[list[Point], Claims]]
"""Takes a plant, its readings, a reference, how many readings, and a seed; returns the settings that are expected to be
the front, and how many claims held."""


def our_front(
    plant: Plant, readings: PlantReadings, reference: list[float], n: int, seed: int
) -> tuple[list[Point], Claims]:
    opt = eq.Optimizer(space(plant), objective=plant.objective, start=plant.start, rng=seed)
    asked = plant.values(np.array(_measured(opt, readings, n)))
    points, base, held, kept = opt.front(), plant(plant.start), [], []
    for point in points:
        now, against = plant(point.x), point.against_start
        held += [against[k].low <= float(now[k] - base[k]) <= against[k].high for k in plant.objectives]
        margin = np.array([point.tolerance[k] for k in plant.objectives])
        kept.append(not bool((asked > plant.values(point.x) + margin).all(axis=1).any()))
    return [point.x for point in opt.front(tolerance=1.0)], (held, kept)


def front_of(make: Callable[[list[float]], Peer]) -> Front:
    """Return the same of a peer, made from the reference; it claims nothing."""

    def solver(
        plant: Plant, readings: PlantReadings, reference: list[float], n: int, seed: int
    ) -> tuple[list[Point], Claims]:
        return not_dominated(plant, *make(reference)(plant, readings, n, seed)), ([], [])

    return solver


NSGA = by_optuna(lambda optuna, **given: optuna.samplers.NSGAIISampler(population_size=20, **given))
GP = by_optuna(lambda optuna, **given: optuna.samplers.GPSampler(**given))

FRONT_SOLVERS: dict[str, tuple[Front, str]] = {
    "equipoise": (our_front, "equipoise"),
    "nsga": (front_of(lambda _: NSGA), "optuna"),
    "gp": (front_of(lambda _: GP), "torch"),
    "qnehvi": (front_of(qnehvi), "botorch"),
}


def report_fronts(given: argparse.Namespace) -> None:
    print("| plant | offset | | hypervolume | points | claimed | intervals held | truly not dominated |")
    print("|---|---|---|---|---|---|---|---|")
    solvers = available(FRONT_SOLVERS, given.solvers)
    for name in given.plants or FRONTS:
        make, reference = FRONTS[name]
        plant = make()
        width = np.ptp(plant.bounds, axis=1)
        Y = plant.values(plant.bounds[:, 0] + width * np.random.default_rng(0).random((8192, len(width))))
        whole = hypervolume(Y[~dominated_slowly(Y)], np.array(reference))
        for offset in given.offsets or OFFSETS:
            for who, solver in solvers.items():
                volumes, counts, held, kept = [], [], [], []
                for seed in _seeds(given):
                    readings = PlantReadings(plant, OFFSETS[offset], NOISE, rng=1000 + seed)
                    points, claims = solver(plant, readings, reference, given.readings, seed)
                    F = plant.values(np.array(points).reshape(-1, len(width)))
                    volumes.append(hypervolume(F, np.array(reference)) / whole)
                    counts.append(len(points))
                    held += claims[0]
                    kept += claims[1]
                shares = " | ".join(f"{np.mean(some):.2f}" if some else "-" for some in (held, kept))
                print(
                    f"| {name} | {offset} | {who} | {_with_error(volumes)} "
                    f"| {np.mean(counts):.0f} | {len(kept) / given.seeds:.0f} | {shares} |",
                    flush=True,
                )


def dominated_slowly(Y: np.ndarray) -> np.ndarray:
    """Return which of many settings are dominated, in little memory."""
    best = Y[np.argsort(-Y[:, 0])]
    tops = np.maximum.accumulate(best[:, 1])
    return np.array([bool(tops[np.searchsorted(-best[:, 0], -y[0], "right") - 1] > y[1]) for y in Y])


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=8)
    parser.add_argument("--first", type=int, default=0, help="the first seed")
    parser.add_argument("--readings", type=int, default=100)
    parser.add_argument("--safe", action="store_true")
    parser.add_argument("--bounds", action="store_true", help="whether the bound of a study with limits holds")
    parser.add_argument("--fronts", action="store_true")
    parser.add_argument("--plants", nargs="*", choices=sorted({*LIMITED, *FRONTS}))
    parser.add_argument("--offsets", nargs="*", choices=list(OFFSETS))
    parser.add_argument("--solvers", nargs="*", choices=sorted({*SOLVERS, *FRONT_SOLVERS}))
    given = parser.parse_args()
    (report_fronts if given.fronts else report_bounds if given.bounds else report_limited)(given)
