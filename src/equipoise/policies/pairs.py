"""Shared by the policies over pairs: candidates worth pairing, and the uncertainty of each difference.

    symbol   meaning                                                      shape
    xh       leader: the candidate of largest posterior mean
    C        covariance of f at n of the candidates                       (..., n, n)
    psi      posterior variance of f(x_i) - f(x_j)                        (..., n, n)
    width    half-width of the confidence interval of f(x_i) - f(x_j)     (..., n, n)

x beats z with confidence if `mean(x) - mean(z) > width(x, z)`. As the width is a distance, this is transitive: a
candidate that the leader beats with confidence beats none that the leader does not beat.
"""

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from equipoise._typing import FloatArray
from equipoise.belief import Belief, Indices, namespace

LARGEST = 200
"""Most candidates of which all pairs are formed: time and memory grow with the square of their number."""


def largest(scores: FloatArray, size: int, rng: Generator) -> Indices:
    """Return the indices of the `size` largest scores; among exact ties, each with the same probability."""
    shuffled = rng.permutation(len(scores))
    order: Indices = shuffled[np.argsort(-scores[shuffled], kind="stable")[:size]]
    return order


def most_promising(belief: Belief, rng: Generator, size: int = LARGEST) -> Indices:
    """Return all candidates, or of more than `size` the leader and those of largest optimistic value."""
    if len(belief.mean) <= size:
        return np.arange(len(belief.mean))
    leader = belief.leader(rng)
    scores = belief.optimism(leader)
    scores[leader] = np.inf
    return largest(scores, size, rng)


def covariance_among(belief: Belief, keep: Indices) -> FloatArray:
    """Return C at the given distinct candidates; of few of them at a cost linear in the number of all."""
    if len(keep) == len(belief.mean):
        return belief.covariance()[np.ix_(keep, keep)]
    return np.array([belief.column(int(j))[keep] for j in keep])


def pairwise_psi(C: FloatArray) -> FloatArray:
    """Return psi of every pair, zero on the diagonal."""
    xp = namespace(C)
    variance = xp.linalg.diagonal(C)
    psi: FloatArray = variance[..., :, None] + variance[..., None, :] - 2.0 * C  # METHOD section 2, row 1
    return xp.maximum(psi, 0.0)  # type: ignore[no-any-return]


def plausible(mean: FloatArray, width: FloatArray) -> NDArray[np.bool_]:
    """Return which candidates no other beats with confidence, shape (..., n); the leader is always among them."""
    lead = mean[..., None, :] - mean[..., :, None]
    unbeaten: NDArray[np.bool_] = namespace(mean).all(lead <= width, axis=-1)  # METHOD section 7
    return unbeaten


def plausible_pairs(belief: Belief, rng: Generator, size: int = LARGEST) -> tuple[Indices, FloatArray]:
    """Return the candidates that no other beats with confidence and psi of their pairs, shapes (k,) and (k, k).

    Only candidates that the leader does not beat are considered, which loses nothing; if that is more than `size`
    candidates, only the leader and those of largest optimistic value.
    """
    leader = belief.leader(rng)
    scores = belief.optimism(leader)
    keep = np.flatnonzero(scores >= belief.mean[leader])
    if len(keep) > size:
        scores[leader] = np.inf
        keep = keep[largest(scores[keep], size, rng)]
    psi = pairwise_psi(covariance_among(belief, keep))
    alive = np.flatnonzero(plausible(belief.mean[keep], belief.width(psi)))
    return keep[alive], psi[np.ix_(alive, alive)]
