"""Log Z of an answer by integration, for likelihoods that are log-concave in u.

    symbol   meaning                                                                shape
    l        log P(answer | u), with its first and second derivative                (n,) or (q, n)
    h        l(u) - (u - mu)^2 / (2 v): the tilted density, up to constants         (n,)
    m        the maximizer of h, the mode                                           (n,)
    a, b     edges beyond which the tilted density is below exp(-DEPTH) of its top  (n,)

h is at least as concave as the logarithm of a normal density of variance v. Hence |u - m| <= sqrt(2 DEPTH v) at the
edges. Gauss-Legendre nodes between each edge and m give nearly all digits, even if the density is skewed, for example
for a count of zero if a large rate was expected. E[l''] and Var[l'] under the tilted density give the derivatives of
log Z in mu. If the answer is informative, mean and variance of the tilted density lose fewer digits.
"""

from abc import ABC, abstractmethod
from functools import cache

import numpy as np

from equipoise._typing import FloatArray
from equipoise.likelihoods.likelihood import Tilt

DEPTH = 40.0
"""The log distance below its maximum at which the tilted density is cut off: a factor of 4e-18."""

NODES = 64
"""The nodes of the integral on each side of the mode. For variances up to 400 and answers from one success in one trial
to counts of 1e5, log Z is accurate to 5e-11 and the variance to 2e-8; with 48 nodes to 5e-6."""

LEAST = 1e-300
"""The least integral, relative to its maximum: a belief that is 1e8 deviations off leaves no digits of it."""

SIDES = np.array([[-1.0], [1.0]])
"""The signs of the sides below and above the mode."""

HALVINGS = 10
"""The halvings in the search for the edges: wider edges only waste nodes."""

MORE_HALVINGS = 60
"""The halvings at most, if the answer is much more certain than the belief, as under a prior of sd 1e6."""

NEWTON_STEPS = 100
"""The most steps to the mode; each at least halves the interval that contains it."""

FARTHEST = 1e12
"""The largest distance of the mode from the mean of the belief: logarithms of rates and odds are far smaller."""


class LogConcave(ABC):
    """A base class of approximate likelihoods; a subclass defines the log density of an answer."""

    @abstractmethod
    def log_likelihood(self, y: FloatArray, u: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Return log P(answer | u), which must be concave in u, and its first and second derivative in u.

        Args:
            y: The numbers of the answers, shape (n, k).
            u: Shape (..., n).
        """

    def tilt(self, y: FloatArray, mu: FloatArray, v: FloatArray) -> Tilt:
        """Return log Z of each answer and its derivatives, for beliefs N(mu, v) about u, shape (n,) each."""
        m = self._mode(y, mu, v)
        top = self._height(y, m, mu, v)
        edges = self._edges(y, m, mu, v, top)
        nodes, weights = _unit_rule()
        u = m + (SIDES * edges * nodes[:, None, None]).reshape(2 * NODES, len(m))
        width = (edges * weights[:, None, None]).reshape(2 * NODES, len(m))
        said, slope, bend = self.log_likelihood(y, u)
        p = width * np.exp(said - 0.5 * (u - mu) ** 2 / v - top)
        slope, bend = np.where(p > 0, slope, 0.0), np.where(p > 0, bend, 0.0)  # where p is 0 they may overflow
        total = np.maximum(p.sum(axis=0), LEAST)
        log_z = top + np.log(total) - 0.5 * np.log(2.0 * np.pi * v)
        p = p / total
        by_slope = (p * slope).sum(axis=0)
        by_bend = -(p * bend).sum(axis=0) - (p * (slope - by_slope) ** 2).sum(axis=0)
        mean = (p * (u - m)).sum(axis=0)
        variance = (p * (u - m - mean) ** 2).sum(axis=0)
        clear = variance < 0.5 * v
        return Tilt(
            log_z,
            np.where(clear, (m - mu + mean) / v, by_slope),
            np.where(clear, (1.0 - variance / v) / v, by_bend),
            v,
            1e-12 * v,
        )

    def _height(self, y: FloatArray, u: FloatArray, mu: FloatArray, v: FloatArray) -> FloatArray:
        """Return h, shape (..., n)."""
        height: FloatArray = self.log_likelihood(y, u)[0] - 0.5 * (u - mu) ** 2 / v
        return height

    def _mode(self, y: FloatArray, mu: FloatArray, v: FloatArray) -> FloatArray:
        """Return m by Newton steps within an interval that contains it: u = mu + v l'(u), and l' decreases."""
        far = mu + v * np.clip(self.log_likelihood(y, mu)[1], -FARTHEST / v, FARTHEST / v)
        low, high, u, move = np.minimum(mu, far), np.maximum(mu, far), mu, np.abs(far - mu)
        for _ in range(NEWTON_STEPS):
            _, slope, bend = self.log_likelihood(y, u)
            pull = slope - (u - mu) / v
            low, high = np.where(pull > 0, u, low), np.where(pull > 0, high, u)
            newton = u + pull / (1.0 / v - bend)
            fast = (newton >= low) & (newton <= high) & (np.abs(newton - u) <= 0.5 * move)
            new = np.where(fast, newton, 0.5 * (low + high))
            u, move = new, np.abs(new - u)
            if (move <= 1e-6 / np.sqrt(1.0 + 1.0 / v - bend)).all():
                break
        return u

    def _edges(self, y: FloatArray, m: FloatArray, mu: FloatArray, v: FloatArray, top: FloatArray) -> FloatArray:
        """Return the distances of the edges below and above m, shape (2, n); there h has fallen by at least DEPTH."""
        outside = np.tile(np.sqrt(2.0 * DEPTH * v), (2, 1))
        inside = np.zeros_like(outside)
        for halving in range(MORE_HALVINGS):
            if halving >= HALVINGS and inside.all():
                break
            middle = 0.5 * (inside + outside)
            deep = self._height(y, m + SIDES * middle, mu, v) < top - DEPTH
            inside, outside = np.where(deep, inside, middle), np.where(deep, middle, outside)
        return outside


@cache
def _unit_rule() -> tuple[FloatArray, FloatArray]:
    """Return Gauss-Legendre nodes and weights on (0, 1), computed on first use since the import is slow."""
    nodes, weights = np.polynomial.legendre.leggauss(NODES)
    return 0.5 * nodes + 0.5, 0.5 * weights
