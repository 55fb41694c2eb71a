"""The beliefs of many learners at once, in covariance form: `FinitePosterior` and `Belief` with a leading axis.

    symbol    meaning                                                     shape
    L, m      number of learners, of points
    mean      posterior mean of f, up to a constant                       (L, m)
    variance  posterior variance of f                                     (L, m)
    psi       variance of f(x) - f(z) against one z of each learner       (L, m)
    beta      confidence coefficient                                      (L, 1)
    log_det   log det(I + K / lambda)                                     (L,)

The formulas are those of the single-learner library: the same functions, called with a leading axis.
"""

from dataclasses import dataclass

from equipoise.belief import (
    Array,
    Confidence,
    CredibleConfidence,
    FixedConfidence,
    PaperConfidence,
    TightConfidence,
    conditioned,
    difference_variance,
    gap_bound,
    half_width,
    namespace,
    paper_beta,
    pick,
    tight_beta,
)
from equipoise.lab.fleet.array_math import placed
from equipoise.lab.fleet.covariances import Covariances, Directions


def coefficients(confidence: Confidence, log_det: Array, regularizer: float) -> Array:
    """Return beta of every learner, shape (L, 1)."""
    given = log_det[:, None]
    if isinstance(confidence, PaperConfidence):
        return paper_beta(given, regularizer, confidence.outcome_noise, confidence.norm_bound, confidence.delta)
    if isinstance(confidence, TightConfidence):
        return tight_beta(given, regularizer, confidence.outcome_noise, confidence.norm_bound, confidence.delta)
    if isinstance(confidence, (FixedConfidence, CredibleConfidence)):
        return namespace(given).full_like(given, confidence(0.0, regularizer))
    raise TypeError(f"`confidence` must be one of the library's coefficients for a fleet, got {confidence!r}")


@dataclass(frozen=True, eq=False)
class Beliefs:
    """The beliefs of many learners, each about its f; immutable except for `put`.

    Attributes:
        mean: The posterior mean of f, shape (L, m).
        variance: The posterior variance of f, shape (L, m).
        covariances: The rest of the covariance.
        log_det: The log-determinant of the comparisons learned, shape (L,).
        comparisons: Their number, shape (L,).
        regularizer: lambda.
        confidence: The rule that gives beta.
        dimension: The number of coordinates of a point.
    """

    mean: Array
    variance: Array
    covariances: Covariances
    log_det: Array
    comparisons: Array
    regularizer: float
    confidence: Confidence
    dimension: int

    def psi(self, j: Array) -> Array:
        """Return the variance of f(x) - f(point j) for every point x, shape (L, m)."""
        psi = difference_variance(self.variance, self.covariances.column(j), pick(self.variance, j)[:, None])
        xp = namespace(psi)
        own = xp.arange(psi.shape[1], **placed(psi)) == j[:, None]
        return xp.where(own, xp.zeros_like(psi), psi)

    def width(self, variance: Array) -> Array:
        """Return the half-widths of confidence intervals of quantities of the given variances, shape (L, m)."""
        beta = coefficients(self.confidence, self.log_det, self.regularizer)
        return half_width(variance, beta, self.regularizer)

    def gaps(self, j: Array) -> Array:
        """Return by how much the mean of point j exceeds that of every point, shape (L, m)."""
        return pick(self.mean, j)[:, None] - self.mean

    def gap_bounds(self, j: Array) -> Array:
        """Return delta_t for leaders j, shape (L,): no plausible point is better by more."""
        return gap_bound(self.gaps(j), self.width(self.psi(j)))[:, 0]

    def condition(self, u: Directions, outcome: Array, overwrite: bool = False) -> "Beliefs":
        """Return the beliefs after one more outcome of each learner, shape (L,)."""
        Cu, c, q = self.covariances.apply(u)
        s = self.regularizer + namespace(q).maximum(q, 0.0)[:, None]
        mean, variance, _ = conditioned(self.mean, self.variance, c, s, (outcome - u.of(self.mean))[:, None])
        log_det = namespace(s).log(s / self.regularizer)[:, 0]
        return self.updated(mean, variance, self.covariances.downdate(Cu, s, overwrite), log_det)

    def updated(self, mean: Array, variance: Array, covariances: Covariances, log_det: Array) -> "Beliefs":
        """Return the beliefs after one more comparison."""
        return Beliefs(mean, variance, covariances, self.log_det + log_det, self.comparisons + 1, *self._settings)

    def taken(self, rows: Array) -> "Beliefs":
        """Return the beliefs of some learners, shape (n,)."""
        counts, covariances = self.comparisons[rows], self.covariances.taken(rows)
        parts = self.mean[rows], self.variance[rows], covariances, self.log_det[rows], counts
        return Beliefs(*parts, *self._settings)

    def put(self, rows: Array, part: "Beliefs") -> None:
        """Overwrite the beliefs of some learners; this is the only method that changes an object of this class."""
        self.mean[rows], self.variance[rows] = part.mean, part.variance
        self.log_det[rows], self.comparisons[rows] = part.log_det, part.comparisons
        self.covariances.put(rows, part.covariances)

    @property
    def _settings(self) -> tuple[float, Confidence, int]:
        return self.regularizer, self.confidence, self.dimension
