"""Offsets that change only between blocks: runs of equally many readings, or blocks that the user gives."""

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from equipoise import _validation as check
from equipoise._typing import FloatArray
from equipoise.offsets.moments import Moments
from equipoise.offsets.offset import LEVEL_VARIANCE, Law
from equipoise.offsets.terms import Hyperparameter


@dataclass(frozen=True)
class Blocks(Law):
    """One level for each run of `length` readings, such as a cartridge, a plate or a fill of the machine.

    Args:
        length: The number of readings of a run.
        guard: If the duels contradict the estimate by more than this many standard deviations, trust the duels;
            `None` never does.

    Example:
        >>> import equipoise as eq
        >>> eq.Optimizer(eq.Box([(0, 1)]), offset=eq.Blocks(10), rng=0).study.setup.offset
        Blocks(length=10, guard=3.0)
    """

    length: int
    guard: float | None = 3.0
    hyperparameters: ClassVar[tuple[Hyperparameter, ...]] = (
        Hyperparameter("level", 1.0, 0.0, 3.0, 1e-6, math.exp(14.0), "runs may differ by 1,000 times f"),
    )

    def __post_init__(self) -> None:
        check.count("length", self.length)
        if self.guard is not None:
            check.positive("guard", self.guard)

    def covariance(self, values: FloatArray, a: Moments, b: Moments) -> FloatArray:
        """Return the covariance shared by all readings, plus that shared by the readings of one run."""
        K: FloatArray = LEVEL_VARIANCE + values[0] * self._same_run(a, b)
        return K

    def derivatives(self, values: FloatArray, a: Moments, b: Moments) -> tuple[FloatArray, ...]:
        """Return the derivative in the logarithm of the level's variance."""
        return (values[0] * self._same_run(a, b),)

    def _same_run(self, a: Moments, b: Moments) -> NDArray[np.bool_]:
        first, second = ((np.asarray(each.time) - 1) // self.length for each in (a, b))
        same: NDArray[np.bool_] = first[:, None] == second
        return same


@dataclass(frozen=True)
class Steady(Law):
    """No drift: the level is unknown, and depends on blocks, seeds and covariates, but not on time.

    The default of a study with seeds: training does not change from one trial to the next.

    Args:
        guard: If the duels contradict the estimate by more than this many standard deviations, trust the duels;
            `None` never does: there is no adversary in a seed.

    Example:
        >>> import equipoise as eq
        >>> eq.Optimizer(eq.Box([(0, 1)]), seeds=True, rng=0).study.setup.offset
        Steady(guard=None)
    """

    guard: float | None = None
    timeless = True

    def __post_init__(self) -> None:
        if self.guard is not None:
            check.positive("guard", self.guard)
