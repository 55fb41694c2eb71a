"""One program compared with itself: seldom called different, for every host, clock and kind of reading."""

import numpy as np
import pytest
from scipy.stats import binom

from equipoise.programs import Question, verdict_of

RUNS, ROUNDS = 40, 40


def drift(rng):
    return np.arange(2 * ROUNDS, dtype=float)


LAWS = {
    "steady drift": drift,
    "steady drift, small noise": lambda rng: drift(rng) + 1e-9 * rng.normal(size=2 * ROUNDS),
    "coarse clock": lambda rng: drift(rng) // 2 * 2,
    "passes": lambda rng: rng.integers(2, size=2 * ROUNDS).astype(float),
    "rare passes": lambda rng: (rng.random(2 * ROUNDS) < 0.1).astype(float),
    "heavy tails": lambda rng: rng.standard_cauchy(2 * ROUNDS),
}


@pytest.mark.parametrize("law", LAWS)
def test_it_is_seldom_called_different_from_itself(law):
    """Looked at after each round: at most 5 % by theorem; 40 runs give more with a probability below 0.001."""
    question = Question(("a", "b"), scale="difference", kind="reading")
    wrong = 0
    for seed in range(RUNS):
        rng = np.random.default_rng(seed)
        readings, coins = LAWS[law](rng).reshape(ROUNDS, 2), rng.integers(2, size=ROUNDS)
        rounds = [{"a": pair[coin], "b": pair[1 - coin]} for pair, coin in zip(readings, coins, strict=True)]
        looks = (verdict_of(question, rounds[:n]) for n in (6, 7, 8, 10, 13, 20, ROUNDS))
        wrong += any(look.findings[0].standing in ("better", "worse") for look in looks)
    assert wrong <= binom.ppf(0.999, RUNS, 0.05)


@pytest.mark.parametrize(("old", "new"), [(0.9, 0.5), (0.95, 0.7)])
def test_programs_that_pass_more_often_are_found(old, new):
    """By the mean, of which passes have one: their typical difference is 0, and nothing would ever be decided."""
    rng = np.random.default_rng(0)
    rounds = [{"old": float(rng.random() < old), "new": float(rng.random() < new)} for _ in range(150)]
    found = verdict_of(Question(("old", "new"), higher=True, scale="difference", kind="reading"), rounds).findings[0]
    assert found.standing == "worse"
    assert found.interval.low <= new - old <= found.interval.high
