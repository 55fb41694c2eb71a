"""The protocol of a law of the offset, and the two laws without a covariance, `Arbitrary` and `Constant`.

`Arbitrary` assumes nothing, so only the difference inside a duel teaches; `Constant` assumes that there is no offset.
Under every other law the offset is another Gaussian process, so a single reading y = f(x) + o + noise teaches too.
Pairs are still drawn and ordered at random, which separates f from the offset (METHOD section 7).
"""

from dataclasses import dataclass
from typing import ClassVar, Protocol

import numpy as np

from equipoise._typing import FloatArray
from equipoise.offsets.moments import Moments
from equipoise.offsets.terms import Hyperparameter, OffsetModel, Prepared

LEVEL_VARIANCE = 25.0
"""Prior variance of the level of the readings, in squared typical steps: wide, so that the level is learned at once."""


class Offset(Protocol):
    """The contract of an assumption about the bias; `Law` has the defaults."""

    @property
    def learns_readings(self) -> bool:
        """True if a single reading teaches; otherwise only the outcome of a whole duel does."""
        ...

    @property
    def believed(self) -> bool:
        """True if readings have no offset, so that their level is that of f."""
        ...

    @property
    def jumps(self) -> bool:
        """True if the fit looks for jumps in addition to the law."""
        ...

    @property
    def timeless(self) -> bool:
        """True if the offset does not depend on time: then all readings of one block can be compared."""
        ...

    @property
    def guard(self) -> float | None:
        """The standard deviations by which pure duels must contradict the law to replace it; `None` for never."""
        ...

    @property
    def hyperparameters(self) -> tuple[Hyperparameter, ...]:
        """Its hyperparameters, in a fixed order."""
        ...

    def covariance(self, values: FloatArray, a: Moments, b: Moments) -> FloatArray:
        """Return the covariance of the offset at readings a with that at readings b, in squared steps, shape (n, m)."""
        ...

    def derivatives(self, values: FloatArray, a: Moments, b: Moments) -> tuple[FloatArray, ...]:
        """Return the derivative of the covariance in the logarithm of each hyperparameter, shape (n, m) each."""
        ...

    def echo(self, values: FloatArray, a: Moments, b: Moments) -> FloatArray | None:
        """Return the share of f that the offset repeats at readings a and b, shape (n, m); `None` for nothing."""
        ...

    def prepared(self, moments: Moments) -> Prepared:
        """Return the law at given readings, ready to be fitted."""
        ...

    def calm(self, values: tuple[float, ...]) -> tuple[float, ...]:
        """Return hyperparameters of an offset that changes little except for jumps, if the fit looks for jumps."""
        ...

    def estimate(self, moments: Moments, readings: FloatArray) -> tuple[float, ...]:
        """Return a first guess of hyperparameters from readings, in steps, at which a fit may start."""
        ...

    def cleared(self, moments: Moments, readings: FloatArray) -> FloatArray:
        """Return readings minus the part that clearly belongs to the offset, shape (n,)."""
        ...


class Law:
    """The defaults of a law: it learns from readings, has no guard, no hyperparameters and no covariance.

    Your own law is a frozen dataclass that inherits this and overrides what differs: its
    `hyperparameters`, their `covariance` and its `derivatives`.
    """

    learns_readings: ClassVar[bool] = True
    believed: ClassVar[bool] = False
    jumps: ClassVar[bool] = False
    timeless: ClassVar[bool] = False
    guard: float | None = None
    hyperparameters: ClassVar[tuple[Hyperparameter, ...]] = ()

    def covariance(self, values: FloatArray, a: Moments, b: Moments) -> FloatArray:
        """Return the covariance of an offset that never changes: an unknown level."""
        return np.full((len(a.time), len(b.time)), LEVEL_VARIANCE)

    def derivatives(self, values: FloatArray, a: Moments, b: Moments) -> tuple[FloatArray, ...]:
        """Return no derivatives: there is nothing to learn."""
        return ()

    def echo(self, values: FloatArray, a: Moments, b: Moments) -> FloatArray | None:
        """Return `None`: the offset does not depend on the settings."""
        return None

    def prepared(self, moments: Moments) -> Prepared:
        """Return the law at given readings; override it if more can be computed beforehand."""
        return _Plain(self, moments)

    def calm(self, values: tuple[float, ...]) -> tuple[float, ...]:
        """Return the hyperparameters as they are."""
        return values

    def estimate(self, moments: Moments, readings: FloatArray) -> tuple[float, ...]:
        """Return the guesses."""
        return tuple(each.guess for each in self.hyperparameters)

    def cleared(self, moments: Moments, readings: FloatArray) -> FloatArray:
        """Return the readings as they are."""
        return readings

    def known(self, unit: float = 1.0, **values: float) -> OffsetModel:
        """Return the law with its hyperparameters known.

        Args:
            unit: The unit of the law, in that of the readings.
            **values: Hyperparameters by name, in squared units; missing ones keep their guesses.

        Example:
            >>> import equipoise as eq
            >>> eq.Tracked().known(walk=0.5).values[0]
            0.5
        """
        names = [each.name for each in self.hyperparameters]
        if unknown := sorted(set(values) - set(names)):
            raise TypeError(f"known takes {', '.join(names) or 'nothing'}, got {', '.join(unknown)}")
        return OffsetModel(self, tuple(values.get(each.name, each.guess) for each in self.hyperparameters), unit)


@dataclass(frozen=True)
class _Plain:
    """A law at given readings, without anything computed beforehand."""

    law: Law
    moments: Moments

    def covariance(self, values: FloatArray) -> FloatArray:
        """Return the covariance of the offset at the readings."""
        return self.law.covariance(values, self.moments, self.moments)

    def echo(self, values: FloatArray) -> FloatArray | None:
        """Return the law's covariance."""
        return self.law.echo(values, self.moments, self.moments)

    def gradient(self, values: FloatArray, W: FloatArray, F: FloatArray) -> FloatArray:
        """Return the derivative of tr(W K) / 2 in each logarithm."""
        matrices = self.law.derivatives(values, self.moments, self.moments)
        return np.array([0.5 * np.vdot(W, matrix) for matrix in matrices])


@dataclass(frozen=True)
class Arbitrary(Law):
    """Assume nothing: the offset cancels inside each duel, and the rest is noise.

    The paper's setting, with its guarantees. It needs no bound on the offset. If you know one, pass it to the
    reduction's `outcome_noise`, and the result to `TightConfidence`.

    Example:
        >>> import equipoise as eq
        >>> opt = eq.Optimizer(eq.Box([(0, 1)]), offset=eq.Arbitrary(), rng=0)
        >>> opt.study.setup.offset
        Arbitrary()
    """

    learns_readings = False

    def covariance(self, values: FloatArray, a: Moments, b: Moments) -> FloatArray:
        """Return zeros: the offset cancels in a difference."""
        return np.zeros((len(a.time), len(b.time)))


@dataclass(frozen=True)
class Constant(Law):
    """The offset never changes: ordinary optimization, for the baselines.

    Example:
        >>> import equipoise as eq
        >>> eq.Optimizer(eq.Box([(0, 1)]), policy=eq.UCB(), rng=0).study.setup.offset
        Constant()
    """

    believed = True
