"""BOSE for many learners at once: weights under which no plausible point stands out.

    symbol   meaning                                                              shape
    psi      posterior variance of f(x_a) - f(x_b)                                (n, m, m)
    alive    whether a point is beaten by none with confidence                    (n, m)
    S        the points that have a weight                                        (n, m), a mask
    w        probabilities of the points                                          (n, m)
    score    psi w: BOSE's condition is score <= rho = w' psi w                   (n, m)
    z        psi_SS z = 1: the stationary point on S is z / sum(z)                (n, m)

The active-set method of `policies/bose.py`, for all learners in step. It starts from the weights of the round before,
which mostly rest on the same points; whoever has not arrived after a few steps is left to that file's own function.
"""

import numpy as np
from numpy.typing import NDArray

from equipoise._typing import FloatArray
from equipoise.belief.arrays import Array, namespace, placed, times, to_numpy
from equipoise.belief.covariance import Indices
from equipoise.fleet.beliefs import Beliefs
from equipoise.policies import BOSE
from equipoise.policies.bose import NEGLIGIBLE, TOLERANCE, balanced, coefficient
from equipoise.policies.pairs import pairwise_psi, plausible

Mask = NDArray[np.bool_]

NEVER = 1e300
"""The length of a step that no weight limits."""

STEPS = 12
"""Steps that all learners take together; on the linear problem all but one in a thousand rounds need fewer."""


def balanced_weights(policy: BOSE, beliefs: Beliefs, last: Array | None) -> Array:
    """Return the weights under which no plausible point stands out, shape (L, m).

    Args:
        policy: Its delta.
        beliefs: Of L learners.
        last: The weights of the round before, which save time.
    """
    psi = pairwise_psi(to_numpy(beliefs.covariances.full()))
    mean, t = to_numpy(beliefs.mean), to_numpy(beliefs.comparisons) + 1.0
    gamma = coefficient(t, beliefs.dimension, policy.delta)[:, None, None]
    alive = plausible(mean, np.sqrt(gamma**2 / beliefs.regularizer * psi))  # KWS18 Algorithm 1
    w, arrived = climbed_together(psi, alive, np.zeros(mean.shape) if last is None else to_numpy(last))
    for i in np.flatnonzero(~arrived):
        keep = np.flatnonzero(alive[i])
        S, weights = balanced(psi[i].take(keep, axis=0).take(keep, axis=1))
        w[i] = 0.0
        w[i, keep[S]] = weights
    w[w <= NEGLIGIBLE] = 0.0
    w /= w.sum(axis=-1, keepdims=True)
    return namespace(beliefs.mean).asarray(w, dtype=beliefs.mean.dtype, **placed(beliefs.mean))


def climbed_together(psi: FloatArray, alive: Mask, w: FloatArray) -> tuple[FloatArray, Mask]:
    """Return weights, and for whom they meet the condition.

    Args:
        psi: Of all pairs, shape (L, m, m).
        alive: Which points may have a weight, shape (L, m).
        w: Where to start, shape (L, m); zeros for those who start nowhere.
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
            S[going], w[going], there = _step(psi[going], alive[going], S[going], w[going])
        except np.linalg.LinAlgError:  # points that coincide: the slower function knows what to do
            break
        arrived[going[there]] = True
        going = going[~there]
    return w, arrived


def _step(psi: FloatArray, alive: Mask, S: Mask, w: FloatArray) -> tuple[Mask, FloatArray, Mask]:
    """Go to the stationary point on S, or as far as no weight turns negative; let the farthest point outside in."""
    rows = np.arange(len(w))
    z = stationary(psi, S)
    total = z.sum(axis=-1, keepdims=True)
    d = z - total * w
    limit = np.divide(w, -d, out=np.full_like(w, NEVER), where=S & (d < 0))
    first = limit.argmin(axis=-1)
    least = limit[rows, first]
    reached = least * total[:, 0] >= 1
    w = w + np.where(reached, 0.0, least)[:, None] * d
    w = np.maximum(np.divide(z, total, out=w, where=reached[:, None]), 0.0)
    S = S.copy()
    S[rows[~reached], first[~reached]] = False
    w = np.where(S, w, 0.0)
    w /= w.sum(axis=-1, keepdims=True)
    score = times(psi, w)
    rho = np.sum(w * score, axis=-1)
    farthest = np.where(alive, score, -np.inf).argmax(axis=-1)
    there = reached & (score[rows, farthest] - rho <= TOLERANCE * rho / 2)  # the Karush-Kuhn-Tucker conditions
    S[rows[reached & ~there], farthest[reached & ~there]] = True
    return S, w, there


def stationary(psi: FloatArray, S: Mask) -> FloatArray:
    """Return z, shape (n, m), zero outside S; a lone point needs no equation, and its z is one."""
    size = S.sum(axis=-1)
    index: Indices = np.argsort(~S, axis=-1, kind="stable")[:, : size.max()]  # the points of S come first
    rows, inside = np.arange(len(S))[:, None], np.arange(index.shape[1]) < size[:, None]
    both = inside[:, :, None] & inside[:, None, :] & (size > 1)[:, None, None]
    A = np.where(both, psi[rows[..., None], index[:, :, None], index[:, None, :]], np.eye(index.shape[1]))
    z = np.zeros(S.shape)
    z[rows, index] = np.linalg.solve(A, inside[..., None].astype(np.float64))[..., 0]
    return z
