"""Decisions that are valid whenever one looks: the common engine of `compare`, `verify`, racing, the gate and items.

betting    bets on the coins of randomized pairs: evidence, and the typical difference with its interval
bounded    bets against the mean of bounded numbers
sequence   the interval of a normal mean, and the exact test of randomized pairs
families   false discoveries among many questions (e-BH), and in a stream of them (e-LOND)
futility   the chance that continuing is worthwhile, and the likely result of a final test
"""

from typing import TYPE_CHECKING

from equipoise._lazy import lazily

if TYPE_CHECKING:  # public
    from equipoise.answer.sequential.betting import coin_wealth as coin_wealth
    from equipoise.answer.sequential.betting import evidence as evidence
    from equipoise.answer.sequential.betting import in_steps as in_steps
    from equipoise.answer.sequential.betting import median as median
    from equipoise.answer.sequential.betting import paired as paired
    from equipoise.answer.sequential.betting import typical as typical
    from equipoise.answer.sequential.betting import wealth as wealth
    from equipoise.answer.sequential.bounded import bounded_mean as bounded_mean
    from equipoise.answer.sequential.bounded import log_wealth as log_wealth
    from equipoise.answer.sequential.families import Budget as Budget
    from equipoise.answer.sequential.families import e_bh as e_bh
    from equipoise.answer.sequential.futility import chance as chance
    from equipoise.answer.sequential.futility import expected as expected
    from equipoise.answer.sequential.futility import finals as finals
    from equipoise.answer.sequential.futility import foreseen as foreseen
    from equipoise.answer.sequential.futility import posterior as posterior
    from equipoise.answer.sequential.futility import prior as prior
    from equipoise.answer.sequential.futility import shrunk as shrunk
    from equipoise.answer.sequential.futility import tail as tail
    from equipoise.answer.sequential.sequence import Interval as Interval
    from equipoise.answer.sequential.sequence import anytime as anytime
    from equipoise.answer.sequential.sequence import coin_test as coin_test
    from equipoise.answer.sequential.sequence import reach as reach
else:
    __getattr__ = lazily(__name__)
