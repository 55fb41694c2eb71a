"""What the paper assumes known, learned: lengthscales, signal, noise and offset by the marginal likelihood.

    symbol   meaning                                                       shape
    l        lengthscale of each parameter, in units of the space's extent (G,)
    v        variance of f                                                 ()
    noise    lambda: variance of the noise of an outcome                   ()
    D_g      squared differences of the data's points in parameter g       (p, p)
    W        alpha alpha' - (K + noise I)^-1, alpha = (K + noise I)^-1 y   (n, n)
    M        W spread over the points of the data                          (p, p)

Everything is fitted to outcomes divided by their typical step, so the same priors serve any unit. The gradient of the
log marginal likelihood in a parameter is tr(W dK)/2 (Rasmussen and Williams 2006, Eq. (5.9)).
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from equipoise import _linalg
from equipoise._typing import FloatArray
from equipoise.dual import Data
from equipoise.kernels import RBF, Kernel, Matern52, Scaled
from equipoise.offsets import Arbitrary, Constant, Offset, OffsetKernel, Tracked

LEVEL, SLOPE = 25.0, 0.25**2
"""Prior variances of the offset's level and slope, in squared steps: wide, as a steady drift hardly exceeds a step a
reading, of which it would be a part; but not so wide that the slope had to be learned before anything else."""

FLAT = 1e6
"""A lengthscale over which nothing changes, in any space."""

MOST = 500
"""More data than this are thinned before fitting: the fit no longer changes, and its cost is cubic."""


@dataclass(frozen=True)
class Hyperparameters:
    """What the model of the readings depends on, in units of the outcomes' typical step.

    Attributes:
        lengthscales: Per parameter, in units of its extent.
        variance: Of f.
        noise: Variance of the noise of an outcome.
        walk: Variance of a step of the offset's random walk.
        wave: Variance of the offset's smooth part.
        duration: Readings over which the smooth part changes.
        step: The typical step of the outcomes, in the user's unit.
    """

    lengthscales: tuple[float, ...]
    variance: float = 1.0
    noise: float = 0.05
    walk: float = 1e-3
    wave: float = 1e-2
    duration: float = 8.0
    step: float = 1.0

    @classmethod
    def guess(cls, parameters: int, step: float = 1.0) -> "Hyperparameters":
        """Return what is assumed before there are data to fit."""
        return cls((0.3 * parameters**0.5,) * parameters, step=step)

    def kernel(self, extent: FloatArray, groups: NDArray[np.intp], law: Offset) -> Kernel:
        """Return the kernel of f in the user's unit; where readings are believed, f has the level of the readings."""
        lengthscale = np.asarray(self.lengthscales)[groups] * extent
        kernel = Scaled(Matern52(lengthscale), self.variance * self.step**2)
        return kernel + Scaled(RBF(FLAT), LEVEL * self.step**2) if isinstance(law, Constant) else kernel

    def offset(self, law: Offset) -> OffsetKernel | None:
        """Return the kernel of the offset in the user's unit; `None` where there is none to be told from f."""
        if not isinstance(law, Tracked):
            return None
        return OffsetKernel(LEVEL, SLOPE, self.walk, self.wave, self.duration).scaled(self.step**2)

    def to_vector(self, tracked: bool) -> FloatArray:
        """Return the logarithms of what is fitted."""
        offset = (self.walk, self.wave, self.duration) if tracked else ()
        theta: FloatArray = np.log(np.array([*self.lengthscales, self.variance, self.noise, *offset]))
        return theta

    @classmethod
    def from_vector(cls, theta: FloatArray, tracked: bool, step: float) -> "Hyperparameters":
        """Undo `to_vector`."""
        values = np.exp(theta).tolist()
        fitted = ("variance", "noise", "walk", "wave", "duration")[: 5 if tracked else 2]
        G = len(values) - len(fitted)
        return cls(tuple(values[:G]), step=step, **dict(zip(fitted, values[G:], strict=True)))


@dataclass(frozen=True)
class Priors:
    """Normal priors on the logarithms, and bounds that keep the fit numerically sane.

    The lengthscales' prior grows with the root of the dimension (Hvarfner, Hellsten and Nardi 2024), so that the
    distance between typical points, in lengthscales, does not grow with the dimension.
    """

    mean: FloatArray
    deviation: FloatArray
    bounds: list[tuple[float, float]] = field(repr=False)

    @classmethod
    def of(cls, parameters: int, tracked: bool) -> "Priors":
        """Return the priors for a number of parameters."""
        rows = [(np.log(0.2 * parameters**0.5), 1.0, np.log(0.02), np.log(20.0))] * parameters  # lengthscales
        rows += [(1.5, 1.0, -4.0, 4.0), (-2.0, 1.5, np.log(1e-4), 2.0)]  # variance, noise
        if tracked:
            rows += [(-6.0, 3.0, np.log(1e-7), 4.0), (-4.0, 3.0, np.log(1e-6), 4.0)]  # walk, wave
            rows += [(np.log(10.0), 1.0, np.log(2.0), np.log(100.0))]  # duration
        mean, deviation, low, high = np.array(rows).T
        return cls(mean, deviation, list(zip(low.tolist(), high.tolist(), strict=True)))

    def __call__(self, theta: FloatArray) -> tuple[float, FloatArray]:
        """Return the log density, up to a constant, and its gradient."""
        z = (theta - self.mean) / self.deviation
        return float(-0.5 * z @ z), -z / self.deviation


class Evidence:
    """The log marginal likelihood of data, as a function of the hyperparameters.

    Args:
        data: Outcomes already divided by their step.
        extent: Range of each coordinate, shape (d,).
        groups: The parameter each coordinate belongs to, shape (d,).
        law: What is assumed of the offset.
        jumps: Covariance of offset jumps found so far, shape (n, n).
        nulls: Outcomes of points dueled with themselves: pure noise.
    """

    def __init__(
        self,
        data: Data,
        extent: FloatArray,
        groups: NDArray[np.intp],
        law: Offset,
        jumps: FloatArray | float = 0.0,
        nulls: FloatArray | None = None,
    ) -> None:
        self.data, self.tracked = data, isinstance(law, Tracked)
        self.nulls = np.empty(0) if nulls is None else nulls
        z = (data.points[:, None, :] - data.points[None]) / extent
        n, p, G = len(data.times), len(data.points), int(groups.max()) + 1
        self._D = np.zeros((G, p * p))
        for j, g in enumerate(groups):
            self._D[g] += (z[:, :, j] ** 2).ravel()
        owner = np.searchsorted(data.starts, np.arange(p), side="right") - 1
        self._plain = n == p and bool((data.weights == 1.0).all())  # every datum is of one point
        self._spread = np.ix_(owner, owner), np.multiply.outer(data.weights, data.weights)
        t = data.times
        self._fixed: FloatArray | float = 0.0 if isinstance(law, Arbitrary) else LEVEL + jumps
        if self.tracked:
            self._fixed = self._fixed + SLOPE * np.outer(t, t)
            self._earlier = np.minimum(t[:, None], t)
            lags, where = np.unique(np.abs(t[:, None] - t), return_inverse=True)  # few: readings come one by one
            self._lag2, self._where = lags**2, where.reshape(n, n)

    def __call__(self, theta: FloatArray) -> tuple[float, FloatArray]:
        """Return the log marginal likelihood and its gradient in the logarithms."""
        G = len(self._D)
        l2, (v, noise) = np.exp(2 * theta[:G]), np.exp(theta[G : G + 2])
        r2 = (1.0 / l2) @ self._D
        n, p = len(self.data.outcomes), len(self.data.points)
        k = Matern52.profile(r2).reshape(p, p)
        K = v * (k if self._plain else self.data.combine(self.data.combine(k).T))
        K.flat[:: n + 1] += noise + self.data.variances
        K += self._fixed
        if self.tracked:
            K += self._offset(theta[G + 2 :])
        value, W = _likelihood(K, self.data.outcomes)
        M = W if self._plain else W[self._spread[0]] * self._spread[1]
        gradient = np.empty_like(theta)
        gradient[:G] = -(self._D @ (v * Matern52.slope(r2) * M.ravel())) / l2
        gradient[G] = 0.5 * v * np.vdot(M, k)
        gradient[G + 1] = 0.5 * noise * np.trace(W) + 0.5 * (self.nulls @ self.nulls / noise - len(self.nulls))
        if self.tracked:
            gradient[G + 2 :] = self._offset_gradient(theta[G + 2 :], W)
        return value - 0.5 * (self.nulls @ self.nulls / noise + len(self.nulls) * theta[G + 1]), gradient

    def _offset(self, theta: FloatArray) -> FloatArray:
        walk, wave, duration = np.exp(theta)
        K: FloatArray = (wave * Matern52.profile(self._lag2 / duration**2))[self._where]
        K += walk * self._earlier
        return K

    def _offset_gradient(self, theta: FloatArray, W: FloatArray) -> FloatArray:
        walk, wave, duration = np.exp(theta)
        by_lag = np.bincount(self._where.ravel(), W.ravel())  # W summed over all pairs of the same lag
        r2 = self._lag2 / duration**2
        return np.array(
            [
                0.5 * walk * np.vdot(W, self._earlier),
                0.5 * wave * by_lag @ Matern52.profile(r2),
                -wave * by_lag @ (Matern52.slope(r2) * r2),
            ]
        )


def _likelihood(K: FloatArray, y: FloatArray) -> tuple[float, FloatArray]:
    """Return log N(y; 0, K) up to a constant, and a matrix like W: of the same sum with any symmetric one."""
    L, lapack = _linalg.cholesky(K), _linalg.lapack()
    alpha = lapack.dpotrs(L, y, lower=1)[0]
    W = lapack.dpotri(L, lower=1)[0].T  # of the inverse one triangle, with zeros in the other: twice that one will do
    W *= -2.0
    W.flat[:: len(y) + 1] *= 0.5
    W += np.multiply.outer(alpha, alpha)
    return -0.5 * float(y @ alpha) - float(np.log(L.diagonal()).sum()), W


def typical_step(data: Data, law: Offset) -> float:
    """Return the size of a typical change between successive readings, or of a typical difference."""
    steps = np.abs(data.outcomes if isinstance(law, Arbitrary) else np.diff(data.outcomes))
    for size in (np.quantile(steps, 0.9), np.max(steps)) if len(steps) else ():
        if size > 0:
            return float(size) / 2.33  # the upper tenth of |a - b| for standard normal a, b begins at 2.326
    return 1.0


def fit(evidence: Evidence, starts: Sequence[Hyperparameters], step: float) -> tuple[Hyperparameters, float]:
    """Return the hyperparameters of largest posterior density found from the given starts, and its logarithm."""
    from scipy.optimize import minimize  # slow to import, and only learning needs it

    tracked = evidence.tracked
    prior = Priors.of(len(starts[0].lengthscales), tracked)

    def loss(theta: FloatArray) -> tuple[float, FloatArray]:
        try:
            value, gradient = evidence(theta)
        except np.linalg.LinAlgError:  # a corner where K is singular to rounding: turn back
            return 1e25, np.zeros_like(theta)
        density, slope = prior(theta)
        return -(value + density), -(gradient + slope)

    low, high = np.array(prior.bounds).T
    found = [
        minimize(
            loss,
            np.clip(start.to_vector(tracked), low, high),
            jac=True,
            method="L-BFGS-B",
            bounds=prior.bounds,
            options={"maxiter": 25},
        )
        for start in starts
    ]
    best = min(found, key=lambda result: float(result.fun))
    return Hyperparameters.from_vector(best.x, tracked, step), -float(best.fun)
