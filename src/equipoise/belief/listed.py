"""The posterior on a fixed, finite set of points, kept as mean and covariance: KK21 Eq. (5), one datum at a time.

symbol    meaning                                                     shape
c         C u                                                         (m,)
s         lambda + u'C u, variance of the next outcome                ()
"""

from functools import cached_property
from typing import Self

import numpy as np
from numpy.typing import ArrayLike

from equipoise import _validation as check
from equipoise._typing import FloatArray
from equipoise.belief import covariance
from equipoise.belief.arrays import namespace
from equipoise.belief.confidence import Confidence
from equipoise.belief.observations import Observations
from equipoise.belief.posterior import Belief, Posterior, direction, squared_surprise
from equipoise.data import Comparison
from equipoise.kernels import Kernel


def conditioned(
    mean: FloatArray, variance: FloatArray, c: FloatArray, s: float | FloatArray, residual: float | FloatArray
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return mean, variance and solved row after an outcome at distance `residual` from its mean; METHOD section 3.

    For many learners at once, use leading axes: s and residual then have shape (..., 1).
    """
    xp = namespace(c)
    row = c / xp.sqrt(s)
    return mean + c * (residual / s), xp.maximum(variance - row * row, 0.0), row


class FinitePosterior(Posterior):
    """The posterior on a fixed, finite set of points, kept as mean and covariance.

    Args:
        points: All points at which f can be queried, shape (m, d).
        kernel: Prior covariance of f.
        regularizer: lambda, the variance given to the noise of an outcome.
        confidence: The rule for the confidence coefficient; a fixed 1 by default.

    Example:
        >>> import equipoise as eq
        >>> belief = eq.belief.FinitePosterior([[0.0], [1.0]], eq.RBF(0.5), regularizer=0.1)
        >>> belief = belief.condition(eq.Comparison([1.0], [0.0], 0.7))
        >>> mean, variance = belief.difference([[1.0]], [0.0])
        >>> mean.round(3), variance.round(3)
        (array([0.662]), array([0.095]))
    """

    points: FloatArray

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
        i = self.indices(points)
        if len(i) == 2 and i[0] == i[1]:  # a comparison of a point with itself is uninformative
            return self._next()
        c = self._covariance.apply(i, u)
        expected, unknown = float(u @ self._mean[i]), max(float(u @ c[i]), 0.0)
        if outcome is not None:
            comparison = comparison.with_site(expected, self.regularizer + unknown)
        noise = self.noise(comparison.variance)
        s = noise + unknown
        residual = 0.0 if outcome is None else comparison.outcome - expected
        new = self._next(s / noise, squared_surprise(comparison, residual, s))
        new._mean, new._variance, row = conditioned(self._mean, self._variance, c, s, residual)
        new._covariance = self._covariance.downdate(row)
        return new

    def with_outcomes(self, outcomes: Observations) -> Self:
        """Return the posterior with added outcomes of offset-free differences, of given variances."""
        new, where = self._copy(), self.indices(outcomes.points)
        ends = np.append(outcomes.starts[1:], len(where))
        for start, end, outcome, noise in zip(
            outcomes.starts, ends, outcomes.outcomes, outcomes.variances, strict=True
        ):
            i, u = where[start:end], outcomes.weights[start:end]
            c = new._covariance.apply(i, u)
            s, residual = noise + max(float(u @ c[i]), 0.0), outcome - float(u @ new._mean[i])
            new._mean, new._variance, row = conditioned(new._mean, new._variance, c, s, residual)
            new._covariance = new._covariance.downdate(row)
            new.log_det += float(np.log(s / noise))
        return new

    def at(self, points: FloatArray) -> Belief:
        """Return the belief about f at some of the points, or at all of them if `points` is `self.points`."""
        if points is self.points:
            return self._belief
        i = self.indices(points)

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

    def updated(self, mean: FloatArray, C: FloatArray, log_det: float) -> Self:
        """Return the posterior after a custom update to this mean and covariance; `log_det` is the increase."""
        new = self._next()
        new.log_det += log_det
        new._mean, new._variance = mean, np.maximum(C.diagonal(), 0.0)
        new._covariance = covariance.Dense(C, np.empty((0, len(C))))
        return new

    @cached_property
    def _belief(self) -> Belief:
        column, full = self._covariance.column, self._covariance.full
        mean, variance = self._mean, self._variance
        mean.flags.writeable = variance.flags.writeable = False  # shared with callers and still in use here
        return Belief(self.points, mean, variance, column, full, self.regularizer, self.beta, self.comparisons)

    def indices(self, points: FloatArray) -> covariance.Indices:
        """Return the indices of the given points, shape (k,)."""
        try:
            return np.array([self._index[point.tobytes()] for point in points])
        except KeyError:
            points = points + 0.0  # -0.0 equals 0.0, but its bytes differ
            missing = next((point for point in points if point.tobytes() not in self._index), None)
            if missing is None:
                return self.indices(points)
            raise ValueError(f"a point must be one of the {len(self.points)} given ones, got {missing}") from None
