"""The two engines of the paper's figures: one array program for all repetitions, and one repetition at a time."""

import math

import numpy as np
import pytest

from equipoise.lab.experiments import Experiment
from equipoise.lab.experiments.experiment import streams
from equipoise.lab.experiments.problems import problem
from equipoise.lab.experiments.results import Result
from equipoise.lab.fleet import Blueprint, Worlds, simulate

REPETITIONS = 24


def together(experiment, repetitions):
    """Run all repetitions of an experiment in one array program."""
    plan, rngs = experiment.plan, [streams(experiment.seed, i) for i in range(repetitions)]
    functions = [plan.function(function_rng) for function_rng, _, _ in rngs]
    told = [problem(experiment.function, f, experiment.noise, experiment.lengthscale) for f in functions]
    learners = [plan.learner(each, rng) for each, (_, _, rng) in zip(told, rngs, strict=True)]
    worlds = Worlds(functions, plan.bias, told[0].noise, [rng for _, rng, _ in rngs])
    return simulate(Blueprint.of(learners), worlds, experiment.readings, rng=experiment.seed)


CELLS = [
    ("UCB", "linear", "drift", 100),
    ("IDS-one", "linear", "negative-repeat", 100),
    ("IDS-two", "linear", "drift", 150),
    ("IDS-two-honest", "linear", "compensated-drift", 150),
    ("SemiTS", "linear", "none", 60),
    ("BOSE", "linear", "none", 60),
    ("challenger", "linear", "drift", 100),
    ("thompson", "linear", "none", 100),
]


@pytest.mark.filterwarnings("ignore")  # of what a learner that is fooled should not claim
@pytest.mark.parametrize(("learner", "function", "bias", "readings"), CELLS)
def test_the_levels_agree(learner, function, bias, readings):
    """Both meet the same worlds, so their difference is that of the coins alone; five deviations: chance 1e-6."""
    experiment = Experiment(learner, function, bias, readings)
    first = np.array([course.cumulative[-1] for course in together(experiment, REPETITIONS)])
    second = np.array([experiment.plan.run(i).cumulative[-1] for i in range(REPETITIONS)])
    difference = first - second
    assert abs(difference.mean()) <= 5 * difference.std(ddof=1) / math.sqrt(REPETITIONS) + 1e-9


def test_a_course_is_what_a_result_is_made_of():
    experiment = Experiment("IDS-two", "camelback-grid", "calibration", readings=6)
    courses = together(experiment, 2)
    result = Result.of(courses[1], 1)
    assert result.repetition == 1
    assert len(result.regret) == len(result.at) == 6
    assert result.gap_bound > 0
    assert Result.from_json(result.to_json()) == result
