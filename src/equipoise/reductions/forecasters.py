"""Forecasts of the offset, as baselines for the one-point reduction.

    symbol   meaning                                                          shape
    o_t      offset seen in reading t: y_t less the posterior mean there      ()
    n        number of readings so far                                        ()
    alpha    weight of the newest offset in the level                         ()
    gamma    weight of the newest offset in the slope                         ()

Each forecasts o_{t+1} from o_1, ..., o_t and adds the mean of f over the pair (`MinusLast` forecasts the reading
itself), so its number is fixed before the coin. All are immutable: `update` returns the next one.
"""

from dataclasses import dataclass, replace
from typing import Any, Self

from equipoise import _validation as check
from equipoise.reductions.baselines import Baseline, RunningMean, Zero


def _rate(name: str, value: Any) -> float:
    """Return `value` as a float above zero and up to one."""
    result = check.positive(name, value)
    if result > 1:
        raise ValueError(f"`{name}` must not be above 1, got {value!r}")
    return result


@dataclass(frozen=True, slots=True)
class ExponentialAverage:
    """The mean of the last offsets, with fading weights: for an offset that wanders or jumps.

    It is the plain mean until there are 1 / rate readings.

    Args:
        rate: The weight of the newest offset, above 0 and up to 1.
        level: The mean so far.
        readings: The number of offsets in the mean.

    Example:
        >>> ExponentialAverage(rate=0.5).update(4.0, 0.0).update(6.0, 0.0).update(9.0, 0.0).predict(0.25)
        7.25
    """

    rate: float = 0.1
    level: float = 0.0
    readings: int = 0

    def __post_init__(self) -> None:
        _rate("rate", self.rate)

    def predict(self, midpoint: float) -> float:
        """Return the mean offset plus `midpoint`."""
        return self.level + midpoint

    def update(self, reading: float, predicted: float) -> Self:
        """Include the offset `reading - predicted` in the average."""
        n = self.readings + 1
        alpha = max(self.rate, 1 / n)
        return type(self)(self.rate, self.level + alpha * (reading - predicted - self.level), n)


@dataclass(frozen=True, slots=True)
class LastOffset:
    """The last offset, for an offset that changes by more than the noise between readings.

    Args:
        offset: The last offset.

    Example:
        >>> LastOffset().update(5.0, 1.0).predict(0.5)
        4.5
    """

    offset: float = 0.0

    def predict(self, midpoint: float) -> float:
        """Return the last offset plus `midpoint`."""
        return self.offset + midpoint

    def update(self, reading: float, predicted: float) -> Self:
        """Store the offset `reading - predicted`."""
        return type(self)(reading - predicted)


@dataclass(frozen=True, slots=True)
class MinusLast:
    """The last reading with the opposite sign, for an offset that reacts to it, such as a negative repeat.

    It uses the reading itself and adds no mean of f: an error of the posterior mean would enter the forecast twice,
    make the outcome noisier and so the mean worse. Measured with that term on the linear problem, `b_t = -y_{t-1}`: a
    regret of 950 after 2000 readings instead of 300.

    Args:
        reading: The last reading.

    Example:
        >>> MinusLast().update(5.0, 1.0).predict(0.5)
        -5.0
    """

    reading: float = 0.0

    def predict(self, midpoint: float) -> float:
        """Return the negative of the last reading."""
        return 0.0 - self.reading

    def update(self, reading: float, predicted: float) -> Self:
        """Store the reading."""
        return type(self)(reading)


@dataclass(frozen=True, slots=True)
class Trend:
    """Holt's linear trend: a level and a slope, both corrected by every forecast error.

    At first it is the straight line of least squares through all offsets, until its weights have fallen to `level_rate`
    and `level_rate * slope_rate`; from then on old offsets fade.

    Args:
        level_rate: Smallest weight of the newest offset in the level, above 0 and up to 1.
        slope_rate: Smallest weight of the newest change of level in the slope, above 0 and up to 1.
        level: The offset at the last reading.
        slope: Its change per reading.
        readings: The number of readings.

    Example:
        >>> forecast = Trend()
        >>> for t in range(5):
        ...     forecast = forecast.update(3.0 - 0.5 * t, 0.0)
        >>> round(forecast.predict(0.0), 9), round(forecast.slope, 9)
        (0.5, -0.5)
    """

    level_rate: float = 0.1
    slope_rate: float = 0.1
    level: float = 0.0
    slope: float = 0.0
    readings: int = 0

    def __post_init__(self) -> None:
        _rate("level_rate", self.level_rate)
        _rate("slope_rate", self.slope_rate)

    def predict(self, midpoint: float) -> float:
        """Return the line's next value, plus `midpoint`."""
        return self.level + self.slope + midpoint

    def update(self, reading: float, predicted: float) -> Self:
        """Correct level and slope by the error of the forecast."""
        n = self.readings + 1
        error = reading - self.predict(predicted)
        alpha = max(self.level_rate, 2 * (2 * n - 1) / (n * (n + 1)))  # least squares: gains of the n-th point
        gamma = max(self.level_rate * self.slope_rate, 6 / (n * (n + 1))) if n > 1 else 0.0
        level = self.level + self.slope + alpha * error  # Holt (1957), in the form of error corrections
        return replace(self, level=level, slope=self.slope + gamma * error, readings=n)


FORECASTERS: tuple[Baseline, ...] = (
    Zero(),
    RunningMean(),
    ExponentialAverage(),
    LastOffset(),
    Trend(),
    MinusLast(),
)
"""The default candidates of `BestForecaster`."""


@dataclass(frozen=True, slots=True)
class BestForecaster:
    """The forecaster with the least discounted squared error, one reading ahead.

    The choice is made before the coin, from past readings only, so the one-point outcome is unbiased for any offset. A
    wrong choice costs noise, never bias.

    Args:
        forecasters: The candidates; among equals the first is chosen.
        discount: The factor by which a past squared error counts less after each reading, above 0 and up to 1.
        errors: The discounted sum of squared errors of each; empty before the first reading.

    Example:
        >>> forecast = BestForecaster()
        >>> for t in range(20):
        ...     forecast = forecast.update(-0.1 * t, 0.0)
        >>> type(forecast.best).__name__, round(forecast.predict(0.5), 6)
        ('Trend', -1.5)
    """

    forecasters: tuple[Baseline, ...] = FORECASTERS
    discount: float = 0.98
    errors: tuple[float, ...] = ()

    def __post_init__(self) -> None:
        _rate("discount", self.discount)
        if not self.forecasters:
            raise ValueError("`forecasters` must have at least one entry, got none")

    @property
    def best(self) -> Baseline:
        """The forecaster with the least discounted squared error."""
        errors = self._errors
        return self.forecasters[errors.index(min(errors))]

    def predict(self, midpoint: float) -> float:
        """Return the forecast of the best forecaster."""
        return self.best.predict(midpoint)

    def update(self, reading: float, predicted: float) -> Self:
        """Add its error to each forecaster, then update each with the reading."""
        new = [reading - forecaster.predict(predicted) for forecaster in self.forecasters]
        errors = tuple(self.discount * old + e * e for old, e in zip(self._errors, new, strict=True))
        learned = tuple(forecaster.update(reading, predicted) for forecaster in self.forecasters)
        return type(self)(learned, self.discount, errors)

    @property
    def _errors(self) -> tuple[float, ...]:
        return self.errors or (0.0,) * len(self.forecasters)
