"""Predictable baselines for the one-point reduction.

A one-point outcome is `+-2 (y - c)`. Any number c fixed before the coin keeps it unbiased, and the closer c lies to
the reading the less the outcome scatters: its variance is `4 ((b_t + fbar - c)^2 + sigma^2)`, with fbar the mean of
f over the pair (METHOD section 5; the paper has c = 0). So c forecasts the reading from earlier readings only.

A baseline is immutable: `update` returns the next one. The very first reading has no forecast, so with any baseline but
`Zero` it only starts the forecast: its outcome, about +-2 times the whole offset, would spoil the posterior for long.
"""

from dataclasses import dataclass
from typing import Protocol, Self


class Baseline(Protocol):
    """A forecast of the next reading, made before the coin is tossed."""

    def predict(self, midpoint: float) -> float:
        """Return c for a pair whose posterior means average to `midpoint`."""
        ...

    def update(self, reading: float, predicted: float) -> Self:
        """Return the baseline after a `reading` whose predicted posterior mean was `predicted`."""
        ...


@dataclass(frozen=True, slots=True)
class Zero:
    """The paper's choice: c = 0, regardless of earlier readings.

    Example:
        >>> import equipoise as eq
        >>> eq.reductions.Zero().update(5.0, 0.0).predict(1.0)
        0.0
    """

    def predict(self, midpoint: float) -> float:
        """Return zero."""
        return 0.0

    def update(self, reading: float, predicted: float) -> Self:
        """Return itself: it has no memory."""
        return self


@dataclass(frozen=True, slots=True)
class RunningMean:
    """The mean offset seen so far, plus the mean of f over the pair: right for a constant, unknown offset.

    Example:
        >>> import equipoise as eq
        >>> eq.reductions.RunningMean().update(5.0, 1.0).update(7.0, 1.0).predict(0.5)
        5.5
    """

    mean: float = 0.0
    readings: int = 0

    def predict(self, midpoint: float) -> float:
        """Return the mean offset plus `midpoint`."""
        return self.mean + midpoint

    def update(self, reading: float, predicted: float) -> Self:
        """Include the offset `reading - predicted` in the average."""
        n = self.readings + 1
        return type(self)(self.mean + (reading - predicted - self.mean) / n, n)
