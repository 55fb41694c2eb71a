"""The mean of bounded numbers: bets against every possible mean, with limits that are valid whenever one looks.

    symbol   meaning                                                                   shape
    x, m     a bounded number, scaled to [0, 1], and its mean                          (n,), ()
    q        a share to bet on                                                         (Q,)
    K(m)     wealth of a gambler who bets against m                                    ()

The factor `x q/m + (1 - x)(1 - q)/(1 - m)` has expectation 1 if the mean is m (Waudby-Smith and Ramdas 2024), and K is
log-convex in m.
"""

import math

import numpy as np
from numpy.typing import ArrayLike

from equipoise import _validation as check
from equipoise._typing import FloatArray
from equipoise.answer.sequential.sequence import Interval

SHARES = (np.arange(256) + 0.5) / 256
"""The shares to bet on, equally. The interval is exact for any number of them; more hardly make it narrower."""

MEAN_HALVINGS = 30
"""The number of halvings of the range in which a limit of a bounded mean lies."""


def bounded_mean(numbers: ArrayLike, alpha: float = 0.05) -> Interval:
    """Return the mean of numbers between 0 and 1, with an interval that assumes nothing else.

    Example:
        >>> found = bounded_mean([1, 1, 1, 0.5, 1, 1, 0, 1, 1, 1])
        >>> found.value, round(found.low, 2), round(found.high, 2)
        (0.85, 0.43, 0.99)
    """
    x = check.array("numbers", numbers, (None,)) if np.size(numbers) else np.empty(0)
    limit = 1.0 / check.probability("alpha", alpha)
    if not len(x):
        return Interval(math.nan, 0.0, 1.0)
    values, counts = np.unique(x, return_counts=True)
    mean = float(x.mean())

    def edge(far: float) -> float:
        """Return a limit of the interval: means between it and `far` are too unlikely."""
        near = mean
        for _ in range(MEAN_HALVINGS if near != far else 0):
            m = 0.5 * (near + far)
            near, far = (m, far) if log_wealth(m, values, counts) < math.log(limit) else (near, m)
        return far

    return Interval(mean, edge(0.0), edge(1.0))


def log_wealth(m: float, values: FloatArray, counts: ArrayLike) -> float:
    """Return log K(m) of numbers between 0 and 1, given the count of each."""
    bets = np.multiply.outer(values, SHARES / m) + np.multiply.outer(1.0 - values, (1.0 - SHARES) / (1.0 - m))
    logs = np.asarray(counts, dtype=np.float64) @ np.log(bets)
    top = float(logs.max())
    return top + math.log(float(np.exp(logs - top).mean()))
