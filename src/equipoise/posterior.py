"""The posterior: belief about differences of f, given comparisons.

    symbol    meaning                                                     shape
    u         direction of a datum: phi(first) - phi(second)              a combination of points
    lambda    regularizer: variance given to the noise of an outcome      ()
    mu        posterior mean of f, up to a constant                       (m,)
    C         posterior covariance of f                                   (m, m)
    psi       variance of f(x) - f(z): C_xx + C_zz - 2 C_xz               (m,) against one z
    s         lambda + u'C u, variance of the next outcome                ()
    log_det   log det(I + K / lambda)                                     ()

Two forms, one contract: `CovariancePosterior` here, on a fixed set of points, at a cost per datum that does not grow
with the number of data; `DualPosterior` in `dual.py`, for points anywhere. Both are immutable: `condition` returns a
new posterior.
"""

import math
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Self

import numpy as np
from numpy.typing import ArrayLike

from equipoise import _validation as check
from equipoise import covariance
from equipoise._typing import FloatArray
from equipoise.confidence import Confidence, FixedConfidence
from equipoise.duel import Comparison, Proposal
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

    learns_readings: bool = False
    """Whether it also learns from single readings, whose offset it tracks."""

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

    @abstractmethod
    def anticipate(self, comparison: Comparison) -> Self:
        """Return the posterior as if `comparison` came out as expected: surer, with the same mean."""

    @property
    def active(self) -> "Posterior":
        """The posterior that answers: itself, unless it chooses between several."""
        return self

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
        cached = ("_belief", "contradicted")
        state = dict(self.__dict__)  # in one step: another thread may be filling a cache
        return {name: value for name, value in state.items() if name not in cached}

    def _copy(self) -> Self:
        """Return a copy that shares everything; what is derived from the state is left out."""
        new = object.__new__(type(self))
        new.__dict__.update(self.__getstate__())
        return new

    def _next(self, ratio: float = 1.0) -> Self:
        """Return a copy that has seen one more comparison, whose outcome had `ratio` times its noise variance."""
        new = self._copy()
        new.comparisons = self.comparisons + 1
        new.log_det = self.log_det + math.log(ratio)
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
        return self._conditioned(comparison, comparison.outcome)

    def anticipate(self, comparison: Comparison) -> Self:
        """Return the posterior as if `comparison` came out as expected: surer, with the same mean."""
        return self._conditioned(comparison, None)

    def _conditioned(self, comparison: Comparison, outcome: float | None) -> Self:
        points, u = direction(comparison)
        i = self._indices(points)
        if len(i) == 2 and i[0] == i[1]:  # a point against itself says nothing
            return self._next()
        c = self._covariance.apply(i, u)
        noise = self.regularizer + comparison.variance
        s = noise + max(float(u @ c[i]), 0.0)
        residual = 0.0 if outcome is None else outcome - float(u @ self._mean[i])
        new = self._next(s / noise)
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
        mean.flags.writeable = variance.flags.writeable = False  # handed out, and still in use here
        return Belief(self.points, mean, variance, column, full, self.regularizer, self.beta, self.comparisons)

    def _indices(self, points: FloatArray) -> covariance.Indices:
        try:
            return np.array([self._index[point.tobytes()] for point in points])
        except KeyError:
            points = points + 0.0  # -0.0 is 0.0, only its bytes differ
            missing = next((point for point in points if point.tobytes() not in self._index), None)
            if missing is None:
                return self._indices(points)
            raise ValueError(f"a point must be one of the {len(self.points)} given ones, got {missing}") from None


def direction(comparison: Comparison) -> tuple[FloatArray, FloatArray]:
    """Return the points and weights of u = phi(first) - phi(second), shapes (k, d) and (k,)."""
    first, second = comparison.first, comparison.second
    if second is None:
        return first[None], ABSOLUTE
    if isinstance(second, Proposal):  # METHOD section 3: an action-centered reading
        return np.concatenate((first[None], second.points)), np.concatenate((ABSOLUTE, -second.weights))
    return np.array([first, second]), PAIR
