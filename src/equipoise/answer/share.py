"""How often one setting is preferred to another: an exact interval that holds at every time of looking.

    symbol   meaning                                                                    shape
    x        1 where it was preferred, 1/2 where the two were called equal, else 0      (n,)
    m        the share: E[x], the same each time                                        ()
    q        what somebody bets on: that the share is q                                 (Q,)
    K(m)     what a gambler owns who began with 1, if the share is m                    ()

Each answer multiplies what is bet on q by x q/m + (1 - x)(1 - q)/(1 - m), whose expectation is 1 if the share is m. So
K(m), the mean over all q, exceeds 1/alpha ever with probability alpha at most (Ville 1939), and the shares for which it
does not are an interval, since K is log-convex in m. For answers without ties it is Robbins' (1970), of a flat prior.
"""

import math
from dataclasses import dataclass

import numpy as np

from equipoise import _validation as check
from equipoise._typing import FloatArray
from equipoise.answer.wording import shared

BETS = (np.arange(1024) + 0.5) / 1024
"""The shares that are bet on, equally. However many there are, the interval is exact; more hardly make it narrower."""

STEPS = 50
"""Halvings of the range in which a limit is looked for."""


@dataclass(frozen=True)
class Share:
    """How often one setting was preferred to another in fresh judgements, and where that share lies.

    Attributes:
        value: The share of the judgements; a tie counts half.
        low: It is at least this, with a confidence of 95 %.
        high: It is at most this, likewise.
        judgements: How many fresh ones it rests on.

    Example:
        >>> print(Share(0.79, 0.52, 0.94, 24))
        79 % [52 %, 94 %] of cases, verified by 24 fresh judgements
        >>> print(-Share(0.75, 0.5, 1.0, 4))
        25 % [0 %, 50 %] of cases, verified by 4 fresh judgements
    """

    value: float
    low: float
    high: float
    judgements: int

    def __neg__(self) -> "Share":
        return Share(1.0 - self.value, 1.0 - self.high, 1.0 - self.low, self.judgements)

    def __str__(self) -> str:
        return shared(self)


def share(scores: FloatArray, alpha: float = 0.05) -> Share:
    """Return the share of judgements in which one setting was preferred, with an interval that holds at all times.

    Args:
        scores: 1 where it was preferred, 1/2 where the two were called equal, else 0; shape (n,).
        alpha: How often the interval may miss, over all times of looking.

    Example:
        >>> found = share(np.array([1, 1, 1, 0.5, 1, 1, 0, 1, 1, 1]))
        >>> found.value, round(found.low, 2), round(found.high, 2)
        (0.85, 0.43, 0.99)
    """
    check.probability("alpha", alpha)
    counts = [int((scores == score).sum()) for score in (1.0, 0.0, 0.5)]
    if not len(scores):
        return Share(math.nan, 0.0, 1.0, 0)
    middle = float(scores.mean())

    def limit(far: float) -> float:
        """Return the share between the mean and a far one beyond which it is too unlikely."""
        near = middle
        for _ in range(STEPS if near != far else 0):
            m = 0.5 * (near + far)
            near, far = (m, far) if _log_wealth(m, *counts) < -math.log(alpha) else (near, m)
        return far

    return Share(middle, limit(0.0), limit(1.0), len(scores))


def _log_wealth(m: float, wins: int, losses: int, ties: int) -> float:
    """Return log K(m)."""
    won, lost = BETS / m, (1.0 - BETS) / (1.0 - m)
    logs = wins * np.log(won) + losses * np.log(lost) + ties * np.log(0.5 * (won + lost))
    top = float(logs.max())
    return top + math.log(float(np.exp(logs - top).mean()))
