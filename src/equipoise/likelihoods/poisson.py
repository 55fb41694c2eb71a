"""Counts, such as events in a given time, particles, clicks or defects."""

import math
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.random import Generator

from equipoise._typing import FloatArray
from equipoise.likelihoods.concave import LogConcave
from equipoise.likelihoods.counting import count

LARGEST_LOG = 700.0
"""The largest logarithm of a rate: larger rates overflow."""


@dataclass(frozen=True)
class Poisson(LogConcave):
    """The likelihood of a count y of rate exp(u): f, the offset and the noise are log rates.

    Differences of f are logarithms of ratios: 0.1 is 10 % more. The offset multiplies the rate, like a fading lamp. The
    noise is the variation of the rates beyond Poisson's law. A study learns from it by expectation propagation: means
    are accurate to 0.005 posterior deviations at any rate. Only duels of two counts under an arbitrary offset use a
    Gaussian approximation (docs/method.md, section 15).

    Example:
        >>> Poisson().check("value", 17)
        (17.0,)
        >>> Poisson().check("value", 1.5)
        Traceback (most recent call last):
        ValueError: `value` must be a whole number of at least 0, got 1.5
    """

    exact: ClassVar[bool] = False
    scale: ClassVar[str] = "log rate"
    example: ClassVar[str] = "17"

    def check(self, name: str, value: Any) -> tuple[float, ...]:
        """Return a whole number of at least 0."""
        return (count(name, value),)

    def glance(self, y: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return log(y + 1/2), which is nearly unbiased, and 1 / (y + 1/2)."""
        rate = y[:, 0] + 0.5
        return np.log(rate), 1.0 / rate

    def log_likelihood(self, y: FloatArray, u: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Return y u - exp(u) - log y!, and its derivatives."""
        from scipy.special import gammaln

        rate = np.exp(np.minimum(u, LARGEST_LOG))
        return y[:, 0] * u - rate - gammaln(y[:, 0] + 1.0), y[:, 0] - rate, -rate

    def expected(self, u: FloatArray) -> FloatArray:
        """Return the rate."""
        return np.exp(np.minimum(u, LARGEST_LOG))

    def draw(self, u: float, rng: Generator) -> int:
        """Return a count of rate exp(u)."""
        return int(rng.poisson(math.exp(u)))
