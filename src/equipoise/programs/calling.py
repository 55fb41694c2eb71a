"""`compare`: find the best of several functions, measured in rounds of random order."""

import time
from collections.abc import Callable, Mapping
from typing import Any, Literal

from equipoise import _validation as check
from equipoise._typing import Seed
from equipoise.programs.question import AGAIN, Question
from equipoise.programs.rounds import Contest
from equipoise.programs.verdict import Verdict

Arms = Mapping[str, Callable[[], Any]]

SAME_TIME = 0.01
"""Times that differ by less than 1 % are called the same, unless another margin is given."""


def compare(
    arms: Arms,
    *,
    metric: Literal["value", "time"] = "value",
    seconds: float = 60.0,
    max_rounds: int | None = None,
    warmup: int = 0,
    null: bool = False,
    rng: Seed = None,
    **options: Any,
) -> Verdict:
    """Call functions in rounds of random order until the best one is known, or the time is up.

    The verdict stays valid although it is checked after every round and the host or the instrument drifts. Lower is
    better, unless `higher=True`.

    Args:
        arms: Functions without arguments, by name; the first is the reference.
        metric: `value` for functions that return a number, `time` for functions to be timed.
        seconds: The time after which to stop, decided or not.
        max_rounds: The number of rounds after which to stop, decided or not.
        warmup: The number of first rounds that do not count.
        null: Measure the first function twice in each round, as the noise floor.
        rng: Seed of the random orders, as for `numpy.random.default_rng`.
        **options: Those of `Question`: `higher`, `scale`, `margin`, `fail_above`, `center`, `alpha`. Numbers are
            compared by `difference` with no margin, times by `ratio` with one of 1 %.

    Returns:
        The verdict; print it.

    Example:
        >>> import itertools
        >>> drift = itertools.count()
        >>> verdict = compare({"old": lambda: next(drift) + 30.0, "new": lambda: next(drift) * 1.0}, rng=0)
        >>> verdict.leader
        'new'
        >>> compare({"sum": lambda: sum(range(99)), "more": lambda: sum(range(9999))}, metric="time").leader
        'sum'
    """
    called, question = _asked(arms, metric, null, options)
    measure = _timed if metric == "time" else _valued
    contest = Contest(question, rng=rng)
    until = time.monotonic() + check.positive("seconds", seconds)
    most = None if max_rounds is None else check.count("max_rounds", max_rounds)
    for _ in range(check.count("warmup", warmup, 0)):
        for function in called.values():
            measure(function)
    while time.monotonic() < until and (most is None or contest.begun < most):
        for turn in contest.ask_round():
            contest.tell(turn, measure(called[turn.arm]))
        if contest.look().decided:
            break
    return contest.verdict()


def _asked(arms: Arms, metric: str, null: bool, options: Mapping[str, Any]) -> tuple[Arms, Question]:
    """Return the functions to call, including the null, and the question."""
    if not isinstance(arms, Mapping) or not all(callable(function) for function in arms.values()):
        raise TypeError(f"`arms` must be functions by name, got {arms!r}")
    if metric not in ("value", "time"):
        raise ValueError(f"`metric` must be value or time, got {metric!r}")
    timed = metric == "time"
    usual = {"scale": "ratio", "margin": SAME_TIME} if timed else {"scale": "difference", "kind": "reading"}
    called = dict(arms)
    again = f"{next(iter(called), '')}{AGAIN}" if null else None
    if again is not None:
        called[again] = next(iter(arms.values()))
    return called, Question(tuple(called), **{**usual, **options, "null": again})


def _timed(function: Callable[[], Any]) -> float:
    start = time.perf_counter()
    function()
    return time.perf_counter() - start


def _valued(function: Callable[[], Any]) -> float:
    return check.number("the value of an arm", function())
