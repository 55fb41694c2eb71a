"""Sessions: days, boots and machines. A claim about one of them need not hold in the next.

    symbol   meaning                                                              shape
    e        estimate of a session for a pair of arms                             (k,)
    s2       their variance, k - 1 degrees of freedom: between sessions + within  ()
    alpha_k  the share of alpha for k sessions: alpha / (k (k - 1))               ()

The memory layout, the room temperature, the neighbors and the compiler's luck change the cost of a program, and they
last for a whole session. So each session has its own effect on every arm. More rounds in one session make a claim
about that session more certain, but not one about the next. A claim over sessions uses their estimates alone.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from numpy.typing import ArrayLike

from equipoise import _validation as check
from equipoise.answer import Interval
from equipoise.programs.question import Pair, Question
from equipoise.programs.verdict import Verdict, judge

Round = Mapping[str, float]
"""The readings of one round, by arm."""


def verdict_of(question: Question, rounds: Iterable[Round]) -> Verdict:
    """Return the verdict of one session, from its rounds in the order in which they were completed.

    Example:
        >>> print(verdict_of(Question(("old", "new")), [{"old": 1.0, "new": 0.5}] * 9))
        new is faster than old by 50.0 % [50.0, 50.0] (500 ms [500 ms, 500 ms] of 1 s) in this session, after 9 rounds.
    """
    kept = tuple(rounds)
    known: dict[Pair, tuple[Interval, int]] = {}
    for first, second in question.pairs:
        both = (told for told in kept if first in told and second in told)
        d = [question.difference(told[first], told[second]) for told in both]
        known[first, second] = question.interval(d, question.alpha_each), len(d)
    return replace(judge(question, known), rounds=kept)


def across(estimates: ArrayLike, alpha: float = 0.05) -> Interval:
    """Return the mean over sessions, with an interval that holds for all numbers of sessions at once.

    Args:
        estimates: One per session, shape (k,).
        alpha: The probability that it ever misses; exact if the effects of sessions are normal.

    Example:
        >>> across([3.0, 3.2, 3.1, 2.9, 3.0]).low > 2.5
        True
        >>> across([3.0]).high
        inf
    """
    from scipy.special import stdtrit  # slow to import

    e = check.array("estimates", estimates, (None,))
    k, mean = len(e), float(e.mean())
    if k < 2:
        return Interval(mean)
    alpha_k = check.probability("alpha", alpha) / (k * (k - 1))  # sums to alpha over k = 2, 3, ...
    half = float(stdtrit(k - 1, 1 - alpha_k / 2) * e.std(ddof=1) / math.sqrt(k))
    return Interval(mean, mean - half, mean + half)


def over(question: Question, sessions: Sequence[Iterable[Round]]) -> Verdict:
    """Return the verdict over several sessions, or that of a single one.

    Args:
        question: The question of the comparison.
        sessions: The rounds of each session.

    Example:
        >>> days = [[{"old": 1.0, "new": ratio}] * 9 for ratio in (0.90, 0.91, 0.90, 0.89)]
        >>> verdict = over(Question(("old", "new")), days)
        >>> verdict.findings[0].standing, len(verdict.sessions)
        ('better', 4)
    """
    each = tuple(verdict_of(question, rounds) for rounds in sessions)
    if len(each) == 1:
        return each[0]
    known: dict[Pair, tuple[Interval, int]] = {}
    for pair in question.pairs:
        found = [finding for verdict in each for finding in _of(verdict, pair) if finding[1]]
        values = [interval.value for interval, _ in found]
        interval = across(values, question.alpha_each) if values else Interval(math.nan)
        known[pair] = interval, sum(rounds for _, rounds in found)
    rounds = tuple(told for verdict in each for told in verdict.rounds)
    return replace(_without_forecast(judge(question, known)), rounds=rounds, sessions=each)


def disagreeing(verdict: Verdict, first: str, second: str) -> bool:
    """Return whether two sessions contradict each other: their own intervals, at alpha / k each, do not meet."""
    k = len(verdict.sessions)
    strict = replace(verdict.question, alpha=verdict.question.alpha / max(k, 1))
    found = [verdict_of(strict, session.rounds).between(first, second).interval for session in verdict.sessions]
    return bool(found) and max(each.low for each in found) > min(each.high for each in found)


def _of(verdict: Verdict, pair: Pair) -> list[tuple[Interval, int]]:
    """Return the interval and the rounds of a pair in a session; the first arm and the null are a pair too."""
    found = [*verdict.findings, *([verdict.floor] if verdict.floor else [])]
    return [(each.interval, each.rounds) for each in found if (each.first, each.second) == pair]


def _without_forecast(verdict: Verdict) -> Verdict:
    """Return a verdict without a forecast of rounds: further sessions decide, not further rounds."""
    return replace(verdict, findings=tuple(replace(found, more=None) for found in verdict.findings))
