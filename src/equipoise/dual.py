"""The dual form of the posterior: data about points anywhere, kept with a Cholesky factor.

symbol   meaning                                                       shape
u_i      direction of datum i: a combination of points                 weights of its points
K        prior covariance of the data: u_i'k u_j + offset(t_i, t_j)    (n, n)
L        Cholesky factor of K + lambda I                               (n, n)
k_t(x)   prior covariance of f(x) with each datum                      (n,)
V        L^-1 k_t(x) for each candidate x                              (n, m)
"""

import math
from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import NDArray

from equipoise import _linalg
from equipoise._typing import FloatArray
from equipoise.confidence import Confidence
from equipoise.duel import Comparison
from equipoise.kernels import Kernel
from equipoise.offsets import OffsetKernel
from equipoise.posterior import Belief, Posterior, difference_variance, direction


@dataclass(frozen=True, slots=True, eq=False)
class Data:
    """Outcomes, each of a combination of points; datum i begins at `starts[i]` among the points.

    Attributes:
        points: All points of all data, shape (p, d).
        weights: Their coefficients, shape (p,).
        starts: Where each datum begins, shape (n,).
        times: When each was taken, shape (n,).
        outcomes: What was measured, shape (n,).
        variances: What each one's own error adds to the noise, shape (n,).
    """

    points: FloatArray
    weights: FloatArray
    starts: NDArray[np.intp]
    times: FloatArray
    outcomes: FloatArray
    variances: FloatArray

    @classmethod
    def none(cls, dimension: int) -> "Data":
        """Return no data about points of the given dimension."""
        none = np.empty(0)
        return cls(np.empty((0, dimension)), none, np.empty(0, dtype=np.intp), none, none, none)

    def add(self, points: FloatArray, u: FloatArray, time: float, outcome: float, variance: float) -> "Data":
        """Return the data with one more."""
        return Data(
            np.concatenate((self.points, points)),
            np.concatenate((self.weights, u)),
            np.append(self.starts, len(self.weights)),
            np.append(self.times, time),
            np.append(self.outcomes, outcome),
            np.append(self.variances, variance),
        )

    def thinned(self, most: int) -> "Data":
        """Return at most so many data, spread evenly over time."""
        n = len(self.outcomes)
        if n <= most:
            return self
        kept = np.linspace(0, n - 1, most).astype(np.intp)
        ends = np.append(self.starts[1:], len(self.weights))
        rows = np.concatenate([np.arange(self.starts[i], ends[i]) for i in kept])
        lengths = (ends - self.starts)[kept]
        starts = np.concatenate(([0], np.cumsum(lengths)[:-1])).astype(np.intp)
        times, outcomes, variances = self.times[kept], self.outcomes[kept], self.variances[kept]
        return Data(self.points[rows], self.weights[rows], starts, times, outcomes, variances)

    def combine(self, columns: FloatArray) -> FloatArray:
        """Turn columns that belong to points, shape (..., p), into columns that belong to data, shape (..., n)."""
        if len(self.starts) == len(self.weights):  # every datum is of a single point
            return columns * self.weights
        combined: FloatArray = np.add.reduceat(columns * self.weights, self.starts, axis=-1)
        return combined


class DualPosterior(Posterior):
    """The posterior at arbitrary points, kept as the data and a Cholesky factor.

    Args:
        kernel: Prior covariance of f.
        regularizer: lambda, the variance given to the noise of an outcome.
        confidence: Gives the confidence coefficient; a fixed 1 by default.
        offset: Prior covariance of the offset of absolute readings, where one is tracked.

    Example:
        >>> import equipoise as eq
        >>> belief = eq.DualPosterior(eq.RBF(0.5), regularizer=0.1)
        >>> belief = belief.condition(eq.Comparison([1.0], [0.0], 0.7))
        >>> mean, variance = belief.difference([[1.0]], [0.0])
        >>> mean.round(3), variance.round(3)
        (array([0.662]), array([0.095]))
    """

    def __init__(
        self,
        kernel: Kernel,
        regularizer: float = 1.0,
        confidence: Confidence | None = None,
        offset: OffsetKernel | None = None,
    ) -> None:
        super().__init__(kernel, regularizer, confidence)
        self.offset = offset
        self._data: Data | None = None
        self._L = np.empty((0, 0))
        self._whitened = np.empty(0)  # L^-1 outcomes

    def condition(self, comparison: Comparison) -> Self:
        """Return the posterior that has also learned from `comparison`."""
        return self._extended(comparison, comparison.outcome)

    def anticipate(self, comparison: Comparison) -> Self:
        """Return the posterior as if `comparison` came out as expected: surer, with the same mean."""
        return self._extended(comparison, None)

    def at(self, points: FloatArray) -> Belief:
        """Return the belief about f at the given points."""
        V = self._solve(self._cross(points).T)
        variance = np.maximum(self.kernel.diagonal(points) - np.einsum("nm,nm->m", V, V), 0.0)

        def column(j: int) -> FloatArray:
            c: FloatArray = self.kernel(points[j : j + 1], points)[0] - V[:, j] @ V
            return c

        def full() -> FloatArray:
            return self.kernel(points, points) - V.T @ V

        mean = self._whitened @ V
        return Belief(points, mean, variance, column, full, self.regularizer, self.beta, self.comparisons)

    def mean(self, points: FloatArray) -> FloatArray:
        """Return the posterior mean of f alone, shape (m,): much cheaper than `at`."""
        return self._cross(points) @ self._coefficients()

    def under(self, kernel: Kernel, regularizer: float, offset: OffsetKernel | None = None) -> Self:
        """Return the posterior of the same data under another prior."""
        new, data = self._copy(), self._data
        new.kernel, new.regularizer, new.offset = kernel, regularizer, offset
        if data is None:
            return new
        K = data.combine(data.combine(kernel(data.points, data.points)).T)
        if offset is not None:
            K += offset(data.times, data.times)
        noise = regularizer + data.variances
        K.flat[:: len(K) + 1] += noise
        new._L = _linalg.cholesky(K)
        new._whitened = new._solve(data.outcomes)
        new.log_det = 2.0 * float(np.log(new._L.diagonal()).sum()) - float(np.log(noise).sum())
        return new

    def residuals(self) -> FloatArray:
        """Return the outcomes less what the posterior mean says they should have been, shape (n,)."""
        if self._data is None:
            return np.empty(0)
        return self._data.outcomes - self._data.combine(self.mean(self._data.points))

    def jackknife(self, x: FloatArray, z: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return mean and variance of f(x) - f(z) without each datum in turn, shapes (n,).

        Without datum i they are m - w_i r_i and v + w_i^2 / P_ii, with P = (K + lambda I)^-1, w = P cov(data, f(x) -
        f(z)) and r_i = (P y)_i / P_ii, by how much datum i surprises the others.
        """
        (mean,), (variance,) = self.difference(x[None], z)
        inverse = self._solve(np.eye(len(self._L)))
        precision = np.einsum("ni,ni->i", inverse, inverse)
        k = self._cross(np.array([x, z]))
        w = self._solve(self._solve(k[0] - k[1]), transposed=True)
        return mean - w * self._coefficients() / precision, variance + w**2 / precision

    @property
    def support(self) -> FloatArray:
        """The points of all data, each once."""
        if self._data is None:
            return np.empty((0, 0))
        distinct: FloatArray = np.unique(self._data.points, axis=0)
        return distinct

    def _extended(self, comparison: Comparison, outcome: float | None) -> Self:
        points, u = direction(comparison)
        if len(points) == 2 and (points[0] == points[1]).all():  # a point against itself says nothing
            return self._next()
        data = Data.none(points.shape[1]) if self._data is None else self._data
        k, prior = u @ self._cross(points), float(u @ self.kernel(points, points) @ u)
        if self.offset is not None:
            now = np.array([comparison.time])
            k, prior = k + self.offset(now, data.times)[0], prior + float(self.offset(now, now)[0, 0])
        row = self._solve(k)
        noise = self.regularizer + comparison.variance
        s = noise + max(prior - float(row @ row), 0.0)
        expected = float(row @ self._whitened)
        outcome = expected if outcome is None else outcome
        new = self._next(s / noise)
        new._L = extended(self._L, row, math.sqrt(s))
        new._whitened = np.append(self._whitened, (outcome - expected) / math.sqrt(s))
        new._data = data.add(points, u, comparison.time, outcome, comparison.variance)
        return new

    def _cross(self, points: FloatArray) -> FloatArray:
        """Return k_t(x) of each point, shape (m, n)."""
        if self._data is None:
            return np.empty((len(points), 0))
        return self._data.combine(self.kernel(points, self._data.points))

    def _coefficients(self) -> FloatArray:
        """Return (K + lambda I)^-1 outcomes."""
        return self._solve(self._whitened, transposed=True)

    def _solve(self, b: FloatArray, transposed: bool = False) -> FloatArray:
        """Return L^-1 b, or L'^-1 b."""
        return _linalg.solve_lower(self._L, b, transposed) if len(self._L) else b


class Landscape:
    """Gap and variance of every point against a fixed one, with their gradients: what a search climbs.

    Args:
        posterior: The belief.
        leader: The fixed point z, shape (d,).
    """

    def __init__(self, posterior: DualPosterior, leader: FloatArray) -> None:
        self._posterior, self._z = posterior, leader[None]
        k = posterior._cross(self._z)[0]
        self._coefficients = posterior._coefficients()
        self._solved_z = self._inverse(k)
        self._mean_z = float(k @ self._coefficients)
        self._variance_z = float(posterior.kernel.diagonal(self._z)[0] - k @ self._solved_z)

    def gap(self, x: FloatArray) -> tuple[float, FloatArray]:
        """Return g(x) = mean(z) - mean(x) and its gradient, shape (d,)."""
        k, dk = self._cross_gradient(x[None])
        return self._mean_z - float(k @ self._coefficients), -(dk @ self._coefficients)

    def gap_and_psi(self, x: FloatArray) -> tuple[float, float, FloatArray, FloatArray]:
        """Return g(x), psi(x, z) and their gradients, shape (d,) each."""
        X, kernel = x[None], self._posterior.kernel
        k, dk = self._cross_gradient(X)
        (prior, _), (d_prior, d_self) = (t[0] for t in kernel.with_gradient(X, np.concatenate((self._z, X))))
        solved = self._inverse(k)
        variance = kernel.diagonal(X) - k @ solved
        psi = difference_variance(variance, prior - k @ self._solved_z, self._variance_z)[0]
        slope = 2.0 * (d_self - dk @ solved - d_prior + dk @ self._solved_z)  # dk(x, x)/dx is twice d_self
        return self._mean_z - float(k @ self._coefficients), float(psi), -(dk @ self._coefficients), slope

    def _cross_gradient(self, X: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return k_t(x), shape (n,), and its gradient, shape (d, n)."""
        data = self._posterior._data
        if data is None:
            return np.empty(0), np.empty((X.shape[1], 0))
        K, dK = self._posterior.kernel.with_gradient(X, data.points)
        return data.combine(K[0]), data.combine(dK[0].T)

    def _inverse(self, b: FloatArray) -> FloatArray:
        return self._posterior._solve(self._posterior._solve(b), transposed=True)


def extended(L: FloatArray, row: FloatArray, corner: float) -> FloatArray:
    """Return the Cholesky factor with one more row."""
    n = len(L)
    new = np.zeros((n + 1, n + 1))
    new[:n, :n] = L
    new[n, :n] = row
    new[n, n] = corner
    return new
