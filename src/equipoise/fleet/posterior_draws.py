"""Draws from the posteriors of many learners at once.

    symbol   meaning                                                              shape
    L, m     number of learners, of points
    n, r     number of draws, of standard normal numbers a draw needs
    F        a factor of each covariance, scaled: v^2 C / lambda = F F'           (L, m, r)
    z        standard normal numbers                                              (n, r)
    Q        a random reflection for each learner, its axes' signs at random       (L, r, r)

The n draws that estimate how often each point is the best cost more than all else, so learners share z, turned by Q:
F Q z has the law of F z whatever Q is, and Q makes the draws of two learners as good as independent.
Points that no vector of the length of the longest z can make the best are left out: that changes no count.
"""

import math

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from equipoise._typing import FloatArray
from equipoise.belief.arrays import Array, namespace, placed, to_numpy
from equipoise.fleet.beliefs import Beliefs
from equipoise.fleet.covariances import FeatureCovariances
from equipoise.policies.semits import RANK_TOLERANCE

Normals = NDArray[np.float32]
"""Standard normal numbers in single precision."""

ROUNDING = 1e-4
"""Slack on the test whether a point may be the best, relative: draws are in single precision."""


def factors(beliefs: Beliefs) -> Array:
    """Return F of every learner, unscaled, shape (L, m, r)."""
    covariances = beliefs.covariances
    if isinstance(covariances, FeatureCovariances):
        return covariances.X @ _lower(covariances.C)
    return _lower(covariances.full())


def _lower(C: Array) -> Array:
    """Return Cholesky factors, shape (L, d, d); where C is singular, its diagonal is raised by what is rounding."""
    xp = namespace(C)
    jitter = RANK_TOLERANCE * xp.max(xp.linalg.diagonal(C), axis=-1)[:, None, None]
    return xp.linalg.cholesky(C + jitter * xp.eye(C.shape[-1], dtype=C.dtype, **placed(C)))


def draws_of_all(beliefs: Beliefs, count: int, scale: float, rng: Generator) -> Array:
    """Return draws of f from each posterior, independent of each other, shape (L, count, m).

    Args:
        beliefs: Of L learners.
        count: How many draws.
        scale: Factor on the posterior's deviations.
        rng: The source of randomness.
    """
    F = factors(beliefs)
    xp = namespace(F)
    z = xp.asarray(rng.standard_normal((F.shape[0], count, F.shape[2])), dtype=F.dtype, **placed(F))
    return beliefs.mean[:, None, :] + scale * (z @ xp.matrix_transpose(F))


def best_counts_of_all(beliefs: Beliefs, count: int, scale: Array, rng: Generator) -> Array:
    """Return how often each point is the best of a draw, shape (L, m).

    Args:
        beliefs: Of L learners.
        count: How many draws.
        scale: Factor on the posterior's deviations, shape (L,).
        rng: The source of randomness.
    """
    mean, v = to_numpy(beliefs.mean), to_numpy(scale)
    F = to_numpy(factors(beliefs)) * v[:, None, None]
    z = rng.standard_normal((count, F.shape[2]), dtype=np.float32)
    counts = _wins(mean - mean.max(axis=-1, keepdims=True), reflected(F, rng), z)
    return namespace(beliefs.mean).asarray(counts, dtype=beliefs.mean.dtype, **placed(beliefs.mean))


def contenders(g: FloatArray, F: FloatArray, longest: float) -> NDArray[np.bool_]:
    """Return which points may be the best of a draw whose numbers have at most this length, shape (L, m).

    Args:
        g: Mean of each point less that of the leader, shape (L, m).
        F: Factors, shape (L, m, r).
        longest: The largest length of the numbers of a draw.
    """
    leader = F[np.arange(len(F)), g.argmax(axis=-1)]
    distance = np.sqrt(((F - leader[:, None, :]) ** 2).sum(axis=-1))
    result: NDArray[np.bool_] = longest * (1 + ROUNDING) * distance + g >= 0  # Cauchy and Schwarz
    return result


def _wins(g: FloatArray, F: FloatArray, z: Normals) -> FloatArray:
    """Count who is the best of each draw, shape (L, m): learners of about as many contenders at a time."""
    may = contenders(g, F, math.sqrt(float((z * z).sum(axis=1).max())))
    size = np.minimum(2 ** np.ceil(np.log2(may.sum(axis=-1))), g.shape[1]).astype(np.intp)
    first = np.argsort(~may, axis=-1, kind="stable")  # contenders before the others
    counts = np.zeros(g.shape)
    for k in set(size.tolist()):
        rows = np.flatnonzero(size == k)[:, None]
        points = first[rows[:, 0], :k]
        counts[rows, points] = _wins_among(g[rows, points], F[rows, points], z) if k > 1 else len(z)
    return counts


def _wins_among(g: FloatArray, F: FloatArray, z: Normals) -> NDArray[np.uint32]:
    """Count who of the points is the best of each draw, shape (n, k)."""
    n, k, _ = F.shape
    weights = np.concatenate((F, g[..., None]), axis=-1, dtype=np.float32).swapaxes(0, 1).reshape(k * n, -1)
    numbers = np.concatenate((z, np.ones((len(z), 1), dtype=np.float32)), axis=1)
    values = (weights @ numbers.T).reshape(k, -1)
    won = (values == values.max(axis=0)).view(np.uint8).reshape(k, n, -1)
    counts: NDArray[np.uint32] = won.sum(axis=-1, dtype=np.uint32).T
    return counts


def reflected(F: FloatArray, rng: Generator) -> FloatArray:
    """Return F Q, shape (L, m, r): the covariance F F' stays, and with shared z learners do not draw alike.

    Args:
        F: Factors, shape (L, m, r).
        rng: Draws Q = D (I - 2 v v'), D random signs and v a random direction, anew for each learner.
    """
    shape = len(F), 1, F.shape[2]
    signed = F * np.where(rng.random(shape) < 0.5, -1.0, 1.0)
    v = rng.standard_normal(shape)
    v /= np.sqrt((v * v).sum(axis=-1, keepdims=True))
    return signed - 2.0 * (signed @ v.swapaxes(-1, -2)) * v
