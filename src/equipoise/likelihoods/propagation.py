"""Expectation propagation: each answer becomes a Gaussian pseudo-outcome of its difference, consistent with all others.

    symbol      meaning                                                          shape
    K, m        prior covariance and mean of the differences d                   (n, n), (n,)
    tau, nu     precision, and precision times outcome, of each pseudo-outcome   (n,)
    cavity      belief about d_i without its answer: N(mu_i, v_i)                (n,)
    B           I + tau^1/2 K tau^1/2                                            (n, n)

See Rasmussen and Williams (2006), section 3.6; here all sites are updated at once. The likelihood is log-concave in d,
so every site has a precision between 0 and 1/s^2, cavities exist, and the posterior is a proper Gaussian at any time.
"""

import math
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from equipoise import _linalg
from equipoise._typing import FloatArray
from equipoise.likelihoods.likelihood import Answers, Tilt

Indices = NDArray[np.intp]

MAX_SWEEPS = 200
"""The most sweeps; in fuzzing, no run from scratch needed more than 60."""

FEW = 64
"""The number of answers up to which every answer makes all sites consistent from scratch: this costs milliseconds."""

GROWTH = 1.1
"""The growth in answers after which, beyond `FEW`, all sites are made consistent again."""

TOLERANCE = 1e-6
"""The largest change of the mean of a difference in the last sweep, in its standard deviations."""

LEAST_PRECISION = 1e-8
"""The least precision of a site times the variance of the observation: below it no digits are left."""


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
        """Return the sites of no answers."""
        return cls(np.empty(0), np.empty(0))

    @classmethod
    def of(cls, tilt: Tilt, mu: FloatArray, v: FloatArray) -> "Sites":
        """Return the sites that turn cavities N(mu, v) into the beliefs after the answers."""
        left = np.maximum(1.0 - v * tilt.curvature, tilt.noise / tilt.spread)  # true up to rounding
        least = LEAST_PRECISION / tilt.spread
        tau = np.maximum(tilt.curvature / left, least)
        nu = tau * mu + tilt.slope * (1.0 + v * tau)
        known = np.isfinite(tau) & np.isfinite(nu)
        # a NaN site becomes an empty one
        return cls(np.where(known, tau, least), np.where(known, nu, least * mu))

    def and_of(self, tilt: Tilt, mu: FloatArray, v: FloatArray) -> "Sites":
        """Return these sites followed by those of answers with cavities N(mu, v)."""
        new = Sites.of(tilt, mu, v)
        return Sites(np.append(self.precision, new.precision), np.append(self.shift, new.shift))

    @property
    def outcome(self) -> FloatArray:
        """The values of the pseudo-outcomes, shape (n,)."""
        outcome: FloatArray = self.shift / self.precision
        return outcome


@dataclass(frozen=True, slots=True, eq=False)
class Marginals:
    """The belief about each difference given the sites, and the density of these under the model.

    Attributes:
        mean: Shape (n,).
        variance: Shape (n,).
        log_density: log N(outcomes; m, K + 1/tau) up to absolute constants.
    """

    mean: FloatArray
    variance: FloatArray
    log_density: float


class Differences(Protocol):
    """The prior of the differences and its update by sites."""

    @property
    def count(self) -> FloatArray | float:
        """The number of equal answers that share each site."""
        ...

    @property
    def prior(self) -> tuple[FloatArray, FloatArray]:
        """The mean and variance of each difference, shape (n,) each."""
        ...

    def given(self, sites: Sites) -> Marginals:
        """Return the belief about each difference given the sites."""
        ...


@dataclass(frozen=True, slots=True, eq=False)
class Few:
    """The form for fewer answers than points: the covariance of the differences, at a cost of n^3.

    Attributes:
        K: Shape (n, n).
        m: Shape (n,).
    """

    K: FloatArray
    m: FloatArray

    @property
    def count(self) -> float:
        """One: each answer has a site."""
        return 1.0

    @property
    def prior(self) -> tuple[FloatArray, FloatArray]:
        """The mean and variance of each difference."""
        return self.m, np.maximum(self.K.diagonal(), 0.0)

    def given(self, sites: Sites) -> Marginals:
        """Return the belief about each difference given the sites."""
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
    """The form for more answers than points: all in terms of f at the p points, at a cost of p^3 + n.

    Many learners with one prior share an array program: the mean has leading axes, and each site belongs to a learner.

    Args:
        C: Covariance of f at the points, shape (p, p).
        mean: Mean of f at the points, shape (..., p).
        first: The index of the first point of each site, shape (n,).
        second: The index of the second one, shape (n,).
        learner: The learner of each site: an index into each leading axis of the mean, shape (n,) each.
        count: The number of equal answers that share each site.
    """

    def __init__(
        self,
        C: FloatArray,
        mean: FloatArray,
        first: Indices,
        second: Indices,
        learner: tuple[Indices, ...] = (),
        count: FloatArray | float = 1.0,
    ) -> None:
        values, vectors = np.linalg.eigh(C)
        self.root: FloatArray = vectors * np.sqrt(np.maximum(values, 0.0))  # C = root root'
        self.C, self.mean, self.count = C, mean, count
        self._first, self._second = (np.ravel_multi_index((*learner, side), mean.shape) for side in (first, second))
        sides, shape = ((first, first), (second, second), (first, second)), (*mean.shape, len(C))
        self._entries = tuple(np.ravel_multi_index((*learner, a, b), shape) for a, b in sides)

    @property
    def prior(self) -> tuple[FloatArray, FloatArray]:
        """The mean and variance of each difference."""
        return self._differences(self.mean), self._variances(np.broadcast_to(self.C, (*self.mean.shape, len(self.C))))

    def given(self, sites: Sites) -> Marginals:
        """Return the belief about each difference given the sites."""
        mean, C, log_density = self._conditioned(sites)
        return Marginals(self._differences(mean), self._variances(C), log_density)

    def at_points(self, sites: Sites) -> tuple[FloatArray, FloatArray]:
        """Return mean and covariance of f at the points given the sites, shapes (..., p) and (..., p, p)."""
        return self._conditioned(sites)[:2]

    def _conditioned(self, sites: Sites) -> tuple[FloatArray, FloatArray, float]:
        """Return mean and covariance of f at the points given the sites, and the log density of the sites."""
        tau, residual = sites.precision, sites.shift - sites.precision * self._differences(self.mean)
        half, log_root = self._factored(self._laplacian(self.count * tau))  # Sigma = half' half
        pulls = self.count * residual
        pull = _summed(self._first, pulls, self.mean.shape) - _summed(self._second, pulls, self.mean.shape)
        moved = (half @ pull[..., None])[..., 0]
        each = self.count * (np.log(tau) - residual * (residual / tau))
        log_density = 0.5 * float(each.sum() + (moved * moved).sum()) - log_root
        half_t = half.swapaxes(-1, -2)
        return self.mean + (half_t @ moved[..., None])[..., 0], half_t @ half, log_density

    def _laplacian(self, tau: FloatArray) -> FloatArray:
        """Return the sum of tau u u', u = e_first - e_second, shape (..., p, p)."""
        own = np.arange(len(self.C))
        weights = _summed(self._entries[2], tau, (*self.mean.shape, len(own)))
        weights = weights + weights.swapaxes(-1, -2)
        laplacian: FloatArray = -weights
        laplacian[..., own, own] += weights.sum(axis=-2)
        return laplacian

    def _factored(self, precision: FloatArray) -> tuple[FloatArray, float]:
        """Return a root of the covariance given a precision added to the prior, and log det B / 2 of all learners."""
        p, root = len(self.C), self.root
        half, log_root = np.empty(precision.shape), 0.0
        for place in np.ndindex(precision.shape[:-2]):
            L = _linalg.safe_cholesky(np.eye(p) + root.T @ precision[place] @ root)
            half[place] = _linalg.solve_lower(L, root.T)
            log_root += float(np.log(L.diagonal()).sum())
        return half, log_root

    def _differences(self, mean: FloatArray) -> FloatArray:
        difference: FloatArray = mean.ravel()[self._first] - mean.ravel()[self._second]
        return difference

    def _variances(self, C: FloatArray) -> FloatArray:
        first, second, both = (C.ravel()[entry] for entry in self._entries)
        return np.maximum(first + second - 2.0 * both, 0.0)


@dataclass(frozen=True, slots=True, eq=False)
class Propagated:
    """The result of the sweeps.

    Attributes:
        sites: The sites.
        marginals: The belief about each difference.
        tilt: The likelihood of the answers given their cavities.
        log_evidence: The probability of all answers, up to a constant factor.
        sweeps: The number of sweeps.
        converged: Whether the last sweep stayed within the tolerance.
    """

    sites: Sites
    marginals: Marginals
    tilt: Tilt
    log_evidence: float
    sweeps: int
    converged: bool


def propagate(
    prior: Differences,
    answers: Answers,
    start: Sites | None = None,
    most: int = MAX_SWEEPS,
    within: float | None = None,
) -> Propagated:
    """Return sites that agree with each other.

    Args:
        prior: The prior of the differences.
        answers: The answer about each difference.
        start: Sites to begin with, from fewer answers or another model.
        most: The largest number of sweeps.
        within: The largest change of a mean in the last sweep, in the unit of f; `None` for `TOLERANCE`.
    """
    tolerance = TOLERANCE if within is None else within
    sites, damping, last = _started(prior, answers, start), 1.0, np.inf
    marginals = prior.given(sites)
    for sweeps in range(1, most + 1):  # noqa: B007 - the number is part of the result
        mu, v = cavities(marginals, sites)
        tilt = answers.tilt(mu, v)
        found = Sites.of(tilt, mu, v)
        unit = np.sqrt(marginals.variance + 1e-300) if within is None else 1.0
        moved = float((np.abs(mu + v * tilt.slope - marginals.mean) / unit).max(initial=0.0))
        if moved <= tolerance:
            break
        damping = max(0.5 * damping, 0.1) if moved > last else damping  # oscillation: take smaller steps
        last = moved
        sites = _between(sites, found, damping)
        marginals = prior.given(sites)
    log_evidence = float((prior.count * _evidences(sites, tilt, mu, v)).sum()) + marginals.log_density
    return Propagated(sites, marginals, tilt, log_evidence, sweeps, moved <= tolerance)


def cavities(marginals: Marginals, sites: Sites) -> tuple[FloatArray, FloatArray]:
    """Return mean and variance of each difference without its answer."""
    share = np.minimum(sites.precision * marginals.variance, 1.0 - 1e-12)
    v = marginals.variance / (1.0 - share)
    return (marginals.mean - marginals.variance * sites.shift) / (1.0 - share), v


def _started(prior: Differences, answers: Answers, start: Sites | None) -> Sites:
    """Return sites for all answers: those given, and for the others those that each suggests alone."""
    known = 0 if start is None else len(start.precision)
    if start is not None and known == len(answers):
        return start
    mu, v = prior.prior
    new = answers.take(np.arange(known, len(answers)))
    before = Sites.none() if start is None else start
    return before.and_of(new.tilt(mu[known:], v[known:]), mu[known:], v[known:])


def _summed(places: Indices, values: FloatArray, shape: tuple[int, ...]) -> FloatArray:
    """Return an array of the given shape with the sum of the values of each place, a flat index."""
    return np.asarray(np.bincount(places, values, math.prod(shape)), dtype=np.float64).reshape(shape)


def _between(old: Sites, new: Sites, share: float) -> Sites:
    if share == 1.0:
        return new
    tau = (1.0 - share) * old.precision + share * new.precision
    return Sites(tau, (1.0 - share) * old.shift + share * new.shift)


def _evidences(sites: Sites, tilt: Tilt, mu: FloatArray, v: FloatArray) -> FloatArray:
    """Return the contribution of each answer to the log evidence: Rasmussen and Williams (2006), Eq. (3.65)."""
    spread = v + 1.0 / sites.precision
    single: FloatArray = tilt.log_z + 0.5 * np.log(spread) + 0.5 * (mu - sites.outcome) ** 2 / spread
    return single
