"""How many more rounds decide: a range that holds in about 80 % of comparisons.

    symbol   meaning                                                            shape
    m, n0    the present estimate, and the rounds behind it                     (), ()
    s        spread of a round that explains the present width of the interval  ()
    n, r     rounds in the end, and the half-width of the interval then         (k,), (k,)
    P        how likely it is that n rounds decide                              (k,)

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
"""A forecast goes no farther than this number of rounds, and looks at this many numbers of rounds up to there."""

FEWEST_ROUNDS = 10
"""Before that the width of the interval says too little: at 8 rounds two thirds of the ranges held."""

QUANTILES = (0.15, 0.5, 0.85)
EARLIER = 2.0
"""Of P, and by what the lowest is divided: a decision may fall at any look before n. Chosen on simulated comparisons
(`python benchmarks/power.py forecast`, seeds below 1,000)."""


@dataclass(frozen=True)
class MoreRounds:
    """How many more rounds decide.

    Attributes:
        low: Fewer do in about one case of ten.
        middle: As many as not decide sooner.
        high: More are needed in about one case of ten; infinite if nobody knows.

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
    """Return how many more rounds decide, if the host stays as it is; `None` if that cannot be said.

    Args:
        worse: How much the second arm is worse than the first.
        rounds: How many rounds there are.
        question: What is asked.

    Example:
        >>> print(forecast(Interval(0.02, -0.02, 0.06), 40, Question(("old", "new"))))
        19 to 1000 more rounds
    """
    if rounds < FEWEST_ROUNDS or not 0.0 < worse.width < math.inf:  # equal in every round: more rounds say no more
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
    """Return numbers of rounds up to the most, and the half-width after each for a spread of 1; shape (k,)."""
    n = np.unique(np.geomspace(FEWEST_ROUNDS, MOST_ROUNDS, STEPS).astype(np.int64)).astype(np.float64)
    return n, np.array([reach(int(each), 1.0, alpha) for each in n])
