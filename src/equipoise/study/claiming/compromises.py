"""The front of a study with several objectives, and the compromise that the user prefers."""

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
    """Return the settings that are not dominated, in a study with several objectives.

    Args:
        claims: The recommender of the part of the space.
        state: The state.
        tolerance: The share of the range of each objective by which a dominating setting must be better.
        sure: Whether to leave out settings that are dominated with a probability above 5 %.
    """
    named = named_in(state, claims.space)
    if named is None or not named.outputs.several:
        raise RuntimeError("a front needs several objectives, such as objective='flux, -size'; this study has one")
    known = claims.standing(state)
    part = claims.space if known.attainable is None else known.attainable
    return front(named, part, known, claims.streams.at(state.readings, FRONT), tolerance, sure)


def compromise(
    claims: Recommender, state: State, weights: Mapping[str, float] | None = None, prefer: str | None = None
) -> Recommendation:
    """Return the setting of the front with the largest gains in proportion to the weights.

    Args:
        claims: The recommender of the part of the space.
        state: The state.
        weights: A weight for each objective, by name; equal by default.
        prefer: Instead, the objective in which the setting is best.
    """
    outputs = state.setup.outputs
    if outputs is None or not outputs.several:
        raise ValueError("`weights` and `prefer` choose among several objectives; this study has one")
    share = wanted(outputs, weights, prefer)
    best = claims.single(state, state.readings)
    points, named = front_of(claims, state) or front_of(claims, state, sure=False), named_in(state, claims.space)
    found = best if named is None else compromised(best, points, named, claims.space, share)
    return found if found.seeds is None else found.on_seeds(found.seeds)
