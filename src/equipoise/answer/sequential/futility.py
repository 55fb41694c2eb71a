"""The value of continuing: the probability of a large effect, and the likely result of the test on all pairs.

    symbol   meaning                                                            shape
    a, p     possible effects, and the probability of each                      (k,), (..., k)
    d, s     estimate of an effect, and its standard error                      (...)
    P        probability of each after the estimate                             (..., k)
    n, l     pairs so far that do not tie, and wins less losses among them      (), ()
    D        pairs that do not tie in the end: about this many                    ()
    c        lead at which McNemar's exact test of D pairs is significant       ()

The prior may be learned from many effects (`prior`). A wrong prior wastes measurements, or abandons a good change, but
makes no false claim: claims rest on bets (`betting.py`).

**Signs.** If no side is better every sign is a fair coin, so the chance that the final test will be significant, given
the data, is a martingale that begins at the size of that test. It ever reaches 0.9 with a probability of at most size /
0.9 (Ville; Lan, Simon and Halperin 1982): one may stop there.
"""

import math

import numpy as np
from numpy.typing import ArrayLike

from equipoise import _validation as check
from equipoise._typing import FloatArray

TRUST = 20.0
"""Pairs on each side that are assumed beforehand: versions of one model seldom differ much.

Chosen from 5, 20 and 40, with HOPELESS in `items` from 0.06 to 0.12, on seeds that are not reported."""

SPREAD = 1.64
"""The range of the final number of pairs, in deviations: a decision must hold for 90 % of it."""


ROUNDS = 20
"""Rounds of expectation and maximization: more hardly change a mixture of a dozen effects."""


def posterior(
    effects: ArrayLike, weights: ArrayLike, estimate: ArrayLike, deviation: ArrayLike, spread: float = 0.0
) -> FloatArray:
    """Return the probability of each effect after an estimate of it, shape (..., k).

    Args:
        effects: The possible effects, shape (k,).
        weights: Their prior probabilities, shape (k,) or (..., k).
        estimate: The estimate, shape (...); normal about the effect.
        deviation: Its standard error, shape (...); infinite without an estimate.
        spread: Deviation of an effect about each of `effects`, relative to it; 0 if these are the only ones.

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
    """Return the probability that an effect is larger than a margin, shape (...): below 0.1, say, stop.

    Example:
        >>> chance([-1.0, 0.0, 1.0], [0.3, 0.5, 0.2], [-0.5, 0.5, 1.5], 0.5).round(2)
        array([0.  , 0.28, 0.96])
    """
    larger: FloatArray = posterior(effects, weights, estimate, deviation, spread) @ (np.asarray(effects) > margin)
    return larger


def shrunk(
    effects: ArrayLike, weights: ArrayLike, estimate: ArrayLike, deviation: ArrayLike, spread: float
) -> tuple[FloatArray, FloatArray]:
    """Return mean and variance of an effect after an estimate of it: without winner's curse if the prior is right.

    Args:
        effects: The possible effects, shape (k,).
        weights: Their prior probabilities, shape (k,).
        estimate: The estimate, shape (...).
        deviation: Its standard error, shape (...).
        spread: Deviation of an effect about each of `effects`, relative to it.

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
    """Return the prior probabilities of effects, learned from estimates of earlier ones, shape (k,).

    Args:
        effects: The possible effects, shape (k,).
        estimates: The estimate of each earlier effect, shape (n,).
        deviations: Their standard errors, shape (n,).
        guess: The probabilities before any estimate, shape (k,).
        worth: The weight of the guess, in effects.
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


def needed_lead(pairs: int, alpha: float) -> int:
    """Return the least lead at which the exact test of signs is significant; more than `pairs` if there is none.

    Example:
        >>> needed_lead(6, 0.05), needed_lead(100, 0.05), needed_lead(5, 0.05)
        (6, 22, 7)
    """
    lead = pairs
    while lead > 0 and 2.0 * tail(pairs, lead) <= alpha:
        lead -= 2
    return lead + 2


def tail(pairs: int, lead: int) -> float:
    """Return the probability that fair coins lead by this much or more.

    Example:
        >>> tail(4, 4), tail(4, -4)
        (0.0625, 1.0)
    """
    wins = max((pairs + lead + 1) // 2, 0)
    return 0.0 if wins > pairs else float(_coins(pairs, 0.0, 0.0)[wins:].sum())


def foreseen(lead: int, pairs: int, final: int, alpha: float) -> float:
    """Return the probability that fair coins make the final test significant for the leading side.

    Args:
        lead: Wins less losses so far.
        pairs: The number of pairs so far.
        final: The final number of pairs.
        alpha: The level of the final test, two-sided.

    Example:
        >>> round(foreseen(0, 0, 100, 0.05), 3), round(foreseen(25, 49, 100, 0.05), 2)
        (0.018, 0.71)
    """
    return tail(final - pairs, needed_lead(final, alpha) - abs(lead))


def expected(lead: int, pairs: int, final: int, alpha: float) -> float:
    """Return the probability that the final test will be significant for either side, at the present rate of wins.

    Example:
        >>> round(expected(0, 50, 100, 0.05), 2), round(expected(25, 49, 100, 0.05), 2)
        (0.02, 0.98)
    """
    wins = (pairs + lead) / 2
    left, c = final - pairs, needed_lead(final, alpha)
    chances = _coins(left, wins + TRUST, pairs - wins + TRUST)
    leads = lead + 2 * np.arange(left + 1) - left
    return float(chances[np.abs(leads) >= c].sum())


def finals(pairs: int, seen: int, items: int) -> list[int]:
    """Return the final number of pairs that do not tie: few, about, many.

    Example:
        >>> finals(20, 100, 400), finals(20, 100, 100)
        ([58, 81, 104], [20, 20, 20])
    """
    left, share = items - seen, (pairs + 0.5) / (seen + 1.0)
    deviation = SPREAD * math.sqrt(left * share * (1.0 - share) * (1.0 + left / (seen + 1.0)))
    return [pairs + min(max(round(left * share + d), 0), left) for d in (-deviation, 0.0, deviation)]


def _coins(n: int, a: float, b: float) -> FloatArray:
    """Return the probabilities of 0 to n wins: of fair coins, or of coins whose bias has a beta law."""
    from scipy.special import betaln, gammaln  # slow to import

    k = np.arange(n + 1)
    log = gammaln(n + 1.0) - gammaln(k + 1.0) - gammaln(n - k + 1.0)
    log += betaln(k + a, n - k + b) - betaln(a, b) if a else -n * math.log(2.0)
    found: FloatArray = np.exp(log)
    return found
