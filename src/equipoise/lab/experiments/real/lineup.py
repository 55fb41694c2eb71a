"""The competitors by name, and the packages that they need."""

import importlib.util
from collections.abc import Callable
from functools import partial
from typing import Any

from equipoise.lab.experiments.real.recorded import RecordedWorld
from equipoise.lab.experiments.real.rivals import Cma, Optuna, RandomizedBlocks, WithReference
from equipoise.lab.experiments.runner import Learner
from equipoise.offsets import Blocks
from equipoise.optimizer import Optimizer
from equipoise.policies import UCB

Maker = Callable[[RecordedWorld, int], Learner]


def _ours(world: RecordedWorld, seed: int, batches: bool = False, **parts: Any) -> Learner:
    if batches:
        parts["offset"] = Blocks(world.batch or world.readings)
    return Optimizer(world.table.space, rng=seed, **parts)


def _tpe(world: RecordedWorld, seed: int, multivariate: bool = False, by_mean: bool = False) -> Learner:
    return Optuna(world.table.space, seed, by_mean, multivariate=multivariate)


def _cma(world: RecordedWorld, seed: int, step: float = 0.3) -> Learner:
    return Cma(world.table.space, seed, step)


COMPETITORS: dict[str, Maker] = {
    "default": _ours,
    "default, batches told": partial(_ours, batches=True),
    "UCB": partial(_ours, policy=UCB()),
    "UCB, batches told": partial(_ours, batches=True, policy=UCB()),
    "UCB, reference arm": partial(WithReference, make=partial(_ours, policy=UCB())),
    "TPE": _tpe,
    "TPE by mean": partial(_tpe, by_mean=True),
    "TPE together": partial(_tpe, multivariate=True),
    "TPE together by mean": partial(_tpe, multivariate=True, by_mean=True),
    "TPE, reference arm": partial(WithReference, make=_tpe),
    "TPE by mean, reference arm": partial(WithReference, make=partial(_tpe, by_mean=True)),
    "CMA": _cma,
    "CMA, short steps": partial(_cma, step=0.15),
    "CMA, long steps": partial(_cma, step=0.5),
    "randomized blocks": RandomizedBlocks,
}
"""The competitors. Those with several settings have one entry each: the one to report is chosen on separate seeds."""

REPORTED = (
    "default",
    "default, batches told",
    "UCB",
    "UCB, batches told",
    "UCB, reference arm",
    "TPE together by mean",
    "TPE by mean, reference arm",
    "CMA, long steps",
    "randomized blocks",
)
"""The competitors of `docs/evidence.md`: for TPE and CMA the settings that did best on ten seeds from 1000 on."""


def missing(name: str) -> str | None:
    """Return the missing package of a competitor; `None` if nothing is missing.

    Example:
        >>> missing("default") is None
        True
    """
    needs = {"TPE": "optuna", "CMA": "cma"}.get(name[:3])
    return needs if needs is not None and importlib.util.find_spec(needs) is None else None


def takes_part(name: str, world: RecordedWorld) -> bool:
    """Return True if a competitor can run in a world: some need batches.

    Example:
        >>> import numpy as np
        >>> from equipoise.lab.experiments.real.recorded import recorded_worlds
        >>> worlds = {name: make(np.random.default_rng(0)) for name, make in recorded_worlds().items()}
        >>> [takes_part("randomized blocks", worlds[name]) for name in ("oats, 2 a batch", "fullerenes")]
        [True, False]
    """
    return world.batch is not None or not (name == "randomized blocks" or name.endswith("batches told"))
