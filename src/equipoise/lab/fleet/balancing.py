"""BOSE for many learners at once: weights under which no plausible point stands out.

    symbol   meaning                                                              shape
    psi      posterior variance of f(x_a) - f(x_b)                                (L, k, k)
    alive    true for points that none beats with confidence                      (L, k)
    S        the points that have a weight                                        (n, k), a mask
    w        probabilities of the points                                          (n, k)
    held     those of the s points of S, padded by others of weight zero          (n, s)
    z        psi_SS z = 1: the stationary point on S is z / sum(z)                (n, s)
    score    psi w: BOSE's condition is score <= rho = w' psi w                   (n, k)

This is the active-set method of `policies/bose.py`, for all learners in step. It starts from the last round's
weights, mostly on the same points. A learner that needs more than a few steps falls back to the function there.
"""

import numpy as np
from numpy.typing import NDArray

from equipoise._typing import FloatArray
from equipoise.belief import Array, Indices, half_width, namespace
from equipoise.lab.fleet.array_math import placed, to_numpy
from equipoise.lab.fleet.beliefs import Beliefs
from equipoise.policies import BOSE, NEGLIGIBLE, TOLERANCE, balanced, coefficient, pairwise_psi, plausible

Mask = NDArray[np.bool_]

NEVER = 1e300
"""The length of a step that no weight limits."""

TOGETHER = 40
"""The number of learners whose pairs are processed together: with 20 points their data fit a processor's caches."""

STEPS = 12
"""The number of steps that all learners take together: enough for 999 of 1,000 rounds of the linear problem."""


def balanced_weights(policy: BOSE, beliefs: Beliefs, last: Array | None) -> Array:
    """Return the weights under which no plausible point stands out, shape (L, m)."""
    gamma = coefficient(to_numpy(beliefs.comparisons) + 1.0, beliefs.dimension, policy.delta)
    points, near = near_leader(beliefs, gamma)
    psi, alive = contest(beliefs, gamma, points, near)
    rows, w = np.arange(len(points))[:, None], np.zeros(beliefs.mean.shape)
    held, arrived = climbed_together(psi, alive, w[rows, points] if last is None else to_numpy(last)[rows, points])
    for i in np.flatnonzero(~arrived):
        keep = np.flatnonzero(alive[i])
        S, weights = balanced(psi[i].take(keep, axis=0).take(keep, axis=1))
        held[i] = 0.0
        held[i, keep[S]] = weights
    held[held <= NEGLIGIBLE] = 0.0
    w[rows, points] = held / held.sum(axis=-1, keepdims=True)
    return namespace(beliefs.mean).asarray(w, dtype=beliefs.mean.dtype, **placed(beliefs.mean))


def near_leader(beliefs: Beliefs, gamma: FloatArray) -> tuple[Indices, Indices]:
    """Return the points that the leader does not beat with confidence, shape (L, k), and their number, shape (L,).

    If a learner has fewer of them than another, points that the leader does beat follow. They beat none of the first:
    see `policies/pairs.py`.
    """
    leader = namespace(beliefs.mean).argmax(beliefs.mean, axis=-1)
    width = half_width(to_numpy(beliefs.psi(leader)), gamma[:, None] ** 2, beliefs.regularizer)
    beaten = to_numpy(beliefs.gaps(leader)) > width
    near = beaten.shape[1] - np.count_nonzero(beaten, axis=-1)
    return np.argsort(beaten, axis=-1, kind="stable")[:, : near.max()], near


def contest(beliefs: Beliefs, gamma: FloatArray, points: Indices, near: Indices) -> tuple[FloatArray, Mask]:
    """Return psi of the pairs of points near the leader, zero elsewhere, and which points are alive.

    It processes a few learners together, those with about as many points.
    """
    mean, C = to_numpy(beliefs.mean), to_numpy(beliefs.covariances.full())
    psi, alive = np.zeros((*points.shape, points.shape[1])), np.zeros(points.shape, dtype=np.bool_)
    order = np.argsort(near)
    for rows in (order[first : first + TOGETHER] for first in range(0, len(order), TOGETHER)):
        k, each = near[rows[-1]], rows[:, None]
        i = points[rows, :k]
        distances = pairwise_psi(C[each[..., None], i[:, :, None], i[:, None, :]])
        width = half_width(distances, gamma[rows, None, None] ** 2, beliefs.regularizer)
        psi[rows, :k, :k], alive[rows, :k] = distances, plausible(mean[each, i], width)  # KWS18 Algorithm 1
    return psi, alive


def climbed_together(psi: FloatArray, alive: Mask, w: FloatArray) -> tuple[FloatArray, Mask]:
    """Return the weights of shape (L, k), and a mask of the learners whose weights meet the condition.

    Start from the weights w, zero for learners without a start; only points that are alive may have one.
    """
    w = np.where(alive, w, 0.0)
    total = w.sum(axis=-1, keepdims=True)
    w = np.divide(w, total, out=np.zeros_like(w), where=total > 0)
    S, arrived = w > 0, np.zeros(len(w), dtype=np.bool_)
    going = np.flatnonzero(total[:, 0] > 0)
    for _ in range(STEPS):
        if not len(going):
            break
        try:
            S[going], w[going], there = _step(psi, going, alive[going], S[going], w[going])
        except np.linalg.LinAlgError:  # coincident points: the slower function handles them
            going = np.array([i for i in going if _has_step(psi, int(i), alive, S, w)], dtype=np.intp)
            continue
        arrived[going[there]] = True
        going = going[~there]
    return w, arrived


def _has_step(psi: FloatArray, i: int, alive: Mask, S: Mask, w: FloatArray) -> bool:
    """Return True if the equations of a learner's next step have a solution."""
    try:
        _step(psi, np.array([i]), alive[i : i + 1], S[i : i + 1], w[i : i + 1])
    except np.linalg.LinAlgError:
        return False
    return True


def _step(psi: FloatArray, who: Indices, alive: Mask, S: Mask, w: FloatArray) -> tuple[Mask, FloatArray, Mask]:
    """Move to the stationary point on S, or until a weight reaches zero; then add the farthest point outside."""
    rows = np.arange(len(who))
    i: Indices = np.argsort(~S, axis=-1, kind="stable")[:, : S.sum(axis=-1).max()]  # the points of S come first
    inside, held = S[rows[:, None], i], w[rows[:, None], i]
    z = stationary(psi[who[:, None, None], i[:, :, None], i[:, None, :]], inside)
    total = z.sum(axis=-1, keepdims=True)
    d = z - total * held
    limit = np.divide(held, -d, out=np.full_like(held, NEVER), where=inside & (d < 0))
    first = limit.argmin(axis=-1)
    least = limit[rows, first]
    reached = least * total[:, 0] >= 1
    held = held + np.where(reached, 0.0, least)[:, None] * d
    held = np.maximum(np.divide(z, total, out=held, where=reached[:, None]), 0.0)
    held[rows[~reached], first[~reached]] = 0.0
    held /= held.sum(axis=-1, keepdims=True)
    score = (held[:, None, :] @ psi[who[:, None], i])[:, 0, :]
    rho = np.sum(held * score[rows[:, None], i], axis=-1)
    farthest = np.where(alive, score, -np.inf).argmax(axis=-1)
    there = reached & (score[rows, farthest] - rho <= TOLERANCE * rho / 2)  # the Karush-Kuhn-Tucker conditions
    S, w = S.copy(), np.zeros_like(w)
    S[rows, np.where(reached, farthest, i[rows, first])] = reached
    w[rows[:, None], i] = held
    return S, w, there


def stationary(psi: FloatArray, inside: Mask) -> FloatArray:
    """Return z of the points inside, zero elsewhere; a single point needs no equation, and its z is one."""
    several = inside.sum(axis=-1) > 1
    both = inside[:, :, None] & (inside & several[:, None])[:, None, :]
    A = np.where(both, psi, np.eye(psi.shape[-1]))
    z: FloatArray = np.linalg.solve(A, inside[..., None].astype(np.float64))[..., 0]
    return z
