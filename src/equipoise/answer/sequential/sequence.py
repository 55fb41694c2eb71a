"""Intervals that are valid whenever one looks, and the exact test of randomized pairs: no model of f or of the drift.

    symbol   meaning                                                            shape
    d        differences of fresh duels, each in random order                   (n,)
    m, s2    their mean, and mean of squares less m^2                           ()
    alpha    how often the interval may miss, over all looks                    ()
    e        coins tossed again, +1 or -1                                       (draws, n)

A difference of two readings in random order has the difference of the two settings as its expectation, whatever the
offset does. So their mean needs no model. A usual interval is valid for one look; if one looks after each duel and
stops when it looks good, it is wrong in 40 % of cases instead of 5 %. This one stays valid.
"""

import math
from dataclasses import dataclass

import numpy as np
from numpy.random import Generator
from numpy.typing import ArrayLike

from equipoise import _validation as check

ROUNDING = 1e-12
"""Sums that differ by less, relative to their size, are equal."""

EXACT_COINS = 12
"""The most coins of which all outcomes are tried."""

LARGEST_SHARE = 10.0
"""A difference counts for at most this many times the median size: no single reading decides. Its size does not depend
on the coins, so the test stays exact."""


@dataclass(frozen=True)
class Interval:
    """An estimate with its interval.

    Attributes:
        value: The estimate.
        low: The lower limit.
        high: The upper limit.

    Example:
        >>> Interval(0.3, 0.1, 0.5).width
        0.4
    """

    value: float
    low: float = -math.inf
    high: float = math.inf

    @property
    def width(self) -> float:
        """The distance of the limits."""
        return self.high - self.low

    @property
    def known(self) -> list[float | None]:
        """Value and limits for scripts; `None` if unknown, as JSON has no infinity."""
        return [x if math.isfinite(x) else None for x in (self.value, self.low, self.high)]

    def __contains__(self, number: float) -> bool:
        """Return whether a number lies between the limits."""
        return self.low <= number <= self.high


def reach(n: int, deviation: float, alpha: float) -> float:
    """Return the half-width of the anytime-valid interval after n differences; infinite while they are too few.

    Args:
        n: The number of differences.
        deviation: s, the root of the mean of their squares less the square of their mean.
        alpha: How often the interval may miss, over all looks.
    """
    if n < 2:
        return math.inf
    q = 1.0 - (alpha**2 / (n + 1)) ** (1 / n)  # Wang and Ramdas, arXiv 2310.03722: a t statistic with a flat prior
    room = n - (n + 1) * q
    return math.inf if room <= 0 else deviation * math.sqrt((n + 1) * q / room)


def anytime(differences: ArrayLike, alpha: float = 0.05) -> Interval:
    """Return the mean of differences with an interval that is valid after any number of them.

    Args:
        differences: Of fresh duels, in the order in which they came, shape (n,).
        alpha: How often it may miss, over all looks.

    Example:
        >>> anytime([1.1, 0.8, 1.2, 0.9, 1.0, 1.1, 0.9, 1.2]).low > 0.5
        True
        >>> anytime([1.1, 0.8]).high
        inf
    """
    d = check.array("differences", differences, (None,)) if np.size(differences) else np.empty(0)
    check.probability("alpha", alpha)
    if not len(d):
        return Interval(math.nan)
    half = reach(len(d), float(d.std()), alpha)
    mean = float(d.mean())
    return Interval(mean, mean - half, mean + half)


def coin_test(differences: ArrayLike, rng: Generator, draws: int = 9999) -> float:
    """Return the probability that coins alone give a sum as large: the p-value of "these settings do not differ".

    If they do not differ, no reading depends on the coins that chose the order, so each difference might as well have
    the other sign. No model of noise or drift is needed.

    Args:
        differences: The setting expected to be better, before it was measured, less the other, shape (n,).
        rng: Tosses the coins again.
        draws: How often, if the coins are too many to try all outcomes.

    Example:
        >>> import numpy as np
        >>> coin_test([0.5, 1.2, 0.8, 0.1, 0.9, 0.7], np.random.default_rng(0))
        0.015625
    """
    d = check.array("differences", differences, (None,)) if np.size(differences) else np.empty(0)
    d = d[d != 0]
    if not len(d):
        return 1.0
    size = np.minimum(np.abs(d), LARGEST_SHARE * np.median(np.abs(d)))
    seen = float(np.sign(d) @ size) * (1 - ROUNDING)
    if len(d) <= EXACT_COINS:
        falls = 1.0 - 2.0 * (np.arange(2 ** len(d))[:, None] >> np.arange(len(d)) & 1)
        return float((falls @ size >= seen).mean())
    sums = (1.0 - 2.0 * rng.integers(2, size=(draws, len(d)))) @ size
    return float((1 + (sums >= seen).sum()) / (1 + draws))
