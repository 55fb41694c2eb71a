"""The rivals of the default: ordinary optimizers, and the methods of a careful laboratory."""

import math
import warnings
from collections import defaultdict
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from equipoise._typing import FloatArray
from equipoise.answer import Recommendation
from equipoise.data import Trial
from equipoise.lab.experiments.real.recorded import RecordedWorld
from equipoise.lab.experiments.runner import Learner
from equipoise.spaces import Box, Space

REFERENCE = -1
"""The number of a trial that measures the reference arm."""


class Optuna:
    """An Optuna sampler, TPE by default: it recommends a point that it has measured, and claims no bound.

    A point that breaks the constraint is reported as pruned, without a reading, and the sampler proposes another one.

    Args:
        space: The space of points.
        seed: The seed of the sampler.
        by_mean: Recommend the point with the best mean of readings, instead of the best single reading.
        sampler: The name of the sampler, such as "GPSampler".
        **settings: Other settings of the sampler, such as `multivariate` for a joint model of the knobs.
    """

    def __init__(
        self,
        space: Space | Box,
        seed: int,
        by_mean: bool = False,
        sampler: str = "TPESampler",
        **settings: Any,
    ) -> None:
        import optuna

        optuna.logging.set_verbosity(optuna.logging.ERROR)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", optuna.exceptions.ExperimentalWarning)
            chosen = getattr(optuna.samplers, sampler)(seed=seed, **settings)
        self._study = optuna.create_study(direction="maximize", sampler=chosen)
        self._refused = optuna.trial.TrialState.PRUNED
        self._allowed = space.constraint if isinstance(space, Space) and callable(space.constraint) else None
        self._knobs = _distributions(space, optuna.distributions)
        self._named, self._by_mean = isinstance(space, Space), by_mean
        self._open: dict[int, Any] = {}

    def ask(self) -> Trial:
        """Return the next trial to measure."""
        asked = self._study.ask(self._knobs)
        while self._allowed is not None and not self._allowed(self._point(asked.params)):
            self._study.tell(asked, state=self._refused)
            asked = self._study.ask(self._knobs)
        self._open[asked.number] = asked
        return Trial(asked.number, self._point(asked.params))

    def tell(self, trial: Trial, value: float) -> None:
        """Report the reading of a trial."""
        self._study.tell(self._open.pop(trial.id), value)

    def recommend(self) -> Recommendation:
        """Return the point of the best reading, or of the best mean."""
        params = self._best_in_the_mean() if self._by_mean else self._study.best_params
        return Recommendation(self._point(params), math.nan, len(self._study.trials))

    def _best_in_the_mean(self) -> dict[str, Any]:
        found: dict[Any, list[float]] = defaultdict(list)
        for trial in self._study.trials:
            if trial.value is not None:
                found[tuple(trial.params[name] for name in self._knobs)].append(trial.value)
        return dict(zip(self._knobs, max(found, key=lambda params: float(np.mean(found[params]))), strict=True))

    def _point(self, params: Mapping[str, Any]) -> Any:
        return dict(params) if self._named else np.array([params[name] for name in self._knobs])


def _distributions(space: Space | Box, known: Any) -> dict[str, Any]:
    if isinstance(space, Box):
        return {str(i): known.FloatDistribution(*each) for i, each in enumerate(space.bounds.tolist())}
    described = {name: parameter.to_dict() for name, parameter in space.parameters.items()}
    return {name: _distribution(each, known) for name, each in described.items()}


def _distribution(described: Mapping[str, Any], known: Any) -> Any:
    if described["type"] == "choice":
        return known.CategoricalDistribution(described["options"])
    kind = known.FloatDistribution if described["type"] == "float" else known.IntDistribution
    return kind(described["low"], described["high"], log=described.get("log", False))


class Cma:
    """pycma on the encoded space: one coordinate per number, and one per option of a choice.

    Args:
        space: The space of points.
        seed: The seed of its generator.
        step: Its first standard deviation, as a share of the range.
    """

    def __init__(self, space: Space, seed: int, step: float = 0.3) -> None:
        import cma

        self._space, self._readings = space, 0
        options = {"bounds": [0, 1], "seed": seed + 1, "verbose": -9}
        self._strategy = cma.CMAEvolutionStrategy(np.full(space.dimension, 0.5), step, options)
        self._queue: list[FloatArray] = []
        self._done: list[tuple[FloatArray, float]] = []

    def ask(self) -> Trial:
        """Return the next trial to measure."""
        if not self._queue:
            self._queue = [np.asarray(x) for x in self._strategy.ask()]
        return Trial(self._readings, self._point(self._queue[0]))

    def tell(self, trial: Trial, value: float) -> None:
        """Report the reading of a trial."""
        self._readings += 1
        self._done.append((self._queue.pop(0), -value))
        if not self._queue:
            self._strategy.tell(*map(list, zip(*self._done, strict=True)))
            self._done.clear()

    def recommend(self) -> Recommendation:
        """Return its favorite."""
        return Recommendation(self._point(np.asarray(self._strategy.result.xfavorite)), math.nan, self._readings)

    def _point(self, x: FloatArray) -> dict[str, Any]:
        return self._space.decode(self._space.snap(np.clip(x, 0.0, 1.0)[None])[0])


class WithReference:
    """A learner that measures a reference arm before every reading and passes the difference to another learner.

    Args:
        world: The world.
        seed: The seed of the reference and of the other learner.
        make: The function that makes the other learner.
    """

    def __init__(self, world: RecordedWorld, seed: int, make: Callable[[RecordedWorld, int], Learner]) -> None:
        self._inner = make(world, seed)
        self._reference = world.table.point(int(np.random.default_rng(seed).integers(len(world.table.arms))))
        self._level: float | None = None

    def ask(self) -> Trial:
        """Return the reference, or the next trial of the other learner."""
        return Trial(REFERENCE, self._reference) if self._level is None else self._inner.ask()

    def tell(self, trial: Trial, value: float) -> None:
        """Store the reference's reading, or pass the difference on."""
        if self._level is None:
            self._level = value
        else:
            self._inner.tell(trial, value - self._level)
            self._level = None

    def recommend(self) -> Recommendation:
        """Return the recommendation of the other learner."""
        return self._inner.recommend()


class RandomizedBlocks:
    """The textbook's method: measure the arms in random order, repeatedly, and fit arm + batch by least squares.

    Args:
        world: A world with batches that the learner knows.
        seed: The seed of the order.
    """

    def __init__(self, world: RecordedWorld, seed: int) -> None:
        self._table, self._batch = world.table, world.batch or world.readings
        self._rng = np.random.default_rng(seed)
        self._queue: list[int] = []
        self._read: list[tuple[int, float]] = []

    def ask(self) -> Trial:
        """Return the next trial to measure."""
        if not self._queue:
            self._queue = self._rng.permutation(len(self._table.arms)).tolist()
        return Trial(len(self._read), self._table.point(self._queue[0]))

    def tell(self, trial: Trial, value: float) -> None:
        """Report the reading of a trial."""
        self._read.append((self._queue.pop(0), value))

    def recommend(self) -> Recommendation:
        """Return the arm with the largest effect."""
        arm, y = np.array(self._read).T
        batch = np.arange(len(arm)) // self._batch
        design = np.hstack([np.equal.outer(arm, np.unique(arm)), np.equal.outer(batch, np.unique(batch))])
        effects = np.linalg.lstsq(design.astype(float), y, rcond=None)[0][: len(np.unique(arm))]
        return Recommendation(self._table.point(int(np.unique(arm)[effects.argmax()])), math.nan, len(y))
