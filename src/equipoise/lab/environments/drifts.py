"""Biases that ignore the readings: functions of time, and random levels."""

import math
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass

from numpy.random import Generator

from equipoise._validation import count, nonnegative, number
from equipoise.lab.environments.reading import BiasProcess, Measurement

_Law = Callable[[int, float, Generator], float]


class _Timed(ABC):
    """A bias whose offset at time t is a function of t, the last offset and a random stream."""

    def start(self, rng: Generator) -> BiasProcess:
        """Return a fresh process."""
        return _Clock(self._next, rng)

    @abstractmethod
    def _next(self, time: int, level: float, rng: Generator) -> float:
        """Return b_t."""


@dataclass(frozen=True)
class NoBias(_Timed):
    """A bias without any offset.

    Examples:
        >>> import numpy as np
        >>> NoBias().start(np.random.default_rng(0)).offset()
        0.0
    """

    def _next(self, time: int, level: float, rng: Generator) -> float:
        return 0.0


@dataclass(frozen=True)
class Drift(_Timed):
    """A steady drift, b_t = slope t.

    Args:
        slope: The change per reading.

    Examples:
        >>> import numpy as np
        >>> process = Drift(slope=-0.5).start(np.random.default_rng(0))
        >>> [process.offset() for _ in range(3)]
        [-0.5, -1.0, -1.5]
    """

    slope: float = -0.1

    def __post_init__(self) -> None:
        number("slope", self.slope)

    def _next(self, time: int, level: float, rng: Generator) -> float:
        return self.slope * time  # KK21 section 5.2, -0.1 t


@dataclass(frozen=True)
class PeriodicDrift(_Timed):
    """A wave on a drift, b_t = amplitude sin(frequency t) + slope t.

    Args:
        amplitude: The height of the wave.
        frequency: Its angle per reading, in radians.
        slope: The drift per reading.

    Examples:
        >>> import numpy as np
        >>> round(PeriodicDrift().start(np.random.default_rng(0)).offset(), 4)
        0.0987
    """

    amplitude: float = 1.0
    frequency: float = 0.2
    slope: float = -0.1

    def __post_init__(self) -> None:
        number("amplitude", self.amplitude)
        number("frequency", self.frequency)
        number("slope", self.slope)

    def _next(self, time: int, level: float, rng: Generator) -> float:
        # KK21 section 5.2, sin(0.2 t) - 0.1 t
        return self.amplitude * math.sin(self.frequency * time) + self.slope * time


@dataclass(frozen=True)
class Jumps(_Timed):
    """A constant level that is redrawn now and then from a normal distribution; it starts at 0.

    Args:
        rate: The chance of a jump before each reading, from 0 to 1.
        scale: The standard deviation of the levels.

    Examples:
        >>> import numpy as np
        >>> process = Jumps(rate=0.05).start(np.random.default_rng(0))
        >>> len({process.offset() for _ in range(100)}) < 20
        True
    """

    rate: float = 0.05
    scale: float = 1.0

    def __post_init__(self) -> None:
        nonnegative("scale", self.scale)
        if nonnegative("rate", self.rate) > 1:
            raise ValueError(f"`rate` must not be above 1, got {self.rate!r}")

    def _next(self, time: int, level: float, rng: Generator) -> float:
        return self.scale * rng.standard_normal() if rng.random() < self.rate else level


@dataclass(frozen=True)
class RandomWalk(_Timed):
    """A random walk, b_t = b_{t-1} + step z_t with standard normal z_t and b_0 = 0.

    Args:
        step: The standard deviation of one step.

    Examples:
        >>> import numpy as np
        >>> process = RandomWalk(step=0.1).start(np.random.default_rng(0))
        >>> abs(process.offset()) < 1
        True
    """

    step: float = 0.1

    def __post_init__(self) -> None:
        nonnegative("step", self.step)

    def _next(self, time: int, level: float, rng: Generator) -> float:
        return level + self.step * rng.standard_normal()


@dataclass(frozen=True)
class BlockOffsets(_Timed):
    """A new level for every block of readings: a day, a batch, a sample holder.

    Args:
        length: The number of readings of a block.
        scale: The standard deviation of the levels.

    Examples:
        >>> import numpy as np
        >>> process = BlockOffsets(length=2).start(np.random.default_rng(0))
        >>> a, b, c = (process.offset() for _ in range(3))
        >>> a == b, b == c
        (True, False)
    """

    length: int = 20
    scale: float = 1.0

    def __post_init__(self) -> None:
        count("length", self.length)
        nonnegative("scale", self.scale)

    def _next(self, time: int, level: float, rng: Generator) -> float:
        return self.scale * rng.standard_normal() if (time - 1) % self.length == 0 else level


class _Clock:
    """A process that counts the readings and stores its last offset."""

    def __init__(self, law: _Law, rng: Generator) -> None:
        self._law, self._rng = law, rng
        self._time, self._level = 0, 0.0

    def offset(self) -> float:
        self._time += 1
        self._level = self._law(self._time, self._level, self._rng)
        return self._level

    def record(self, reading: Measurement) -> None:
        pass
