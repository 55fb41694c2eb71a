"""The check of the law of the offset: it is trusted unless the pure duels contradict it (METHOD section 7)."""

import math

import numpy as np

from equipoise._typing import FloatArray
from equipoise.belief.anywhere import AnywherePosterior
from equipoise.belief.folding import Folding
from equipoise.belief.model import Model
from equipoise.belief.observations import Observations
from equipoise.belief.posterior import Posterior

GROWTH = 1.2
"""The growth factor of very many duels after which their noise is estimated again: that of the refits of the model."""


def contradicts(duels: AnywherePosterior, modeled: Posterior, guard: float) -> bool:
    """Return whether the duels say that their leader beats the modeled one, even with any single duel left out."""
    points = duels.support
    if not len(points):
        return False
    ours = points[int(duels.mean(points).argmax())]
    theirs = points[int(modeled.mean(points).argmax())]
    mean, variance = duels.difference(ours[None], theirs)
    if mean[0] <= guard * np.sqrt(variance[0]):
        return False
    mean, variance = jackknife(duels, ours, theirs)
    return bool((mean > guard * np.sqrt(variance)).all())


def jackknife(posterior: AnywherePosterior, x: FloatArray, z: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return mean and variance of f(x) - f(z) with each unfolded datum left out in turn, shapes (n,).

    Without datum i they are m - w_i r_i and v + w_i^2 / P_ii, with P = (K + lambda I)^-1, w = P cov(data, f(x) -
    f(z)) and r_i = (P y)_i / P_ii, the deviation of datum i from the prediction of the others.
    """
    (mean,), (variance,) = posterior.difference(x[None], z)
    k = posterior.cross(np.array([x, z]))
    w, kept = posterior.inverse(k[0] - k[1]), len(posterior.observations or ())
    precision = _precision(posterior)
    means, variances = mean - w * posterior.coefficients() / precision, variance + w**2 / precision
    return means[-kept:], variances[-kept:]


def _precision(posterior: AnywherePosterior) -> FloatArray:
    """Return the diagonal of P, shape (n,)."""
    inverse = posterior.solve(np.eye(len(posterior.whitened)))
    precision: FloatArray = np.einsum("ni,ni->i", inverse, inverse)
    return precision


def under_model(
    duels: AnywherePosterior, data: Observations | None, comparisons: int, model: Model
) -> AnywherePosterior:
    """Return the posterior of duels under a model, with noise at least as large as their residuals show.

    For very many duels a subset is used, which stays the same until there are a fifth more, so the digest stays valid.
    `comparisons` is the number of all duels, including those of a point with itself.
    """
    if data is None:
        return duels.given(None, comparisons, model)
    some = _telling(data, duels.folding)
    trial = duels.under(model, (None, some))
    rest = residuals(trial)
    # a few of very many are fitted more closely than all: E[rest'rest] = noise tr(noise P), P as in jackknife
    free = float(len(rest)) if some is data else model.noise * float(_precision(trial).sum())
    return duels.given(data, comparisons, Model(model.kernel, max(float(rest @ rest) / free, model.noise)))


def _telling(data: Observations, folding: Folding | None) -> Observations:
    """Return the duels whose residuals are used: all of few, some of the first of many."""
    if folding is None or len(data) <= folding.exact:
        return data
    first = folding.exact
    while (more := math.ceil(GROWTH * first) + 1) <= len(data):
        first = more
    return data.since(0, first).thinned(folding.exact, min(50, folding.exact))


def residuals(posterior: AnywherePosterior) -> FloatArray:
    """Return the outcomes minus their posterior means, shape (n,)."""
    data = posterior.source
    return np.empty(0) if data is None else data.outcomes - data.combine(posterior.mean(data.points))
