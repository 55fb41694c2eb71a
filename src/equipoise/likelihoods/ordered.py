"""The likelihood of a judgement: an ordered probit with an advantage of the first place.

    symbol   meaning                                                              shape
    d        f(first) - f(second)                                                 (n,)
    s        noise of the judge, in the unit of f                                 (n,)
    b        advantage of the first place, in units of s                          (n,)
    z        the judge's perception: d / s + b + e, e standard normal             (n,)
    l, u     the answer is given if l < z <= u                                    (n,)
    y, q     the number y = q z, in the judge's unit q                            (n,)
    mu, v    mean and variance of d before the answer (the cavity)                (n,)
    Z        probability of the answer: E[P(answer | d)]                          (n,)

With t = sqrt(s^2 + v), Z = Phi((s (u - b) - mu) / t) - Phi((s (l - b) - mu) / t). The derivatives of log Z in mu give
the mean and variance of d after the answer (Rasmussen and Williams 2006, section 3.6; Chu and Ghahramani 2005). Those
in s, b, l, u, q serve to fit the judge. -log Z is convex in mu, hence the sweeps converge.
"""

import math
from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import NDArray

from equipoise._typing import FloatArray
from equipoise.likelihoods.gaussian import LOG_ROOT_TAU
from equipoise.likelihoods.likelihood import Tilt
from equipoise.likelihoods.truncation import product, truncated

FARTHEST = 1e50
"""The largest distance of a belief from an answer, in deviations of the perception: larger squares would overflow."""


@dataclass(frozen=True, slots=True, eq=False)
class OrderedAnswers:
    """Judgements with the parameters of their judges.

    Attributes:
        low: l of each answer, shape (n,); minus infinity if there is none.
        high: u of each answer, shape (n,).
        value: y of each number, shape (n,).
        unit: q of each number, shape (n,).
        noise: s, shape (n,).
        advantage: b, shape (n,).
        number: Which answers are numbers, shape (n,).
    """

    low: FloatArray
    high: FloatArray
    value: FloatArray
    unit: FloatArray
    noise: FloatArray
    advantage: FloatArray
    number: NDArray[np.bool_]

    def __len__(self) -> int:
        return len(self.noise)

    def take(self, kept: NDArray[np.intp]) -> Self:
        """Return the answers at the given indices."""
        return type(self)(*(getattr(self, name)[kept] for name in self.__slots__))

    def tilt(self, mu: FloatArray, v: FloatArray) -> Tilt:
        """Return log Z and its derivatives, for differences N(mu, v) and for log s, b, l, u, log q, in this order."""
        far = FARTHEST * np.sqrt(self.noise**2 + v)
        mu = np.clip(mu, -far, far)
        words, numbers = self._of_words(mu, v), self._of_numbers(mu, v)
        log_z, slope, curvature, *by = (np.where(self.number, b, a) for a, b in zip(words, numbers, strict=True))
        return Tilt(log_z, slope, curvature, self.noise**2 + v, self.noise**2, tuple(by))

    def _of_words(self, mu: FloatArray, v: FloatArray) -> tuple[FloatArray, ...]:
        s, t = self.noise, np.sqrt(self.noise**2 + v)
        lower, upper = (s * (edge - self.advantage) for edge in (self.low, self.high))
        alpha, beta = (lower - mu) / t, (upper - mu) / t
        law = truncated(alpha, beta)
        A, B = law.low, law.high  # phi(alpha) / Z, phi(beta) / Z
        by_noise = s / t * (product(self.high - self.advantage, B) - product(self.low - self.advantage, A))
        by_noise -= (s / t) ** 2 * (product(beta, B) - product(alpha, A))
        zero = np.zeros_like(mu)
        return law.log_z, law.mean / t, law.narrowing / t**2, by_noise, s / t * law.mean, -s / t * A, s / t * B, zero

    def _of_numbers(self, mu: FloatArray, v: FloatArray) -> tuple[FloatArray, ...]:
        s, felt, w = self.noise, self.value / self.unit, 1.0 + v / self.noise**2
        e = felt - self.advantage - mu / s
        log_z = -LOG_ROOT_TAU - 0.5 * np.log(w) - 0.5 * (e / w) * e - np.log(self.unit)
        by_noise = (w - 1.0) / w - e * mu / (s * w) - (e / w) * e * ((w - 1.0) / w)
        zero = np.zeros_like(mu)
        return log_z, e / (w * s), 1.0 / (w * s * s), by_noise, e / w, zero, zero, e / w * felt - 1.0


def choice_probability(mean: float, variance: float) -> float:
    """Return the probability that a perceived difference, normal of given mean and variance, is positive.

    Example:
        >>> choice_probability(1.0, 1.0)
        0.8413447460685429
    """
    return 0.5 * math.erfc(-mean / math.sqrt(2.0 * variance))
