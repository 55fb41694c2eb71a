"""SemiTS for many learners at once: the weights of all points, and the update after a reading.

    symbol   meaning                                                            shape
    pi       probability that each point is the best                            (L, m)
    xbar     sum_i pi_i phi(x_i)                                                (L, d)
    u        phi(x_a) - xbar for the point a that was measured                  (L, d)
    G        u u' + sum_i pi_i (phi(x_i) - xbar)(phi(x_i) - xbar)'              (L, d, d)
    C        covariance of theta; of f at the points, phi(x_i) = e_i            (L, d, d)

KP19: `B += G` and `q += 2 u y`. As `C = lambda B^-1`, C becomes `(I + C G / lambda)^-1 C`, and the mean of theta moves
by `C (2 y u - G theta) / lambda`, with the new C.
"""

from equipoise.belief import Array, namespace, pick
from equipoise.lab.fleet.array_math import outer, placed, times
from equipoise.lab.fleet.beliefs import Beliefs
from equipoise.lab.fleet.covariances import Directions, FeatureCovariances, PointCovariances
from equipoise.lab.fleet.throwing import Throws
from equipoise.policies import SemiTS, growing_scale


def winning_weights(policy: SemiTS, beliefs: Beliefs, throws: Throws) -> Array:
    """Return how often each point is the best of a draw, shape (L, m)."""
    xp = namespace(beliefs.mean)
    t = xp.astype(beliefs.comparisons, beliefs.mean.dtype) + 1.0
    v = xp.full_like(t, policy.scale) if policy.scale else growing_scale(t, policy.delta)
    counts = throws.best_counts(beliefs, policy.draws, v / beliefs.regularizer**0.5)
    return counts / xp.sum(counts, axis=-1, keepdims=True)  # equal values in single precision count twice


def learned_by_semits(beliefs: Beliefs, u: Directions, reading: Array) -> Beliefs:
    """Return the beliefs after a reading centered by a mixture, as in KP19."""
    old, pi, mean, regularizer = _in_features(beliefs), u.mixture, beliefs.mean, beliefs.regularizer
    xp, X, direction = namespace(mean), old.X, old.direction(u)
    residual = mean - xp.sum(pi * mean, axis=-1, keepdims=True)
    G = outer(direction, direction) + _spread(old, pi)
    pulled = (2.0 * reading - pick(residual, u.first))[:, None] * direction - old.center(pi * residual)
    M = xp.eye(G.shape[-1], dtype=G.dtype, **placed(G)) + old.C @ G / regularizer
    C = xp.linalg.solve(M, old.C)
    new = FeatureCovariances(X, 0.5 * (C + xp.matrix_transpose(C)))
    mean = mean + new.spread(times(new.C, pulled)) / regularizer  # KP19 Algorithm 1
    variance = xp.maximum(xp.sum((X @ new.C) * X, axis=-1), 0.0)
    dense = isinstance(beliefs.covariances, PointCovariances)
    kept = PointCovariances(new.C, new.C[:, :0, :]) if dense else new
    return beliefs.updated(mean, variance, kept, xp.linalg.slogdet(M)[1])


def _spread(covariances: FeatureCovariances, pi: Array) -> Array:
    """Return sum_i pi_i (phi(x_i) - xbar)(phi(x_i) - xbar)', shape (L, d, d)."""
    X, xbar = covariances.X, covariances.center(pi)
    return namespace(X).matrix_transpose(X) @ (pi[..., None] * X) - outer(xbar, xbar)


def _in_features(beliefs: Beliefs) -> FeatureCovariances:
    """Return the covariances as those of a parameter, or those of f at the points if there are no features."""
    covariances, mean = beliefs.covariances, beliefs.mean
    if isinstance(covariances, FeatureCovariances):
        return covariances
    eye = namespace(mean).eye(mean.shape[1], dtype=mean.dtype, **placed(mean))
    return FeatureCovariances(eye, covariances.full())
