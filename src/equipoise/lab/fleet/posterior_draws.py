"""Draws from the posteriors of many learners at once.

    symbol   meaning                                                              shape
    L, m     number of learners, of points
    n, r     number of draws, of standard normal numbers a draw needs
    F        a factor of each covariance, scaled: v^2 C / lambda = F F'           (L, m, r)
    z        standard normal numbers, the shortest vector first                   (n, r)
    Q        a random reflection for each learner, its axes' signs at random      (L, r, r)
    g        mean of each point less that of the leader                           (L, m)
    E        F of each point less that of the leader                              (L, m, r)
    reach    length from which on a z may make a point the best                   (L, m)

The n draws that estimate how often each point is the best cost most of the time. So learners share z, with one
reflection Q each: F Q z has the distribution of F z for any Q, and Q makes draws of two learners nearly independent.

A point beats the leader if E z > -g, so no z shorter than `reach` makes it the best. The draws are processed in
shells of similar length, each for the points within reach only. No count changes by this, and most draws are short.
"""

from collections.abc import Iterator

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from equipoise._typing import FloatArray
from equipoise.belief import Array, Indices, namespace, pick
from equipoise.lab.fleet.array_math import placed, to_numpy
from equipoise.lab.fleet.beliefs import Beliefs
from equipoise.lab.fleet.covariances import FeatureCovariances
from equipoise.policies import RANK_TOLERANCE

Normals = NDArray[np.float32]
"""The type of standard normal numbers in single precision."""

Mask = NDArray[np.bool_]

ROUNDING = 1e-4
"""The relative slack on the reach of a point, for draws in single precision."""

SHELLS = 0.5, 0.8, 1.0
"""The shares of the draws, shortest first, at which shells end: three were fastest on the paper's linear problem."""

VALUES = 2**17
"""The number of values of draws computed at a time: in single precision they fit a processor's second cache."""


def normals_needed(beliefs: Beliefs) -> int:
    """Return r: the number of features if f is linear, otherwise the number of points."""
    covariances = beliefs.covariances
    return int(covariances.C.shape[-1] if isinstance(covariances, FeatureCovariances) else beliefs.mean.shape[1])


def factors(beliefs: Beliefs, scale: FloatArray | None = None, turns: FloatArray | None = None) -> Array:
    """Return F of every learner, shape (L, m, r), times its scale, and reflected by `turns` if given."""
    covariances = beliefs.covariances
    F = _lower(covariances.C if isinstance(covariances, FeatureCovariances) else covariances.full())
    if scale is not None:
        F = F * scale[:, None, None]
    if turns is not None:
        F = reflected(F, turns)
    return covariances.X @ F if isinstance(covariances, FeatureCovariances) else F


def _lower(C: Array) -> Array:
    """Return Cholesky factors, shape (L, d, d); if C is singular, its diagonal is raised within rounding."""
    xp = namespace(C)
    jitter = RANK_TOLERANCE * xp.max(xp.linalg.diagonal(C), axis=-1)[:, None, None]
    return xp.linalg.cholesky(C + jitter * xp.eye(C.shape[-1], dtype=C.dtype, **placed(C)))


def reflected(F: Array, turns: FloatArray) -> Array:
    """Return F Q, shape (L, m, r): the covariance F F' is unchanged, and with shared z the learners' draws differ.

    Args:
        F: The factors, shape (L, m, r).
        turns: Standard normal numbers of each learner, shape (L, 2, r): Q = D (I - 2 v v'), where D has the signs of
            the first and v is the direction of the second.
    """
    xp = namespace(F)
    numbers = xp.asarray(turns, dtype=F.dtype, **placed(F))
    signed = F * xp.sign(numbers[:, :1, :])
    v = numbers[:, 1:, :]
    v = v / xp.sqrt(xp.sum(v * v, axis=-1, keepdims=True))
    return signed - 2.0 * (signed @ xp.matrix_transpose(v)) * v


def draws_of_all(beliefs: Beliefs, count: int, scale: float, rng: Generator) -> Array:
    """Return independent draws of f from each posterior, shape (L, count, m)."""
    F = factors(beliefs)
    xp = namespace(F)
    z = xp.asarray(rng.standard_normal((F.shape[0], count, F.shape[2])), dtype=F.dtype, **placed(F))
    return beliefs.mean[:, None, :] + scale * (z @ xp.matrix_transpose(F))


def best_counts_of_all(beliefs: Beliefs, scale: Array, z: Normals, turns: FloatArray) -> Array:
    """Return how often each point is the best of a draw, shape (L, m)."""
    mean, F = to_numpy(beliefs.mean), to_numpy(factors(beliefs, scale, turns))
    leader = mean.argmax(axis=-1)
    g, E = mean - pick(mean, leader)[:, None], F - pick(F, leader)[:, None, :]
    counts = _wins(g, E, z)
    counts[np.arange(len(mean)), leader] += len(z) - counts.sum(axis=-1)  # nobody beat it
    return namespace(beliefs.mean).asarray(counts, dtype=beliefs.mean.dtype, **placed(beliefs.mean))


def reaches(g: FloatArray, E: FloatArray) -> FloatArray:
    """Return the least length of a draw's numbers that may make a point the best, shape (L, m)."""
    distance = (1 + ROUNDING) * np.sqrt((E * E).sum(axis=-1))
    reach: FloatArray = np.divide(-g, distance, out=np.full_like(g, np.inf), where=distance > 0)  # Cauchy and Schwarz
    return reach


def _wins(g: FloatArray, E: FloatArray, z: Normals) -> FloatArray:
    """Count how often each point beats the leader and all others, shape (L, m)."""
    (learners, m), reach, length = g.shape, reaches(g, E), np.sqrt((z * z).sum(axis=-1))
    order, shortest, rows = np.argsort(reach, axis=-1), np.argsort(length), np.arange(learners)[:, None]
    weights = np.concatenate((E, g[..., None]), axis=-1, dtype=np.float32)[rows.T, order.T]
    numbers = np.concatenate((z, np.ones((len(z), 1), dtype=np.float32)), axis=-1)[shortest]
    size = max(VALUES, m * len(z))
    room = np.empty(size, dtype=np.float32), np.empty(size, dtype=np.bool_)
    won, first = np.zeros((m, learners)), 0
    for end in _ends(len(z)):
        shell = np.ascontiguousarray(numbers[first:end].T)
        within = np.count_nonzero(reach <= length[shortest[end - 1]], axis=-1)
        for some, most in _portions(within, end - first):
            won[:most, some] += _wins_among(weights[:most, some], shell, room)
        first = end
    counts = np.empty(g.shape)
    counts[rows, order] = won.T
    return counts


def _ends(draws: int) -> list[int]:
    """Return the ends of the shells, multiples of eight except for the last, for `_counted`."""
    ends = {8 * round(share * draws / 8) for share in SHELLS[:-1]} | {draws}
    return sorted(ends - {0})


def _portions(within: Indices, draws: int) -> Iterator[tuple[Indices, int]]:
    """Divide the learners, in descending order of points within reach; yield each group and its most points."""
    order = np.argsort(-within, kind="stable")
    first, end = 0, int(np.count_nonzero(within))
    while first < end:
        most = int(within[order[first]])
        last = min(end, first + max(1, VALUES // (most * draws)))
        yield order[first:last], most
        first = last


def _wins_among(weights: Normals, numbers: Normals, room: tuple[Normals, Mask]) -> Indices:
    """Count how often each of k points is the best of some draws and beats the leader, shape (k, l).

    The weights (k, l, r + 1) are of the numbers of a draw, shape (r + 1, n), and of the constant one at their end. The
    computation uses the given room: fresh memory costs as much as the arithmetic.
    """
    k, learners, _ = weights.shape
    size = k * learners * numbers.shape[1]
    values, won = room[0][:size].reshape(k, -1), room[1][:size].reshape(k, -1)
    np.matmul(weights.reshape(k * learners, -1), numbers, out=values.reshape(k * learners, -1))
    np.equal(values, values.max(axis=0, initial=np.finfo(np.float32).tiny), out=won)
    return _counted(won.reshape(k, learners, -1))


def _counted(won: Mask) -> Indices:
    """Count the true values along the last axis, eight at a time as the bytes of a word, without overflow."""
    if won.shape[-1] % 8 or won.shape[-1] > 8 * 255:
        return np.asarray(np.count_nonzero(won, axis=-1))
    words = won.view(np.uint64).sum(axis=-1)
    counts: Indices = words[..., None].view(np.uint8).sum(axis=-1, dtype=np.intp)
    return counts
