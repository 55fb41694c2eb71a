"""Expectation propagation: each answer becomes a Gaussian pseudo-outcome of its difference, all of them consistent.

    symbol      meaning                                                          shape
    K, m        prior covariance and mean of the differences d                   (n, n), (n,)
    tau, nu     precision, and precision times outcome, of each pseudo-outcome   (n,)
    cavity      what is believed of d_i without its own answer: N(mu_i, v_i)     (n,)
    B           I + tau^1/2 K tau^1/2                                            (n, n)

Rasmussen and Williams (2006), section 3.6, all sites at once. Every site has a precision between 0 and 1/s^2, as the
likelihood is log-concave in d: cavities exist, and the posterior is a proper Gaussian after any number of sweeps.
"""

from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from equipoise import _linalg
from equipoise._typing import FloatArray
from equipoise.judging.likelihood import Answers, Tilt

MAX_SWEEPS = 200
"""After so many sweeps the sites are taken as they are; fuzzed, none needed more than 60 from scratch."""

TOLERANCE = 1e-6
"""A sweep is the last where no mean of a difference moves by more, in standard deviations of it."""

LEAST_PRECISION = 1e-8
"""Least precision of a site, times the variance of what is felt: below it the arithmetic has no digits left."""


@dataclass(frozen=True, slots=True, eq=False)
class Sites:
    """Gaussian pseudo-outcomes.

    Attributes:
        precision: tau, shape (n,).
        shift: nu, shape (n,).
    """

    precision: FloatArray
    shift: FloatArray

    @classmethod
    def none(cls) -> "Sites":
        """Return those of no answers."""
        return cls(np.empty(0), np.empty(0))

    def and_of(self, tilt: Tilt, mu: FloatArray, v: FloatArray) -> "Sites":
        """Return these and, behind them, those of answers whose cavities are N(mu, v)."""
        precision, shift = _site(tilt, mu, v)
        return Sites(np.append(self.precision, precision), np.append(self.shift, shift))

    @property
    def outcome(self) -> FloatArray:
        """The pseudo-outcomes themselves, shape (n,)."""
        outcome: FloatArray = self.shift / self.precision
        return outcome


@dataclass(frozen=True, slots=True, eq=False)
class Marginals:
    """What is believed of each difference given the sites, and what these say of the model.

    Attributes:
        mean: Shape (n,).
        variance: Shape (n,).
        log_density: log N(outcomes; m, K + 1/tau) up to constants that do not depend on anything.
    """

    mean: FloatArray
    variance: FloatArray
    log_density: float


class Differences(Protocol):
    """The prior of the differences, and how it meets the sites."""

    @property
    def prior(self) -> tuple[FloatArray, FloatArray]:
        """Mean and variance of each difference, shape (n,) each."""
        ...

    def given(self, sites: Sites) -> Marginals:
        """Return what is believed of each difference given the sites."""
        ...


@dataclass(frozen=True, slots=True, eq=False)
class Few:
    """Fewer answers than points: the covariance of the differences, at a cost of n^3.

    Attributes:
        K: Shape (n, n).
        m: Shape (n,).
    """

    K: FloatArray
    m: FloatArray

    @property
    def prior(self) -> tuple[FloatArray, FloatArray]:
        """Mean and variance of each difference."""
        return self.m, np.maximum(self.K.diagonal(), 0.0)

    def given(self, sites: Sites) -> Marginals:
        """Return what is believed of each difference given the sites."""
        tau, root = sites.precision, np.sqrt(sites.precision)
        B = self.K * root * root[:, None]
        B.flat[:: len(B) + 1] += 1.0
        L, lapack = _linalg.safe_cholesky(B), _linalg.lapack()
        inverse = lapack.dpotri(L, lower=1)[0].diagonal()
        whitened = sites.shift / root - root * self.m
        solved = lapack.dpotrs(L, whitened, lower=1)[0]
        log_density = 0.5 * float(np.log(tau).sum() - whitened @ solved) - float(np.log(L.diagonal()).sum())
        return Marginals(self.m + self.K @ (root * solved), np.maximum(1.0 - inverse, 0.0) / tau, log_density)


class Many:
    """More answers than points: everything in terms of f at the p points, at a cost of p^3 + n.

    Args:
        C: Covariance of f at the points, shape (p, p).
        mean: Mean of f at the points, shape (p,).
        first: Which point each answer has first, shape (n,).
        second: Which it has second, shape (n,).
    """

    def __init__(self, C: FloatArray, mean: FloatArray, first: NDArray[np.intp], second: NDArray[np.intp]) -> None:
        values, vectors = np.linalg.eigh(C)
        self.root: FloatArray = vectors * np.sqrt(np.maximum(values, 0.0))  # C = root root'
        self.C, self.mean, self.first, self.second = C, mean, first, second

    @property
    def prior(self) -> tuple[FloatArray, FloatArray]:
        """Mean and variance of each difference."""
        return self.mean[self.first] - self.mean[self.second], self._variances(self.C)

    def given(self, sites: Sites) -> Marginals:
        """Return what is believed of each difference given the sites."""
        p, (m, _) = len(self.mean), self.prior
        tau, residual = sites.precision, sites.shift - sites.precision * m
        weights = np.zeros((p, p))
        np.add.at(weights, (self.first, self.second), tau)
        weights += weights.T
        precision = np.diag(weights.sum(axis=0)) - weights  # sum of tau u u', u = e_first - e_second
        B = np.eye(p) + self.root.T @ precision @ self.root
        L = _linalg.safe_cholesky(B)
        half = _linalg.solve_lower(L, self.root.T)  # Sigma = half' half
        pull = np.bincount(self.first, residual, p) - np.bincount(self.second, residual, p)
        moved = half @ pull
        log_density = 0.5 * float(np.log(tau).sum() - residual @ (residual / tau) + moved @ moved)
        mean = self.mean + half.T @ moved
        log_density -= float(np.log(L.diagonal()).sum())
        return Marginals(mean[self.first] - mean[self.second], self._variances(half.T @ half), log_density)

    def _variances(self, C: FloatArray) -> FloatArray:
        c = C.diagonal()
        return np.maximum(c[self.first] + c[self.second] - 2.0 * C[self.first, self.second], 0.0)


@dataclass(frozen=True, slots=True, eq=False)
class Propagated:
    """Where the sweeps ended.

    Attributes:
        sites: The sites.
        marginals: What is believed of each difference.
        tilt: The answers given their cavities.
        log_evidence: The probability of all answers, up to a constant factor.
        sweeps: How many it took.
        converged: Whether nothing moved any more.
    """

    sites: Sites
    marginals: Marginals
    tilt: Tilt
    log_evidence: float
    sweeps: int
    converged: bool


def propagate(prior: Differences, answers: Answers, start: Sites | None = None, most: int = MAX_SWEEPS) -> Propagated:
    """Return sites that agree with each other.

    Args:
        prior: What is believed of the differences before any answer.
        answers: What was said of each.
        start: Sites to begin with, from fewer answers or another model.
        most: How many sweeps there may be.
    """
    sites, damping, last = _started(prior, answers, start), 1.0, np.inf
    marginals = prior.given(sites)
    for sweeps in range(1, most + 1):  # noqa: B007 - how many there were is told
        mu, v = cavities(marginals, sites)
        tilt = answers.tilt(mu, v)
        found = Sites(*_site(tilt, mu, v))
        step = np.abs(mu + v * tilt.slope - marginals.mean) / np.sqrt(marginals.variance + 1e-300)
        moved = float(step.max(initial=0.0))
        if moved <= TOLERANCE:
            break
        damping = max(0.5 * damping, 0.1) if moved > last else damping  # it swings: take smaller steps
        last = moved
        sites = _between(sites, found, damping)
        marginals = prior.given(sites)
    return Propagated(sites, marginals, tilt, _evidence(marginals, sites, tilt, mu, v), sweeps, moved <= TOLERANCE)


def cavities(marginals: Marginals, sites: Sites) -> tuple[FloatArray, FloatArray]:
    """Return mean and variance of each difference without its own answer."""
    share = np.minimum(sites.precision * marginals.variance, 1.0 - 1e-12)
    v = marginals.variance / (1.0 - share)
    return (marginals.mean - marginals.variance * sites.shift) / (1.0 - share), v


def _started(prior: Differences, answers: Answers, start: Sites | None) -> Sites:
    """Return sites for all answers: those given, and for the others what each would say by itself."""
    known = 0 if start is None else len(start.precision)
    if start is not None and known == len(answers):
        return start
    mu, v = prior.prior
    new = answers.take(np.arange(known, len(answers)))
    before = Sites.none() if start is None else start
    return before.and_of(new.tilt(mu[known:], v[known:]), mu[known:], v[known:])


def _site(tilt: Tilt, mu: FloatArray, v: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return precision and shift of the site that turns the cavity into the belief after the answer."""
    left = np.maximum(1.0 - v * tilt.curvature, tilt.noise / tilt.spread)  # as is true but for rounding
    least = LEAST_PRECISION / tilt.spread
    tau = np.maximum(tilt.curvature / left, least)
    nu = tau * mu + tilt.slope * (1.0 + v * tau)
    known = np.isfinite(tau) & np.isfinite(nu)
    return np.where(known, tau, least), np.where(known, nu, least * mu)  # a site that is no number says nothing


def _between(old: Sites, new: Sites, share: float) -> Sites:
    if share == 1.0:
        return new
    tau = (1.0 - share) * old.precision + share * new.precision
    return Sites(tau, (1.0 - share) * old.shift + share * new.shift)


def _evidence(marginals: Marginals, sites: Sites, tilt: Tilt, mu: FloatArray, v: FloatArray) -> float:
    """Return the logarithm of the answers' probability: Rasmussen and Williams (2006), Eq. (3.65)."""
    spread = v + 1.0 / sites.precision
    single = tilt.log_z + 0.5 * np.log(spread) + 0.5 * (mu - sites.outcome) ** 2 / spread
    return float(single.sum()) + marginals.log_density
