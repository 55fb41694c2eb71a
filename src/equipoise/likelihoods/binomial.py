"""Shares: successes in a number of trials, such as conversions, passes or hits."""

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.random import Generator

from equipoise._typing import FloatArray
from equipoise.likelihoods.concave import LogConcave
from equipoise.likelihoods.counting import count

DRAWN = 20
"""The number of trials of a simulated answer."""


@dataclass(frozen=True)
class Binomial(LogConcave):
    """The likelihood of k successes in n trials, with odds exp(u): f and the offset are log odds.

    The noise is the variation of the odds between readings. A reading with more trials has more weight. A study
    learns from it by expectation propagation: means are accurate to 0.005 posterior deviations for any share. Only
    duels of two shares under an arbitrary offset use a Gaussian approximation (docs/method.md, section 15).

    Example:
        >>> Binomial().check("value", (17, 200))
        (17.0, 200.0)
        >>> Binomial().check("value", (17, 16))
        Traceback (most recent call last):
        ValueError: `value` must have at most as many successes as trials, got (17, 16)
    """

    exact: ClassVar[bool] = False
    scale: ClassVar[str] = "log odds"
    example: ClassVar[str] = "17/200"

    def check(self, name: str, value: Any) -> tuple[float, ...]:
        """Return successes and trials: whole numbers, with at least one trial and no more successes than trials."""
        if isinstance(value, (str, bytes)) or np.shape(value) != (2,):
            raise TypeError(f"`{name}` must be successes and trials, such as (17, 200), got {value!r}")
        k, n = count(name, value[0]), count(f"{name}[1]", value[1], at_least=1)
        if k > n:
            raise ValueError(f"`{name}` must have at most as many successes as trials, got {value!r}")
        return k, n

    def glance(self, y: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return the empirical logit and its variance (Haldane 1956, Gart and Zweifel 1967)."""
        won, lost = y[:, 0] + 0.5, y[:, 1] - y[:, 0] + 0.5
        return np.log(won / lost), 1.0 / won + 1.0 / lost

    def log_likelihood(self, y: FloatArray, u: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Return k u - n log(1 + exp(u)) + log binomial coefficient, and its derivatives."""
        from scipy.special import expit, gammaln

        k, n = y[:, 0], y[:, 1]
        ways = gammaln(n + 1.0) - gammaln(k + 1.0) - gammaln(n - k + 1.0)
        # k u - n log(1 + e^u) without cancellation: failures cost log(1 + e^u), successes log(1 + e^-u)
        said = -(n - k) * np.logaddexp(0.0, u) - k * np.logaddexp(0.0, -u)
        won, lost = expit(u), expit(-u)
        return said + ways, k * lost - (n - k) * won, -n * won * lost

    def expected(self, u: FloatArray) -> FloatArray:
        """Return the share of successes."""
        from scipy.special import expit

        chance: FloatArray = expit(u)
        return chance

    def draw(self, u: float, rng: Generator) -> tuple[int, int]:
        """Return the successes of `DRAWN` trials."""
        return int(rng.binomial(DRAWN, float(self.expected(np.asarray(u))))), DRAWN
