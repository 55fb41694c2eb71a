"""The ranking: settings from the best to the worst, each with an interval and its possible ranks.

    symbol   meaning                                                              shape
    g        f less its average over the ranking, in functions drawn jointly      (draws, m)
    z        distance of a drawn g from the middle, in deviations                 (draws, m)
    q        quantile of the largest z over all settings: common half-width       ()

An interval that holds for one setting does not hold for the best of many. A joint draw is a whole function that the
answers allow, so it orders all settings, including those that nobody saw. The functions are drawn under every size of f
that the answers leave open (`Posterior.scales`): answers soon show which setting is better, but not by how much.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.random import Generator

from equipoise import _linalg
from equipoise._typing import FloatArray
from equipoise.answer.second_opinions import scales
from equipoise.answer.wording import interval
from equipoise.belief import Posterior, StudyBelief
from equipoise.spaces import Domain, dials

DRAWS = 2000
"""The number of functions drawn: the error of the 95 % quantile is a few percent of it."""

LEVEL = 0.95
"""The share of the draws in which all values lie in their intervals at once, and each rank in its range."""

LEAST_VARIANCE = 1e-9
"""The amount added to each variance, relative to the largest, because of rounding."""


@dataclass(frozen=True)
class Rank:
    """The place of a setting in the ranking.

    Attributes:
        rank: From 1, the best.
        x: The setting.
        value: The difference from the average setting, in the unit of f.
        low: The lower limit by estimate, with a confidence of 95 % for all settings at once.
        high: The upper limit, likewise.
        ranks: The best and the worst rank it may have, by estimate, with a confidence of 95 %.
        holds: The probability that it holds all limits; `None` if there are none, or too little is known of one.
    """

    rank: int
    x: Any
    value: float
    low: float
    high: float
    ranks: tuple[int, int]
    holds: float | None = None

    def __str__(self) -> str:
        among = f"rank {self.ranks[0]} to {self.ranks[1]}"
        among += "" if self.holds is None else f"  limits hold with {min(int(100 * self.holds), 99)} %"
        name = self.x if isinstance(self.x, str) else ", ".join(map(str, dials({}, self.x)))
        return f"{self.rank:3d}  {interval(self.value, self.low, self.high)}  {among}  {name}"


def ranking(
    space: Domain,
    belief: StudyBelief,
    rng: Generator,
    sign: float = 1.0,
    surely: Callable[[FloatArray], FloatArray] | None = None,
) -> list[Rank]:
    """Return all settings with data, and all listed ones, from the best to the worst.

    Values are relative to the average of all, since f itself has no zero. Two settings may differ beyond doubt although
    their intervals overlap: hence the ranks. `surely` returns the probability that settings hold all limits, if any.
    """
    points = space.points if space.points is not None else belief.posterior.support
    if not len(points):
        return []
    value, g = _drawn(belief, points, rng)
    half, (best, worst) = _simultaneous(value, g), _ranks(g)
    order = np.argsort(-value, kind="stable")
    holds = None if surely is None else surely(points)
    return [
        Rank(
            k,
            space.decode(points[i]),
            *_interval(sign, value[i], half[i]),
            (int(best[i]), int(worst[i])),
            None if holds is None else float(holds[i]),
        )
        for k, i in enumerate(order, 1)
    ]


def _interval(sign: float, value: float, half: float) -> tuple[float, float, float]:
    return float(sign * value), float(sign * value - half), float(sign * value + half)


def _drawn(belief: StudyBelief, points: FloatArray, rng: Generator) -> tuple[FloatArray, FloatArray]:
    """Return the mean of f, and functions drawn under every size of f by its probability, all centered."""
    chances, posteriors = zip(*scales(belief), strict=True)
    share = np.cumsum((0.0, *chances)) / sum(chances)
    counts = np.diff(np.rint(DRAWS * share).astype(int)).tolist()
    found = [_functions(each, points, n, rng) for each, n in zip(posteriors, counts, strict=True)]
    mean = np.average([mean for mean, _ in found], axis=0, weights=chances)
    g = np.concatenate([drawn for _, drawn in found])
    return mean - mean.mean(), g - g.mean(axis=1, keepdims=True)


def _functions(posterior: Posterior, points: FloatArray, n: int, rng: Generator) -> tuple[FloatArray, FloatArray]:
    """Return the mean of f at the points, and n functions drawn from a posterior there, shape (n, m)."""
    belief = posterior.at(points)
    C = belief.covariance().copy()
    C.flat[:: len(C) + 1] += LEAST_VARIANCE * float(C.diagonal().max()) + np.finfo(float).tiny
    return belief.mean, rng.standard_normal((n, len(points))) @ _linalg.safe_cholesky(C).T + belief.mean


def _simultaneous(value: FloatArray, g: FloatArray) -> FloatArray:
    """Return half-widths of intervals that contain 95 % of the functions everywhere."""
    deviation = np.sqrt(((g - value) ** 2).mean(axis=0))
    z = np.abs(g - value) / np.maximum(deviation, np.finfo(float).tiny)
    half: FloatArray = float(np.quantile(z.max(axis=1), LEVEL)) * deviation
    return half


def _ranks(g: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return the best and the worst rank of each setting: 95 % of its ranks in the functions lie between them."""
    ranks = 1 + np.argsort(np.argsort(-g, axis=1), axis=1)
    tail = 50.0 * (1.0 - LEVEL)
    best = np.percentile(ranks, tail, axis=0, method="lower")
    return best, np.percentile(ranks, 100.0 - tail, axis=0, method="higher")
