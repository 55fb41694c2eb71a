"""Other platforms on the board: Ax, SMAC, Xopt and W-DBO, each used as its documentation recommends."""

import math
import time
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from equipoise.lab.board.entrants import MOST_RANDOM, Memory, quiet
from equipoise.lab.board.instruments import Point
from equipoise.spaces import Choice, Float, Int, Space

LAST = 20
"""The number of last readings among which W-DBO recommends the best: older ones are out of date."""


class Ax:
    """Ax's `Client` with its defaults: Sobol' settings, then a Gaussian process with qLogNEI.

    It proposes no setting twice; if it has tried all settings, it reads the best one again.

    Args:
        space: The space of settings; a constraint is refused.
        readings: Not used.
        seed: The seed of the experiment.
    """

    def __init__(self, space: Space, readings: int, seed: int) -> None:
        import torch

        torch.set_num_threads(1)
        torch.manual_seed(seed)
        self._trial: int | None = 0  # None if no setting is left
        with quiet():
            from ax.api.client import Client

            self._client = Client(random_seed=seed)
            self._client.configure_experiment([_of_ax(name, p) for name, p in space.parameters.items()])
            self._client.configure_optimization("reading")

    def ask(self) -> Point:
        """Return the setting to read next: the best one again if it has tried all settings."""
        from ax.exceptions.core import SearchSpaceExhausted

        if self._trial is not None:
            try:
                with quiet():
                    ((self._trial, x),) = self._client.get_next_trials(1).items()
                return dict(x)
            except SearchSpaceExhausted:
                self._trial = None
        return self.best()[0]

    def tell(self, x: Point, reading: float) -> None:
        """Report the reading of the proposed setting."""
        if self._trial is not None:
            with quiet():
                self._client.complete_trial(self._trial, {"reading": reading})

    def best(self) -> tuple[Point, float]:
        """Return the setting that it considers best."""
        with quiet():
            return dict(self._client.get_best_parameterization()[0]), math.nan


def _of_ax(name: str, parameter: Any) -> Any:
    from ax.api.configs import ChoiceParameterConfig, RangeParameterConfig

    match parameter:
        case Float():
            return RangeParameterConfig(name, (parameter.low, parameter.high), "float")
        case Int():
            return RangeParameterConfig(name, (parameter.low, parameter.high), "int")
        case Choice():
            words = isinstance(parameter.options[0], str)
            return ChoiceParameterConfig(name, list(parameter.options), "str" if words else "int", is_ordered=not words)
    raise TypeError(f"`parameter` must be a Float, an Int or a Choice, got {parameter!r}")


class Smac:
    """SMAC's `HyperparameterOptimizationFacade`: a random forest that measures settings again.

    Args:
        space: The space of settings; a constraint is refused.
        readings: The number of readings of a run.
        seed: The seed of the scenario.
    """

    def __init__(self, space: Space, readings: int, seed: int) -> None:
        from ConfigSpace import ConfigurationSpace
        from smac import HyperparameterOptimizationFacade, Scenario

        described = {name: _of_smac(p) for name, p in space.parameters.items()}
        self._space, self._folder = space, TemporaryDirectory()  # it always keeps files
        scenario = Scenario(
            ConfigurationSpace(space=described, seed=seed),
            output_directory=Path(self._folder.name),
            n_trials=readings,
            seed=seed,
        )
        self._facade = HyperparameterOptimizationFacade(scenario, _never_called, logging_level=False)
        self._trial: Any = None

    def ask(self) -> Point:
        """Return the setting to read next: the incumbent again if it has tried all settings."""
        from smac.main.exceptions import ConfigurationSpaceExhaustedException

        try:
            with quiet():
                self._trial = self._facade.ask()
        except (ConfigurationSpaceExhaustedException, StopIteration):  # the second from the second time on
            self._trial = None
            return self.best()[0]
        return self._point(self._trial.config)

    def tell(self, x: Point, reading: float) -> None:
        """Report the reading of the proposed setting."""
        from smac.runhistory.dataclasses import TrialValue

        if self._trial is not None:
            with quiet():
                self._facade.tell(self._trial, TrialValue(cost=-reading))

    def best(self) -> tuple[Point, float]:
        """Return its incumbent."""
        return self._point(self._facade.intensifier.get_incumbents()[0]), math.nan

    def _point(self, config: Any) -> Point:
        return {name: np.asarray(config[name]).item() for name in self._space.parameters}


def _of_smac(parameter: Any) -> Any:
    """Return a parameter in ConfigSpace's form: a range, or a list."""
    return list(parameter.options) if isinstance(parameter, Choice) else (parameter.low, parameter.high)


def _never_called(config: Any, seed: int = 0) -> float:
    """Stand in for the target that SMAC requires but does not call between `ask` and `tell`."""
    raise RuntimeError("SMAC is told its readings")


class Xopt:
    """Xopt's time-dependent UCB, whose Gaussian process has time as an additional input; a reading takes a second.

    It recommends the measured setting with the largest posterior mean at the time of the last reading.

    Args:
        space: The space of settings: numbers only.
        readings: Not used.
        seed: The seed of the start and of torch.
    """

    def __init__(self, space: Space, readings: int, seed: int) -> None:
        import torch
        from xopt.generators.bayesian.upper_confidence_bound import TDUpperConfidenceBoundGenerator
        from xopt.vocs import VOCS

        torch.set_num_threads(1)
        torch.manual_seed(seed)
        self._memory = Memory(space, np.random.default_rng(seed))
        self._start, self._began = min(2 * len(space.parameters) + 2, MOST_RANDOM), time.time()
        ranges = {name: [p.low, p.high] for name, p in space.parameters.items() if isinstance(p, Float)}
        vocs = VOCS(variables=ranges, objectives={"reading": "MAXIMIZE"})
        with quiet():
            self._generator = TDUpperConfidenceBoundGenerator(vocs=vocs)
            self._generator.numerical_optimizer.n_restarts = 4

    def ask(self) -> Point:
        """Return the setting to read next."""
        from xopt.generators.bayesian.bayesian_generator import BayesianGenerator

        if len(self._memory.y) < self._start:
            return self._memory.anywhere()
        # Its own `generate` sleeps until the time of its prediction; here time is simulated.
        self._generator.target_prediction_time = self._began + len(self._memory.y)
        with quiet():
            found = BayesianGenerator.generate(self._generator, 1)[0]
        return {name: float(found[name]) for name in self._memory.space.parameters}

    def tell(self, x: Point, reading: float) -> None:
        """Report the reading of the proposed setting."""
        import pandas as pd

        row = x | {"reading": reading, "time": self._began + len(self._memory.y)}
        self._memory.tell(x, reading)
        with quiet():
            self._generator.add_data(pd.DataFrame([row]))

    def best(self) -> tuple[Point, float]:
        """Return the measured setting with the largest posterior mean now."""
        import torch

        now = np.full((len(self._memory.y), 1), self._began + len(self._memory.y) - 1)
        settings = [
            [self._memory.space.decode(x)[name] for name in self._memory.space.parameters] for x in self._memory.X
        ]
        points = torch.tensor(np.hstack((np.array(settings), now)), dtype=torch.double)
        with quiet():
            model = self._generator.train_model()
        with torch.no_grad():
            mean = model.posterior(points).mean
        return self._memory.space.decode(self._memory.X[int(mean.argmax())]), math.nan


class WDbo:
    """W-DBO (Bardou, Thiran and Ranieri 2024), which tracks a moving optimum and forgets stale readings.

    It recommends the best of its last twenty readings and claims no bound.

    Args:
        space: The space of settings: numbers only.
        readings: The number of readings of a run, which lasts from time 0 to 1.
        seed: The seed of its generators.
    """

    def __init__(self, space: Space, readings: int, seed: int) -> None:
        import torch
        from gpytorch.kernels import MaternKernel
        from wdbo_algo.optimizer import WDBOOptimizer

        torch.set_num_threads(1)
        torch.manual_seed(seed)
        np.random.seed(seed)  # noqa: NPY002 - it draws from the global generator
        self._memory, self._readings = Memory(space, np.random.default_rng(seed)), readings
        domain = np.array([[p.low, p.high] for p in space.parameters.values() if isinstance(p, Float)])
        kernels = {"spatial_kernel_args": [2.5], "temporal_kernel_args": [1.5]}
        self._optimizer = WDBOOptimizer(domain, MaternKernel, MaternKernel, **kernels)

    @property
    def _now(self) -> float:
        return len(self._memory.y) / self._readings

    def ask(self) -> Point:
        """Return the setting to read next."""
        with quiet():
            found = np.ravel(self._optimizer.next_query(self._now))
        return dict(zip(self._memory.space.parameters, map(float, found), strict=True))

    def tell(self, x: Point, reading: float) -> None:
        """Report the reading of the proposed setting."""
        with quiet():
            self._optimizer.tell(np.array(list(x.values())), self._now, reading)
            self._optimizer.clean(self._now)
        self._memory.tell(x, reading)

    def best(self) -> tuple[Point, float]:
        """Return the setting of the best of the last readings."""
        first = max(len(self._memory.y) - LAST, 0)
        best = first + int(np.argmax(self._memory.y[first:]))
        return self._memory.space.decode(self._memory.X[best]), math.nan
