"""A wandering offset: level, slope, smooth wave and random walk; and a new level for every pair.

    symbol   meaning                                                    shape
    t, s     times of readings                                          (n,), (m,)
    r2       squared lag, in durations of the smooth part               (n, m)

With a large variance of the level of a pair only the differences inside pairs teach, for any offset between them;
with a small one readings of different pairs are comparable too. The likelihood chooses (METHOD section 10).
"""

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from equipoise import _validation as check
from equipoise._typing import FloatArray
from equipoise.kernels import Matern52
from equipoise.offsets.moments import Moments, same_pair
from equipoise.offsets.offset import LEVEL_VARIANCE, Law
from equipoise.offsets.terms import Hyperparameter

SLOPE_VARIANCE = 0.25**2
"""Prior variance of the change per reading, in squared typical steps: wide, since a steady drift may reach a step per
reading, but not so wide that the study must learn it first.
"""


WALK_TO_START_FROM = 0.3
"""In logarithms the slope of the likelihood vanishes for a small variance, so a fit that starts from the guess never
finds a walk that resembles f. Squared steps.
"""

CHI2_MEDIAN = 0.455
"""Median of a squared standard normal number."""


@dataclass(frozen=True)
class Tracked(Law):
    """A wandering offset: a level, a slope, a smooth wave, a random walk and a level for each pair.

    The data decide the strength of each. The study learns about f from each reading, not only from differences, so it
    needs about half as many readings. Its certificate is an estimate. The pure duels check it, in case the offset
    reacts to the readings.

    Args:
        guard: If the duels contradict the tracked estimate by more than this many standard deviations, trust the
            duels; `None` never does.

    Example:
        >>> import equipoise as eq
        >>> eq.Optimizer(eq.Box([(0, 1)]), rng=0).study.setup.offset
        Tracked(guard=3.0)
    """

    guard: float | None = 3.0
    jumps = True
    hyperparameters: ClassVar[tuple[Hyperparameter, ...]] = (
        Hyperparameter("walk", 1e-3, -6.0, 3.0, 1e-7, math.exp(4.0), "a step of the walk is mostly far below one of f"),
        Hyperparameter("wave", 1e-2, -4.0, 3.0, 1e-6, math.exp(4.0), "so is a wave; three decades up are two sd"),
        Hyperparameter("duration", 8.0, math.log(10.0), 1.0, 2.0, 100.0, "faster than two readings is noise"),
        Hyperparameter("pair", 1e-3, -6.0, 4.0, 1e-7, 1e7, "mostly pairs share the offset; or not at all"),
    )

    def __post_init__(self) -> None:
        if self.guard is not None:
            check.positive("guard", self.guard)

    def covariance(self, values: FloatArray, a: Moments, b: Moments) -> FloatArray:
        """Return the sum of level, slope, wave, walk and the pair's level."""
        walk, wave, duration, pair = values
        t, s = np.asarray(a.time)[:, None], np.asarray(b.time)
        K: FloatArray = LEVEL_VARIANCE + SLOPE_VARIANCE * t * s + wave * Matern52.profile(((t - s) / duration) ** 2)
        K += walk * np.minimum(t, s)
        K += pair * same_pair(a, b)
        return K

    def derivatives(self, values: FloatArray, a: Moments, b: Moments) -> tuple[FloatArray, ...]:
        """Return the derivatives in the logarithms of walk, wave, duration and pair."""
        walk, wave, duration, pair = values
        t, s = np.asarray(a.time)[:, None], np.asarray(b.time)
        r2 = ((t - s) / duration) ** 2
        by_duration = -2.0 * wave * Matern52.slope(r2) * r2
        return walk * np.minimum(t, s), wave * Matern52.profile(r2), by_duration, pair * same_pair(a, b)

    def calm(self, values: tuple[float, ...]) -> tuple[float, ...]:
        """Return the guessed hyperparameters, with the wave's learned duration."""
        walk, wave, _, pair = self.hyperparameters
        return walk.guess, wave.guess, values[2], pair.guess

    def estimate(self, moments: Moments, readings: FloatArray) -> tuple[float, ...]:
        """Return the guesses, with the extra variance of the midpoints of successive pairs beyond that inside pairs."""
        _, wave, duration, pair = (each.guess for each in self.hyperparameters)
        walk = WALK_TO_START_FROM
        order = np.argsort(moments.pair, kind="stable")
        y, number = readings[order], moments.pair[order]
        first = np.flatnonzero((np.diff(number) == 0) & (number[1:] >= 0))
        if len(first) < 2:
            return walk, wave, duration, pair
        middles, inside = 0.5 * (y[first] + y[first + 1]), y[first + 1] - y[first]
        between = float(np.median(np.diff(middles) ** 2)) / (2 * CHI2_MEDIAN)
        return walk, wave, duration, max(pair, between - float(np.mean(inside**2)) / 4)

    def prepared(self, moments: Moments) -> "_ByLag":
        """Return the law at given readings; as readings come one by one, few of their lags differ."""
        return _ByLag(moments)


class _ByLag:
    """The law at given readings, its smooth part computed once for each lag."""

    def __init__(self, moments: Moments) -> None:
        t = moments.time
        self._fixed: FloatArray = LEVEL_VARIANCE + SLOPE_VARIANCE * np.outer(t, t)
        self._earlier = np.minimum(t[:, None], t)
        lags, where = np.unique(np.abs(t[:, None] - t), return_inverse=True)
        self._lag2, self._where = lags**2, where.reshape(len(t), len(t))
        self._pairs = np.nonzero(same_pair(moments, moments))

    def covariance(self, values: FloatArray) -> FloatArray:
        """Return the covariance of the offset at the readings."""
        walk, wave, duration, pair = values
        K: FloatArray = (wave * Matern52.profile(self._lag2 / duration**2))[self._where]
        K += walk * self._earlier
        K += self._fixed
        K[self._pairs] += pair
        return K

    def echo(self, values: FloatArray) -> None:
        """Return `None`: the offset does not depend on the settings."""

    def gradient(self, values: FloatArray, W: FloatArray, F: FloatArray) -> FloatArray:
        """Return the derivative of tr(W K) / 2 in each logarithm."""
        walk, wave, duration, pair = values
        by_lag = np.bincount(self._where.ravel(), W.ravel())  # W summed over all pairs of the same lag
        r2 = self._lag2 / duration**2
        return np.array(
            [
                0.5 * walk * np.vdot(W, self._earlier),
                0.5 * wave * by_lag @ Matern52.profile(r2),
                -wave * by_lag @ (Matern52.slope(r2) * r2),
                0.5 * pair * W[self._pairs].sum(),
            ]
        )
