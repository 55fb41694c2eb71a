"""Several objectives with random weights: each pair aims at another compromise.

    symbol   meaning                                                        shape
    F        by how much K objectives at m candidates exceed the start,     (..., K, m)
             drawn or expected
    r        reference: values below it are of no interest                 (K,)
    s        range of each objective over the front                         (K,)
    w        weights, drawn on the simplex for each pair                    (K,)

The best candidate of `g_w = min_k w_k (f_k(x) - r_k) / s_k` lies on the front, and every point of the front that
is better than the reference is the best one for some weights. All of it is differences of one objective, in which
the offset cancels (METHOD section 18).
"""

from collections.abc import Sequence

import numpy as np
from numpy.random import Generator

from equipoise import _linalg
from equipoise._typing import FloatArray
from equipoise.belief import Belief, fair_argmax

LEAST_VARIANCE = 1e-7
"""Added to each variance, relative to the largest: draws of points that are nearly one must not depend on
rounding."""

TRIES = 4
"""Most draws for one pair: the first point comes from the first, the second from the next that differs."""


def weighed(F: FloatArray, r: FloatArray, s: FloatArray, w: FloatArray) -> FloatArray:
    """Return g_w of each candidate, shape (..., m).

    Example:
        >>> weighed(np.array([[1.0, 3.0], [4.0, 2.0]]), np.zeros(2), np.ones(2), np.array([0.5, 0.5]))
        array([0.5, 1. ])
    """
    g: FloatArray = ((w / s)[:, None] * (F - r[:, None])).min(axis=-2)  # METHOD section 18
    return g


def simplex(k: int, rng: Generator) -> FloatArray:
    """Return weights drawn evenly from the simplex, shape (k,)."""
    return rng.dirichlet(np.ones(k))


def drawn(belief: Belief, draws: int, rng: Generator) -> FloatArray:
    """Return functions drawn from a belief at its points, shape (draws, m)."""
    C = belief.covariance()
    C.flat[:: len(C) + 1] += LEAST_VARIANCE * float(C.diagonal().max())
    L = _linalg.safe_cholesky(C)  # without pivots, whose order rounding would decide, and with it the whole draw
    values: FloatArray = belief.mean + rng.standard_normal((draws, len(C))) @ L.T
    return values


def two_compromises(
    beliefs: Sequence[Belief],
    start: int,
    r: FloatArray,
    s: FloatArray,
    w: FloatArray,
    holds: FloatArray | None,
    rng: Generator,
) -> tuple[int, int]:
    """Return the candidates that are best by two joint draws of all objectives, under the same weights w, shape (K,).

    The level of f itself is not known, so others are compared with the candidate `start`; r is the reference and s the
    ranges, shape (K,). Each draw keeps a candidate with the probability `holds`, shape (m,), that it holds all limits.
    """
    F = np.stack([drawn(belief, TRIES, rng) for belief in beliefs], axis=1)
    g = weighed(F - F[..., [start]], r, s, w)
    if holds is not None:
        kept = rng.random((len(g), 1)) < holds
        kept |= holds == holds.max()
        g = np.where(kept, g, -np.inf)
    first = fair_argmax(g[0], rng)
    for draw in g[1:]:
        second = fair_argmax(draw, rng)
        if second != first:
            return first, second
    g[0, first] = -np.inf
    return first, fair_argmax(g[0], rng) if len(g[0]) > 1 else first
