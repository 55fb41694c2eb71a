"""Signs of a known number of pairs: what the test on all of them will say, foreseen from the first of them.

    symbol   meaning                                                                shape
    k, s     pairs so far that do not tie, and wins less losses among them          (), ()
    D        pairs that do not tie in the end: about so many                        ()
    c        lead at which the exact sign test of D pairs, McNemar's, is significant ()

If no side is better every sign is a fair coin, and so the chance that the final test will be significant, given what
was seen, is a martingale that begins at the size of that test. It ever reaches 0.9 with a probability of size / 0.9 at
most (Ville; Lan, Simon and Halperin 1982): one may stop there.
"""

import math

import numpy as np

from equipoise._typing import FloatArray

TRUST = 20.0
"""Pairs on each side that are taken to be seen beforehand: versions of one model seldom differ much.

Of 5, 20 and 40, with HOPELESS in `items` from 0.06 to 0.12, on seeds that are not reported."""

SPREAD = 1.64
"""Deviations of the final number of pairs that are looked at: it must hold for 90 % of them."""


def needed_lead(pairs: int, alpha: float) -> int:
    """Return the lead at which the exact test of signs is significant; more than all pairs if none is.

    Example:
        >>> needed_lead(6, 0.05), needed_lead(100, 0.05), needed_lead(5, 0.05)
        (6, 22, 7)
    """
    lead = pairs
    while lead > 0 and 2.0 * tail(pairs, lead) <= alpha:
        lead -= 2
    return lead + 2


def tail(pairs: int, lead: int) -> float:
    """Return how likely fair coins lead by so much or more.

    Example:
        >>> tail(4, 4), tail(4, -4)
        (0.0625, 1.0)
    """
    wins = max((pairs + lead + 1) // 2, 0)
    return 0.0 if wins > pairs else float(_coins(pairs, 0.0, 0.0)[wins:].sum())


def foreseen(lead: int, pairs: int, final: int, alpha: float) -> float:
    """Return how likely fair coins make the final test significant for the side that leads.

    Args:
        lead: Wins less losses so far.
        pairs: How many pairs they come from.
        final: How many pairs there will be.
        alpha: The level of the final test, two-sided.

    Example:
        >>> round(foreseen(0, 0, 100, 0.05), 3), round(foreseen(25, 49, 100, 0.05), 2)
        (0.018, 0.71)
    """
    return tail(final - pairs, needed_lead(final, alpha) - abs(lead))


def expected(lead: int, pairs: int, final: int, alpha: float) -> float:
    """Return how likely the final test will be significant for either side, if it goes on as it has begun.

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
    """Return how many pairs there will be that do not tie: few, about, many.

    Example:
        >>> finals(20, 100, 400), finals(20, 100, 100)
        ([58, 81, 104], [20, 20, 20])
    """
    left, share = items - seen, (pairs + 0.5) / (seen + 1.0)
    deviation = SPREAD * math.sqrt(left * share * (1.0 - share) * (1.0 + left / (seen + 1.0)))
    return [pairs + min(max(round(left * share + d), 0), left) for d in (-deviation, 0.0, deviation)]


def _coins(n: int, a: float, b: float) -> FloatArray:
    """Return the chances of 0 to n wins: of fair coins, or of coins whose bias has a beta law."""
    from scipy.special import betaln, gammaln  # slow to import

    k = np.arange(n + 1)
    log = gammaln(n + 1.0) - gammaln(k + 1.0) - gammaln(n - k + 1.0)
    log += betaln(k + a, n - k + b) - betaln(a, b) if a else -n * math.log(2.0)
    found: FloatArray = np.exp(log)
    return found
