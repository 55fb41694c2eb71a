"""Two rivals in one pair, among thousands of listed settings, unless only a duel with the leader teaches."""

import shutil

import numpy as np
import pytest

import equipoise as eq

SPACE = eq.Space(n=eq.Int(0, 19), m=eq.Int(0, 9), mode=eq.Choice(["a", "b", "c", "d", "e"]))


def value(n, m, mode):
    return np.cos(n / 4) + np.cos(m / 3 - 1) + 0.4 * "abcde".index(mode) * (n % 2)


def share_with_a_known_setting(level, readings=70):
    """Ask and tell, each pair with its own level; return how many later pairs have a setting that was read."""
    opt, rng, asked = eq.Optimizer(SPACE, rng=1), np.random.default_rng(0), []
    for _ in range(readings // 2):
        now = level * rng.normal()
        for _ in range(2):
            trial = opt.ask()
            opt.tell(trial, value(**trial.x) + now + 0.01 * rng.normal())
            asked.append(tuple(trial.x.values()))
    later = range(20, readings, 2)
    return np.mean([any(x in asked[:t] for x in asked[t : t + 2]) for t in later])


def test_a_leader_that_is_known_is_not_read_again():
    assert share_with_a_known_setting(level=0.0) < 0.4


def test_a_leader_is_read_again_if_each_pair_has_its_own_level():
    assert share_with_a_known_setting(level=10.0) > 0.7


def test_settings_are_all_valid_points_of_a_space_that_lists_none():
    assert SPACE.points is None
    assert SPACE.settings.shape == (20 * 10 * 5, SPACE.dimension)
    assert len(np.unique(SPACE.settings, axis=0)) == 1000
    assert SPACE.valid(SPACE.settings).all()
    some = eq.Space(SPACE.parameters, constraint="n + m <= 12")
    assert {some.decode(x)["n"] + some.decode(x)["m"] <= 12 for x in some.settings} == {True}


@pytest.mark.parametrize(
    "space",
    [
        eq.Space(n=eq.Int(0, 9)),
        eq.Space(n=eq.Int(0, 2**20)),
        eq.Space(n=eq.Int(0, 999), q=eq.Float(0, 1)),
        eq.Box([(0, 1)]),
        eq.Finite([[0.0], [1.0]]),
    ],
    ids=repr,
)
def test_few_very_many_and_continuous_settings_are_not_looked_through(space):
    assert space.settings is None
    assert eq.Optimizer(space).study.setup.policy == eq.Challenger(scale=0.75)


def test_the_default_is_bolder_where_all_settings_are_looked_through():
    assert eq.Optimizer(SPACE).study.setup.policy == eq.Challenger(scale=1.5)


def test_a_study_whose_values_are_told_apart_is_resumed_to_the_same_belief(tmp_path):
    log = tmp_path / "study.jsonl"
    opt = eq.Optimizer(SPACE, rng=0, log=log)
    for t in range(60):
        trial = opt.ask()
        opt.tell(trial, (7 * trial.x["n"] % 20) / 5 + 0.1 * trial.x["m"] + 0.02 * np.sin(t))
    again = eq.resume(shutil.copy(log, tmp_path / "copy.jsonl"))
    assert opt.study.belief.learned.form.leveled
    assert again.study.belief.learned.form.leveled
    found, same = (each.posterior.difference(SPACE.settings[:50], SPACE.settings[50]) for each in (opt, again))
    np.testing.assert_array_equal(found, same)
    assert again.ask().x == opt.ask().x


def share_of_failures(seed, readings=80):
    """Ask and tell where six in ten settings fail; return what share of the later half of the trials does."""
    options = range(1, 11)
    opt, failed = eq.Optimizer(eq.Space({name: eq.Choice(options) for name in "abc"}), rng=seed), []
    for _ in range(readings):
        trial = opt.ask()
        a, b, c = trial.x.values()
        failed.append(a * b + c > 24)
        if failed[-1]:
            opt.tell(trial, failed="it does not run")
        else:
            opt.tell(trial, -abs(a - 4) - abs(b - 4) - 0.3 * abs(c - 3))
    return np.mean(failed[readings // 2 :])


@pytest.mark.filterwarnings("ignore:duel:equipoise.DuelGivenUp")
def test_settings_are_not_looked_through_where_many_fail():
    """Then most of all settings look promising only because none near them could be read."""
    assert np.mean([share_of_failures(seed) for seed in range(3)]) < 0.35
