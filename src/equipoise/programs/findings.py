"""What an interval says of two arms: better, worse, the same, or open and for about how long."""

import math
from dataclasses import dataclass, replace
from typing import Literal

from equipoise.answer.sequential import Interval
from equipoise.programs.forecasting import MoreRounds, forecast
from equipoise.programs.question import Pair, Question

Standing = Literal["better", "worse", "same", "open"]
OTHER: dict[Standing, Standing] = {"better": "worse", "worse": "better", "same": "same", "open": "open"}
"""How the first arm stands to the second, where the second stands so to the first."""

PASSED, FAILED, UNDECIDED = 0, 1, 2
"""Answers to, and exit codes of, the question whether an arm is worse than the first by more than a limit."""


@dataclass(frozen=True)
class Finding:
    """A finding about two arms.

    Attributes:
        first: An arm.
        second: Another, which is compared with it.
        interval: Of the second less the first: of the log of the ratio of their readings, or of the difference.
        rounds: How many rounds have measured both.
        standing: Whether the second is `better`, `worse`, the `same` within the margin, or `open`.
        gate: Whether it is worse than the first by more than the limit: `FAILED`, `PASSED` or `UNDECIDED`.
        more: How many more rounds decide; `None` if it is decided or cannot be said.

    Example:
        >>> found = finding(Question(("old", "new")), ("old", "new"), Interval(-0.10, -0.12, -0.08), 20)
        >>> found.standing, round(found.ratio.value, 3)
        ('better', 0.905)
    """

    first: str
    second: str
    interval: Interval
    rounds: int
    standing: Standing
    gate: int = UNDECIDED
    more: MoreRounds | None = None

    @property
    def ratio(self) -> Interval:
        """The second over the first, where the scale is that of ratios."""
        return Interval(*(_exp(x) for x in (self.interval.value, self.interval.low, self.interval.high)))

    def turned(self) -> "Finding":
        """Return the same, seen from the second arm; the limit is for the first arm alone, so its answer is open."""
        interval, standing = mirrored(self.interval), OTHER[self.standing]
        return replace(self, first=self.second, second=self.first, interval=interval, standing=standing, gate=UNDECIDED)


def finding(question: Question, pair: Pair, interval: Interval, rounds: int) -> Finding:
    """Return what an interval, and the rounds behind it, say of a pair."""
    worse = interval if question.sign > 0 else mirrored(interval)
    standing, gate = _standing(worse, question), _gate(worse, question)
    is_open = standing == "open" if question.fail_above is None else gate == UNDECIDED
    more = forecast(worse, rounds, question) if is_open else None
    return Finding(*pair, interval, rounds, standing, gate, more)


def mirrored(interval: Interval) -> Interval:
    """Return the interval of the number with the other sign."""
    return Interval(-interval.value, -interval.high, -interval.low)


def _standing(worse: Interval, question: Question) -> Standing:
    margin = question.on_scale(question.margin)
    if worse.low > 0 or worse.high < 0:
        return "worse" if worse.low > 0 else "better"
    return "same" if -margin < worse.low and worse.high < margin else "open"


def _gate(worse: Interval, question: Question) -> int:
    limit = question.on_scale(question.fail_above or 0.0)
    if worse.low > limit:
        return FAILED
    return PASSED if worse.high <= limit else UNDECIDED


def _exp(x: float) -> float:
    return math.exp(x) if x < 700 else math.inf
