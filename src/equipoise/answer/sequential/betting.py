"""Limits of paired differences, by bets on their signs, that are valid whenever one looks.

**Typical difference.** A center is excluded while a gambler who bets on the signs about it has 2/alpha (`bets.py`): an
interval excludes 0 if and only if the bets on + or on - about 0 have won.

**Readings in steps.** Successes, grades and whole numbers have no typical difference: about 0.9 more successes are
never 0.9 in one pair. They are bounded, so their mean has an interval (`bounded.py`).

**Median.** The signs about the median are fair coins, whatever the law and the order; a flat mixture over all biases of
the coin (Robbins 1970) has the closed form `2^n B(k + 1, n - k + 1)`. It is the same martingale with equal ranks.
"""

import math
from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike

from equipoise import _validation as check
from equipoise._typing import FloatArray
from equipoise.answer.sequential.bets import final_wealth, stakes, wins
from equipoise.answer.sequential.bounded import bounded_mean
from equipoise.answer.sequential.sequence import Interval

HALVINGS = 16
"""The number of halvings of the range in which a limit of the typical difference lies: its outer end is returned."""

STRIDE = 1.5
"""Factor between the distances from the estimate in the search for a limit: the outermost valid one counts."""

TINY = math.ulp(0.0)
"""The least number above 0: a limit that excludes 0 and nothing else."""

MOST_STEPS = 4
"""Readings differ in steps if all differences are whole multiples, up to this, of the smallest: five grades do."""

ROUNDING = 1e-6
"""The tolerance for a multiple to be a whole number."""


def paired(differences: ArrayLike, alpha: float = 0.05, fixed: bool = True) -> Interval:
    """Return the difference of two settings: the mean if readings come in steps, as successes do; else the typical one.

    The interval excludes 0 only if the bets on the signs about 0 have won: two settings that do not differ are called
    different with a probability of at most alpha, over all looks, whatever the noise and the offset are.

    Example:
        >>> success = paired([1.0, 1.0, 0.0, 1.0, 1.0, 1.0, 1.0, 0.0, 1.0, 1.0])
        >>> success.value, round(success.low, 2), round(success.high, 2)
        (0.8, 0.04, 0.99)
        >>> paired([1.1, 0.8, 1.2, 0.9, 1.0, 1.1, 0.9, 55.0]).value
        1.05
    """
    d, limit = _door(differences, alpha)
    if d.any() and not in_steps(d):
        return typical(d, alpha, fixed)
    bound = float(np.abs(d).max(initial=0.0))
    if not bound or 2.0 ** len(d) < 2.0 * limit:  # no step is known, or these signs exclude nothing whatever is bet
        return Interval(float(d.mean()) if len(d) else math.nan)
    found = bounded_mean((d / bound + 1.0) / 2.0, alpha)
    low, high = bound * (2.0 * found.low - 1.0), bound * (2.0 * found.high - 1.0)
    up, down = _sides(d, 2.0 * limit, fixed)
    return Interval(
        float(d.mean()),
        low if low <= 0 or up else 0.0,
        high if high >= 0 or down else 0.0,
    )


def typical(differences: ArrayLike, alpha: float = 0.05, fixed: bool = True) -> Interval:
    """Return the center about which differences are symmetric: the pseudo-median of Hodges and Lehmann.

    Args:
        differences: One per round, shape (n,).
        alpha: How often the interval may miss, over all looks.
        fixed: Whether alpha was fixed beforehand. If it depends on the data, as in a family, no bet may aim at it.

    Example:
        >>> typical([1.1, 0.8, 1.2, 0.9, 1.0, 1.1, 0.9, 55.0]).value
        1.05
        >>> typical([1.1, 0.8, 1.2, 0.9, 1.0, 1.1, 0.9, 55.0]).low > 0.5
        True
    """
    d, limit = _door(differences, alpha)
    if not len(d):
        return Interval(math.nan)
    value = _center(d)
    step = float(np.median(np.abs(d - value)) + 1e-6 * np.abs(d).max() + 1e-300) / math.sqrt(len(d))
    low, high = (_edge(d, 2.0 * limit, value, away, fixed) for away in (-step, step))
    up, down = _sides(d, 2.0 * limit, fixed)
    low = max(low, TINY) if up and value > 0 else min(low, 0.0) if value > 0 and not up else low
    high = min(high, -TINY) if down and value < 0 else max(high, 0.0) if value < 0 and not down else high
    return Interval(value, low, high)


def median(differences: ArrayLike, alpha: float = 0.05) -> Interval:
    """Return the median difference: exact for differences that are alike, of any law.

    Args:
        differences: One per round, shape (n,).
        alpha: How often the interval may miss, over all looks.

    Example:
        >>> median([1.1, 0.8, 1.2, 0.9, 1.0, 1.1, 0.9, 55.0])
        Interval(value=1.05, low=0.8, high=55.0)
    """
    from scipy.special import betaln  # slow to import

    d, limit = _door(differences, alpha)
    n = len(d)
    if not n:
        return Interval(math.nan)
    k = np.arange(n + 1)
    M = np.exp(betaln(k + 1.0, n - k + 1.0) + n * math.log(2.0))  # Robbins 1970: coins of unknown p, mixed uniformly
    inside = np.flatnonzero(limit > M)
    ordered, value = np.sort(d), float(np.median(d))
    if inside[0] == 0:
        return Interval(value)
    return Interval(value, float(ordered[inside[0] - 1]), float(ordered[inside[-1]]))


def _door(differences: ArrayLike, alpha: float) -> tuple[FloatArray, float]:
    """Return the differences as an array, and 1/alpha."""
    d = check.array("differences", differences, (None,)) if np.size(differences) else np.empty(0)
    return d, 1.0 / check.probability("alpha", alpha)


def in_steps(d: FloatArray) -> bool:
    """Return whether all differences, not all of them zero, are a few steps of one size."""
    sizes = np.abs(d[d != 0])
    multiples = sizes / sizes.min()
    return bool(multiples.max() <= MOST_STEPS + ROUNDING and np.abs(multiples - multiples.round()).max() <= ROUNDING)


def _won(x: FloatArray, level: float, fixed: bool) -> bool:
    """Return whether the bets have won."""
    return bool(wins(x, level)[-1]) if fixed else final_wealth(x) >= level


def _sides(d: FloatArray, level: float, fixed: bool) -> tuple[bool, bool]:
    """Return whether the bets on + and on - have won, about 0."""
    x = stakes(d)
    return _won(x, level, fixed), _won(-x, level, fixed)


def _center(d: FloatArray) -> float:
    """Return the Hodges-Lehmann estimate: the median of the means of all pairs, including each number with itself."""
    if len(d) <= 300:
        i, j = np.triu_indices(len(d))
        return float(np.median((d[i] + d[j]) / 2))
    low, high = _crossing(lambda theta: _rank_sum(d - theta) > 0, float(d.min()), float(d.max()))
    return (low + high) / 2


def _rank_sum(d: FloatArray) -> float:
    """Return the sum of the ranks of the sizes with their signs."""
    return float(np.sign(d[np.argsort(np.abs(d))]) @ np.arange(1, len(d) + 1))


def _edge(d: FloatArray, level: float, middle: float, step: float, fixed: bool) -> float:
    """Return the outer end, in the direction of `step`, of the centers that the bets have not excluded."""
    side = math.copysign(1.0, step)

    def holds(theta: float) -> bool:
        return not _won(-side * stakes(d, theta), level, fixed)

    outermost = math.nextafter(float(d.max() if side > 0 else d.min()), side * math.inf)
    if holds(outermost):  # all signs alike are not enough
        return side * math.inf
    if d.min() == d.max():
        return middle
    far = max(abs(outermost - middle), abs(step))
    distances = [0.0, *(abs(step) * STRIDE**i for i in range(math.ceil(math.log(far / abs(step), STRIDE)))), far]
    last = max((i for i, far in enumerate(distances) if holds(middle + side * far)), default=None)
    if last is None or last + 1 == len(distances):  # seldom, as among ties: the estimate belongs to its interval
        return middle if last is None else outermost
    return _crossing(holds, middle + side * distances[last], middle + side * distances[last + 1])[1]


def _crossing(rule: Callable[[float], bool], low: float, high: float) -> tuple[float, float]:
    """Return a narrow range from a number at which a rule holds to one at which it fails."""
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        low, high = (middle, high) if rule(middle) else (low, middle)
    return low, high
