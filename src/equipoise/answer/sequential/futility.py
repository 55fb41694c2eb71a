"""Futility: how likely an effect is worth going on for, from a prior over effects and what was read.

    symbol   meaning                                                            shape
    a, p     effects that are thought possible, and how likely each is          (k,), (..., k)
    d, s     estimate of an effect, and its standard error                      (...)
    P        how likely each is after the estimate                              (..., k)

The prior may be learned over many effects (`prior`). A wrong one wastes measurements, or gives up what was good; it
claims nothing: claims rest on bets (`betting.py`).
"""

import numpy as np
from numpy.typing import ArrayLike

from equipoise import _validation as check
from equipoise._typing import FloatArray

ROUNDS = 20
"""Of expectation and maximization: more hardly change a mixture of a dozen effects."""


def posterior(
    effects: ArrayLike, weights: ArrayLike, estimate: ArrayLike, deviation: ArrayLike, spread: float = 0.0
) -> FloatArray:
    """Return how likely each effect is after an estimate of it, shape (..., k).

    Args:
        effects: What is thought possible, shape (k,).
        weights: How likely each is beforehand, shape (k,) or (..., k).
        estimate: What was found, shape (...); normal about the effect.
        deviation: Its standard error, shape (...); infinite where nothing was found.
        spread: Deviation of an effect about each of `effects`, as a part of it: 0 if these are the only ones.

    Example:
        >>> posterior([-1.0, 0.0, 1.0], [0.3, 0.5, 0.2], 1.0, 0.5).round(2)
        array([0.  , 0.25, 0.75])
    """
    a, d, s = np.asarray(effects), np.asarray(estimate)[..., None], np.asarray(deviation)[..., None]
    s = np.clip(np.hypot(s, spread * a), 1e-100, 1e100)
    logs = np.log(np.maximum(weights, 1e-300)) - 0.5 * ((d - a) / s) ** 2 - np.log(s)
    P = np.exp(logs - logs.max(axis=-1, keepdims=True))
    normed: FloatArray = P / P.sum(axis=-1, keepdims=True)
    return normed


def chance(
    effects: ArrayLike,
    weights: ArrayLike,
    estimate: ArrayLike,
    deviation: ArrayLike,
    margin: float = 0.0,
    spread: float = 0.0,
) -> FloatArray:
    """Return how likely an effect is larger than a margin, shape (...): below 0.1, say, it is not worth going on.

    Example:
        >>> chance([-1.0, 0.0, 1.0], [0.3, 0.5, 0.2], [-0.5, 0.5, 1.5], 0.5).round(2)
        array([0.  , 0.28, 0.96])
    """
    larger: FloatArray = posterior(effects, weights, estimate, deviation, spread) @ (np.asarray(effects) > margin)
    return larger


def shrunk(
    effects: ArrayLike, weights: ArrayLike, estimate: ArrayLike, deviation: ArrayLike, spread: float
) -> tuple[FloatArray, FloatArray]:
    """Return mean and variance of an effect after an estimate of it: no winner's curse, if effects are like that.

    Args:
        effects: What is thought possible, shape (k,).
        weights: How likely each is beforehand, shape (k,).
        estimate: What was found, shape (...).
        deviation: Its standard error, shape (...).
        spread: Deviation of an effect about each of `effects`, as a part of it.

    Example:
        >>> [float(x.round(2)) for x in shrunk([0.0, 1.0], [0.5, 0.5], 1.2, 0.5, 0.3)]
        [0.98, 0.13]
    """
    P, a = posterior(effects, weights, estimate, deviation, spread), np.asarray(effects)
    d, s2, width = np.asarray(estimate)[..., None], np.asarray(deviation)[..., None] ** 2, (spread * a) ** 2
    part = width / (width + s2)  # of an estimate, rather than of the effect that it is about
    centers = d * part + a * (1.0 - part)
    mean: FloatArray = (P * centers).sum(axis=-1)
    variance: FloatArray = (P * (s2 * part + centers**2)).sum(axis=-1) - mean**2
    return mean, variance


def prior(
    effects: ArrayLike,
    estimates: ArrayLike,
    deviations: ArrayLike,
    guess: ArrayLike,
    worth: float = 8.0,
    spread: float = 0.0,
) -> FloatArray:
    """Return how likely each effect is beforehand, learned from estimates of earlier ones, shape (k,).

    Args:
        effects: What is thought possible, shape (k,).
        estimates: What was found of each earlier effect, shape (n,).
        deviations: Their standard errors, shape (n,).
        guess: How likely each is taken to be before anything was found, shape (k,).
        worth: How many effects the guess is worth.
        spread: As for `posterior`.

    Example:
        >>> prior([-1.0, 0.0, 1.0], [-1.1, -0.9] * 20, [0.3] * 40, [1 / 3, 1 / 3, 1 / 3]).round(2)
        array([0.89, 0.06, 0.06])
    """
    base = np.asarray(guess, dtype=np.float64) / check.positive("the sum of `guess`", float(np.sum(guess)))
    weights = base
    for _ in range(ROUNDS if np.size(estimates) else 0):
        P = posterior(effects, weights, estimates, deviations, spread)
        weights = (worth * base + P.sum(axis=0)) / (worth + len(P))  # EM of a mixture with a Dirichlet prior
    return weights
