"""Confidence coefficients: how wide intervals must be to contain the truth.

    symbol   meaning                                                      shape
    beta     coefficient of width(x, z) = sqrt(beta psi(x, z) / lambda)   ()
    log_det  log det(I + K / lambda) of the comparisons                   (...)
    lambda   regularizer: variance given to the noise of an outcome       ()
    rho      sub-Gaussian scale of the outcome's noise                    ()
    B        bound on the norm of f in the kernel's Hilbert space         ()

With the two theory coefficients, with probability 1 - delta, for all times and all pairs at once:
`|mean(x) - mean(z) - (f(x) - f(z))| <= width(x, z)`.

If a reading has an additional error, of variance v in the outcome, its noise has scale sqrt(rho^2 + v). The theorems
assume noise of one scale, so such an outcome counts as one of weight rho^2 / (rho^2 + v): its variance in the posterior
is lambda (1 + v / rho^2), which equals lambda + v only if lambda is rho^2.
"""

import math
from dataclasses import dataclass
from typing import Protocol, TypeVar

from equipoise import _validation as check
from equipoise._typing import FloatArray
from equipoise.belief.arrays import namespace

LogDet = TypeVar("LogDet", float, FloatArray)


class Confidence(Protocol):
    """A rule for the coefficient beta."""

    def __call__(self, log_det: float, regularizer: float) -> float:
        """Return beta for comparisons of the given log-determinant."""
        ...


def paper_beta(log_det: LogDet, regularizer: float, rho: float, norm_bound: float, delta: float) -> LogDet:
    """Return beta of KK21 Eq. (7), Theorem 3.11 of Abbasi-Yadkori (2012)."""
    noise = rho * namespace(log_det).sqrt(log_det + 2 * math.log(1 / delta))
    return (noise + math.sqrt(regularizer) * norm_bound) ** 2  # type: ignore[no-any-return]


def tight_beta(log_det: LogDet, regularizer: float, rho: float, norm_bound: float, delta: float) -> LogDet:
    """Return the sum of the two squares instead of the square of their sum: METHOD section 3, proof there."""
    return rho**2 * (log_det + 2 * math.log(1 / delta)) + regularizer * norm_bound**2


def is_theory(confidence: Confidence) -> bool:
    """Return whether a coefficient is a theorem if its parameters are correct."""
    return isinstance(confidence, _Theory)


def error_scale(confidence: Confidence, regularizer: float) -> float:
    """Return how much a unit of an outcome's additional variance adds to its variance in the posterior.

    Example:
        >>> error_scale(TightConfidence(outcome_noise=0.5), 1.0), error_scale(FixedConfidence(), 1.0)
        (4.0, 1.0)
    """
    if not isinstance(confidence, _Theory):
        return 1.0
    return regularizer / confidence.outcome_noise**2 if confidence.outcome_noise > 0 else math.inf


@dataclass(frozen=True)
class _Theory:
    outcome_noise: float = 1.0
    norm_bound: float = 1.0
    delta: float = 0.05

    def __post_init__(self) -> None:
        check.nonnegative("outcome_noise", self.outcome_noise)
        check.nonnegative("norm_bound", self.norm_bound)
        check.probability("delta", self.delta)


@dataclass(frozen=True)
class PaperConfidence(_Theory):
    """The paper's coefficient, a theorem if its three parameters are correct.

    Args:
        outcome_noise: rho, the sub-Gaussian scale of an outcome's noise (`TwoPoint.outcome_noise(...)`).
        norm_bound: B, a bound on the norm of f in the kernel's Hilbert space.
        delta: The probability that the bounds fail at any time during the run.

    Example:
        >>> import equipoise as eq
        >>> round(eq.PaperConfidence(delta=0.05)(log_det=0.0, regularizer=1.0), 3)
        11.887
    """

    def __call__(self, log_det: float, regularizer: float) -> float:
        """Return beta."""
        return float(paper_beta(log_det, regularizer, self.outcome_noise, self.norm_bound, self.delta))


@dataclass(frozen=True)
class TightConfidence(_Theory):
    """The same guarantee from a sharper proof: never wider than `PaperConfidence`, same arguments.

    Example:
        >>> import equipoise as eq
        >>> round(eq.TightConfidence(delta=0.05)(log_det=0.0, regularizer=1.0), 3)
        6.991
    """

    def __call__(self, log_det: float, regularizer: float) -> float:
        """Return beta."""
        return tight_beta(log_det, regularizer, self.outcome_noise, self.norm_bound, self.delta)


@dataclass(frozen=True)
class FixedConfidence:
    """A constant coefficient, tuned by experience, without a guarantee.

    One unlucky duel can lock the method onto a wrong point (METHOD section 3).

    Args:
        beta: The coefficient; the paper's camelback runs use 1.

    Example:
        >>> import equipoise as eq
        >>> eq.FixedConfidence(1.0)(log_det=3.0, regularizer=1.0)
        1.0
    """

    beta: float = 1.0

    def __post_init__(self) -> None:
        check.nonnegative("beta", self.beta)

    def __call__(self, log_det: float, regularizer: float) -> float:
        """Return the constant."""
        return self.beta


@dataclass(frozen=True)
class CredibleConfidence:
    """The Bayesian coefficient: intervals of a number of posterior standard deviations.

    It is a statement about the model, not a guarantee: correct on average over functions drawn from the prior, and only
    as good as the hyperparameters.

    Args:
        deviations: Half-width of an interval in posterior standard deviations.

    Example:
        >>> import equipoise as eq
        >>> eq.CredibleConfidence(2.0)(log_det=3.0, regularizer=0.5)
        2.0
    """

    deviations: float = 2.0

    def __post_init__(self) -> None:
        check.positive("deviations", self.deviations)

    def __call__(self, log_det: float, regularizer: float) -> float:
        """Return the coefficient for which sqrt(beta psi / lambda) is this number of standard deviations."""
        return self.deviations**2 * regularizer
