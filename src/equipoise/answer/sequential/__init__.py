"""Decisions that are valid whenever one looks: the common engine of `compare`, `verify`, racing, the gate and items.

betting    bets on the coins of randomized pairs: evidence, and the typical difference with its interval
bounded    bets against the mean of bounded numbers
sequence   the interval of a normal mean, and the exact test of randomized pairs
families   false discoveries among many questions (e-BH), and in a stream of them (e-LOND)
futility   the chance that continuing is worthwhile, and the likely result of a final test
"""

from typing import TYPE_CHECKING

from equipoise._lazy import lazily

if TYPE_CHECKING:
    from equipoise.answer.sequential.betting import (
        coin_wealth,
        evidence,
        in_steps,
        median,
        paired,
        typical,
        wealth,
    )
    from equipoise.answer.sequential.bounded import bounded_mean, log_wealth
    from equipoise.answer.sequential.families import Budget, e_bh
    from equipoise.answer.sequential.futility import chance, expected, finals, foreseen, posterior, prior, shrunk, tail
    from equipoise.answer.sequential.sequence import Interval, anytime, coin_test, reach
else:
    __getattr__ = lazily(__name__)

__all__ = [
    "Budget",
    "Interval",
    "anytime",
    "bounded_mean",
    "chance",
    "coin_test",
    "coin_wealth",
    "e_bh",
    "evidence",
    "expected",
    "finals",
    "foreseen",
    "in_steps",
    "log_wealth",
    "median",
    "paired",
    "posterior",
    "prior",
    "reach",
    "shrunk",
    "tail",
    "typical",
    "wealth",
]
