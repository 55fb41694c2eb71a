"""The claims of a study with several objectives: its front, and the compromise that is wanted."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from equipoise.log import FRONT
from equipoise.study.outputs import TOLERANCE, compromised, front, named_in, wanted

if TYPE_CHECKING:
    from equipoise.answer import FrontPoint, Recommendation
    from equipoise.study.claiming.recommender import Recommender
    from equipoise.study.state import State


def front_of(claims: Recommender, state: State, tolerance: float = TOLERANCE, sure: bool = True) -> list[FrontPoint]:
    """Return the settings that are not dominated; of a study with several objectives.

    Args:
        claims: In which part of the space.
        state: The state.
        tolerance: By which share of the range of each objective a setting must be beaten.
        sure: Whether to leave out those that may be dominated with more than 5 %.
    """
    named = named_in(state, claims.space)
    if named is None or not named.outputs.several:
        raise RuntimeError("a front is of several objectives, such as objective='flux, -size', and there is one")
    known = claims.standing(state)
    part = claims.space if known.attainable is None else known.attainable
    return front(named, part, known, claims.streams.at(state.readings, FRONT), tolerance, sure)


def compromise(
    claims: Recommender, state: State, weights: Mapping[str, float] | None = None, prefer: str | None = None
) -> Recommendation:
    """Return the setting of the front that gains most, in the proportion of the weights.

    Args:
        claims: In which part of the space.
        state: The state.
        weights: How much is wanted of each objective, by name; as much of each by default.
        prefer: The one objective that counts, instead.
    """
    outputs = state.setup.outputs
    if outputs is None or not outputs.several:
        raise ValueError("`weights` and `prefer` choose among several objectives, and there is one")
    share = wanted(outputs, weights, prefer)
    best = claims.single(state, state.readings)
    points, named = front_of(claims, state) or front_of(claims, state, sure=False), named_in(state, claims.space)
    found = best if named is None else compromised(best, points, named, claims.space, share)
    return found if found.seeds is None else found.on_seeds(found.seeds)
