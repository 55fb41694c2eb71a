"""The offsets of the board, in units of the average regret of a random setting."""

import math
from collections.abc import Mapping
from dataclasses import dataclass

from numpy.random import Generator

from equipoise import _validation as check
from equipoise.lab.environments import (
    Bias,
    BiasProcess,
    BlockOffsets,
    Jumps,
    Measurement,
    NoBias,
    PeriodicDrift,
    RandomWalk,
)


@dataclass(frozen=True)
class Throttle:
    """A processor that runs slower for part of the run: the offset is `-depth` from a random moment on.

    Args:
        readings: The number of readings of the run.
        depth: The drop of a reading; readings are minus logarithms of times, so log 1.2 means 20 % slower.
        share: The share of the run that is slow.

    Example:
        >>> import numpy as np
        >>> process = Throttle(readings=9, depth=0.5).start(np.random.default_rng(0))
        >>> sorted(process.offset() for _ in range(9))
        [-0.5, -0.5, -0.5, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0]
    """

    readings: int
    depth: float = math.log(1.2)
    share: float = 1 / 3

    def __post_init__(self) -> None:
        check.count("readings", self.readings)
        check.number("depth", self.depth)
        if not 0 <= self.share <= 1:
            raise ValueError(f"`share` must be from 0 to 1, got {self.share!r}")

    def start(self, rng: Generator) -> BiasProcess:
        """Return a fresh process."""
        length = round(self.share * self.readings)
        first = int(rng.integers(self.readings - length + 1))
        return _Spell(range(first, first + length), -self.depth)


class _Spell:
    """An offset that affects only some readings."""

    def __init__(self, when: range, offset: float) -> None:
        self._when, self._offset, self._readings = when, offset, 0

    def offset(self) -> float:
        self._readings += 1
        return self._offset if self._readings - 1 in self._when else 0.0

    def record(self, reading: Measurement) -> None:
        pass


WEATHER: Mapping[str, Bias] = {
    "none": NoBias(),
    "walk": RandomWalk(0.1),
    "jumps": Jumps(rate=0.05, scale=1.0),
    "pairs": BlockOffsets(2, 1.0),
    "runs of 3": BlockOffsets(3, 4.0),
    "runs of 5": BlockOffsets(5, 4.0),
    "runs of 7": BlockOffsets(7, 4.0),
    "season of 7": PeriodicDrift(amplitude=1.0, frequency=2 * math.pi / 7, slope=0.0),
    "season of 12": PeriodicDrift(amplitude=1.0, frequency=2 * math.pi / 12, slope=0.0),
}
"""The offsets by name. A walk moves by one unit in 100 readings; pairs and runs are readings that share a level."""
