"""SemiTS: Thompson sampling under an arbitrary offset, and the posterior it needs.

    symbol   meaning                                                            shape
    m, k     number of points, of those with a chance to be the best
    pi       probability that each of them is the best                          (k,)
    xbar     sum_i pi_i phi(x_i)
    u        phi(x_a) - xbar for the point a that was measured                  (k + 1,): 1 at a, then -pi
    A        directions learned from at once, one per row                         (k + 1, k + 1)
    C        covariance of f at the points, given the data                      (m, m)
    L        Cholesky factor of lambda I + A C A'                               (k + 1, k + 1)
    rows     L^-1 A C, so that C <- C - rows' rows                              (k + 1, m)
    v        scale of the draws                                                 ()
    F        a factor of C: C = F F'                                            (m, r)

KP19 is Kim and Paik, Contextual Multi-Armed Bandit Algorithm for Semiparametric Reward Model, ICML 2019. There, in
R^d, `B += (x_a - xbar)(x_a - xbar)' + sum_i pi_i (x_i - xbar)(x_i - xbar)'` and `q += 2 (x_a - xbar) y`. Each term is
what an outcome of variance lambda adds: 2 y in the direction x_a - xbar, and 0 in each sqrt(pi_i) (x_i - xbar). So
the mean B^-1 q and the covariance lambda B^-1 are those of a Gaussian process told these k + 1 outcomes.
"""

import math
from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.random import Generator
from numpy.typing import ArrayLike

from equipoise import _linalg
from equipoise import _validation as check
from equipoise._typing import FloatArray
from equipoise.belief import Belief, Confidence, FinitePosterior, Indices, Posterior, direction, namespace
from equipoise.data import Comparison, Proposal
from equipoise.kernels import Kernel
from equipoise.reductions import Centered

RANK_TOLERANCE = 1e-12
"""Variance left out of the draws, relative to the largest: if C is singular, as with `Linear`, it is rounding."""

LEADS = 1e-6
"""By how much the deviation of the first point is scaled up before pivots are chosen: far above rounding."""


def growing_scale(t: float | FloatArray, delta: float) -> FloatArray:
    """Return v in round t, shape (...)."""
    xp = namespace(t)
    v: FloatArray = xp.sqrt(2 * xp.log(t / delta))  # KK21 Section 5
    return v


def directions(u: FloatArray) -> FloatArray:
    """Return A: u itself, then sqrt(pi_i) (e_i - pi) for each i (KP19 Algorithm 1)."""
    pi = -u[1:]
    A = np.zeros((len(u), len(u)))
    A[0] = u
    root = np.sqrt(pi)
    np.multiply.outer(root, -pi, out=A[1:, 1:])
    A.flat[len(u) + 1 :: len(u) + 1] += root
    return A


def solved(A: FloatArray, C: FloatArray, i: Indices, regularizer: float) -> tuple[FloatArray, FloatArray]:
    """Return L and rows for the directions A over the points of indices i."""
    AC = A @ C[i]
    S = AC[:, i] @ A.T
    S.flat[:: len(S) + 1] += regularizer
    L, _ = _linalg.lapack().dpotrf(S, lower=1)
    rows, _ = _linalg.lapack().dtrtrs(L, AC, lower=1)
    return L, rows


def factor(C: FloatArray) -> FloatArray:
    """Return F, by pivoted Cholesky: it stops at the rank of C.

    Points of equal variance, as on a grid, would be taken in an order that rounding decides. So each counts for a
    little more than the next one, and F is divided by that afterwards.
    """
    scale = np.linspace(1.0 + LEADS, 1.0, len(C))
    tolerance = RANK_TOLERANCE * float(C.diagonal().max())
    lower, pivots, rank, _ = _linalg.lapack().dpstrf(C * np.multiply.outer(scale, scale), tol=tolerance, lower=1)
    for j in range(1, rank):
        lower[:j, j] = 0.0  # left over from C
    F = np.empty((len(C), rank))
    F[pivots - 1] = lower[:, :rank]
    F /= scale[:, None]
    return F


def best_counts(mean: FloatArray, F: FloatArray, draws: int, rng: Generator) -> Indices:
    """Return how often each point is the best of a draw from N(mean, F F'), shape (m,).

    The normal numbers are of single precision, which is faster; the values are not: which point is the best of a draw
    must not depend on rounding.
    """
    values = rng.standard_normal((draws, F.shape[1]), dtype=np.float32).astype(np.float64) @ F.T
    values += mean
    return np.bincount(values.argmax(axis=1), minlength=len(mean))


class SemiTSPosterior(Posterior):
    """The estimate of SemiTS on a fixed, finite set of points.

    It learns from a reading centered by a mixture as Kim and Paik (2019) do: from twice the reading, with the spread of
    the whole mixture. It learns from any other comparison as usual.

    Args:
        points: All points at which f may be asked, shape (m, d).
        kernel: Prior covariance of f.
        regularizer: lambda, the variance given to the noise of an outcome; 1 makes B start as the identity.
        confidence: Gives the coefficient of the confidence intervals, which SemiTS does not use.

    Example:
        >>> import equipoise as eq
        >>> belief = SemiTSPosterior([[0.0], [1.0]], eq.Linear())
        >>> belief = belief.condition(eq.Comparison([1.0], eq.Proposal.pair([0.0], [1.0]), 0.9))
        >>> belief.difference([[1.0]], [0.0])  # B = 1 + 1/4 + 1/4, q = 2 (1/2) 0.9
        (array([0.6]), array([0.66666667]))
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
        self._usual = FinitePosterior(points, kernel, regularizer, confidence)
        self.points = self._usual.points

    def condition(self, comparison: Comparison) -> Self:
        """Return the posterior that has also learned from `comparison`."""
        if isinstance(comparison.second, Proposal):
            return self._with(self._centered(comparison, comparison.outcome))
        return self._with(self._usual.condition(comparison))

    def anticipate(self, comparison: Comparison) -> Self:
        """Return the posterior as if `comparison` came out as expected: surer, with the same mean."""
        if isinstance(comparison.second, Proposal):
            return self._with(self._centered(comparison, None))
        return self._with(self._usual.anticipate(comparison))

    def at(self, points: FloatArray) -> Belief:
        """Return the belief about f at some of the points, or at all of them if `points` is `self.points`."""
        return self._usual.at(points)

    @property
    def support(self) -> FloatArray:
        """All points."""
        return self._usual.support

    def _centered(self, comparison: Comparison, outcome: float | None) -> FinitePosterior:
        """Learn from a reading centered by a mixture."""
        usual = self._usual
        points, u = direction(comparison)
        belief = usual.at(usual.points)
        i, A, C, mean = usual.indices(points), directions(u), belief.covariance(), belief.mean
        L, rows = solved(A, C, i, self.regularizer)
        log_det = 2.0 * float(np.log(L.diagonal()).sum()) - len(L) * math.log(self.regularizer)
        if outcome is not None:
            residual = -A @ mean[i]
            residual[0] += 2.0 * outcome
            mean = mean + _linalg.lapack().dtrtrs(L, residual, lower=1)[0] @ rows
        return usual.updated(mean, C - rows.T @ rows, log_det)

    def _with(self, usual: FinitePosterior) -> Self:
        new = self._copy()
        new._usual, new.comparisons, new.log_det = usual, usual.comparisons, usual.log_det
        return new


@dataclass(frozen=True)
class SemiTS:
    """Semiparametric Thompson sampling: measure each point as often as it is the best of a posterior draw.

    The method of Kim and Paik (2019), whose authors' code refers to a US patent application. Meant for a
    `SemiTSPosterior`; with any other posterior it is Thompson sampling from centered readings.

    The paper draws the point to measure apart from the `draws` that estimate pi. Here it is drawn from the estimate:
    the same law, as the estimate is unbiased, and the mixture subtracted is the one drawn from, so that an offset
    cancels exactly whatever the number of draws.

    Args:
        delta: Probability with which the estimate may leave its confidence region; sets the scale of the draws.
        draws: How many posterior draws estimate the probability of being the best.
        scale: v, the scale of the draws, if it should not grow as sqrt(2 log(t / delta)), as the paper prints.
            The authors' code keeps it at its value for t = 2, 2.716, and has half the regret.

    Example:
        >>> import numpy as np, equipoise as eq
        >>> posterior = SemiTSPosterior([[-1.0], [0.2], [1.0]], eq.Linear())
        >>> proposal = SemiTS()(posterior.at(posterior.points), np.random.default_rng(0))
        >>> proposal.points.ravel(), float(proposal.weights.sum())
        (array([-1.,  1.]), 1.0)
    """

    delta: float = 0.05
    draws: int = 1000
    scale: float | None = None
    proposal_size = None
    reduction = Centered()
    scores = None

    def __post_init__(self) -> None:
        check.probability("delta", self.delta)
        check.count("draws", self.draws)
        if self.scale is not None:
            check.positive("scale", self.scale)

    def __call__(self, belief: Belief, rng: Generator) -> Proposal:
        """Propose every point that was the best of a draw."""
        v = self.scale or float(growing_scale(belief.comparisons + 1.0, self.delta))
        F = factor(belief.covariance()) * (v / math.sqrt(belief.regularizer))
        counts = best_counts(belief.mean, F, self.draws, rng)
        best = np.flatnonzero(counts)
        return Proposal(belief.points[best], counts[best] / self.draws)
