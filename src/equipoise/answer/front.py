"""The front of several objectives: settings that no other setting beats in all of them.

    symbol   meaning                                                             shape
    Y        values of K objectives at m settings, each to be large              (..., m, K)
    r        reference: a setting that is worse in any objective does not count  (K,)

A setting is dominated if another one is better in every objective. The values have a posterior, so a setting is
dominated with a probability: the share of joint draws in which it is (METHOD section 18).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from equipoise._typing import FloatArray
from equipoise.answer.claim import Difference
from equipoise.answer.wording import interval
from equipoise.belief import Belief, Indices
from equipoise.policies import drawn
from equipoise.spaces import Readout, dials

DRAWS = 256
"""The number of joint draws for a probability: its standard error at 5 % is 1.4 %."""

SURE = 0.05
"""A setting belongs to the front if it is dominated with at most this probability."""


@dataclass(frozen=True, eq=False)
class FrontPoint:
    """A setting of the front.

    Attributes:
        x: The setting.
        against_start: The gain in each objective over the start, by name, in the unit of its readings.
        dominated: The probability that a measured setting is better in every objective by more than the tolerance.
        tolerance: The difference that counts in each objective, by name, in the unit of its readings.
        holds: The probability that all limits hold; 1 if there are none.
        readouts: How to show the value of each parameter, by name: its unit and its digits.

    Example:
        >>> print(FrontPoint({"q1": 0.5}, {"flux": Difference(0.3, 0.2, 0.4, "estimate")}, 0.01))
        q1 = 0.5: flux +0.30 [0.20, 0.40] against the start
    """

    x: Any
    against_start: Mapping[str, Difference]
    dominated: float
    tolerance: Mapping[str, float] = field(default_factory=dict)
    holds: float = 1.0
    readouts: Mapping[str, Readout] = field(default_factory=dict, repr=False)

    @property
    def gains(self) -> str:
        """The comparison of the objectives with the start, in words."""
        said = {name: interval(each.value, each.low, each.high) for name, each in self.against_start.items()}
        parts = (f"{name} {'' if text.startswith('-') else '+'}{text}" for name, text in said.items())
        return f"{', '.join(parts)} against the start"

    def __str__(self) -> str:
        return f"{', '.join(map(str, dials(self.readouts, self.x)))}: {self.gains}"


def dominated(Y: FloatArray, margin: FloatArray | float = 0.0) -> NDArray[np.bool_]:
    """Return a mask of the values Y, shape (..., m, K), that another one beats in all objectives by a margin.

    Example:
        >>> dominated(np.array([[1.0, 3.0], [2.0, 2.0], [0.5, 1.0]]))
        array([False, False,  True])
    """
    return _beaten(Y, Y, margin)


def _beaten(Y: FloatArray, rivals: FloatArray, margin: FloatArray | float) -> NDArray[np.bool_]:
    """Return a mask of settings that any rival beats in every objective by more than a margin, shape (..., m)."""
    above = rivals[..., None, :, :] > Y[..., :, None, :] + margin
    worse: NDArray[np.bool_] = np.logical_or.reduce(np.logical_and.reduce(above, axis=-1), axis=-1)
    return worse


def hypervolume(Y: FloatArray, r: FloatArray) -> float:
    """Return the volume above a reference, shape (K,), that the values Y, shape (m, K), dominate.

    Example:
        >>> hypervolume(np.array([[1.0, 3.0], [2.0, 2.0], [0.5, 1.0]]), np.zeros(2))
        5.0
    """
    gains = Y - r
    gains = gains[(gains > 0).all(axis=1)]
    if not len(gains):
        return 0.0
    if gains.shape[1] == 1:
        return float(gains.max())
    if gains.shape[1] == 2:
        return _area(gains)
    gains = gains[np.argsort(-gains[:, -1], kind="stable")]
    heights = gains[:, -1] - np.append(gains[1:, -1], 0.0)
    slabs = (h * hypervolume(gains[: i + 1, :-1], np.zeros(len(r) - 1)) for i, h in enumerate(heights) if h > 0)
    return float(sum(slabs))


def _area(gains: FloatArray) -> float:
    """Return the area below a staircase; gains are positive, shape (m, 2)."""
    ordered = gains[np.lexsort((-gains[:, 1], -gains[:, 0]))]
    tops = np.maximum.accumulate(ordered[:, 1])
    widths = ordered[:, 0] - np.append(ordered[1:, 0], 0.0)
    return float(widths @ tops)


def domination(beliefs: Sequence[Belief], margin: FloatArray | float, some: Indices, rng: Generator) -> FloatArray:
    """Return the probability, shape (j,), that any setting dominates each of `some`, by a margin in each objective.

    The beliefs are those about each objective, at the same settings.
    """
    Y = np.stack([drawn(belief, DRAWS, rng) for belief in beliefs], axis=-1)
    lost: FloatArray = np.mean([_beaten(draw[some], draw, margin) for draw in Y], axis=0)  # METHOD section 18
    return lost
