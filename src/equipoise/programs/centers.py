r"""What is claimed of paired differences, each with an interval that holds at every time of looking.

    symbol   meaning                                                            shape
    d        paired differences of two arms, a round each                       (n,)
    k        how many of the differences lie above a center that is tried       ()
    M        wealth of a gambler who began with 1 and bets on that number       (n + 1,)

*Typical* (the default) is the center of symmetry, the Hodges-Lehmann pseudo-median. The order within a round is random,
so two arms that do not differ give differences whose signs are coins, whatever the host does and whatever the tails
are: `answer/betting.py` bets on them, here and where a study verifies its best setting. Of readings that come in steps,
as passes do, it is the mean.

*Median* is exact for the median of any law, at the price of about half as many rounds again. *Mean* is for users who
pay for the sum of all times; it is exact for normal noise only, and heavy tails make it wide.
"""

import math
from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike

from equipoise import _validation as check
from equipoise.answer import Interval, anytime, paired, typical, wealth

__all__ = ["CENTERS", "Center", "median", "typical", "typical_reading", "wealth"]

Center = Callable[[ArrayLike, float], Interval]
"""From differences and alpha to what is claimed of them."""


def typical_reading(differences: ArrayLike, alpha: float = 0.05) -> Interval:
    """Return the typical difference of readings that may come in steps, as passes do: of these, the mean.

    Differences that are all the same are taken as exact, as those of programs that count.

    Example:
        >>> typical_reading([2.0] * 9)
        Interval(value=2.0, low=2.0, high=2.0)
        >>> round(typical_reading([2.0] * 8 + [0.0]).low, 2)
        0.08
    """
    return (
        typical(differences, alpha) if np.size(differences) and not np.ptp(differences) else paired(differences, alpha)
    )


def median(differences: ArrayLike, alpha: float = 0.05) -> Interval:
    """Return the median difference: exact for differences that are alike, of any law.

    Args:
        differences: One a round, shape (n,).
        alpha: How often the interval may miss, over all times of looking.

    Example:
        >>> median([1.1, 0.8, 1.2, 0.9, 1.0, 1.1, 0.9, 55.0])
        Interval(value=1.05, low=0.8, high=55.0)
    """
    from scipy.special import betaln  # slow to import

    d = check.array("differences", differences, (None,)) if np.size(differences) else np.empty(0)
    n, limit = len(d), 1.0 / check.probability("alpha", alpha)
    if not n:
        return Interval(math.nan)
    k = np.arange(n + 1)
    M = np.exp(betaln(k + 1.0, n - k + 1.0) + n * math.log(2.0))  # Robbins 1970: coins of unknown p, mixed uniformly
    inside = np.flatnonzero(limit > M)
    ordered, value = np.sort(d), float(np.median(d))
    if inside[0] == 0:
        return Interval(value)
    return Interval(value, float(ordered[inside[0] - 1]), float(ordered[inside[-1]]))


CENTERS: dict[str, Center] = {"typical": typical, "median": median, "mean": anytime}
"""What can be claimed, by name."""
