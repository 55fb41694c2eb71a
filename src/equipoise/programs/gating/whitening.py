"""Whitening: the effect of one candidate from readings of many versions on many seeds, without seeds and drift.

    symbol   meaning                                                                             shape
    y        readings in their order, higher is better, in units of the residual deviation      (n,)
    K        their covariance if the candidate does not differ from the champion                (n, n)
    L        its Cholesky factor                                                                (n, n)
    z        innovations: each reading minus its forecast from earlier ones, over its deviation (n,)
    j        1 where the candidate was read, else 0                                             (n,)
    g        change of each innovation by an effect of 1                                        (n,)
    w, s2    `L^-1 k` for one more reading with covariances k, and its variance given these     (n, k), (k,)

A reading is `y = level + version + seed + drift + residual`: all readings on a seed share its level, the drift is a
random walk, and a version differs from the champion that it was made from by an effect. If the candidate is no other
than the champion, the innovations `z = L^-1 y` do not depend on which readings are whose; an effect a adds `a g`, with
`g = L^-1 j`. So bets on the signs of `g z` (`answer/sequential`) need neither normal readings nor their scale, and
`g z / g g` estimates the effect. Pairs and single looks, old seeds and new ones are all the same here: a look is worth
the growth of `g g`.
"""

import math
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from equipoise._linalg import safe_cholesky, solve_lower
from equipoise._typing import FloatArray

LEVEL = 1e4
"""Variance of the level of all readings, in units of the residual variance: nothing is known about it."""

SEED_VARIANCES = (0.0, 0.3, 1.0, 3.0, 10.0, 40.0)
"""Candidates for the variance of the levels of seeds, in units of the residual variance: shares of 0 to 98 %."""

STEP_VARIANCES = (0.0, 0.003, 0.02, 0.1, 0.5)
"""Candidates for the variance of a drift step between readings, in units of the residual variance."""

DRIFT_COST = 1.0
"""Nats by which a drift must be more plausible than no drift."""

ROUNDING, SMALLEST = 1e-6, 1e-100
"""The minimum residual deviation: as a share of the range of the readings, and absolute."""

FEWEST = 3
"""Minimum number of readings before variances are fitted."""


@dataclass(frozen=True)
class Variances:
    """The variances of the parts of a reading.

    Attributes:
        seed: The variance of the levels of seeds, in units of the residual variance.
        step: The variance of a drift step from a reading to the next, likewise.
        unit: The residual deviation, in the unit of the readings.
    """

    seed: float = 1.0
    step: float = 0.0
    unit: float = 1.0


@dataclass(frozen=True)
class Version:
    """A version of the program, with the prior of its effect.

    Attributes:
        parent: The version it was made from; its own number for the first one.
        mean: Expected effect against the parent, in units of the residual deviation.
        variance: The variance of that effect.
    """

    parent: int
    mean: float = 0.0
    variance: float = 0.0


@dataclass(frozen=True, eq=False)
class Readings:
    """Readings of versions on seeds, in their order.

    Attributes:
        tree: All versions.
        values: The readings, shape (n,); higher is better.
        versions: The version of each reading, shape (n,).
        seeds: The number of the seed of each reading, shape (n,).
    """

    tree: tuple[Version, ...]
    values: FloatArray = field(default_factory=lambda: np.empty(0))
    versions: NDArray[np.intp] = field(default_factory=lambda: np.empty(0, dtype=np.intp))
    seeds: NDArray[np.intp] = field(default_factory=lambda: np.empty(0, dtype=np.intp))

    def adding(self, version: int, seed: int, value: float) -> "Readings":
        """Return the readings with one more."""
        more = ((self.values, value), (self.versions, version), (self.seeds, seed))
        values, versions, seeds = (np.append(known, new) for known, new in more)
        return replace(self, values=values, versions=versions, seeds=seeds)

    def last(self, n: int) -> "Readings":
        """Return the last n readings."""
        return replace(self, values=self.values[-n:], versions=self.versions[-n:], seeds=self.seeds[-n:])

    def merged(self, candidate: int) -> "Readings":
        """Return the readings under the assumption that a candidate does not differ from its parent."""
        return replace(self, versions=np.where(self.versions == candidate, self.tree[candidate].parent, self.versions))

    def covariance(self, variances: Variances) -> FloatArray:
        """Return K, shape (n, n)."""
        time = np.arange(len(self.values), dtype=np.float64)
        same = self.seeds[:, None] == self.seeds
        K = LEVEL + self.shared[np.ix_(self.versions, self.versions)] + variances.seed * same
        found: FloatArray = K + variances.step * np.minimum.outer(time, time) + np.eye(len(time))
        return found

    def beside(self, version: int, seeds: NDArray[np.intp], variances: Variances) -> tuple[FloatArray, float]:
        """Return the covariance of one more reading of a version with all, on each of some seeds, and its variance."""
        time = np.arange(len(self.values), dtype=np.float64)
        k = LEVEL + self.shared[self.versions, version][:, None] + variances.seed * (self.seeds[:, None] == seeds)
        variance = LEVEL + self.shared[version, version] + variances.seed + variances.step * len(time) + 1.0
        return k + variances.step * time[:, None], float(variance)

    def centered(self, unit: float) -> FloatArray:
        """Return y minus the expected effects of the versions."""
        added = self._descent @ np.array([version.mean for version in self.tree])
        y: FloatArray = (self.values - self.values.mean()) / unit - added[self.versions]
        return y

    @cached_property
    def rounding(self) -> float:
        """The minimum residual deviation: readings may have no noise."""
        return max(ROUNDING * float(np.ptp(self.values)), ROUNDING**2 * float(np.abs(self.values).max()), SMALLEST)

    @cached_property
    def shared(self) -> FloatArray:
        """The covariance of all versions: the variances of the effects that they share."""
        found: FloatArray = (self._descent * np.array([version.variance for version in self.tree])) @ self._descent.T
        return found

    @cached_property
    def _descent(self) -> FloatArray:
        """The effects that add up to each version, shape (versions, versions); parents come before their children."""
        rows = np.eye(len(self.tree))
        for number, version in enumerate(self.tree):
            if version.parent != number:
                rows[number] += rows[version.parent]
        return rows


@dataclass(frozen=True, eq=False)
class Whitened:
    """Innovations, and the change of each by an effect of the candidate.

    Attributes:
        z: Shape (n,).
        g: Shape (n,).
        L: The Cholesky factor, shape (n, n).
    """

    z: FloatArray
    g: FloatArray
    L: FloatArray

    @property
    def information(self) -> float:
        """One over the variance of the estimate of the effect."""
        return float(self.g @ self.g)

    @property
    def estimate(self) -> float:
        """The effect, in units of the residual deviation; 0 before the first reading."""
        return float(self.g @ self.z) / max(self.information, 1e-12)


def whitened(readings: Readings, candidate: int, variances: Variances, margin: float = 0.0) -> Whitened:
    """Return the whitened readings: they show the effect of a candidate beyond a margin."""
    null = readings.merged(candidate)
    L = safe_cholesky(null.covariance(variances))
    j = (readings.versions == candidate).astype(np.float64)
    y = null.centered(variances.unit) - margin / variances.unit * j
    both = solve_lower(L, np.stack([y, j], axis=1))
    return Whitened(both[:, 0], both[:, 1], L)


def worth(
    readings: Readings, candidate: int, variances: Variances, seeds: NDArray[np.intp]
) -> tuple[FloatArray, FloatArray]:
    """Return the growth of `g g` from one more reading of the candidate on each of some seeds, and from a pair."""
    known = whitened(readings, candidate, variances)
    k, variance = readings.merged(candidate).beside(readings.tree[candidate].parent, seeds, variances)
    w = solve_lower(known.L, k)
    told, s2 = w.T @ known.g, variance - (w * w).sum(axis=0)
    alone = (1.0 - told) ** 2 / s2
    champion = -told / np.sqrt(s2)  # a pair: the champion first, then the candidate, which shares all but the residual
    shared = (s2 - 1.0) / np.sqrt(s2)
    second = (1.0 - told - shared * champion) / np.sqrt(s2 + variances.step - shared**2)
    return alone, champion**2 + second**2


def fitted(readings: Readings, before: Variances) -> Variances:
    """Return the most plausible variances, by marginal likelihood; the residual one in closed form."""
    n = len(readings.values)
    if n < FEWEST:
        return before
    y = readings.centered(before.unit) * before.unit
    repeated = len(np.unique(readings.seeds)) < n
    steps = [Variances(before.seed, step) for step in STEP_VARIANCES]
    best = max((_profiled(readings, y, tried) for tried in steps), key=lambda each: each[0])[1]
    if repeated:
        seeds = [Variances(seed, best.step) for seed in SEED_VARIANCES]
        best = max((_profiled(readings, y, tried) for tried in seeds), key=lambda each: each[0])[1]
    return best


def _profiled(readings: Readings, y: FloatArray, tried: Variances) -> tuple[float, Variances]:
    """Return the log likelihood of variances at their best residual variance, and these variances."""
    L, degrees = safe_cholesky(readings.covariance(tried)), len(y) - 1  # the level takes one degree of freedom
    residual = max(float(np.sum(solve_lower(L, y) ** 2)) / degrees, readings.rounding**2)
    log = -0.5 * degrees * math.log(residual) - float(np.log(np.diag(L)).sum())
    return log - DRIFT_COST * (tried.step > 0), replace(tried, unit=math.sqrt(residual))
