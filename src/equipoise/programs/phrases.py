"""A verdict in words, for people."""

import math
from collections.abc import Iterable
from statistics import median

from equipoise.answer import Interval
from equipoise.programs.findings import FAILED, PASSED, UNDECIDED, Finding, mirrored
from equipoise.programs.forecasting import MoreRounds
from equipoise.programs.question import Kind, Question
from equipoise.programs.sessions import disagreeing
from equipoise.programs.verdict import Verdict

ADJECTIVES: dict[Kind, tuple[str, str]] = {
    "time": ("faster", "slower"),
    "memory": ("smaller", "larger"),
    "reading": ("lower", "higher"),
}
UNITS: dict[Kind, list[tuple[float, str]]] = {
    "time": [(60.0, " min"), (1.0, " s"), (1e-3, " ms"), (1e-6, " µs"), (1e-9, " ns")],
    "memory": [(1e9, " GB"), (1e6, " MB"), (1e3, " kB"), (1.0, " B")],
    "reading": [(1.0, "")],
}
TWICE = 2.0
"""The ratio from which on a change is stated as a factor, not as a percentage."""


def told(verdict: Verdict) -> str:
    """Return the whole verdict: the answer, each other arm, the noise floor, each session."""
    lines = list(_answer(verdict))
    if verdict.floor is not None:
        lines.append(_floor(verdict, verdict.floor))
    if verdict.sessions:
        lines += _sessions(verdict)
    return "\n".join(lines)


def amount(value: float, kind: Kind) -> str:
    """Return a reading with its unit.

    Example:
        >>> amount(0.01234, "time"), amount(2_500_000, "memory"), amount(0.5, "reading")
        ('12.3 ms', '2.5 MB', '0.5')
    """
    if not math.isfinite(value):
        return "?"
    if kind == "reading":
        return f"{value:.4g}"
    size, unit = next(((size, unit) for size, unit in UNITS[kind] if abs(value) >= size), UNITS[kind][-1])
    return f"{value / size:.3g}{unit}"


def short(found: Finding, question: Question) -> str:
    """Return the second arm of a pair relative to the first, with signs: +1.2 % [-0.3, +2.7]."""
    if question.scale == "difference":
        return _difference(found.interval, question.kind, "+")
    return _bracket(_percent(found.ratio), "+.1f", " %")


def _answer(verdict: Verdict) -> Iterable[str]:
    question = verdict.question
    if question.fail_above is not None:
        return [_gated(verdict, found) for found in verdict.against_first]
    if len(question.rivals) == 2:
        return [_sentence(verdict, verdict.findings[0])]
    others = [arm for arm in question.rivals if arm != verdict.leader]
    sentences = [_sentence(verdict, verdict.between(verdict.leader, arm)) for arm in others]
    equal = [verdict.leader, *(arm for arm in others if arm not in verdict.beaten)]
    head = f"{' and '.join(equal)} {'is' if len(equal) == 1 else 'are'} the best of {len(question.rivals)}"
    if not verdict.decided:
        head = f"Not decided yet, {verdict.leader} leads{_forecast(verdict.more)}"
    elif len(equal) > 1:
        head += f", the same within {_size(question.margin, question)}"
    return [f"{head}.", *(f"  {sentence}" for sentence in sentences)]


def _sentence(verdict: Verdict, found: Finding) -> str:
    """Return the finding about a pair in words."""
    question, where = verdict.question, _where(verdict, found)
    if not found.rounds:
        return f"No round has measured both {found.first} and {found.second}."
    if found.standing == "open":
        about = _forecast(found.more)
        by = f"{found.second} differs from {found.first} by {short(found, question)}"
        return f"Not decided yet{about}: {by} {where}."
    if found.standing == "same":
        within = _size(question.margin, question)
        return f"{found.second} is the same as {found.first} within {within}: {short(found, question)} {where}."
    return f"{found.second} {_by(found, question)}{_worth(verdict, found)} {where}."


def _by(found: Finding, question: Question) -> str:
    """Return by how much the second arm of a pair differs, if it does: is faster than old by 3.1 % [2.4, 3.9]."""
    up = found.interval.value > 0
    word = ADJECTIVES[question.kind][up]
    if question.scale == "difference":
        return f"is {word} than {found.first} by {_difference(_sized(found.interval), question.kind)}"
    if found.ratio.value >= TWICE:
        return f"takes {_bracket(found.ratio, '.2f', ' times')} what {found.first} takes"
    return f"is {word} than {found.first} by {_bracket(_sized(_percent(found.ratio)), '.1f', ' %')}"


def _gated(verdict: Verdict, found: Finding) -> str:
    """Return the answer to whether an arm is worse than the first one by more than the limit."""
    question, limit = verdict.question, verdict.question.fail_above or 0.0
    if not found.rounds:
        return _sentence(verdict, found)
    word = ADJECTIVES[question.kind][not question.higher]
    what = f"{word} than {found.first} by more than {_size(limit, question)}"
    answers = {
        FAILED: f"{found.second} is {what}",
        PASSED: f"{found.second} is not {what}",
        UNDECIDED: f"Not decided yet whether {found.second} is {what}{_forecast(found.more)}",
    }
    return f"{answers[found.gate]}: {short(found, question)} {_where(verdict, found)}."


def _floor(verdict: Verdict, floor: Finding) -> str:
    text = f"Noise floor: {floor.first} against itself, {short(floor, verdict.question)}."
    if 0.0 in floor.interval or math.isnan(floor.interval.value):
        return text
    return f"{text} It differs from itself: do not trust this session."


def _sessions(verdict: Verdict) -> Iterable[str]:
    """Return a line for each session, and whether they disagree."""
    pairs = verdict.against_first
    for number, session in enumerate(verdict.sessions, 1):
        each = (session.between(found.first, found.second) for found in pairs)
        yield f"  Session {number}: " + "; ".join(
            f"{found.second} {short(found, verdict.question)} of {found.first}, {counted(found.rounds, 'round')}"
            for found in each
        )
    for found in pairs:
        if disagreeing(verdict, found.first, found.second):
            yield f"Sessions disagree about {found.second} and {found.first}: the difference depends on the session."


def _where(verdict: Verdict, found: Finding) -> str:
    """Return the scope of a claim, and its number of rounds."""
    k = len(verdict.sessions)
    scope = "in this session" if k == 0 else f"over {k} sessions"
    return f"{scope}, after {counted(found.rounds, 'round')}"


def _worth(verdict: Verdict, found: Finding) -> str:
    """Return a ratio as an amount, at the median of the first arm."""
    readings = [told[found.first] for told in verdict.rounds if found.first in told]
    if verdict.question.scale == "difference" or verdict.question.kind == "reading" or not readings:
        return ""
    kind, level = verdict.question.kind, median(readings)
    change = Interval(*(level * (x - 1) for x in (found.ratio.value, found.ratio.low, found.ratio.high)))
    sized = _sized(change)
    limits = f"[{amount(sized.low, kind)}, {amount(sized.high, kind)}]"
    return f" ({amount(sized.value, kind)} {limits} of {amount(level, kind)})"


def _forecast(more: MoreRounds | None) -> str:
    return "" if more is None else f", {more}"


def counted(n: int, what: str) -> str:
    """Return a number of things in words: 1 run, 2 runs."""
    return f"{n} {what}{'' if n == 1 else 's'}"


def _size(value: float, question: Question) -> str:
    return f"{100 * value:g} %" if question.scale == "ratio" else amount(value, question.kind)


def _percent(ratio: Interval) -> Interval:
    """Return a ratio in percent of change; the ratio 0 stands for a limit that is not known."""
    return Interval(*(100 * (x - 1) if x else -math.inf for x in (ratio.value, ratio.low, ratio.high)))


def _sized(interval: Interval) -> Interval:
    """Return the interval of the size of a number whose sign is known."""
    return interval if interval.value >= 0 else mirrored(interval)


def _difference(interval: Interval, kind: Kind, sign: str = "") -> str:
    """Return a difference of readings with its limits, in their unit.

    Example:
        >>> _difference(Interval(0.012, -0.001, math.inf), "time", "+")
        '+12 ms [-1 ms, ?]'
    """
    if kind == "reading":
        return _bracket(interval, f"{sign}.4g", "")
    value, low, high = (
        sign * (0 < x < math.inf) + amount(x, kind) for x in (interval.value, interval.low, interval.high)
    )
    return f"{value} [{low}, {high}]"


def _bracket(interval: Interval, form: str, unit: str) -> str:
    """Return a number with its limits; one that is not known yet is a question mark."""
    value, low, high = (
        "?" if math.isinf(x) else _signed(f"{x:{form}}") for x in (interval.value, interval.low, interval.high)
    )
    return f"{value}{unit} [{low}, {high}]"


def _signed(text: str) -> str:
    """Return a number without the sign of a zero.

    Example:
        >>> _signed("-0.0"), _signed("-0.1")
        ('0.0', '-0.1')
    """
    return text.lstrip("+-") if float(text) == 0 else text
