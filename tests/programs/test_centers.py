"""Claims about differences: exact by brute force, at every time of looking, whatever the tails."""

import math

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from scipy.special import betaln

from equipoise.answer.sequential import median, typical, wealth
from equipoise.programs.question import CENTERS

NUMBERS = st.lists(st.integers(-50, 50).map(lambda i: i / 10), min_size=1, max_size=25)


SMALLEST = 5e-324
"""A limit where 0 is excluded by what is bet at 0 itself, which need not agree with the outermost crossing."""


@settings(max_examples=30, deadline=None)
@given(NUMBERS, st.integers(-9, 9), st.sampled_from([-4.0, 0.5, 1.0, 8.0]))
@example([0.0, 0.0, 0.0, 0.0, 0.0, -0.1], 1, -4.0)
def test_units_and_offsets_carry_over(d, shift, factor):
    """By powers of two and integers, so that ties stay ties."""
    for name, claim in CENTERS.items():
        plain, other = claim(d, 0.05), claim(np.array(d) * factor + shift, 0.05)
        limits = sorted(factor * x + shift for x in (plain.low, plain.high))
        spread = np.ptp(d) + 1e-9
        assert other.value == pytest.approx(factor * plain.value + shift, abs=1e-6), name
        if SMALLEST in map(abs, (plain.low, plain.high)):
            continue
        low, high = (
            x if abs(found) == SMALLEST else found for found, x in zip((other.low, other.high), limits, strict=True)
        )
        assert [low, high] == pytest.approx(limits, abs=1e-3 * spread * abs(factor)), name


@settings(max_examples=30, deadline=None)
@given(NUMBERS)
def test_the_estimate_lies_in_its_interval(d):
    for claim in CENTERS.values():
        found = claim(d, 0.05)
        assert found.low - 1e-9 <= found.value <= found.high + 1e-9


def test_the_median_is_exact_too():
    """Coins again: the mean over all falls is 1, and the limits are the order statistics where it reaches 20."""
    n = 30
    k = np.arange(n + 1)
    M = np.exp(betaln(k + 1, n - k + 1) + n * math.log(2))
    weights = np.array([math.comb(n, i) for i in k]) / 2.0**n
    assert weights @ M == pytest.approx(1.0)
    d = np.random.default_rng(2).normal(size=n)
    grid = np.linspace(-3, 3, 6001)
    inside = [theta for theta in grid if M[np.sum(d > theta)] < 20]
    found = median(d)
    assert (found.low, found.high) == pytest.approx((inside[0], inside[-1]), abs=2e-3)


def test_equal_readings_are_equal():
    for claim in CENTERS.values():
        found = claim([0.0] * 12, 0.05)
        assert (found.low, found.high) == pytest.approx((0.0, 0.0), abs=1e-9)


def test_nothing_says_nothing():
    for claim in CENTERS.values():
        found = claim([], 0.05)
        assert math.isnan(found.value)
        assert (found.low, found.high) == (-math.inf, math.inf)


def test_doors():
    with pytest.raises(ValueError, match="`alpha` must lie strictly between 0 and 1, got 2"):
        typical([1.0], 2)
    with pytest.raises(ValueError, match="`differences` must be finite"):
        median([1.0, math.nan])


def drifting(rng, n):
    """Two runs of one program a round, in random order, on a host that ramps, jumps and has tails."""
    host = np.linspace(0, 0.5, 2 * n) + 0.3 * (np.cumsum(rng.random(2 * n) < 0.05) % 2)
    runs = (host + 0.02 * rng.standard_t(2, 2 * n)).reshape(n, 2)
    coin = rng.integers(2, size=n)
    return runs[np.arange(n), coin] - runs[np.arange(n), 1 - coin]


def test_one_program_is_seldom_called_two_however_often_one_looks():
    """At most 5 % by theorem; 400 sequences give more than 8 % with a probability below 0.01."""
    rng = np.random.default_rng(3)
    wrong = np.mean([(wealth(drifting(rng, 120)) >= 20).any() for _ in range(400)])
    assert 0 < wrong <= 0.08


def test_outliers_do_not_delay_it():
    """Of 120 rounds, a shift of one deviation is found in most though a tenth of the readings are wild."""
    rng, late, too_late = np.random.default_rng(4), [], 0
    for _ in range(50):
        d = rng.normal(1, 1, 120) + (rng.random(120) < 0.1) * rng.choice([-100, 100], 120)
        late.append(np.argmax(wealth(d) >= 20) + 1)
        too_late += CENTERS["mean"](d, 0.05).low < 0
    assert np.median(late) < 40
    assert too_late > 45  # the mean has not found it after all 120
