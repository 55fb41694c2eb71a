"""Forecasts of the number of rounds until a decision: a range that holds in about 80 % of comparisons.

    symbol   meaning                                                            shape
    m, n0    the present estimate, and the rounds behind it                     (), ()
    s        spread of a round that explains the present width of the interval  ()
    n, r     rounds in the end, and the half-width of the interval then         (k,), (k,)
    P        probability that n rounds decide                                   (k,)

If nothing was known of the effect beforehand, the estimate after n rounds is normal about m with the variance
`s^2 (1 / n0 - 1 / n)`. It decides if it is farther than r from 0, or by r nearer to 0 than the margin.
"""

import math
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from equipoise._typing import FloatArray
from equipoise.answer.sequential import Interval, reach
from equipoise.programs.question import Question

MOST_ROUNDS, STEPS = 10**5, 300
"""Maximum number of rounds of a forecast, and number of steps at which it is computed up to there."""

FEWEST_ROUNDS = 10
"""Rounds before which the width of the interval is unreliable: at 8 rounds two thirds of the ranges held."""

QUANTILES = (0.15, 0.5, 0.85)
EARLIER = 2.0
"""Quantiles of P, and divisor of the lowest: a decision may come at any check before n. From simulated comparisons
(`python benchmarks/power.py forecast`, seeds below 1,000)."""


@dataclass(frozen=True)
class MoreRounds:
    """The number of further rounds until a decision.

    Attributes:
        low: In about one case of ten, fewer are enough.
        middle: The median: half of the cases need more.
        high: In about one case of ten, more are needed; infinite if unknown.

    Example:
        >>> print(MoreRounds(6, 50, 220), MoreRounds(20, 900, math.inf), MoreRounds(1, 1, 1), sep=", ")
        6 to 220 more rounds, at least 20 more rounds, 1 more round
    """

    low: int
    middle: float
    high: float

    def __str__(self) -> str:
        low, high = _rounded(self.low), _rounded(self.high)
        if math.isinf(self.high):
            return f"at least {low} more round{'s' * (self.low != 1)}"
        return f"{low if low == high else f'{low} to {high}'} more round{'s' * (self.high != 1)}"


def _rounded(x: float) -> str:
    return f"{float(f'{x:.2g}'):.0f}"


def forecast(worse: Interval, rounds: int, question: Question) -> MoreRounds | None:
    """Return the number of further rounds until a decision, if the host does not change; `None` without a forecast.

    Args:
        worse: The interval of how much the second arm is worse than the first.
        rounds: The number of rounds so far.
        question: The question of the comparison.

    Example:
        >>> print(forecast(Interval(0.02, -0.02, 0.06), 40, Question(("old", "new"))))
        19 to 1000 more rounds
    """
    if rounds < FEWEST_ROUNDS or not 0.0 < worse.width < math.inf:  # equal in every round: more rounds would not help
        return None
    n, unit = _reaches(question.alpha_each)
    n, unit = n[n > rounds], unit[n > rounds]
    s = worse.width / 2 / reach(rounds, 1.0, question.alpha_each)
    P = np.maximum.accumulate(_decided(worse.value, s, s * unit, rounds, n, question))
    low, middle, high = (n[i] - rounds if i < len(n) else math.inf for i in np.searchsorted(P, QUANTILES))
    return MoreRounds(max(int(low / EARLIER), 1), float(middle), float(high)) if math.isfinite(low) else None


def _decided(m: float, s: float, r: FloatArray, n0: int, n: FloatArray, question: Question) -> FloatArray:
    """Return P, shape (k,)."""
    from scipy.special import ndtr  # slow to import

    limit, margin = question.fail_above, question.on_scale(question.margin)
    m = m if limit is None else m - question.on_scale(limit)
    sd = s * np.sqrt(1 / n0 - 1 / n) + 1e-300
    P: FloatArray = ndtr((m - r) / sd) + ndtr((-m - r) / sd)
    if limit is None:
        room = np.maximum(margin - r, 0.0)
        P = P + ndtr((room - m) / sd) - ndtr((-room - m) / sd)
    return P


@lru_cache(maxsize=64)
def _reaches(alpha: float) -> tuple[FloatArray, FloatArray]:
    """Return numbers of rounds up to the maximum, and the half-width after each for a spread of 1; shape (k,)."""
    n = np.unique(np.geomspace(FEWEST_ROUNDS, MOST_ROUNDS, STEPS).astype(np.int64)).astype(np.float64)
    return n, np.array([reach(int(each), 1.0, alpha) for each in n])
