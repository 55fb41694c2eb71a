"""Readings that are f plus the offset plus Gaussian noise, with exact inference."""

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.random import Generator

from equipoise._typing import FloatArray
from equipoise._validation import single
from equipoise.likelihoods.likelihood import Tilt

LOG_ROOT_TAU = 0.5 * math.log(2.0 * math.pi)


@dataclass(frozen=True)
class Gaussian:
    """The default likelihood: a reading is f plus the offset plus Gaussian noise, of learned or given variance.

    Example:
        >>> Gaussian().check("value", 0.83)
        (0.83,)
    """

    exact: ClassVar[bool] = True
    scale: ClassVar[str] = ""
    example: ClassVar[str] = "0.83"
    check = staticmethod(single)

    def glance(self, y: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return the readings unchanged: their noise is that of the model."""
        return y[:, 0], np.zeros(len(y))

    def tilt(self, y: FloatArray, mu: FloatArray, v: FloatArray) -> Tilt:
        """Return log N(y; mu, v): the noise of the model is part of v."""
        off = y[:, 0] - mu
        log_z = -0.5 * off * off / v - 0.5 * np.log(v) - LOG_ROOT_TAU
        return Tilt(log_z, off / v, 1.0 / v, v, 1e-12 * v)

    def expected(self, u: FloatArray) -> FloatArray:
        """Return f plus the offset."""
        return u

    def draw(self, u: float, rng: Generator) -> float:
        """Return u: the noise is that of the model."""
        return float(u)
