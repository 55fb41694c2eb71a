"""The posterior: belief about differences of f, given comparisons.

    symbol    meaning                                                     shape
    u         direction of a datum: phi(first) - phi(second)              a combination of points
    lambda    regularizer: variance given to the noise of an outcome      ()
    mu        posterior mean of f, up to a constant                       (m,)
    C         posterior covariance of f                                   (m, m)
    psi       variance of f(x) - f(z): C_xx + C_zz - 2 C_xz               (m,) against one z
    s         lambda + u'C u, variance of the next outcome                ()
    L         Cholesky factor of K + lambda I over the comparisons        (n, n)
    log_det   log det(I + K / lambda)                                     ()

Two forms, one contract: `CovariancePosterior` on a fixed set of points, at a cost per datum that does not grow with
their number; `DualPosterior` for points anywhere. Both are immutable: `condition` returns a new posterior.
"""

import math
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Self

import numpy as np
from numpy.typing import ArrayLike
from scipy.linalg import solve_triangular

from equipoise import _validation as check
from equipoise import covariance
from equipoise._typing import FloatArray
from equipoise.confidence import Confidence, FixedConfidence
from equipoise.duel import Comparison, Duel, Proposal
from equipoise.kernels import Kernel

ABSOLUTE = np.array([1.0])
PAIR = np.array([1.0, -1.0])


def difference_variance(variance: FloatArray, covariance_with_z: FloatArray, variance_z: float) -> FloatArray:
    """Return psi of every point against z; the only place where it is clipped at zero."""
    # METHOD section 2, row 1: KK21 Eq. (6) prints squares that do not belong there.
    psi = variance + (variance_z - 2.0 * covariance_with_z)
    return np.maximum(psi, 0.0, out=psi)


def conditioned(
    mean: FloatArray, variance: FloatArray, c: FloatArray, s: float, residual: float
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return mean, variance and solved row after an outcome `residual` away from its mean; METHOD section 3."""
    row = c / math.sqrt(s)
    return mean + c * (residual / s), np.maximum(variance - row * row, 0.0), row


@dataclass(frozen=True, eq=False)
class Belief:
    """The posterior restricted to candidate points: what a policy looks at.

    Attributes:
        points: The candidates, shape (m, d).
        mean: Posterior mean of f, meaningful up to a constant, shape (m,).
        variance: Posterior variance of f itself, shape (m,).
        column: Gives the covariance of f at all candidates with f at candidate j, shape (m,).
        covariance: Gives the whole covariance, shape (m, m).
        regularizer: lambda.
        beta: The confidence coefficient.
        comparisons: Number of comparisons learned from.
    """

    points: FloatArray
    mean: FloatArray
    variance: FloatArray
    column: Callable[[int], FloatArray]
    covariance: Callable[[], FloatArray]
    regularizer: float
    beta: float
    comparisons: int

    def psi(self, j: int) -> FloatArray:
        """Return the variance of f(x) - f(candidate j) for every candidate x, shape (m,)."""
        psi = difference_variance(self.variance, self.column(j), float(self.variance[j]))
        psi[j] = 0.0
        return psi

    def width(self, variance: FloatArray) -> FloatArray:
        """Return the half-width of the confidence interval of a quantity of the given variance."""
        return np.sqrt(self.beta / self.regularizer * variance)  # KK21 Eq. (7); METHOD section 2, row 2


class Posterior(ABC):
    """Contract of both forms, and the code they share.

    Args:
        kernel: Prior covariance of f.
        regularizer: lambda, the variance given to the noise of an outcome.
        confidence: Gives the coefficient of the confidence intervals.
    """

    def __init__(self, kernel: Kernel, regularizer: float, confidence: Confidence | None) -> None:
        self.kernel = kernel
        self.regularizer = check.positive("regularizer", regularizer)
        self.confidence = FixedConfidence() if confidence is None else confidence
        self.log_det = 0.0
        self.comparisons = 0

    @abstractmethod
    def condition(self, comparison: Comparison) -> Self:
        """Return the posterior that has also learned from `comparison`; this one stays as it is."""

    @abstractmethod
    def at(self, points: FloatArray) -> Belief:
        """Return the belief about f at the given points, shape (m, d)."""

    @property
    @abstractmethod
    def support(self) -> FloatArray:
        """Points worth reconsidering: those of the data, or all where they are finitely many, shape (p, d)."""

    def anticipate(self, duel: Duel) -> Self:
        """Return the posterior as if `duel` came out as expected: surer, with the same mean."""
        unknown = Comparison(duel.first, duel.second, 0.0, duel)
        points, u = direction(unknown)
        return self.condition(replace(unknown, outcome=float(u @ self.at(points).mean)))

    def difference(self, points: ArrayLike, reference: ArrayLike) -> tuple[FloatArray, FloatArray]:
        """Return mean and variance of f(x) - f(reference) for each of `points`.

        Args:
            points: Shape (m, d).
            reference: One point, shape (d,).

        Returns:
            Two arrays of shape (m,).
        """
        X = check.array("points", points, (None, None))
        z = check.array("reference", reference, X.shape[1:])
        belief = self.at(np.concatenate((X, z[None])))
        return belief.mean[:-1] - belief.mean[-1], belief.psi(len(X))[:-1]

    @property
    def beta(self) -> float:
        """The confidence coefficient at this moment."""
        return self.confidence(self.log_det, self.regularizer)

    def __getstate__(self) -> dict[str, object]:
        return {name: value for name, value in self.__dict__.items() if name != "_belief"}

    def _next(self, s: float) -> Self:
        """Return a copy that has seen one more comparison, whose outcome had variance s."""
        new = object.__new__(type(self))
        new.__dict__.update(self.__getstate__())
        new.comparisons = self.comparisons + 1
        new.log_det = self.log_det + math.log(s / self.regularizer)
        return new


class CovariancePosterior(Posterior):
    """The posterior on a fixed, finite set of points, kept as mean and covariance.

    Args:
        points: All points f will ever be asked about, shape (m, d).
        kernel: Prior covariance of f.
        regularizer: lambda, the variance given to the noise of an outcome.
        confidence: Gives the confidence coefficient; a fixed 1 by default.

    Example:
        >>> import equipoise as eq
        >>> belief = eq.CovariancePosterior([[0.0], [1.0]], eq.RBF(0.5), regularizer=0.1)
        >>> belief = belief.condition(eq.Comparison([1.0], [0.0], 0.7))
        >>> mean, variance = belief.difference([[1.0]], [0.0])
        >>> mean.round(3), variance.round(3)
        (array([0.662]), array([0.095]))
    """

    def __init__(
        self,
        points: ArrayLike,
        kernel: Kernel,
        regularizer: float = 1.0,
        confidence: Confidence | None = None,
    ) -> None:
        super().__init__(kernel, regularizer, confidence)
        self.points = check.frozen(check.array("points", points, (None, None)))
        self._index = {point.tobytes(): i for i, point in enumerate(self.points)}
        self._mean = np.zeros(len(self.points))
        self._variance = kernel.diagonal(self.points)
        self._covariance = covariance.prior(kernel, self.points)

    def condition(self, comparison: Comparison) -> Self:
        """Return the posterior that has also learned from `comparison`."""
        points, u = direction(comparison)
        i = self._indices(points)
        if len(i) == 2 and i[0] == i[1]:  # a point against itself says nothing
            return self._next(self.regularizer)
        c = self._covariance.apply(i, u)
        s = self.regularizer + max(float(u @ c[i]), 0.0)
        residual = comparison.outcome - float(u @ self._mean[i])
        new = self._next(s)
        new._mean, new._variance, row = conditioned(self._mean, self._variance, c, s, residual)
        new._covariance = self._covariance.downdate(row)
        return new

    def at(self, points: FloatArray) -> Belief:
        """Return the belief about f at some of the points, or at all of them if `points` is `self.points`."""
        if points is self.points:
            return self._belief
        i = self._indices(points)

        def column(j: int) -> FloatArray:
            return self._covariance.column(int(i[j]))[i]

        def full() -> FloatArray:
            return self._covariance.full()[np.ix_(i, i)]

        mean, variance = self._mean[i], self._variance[i]
        return Belief(points, mean, variance, column, full, self.regularizer, self.beta, self.comparisons)

    @property
    def support(self) -> FloatArray:
        """All points."""
        return self.points

    @cached_property
    def _belief(self) -> Belief:
        column, full = self._covariance.column, self._covariance.full
        mean, variance = self._mean, self._variance
        return Belief(self.points, mean, variance, column, full, self.regularizer, self.beta, self.comparisons)

    def _indices(self, points: FloatArray) -> covariance.Indices:
        try:
            return np.array([self._index[point.tobytes()] for point in points])
        except KeyError:
            missing = next(p for p in points + 0.0 if p.tobytes() not in self._index)
            raise ValueError(f"a point must be one of the {len(self.points)} given ones, got {missing}") from None


class DualPosterior(Posterior):
    """The posterior at arbitrary points, kept as the comparisons and a Cholesky factor.

    Args:
        kernel: Prior covariance of f.
        regularizer: lambda, the variance given to the noise of an outcome.
        confidence: Gives the confidence coefficient; a fixed 1 by default.

    Example:
        >>> import equipoise as eq
        >>> belief = eq.DualPosterior(eq.RBF(0.5), regularizer=0.1)
        >>> belief = belief.condition(eq.Comparison([1.0], [0.0], 0.7))
        >>> mean, variance = belief.difference([[1.0]], [0.0])
        >>> mean.round(3), variance.round(3)
        (array([0.662]), array([0.095]))
    """

    def __init__(self, kernel: Kernel, regularizer: float = 1.0, confidence: Confidence | None = None) -> None:
        super().__init__(kernel, regularizer, confidence)
        self._points: FloatArray | None = None  # all points of all data, shape (p, d)
        self._weights = np.empty(0)  # their coefficients, shape (p,)
        self._starts = np.empty(0, dtype=np.intp)  # where each datum begins, shape (n,)
        self._L = np.empty((0, 0))
        self._whitened = np.empty(0)  # L^-1 outcomes

    def condition(self, comparison: Comparison) -> Self:
        """Return the posterior that has also learned from `comparison`."""
        points, u = direction(comparison)
        if len(points) == 2 and (points[0] == points[1]).all():  # a point against itself says nothing
            return self._next(self.regularizer)
        row = self._solve(u @ self._cross(points))
        prior = float(u @ self.kernel(points, points) @ u)
        s = self.regularizer + max(prior - float(row @ row), 0.0)
        new = self._next(s)
        new._L = extended(self._L, row, math.sqrt(s))
        residual = comparison.outcome - float(row @ self._whitened)
        new._whitened = np.append(self._whitened, residual / math.sqrt(s))
        new._starts = np.append(self._starts, len(self._weights))
        new._weights = np.append(self._weights, u)
        new._points = points if self._points is None else np.concatenate((self._points, points))
        return new

    def at(self, points: FloatArray) -> Belief:
        """Return the belief about f at the given points."""
        V = self._solve(self._cross(points).T)  # (n, m)
        variance = np.maximum(self.kernel.diagonal(points) - np.einsum("nm,nm->m", V, V), 0.0)

        def column(j: int) -> FloatArray:
            return self.kernel(points[j : j + 1], points)[0] - V[:, j] @ V

        def full() -> FloatArray:
            return self.kernel(points, points) - V.T @ V

        mean = self._whitened @ V
        return Belief(points, mean, variance, column, full, self.regularizer, self.beta, self.comparisons)

    @property
    def support(self) -> FloatArray:
        """The points of all comparisons, each once."""
        if self._points is None:
            return np.empty((0, 0))
        distinct: FloatArray = np.unique(self._points, axis=0)
        return distinct

    def _cross(self, points: FloatArray) -> FloatArray:
        """Return k_t: the prior covariance of f at `points` with each datum, shape (m, n)."""
        if self._points is None:
            return np.empty((len(points), 0))
        terms = self.kernel(points, self._points) * self._weights
        cross: FloatArray = np.add.reduceat(terms, self._starts, axis=1)
        return cross

    def _solve(self, b: FloatArray) -> FloatArray:
        """Return L^-1 b."""
        if not len(self._L):
            return b
        solved: FloatArray = solve_triangular(self._L, b, lower=True, check_finite=False)
        return solved


def direction(comparison: Comparison) -> tuple[FloatArray, FloatArray]:
    """Return the points and weights of u = phi(first) - phi(second), shapes (k, d) and (k,)."""
    first, second = comparison.first, comparison.second
    if second is None:
        return first[None], ABSOLUTE
    if isinstance(second, Proposal):  # METHOD section 3: an action-centered reading
        return np.concatenate((first[None], second.points)), np.concatenate((ABSOLUTE, -second.weights))
    return np.array([first, second]), PAIR


def extended(L: FloatArray, row: FloatArray, corner: float) -> FloatArray:
    """Return the Cholesky factor with one more row."""
    n = len(L)
    new = np.zeros((n + 1, n + 1))
    new[:n, :n] = L
    new[n, :n] = row
    new[n, n] = corner
    return new
