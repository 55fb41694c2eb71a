"""The plans of audits and verifications."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from equipoise import _linalg
from equipoise.answer import finalists
from equipoise.log import Planned
from equipoise.study.asking import Checkpoint
from equipoise.study.settings_read import on_seeds

if TYPE_CHECKING:
    from equipoise._typing import FloatArray
    from equipoise.study.claiming.recommender import Recommender
    from equipoise.study.state import State


def auditing(claims: Recommender, state: State, duels: int) -> Planned:
    """Return the event of an audit; in a part of the space, the leader in it identifies the part."""
    if state.limited:
        raise RuntimeError("an audit measures everywhere, which `drop`, `max_step` and `safe` forbid: see `verify`")
    if state.setup.outputs is not None and state.setup.outputs.several:
        raise RuntimeError("an audit bounds the gain in one objective, and there are several: see `front`")
    some = claims.space.candidates(np.random.default_rng(0))
    if (some == some[0]).all():
        raise RuntimeError("there is nothing to audit: a single setting may be asked for")
    number = len(state.planned)
    if claims.space is state.setup.space:
        return Planned(number, "audit", duels)
    best = claims.space.encode(claims.recommend(state, state.readings).x)
    return Planned(number, "audit", duels, best[None])


def verifying(claims: Recommender, state: State, duels: int, runners_up: int, against: FloatArray | None) -> Planned:
    """Return the event of a verification of the present recommendation, or refuse it.

    Its rivals are the start and the best other points, `runners_up` of them, or those `against`, encoded, shape (k, d).
    """
    space = claims.space
    if state.setup.caution.max_step is not None:
        raise RuntimeError("a verification moves back and forth between settings, which `max_step` forbids")
    best = space.encode(claims.recommend(state, state.readings).x)
    if against is None:
        allowed, posterior = Checkpoint.of(state, space).allowed, state.belief.posterior
        points = finalists(allowed, posterior, best, claims.standing(state).start, runners_up)
    else:
        points = against[_linalg.firsts(against)]
        points = np.concatenate((best[None], points[(points != best).any(axis=1)]))
    seeds, read = state.setup.seeds, len(on_seeds(state.ledger))
    if seeds is not None and seeds.values is not None and duels > len(seeds.values) - read:
        left = f"the {len(seeds.values) - read} seeds that were never read"
        raise ValueError(f"`duels` must be at most {left}, for the same seed gives the same number, got {duels}")
    if len(points) < 2:
        raise RuntimeError("there is no setting to compare the best one with yet: measure more, or give `against`")
    return Planned(len(state.planned), "verify", duels, points)
