"""A simulated drifting instrument for newcomers: a beam line whose detector warms up, wanders and jumps."""

import math
import time
from collections.abc import Mapping

import numpy as np

from equipoise.lab.environments.beamline import intensity

SECONDS = 1.0
"""The duration of a reading in seconds."""

FULL = 40.0
"""The transmitted intensity, in nA, if the whole beam passed the aperture."""


class Simulator:
    """A simulator of the intensity behind three quadrupole magnets, with an unknown offset.

    Args:
        seed: The seed of the noise and the jumps.
        seconds: The duration of a reading.

    Attributes:
        names: The names of the magnets.

    Example:
        >>> read = Simulator(seed=0, seconds=0.0)
        >>> read({"QF1": 1.0, "QD2": -2.0, "QF3": 1.0}) < 40 + 10
        True
    """

    names = ("QF1", "QD2", "QF3")

    def __init__(self, seed: int | None = None, seconds: float = SECONDS) -> None:
        self._rng, self._seconds = np.random.default_rng(seed), seconds
        self._shots, self._level = 0, 0.0

    def truth(self, x: Mapping[str, float]) -> float:
        """Return the reading without offset and noise, in nA; it is at most FULL."""
        return FULL * float(intensity([x[name] for name in self.names]))

    def __call__(self, x: Mapping[str, float]) -> float:
        """Return a reading at a setting, in nA."""
        time.sleep(self._seconds)
        self._shots += 1
        self._level += self._rng.normal(0.0, 0.15) + (self._rng.normal(0.0, 6.0) if self._rng.random() < 0.02 else 0.0)
        drift = 8.0 * (1.0 - math.exp(-self._shots / 60.0)) + 2.0 * math.sin(0.1 * self._shots) + self._level
        return float(round(self.truth(x) + drift + self._rng.normal(0.0, 0.3), 4))
