"""Other optimizers on several numbers per trial: all of them trust the readings.

Each peer measures a number of times, the start first, and returns what it asked for and what it read. Optuna's samplers
take the limits as constraints; Xopt's constrained expected improvement and BoTorch's qNEHVI need `pip install xopt`.
"""

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from equipoise._typing import FloatArray
from equipoise.answer import dominated
from equipoise.lab.environments import Plant, PlantReadings

Point = FloatArray
Numbers = dict[str, float]
Peer = Callable[[Plant, PlantReadings, int, int], tuple[list[Point], list[Numbers]]]
"""Takes a plant, its readings, how many, and a seed; returns the settings measured and the readings."""

FIRST = 10
"""How many settings Xopt and BoTorch measure at random before they model, the start among them."""

RESTARTS, RAW = 4, 64
"""From how many points an acquisition function is climbed, and of how many these are the best."""


def broken(plant: Plant, read: Numbers, first: Numbers) -> list[float]:
    """Return by how much each limit is broken, by the reading at the start."""
    return [read[name] - first[name] - room for name, room in plant.rooms.items()]


def values(plant: Plant, read: list[Numbers]) -> FloatArray:
    """Return the readings of the objectives, each to be large, shape (n, K)."""
    return np.array([[sign * now[name] for name, sign in plant.objectives.items()] for now in read])


def best_feasible(plant: Plant, points: list[Point], read: list[Numbers]) -> Point:
    """Return the setting of the best reading among those whose readings hold all limits; of all if none does."""
    (name, sign), *_ = plant.objectives.items()
    holds = [max(broken(plant, now, read[0]), default=0.0) <= 0 for now in read]
    kept = [k for k, held in enumerate(holds) if held] or range(len(read))
    return points[max(kept, key=lambda k: sign * read[k][name])]


def not_dominated(plant: Plant, points: list[Point], read: list[Numbers]) -> list[Point]:
    """Return the settings whose readings no other one beats in every objective."""
    Y = values(plant, read)
    return [point for point, lost in zip(points, dominated(Y), strict=True) if not lost]


def by_optuna(make: Callable[..., Any]) -> Peer:
    """Return the peer of a sampler of Optuna, made from the package and keywords."""

    def peer(plant: Plant, readings: PlantReadings, n: int, seed: int) -> tuple[list[Point], list[Numbers]]:
        import optuna

        optuna.logging.set_verbosity(optuna.logging.ERROR)
        limits = {"constraints_func": lambda trial: trial.user_attrs["broken"]} if plant.rooms else {}
        points: list[Point] = []
        read: list[Numbers] = []

        def objective(trial: Any) -> Any:
            x = np.array([trial.suggest_float(f"x{k}", *bounds) for k, bounds in enumerate(plant.bounds)])
            points.append(x)
            read.append(readings.measure(x))
            trial.set_user_attr("broken", broken(plant, read[-1], read[0]))
            values = [sign * read[-1][name] for name, sign in plant.objectives.items()]
            return values if len(values) > 1 else values[0]

        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            sampler = make(optuna, seed=seed, **limits)
            study = optuna.create_study(directions=["maximize"] * len(plant.objectives), sampler=sampler)
            study.enqueue_trial({f"x{k}": float(v) for k, v in enumerate(plant.start)})
            study.optimize(objective, n_trials=n)
        return points, read

    return peer


def xopt_ei(plant: Plant, readings: PlantReadings, n: int, seed: int) -> tuple[list[Point], list[Numbers]]:
    """Return what Xopt's constrained expected improvement measures."""
    import pandas as pd
    import torch
    from xopt import VOCS
    from xopt.generators.bayesian import ExpectedImprovementGenerator
    from xopt.numerical_optimizer import LBFGSOptimizer

    torch.manual_seed(seed)
    torch.set_num_threads(1)
    (name, sign), *_ = plant.objectives.items()
    knobs = {f"x{k}": [float(low), float(high)] for k, (low, high) in enumerate(plant.bounds)}
    limits = {f"limit{k}": ["LESS_THAN", 0.0] for k in range(len(plant.rooms))}
    vocs = VOCS(variables=knobs, objectives={name: "MAXIMIZE" if sign > 0 else "MINIMIZE"}, constraints=limits)
    optimizer = LBFGSOptimizer(n_restarts=RESTARTS, max_iter=100)
    generator = ExpectedImprovementGenerator(vocs=vocs, numerical_optimizer=optimizer)
    points: list[Point] = []
    read: list[Numbers] = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for x in _first(plant, min(n, FIRST), seed):
            _take(generator, pd, x, plant, readings, points, read)
        while len(points) < n:
            found = generator.generate(1)[0]
            _take(generator, pd, np.array([float(found[k]) for k in knobs]), plant, readings, points, read)
    return points, read


def _take(
    generator: Any, pd: Any, x: Point, plant: Plant, readings: PlantReadings, points: list[Point], read: list[Numbers]
) -> None:
    """Measure at a point, and let the generator know."""
    points.append(x)
    read.append(readings.measure(x))
    knobs = {f"x{k}": float(value) for k, value in enumerate(x)}
    limits = {f"limit{k}": value for k, value in enumerate(broken(plant, read[-1], read[0]))}
    generator.add_data(pd.DataFrame([{**knobs, **{name: read[-1][name] for name in plant.objectives}, **limits}]))


def qnehvi(reference: list[float]) -> Peer:
    """Return the peer of BoTorch's noisy expected hypervolume improvement above a reference."""

    def peer(plant: Plant, readings: PlantReadings, n: int, seed: int) -> tuple[list[Point], list[Numbers]]:
        import torch

        torch.manual_seed(seed)
        torch.set_num_threads(1)
        points: list[Point] = []
        read: list[Numbers] = []
        for x in _first(plant, min(n, FIRST), seed):
            points.append(x)
            read.append(readings.measure(x))
        while len(points) < n:
            points.append(_top(plant, points, read, reference))
            read.append(readings.measure(points[-1]))
        return points, read

    return peer


def _top(plant: Plant, points: list[Point], read: list[Numbers], reference: list[float]) -> Point:
    """Return the setting of the largest noisy expected hypervolume improvement."""
    import torch
    from botorch.acquisition.multi_objective.logei import qLogNoisyExpectedHypervolumeImprovement
    from botorch.fit import fit_gpytorch_mll
    from botorch.models import ModelListGP, SingleTaskGP
    from botorch.models.transforms import Standardize
    from botorch.optim import optimize_acqf
    from gpytorch.mlls import SumMarginalLogLikelihood

    low, width = plant.bounds[:, 0], np.ptp(plant.bounds, axis=1)
    X = torch.tensor((np.array(points) - low) / width)
    Y = [
        torch.tensor([[sign * now[name]] for now in read], dtype=torch.double)
        for name, sign in plant.objectives.items()
    ]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = ModelListGP(*(SingleTaskGP(X, y, outcome_transform=Standardize(m=1)) for y in Y))
        fit_gpytorch_mll(SumMarginalLogLikelihood(model.likelihood, model))
        function = qLogNoisyExpectedHypervolumeImprovement(model, reference, X, prune_baseline=True)
        unit = torch.tensor(np.array([np.zeros(len(low)), np.ones(len(low))]))
        found, _ = optimize_acqf(function, unit, q=1, num_restarts=RESTARTS, raw_samples=RAW, options={"maxiter": 50})
    point: Point = low + width * found.detach().numpy()[0]
    return point


def _first(plant: Plant, n: int, seed: int) -> list[Point]:
    """Return the start and random settings."""
    low, high = plant.bounds.T
    return [plant.start, *(low + (high - low) * np.random.default_rng(seed).random((n - 1, len(low))))]
