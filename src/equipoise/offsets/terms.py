"""Elements of laws of the offset: hyperparameters with priors, and laws with known hyperparameters.

    symbol   meaning                                                    shape
    a, b     circumstances of n and of m readings                       `Moments`
    values   hyperparameters of a law, in its order                     (k,)
    W        any matrix over the readings; the covariance is symmetric  (n, n)
    F        prior covariance of f at readings                          (n, m)

Covariances are in squared units; the unit of a law that is learned is the typical step of the readings.
"""

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, NamedTuple, Protocol, Self

import numpy as np
from numpy.typing import NDArray

from equipoise._typing import FloatArray
from equipoise.offsets.moments import Moments

if TYPE_CHECKING:
    from equipoise.offsets.offset import Offset


Disturbance = tuple[float, float]
"""Time and variance of a disturbance of the offset beyond its law."""


class Hyperparameter(NamedTuple):
    """A positive number that is learned.

    Attributes:
        name: Its name.
        guess: Its value before there are data to fit it to.
        mean: Mean of the normal prior of its logarithm.
        deviation: Standard deviation of that prior.
        low: Least value.
        high: Largest value.
        reason: The reason for this prior.
    """

    name: str
    guess: float
    mean: float
    deviation: float
    low: float
    high: float
    reason: str


class Prepared(Protocol):
    """A law at given readings, with everything computed beforehand that does not depend on hyperparameters."""

    def covariance(self, values: FloatArray) -> FloatArray:
        """Return the covariance of the offset at the readings, shape (n, n)."""
        ...

    def echo(self, values: FloatArray) -> FloatArray | None:
        """Return the share of f that the offset repeats at the readings, shape (n, n); `None` if it repeats nothing."""
        ...

    def gradient(self, values: FloatArray, W: FloatArray, F: FloatArray) -> FloatArray:
        """Return the derivative of tr(W K) / 2 in the logarithm of each hyperparameter, shape (k,).

        K is `covariance + echo F`, F the prior covariance of f at the readings.
        """
        ...


@dataclass(frozen=True)
class OffsetModel:
    """A law whose hyperparameters are known: the prior covariance of the offset, in the unit of the readings.

    Attributes:
        law: The assumed law of the offset.
        values: Its hyperparameters, in its order and its unit.
        unit: The unit of the law, in that of the readings.
        jumps: Time and variance of each jump found.
        blips: Time and variance of each spoiled single reading found.

    Example:
        >>> import equipoise as eq
        >>> known = eq.offsets.Blocks(3).known(level=2.0)
        >>> when = eq.offsets.Moments([1.0, 3.0, 4.0], [0, 1, 1])
        >>> known(when, when) - known(when, when).min()
        array([[2., 2., 0.],
               [2., 2., 0.],
               [0., 0., 2.]])
    """

    law: "Offset"
    values: tuple[float, ...]
    unit: float = 1.0
    jumps: tuple[Disturbance, ...] = ()
    blips: tuple[Disturbance, ...] = ()

    def __call__(self, a: Moments, b: Moments, F: FloatArray | None = None) -> FloatArray:
        """Return the covariance of the offset at readings a with that at readings b, shape (n, m).

        Args:
            a: Circumstances of n readings.
            b: Circumstances of m readings.
            F: Covariance of f at a with f at b, shape (n, m), if the offset may repeat it.
        """
        values = np.array(self.values)
        smooth = self.unit**2 * self.law.covariance(values, a, b)
        if F is not None and (echo := self.law.echo(values, a, b)) is not None:
            smooth = smooth + echo * F
        if self.jumps:
            smooth = smooth + jump_covariance(self.jumps, a, b)
        return smooth + blip_covariance(self.blips, a, b) if self.blips else smooth

    def until(self, time: float) -> Self:
        """Return the same without the disturbances after some time."""
        jumps, blips = (tuple(each for each in found if each[0] <= time) for found in (self.jumps, self.blips))
        return replace(self, jumps=jumps, blips=blips) if (jumps, blips) != (self.jumps, self.blips) else self

    @property
    def echoes(self) -> bool:
        """True if the offset repeats some of f."""
        one = Moments.at(1.0, 0.0)
        return self.law.echo(np.array(self.values), one, one) is not None

    def repeating(self, a: Moments, b: Moments, F: FloatArray) -> FloatArray:
        """Return F, the covariance of f at readings a and b, plus the part that the offset repeats, shape (n, m)."""
        echo = self.law.echo(np.array(self.values), a, b)
        return F if echo is None else F + echo * F

    def jumping(self, *jumps: Disturbance) -> Self:
        """Return the same with more jumps."""
        return replace(self, jumps=(*self.jumps, *jumps))

    def blipping(self, *blips: Disturbance) -> Self:
        """Return the same with more blips."""
        return replace(self, blips=(*self.blips, *blips))


def blip_covariance(blips: tuple[Disturbance, ...], a: Moments, b: Moments) -> FloatArray:
    """Return the covariance that blips add: a reading shares them only with itself, shape (n, m)."""
    when, variance = np.array(blips).reshape(-1, 2).T
    at_a, at_b = ((each.time[:, None] == when) & _own(each) for each in (a, b))
    covariance: FloatArray = (at_a * variance) @ at_b.T
    return covariance


def jump_covariance(jumps: tuple[Disturbance, ...], a: Moments, b: Moments) -> FloatArray:
    """Return the covariance that jumps add: two readings share every jump before both of them, shape (n, m)."""
    when, variance = np.array(jumps).reshape(-1, 2).T
    after_a, after_b = ((each.time[:, None] >= when) & _own(each) for each in (a, b))
    covariance: FloatArray = (after_a * variance) @ after_b.T
    return covariance


def _own(moments: Moments) -> NDArray[np.bool_]:
    """Return a mask of the study's own readings, shape (n, 1): times of disturbances refer to them."""
    own: NDArray[np.bool_] = (moments.campaign == "")[:, None]
    return own
