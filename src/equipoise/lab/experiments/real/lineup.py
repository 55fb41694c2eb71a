"""The competitors by name, and what each needs."""

import importlib.util
from collections.abc import Callable
from functools import partial
from typing import Any

from equipoise.lab.experiments.real.recorded import RecordedWorld
from equipoise.lab.experiments.real.rivals import Cma, Competitor, Ours, RandomizedBlocks, Tpe, WithReference
from equipoise.offsets import Blocks
from equipoise.policies import UCB

Maker = Callable[[RecordedWorld, int], Competitor]


def _told_batches(world: RecordedWorld, seed: int, **parts: Any) -> Ours:
    return Ours(world, seed, offset=Blocks(world.batch or world.readings), **parts)


COMPETITORS: dict[str, Maker] = {
    "default": Ours,
    "default, batches told": _told_batches,
    "UCB": partial(Ours, policy=UCB()),
    "UCB, batches told": partial(_told_batches, policy=UCB()),
    "UCB, reference arm": partial(WithReference, make=partial(Ours, policy=UCB())),
    "TPE": Tpe,
    "TPE by mean": partial(Tpe, by_mean=True),
    "TPE together": partial(Tpe, multivariate=True),
    "TPE together by mean": partial(Tpe, multivariate=True, by_mean=True),
    "TPE, reference arm": partial(WithReference, make=Tpe),
    "TPE by mean, reference arm": partial(WithReference, make=partial(Tpe, by_mean=True)),
    "CMA": Cma,
    "CMA, short steps": partial(Cma, step=0.15),
    "CMA, long steps": partial(Cma, step=0.5),
    "randomized blocks": RandomizedBlocks,
}
"""Those with several settings stand here once for each: which one to report is chosen on seeds of their own."""

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
"""Those of `docs/evidence.md`: of TPE and CMA the settings that did best on ten seeds from 1000 on."""


def missing(name: str) -> str | None:
    """Return the package that a competitor needs and that is not installed.

    Example:
        >>> missing("default") is None
        True
    """
    needs = {"TPE": "optuna", "CMA": "cma"}.get(name[:3])
    return needs if needs is not None and importlib.util.find_spec(needs) is None else None


def takes_part(name: str, world: RecordedWorld) -> bool:
    """Return whether a competitor can take part in a world: some need batches.

    Example:
        >>> import numpy as np
        >>> from equipoise.lab.experiments.real.recorded import recorded_worlds
        >>> worlds = {name: make(np.random.default_rng(0)) for name, make in recorded_worlds().items()}
        >>> [takes_part("randomized blocks", worlds[name]) for name in ("oats, 2 a batch", "fullerenes")]
        [True, False]
    """
    return world.batch is not None or not (name == "randomized blocks" or name.endswith("batches told"))
