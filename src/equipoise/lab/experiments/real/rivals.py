"""Who is compared on real data: the default, ordinary optimizers, and what a careful laboratory does today."""

import warnings
from collections import defaultdict
from collections.abc import Callable
from typing import Any, Protocol

import numpy as np

from equipoise._typing import FloatArray
from equipoise.lab.experiments.real.recorded import RecordedWorld
from equipoise.optimizer import Optimizer

Point = dict[str, Any]


class Competitor(Protocol):
    """What is compared: asked and told in turn."""

    def ask(self) -> Point:
        """Return the point to measure."""

    def tell(self, y: float) -> None:
        """Report its reading."""

    def best(self) -> tuple[Point, float]:
        """Return the point recommended, and the regret it is claimed not to exceed; not a number without a claim."""


class Ours:
    """An optimizer of this library."""

    def __init__(self, world: RecordedWorld, seed: int, **parts: Any) -> None:
        self._opt = Optimizer(world.table.space, rng=seed, **parts)
        self._trial: Any = None

    def ask(self) -> Point:
        """Return the point to measure."""
        self._trial = self._opt.ask()
        return dict(self._trial.x)

    def tell(self, y: float) -> None:
        """Report its reading."""
        self._opt.tell(self._trial, y)

    def best(self) -> tuple[Point, float]:
        """Return the recommendation and its bound."""
        best = self._opt.recommend()
        return best.x, best.gap_bound


class Tpe:
    """Optuna's TPE.

    Args:
        world: The world.
        seed: Of the sampler.
        multivariate: Whether it models the settings together.
        by_mean: Recommend the arm whose readings are best in the mean, rather than the best reading.
    """

    def __init__(self, world: RecordedWorld, seed: int, multivariate: bool = False, by_mean: bool = False) -> None:
        import optuna

        optuna.logging.set_verbosity(optuna.logging.ERROR)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", optuna.exceptions.ExperimentalWarning)
            sampler = optuna.samplers.TPESampler(seed=seed, multivariate=multivariate)
        self._study = optuna.create_study(direction="maximize", sampler=sampler)
        self._table, self._by_mean = world.table, by_mean
        self._trial: Any = None
        parameters = world.table.space.parameters.items()
        self._space = {name: _distribution(optuna.distributions, p.to_dict()) for name, p in parameters}

    def ask(self) -> Point:
        """Return the point to measure."""
        self._trial = self._study.ask(self._space)
        return dict(self._trial.params)

    def tell(self, y: float) -> None:
        """Report its reading."""
        self._study.tell(self._trial, y)

    def best(self) -> tuple[Point, float]:
        """Return the best reading's point, or that of the best mean."""
        if not self._by_mean:
            return dict(self._study.best_params), np.nan
        found = defaultdict(list)
        for trial in self._study.trials:
            if trial.value is not None:
                found[self._table.arm(trial.params)].append(trial.value)
        return self._table.point(max(found, key=lambda arm: np.mean(found[arm]))), np.nan


def _distribution(distributions: Any, described: dict[str, Any]) -> Any:
    if described["type"] == "choice":
        return distributions.CategoricalDistribution(described["options"])
    return distributions.IntDistribution(described["low"], described["high"])


class Cma:
    """pycma, on the encoded space: a coordinate for each number, one for each option of a choice.

    Args:
        world: The world.
        seed: Of its generator.
        step: Its first standard deviation, in parts of the range.
    """

    def __init__(self, world: RecordedWorld, seed: int, step: float = 0.3) -> None:
        import cma

        self._space = world.table.space
        options = {"bounds": [0, 1], "seed": seed + 1, "verbose": -9}
        self._strategy = cma.CMAEvolutionStrategy(np.full(self._space.dimension, 0.5), step, options)
        self._queue: list[FloatArray] = []
        self._done: list[tuple[FloatArray, float]] = []

    def ask(self) -> Point:
        """Return the point to measure."""
        if not self._queue:
            self._queue = [np.asarray(x) for x in self._strategy.ask()]
        return self._point(self._queue[0])

    def tell(self, y: float) -> None:
        """Report its reading."""
        self._done.append((self._queue.pop(0), -y))
        if not self._queue:
            self._strategy.tell(*map(list, zip(*self._done, strict=True)))
            self._done.clear()

    def best(self) -> tuple[Point, float]:
        """Return its favorite."""
        return self._point(np.asarray(self._strategy.result.xfavorite)), np.nan

    def _point(self, x: FloatArray) -> Point:
        return self._space.decode(self._space.snap(np.clip(x, 0.0, 1.0)[None])[0])


class WithReference:
    """Measures a reference arm before every reading, and shows another competitor the difference.

    Args:
        world: The world.
        seed: Draws the reference, and is the other's.
        make: Makes the other.
    """

    def __init__(self, world: RecordedWorld, seed: int, make: Callable[[RecordedWorld, int], Competitor]) -> None:
        self._inner = make(world, seed)
        self._reference = world.table.point(int(np.random.default_rng(seed).integers(len(world.table.arms))))
        self._level: float | None = None

    def ask(self) -> Point:
        """Return the reference or what the other wants to know."""
        return self._reference if self._level is None else self._inner.ask()

    def tell(self, y: float) -> None:
        """Keep the reference's reading, or pass the difference on."""
        if self._level is None:
            self._level = y
        else:
            self._inner.tell(y - self._level)
            self._level = None

    def best(self) -> tuple[Point, float]:
        """Return what the other recommends."""
        return self._inner.best()


class RandomizedBlocks:
    """Measures the arms in random order, again and again, and fits arm + batch by least squares: the textbook's way.

    Args:
        world: A world of batches, which it is told of.
        seed: Draws the order.
    """

    def __init__(self, world: RecordedWorld, seed: int) -> None:
        self._table, self._batch = world.table, world.batch or world.readings
        self._rng = np.random.default_rng(seed)
        self._queue: list[int] = []
        self._read: list[tuple[int, float]] = []

    def ask(self) -> Point:
        """Return the point to measure."""
        if not self._queue:
            self._queue = self._rng.permutation(len(self._table.arms)).tolist()
        return self._table.point(self._queue[0])

    def tell(self, y: float) -> None:
        """Report its reading."""
        self._read.append((self._queue.pop(0), y))

    def best(self) -> tuple[Point, float]:
        """Return the arm with the largest effect."""
        arm, y = np.array(self._read).T
        batch = np.arange(len(arm)) // self._batch
        design = np.hstack([np.equal.outer(arm, np.unique(arm)), np.equal.outer(batch, np.unique(batch))])
        effects = np.linalg.lstsq(design.astype(float), y, rcond=None)[0][: len(np.unique(arm))]
        return self._table.point(int(np.unique(arm)[effects.argmax()])), np.nan
