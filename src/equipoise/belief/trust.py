"""Whether a law of the offset is to be trusted: as long as the pure duels do not contradict it (METHOD section 7)."""

import numpy as np

from equipoise._typing import FloatArray
from equipoise.belief.anywhere import AnywherePosterior
from equipoise.belief.model import Model
from equipoise.belief.posterior import Posterior


def contradicts(duels: AnywherePosterior, modeled: Posterior, guard: float) -> bool:
    """Return whether the duels say that the modeled leader is beaten by their own, also without any one of them."""
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
    """Return mean and variance of f(x) - f(z) without each datum in turn that is not folded, shapes (n,).

    Without datum i they are m - w_i r_i and v + w_i^2 / P_ii, with P = (K + lambda I)^-1, w = P cov(data, f(x) -
    f(z)) and r_i = (P y)_i / P_ii, by how much datum i surprises the others.
    """
    (mean,), (variance,) = posterior.difference(x[None], z)
    k = posterior.cross(np.array([x, z]))
    w, kept = posterior.inverse(k[0] - k[1]), len(posterior.observations or ())
    inverse = posterior.solve(np.eye(len(w)))
    precision = np.einsum("ni,ni->i", inverse, inverse)
    means, variances = mean - w * posterior.coefficients() / precision, variance + w**2 / precision
    return means[-kept:], variances[-kept:]


def under_model(duels: AnywherePosterior, model: Model) -> AnywherePosterior:
    """Return the duels under another model, their noise at least what their residuals show."""
    new = duels.under(model)
    rest = residuals(new)
    seen = float(rest @ rest) / max(len(rest), 1)
    return new if seen <= model.noise else duels.given(duels.source, duels.comparisons, Model(model.kernel, seen))


def residuals(posterior: AnywherePosterior) -> FloatArray:
    """Return the outcomes less what the posterior mean says they should have been, shape (n,)."""
    data = posterior.source
    return np.empty(0) if data is None else data.outcomes - data.combine(posterior.mean(data.points))
