"""Findings about two arms from an interval: better, worse, the same, or open with a forecast."""

import math
from dataclasses import dataclass, replace
from typing import Literal

from equipoise.answer.sequential import Interval
from equipoise.programs.forecasting import MoreRounds, forecast
from equipoise.programs.question import Pair, Question

Standing = Literal["better", "worse", "same", "open"]
OTHER: dict[Standing, Standing] = {"better": "worse", "worse": "better", "same": "same", "open": "open"}
"""The standing of the first arm relative to the second, given that of the second relative to the first."""

PASSED, FAILED, UNDECIDED = 0, 1, 2
"""Results, and exit codes, of the test whether an arm is worse than the first by more than a limit."""


@dataclass(frozen=True)
class Finding:
    """A finding about two arms.

    Attributes:
        first: The reference arm.
        second: The arm that is compared with it.
        interval: The second minus the first: of the logarithms of their readings, or of the readings.
        rounds: Number of rounds that measured both.
        standing: Whether the second is `better`, `worse`, the `same` within the margin, or `open`.
        gate: Whether the second is worse than the first by more than the limit: `FAILED`, `PASSED` or `UNDECIDED`.
        more: Number of further rounds until a decision; `None` if it is decided or cannot be forecast.

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
        """The second over the first, if the scale is that of ratios."""
        return Interval(*(_exp(x) for x in (self.interval.value, self.interval.low, self.interval.high)))

    def turned(self) -> "Finding":
        """Return the finding seen from the second arm; the limit applies to the first arm only, so the gate is open."""
        interval, standing = mirrored(self.interval), OTHER[self.standing]
        return replace(self, first=self.second, second=self.first, interval=interval, standing=standing, gate=UNDECIDED)


def finding(question: Question, pair: Pair, interval: Interval, rounds: int) -> Finding:
    """Return the finding about a pair from an interval and the number of rounds behind it."""
    worse = interval if question.sign > 0 else mirrored(interval)
    standing, gate = _standing(worse, question), _gate(worse, question)
    is_open = standing == "open" if question.fail_above is None else gate == UNDECIDED
    more = forecast(worse, rounds, question) if is_open else None
    return Finding(*pair, interval, rounds, standing, gate, more)


def mirrored(interval: Interval) -> Interval:
    """Return the interval of the negated number."""
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
