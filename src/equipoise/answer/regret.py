"""The estimated regret of the leader, over joint draws of the belief.

    symbol   meaning                                                        shape
    z        rivals of the leader                                           (m, d)
    g        f(z) - f(leader), drawn from the posterior                     (draws, m)
    q        quantile of max_z g over the draws: the bound                  ()

`mean + 2 sd` holds for each rival by itself, but not for the best of many: it held in half to three quarters of all
runs. A joint draw is a whole function that the data allow, with its own top. The bound is the distance of that top from
the leader in 95 % of draws (METHOD section 11; Wilson, NeurIPS 2024). A learned model may be wrong: its bound is
calibrated (`calibrated_claims.py`) or, without a calibration, the functions are drawn from several models of the data.
"""

from collections.abc import Sequence
from typing import Literal

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from equipoise import _linalg
from equipoise._typing import FloatArray
from equipoise.belief import Posterior

DRAWS = 300
"""The number of functions drawn from each model: the error of the 95 % quantile is a few percent of it."""

LEAST_VARIANCE = 1e-9
"""The amount added to the variance of each difference, relative to the largest variance of f, because of rounding."""

LEVEL = 0.95
"""The share of the draws in which the bound holds."""

Held = NDArray[np.bool_] | Literal[True]
"""Which rivals hold measured limits in each draw, shape (draws, m); `True` if there are no such limits."""


def regret_bound(
    opinions: Sequence[Posterior], leader: FloatArray, rivals: FloatArray, held: Held, rng: Generator
) -> float:
    """Return a bound on the gain of any rival, in 95 % of functions drawn from all models."""
    drawn = [tops(each, leader, rivals, rng.standard_normal((DRAWS, len(rivals))), held) for each in opinions]
    return quantile(np.concatenate(drawn), LEVEL)


def quantile(values: FloatArray, level: float) -> float:
    """Return what `np.quantile` does, to the last bit, without `numpy.ma`: to import it costs a tenth of `best`.

    Example:
        >>> quantile(np.array([3.0, 1.0, 2.0]), 0.75)
        2.5
    """
    at = level * (len(values) - 1)
    low, ordered = int(at), np.sort(values)
    a, b, t = float(ordered[low]), float(ordered[min(low + 1, len(values) - 1)]), at - low
    return b - (b - a) * (1 - t) if t >= 0.5 else a + (b - a) * t


def tops(posterior: Posterior, leader: FloatArray, rivals: FloatArray, normals: FloatArray, held: Held) -> FloatArray:
    """Return the distance of each drawn function's top above the leader, given normals of shape (draws, m)."""
    belief = posterior.at(np.concatenate((leader[None], rivals)))
    C = belief.covariance()
    D = C[1:, 1:] - C[1:, :1] - C[:1, 1:] + C[0, 0]  # covariance of f(z) - f(leader)
    D.flat[:: len(D) + 1] = np.maximum(D.diagonal(), 0.0) + LEAST_VARIANCE * float(C.diagonal().max())
    g = normals @ _factor(D).T + (belief.mean[1:] - belief.mean[0])
    found: FloatArray = g.max(axis=1, initial=0.0, where=held)
    return found


def _factor(D: FloatArray) -> FloatArray:
    """Return the lower Cholesky factor of a covariance, from which rounding may have taken its rank."""
    try:
        L: FloatArray = np.asarray(np.linalg.cholesky(D), dtype=np.float64)
        return L
    except np.linalg.LinAlgError:
        return _linalg.safe_cholesky(_linalg.semidefinite(D))
