"""Biases that depend on past readings: repeats, differences, re-calibration, a detector that adjusts its range."""

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from numpy.random import Generator

from equipoise._validation import count, number, positive
from equipoise.lab.environments.reading import BiasProcess, Measurement

Source = Literal["value", "reading"]
"""The quantity that a bias remembers: the exact f(x) or the noisy reading."""


@dataclass(frozen=True)
class NegativeRepeat:
    """A bias of minus the previous reading; 0 at the first reading.

    Args:
        of: "value" gives b_t = -f(x_{t-1}), as in the authors' experiments. "reading" gives the printed -y_{t-1}, which
            has no bound: y becomes an alternating random walk.

    Examples:
        >>> import numpy as np
        >>> process = NegativeRepeat().start(np.random.default_rng(0))
        >>> process.record(Measurement(1, np.zeros(1), value=0.5, noise=0.1, offset=0.0, y=0.6))
        >>> process.offset()
        -0.5
    """

    of: Source = "value"

    def __post_init__(self) -> None:
        _check_source(self.of)

    def start(self, rng: Generator) -> BiasProcess:
        """Return a fresh process."""
        return _Answer(self._next, first=0.0)

    def _next(self, reading: Measurement) -> float:
        return -reading.value if self.of == "value" else -reading.y  # KK21 section 5.2


@dataclass(frozen=True)
class CompensatedDrift:
    """A drifting signal displayed as its change since the last reading.

    The raw signal is raw_t = f(x_t) + eps_t + slope t. The learner sees raw_t - raw_{t-1}, with raw_0 = 0.

    Args:
        slope: The drift per reading.

    Examples:
        >>> import numpy as np
        >>> process = CompensatedDrift(slope=-0.5).start(np.random.default_rng(0))
        >>> process.offset()
        -0.5
        >>> process.record(Measurement(1, np.zeros(1), value=1.0, noise=0.25, offset=-0.5, y=0.75))
        >>> process.offset()
        -1.75
    """

    slope: float = -0.1

    def __post_init__(self) -> None:
        number("slope", self.slope)

    def start(self, rng: Generator) -> BiasProcess:
        """Return a fresh process."""
        return _Answer(self._next, first=self.slope)

    def _next(self, reading: Measurement) -> float:
        return self.slope - reading.unshifted  # KK21 section 5.2 prints + y_{t-1}, which diverges


@dataclass(frozen=True)
class RangeAdjustingDetector:
    """A detector of fixed gain that recenters when a reading leaves its display.

    After a reading outside [low, high] the offset is set so that the same unshifted reading would be displayed in the
    middle of the range; it starts at 0.

    Args:
        low: The lowest number that the detector displays.
        high: The highest number that it displays.

    Examples:
        >>> import numpy as np
        >>> process = RangeAdjustingDetector(low=-1, high=1).start(np.random.default_rng(0))
        >>> process.record(Measurement(1, np.zeros(1), value=1.5, noise=0.0, offset=0.0, y=1.5))
        >>> process.offset()
        -1.5
    """

    low: float = -1.0
    high: float = 1.0

    def __post_init__(self) -> None:
        if number("low", self.low) >= number("high", self.high):
            raise ValueError(f"`low` must be below `high`, got {self.low!r} and {self.high!r}")

    def start(self, rng: Generator) -> BiasProcess:
        """Return a fresh process."""
        return _Answer(self._next, first=0.0)

    def _next(self, reading: Measurement) -> float:
        if self.low <= reading.y <= self.high:
            return reading.offset
        return (self.low + self.high) / 2 - reading.unshifted


@dataclass(frozen=True)
class Calibration:
    """A calibration that follows a moving average, b = -o.

    If the mean of the last `window` unshifted readings (of all readings, at the start) is further than `threshold` from
    the reference o, then o is set to that mean less `residue`; o starts at 0. The defaults are the paper's;
    `authors_calibration` has those of the authors' code.

    Args:
        window: The number of readings in the average.
        threshold: The largest tolerated deviation of the displayed average.
        residue: The displayed average after a calibration.
        of: Average the noisy "reading", or the exact "value".

    Examples:
        >>> import numpy as np
        >>> process = Calibration().start(np.random.default_rng(0))
        >>> process.record(Measurement(1, np.zeros(1), value=1.0, noise=0.5, offset=0.0, y=1.5))
        >>> process.offset()
        -1.5
    """

    window: int = 10
    threshold: float = 0.1
    residue: float = 0.0
    of: Source = "reading"

    def __post_init__(self) -> None:
        count("window", self.window)
        positive("threshold", self.threshold)
        if abs(number("residue", self.residue)) > self.threshold:
            raise ValueError(f"`residue` must lie within the threshold {self.threshold!r}, got {self.residue!r}")
        _check_source(self.of)

    def start(self, rng: Generator) -> BiasProcess:
        """Return a fresh process."""
        return _Calibrator(self)


def authors_calibration() -> Calibration:
    """Return the calibration of the authors' experiments, which differs from the printed one.

    Examples:
        >>> authors_calibration().window
        5
    """
    return Calibration(window=5, threshold=0.2, residue=0.1, of="value")


class _Answer:
    """A process whose offset is a function of the last reading."""

    def __init__(self, law: Callable[[Measurement], float], first: float) -> None:
        self._law = law
        self._offset = first

    def offset(self) -> float:
        return self._offset

    def record(self, reading: Measurement) -> None:
        self._offset = self._law(reading)


class _Calibrator:
    """The moving average and the reference of a `Calibration`."""

    def __init__(self, bias: Calibration) -> None:
        self._bias = bias
        self._recent: deque[float] = deque(maxlen=bias.window)
        self._reference = 0.0

    def offset(self) -> float:
        return -self._reference

    def record(self, reading: Measurement) -> None:
        self._recent.append(reading.value if self._bias.of == "value" else reading.unshifted)
        mean = sum(self._recent) / len(self._recent)
        if abs(mean - self._reference) > self._bias.threshold:  # KK21 section 5.2
            self._reference = mean - self._bias.residue


def _check_source(of: str) -> None:
    if of not in ("value", "reading"):
        raise ValueError(f'`of` must be "value" or "reading", got {of!r}')
