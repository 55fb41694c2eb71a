"""Settings that can be measured: the lessons of one and of several failures, proposals and recommendations."""

import warnings

import numpy as np
import pytest

import equipoise as eq
from equipoise.belief import Feasibility


def told(points, read, extent=None):
    extent = np.ones(np.shape(points)[1]) if extent is None else extent
    return Feasibility.of(extent, np.asarray(points, dtype=float), np.array(read))


def test_without_a_failure_everything_can_be_measured():
    known = told([[0.1], [0.9]], [True, True])
    assert known.certain
    assert known.allows(np.array([[0.5]])).all()


def test_one_failure_bans_nothing_a_second_one_does():
    once, twice = told([[0.5]], [False]), told([[0.5], [0.5]], [False, False])
    assert once.allows(np.array([[0.5]])).all()
    assert not twice.allows(np.array([[0.5]])).any()
    assert twice.allows(np.array([[0.0]])).all()


def test_a_shutter_closed_for_a_moment_is_forgiven_by_the_readings_around_it():
    known = told([[0.5]] * 6, [True, False, True, True, True, True])
    assert known.allows(np.array([[0.5]])).all()
    assert len(known.reliable) == 1


def test_the_probability_is_that_of_the_formula():
    known = told([[0.2, 0.0], [0.3, 0.4], [0.9, 0.8]], [True, False, True], extent=np.array([1.0, 2.0]))
    w = np.exp(-0.5 * ((([0.5, 0.5] - known.points) / (known._bandwidth * known.extent)) ** 2).sum(axis=1))
    expected = (1.8 + w @ known.read) / (2.0 + w.sum())
    assert known.probability(np.array([[0.5, 0.5]]))[0] == pytest.approx(expected)


def test_only_what_was_read_is_reliable():
    known = told([[0.1], [0.4], [0.6], [0.6]], [True, True, False, False])
    np.testing.assert_array_equal(np.sort(known.reliable, axis=0), [[0.1], [0.4]])


def test_the_bandwidth_is_that_which_predicts_each_trial_best_by_leaving_it_out():
    """Counted by place, against one trial at a time."""
    rng = np.random.default_rng(0)
    trials = rng.integers(0, 8, (40, 1)) / 7
    read = trials[:, 0] + 0.3 * rng.standard_normal(40) < 0.5
    known = told(trials, read)

    def surprise(bandwidth):
        w = np.exp(-0.5 * ((trials - trials.T) / bandwidth) ** 2)
        np.fill_diagonal(w, 0.0)
        p = (1.8 + w @ read) / (2.0 + w.sum(axis=1))
        return -np.log(np.where(read, p, 1 - p)).sum()

    tried = [0.5**0.5 * each for each in (0.05, 0.1, 0.2, 0.4)]
    assert known._bandwidth == pytest.approx(min(tried, key=surprise))


def test_of_very_many_places_those_that_failed_and_the_latest_are_remembered():
    trials = np.random.default_rng(0).random((1000, 2))
    read = np.ones(1000, dtype=bool)
    read[:5] = False
    known = told(trials, read)
    assert len(known.points) == 300
    assert known.failed.sum() == 5
    assert trials[-1].tolist() in known.points.tolist()


def failing_study(fails, seed, readings=80):
    opt, rng, failed = eq.Optimizer(eq.Box([(0, 1), (0, 1)]), rng=seed), np.random.default_rng(seed), 0
    for t in range(readings):
        trial = opt.ask()
        if fails(trial.x):
            failed += 1
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", eq.DuelGivenUp)
                opt.tell(trial, failed="beam lost")
        else:
            top = 3 * np.exp(-((trial.x - [0.6, 0.6]) ** 2).sum() / 0.08)
            opt.tell(trial, float(top + 0.1 * rng.normal() + 0.05 * t))
    return opt, failed


@pytest.mark.parametrize("seed", range(2))
def test_a_region_that_fails_is_left_after_a_few_tries_and_never_recommended(seed):
    """Half of the square fails, and what would be the top with it."""

    def fails(x):
        return x[0] > 0.5

    opt, failed = failing_study(fails, seed)
    assert failed <= 18
    assert not fails(opt.recommend().x)
    assert opt.recommend().x[0] > 0.4  # at the edge, where the best of what can be measured is


def test_the_good_half_of_a_failed_pair_still_teaches():
    opt = eq.Optimizer(eq.Box([(0, 1)]), rng=0)
    opt.tell(opt.ask(), 1.0)
    with pytest.warns(eq.DuelGivenUp):
        opt.tell(opt.ask(), failed="shutter")
    assert opt.posterior.comparisons == 1
    assert opt.study.belief.learned.duels.comparisons == 0
