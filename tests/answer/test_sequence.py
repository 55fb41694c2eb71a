"""Intervals that hold at every time of looking, and the exact test of the coins."""

import math

import numpy as np
import pytest
from scipy.stats import binom, norm, permutation_test

from equipoise.answer import Interval, anytime, coin_test
from equipoise.answer.sequential import reach

LOOKS, RUNS = 200, 1000


def drawn(kind, rng):
    """Differences of fresh duels whose settings do not differ, in random order, shape (runs, looks)."""
    shape, coin = (RUNS, LOOKS), rng.choice([-1.0, 1.0], size=(RUNS, LOOKS))
    if kind == "normal":
        return rng.standard_normal(shape)
    if kind == "tails":
        return rng.standard_t(4, size=shape)
    if kind == "drift":  # the second reading of a pair is larger by 3, whichever it is
        return 3.0 * coin + rng.standard_normal(shape)
    return coin * 10.0 * (rng.random(shape) < 0.1) + rng.standard_normal(shape)  # a jump inside one pair in ten


@pytest.mark.parametrize("kind", ["normal", "tails", "drift", "jumps"])
def test_it_holds_at_all_times_of_looking(kind):
    d = drawn(kind, np.random.default_rng(1))
    n = np.arange(1, LOOKS + 1)
    mean = d.cumsum(axis=1) / n
    s = np.sqrt(np.maximum((d**2).cumsum(axis=1) / n - mean**2, 0.0))
    half = np.array([reach(k, 1.0, 0.05) for k in n])
    with np.errstate(invalid="ignore"):
        wrong = (np.abs(mean) > np.where(np.isinf(half), np.inf, half * s)).any(axis=1).sum()
        naive = (np.abs(mean) > norm.ppf(0.975) * s / np.sqrt(n))[:, 1:].any(axis=1).sum()
    assert wrong <= binom.ppf(1 - 1e-6, RUNS, 0.05)  # a right interval fails this test with probability 1e-6
    assert naive > 0.25 * RUNS  # the usual one does not hold for anyone who looks again and again


def test_it_is_the_interval_of_its_formula_and_scales():
    d = np.random.default_rng(0).standard_normal(40) + 0.3
    n, m, s2, alpha = 40, d.mean(), (d**2).mean() - d.mean() ** 2, 0.05
    q = 1 - (alpha**2 / (n + 1)) ** (1 / n)
    half = math.sqrt(s2 * (n + 1) * q / (n - (n + 1) * q))
    found = anytime(d, alpha)
    assert (found.value, found.low, found.high) == pytest.approx((m, m - half, m + half))
    scaled = anytime(1000 * d + 5, alpha)
    assert (scaled.low, scaled.high) == pytest.approx((1000 * found.low + 5, 1000 * found.high + 5))
    assert anytime(d, 0.01).width > found.width > anytime(d, 0.2).width
    assert m in found
    assert found.high + 1 not in found


def test_few_differences_claim_nothing():
    assert math.isnan(anytime([]).value)
    assert anytime([1.0]) == Interval(1.0, -math.inf, math.inf)
    assert math.isinf(anytime([1.0, 1.1]).width)
    with pytest.raises(ValueError, match="`alpha` must"):
        anytime([1.0], 1.5)


def test_the_coins_are_uniform_where_nothing_differs():
    rng = np.random.default_rng(2)
    p = [coin_test(rng.choice([-1, 1], 30) * (5 + rng.exponential(size=30)), rng, 999) for _ in range(400)]
    assert np.mean(np.array(p) <= 0.05) <= binom.ppf(1 - 1e-6, 400, 0.05) / 400
    assert 0.4 < np.mean(p) < 0.6


@pytest.mark.parametrize("n", [8, 60])
def test_the_coins_agree_with_scipy(n):
    d = np.random.default_rng(3).standard_normal(n) + 0.4
    ours = coin_test(d, np.random.default_rng(0), 99_999)
    flipped = permutation_test((d,), np.sum, permutation_type="samples", alternative="greater", rng=1)
    assert ours == pytest.approx(flipped.pvalue, abs=0.005)


def test_no_single_difference_decides():
    d = np.random.default_rng(3).standard_normal(30) + 1.0
    assert coin_test(np.append(d, 1e9), np.random.default_rng(0)) < 0.01
    assert coin_test(np.append(d, -1e9), np.random.default_rng(0)) < 0.05


def test_the_coins_say_nothing_of_no_differences():
    assert coin_test([], np.random.default_rng(0)) == 1.0
    assert coin_test([0.0, 0.0], np.random.default_rng(0)) == 1.0
