"""Racing: an equal trial is seldom stopped, although the incumbent is the luckiest of many; a worse one soon."""

import math

import numpy as np
import pytest

pytest.importorskip("optuna", reason="needs the extra `optuna`")

import optuna

import benched
from equipoise.integrations.optuna import RacePruner, raced
from equipoise.integrations.optuna.racing import differences, race, worse


@pytest.fixture(scope="module", name="benchmark")
def racing_benchmark():
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    return benched.benchmark("racing")


def test_an_equal_trial_is_seldom_stopped_and_a_worse_one_soon(benchmark):
    """The error rate is at most 0.05: of 40, more than 7 stop in less than 1 % of tests."""
    share, _, _ = benchmark.row(RacePruner(), 0.0, range(40))
    assert share <= 7 / 40
    share, _, median = benchmark.row(RacePruner(), -1.0, range(15))
    assert share > 0.8
    assert median <= 13


def study(direction="maximize", **parts):
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    return optuna.create_study(direction=direction, sampler=optuna.samplers.RandomSampler(seed=0), **parts)


def hill(trial, piece):
    return -((trial.suggest_float("x", 0, 1) - 0.7) ** 2) + math.sin(37.0 * piece)


@pytest.mark.parametrize("direction", ["maximize", "minimize"])
def test_trials_that_are_worse_are_stopped_in_either_direction(direction):
    sign = 1 if direction == "maximize" else -1
    found = study(direction)
    found.optimize(raced(lambda trial, piece: sign * hill(trial, piece), range(16)), n_trials=12)
    lengths = [len(trial.intermediate_values) for trial in found.trials]
    assert max(lengths) == 16
    assert sum(lengths) < 0.8 * 12 * 16
    assert abs(found.best_params["x"] - 0.7) < 0.2
    assert found.best_value == pytest.approx(np.mean(list(found.best_trial.intermediate_values.values())))


def test_the_pruner_does_the_same_to_an_objective_of_your_own():
    def objective(trial):
        values = []
        for piece in range(16):
            values.append(hill(trial, piece))
            trial.report(values[-1], piece)
            if trial.should_prune():
                raise optuna.TrialPruned
        return float(np.mean(values))

    by_hand, by_wrapper = study(pruner=RacePruner()), study()
    by_hand.optimize(objective, n_trials=8)
    by_wrapper.optimize(raced(hill, range(16)), n_trials=8)
    assert [t.intermediate_values for t in by_hand.trials] == [t.intermediate_values for t in by_wrapper.trials]


def test_the_pieces_of_the_race_choose_nothing(benchmark):
    """The best trial by the second half is the incumbent, whatever the first half says."""
    found = study()
    for number, values in enumerate(([9.0, 9, 9, 0, 0, 0], [0.0, 0, 0, 1, 1, 1])):
        found.add_trial(benchmark.trial(number, np.array(values), complete=True))
    pieces, incumbent = race(found, 2)
    assert pieces == [0, 1, 2]
    assert incumbent.number == 1
    assert differences(found, {0: -1.0, 4: -5.0, 1: math.nan}, incumbent, pieces).tolist() == [1.0]
    assert race(found, 1)[1].number == 0  # never oneself
    assert race(study(), 0) == ([], None)


def test_against_a_drift_the_incumbent_is_measured_again():
    """Each reading is 1 worse than the one before: without it every later trial is stopped."""
    clock = iter(range(10**6))
    calls = []

    def drifting(trial, piece):
        calls.append((trial.number, piece))
        return hill(trial, piece) - next(clock)

    found = study()
    found.optimize(raced(drifting, range(16), again=True), n_trials=12)
    assert len(calls) == 16 + 2 * sum(len(trial.intermediate_values) for trial in found.trials[1:])
    assert abs(found.best_params["x"] - 0.7) < 0.2
    beside = [calls[i][0] for i in range(16, 48, 2)]
    assert 2 < sum(number == 0 for number in beside) < 14  # in random order


def test_what_makes_no_race_is_refused():
    with pytest.raises(TypeError, match=r"`instances` must be a list such as range\(20\), got 5"):
        raced(lambda trial, instance: 0.0, 5)
    with pytest.raises(ValueError, match="`instances` must be at least two, got 1"):
        raced(hill, [0])
    with pytest.raises(ValueError, match="`alpha` must"):
        RacePruner(1.5)
    with pytest.raises(ValueError, match="`alpha` must"):
        raced(hill, range(4), alpha=0.0)
    assert not worse(np.array([]), 0.05)
    assert not worse(np.zeros(20), 0.05)


def test_equal_readings_stop_nothing():
    found = study(pruner=RacePruner())
    found.optimize(raced(lambda trial, piece: 1.0 + 0 * trial.suggest_float("x", 0, 1), range(16)), n_trials=3)
    assert [trial.state for trial in found.trials] == [optuna.trial.TrialState.COMPLETE] * 3
