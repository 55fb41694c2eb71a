"""Offsets: what is assumed of the bias, and hence what a reading teaches.

    symbol   meaning                                                    shape
    o(t)     offset of the reading at time t                            ()
    t, s     times of readings                                          (n,), (m,)
    ell      duration over which the smooth part changes                ()

Under `Arbitrary` nothing is assumed, so only the difference inside a duel teaches anything; under `Constant` it is as
if there were none. Under `Tracked` the offset is a Gaussian process of its own, so that a reading
y = f(x) + o(t) + noise teaches by itself; pairs are still drawn and ordered at random, which is what keeps the two
apart (METHOD section 7).
"""

from dataclasses import dataclass, replace

import numpy as np

from equipoise import _validation as check
from equipoise._typing import FloatArray
from equipoise.kernels import Matern52


@dataclass(frozen=True)
class Arbitrary:
    """Nothing is assumed: the offset cancels inside each duel, and what does not cancel is noise.

    The paper's setting, with its guarantees. No bound on the offset is asked for; a user who knows one gives it to
    the reduction's `outcome_noise` and that to `TightConfidence`.

    Example:
        >>> import equipoise as eq
        >>> opt = eq.Optimizer(eq.Box([(0, 1)]), offset=eq.Arbitrary(), rng=0)
        >>> opt.offset
        Arbitrary()
    """


@dataclass(frozen=True)
class Tracked:
    """The offset wanders: a level, a slope, a smooth wave and a random walk, each as strong as the data say.

    Uses each reading for what it says about f, not only differences, so it needs about half as many readings. Its
    certificate is an estimate. Against an offset that reacts to the readings it is watched by the pure duels.

    Args:
        guard: Where the duels contradict the tracked estimate by more than this many standard deviations, trust the
            duels; `None` never does.

    Example:
        >>> import equipoise as eq
        >>> eq.Optimizer(eq.Box([(0, 1)]), rng=0).offset
        Tracked(guard=3.0)
    """

    guard: float | None = 3.0

    def __post_init__(self) -> None:
        if self.guard is not None:
            check.positive("guard", self.guard)


@dataclass(frozen=True)
class Constant:
    """The offset never changes: ordinary optimization, for the baselines.

    Example:
        >>> import equipoise as eq
        >>> eq.Optimizer(eq.Box([(0, 1)]), policy=eq.UCB(), rng=0).offset
        Constant()
    """


Offset = Arbitrary | Tracked | Constant
"""What an optimizer's `offset` argument takes."""


@dataclass(frozen=True)
class OffsetKernel:
    """Prior covariance of the offset: level + slope + smooth wave + random walk.

    Attributes:
        level: Variance of the offset at time 0.
        slope: Variance of its constant change per unit of time.
        walk: Variance of the step of a random walk per unit of time.
        wave: Variance of a smooth part.
        duration: Time over which the smooth part changes.
        jumps: Time and variance of each jump found.

    Example:
        >>> OffsetKernel(walk=0.5)([1.0, 4.0], [2.0])
        array([[0.5], [1. ]])
    """

    level: float = 0.0
    slope: float = 0.0
    walk: float = 0.0
    wave: float = 0.0
    duration: float = 1.0
    jumps: tuple[tuple[float, float], ...] = ()

    def __call__(self, t: FloatArray, s: FloatArray) -> FloatArray:
        """Return the covariance of o(t) with o(s), shape (n, m)."""
        T, S = np.asarray(t, dtype=np.float64)[:, None], np.asarray(s, dtype=np.float64)
        smooth = self.level + self.slope * T * S + self.wave * Matern52.profile(((T - S) / self.duration) ** 2)
        return smooth + self.walk * np.minimum(T, S) + self.jump_covariance(t, s)

    def jump_covariance(self, t: FloatArray, s: FloatArray) -> FloatArray:
        """Return what the jumps add: two readings share every jump before both of them, shape (n, m)."""
        when, variance = np.array(self.jumps).reshape(-1, 2).T
        covariance: FloatArray = ((np.asarray(t)[:, None] >= when) * variance) @ (np.asarray(s)[:, None] >= when).T
        return covariance

    def scaled(self, factor: float) -> "OffsetKernel":
        """Return the kernel with every variance multiplied."""
        return replace(
            self,
            level=factor * self.level,
            slope=factor * self.slope,
            walk=factor * self.walk,
            wave=factor * self.wave,
            jumps=tuple((time, factor * variance) for time, variance in self.jumps),
        )
