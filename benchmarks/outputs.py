"""Several numbers a trial: how good is what is recommended, does it hold its limits, and how large is the front?

    python benchmarks/outputs.py --seeds 8 --readings 100
    python benchmarks/outputs.py --safe --seeds 8 --readings 100
    python benchmarks/outputs.py --fronts --seeds 4 --readings 100

Every output of a plant has an offset of its own: none, a random walk, or jumps. Limits are relative to the start.
Beside: Optuna's TPE with constraints, and NSGA-II for fronts, which believe the readings as they stand; each recommends
the best of its trials whose readings hold the limits.

Printed for each plant and offset, over the seeds: what is left to gain of what the start leaves (mean; an infeasible
recommendation counts as the start), the share of runs with at most 5 % left, the share whose recommendation breaks a
limit, and of safe runs the share that ever broke a limit by more than a tenth of its output's range. For fronts: the
hypervolume of the true values of what is returned, over that of the best points that 8,192 random ones contain.
"""

import argparse
import os
import time
import warnings
from collections.abc import Callable
from typing import Any

os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np

import equipoise as eq
from equipoise.answer import dominated, hypervolume
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

Point = np.ndarray


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


def tpe(plant: Plant, readings: PlantReadings, n: int, seed: int, safe: bool) -> tuple[Point, list[Point]]:
    """Return the same of Optuna's TPE with constraints, which begins at the start."""
    import optuna

    sampler = optuna.samplers.TPESampler(seed=seed, constraints_func=lambda trial: trial.user_attrs["broken"])
    return _by_optuna(optuna, sampler, ["maximize"], plant, readings, n)


def _by_optuna(
    optuna: Any, sampler: Any, directions: list[str], plant: Plant, readings: PlantReadings, n: int
) -> tuple[Point, list[Point]]:
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    study = optuna.create_study(directions=directions, sampler=sampler)
    study.enqueue_trial({f"x{k}": float(v) for k, v in enumerate(plant.start)})
    first: dict[str, float] = {}

    def objective(trial: Any) -> Any:
        x = np.array([trial.suggest_float(f"x{k}", *bounds) for k, bounds in enumerate(plant.bounds)])
        read = readings.measure(x)
        first.update(first or read)
        broken = [read[name] - first[name] - room for name, room in plant.rooms.items()]
        trial.set_user_attr("broken", broken)
        values = [sign * read[name] for name, sign in plant.objectives.items()]
        return values if len(values) > 1 else values[0]

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        study.optimize(objective, n_trials=n)
    points = [np.array([trial.params[f"x{k}"] for k in range(len(plant.bounds))]) for trial in study.trials]
    if len(directions) > 1:
        return points[0], [points[trial.number] for trial in study.best_trials]
    kept = [t for t in study.trials if max(t.user_attrs["broken"], default=0.0) <= 0] or study.trials
    return points[max(kept, key=lambda t: t.value).number], points


LIMITED = {
    "branin-disk": lambda seed: branin_in_a_disk(),
    "townsend": lambda seed: townsend(),
    "gp3": lambda seed: gp_plant(3, 1, rng=seed),
    "gp6": lambda seed: gp_plant(6, 2, rng=seed),
    "beam line": lambda seed: beam_line_with_loss(),
}

Solver = Callable[[Plant, PlantReadings, int, int, bool], tuple[Point, list[Point]]]


def limited(name: str, offset: str, solver: Solver, given: argparse.Namespace) -> list[tuple[float, bool, bool]]:
    """Return of each seed what is left to gain, whether a limit is broken, and whether one ever was by a tenth."""
    found = []
    for seed in range(given.first, given.first + given.seeds):
        plant = LIMITED[name](seed)
        readings = PlantReadings(plant, OFFSETS[offset], NOISE, rng=1000 + seed)
        best, asked = solver(plant, readings, given.readings, seed, given.safe)
        base = float(plant.values(plant.start)[0])
        broken = not bool(plant.holds(best))
        left = 1.0 if broken else (plant.best - float(plant.values(best)[0])) / max(plant.best - base, 1e-9)
        found.append((left, broken, bool(plant.violation(np.array(asked)).max() > 0.1)))
    return found


def report_limited(given: argparse.Namespace) -> None:
    solvers: dict[str, Solver] = {"equipoise": ours} if given.safe else {"equipoise": ours, "tpe": tpe}
    print("| plant | offset | | left | within 5 % | recommended breaks | ever breaks by a tenth | s |")
    print("|---|---|---|---|---|---|---|---|")
    for name in given.plants or LIMITED:
        for offset in OFFSETS:
            for who, solver in solvers.items():
                begun = time.process_time()
                left, broken, ever = np.array(limited(name, offset, solver, given), dtype=float).T
                spent = (time.process_time() - begun) / given.seeds
                shares = f"{np.mean(left <= 0.05):.2f} | {broken.mean():.2f} | {ever.mean():.2f}"
                error = left.std(ddof=1) / np.sqrt(len(left)) if len(left) > 1 else np.nan
                print(
                    f"| {name} | {offset} | {who} | {left.mean():.3f} ± {error:.3f} | {shares} | {spent:.1f} |",
                    flush=True,
                )


FRONTS: dict[str, tuple[Callable[[], Plant], list[float]]] = {
    "zdt1": (zdt1, [-1.1, -6.0]),
    "dtlz2": (dtlz2, [-2.0, -2.0]),
    "beam line": (lambda: beam_line_with_loss("flux, -loss"), [0.0, -30.0]),
}
"""Each plant and the reference of its hypervolume."""


def our_front(plant: Plant, readings: PlantReadings, n: int, seed: int) -> tuple[list[Point], list[bool]]:
    """Return the front, and which of its intervals against the start hold."""
    opt = eq.Optimizer(space(plant), objective=plant.objective, start=plant.start, rng=seed)
    _measured(opt, readings, n)
    points, base = opt.front(), plant(plant.start)
    held = [
        point.against_start[name].low <= float(plant(point.x)[name] - base[name]) <= point.against_start[name].high
        for point in points
        for name in plant.objectives
    ]
    return [point.x for point in points], held


def nsga(plant: Plant, readings: PlantReadings, n: int, seed: int) -> tuple[list[Point], list[bool]]:
    """Return the same of NSGA-II; it claims nothing."""
    import optuna

    sampler = optuna.samplers.NSGAIISampler(seed=seed, population_size=20)
    return _by_optuna(optuna, sampler, ["maximize"] * 2, plant, readings, n)[1], []


def report_fronts(given: argparse.Namespace) -> None:
    print("| plant | offset | | hypervolume | points | intervals held | not dominated in truth by a twentieth |")
    print("|---|---|---|---|---|---|---|")
    for name, (make, reference) in FRONTS.items():
        plant = make()
        spread = plant.bounds[:, 0] + np.ptp(plant.bounds, axis=1) * np.random.default_rng(0).random(
            (8192, len(plant.bounds))
        )
        Y = plant.values(spread)
        whole = hypervolume(Y[~dominated_slowly(Y)], np.array(reference))
        for offset, bias in OFFSETS.items():
            for who, solver in (("equipoise", our_front), ("nsga", nsga)):
                volumes: list[float] = []
                counts: list[int] = []
                held: list[bool] = []
                good: list[bool] = []
                for seed in range(given.first, given.first + given.seeds):
                    readings = PlantReadings(plant, bias, NOISE, rng=1000 + seed)
                    points, kept = solver(plant, readings, given.readings, seed)
                    F = plant.values(np.array(points)) if points else np.empty((0, 2))
                    volumes.append(hypervolume(F, np.array(reference)) / whole)
                    counts.append(len(points))
                    held += kept
                    good += (~dominated(F, 0.05 * np.ptp(F, axis=0))).tolist() if len(F) else []
                error = np.std(volumes) / np.sqrt(len(volumes))
                print(
                    f"| {name} | {offset} | {who} | {np.mean(volumes):.3f} ± {error:.3f} "
                    f"| {np.mean(counts):.0f} | {np.mean(held) if held else np.nan:.2f} | {np.mean(good):.2f} |",
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
    parser.add_argument("--fronts", action="store_true")
    parser.add_argument("--plants", nargs="*", choices=list(LIMITED))
    given = parser.parse_args()
    (report_fronts if given.fronts else report_limited)(given)
