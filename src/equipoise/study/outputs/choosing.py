"""The front of a study with several objectives, and the choice of one of its settings."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.random import Generator

from equipoise import _validation as check
from equipoise.answer import SURE, FrontPoint, Standing, difference, dominated, domination
from equipoise.policies import measured, weighed
from equipoise.spaces import readouts_of
from equipoise.study.outputs.steering import frame, gains

if TYPE_CHECKING:
    from equipoise._typing import FloatArray
    from equipoise.answer import Difference, Recommendation
    from equipoise.spaces import Domain
    from equipoise.study.outputs.grammar import Outputs
    from equipoise.study.outputs.holding import Named

TOLERANCE = 0.05
"""A setting dominates another one only if it is better by this share of the range of each objective: nothing can be
decided between settings that are almost equal."""


def front(
    named: Named, space: Domain, standing: Standing, rng: Generator, tolerance: float = TOLERANCE, sure: bool = True
) -> list[FrontPoint]:
    """Return the settings that were measured, may be used and are not dominated, best in the first objective first.

    A setting belongs to the front if no other one is expected to be better in every objective, and with 95 % none is
    better in every objective by more than the tolerance.

    Args:
        named: The beliefs about the outputs.
        space: The settings that may be used.
        standing: Other facts about the study.
        rng: The source of randomness.
        tolerance: A share of the range of each objective over the front.
        sure: Whether to leave out settings that are dominated with a probability above 5 %.
    """
    start, posteriors = named.start, named.wanted
    if start is None:
        return []
    known = measured(space, posteriors[0]).reshape(-1, space.dimension)
    if not len(known):
        return []
    Y = gains(posteriors, known, start).T
    expected = np.flatnonzero(~dominated(Y))
    _, s = frame(posteriors, known, start)
    margin = tolerance * s
    lost = domination([posterior.at(known) for posterior in posteriors], margin, expected, rng)
    holds = named.surely(known[expected]) if named.limited else np.ones(len(expected))
    kept = sorted((k for k in range(len(expected)) if lost[k] <= SURE or not sure), key=lambda k: -Y[expected[k], 0])
    counts = {each.name: float(m) for each, m in zip(named.outputs.objectives, margin, strict=True)}
    readouts = readouts_of(space)
    return [
        FrontPoint(
            space.decode(known[expected[k]]),
            _against(named, standing, known[expected[k]], start),
            float(lost[k]),
            counts,
            float(holds[k]),
            readouts,
        )
        for k in kept
    ]


def _against(named: Named, standing: Standing, point: FloatArray, start: FloatArray) -> dict[str, Difference]:
    """Return the gain of each objective over the start, in the unit of its readings."""
    known = Standing(standing.readings, start=start, enough=standing.enough)
    found = {each.name: difference(named.beliefs[each.name], known, point, start) for each in named.outputs.objectives}
    return {each.name: found[each.name] if each.sign > 0 else -found[each.name] for each in named.outputs.objectives}


def wanted(outputs: Outputs, weights: Mapping[str, float] | None, prefer: str | None) -> FloatArray:
    """Return the weight of each objective, shape (K,), from weights by name or from the preferred objective.

    Example:
        >>> from equipoise.study.outputs import Outputs
        >>> outputs = Outputs.of("flux, -size")
        >>> wanted(outputs, {"flux": 2, "size": 1}, None), wanted(outputs, None, "size")
        (array([2., 1.]), array([0., 1.]))
    """
    names = [each.name for each in outputs.objectives]
    if weights is not None and not isinstance(weights, Mapping):
        raise TypeError(f"`weights` must be a number by name, such as {dict.fromkeys(names, 1)}, got {weights!r}")
    if weights is not None and prefer is not None:
        raise ValueError("give either `weights` or `prefer`, got both")
    if prefer is not None and prefer not in names:
        raise ValueError(f"`prefer` must be one of {', '.join(names)}, got {prefer!r}")
    given: Mapping[str, Any] = dict.fromkeys(names, 1.0) if weights is None else weights
    given = given if prefer is None else {prefer: 1.0}
    if unknown := [name for name in given if name not in names]:
        raise ValueError(f"`weights` may name {', '.join(names)}, got {', '.join(unknown)}")
    found = np.array([check.nonnegative("weights", given.get(name, 0.0)) for name in names])
    if not found.any():
        raise ValueError(f"`weights` must give one of {', '.join(names)} more than 0, got {given!r}")
    return found


def chosen(points: Sequence[FrontPoint], named: Named, space: Domain, share: FloatArray) -> FrontPoint:
    """Return the setting of a front whose gains are largest in the proportion of the weights.

    Args:
        points: The front.
        named: The beliefs about the outputs.
        space: Where points lie.
        share: The weight of each objective, shape (K,).
    """
    assert named.start is not None
    posteriors, some = named.wanted, np.flatnonzero(share)
    X = np.array([space.encode(point.x) for point in points])
    r, s = frame(posteriors, X, named.start)
    Y = gains(posteriors, X, named.start)
    g = weighed(Y[some], r[some], s[some], 1.0 / share[some])
    return points[int(g.argmax())]


def compromised(
    best: Recommendation, points: Sequence[FrontPoint], named: Named, space: Domain, share: FloatArray
) -> Recommendation:
    """Return the recommendation of the setting that gains most in the proportion of the weights.

    Args:
        best: The recommendation for the first objective alone; it stays if the front is empty.
        points: The front.
        named: The beliefs about the outputs.
        space: Where points lie.
        share: The weight of each objective, shape (K,).
    """
    if not points:
        return best
    point, first = chosen(points, named, space, share), named.outputs.first
    gain = point.against_start[first.name]
    found = replace(best, x=point.x, gap_bound=math.inf, kind="estimate", claims=(), preferred=())
    kept = named.usability(space.encode(point.x))
    return replace(found, against_start=gain if first.sign > 0 else -gain, usability=kept, compromise=point)
