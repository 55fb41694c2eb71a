"""A drifting instrument for newcomers: a beam line whose detector warms up, wanders and jumps."""

import math
import time
from pathlib import Path

import numpy as np

from equipoise.data import Trial
from equipoise.lab.environments import intensity
from equipoise.optimizer import Optimizer
from equipoise.spaces import Float, Space

SECONDS = 1.0
"""What a reading takes."""

FULL = 40.0
"""Transmitted intensity if all of the beam passed the aperture, in nA."""

NAMES = ("QF1", "QD2", "QF3")
START = dict.fromkeys(NAMES, 0.0)


def begin(path: Path) -> None:
    """Make the study of the simulated instrument."""
    space = Space({name: Float(-6, 6, unit="1/m²") for name in NAMES})
    opt = Optimizer(space, start=START, log=path, rng=0)
    opt.study.set("unit", "nA")


class Simulator:
    """Reads the intensity behind three quadrupole magnets, with an offset that nobody knows.

    Args:
        seed: Of the noise and the jumps.
        seconds: What a reading takes.

    Example:
        >>> sorted(Simulator(seed=0, seconds=0.0)(Trial(0, START)))
        ['value']
    """

    def __init__(self, seed: int | None = None, seconds: float = SECONDS) -> None:
        self._rng, self._seconds = np.random.default_rng(seed), seconds
        self._shots, self._level = 0, 0.0

    def __call__(self, trial: Trial) -> dict[str, float]:
        """Return a reading."""
        time.sleep(self._seconds)
        self._shots += 1
        self._level += self._rng.normal(0.0, 0.15) + (self._rng.normal(0.0, 6.0) if self._rng.random() < 0.02 else 0.0)
        drift = 8.0 * (1.0 - math.exp(-self._shots / 60.0)) + 2.0 * math.sin(0.1 * self._shots) + self._level
        signal = FULL * float(intensity([trial.x[name] for name in NAMES]))
        return {"value": round(signal + drift + self._rng.normal(0.0, 0.3), 4)}
