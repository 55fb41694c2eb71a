"""Experiments: names, keys, and the same world for every learner."""

import json
import pickle

import numpy as np
import pytest

import equipoise as eq
from equipoise.lab.environments import BIASES, FUNCTIONS
from equipoise.lab.experiments import LEARNERS, Experiment
from equipoise.lab.experiments.experiment import streams


@pytest.mark.parametrize("bias", ["none", "jumps", "random-walk", "blocks"])
@pytest.mark.parametrize("repetition", [0, 7])
def test_two_learners_meet_the_same_actions_noise_and_offsets(bias, repetition):
    worlds = [Experiment(name, "linear", bias, 50, seed=3).plan.start(repetition)[1] for name in ("UCB", "IDS-two")]
    first, second = (world.function for world in worlds)
    np.testing.assert_array_equal(first.points, second.points)
    rng = np.random.default_rng(0)
    for i, j in rng.integers(len(first.points), size=(300, 2)):
        readings = worlds[0].measure(first.points[i]), worlds[1].measure(second.points[j])
        shifts = readings[0] - float(first(first.points[i])), readings[1] - float(second(second.points[j]))
        assert shifts[0] == pytest.approx(shifts[1], abs=1e-12)


def test_a_learner_does_not_disturb_the_noise_by_drawing():
    plans = [Experiment(name, "linear", "none", 20).plan for name in ("SemiTS", "random")]
    noise = []
    for plan in plans:
        optimizer, environment = plan.start(0)
        for _ in range(20):
            trial = optimizer.ask()
            value = environment.measure(trial.x)
            optimizer.tell(trial, value)
            noise.append(value - float(environment.function(trial.x)))
    np.testing.assert_allclose(noise[:20], noise[20:], atol=1e-12)


def test_repetitions_and_seeds_differ():
    draws = {streams(seed, repetition)[1].random() for seed in range(5) for repetition in range(20)}
    assert len(draws) == 100


def test_a_repetition_is_a_function_of_its_settings():
    experiment = Experiment("IDS-two", "linear", "drift", readings=60, seed=5)
    first, second = experiment.plan.run(2), experiment.plan.run(2)
    np.testing.assert_array_equal(first.regrets, second.regrets)
    assert not np.array_equal(first.regrets, experiment.plan.run(3).regrets)


BASE = {"learner": "UCB", "function": "camelback-grid", "bias": "none", "readings": 10, "seed": 0}
CHANGES = [
    {"learner": "UCB-scaled"},
    {"function": "gp"},
    {"bias": "drift"},
    {"readings": 11},
    {"seed": 1},
    {"noise": 0.5},
    {"lengthscale": 0.5},
    {"engine": "fleet"},
]


@pytest.mark.parametrize("change", CHANGES, ids=str)
def test_any_changed_setting_changes_the_key(change):
    assert Experiment(**BASE).key != Experiment(**(BASE | change)).key
    assert Experiment(**BASE).key == Experiment(**BASE).key


def test_the_key_knows_the_parts_of_learner_and_bias(monkeypatch):
    key = Experiment(**BASE).key
    monkeypatch.setitem(LEARNERS, "UCB", lambda problem, rng: problem.learner(eq.UCB(), rng, widening=1.5))
    other = Experiment(**BASE).key
    monkeypatch.undo()
    monkeypatch.setitem(BIASES, "none", BIASES["drift"])
    assert len({key, other, Experiment(**BASE).key}) == 3


def test_a_default_that_is_spelled_out_still_says_what_it_is():
    description = Experiment(**BASE).description
    assert description["noise"] == pytest.approx(0.1**0.5)
    assert description["parts"]["kernel"] == "RBF(lengthscale=0.2)"
    assert description["parts"]["confidence"] == "FixedConfidence(beta=1.0)"
    assert description["version"] == eq.__version__
    assert json.loads(json.dumps(description)) == description


NAMES = [("learner", "IDS-two"), ("function", "branin"), ("bias", "periodic"), ("engine", "fleet")]


@pytest.mark.parametrize(("what", "rule"), NAMES)
def test_unknown_names_are_answered_with_the_choices(what, rule):
    with pytest.raises(ValueError, match=f"`{what}` must be one of .*{rule}.*; got 'nobody'"):
        Experiment(**(BASE | {what: "nobody"}))


@pytest.mark.parametrize("change", [{"readings": 0}, {"seed": -1}, {"noise": -1.0}, {"lengthscale": 0.0}], ids=str)
def test_numbers_are_checked(change):
    with pytest.raises(ValueError, match=next(iter(change))):
        Experiment(**(BASE | change))


def test_an_experiment_travels():
    experiment = Experiment(**BASE)
    assert experiment.key == pickle.loads(pickle.dumps(experiment)).key
    assert pickle.loads(pickle.dumps(experiment)) == experiment


@pytest.mark.parametrize("function", list(FUNCTIONS))
def test_every_function_makes_a_problem(function):
    optimizer, environment = Experiment("IDS-two", function, readings=2).plan.start(0)
    for _ in range(2):
        trial = optimizer.ask()
        optimizer.tell(trial, environment.measure(trial.x))
    assert environment.noise > 0
    assert optimizer.recommend().readings == 2
