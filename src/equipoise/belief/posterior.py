"""The posterior: the belief about differences of f given comparisons.

    symbol    meaning                                                     shape
    u         direction of a datum: phi(first) - phi(second)              a combination of points
    lambda    regularizer: variance given to the noise of an outcome      ()
    mu        posterior mean of f, up to a constant                       (m,)
    C         posterior covariance of f                                   (m, m)
    psi       variance of f(x) - f(z): C_xx + C_zz - 2 C_xz               (m,) against one z
    xh        leader: the candidate of largest posterior mean
    g         mean(xh) - mean(z) >= 0                                     (..., m)
    delta     largest plausible regret of the leader, the certificate     (..., 1)
    log_det   log det(I + K / lambda)                                     ()

Two forms, one contract: `FinitePosterior` on a fixed set of points, at a cost per datum that does not grow with the
number of data; `AnywherePosterior` for points anywhere. All are immutable: `condition` returns a new posterior.
"""

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Self, TypeAlias

import numpy as np
from numpy.random import Generator
from numpy.typing import ArrayLike

from equipoise import _validation as check
from equipoise._typing import FloatArray
from equipoise.belief.arrays import difference_variance, fair_argmax, gap_bound, half_width
from equipoise.belief.confidence import Confidence, FixedConfidence, error_scale
from equipoise.data import Comparison, Proposal, Side
from equipoise.kernels import Kernel
from equipoise.offsets import Arbitrary, Offset

if TYPE_CHECKING:
    from equipoise.belief.landscape import Landscape
    from equipoise.belief.learned import LearnedBelief
    from equipoise.belief.observations import Observations

ONE = np.array([1.0])
PAIR = np.array([1.0, -1.0])


@dataclass(frozen=True, eq=False)
class Belief:
    """The posterior restricted to candidate points: the input of a policy.

    Attributes:
        points: The candidates, shape (m, d).
        mean: Posterior mean of f, meaningful up to a constant, shape (m,).
        variance: Posterior variance of f itself, shape (m,).
        column: A function of j: the covariance of f at all candidates with f at candidate j, shape (m,).
        covariance: A function that returns the whole covariance, shape (m, m).
        regularizer: lambda.
        beta: The confidence coefficient.
        comparisons: Number of comparisons learned from.

    Example:
        >>> import numpy as np, equipoise as eq
        >>> posterior = eq.belief.FinitePosterior([[0.0], [0.4], [1.0]], eq.RBF(0.5), regularizer=0.1)
        >>> belief = posterior.condition(eq.Comparison([1.0], [0.0], 0.7)).at(posterior.points)
        >>> leader = belief.leader(np.random.default_rng(0))
        >>> belief.points[leader], belief.gaps(leader).round(2), round(belief.gap_bound(leader), 2)
        (array([1.]), array([0.66, 0.42, 0.  ]), 1.48)
    """

    points: FloatArray
    mean: FloatArray
    variance: FloatArray
    column: Callable[[int], FloatArray]
    covariance: Callable[[], FloatArray]
    regularizer: float
    beta: float
    comparisons: int

    def leader(self, rng: Generator) -> int:
        """Return the candidate of largest mean; choose among ties uniformly at random."""
        return fair_argmax(self.mean, rng)

    def psi(self, j: int) -> FloatArray:
        """Return the variance of f(x) - f(candidate j) for every candidate x, shape (m,)."""
        psi = difference_variance(self.variance, self.column(j), float(self.variance[j]))
        psi[j] = 0.0
        return psi

    def width(self, variance: FloatArray) -> FloatArray:
        """Return the half-width of the confidence interval of a quantity of the given variance."""
        return half_width(variance, self.beta, self.regularizer)

    def gaps(self, j: int) -> FloatArray:
        """Return the excess of the mean of candidate j over that of every candidate, shape (m,)."""
        gaps: FloatArray = self.mean[j] - self.mean
        return gaps

    def optimism(self, j: int) -> FloatArray:
        """Return `mean + width(j, .)`, shape (m,): the largest plausible f of each candidate if f(j) is its mean."""
        return self.mean + self.width(self.psi(j))

    def gap_bound(self, j: int) -> float:
        """Return delta_t for leader j: the most by which a candidate is plausibly better."""
        return float(gap_bound(self.gaps(j), self.width(self.psi(j)))[0])


class Lazy:
    """A base class with attributes computed on first access; copies leave these out."""

    _computed: frozenset[str] = frozenset()

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        own = {name for name, value in vars(cls).items() if isinstance(value, cached_property)}
        cls._computed = cls._computed | own

    def __getstate__(self) -> dict[str, object]:
        state = dict(self.__dict__)  # copy in one step: another thread may be adding one
        return {name: value for name, value in state.items() if name not in self._computed}


class Posterior(Lazy, ABC):
    """The contract of every posterior and the shared code: a base class for custom posteriors.

    Args:
        kernel: Prior covariance of f.
        regularizer: lambda, the variance given to the noise of an outcome.
        confidence: The rule for the coefficient of the confidence intervals.

    Attributes:
        comparisons: Number of comparisons learned from.
        log_det: log det(I + K / lambda) of these comparisons.
        misfit: Sum over them of (outcome - expected)^2 / expected variance: about their number if the model is right.
    """

    points: FloatArray | None = None
    """All points at which f can be queried, if they are a finite list, shape (m, d)."""

    def __init__(self, kernel: Kernel, regularizer: float, confidence: Confidence | None) -> None:
        self.kernel = kernel
        self.regularizer = check.positive("regularizer", regularizer)
        self.confidence = FixedConfidence() if confidence is None else confidence
        self.log_det = 0.0
        self.comparisons = 0
        self.misfit = 0.0

    @abstractmethod
    def condition(self, comparison: Comparison) -> Self:
        """Return the posterior that has also learned from `comparison`; this one does not change."""

    @abstractmethod
    def anticipate(self, comparison: Comparison) -> Self:
        """Return the posterior as if `comparison` came out as expected: surer, with the same mean."""

    def anticipate_all(self, comparisons: Sequence[Comparison]) -> Self:
        """Return the posterior as if all comparisons came out as expected; if possible, faster than one by one.

        Args:
            comparisons: The open comparisons; their outcomes are ignored.
        """
        posterior = self
        for comparison in comparisons:
            posterior = posterior.anticipate(comparison)
        return posterior

    @abstractmethod
    def at(self, points: FloatArray) -> Belief:
        """Return the belief about f at the given points, shape (m, d)."""

    @property
    @abstractmethod
    def support(self) -> FloatArray:
        """Points worth reconsidering: those of the data, or all if they are finitely many, shape (p, d)."""

    @property
    def law(self) -> Offset:
        """The law of the offset, which determines the lessons; arbitrary unless a subclass overrides it."""
        return Arbitrary()

    def with_outcomes(self, outcomes: "Observations") -> "Posterior":
        """Return the posterior with added outcomes of offset-free differences, of given variances.

        Args:
            outcomes: The pseudo-outcomes of judges' answers; they do not count as comparisons.
        """
        raise TypeError(f"`posterior` must be one that can learn from judgements too, got {self!r}")

    def mean(self, points: FloatArray) -> FloatArray:
        """Return the posterior mean of f alone, shape (m,)."""
        return self.at(points).mean

    def landscape(self, leader: FloatArray) -> "Landscape | None":
        """Return the belief with gradients against a leader, shape (d,), for climbing; `None` if it has none."""
        return None

    def offsets(self, leader: FloatArray) -> tuple[FloatArray, FloatArray] | None:
        """Return the time of each reading and the leader's expected reading; `None` if not modeled."""
        return None

    def difference(self, points: ArrayLike, reference: ArrayLike) -> tuple[FloatArray, FloatArray]:
        """Return mean and variance of f(x) - f(reference) for each of `points`.

        Args:
            points: Shape (m, d).
            reference: A single point, shape (d,).

        Returns:
            Two arrays of shape (m,).
        """
        X = check.array("points", points, (None, None))
        z = check.array("reference", reference, X.shape[1:])
        belief = self.at(np.concatenate((X, z[None])))
        return belief.mean[:-1] - belief.mean[-1], belief.psi(len(X))[:-1]

    @property
    def beta(self) -> float:
        """The current confidence coefficient."""
        return self.confidence(self.log_det, self.regularizer)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.kernel!r}, regularizer={self.regularizer:.4g}, {self.comparisons} told)"

    def _copy(self) -> Self:
        """Return a shallow copy without the values derived from the state."""
        new = object.__new__(type(self))
        new.__dict__.update(self.__getstate__())
        return new

    def noise(self, error: float) -> float:
        """Return the noise variance of an outcome whose readings have additional errors.

        Args:
            error: The variance that these add to the outcome.
        """
        if error == 0.0:
            return self.regularizer
        scale = error_scale(self.confidence, self.regularizer)
        if math.isinf(scale):
            raise ValueError("`error` must be 0 if `outcome_noise` of the confidence is 0: else it is no theorem")
        return self.regularizer + scale * error

    def _next(self, ratio: float = 1.0, surprise: float = 1.0) -> Self:
        """Return a copy that has seen one more comparison, whose outcome had `ratio` times its noise variance.

        Args:
            ratio: The expected variance of the outcome divided by its noise variance.
            surprise: Its squared deviation from the expectation, divided by its expected variance.
        """
        new = self._copy()
        new.comparisons = self.comparisons + 1
        new.log_det = self.log_det + math.log(ratio)
        new.misfit = self.misfit + surprise
        return new


def direction(comparison: Comparison) -> tuple[FloatArray, FloatArray]:
    """Return the points and weights of u = phi(first) - phi(second), shapes (k, d) and (k,)."""
    first, second = comparison.first, comparison.second
    if second is None:
        return _side(first)
    if not (isinstance(first, Proposal) or isinstance(second, Proposal)):
        return np.array([first, second]), PAIR
    (points, weights), (others, shares) = _side(first), _side(second)  # METHOD section 3: an action-centered reading
    return np.concatenate((points, others)), np.concatenate((weights, -shares))


def squared_surprise(comparison: Comparison, residual: float, variance: float) -> float:
    """Return the squared deviation of an outcome from its expectation, divided by the expected variance.

    Only differences of readings show the unit of f: a single reading contains the offset, whose contribution is no
    surprise. For single readings, return the expected value 1.
    """
    if comparison.second is None or (comparison.duel is not None and comparison.duel.needs_baseline):
        return 1.0
    return residual * residual / variance


def says_nothing(points: FloatArray, u: FloatArray) -> bool:
    """Return whether a point is compared with itself: pure noise."""
    return len(u) == 2 and bool((points[0] == points[1]).all())


def _side(side: Side) -> tuple[FloatArray, FloatArray]:
    return (side.points, side.weights) if isinstance(side, Proposal) else (side[None], ONE)


Source: TypeAlias = "Posterior | LearnedBelief"
"""A belief from comparisons: under a given model, or under a learned one."""


def trusted(source: Source) -> Posterior:
    """Return the posterior of comparisons used for claims."""
    return source if isinstance(source, Posterior) else source.trusted


def exact(source: Source) -> Posterior:
    """Return the posterior of comparisons under the law of the offset, even if the duels contradict it."""
    return source if isinstance(source, Posterior) else source.exact
