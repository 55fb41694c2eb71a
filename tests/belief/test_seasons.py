"""Seasons of the offset: found with their period, and only where there is one."""

import math
import shutil

import numpy as np
import pytest

import equipoise as eq
from equipoise.belief import refitting
from equipoise.belief.disturbances import explained, season
from equipoise.offsets import Accounts

NOISE = 0.1


def hill(x):
    return 3 * np.exp(-4 * ((x - 0.4) ** 2).sum(axis=-1))


def readings(seed, n, offset):
    """Return readings at random points, in pairs, under an offset that is a function of time."""
    rng = np.random.default_rng(seed)
    X, o = rng.random((n, 2)), offset(np.arange(1, n + 1), rng)
    y = hill(X) + o + NOISE * rng.standard_normal(n)
    return [eq.Comparison(X[t], None, float(y[t]), time=t + 1, pair=t // 2) for t in range(n)]


def wave(period, size=1.5):
    return lambda t, rng: size * np.sin(2 * math.pi * t / period + rng.uniform(0, 6))


def learned(told):
    form = eq.belief.Form(np.ones(2), np.arange(2), eq.Tracked())
    belief = eq.belief.LearnedBelief.prior(eq.belief.LearnedModel(form))
    for each in told:
        belief = belief.condition(each)
    return belief.refitted()


@pytest.mark.parametrize("period", [5.0, 7.0, 12.0, 17.3])
@pytest.mark.parametrize("seed", [0, 1])
def test_a_season_is_found_with_its_period(period, seed):
    belief = learned(readings(seed, 80, wave(period)))
    assert belief.form.period == pytest.approx(period, rel=0.01)
    assert belief.fitted.accounts == Accounts(period=belief.form.period)


@pytest.mark.parametrize(
    "offset",
    [
        lambda t, rng: 0.0 * t,
        lambda t, rng: 0.3 * rng.standard_normal(len(t)).cumsum(),
        lambda t, rng: 4 * rng.standard_normal(len(t))[t // 5],
        lambda t, rng: 2 * rng.standard_normal(len(t))[t // 2],
        lambda t, rng: 3.0 * (t > 40),
        lambda t, rng: 0.05 * t,
    ],
    ids=["none", "walk", "levels of 5", "levels of pairs", "jump", "slope"],
)
def test_no_other_offset_is_taken_for_one(offset):
    assert [learned(readings(seed, 80, offset)).form.period for seed in range(5)] == [0.0] * 5


def test_f_is_known_better_once_it_is_found(monkeypatch):
    X = np.random.default_rng(9).random((200, 2))

    def errors():
        found = [learned(readings(seed, 60, wave(7.0))).exact.mean(X) for seed in range(4)]
        return [float(np.std(mean - hill(X))) for mean in found]

    with_season = errors()
    monkeypatch.setattr(refitting, "season", lambda exact, form, learned, threshold: 0.0)
    without = errors()
    assert np.mean(with_season) < 0.7 * np.mean(without)


def test_what_a_wave_explains_is_twice_what_it_adds_to_the_likelihood():
    exact = learned(readings(0, 30, wave(7.0))).exact
    y, t = exact.observations.outcomes, exact.observations.moments.time
    P = np.linalg.inv(exact._L @ exact._L.T)
    H = np.stack([np.cos(2 * math.pi * t / 9), np.sin(2 * math.pi * t / 9)], axis=1)
    rest = y - H @ np.linalg.solve(H.T @ P @ H, H.T @ P @ y)
    assert explained(exact, np.array([1 / 9]))[0] == pytest.approx(y @ P @ y - rest @ P @ rest)


def test_among_few_readings_and_under_a_law_that_does_not_jump_none_is_looked_for():
    few = learned(readings(0, 20, wave(5.0)))
    assert season(few.exact, few.form, few.hyperparameters, 0.0) == 0.0
    form = eq.belief.Form(np.ones(2), np.arange(2), eq.offsets.Blocks(40))
    assert season(few.exact, form, few.hyperparameters, 0.0) == 0.0


def test_a_study_with_a_season_is_taken_up_to_the_bit(tmp_path):
    opt = eq.Optimizer(eq.Box([(0, 1)] * 2), log=tmp_path / "study.jsonl", rng=0)
    rng = np.random.default_rng(0)
    for t in range(1, 71):
        trial = opt.ask()
        opt.tell(trial, float(hill(trial.x) + 2 * math.sin(2 * math.pi * t / 7) + NOISE * rng.normal()))
    again = eq.resume(shutil.copy(tmp_path / "study.jsonl", tmp_path / "again.jsonl"))
    assert again.study.belief.learned.form.period == opt.study.belief.learned.form.period > 0
    np.testing.assert_array_equal(opt.posterior.mean(np.full((1, 2), 0.3)), again.posterior.mean(np.full((1, 2), 0.3)))
    np.testing.assert_array_equal(opt.ask().x, again.ask().x)


@pytest.mark.parametrize("period", [-1.0, math.inf, math.nan])
def test_a_period_that_cannot_be_is_refused(period):
    with pytest.raises(ValueError, match="`period` must be at least 0"):
        Accounts(period=period)
