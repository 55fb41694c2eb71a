"""The seed of a duel, in a study with seeds."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from equipoise.policies import seeded
from equipoise.spaces import Restricted
from equipoise.study.ledger import Entry
from equipoise.study.settings_read import on_seeds

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from equipoise._typing import FloatArray
    from equipoise.data import Comparison, Duel, SeedName
    from equipoise.spaces import Domain
    from equipoise.study.state import State


def on_seed(state: State, space: Domain, duel: Duel) -> tuple[Duel, SeedName | None]:
    """Return the part of a duel to measure, and its seed."""
    seeds, law = state.setup.seeds, state.setup.offset
    if seeds is None:
        return duel, None
    alone = law.learns_readings and not law.believed and state.serves(space) is None
    read, posterior = on_seeds(state.ledger), state.anticipated().posterior
    seed, measured = seeded(duel, seeds, read, posterior, partial(_teaching, state), alone)
    return measured, seed


def with_seeds_left(state: State, space: Domain, duel: Duel) -> Domain | None:
    """Return the part of a space that some seed of a list is left for; `None` if there is a seed for the duel."""
    seeds, read = state.setup.seeds, on_seeds(state.ledger)
    if seeds is None or seeds.values is None or len(read) < len(seeds.values) or state.serves(space) is not None:
        return None
    known = set.intersection(*({point.tobytes() for point in points} for points in read.values()))

    def left(points: FloatArray) -> NDArray[np.bool_]:
        return np.array([point.tobytes() not in known for point in points], dtype=np.bool_)

    return None if left(duel.points).any() else Restricted(space, left, getattr(space, "anchors", None))


def _teaching(state: State, seed: SeedName, duel: Duel) -> tuple[Comparison, ...]:
    """Return the expected lessons of a duel on a seed, with outcomes of zero."""
    ids = tuple(range(state.ledger.trials, state.ledger.trials + len(duel.points)))
    return state.awaited(Entry(state.duels, duel, ids, seed=seed), state.readings + 1)
