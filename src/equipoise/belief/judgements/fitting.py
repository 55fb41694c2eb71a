"""Fit of the kernel of f to answers, if readings do not determine it, and of the judges.

    symbol   meaning                                                                 shape
    n        number of answers
    D_g      squared differences of all 2n points in parameter g, of unit extent     (2n, 2n)
    l, v     lengthscales and variance of f                                          (G,), ()
    theta    learned parameters of the judges (judges.py)                             (k,)
    W        alpha alpha' - (K + 1/tau)^-1, alpha = (K + 1/tau)^-1 (outcomes - m)    (n, n)

The fit maximizes the evidence of expectation propagation times the priors. If the sites agree, its derivative in a
parameter is that with the sites held fixed (Rasmussen and Williams 2006, Eq. (5.27)): tr(W dK)/2 for a kernel parameter
and the sum of the derivatives of log Z for a judge parameter.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from equipoise import _linalg
from equipoise._typing import FloatArray
from equipoise.belief.descent import descend
from equipoise.belief.model import Form, Hyperparameters
from equipoise.kernels import Matern52
from equipoise.likelihoods import Differences, Few, Judgement, Panel, Propagated, Sites, propagate
from equipoise.offsets import Hyperparameter

MAX_FITTED_ANSWERS = 200
"""The most answers in a fit, whose cost is cubic: more are thinned."""

MAX_FIT_STEPS = 20
"""The most steps of the climb."""

FIT_SWEEPS = 30
"""The most sweeps of expectation propagation in one step; each step starts from the sites of the last one."""

ANSWERED_VARIANCE = Hyperparameter("variance", 3.0, 1.1, 1.2, 1e-3, 1e4, "f varies by a few noises of the judge")

Value = tuple[float, FloatArray]
"""A function and its gradient."""


def thinned(n: int) -> NDArray[np.intp]:
    """Return the indices of the answers that a fit uses out of n: all, or some spread evenly."""
    return np.arange(n) if n <= MAX_FITTED_ANSWERS else np.linspace(0, n - 1, MAX_FITTED_ANSWERS).astype(np.intp)


def fit_judges(panel: Panel, prior: Differences, start: FloatArray) -> FloatArray:
    """Return the most plausible parameters of the judges, shape (k,), given the prior of the differences."""
    sites: list[Sites | None] = [None]

    def value(theta: FloatArray) -> Value:
        found = propagate(prior, panel.answers(theta), sites[0], FIT_SWEEPS)
        sites[0] = found.sites
        density, slope = panel.prior(theta)
        return found.log_evidence + density, panel.gradient(theta, found.tilt) + slope

    return _largest(value, start, panel.bounds)


@dataclass(frozen=True)
class JudgedKernel:
    """The kernel of f learned from answers: lengthscales in units of the extent, variance in squared units."""

    lengthscales: tuple[float, ...]
    variance: float

    def hyperparameters(self, form: Form, step: float) -> Hyperparameters:
        """Return those of the model: the unit is the noise of a judge; the offset was not learned."""
        return Hyperparameters(self.lengthscales, self.variance, 1.0, form.guess().offset, step)


class KernelFit:
    """The evidence of answers as a function of the kernel of f and the judges.

    Args:
        judgements: The judgements.
        form: The form of the model.
        panel: The judges.
        unit: The unit of f in which its variance is learned.
    """

    def __init__(self, judgements: Sequence[Judgement], form: Form, panel: Panel, unit: float) -> None:
        points = np.array([each.first for each in judgements] + [each.second for each in judgements])
        self._D, _ = form.distances(points)  # values are not distinguished
        self._form, self._panel, self._unit2 = form, panel, unit**2
        self._sites: Sites | None = None
        self._table = (*[form.table[0]] * form.parameters, ANSWERED_VARIANCE)

    def best(self, start: JudgedKernel | None, theta: FloatArray) -> tuple[JudgedKernel, FloatArray]:
        """Return the most plausible kernel and judge parameters, starting from `start` or from guesses."""
        G = self._form.parameters
        if start is None:
            kernel = np.log([each.guess for each in self._table])
        else:
            kernel = np.log([*start.lengthscales, start.variance])
        limits = [(float(np.log(each.low)), float(np.log(each.high))) for each in self._table]
        best = _largest(self, np.append(kernel, theta), [*limits, *self._panel.bounds])
        return JudgedKernel(tuple(np.exp(best[:G]).tolist()), float(np.exp(best[G]))), best[G + 1 :]

    def __call__(self, values: FloatArray) -> Value:
        """Return the log of evidence times priors, and its gradient in the logarithms and in theta."""
        G = self._form.parameters
        l2, v, theta = np.exp(2 * values[:G]), self._unit2 * float(np.exp(values[G])), values[G + 1 :]
        r2 = (1.0 / l2) @ self._D
        p = 2 * len(self)
        k = Matern52.profile(r2).reshape(p, p)
        K = v * _combined(k)
        found = propagate(Few(K, np.zeros(len(K))), self._panel.answers(theta), self._sites, FIT_SWEEPS)
        self._sites = found.sites
        W = _weights(K, found)
        M = np.block([[W, -W], [-W, W]])
        gradient = np.empty(len(values))
        gradient[:G] = -(self._D @ (v * Matern52.slope(r2) * M.ravel())) / l2
        gradient[G] = 0.5 * v * np.vdot(M, k)
        gradient[G + 1 :] = self._panel.gradient(theta, found.tilt)
        mean, deviation = np.array([(each.mean, each.deviation) for each in self._table]).T
        z = (values[: G + 1] - mean) / deviation
        density, slope = self._panel.prior(theta)
        gradient += np.append(-z / deviation, slope)
        return found.log_evidence + density - 0.5 * float(z @ z), gradient

    def __len__(self) -> int:
        return int(self._D.shape[1] ** 0.5) // 2


def _combined(k: FloatArray) -> FloatArray:
    """Return the covariance of first - second, shape (n, n), from that of all firsts followed by all seconds."""
    n = len(k) // 2
    combined: FloatArray = k[:n, :n] - k[:n, n:] - k[n:, :n] + k[n:, n:]
    return combined


def _weights(K: FloatArray, found: Propagated) -> FloatArray:
    root = np.sqrt(found.sites.precision)
    B = K * root * root[:, None]
    B.flat[:: len(B) + 1] += 1.0
    inverse = _linalg.lapack().dpotri(_linalg.safe_cholesky(B), lower=1)[0]
    inverse = np.tril(inverse) + np.tril(inverse, -1).T
    alpha = root * (inverse @ (root * found.sites.outcome))
    W: FloatArray = np.multiply.outer(alpha, alpha) - inverse * root * root[:, None]
    return W


def _largest(value: Callable[[FloatArray], Value], start: FloatArray, bounds: list[tuple[float, float]]) -> FloatArray:
    """Return the maximum of a function that is found by climbing from a start."""
    if not len(start):
        return start

    def loss(x: FloatArray) -> Value:
        found, gradient = value(x)
        return -found, -gradient

    low, high = np.array(bounds).T
    return descend(loss, start, (low, high), steps=MAX_FIT_STEPS, ftol=1e-4, gtol=1e-3)[0]
