"""Forecasters: textbook recursions, immutable, fixed before the coin, and worth having under every kind of offset."""

import copy
import math
import pickle

import numpy as np
import pytest
from scipy import stats

import equipoise as eq
from equipoise.lab import environments as env
from equipoise.reductions.baselines import RunningMean, Zero
from equipoise.reductions.forecasters import (
    FORECASTERS,
    BestForecaster,
    ExponentialAverage,
    LastOffset,
    MinusLast,
    Trend,
)

ALL = [*FORECASTERS, ExponentialAverage(1.0), Trend(0.5, 0.3), BestForecaster(), BestForecaster((Trend(),), 1.0)]
over_forecasters = pytest.mark.parametrize("forecaster", ALL, ids=repr)
ADDITIVE = [forecaster for forecaster in ALL if not isinstance(forecaster, Zero | MinusLast | BestForecaster)]
OFFSETS = np.random.default_rng(0).normal(2.0, 1.0, 60).tolist()


def fed(forecaster, offsets, predicted=0.0):
    for offset in offsets:
        forecaster = forecaster.update(offset + predicted, predicted)
    return forecaster


def forecasts(forecaster, offsets):
    """The forecast before each of the offsets."""
    made = []
    for offset in offsets:
        made.append(forecaster.predict(0.0))
        forecaster = forecaster.update(offset, 0.0)
    return np.array(made)


@over_forecasters
def test_a_forecaster_is_a_value(forecaster):
    before = copy.deepcopy(forecaster)
    later = fed(forecaster, OFFSETS)
    assert forecaster == before
    assert later == fed(forecaster, OFFSETS) == pickle.loads(pickle.dumps(later))
    assert hash(later) == hash(fed(forecaster, OFFSETS))
    assert math.isfinite(later.predict(0.25))


@over_forecasters
def test_without_readings_the_offset_is_taken_for_zero(forecaster):
    assert forecaster.predict(0.0) == 0.0


@over_forecasters
def test_a_forecast_uses_earlier_readings_only(forecaster):
    other = [*OFFSETS[:30], *(-5 * offset for offset in OFFSETS[30:])]
    assert forecasts(forecaster, OFFSETS)[:31].tolist() == forecasts(forecaster, other)[:31].tolist()


@pytest.mark.parametrize("forecaster", ADDITIVE, ids=repr)
def test_only_the_offset_matters_and_the_midpoint_is_added(forecaster):
    low, high = fed(forecaster, OFFSETS), fed(forecaster, OFFSETS, predicted=7.0)
    assert low.predict(0.0) == pytest.approx(high.predict(0.0), rel=1e-9)
    assert low.predict(0.75) == pytest.approx(low.predict(0.0) + 0.75, rel=1e-12)


def test_last_and_minus_last():
    assert fed(LastOffset(), OFFSETS).predict(0.5) == 0.5 + OFFSETS[-1]
    assert fed(MinusLast(), OFFSETS, predicted=7.0).predict(0.5) == -(OFFSETS[-1] + 7.0)


def test_the_exponential_average_is_the_mean_at_first_then_forgets():
    rate, n = 0.1, len(OFFSETS)
    assert fed(ExponentialAverage(rate), OFFSETS[:10]).level == pytest.approx(np.mean(OFFSETS[:10]), rel=1e-12)
    weights = rate * (1 - rate) ** np.arange(n - 10)[::-1]
    expected = weights @ OFFSETS[10:] + (1 - rate) ** (n - 10) * np.mean(OFFSETS[:10])
    assert fed(ExponentialAverage(rate), OFFSETS).level == pytest.approx(expected, rel=1e-12)
    assert forecasts(ExponentialAverage(1.0), OFFSETS).tolist() == pytest.approx(forecasts(LastOffset(), OFFSETS))


@pytest.mark.parametrize("n", [2, 3, 8, 40])
def test_the_trend_is_the_line_of_least_squares_at_first(n):
    slope, intercept = np.polyfit(np.arange(n), OFFSETS[:n], 1)
    trend = fed(Trend(1e-9, 1e-9), OFFSETS[:n])
    assert trend.slope == pytest.approx(slope, abs=1e-9)
    assert trend.predict(0.0) == pytest.approx(intercept + slope * n, abs=1e-9)


def test_the_trend_is_that_of_holt_in_the_end():
    """Holt's recursion as in the textbooks, from where both gains have reached their rates."""
    a, b = 0.3, 0.4
    trend = fed(Trend(a, b), OFFSETS[:20])
    level, slope = trend.level, trend.slope
    for offset in OFFSETS[20:]:
        last, level = level, a * offset + (1 - a) * (level + slope)
        slope = b * (level - last) + (1 - b) * slope
    trend = fed(trend, OFFSETS[20:])
    assert (trend.level, trend.slope) == (pytest.approx(level, rel=1e-9), pytest.approx(slope, rel=1e-9))


def test_the_trend_follows_a_line_without_lag():
    line = 3.0 - 0.1 * np.arange(500)
    assert forecasts(Trend(), line)[2:] == pytest.approx(line[2:], abs=1e-9)


def test_best_equals_brute_force():
    """The choice before reading t, from the table of all errors before t."""
    offsets = [*OFFSETS[:25], *(o * (-1) ** t for t, o in enumerate(OFFSETS[25:45])), *np.linspace(0, 30, 40).tolist()]
    discount, n = 0.9, len(offsets)
    table = np.array([forecasts(forecaster, offsets) for forecaster in FORECASTERS])
    errors = (table - offsets) ** 2
    chosen = []
    for t in range(n):
        scores = errors[:, :t] @ discount ** np.arange(t)[::-1]
        chosen.append(int(scores.argmin()))
    made = forecasts(BestForecaster(discount=discount), offsets)
    assert made.tolist() == table[chosen, np.arange(n)].tolist()
    assert len(set(chosen)) >= 4


@pytest.mark.parametrize(
    ("offset", "best"),
    [
        (lambda t, e: 0.0 * t + 0.01 * e, Zero),
        (lambda t, e: 5.0 + e, RunningMean),
        (lambda t, e: -0.1 * t + 0.3 * e, Trend),
        (lambda t, e: np.cumsum(e), LastOffset),
        (lambda t, e: 5.0 * (-1.0) ** t + e, MinusLast),
        (lambda t, e: np.repeat(2 * e[::40], 40)[: len(t)] + e, ExponentialAverage),
    ],
)
def test_best_finds_the_right_kind(offset, best):
    t, e = np.arange(1, 401), np.random.default_rng(0).normal(size=400)
    assert isinstance(fed(BestForecaster(discount=1.0), offset(t, e)).best, best)


def test_best_changes_its_mind_when_the_offset_changes_its_kind():
    e = np.random.default_rng(0).normal(size=300)
    steady = fed(BestForecaster(), 5.0 + e)
    assert isinstance(steady.best, RunningMean)
    assert isinstance(fed(steady, 5.0 + 0.5 * np.arange(100) + e[:100]).best, Trend)


def test_a_reading_beyond_all_measure_is_no_error():
    forecaster = fed(BestForecaster(), [1.0, 1e200, 1.0])
    assert math.isfinite(forecaster.predict(0.0))


def test_best_of_nested_forecasters():
    nested = BestForecaster((BestForecaster((Trend(),)), LastOffset()))
    assert fed(nested, [1.0, 2.0, 3.0]).predict(0.0) == pytest.approx(4.0)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: ExponentialAverage(0.0), "`rate` must be positive, got 0.0"),
        (lambda: ExponentialAverage(1.5), "`rate` must not be above 1, got 1.5"),
        (lambda: Trend(level_rate=math.nan), "`level_rate` must be finite, got nan"),
        (lambda: Trend(slope_rate=2), "`slope_rate` must not be above 1, got 2"),
        (lambda: BestForecaster(discount=-1.0), "`discount` must be positive, got -1.0"),
        (lambda: BestForecaster(forecasters=()), "`forecasters` must have at least one entry"),
    ],
)
def test_refuses_senseless_settings(make, message):
    with pytest.raises(ValueError, match=message):
        make()


BIASES = {
    "none": env.NoBias(),
    "drift": env.Drift(),
    "periodic": env.PeriodicDrift(),
    "jumps": env.Jumps(rate=0.01, scale=10.0),
    "walk": env.RandomWalk(step=1.0),
    "negative repeat": env.NegativeRepeat(of="reading"),
}


def scatter(forecaster, bias, readings=1500):
    """The mean squared error of the forecasts of readings that are offset and noise of variance one, and its error."""
    process, noise = bias.start(np.random.default_rng(0)), np.random.default_rng(1).normal(size=readings).tolist()
    errors = []
    for t, e in enumerate(noise):
        y = process.offset() + e
        process.record(env.Measurement(t + 1, np.zeros(1), 0.0, e, y - e, y))
        errors.append(y - forecaster.predict(0.0))
        forecaster = forecaster.update(y, 0.0)
    squares = np.square(errors)
    return squares.mean(), squares.std() / math.sqrt(readings)


@pytest.mark.parametrize("name", BIASES)
def test_best_is_hardly_worse_than_the_best_single_one(name):
    best, error = scatter(BestForecaster(), BIASES[name])
    single = min(scatter(forecaster, BIASES[name])[0] for forecaster in FORECASTERS)
    assert best < 1.1 * single + 3 * error


@pytest.mark.parametrize(("name", "most"), [("none", 1.1), ("drift", 1.2), ("periodic", 1.9), ("negative repeat", 1.2)])
def test_what_can_be_forecast_leaves_little_but_the_noise(name, most):
    best, error = scatter(BestForecaster(), BIASES[name])
    assert best < most + 3 * error
    assert name == "none" or scatter(Zero(), BIASES[name])[0] > 100


def regrets_of(baseline, bias, seed, readings=500):
    """METHOD section 5: IDS with one reading per round on the paper's linear problem."""
    function = env.linear(rng=seed)
    world = env.Environment(function, bias, noise=1.0, rng=seed)
    opt = eq.Optimizer(
        eq.Finite(function.points),
        kernel=eq.Linear(),
        reduction=eq.OnePoint(baseline),
        confidence=eq.PaperConfidence(outcome_noise=2.0),
        rng=seed,
    )
    found = []
    for _ in range(readings):
        trial = opt.ask()
        found.append(world.regret(trial.x))
        opt.tell(trial, world.measure(trial.x))
    return found


def regrets(name, seeds, first=0):
    """From a reading on, of c = 0 and of the forecast, in the same worlds, shape (2, seeds)."""
    found = [[regrets_of(c, BIASES[name], seed) for seed in range(seeds)] for c in (Zero(), BestForecaster())]
    return np.array(found)[..., first:].sum(axis=-1)


def test_a_forecast_saves_most_of_the_regret_under_drift_waves_and_jumps():
    """Some runs with c = 0 lock onto a good point by luck, so all pairs are taken together: 18, one-sided t-test.

    Both learn in the first 300 readings. In the 200 after them c = 0 costs at least 2.0 times as much, over three sets
    of seeds; the largest p-value was 0.004.
    """
    zero, best = np.concatenate([regrets(name, 6, first=300) for name in ("drift", "periodic", "jumps")], axis=1)
    assert stats.ttest_rel(zero, best, alternative="greater").pvalue < 0.01
    for first in (0, 6, 12):
        assert zero[first : first + 6].mean() > 1.5 * best[first : first + 6].mean()


def test_nothing_is_lost_without_bias():
    zero, best = regrets("none", 5)
    assert (best - zero).mean() < 0.1 * zero.mean() + 2 * (best - zero).std(ddof=1) / math.sqrt(5)
