"""Statistics of repeated runs: levels with their errors, growth, paired differences.

symbol    meaning                                                         shape
R         cumulative regret of each repetition                            (r, k)
e         growth exponent log2(R(n) / R(n/2)): 1 is linear, 1/2 a root    (r,)
"""

import math
from dataclasses import dataclass

import numpy as np

from equipoise._typing import FloatArray
from equipoise.lab.experiments.results import Curves


@dataclass(frozen=True)
class Level:
    """A number measured in several repetitions.

    Attributes:
        mean: The mean.
        error: Two standard errors of the mean; not a number for a single repetition.
        median: The median.

    Example:
        >>> print(level(np.array([1.0, 2.0, 6.0])))
        3.0 ± 3.1
    """

    mean: float
    error: float
    median: float

    def __str__(self) -> str:
        return f"{short(self.mean)} ± {short(self.error)}"


def level(values: FloatArray) -> Level:
    """Return mean, two standard errors and median of values, shape (r,)."""
    return Level(float(np.mean(values)), float(two_standard_errors(values)), float(np.median(values)))


def two_standard_errors(values: FloatArray) -> FloatArray:
    """Return two standard errors of the mean over the first axis, shape (r, ...) to (...)."""
    r = len(values)
    if r < 2:
        return np.full(values.shape[1:], np.nan)
    result: FloatArray = 2 * values.std(axis=0, ddof=1) / math.sqrt(r)
    return result


def growth(curves: Curves) -> FloatArray:
    """Return e for each repetition, shape (r,); 0 if the second half has no regret.

    Unlike other measures of "sublinear", this one needs no fit and no constant: a linear curve doubles in the second
    half of the run for any slope, and a root grows by sqrt 2.
    """
    R = curves.regret
    half = int(np.searchsorted(curves.at, curves.at[-1] / 2))
    start, end = np.maximum(R[:, half], np.finfo(float).tiny), np.maximum(R[:, -1], np.finfo(float).tiny)
    scale = math.log(curves.at[-1] / curves.at[half]) or 1.0  # log 2 up to rounding of very short curves
    exponents: FloatArray = (np.log(end) - np.log(start)) / scale
    return exponents


def median_interval(values: FloatArray) -> tuple[float, float]:
    """Return a 95% confidence interval of the median, by order statistics; with few values, their whole range.

    Example:
        >>> median_interval(np.arange(50.0))
        (17.0, 32.0)
    """
    r = len(values)
    total, k = 0.0, 0
    while total + math.comb(r, k) / 2**r <= 0.025:  # P(fewer than k values lie below the median)
        total += math.comb(r, k) / 2**r
        k += 1
    low = max(k - 1, 0)
    ordered = np.sort(values)
    return float(ordered[low]), float(ordered[r - 1 - low])


def lead(first: Curves, second: Curves) -> Level:
    """Return by how much the regret of the first learner is smaller, paired by repetition: both met the same world."""
    r = min(len(first.results), len(second.results))
    return level(second.final[:r] - first.final[:r])


def short(value: float) -> str:
    """Return a number with its relevant digits.

    Example:
        >>> short(7498.3), short(34.26), short(0.0123), short(float("nan"))
        ('7498', '34.3', '0.0123', '-')
    """
    if math.isnan(value):
        return "-"
    size = abs(value)
    if size >= 99.95:
        return f"{value:.0f}"
    return f"{value:.1f}" if size >= 0.9995 else f"{value:.3g}"
