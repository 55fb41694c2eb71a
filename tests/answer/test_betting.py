"""Bets on signs and on bounded numbers: exact by brute force, at every time of looking, whatever the law."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binom

from equipoise.answer.sequential import Interval, bounded_mean, evidence, log_wealth, paired, typical, wealth
from equipoise.answer.sequential.betting import ALL_WEIGHTS, BETS, SHIFTS, WIDTHS

NUMBERS = st.lists(st.integers(-50, 50).map(lambda i: i / 8), min_size=1, max_size=25)


def product_of(bets, side):
    return math.prod(1.0 + math.tanh(side * bet) for bet in bets)


def test_wealth_is_what_the_formula_says():
    d, theta = np.random.default_rng(0).normal(0.3, 1, 9), 0.1
    signs, ranks, sizes = np.sign(d - theta), [], []
    for i in range(len(d)):
        so_far = np.abs(d[: i + 1] - theta)
        ranks.append((np.sum(so_far < so_far[i]) + (np.sum(so_far == so_far[i]) + 1) / 2) / (i + 1))
        sizes.append(so_far[i] / np.sort(so_far)[i // 2])
    bets = [[bet * rank for rank in ranks] for bet in BETS]
    for shift, width in zip(SHIFTS, WIDTHS, strict=True):
        likelier = [(width**2 + (z + shift) ** 2) / (width**2 + (z - shift) ** 2) for z in sizes]  # of two Cauchy laws
        bets.append([0.5 * math.log(ratio) for ratio in likelier])
    totals = [
        sum(weight * product_of(signs * bet, side) for weight, bet in zip(ALL_WEIGHTS, bets, strict=True))
        for side in (1, -1)
    ]
    assert sum(ALL_WEIGHTS) == pytest.approx(1.0)
    assert wealth(d, theta)[-1] == pytest.approx(sum(totals) / 2)
    assert evidence(d, theta)[-1] == pytest.approx(totals[0])


@pytest.mark.parametrize("sizes", [[0.3, 1.0, 2.0, 0.1, 5.0, 1e6, 0.2], [1, 1, 1, 1, 1, 1], [0.0, 1.0, 0.0, 2.0, 2.0]])
def test_whatever_the_sizes_are_no_bet_on_coins_wins_in_the_mean(sizes):
    """All falls of the coins, tried one by one: a martingale, with ties and zeros too."""
    falls = np.array(list(itertools.product((-1, 1), repeat=len(sizes))))
    mean = np.mean([wealth(fall * np.array(sizes)) for fall in falls], axis=0)
    np.testing.assert_allclose(mean, 1.0)


def test_the_limits_are_where_the_wealth_is_twenty():
    d = np.random.default_rng(1).standard_t(2, 60)
    found = typical(d, 0.05)
    step = 1e-4
    for limit, inward in ((found.low, step), (found.high, -step)):
        assert wealth(d, limit - inward)[-1] >= 20 > wealth(d, limit + inward)[-1]


@pytest.mark.parametrize("n", [1, 2, 31, 300, 301, 450])
def test_the_estimate_is_that_of_hodges_and_lehmann(n):
    d = np.random.default_rng(n).normal(size=n)
    pairs = [(d[i] + d[j]) / 2 for i in range(n) for j in range(i, n)]
    assert typical(d).value == pytest.approx(np.median(pairs), abs=1e-3)


def test_six_or_seven_equal_signs_decide_and_five_do_not():
    """By any bets: five coins fall alike in 6 % of cases, six in 3 %."""
    assert typical([0.1, 0.2, 0.3, 0.4, 0.5]).low == -math.inf
    assert typical([0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7]).low > 0
    assert typical(np.arange(8, 0, -1) / 10, 0.05 / 3).low > 0  # 24 duels with three rivals, if all agree


@settings(max_examples=60, deadline=None)
@given(NUMBERS, st.integers(-8, 8))
def test_zero_is_excluded_if_and_only_if_the_bets_about_it_have_won(d, shift):
    """Ties and all: the outer end of the range in which a limit lies never claims more than the bets do."""
    moved = np.array(d) + shift / 8
    won = max(evidence(side * moved)[-1] for side in (1, -1)) >= 40
    for claim in (typical, paired):
        found = claim(moved)
        assert won or found.low <= 0 <= found.high, claim.__name__
    if not won:
        return
    found = typical(moved)
    assert found.low > 0 or found.high < 0 or found.value == 0


@settings(max_examples=30, deadline=None)
@given(NUMBERS)
def test_bets_on_plus_fall_as_the_center_grows(d):
    """So no center between a limit and the estimate is excluded, and none beyond it is allowed."""
    found = typical(d)
    for share in (0.0, 0.25, 0.5, 0.9):
        for limit in (found.low, found.high):
            if math.isfinite(limit):
                inside = found.value + share * (limit - found.value)
                assert found.low <= inside <= found.high
                beyond = limit + (1.0 + share) * (limit - found.value)
                assert beyond == limit or wealth(d, beyond)[-1] >= 20


@pytest.mark.parametrize("d", [[1.0, 0.0] * 6, [0.5, 1.0, 0.0, 1.0] * 4, [2.0, -1.0, 3.0, 4.0] * 3])
def test_readings_in_steps_have_a_mean(d):
    found = paired(d)
    assert found.value == pytest.approx(np.mean(d))
    scaled = paired(np.array(d) * 0.3)
    assert (scaled.low, scaled.high) == pytest.approx((0.3 * found.low, 0.3 * found.high))
    turned = paired(-np.array(d))
    assert (turned.low, turned.high) == pytest.approx((-found.high, -found.low))


@pytest.mark.parametrize("d", [[0.3, 0.7, 0.1, 0.9] * 4, [1.0, 5.0, 2.0, 3.0] * 4])
def test_other_readings_have_a_typical_difference(d):
    assert paired(d) == typical(d)


def test_readings_that_never_differ_prove_nothing():
    """As those of a dead sensor, or of two programs that pass each time: how large a step would be is not known."""
    assert paired([0.0] * 12) == Interval(0.0)


def test_a_bounded_mean_is_exact():
    """All falls of three answers, tried one by one, each by its probability: no bet wins in the mean."""
    values, chances = np.array([0.0, 0.25, 1.0]), np.array([0.5, 0.2, 0.3])
    m = float(values @ chances)
    total = 0.0
    for fall in itertools.product(range(3), repeat=5):
        counts = np.bincount(fall, minlength=3)
        total += float(np.prod(chances[list(fall)])) * math.exp(log_wealth(m, values, counts))
    assert total == pytest.approx(1.0)
    assert math.isnan(bounded_mean([]).value)


# A law draws differences of which `paired` may be asked; the second number is what is true of them: the center of
# symmetry or, of readings in steps, the mean.
def pairs(first, second):
    return lambda rng, n: first(rng, n) - second(rng, n)


def chosen(values, chances):
    return lambda rng, n: rng.choice(values, n, p=chances)


def level(mean, noise):
    return lambda rng, n: np.round(mean + noise * rng.normal(size=n))


def autocorrelated(rng, n):
    """An offset that follows itself, whose change inside a pair has the sign of the coin."""
    step = np.empty(n)
    state = 0.0
    for i in range(n):
        state = 0.9 * state + rng.normal()
        step[i] = state
    return 0.4 + rng.choice([-1, 1], n) * step + 0.1 * rng.normal(size=n)


STEPS = {
    "successes, 5 and 95 %": (pairs(chosen([0, 1], [0.05, 0.95]), chosen([0, 1], [0.95, 0.05])), 0.9),
    "successes, 80 and 95 %": (pairs(chosen([0, 1], [0.05, 0.95]), chosen([0, 1], [0.2, 0.8])), 0.15),
    "three grades": (pairs(chosen([0, 0.5, 1], [0.05, 0.05, 0.9]), chosen([0, 0.5, 1], [0.9, 0.05, 0.05])), 0.85),
    "whole numbers": (pairs(level(2.62, 0.1), level(2.38, 0.1)), 0.77),
}
SYMMETRIC = {
    "normal": (lambda rng, n: 0.3 + rng.normal(size=n), 0.3),
    "steady drift": (lambda rng, n: 0.25 + rng.choice([-1.0, 1.0], n), 0.25),
    "Cauchy": (lambda rng, n: 1 + rng.standard_cauchy(n), 1.0),
    "wild in a tenth": (lambda rng, n: 1 + rng.normal(size=n) * np.where(rng.random(n) < 0.1, 100, 1), 1.0),
    "noise that grows": (lambda rng, n: 0.5 + rng.normal(size=n) * np.linspace(0.1, 5, n), 0.5),
    "autocorrelated": (autocorrelated, 0.4),
}


@pytest.mark.parametrize("law", STEPS)
def test_readings_in_steps_are_seldom_wrong(law):
    """At most 5 % by theorem: 40 runs give more than this with a probability below 0.001."""
    (draw, truth), runs, wrong = STEPS[law], 40, 0
    for seed in range(runs):
        d = draw(np.random.default_rng(seed), 30)
        wrong += any(not found.low <= truth <= found.high for found in (paired(d[:n]) for n in (7, 10, 16, 30)))
    assert wrong <= binom.ppf(0.999, runs, 0.05)


@pytest.mark.parametrize("law", SYMMETRIC)
def test_the_center_of_symmetry_is_seldom_excluded_at_any_look(law):
    """At most 5 % by theorem: 300 runs give more than this with a probability below 0.001."""
    (draw, truth), runs, looks = SYMMETRIC[law], 300, 60
    d = [draw(np.random.default_rng(seed), looks) for seed in range(runs)]
    wrong = sum((wealth(each, truth) >= 20).any() for each in d)
    assert wrong <= binom.ppf(0.999, runs, 0.05)
    for each in d[:5]:
        found = typical(each)
        assert (found.low <= truth <= found.high) or wealth(each, truth)[-1] >= 20
