"""The league table: settings from the best to the worst, each with an interval."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from equipoise._typing import FloatArray
from equipoise.belief import Posterior
from equipoise.spaces import Domain

DEVIATIONS = 2.0
"""Half-width of an interval, in posterior standard deviations."""


@dataclass(frozen=True)
class Rank:
    """A setting's place in the league.

    Attributes:
        rank: From 1, the best.
        x: The setting.
        value: By how much it is better than the average setting, in the unit of f.
        low: It is at least this, by estimate, with a confidence of 95 %.
        high: It is at most this, likewise.
        ranks: The best and the worst rank it may have: how many others are better, or worse, beyond doubt.
    """

    rank: int
    x: Any
    value: float
    low: float
    high: float
    ranks: tuple[int, int]

    def __str__(self) -> str:
        among = f"rank {self.ranks[0]} to {self.ranks[1]}"
        return f"{self.rank:3d}  {self.value:+.2f} [{self.low:+.2f}, {self.high:+.2f}]  {among}  {self.x}"


def league(space: Domain, posterior: Posterior, sign: float = 1.0) -> list[Rank]:
    """Return all settings that something is known of, from the best to the worst.

    The average of them all is the zero: f itself has none. Two settings may differ beyond doubt though their intervals
    overlap: hence the ranks.

    Args:
        space: Where points lie.
        posterior: The belief.
        sign: -1 where values are minimized.
    """
    points = space.points if space.points is not None else posterior.support
    if not len(points):
        return []
    belief = posterior.at(points)
    C, mean = belief.covariance(), belief.mean - belief.mean.mean()
    row = C.mean(axis=1)
    half = DEVIATIONS * np.sqrt(np.maximum(C.diagonal() - 2.0 * row + row.mean(), 0.0))
    best, worst = _ranks(mean, C)
    order = np.argsort(-mean, kind="stable")
    return [
        Rank(k, space.decode(points[i]), *_interval(sign, mean[i], half[i]), (best[i], worst[i]))
        for k, i in enumerate(order, 1)
    ]


def _interval(sign: float, value: float, half: float) -> tuple[float, float, float]:
    return float(sign * value), float(sign * value - half), float(sign * value + half)


def _ranks(mean: FloatArray, C: FloatArray) -> tuple[list[int], list[int]]:
    """Return the best and worst rank of each, by how many are better, or worse, beyond doubt."""
    c = C.diagonal()
    width = DEVIATIONS * np.sqrt(np.maximum(c[:, None] + c - 2.0 * C, 0.0))
    above = mean - mean[:, None]  # by how much each column is better than the row
    better, worse = (above > width).sum(axis=1), (-above > width).sum(axis=1)
    return (1 + better).tolist(), (len(mean) - worse).tolist()
