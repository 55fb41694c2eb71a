"""Fit of lengthscales, signal, noise and offset, which the paper assumes known, by the marginal likelihood.

    symbol   meaning                                                       shape
    D        squared distances of the data's points, see `Form.distances`    (k, p p)
    W        alpha alpha' - (K + noise I)^-1, alpha = (K + noise I)^-1 y   (n, n)
    M        W spread over the points of the data                          (p, p)

The rest of the notation is that of `model.py`. The gradient of the log marginal likelihood in a parameter is
tr(W dK)/2 (Rasmussen and Williams 2006, Eq. (5.9)).
"""

from collections.abc import Sequence

import numpy as np

from equipoise import _linalg
from equipoise._typing import FloatArray
from equipoise.belief.descent import descend
from equipoise.belief.model import Form, Hyperparameters, Priors
from equipoise.belief.observations import Observations
from equipoise.kernels import Matern52
from equipoise.offsets import Offset

MAX_FITTED_DATA = 500
"""The most data in a fit, whose cost is cubic: more are thinned, which no longer changes the fit."""

MAX_FIT_STEPS = 25
"""The most steps of a fit from each start: in measurements, the density hardly grows after 20."""

LEAST_STEP = 1e-100
"""The smallest step that counts: the square of a smaller one would underflow."""


FIT_TOLERANCE = 1e-4
"""The relative change of the log density at which a fit ends: a few hundredths, while a tenth decides nothing."""

LEAST_SLOPE = 1e-5
"""The slope of the log density at which a fit ends: in effect the change always ends it first."""


class Evidence:
    """The log marginal likelihood of data, as a function of the hyperparameters.

    Args:
        data: Outcomes already divided by their step.
        form: The form of the model.
        jumps: Covariance of the offset jumps found so far, shape (n, n).
        nulls: Outcomes of duels of a point with itself: pure noise.
    """

    def __init__(
        self, data: Observations, form: Form, jumps: FloatArray | float = 0.0, nulls: FloatArray | None = None
    ) -> None:
        self.data, self.form = data, form
        self.nulls = np.empty(0) if nulls is None else nulls
        n, p = len(data), len(data.points)
        self._D, self._marks = form.distances(data.points)
        owner = np.searchsorted(data.starts, np.arange(p), side="right") - 1
        self._plain = n == p and bool((data.weights == 1.0).all())  # every datum has one point
        self._spread = np.ix_(owner, owner), np.multiply.outer(data.weights, data.weights)
        self._offset = form.law.prepared(data.moments) if form.law.learns_readings else None
        self._jumps = jumps

    def __call__(self, theta: FloatArray) -> tuple[float, FloatArray]:
        """Return the log marginal likelihood and its gradient in the logarithms."""
        G, C = len(self._D), len(self._marks)
        l2, (v, noise), offset = np.exp(2 * theta[: G + C]), *np.split(np.exp(theta[G + C :]), [2])
        r2 = (1.0 / l2[:G]) @ self._D
        n, p = len(self.data), len(self.data.points)
        k, slope = Matern52.with_slope(r2)
        if C:
            left = np.exp(-(1.0 / l2[G:]) @ self._marks)
            k, slope = k * left, slope * left
        k = k.reshape(p, p)
        F = v * (k if self._plain else self.data.combine(self.data.combine(k).T))
        echo = None if self._offset is None else self._offset.echo(offset)
        K = F.copy() if echo is None else F + echo * F
        K.flat[:: n + 1] += noise + self.data.variances
        if self._offset is not None:
            K += self._offset.covariance(offset)
            K += self._jumps
        value, W = _likelihood(K, self.data.outcomes)
        M = W if echo is None else W + echo * W
        M = M if self._plain else M[self._spread[0]] * self._spread[1]
        gradient = np.empty_like(theta)
        slope *= v
        slope *= M.ravel()
        gradient[:G] = -(self._D @ slope) / l2[:G]
        if C:
            gradient[G : G + C] = v * (self._marks @ (M * k).ravel()) / l2[G:]
        G += C
        gradient[G] = 0.5 * v * np.vdot(M, k)
        gradient[G + 1] = 0.5 * noise * np.trace(W) + 0.5 * (self.nulls @ self.nulls / noise - len(self.nulls))
        if self._offset is not None:
            gradient[G + 2 :] = self._offset.gradient(offset, W, F)
        return value - 0.5 * (self.nulls @ self.nulls / noise + len(self.nulls) * theta[G + 1]), gradient


def _likelihood(K: FloatArray, y: FloatArray) -> tuple[float, FloatArray]:
    """Return log N(y; 0, K) up to a constant, and a matrix whose sum with any symmetric one equals that of W."""
    L, lapack = _linalg.cholesky(K), _linalg.lapack()
    alpha = lapack.dpotrs(L, y, lower=1)[0]
    half = float(np.log(L.diagonal()).sum())
    W = lapack.dpotri(L, lower=1, overwrite_c=1)[
        0
    ].T  # one triangle of the inverse, with zeros in the other: twice this triangle suffices
    W *= -2.0
    W.flat[:: len(y) + 1] *= 0.5
    W += np.multiply.outer(alpha, alpha)
    return -0.5 * float(y @ alpha) - half, W


def typical_step(data: Observations, law: Offset, jumps: Sequence[float] = ()) -> float:
    """Return the size of a typical difference inside a duel, or of successive readings if there are no duels.

    Duels split by one of the `jumps`, given by their times, do not count.
    """
    if law.timeless and (inside := _inside_blocks(data)) > LEAST_STEP:
        return inside
    steps = np.abs(_inside_pairs(data, law, jumps) if law.learns_readings else data.outcomes)
    for size in (np.quantile(steps, 0.9), np.max(steps)) if len(steps) else ():
        if size > LEAST_STEP:
            return float(size) / 2.33  # the upper tenth of |a - b| for standard normal a, b begins at 2.326
    return 1.0


def _inside_blocks(data: Observations) -> float:
    """Return the standard deviation of readings within their blocks; 0 if no block has two readings.

    Differences inside pairs shrink as a search converges, those inside blocks do not: a seed on which the leader was
    read is used again for the settings compared with it.
    """
    _, block, n = np.unique(data.moments.block, return_inverse=True, return_counts=True)
    rest = data.outcomes - (np.bincount(block, data.outcomes) / n)[block]
    return float(np.sqrt(rest @ rest / max(len(rest) - len(n), 1)))


def _inside_pairs(data: Observations, law: Offset, jumps: Sequence[float]) -> FloatArray:
    """Return the differences of successive readings of one duel, or of all successive readings without duels."""
    readings = law.cleared(data.moments, data.outcomes)
    order = np.argsort(data.moments.pair, kind="stable")
    number = data.moments.pair[order]
    same = (np.diff(number) == 0) & (number[1:] >= 0)
    if not same.any():
        order, same = np.arange(len(readings)), np.ones(max(len(readings) - 1, 0), dtype=np.bool_)
    whole = same & ~np.isin(data.moments.time[order][1:], jumps)
    inside: FloatArray = np.diff(readings[order])[whole if whole.any() else same]
    return inside


def fit(evidence: Evidence, starts: Sequence[Hyperparameters], step: float) -> tuple[Hyperparameters, float]:
    """Return the hyperparameters of largest posterior density found from the given starts, and the log density."""
    prior = Priors(evidence.form.table)

    def loss(theta: FloatArray) -> tuple[float, FloatArray]:
        try:
            value, gradient = evidence(theta)
        except np.linalg.LinAlgError:  # K is singular up to rounding here: turn back
            return 1e25, np.zeros_like(theta)
        density, slope = prior(theta)
        return -(value + density), -(gradient + slope)

    found = [
        descend(loss, start.theta, prior.bounds, steps=MAX_FIT_STEPS, ftol=FIT_TOLERANCE, gtol=LEAST_SLOPE)
        for start in starts
    ]
    theta, least = min(found, key=lambda result: result[1])
    return evidence.form.named(np.exp(theta).tolist(), step), -least
