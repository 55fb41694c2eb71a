"""Learners by name: each works, and is set up as the paper says."""

import math

import pytest

import equipoise as eq
from equipoise.lab.environments import branin, camelback, linear
from equipoise.lab.experiments import LEARNERS, problem, run
from equipoise.lab.experiments.experiment import Experiment
from equipoise.lab.experiments.problems import spread

LINEAR = problem("linear", linear(rng=0))
CAMELBACK = problem("camelback-grid", camelback().on_grid(30))


@pytest.mark.parametrize("name", list(LEARNERS))
def test_every_learner_runs_on_the_linear_problem(name):
    trace = run(*Experiment(name, "linear", "drift", readings=12).plan.start(0), readings=12)
    assert len(trace.regrets) == 12


@pytest.mark.parametrize("name", sorted(set(LEARNERS) - {"SemiTS", "SemiTS-authors", "IDS-pairs"}))
def test_learners_run_on_a_box(name):
    trace = run(*Experiment(name, "camelback", readings=4).plan.start(0), readings=4)
    assert len(trace.regrets) == 4


def test_semits_says_that_it_needs_a_finite_set():
    with pytest.raises(ValueError, match="SemiTS needs a finite set"):
        Experiment("SemiTS", "branin").plan.start(0)


@pytest.mark.parametrize(
    ("name", "rho"),
    [("UCB", 1.0), ("IDS-one", 1.0), ("IDS-two", 1.0), ("IDS-one-honest", 2.0), ("IDS-two-honest", math.sqrt(2))],
)
def test_the_linear_learners_have_the_papers_coefficient(name, rho):
    posterior = LEARNERS[name](LINEAR, 0).posterior
    assert posterior.confidence == eq.PaperConfidence(rho, 1.0, 0.05)
    assert (posterior.regularizer, posterior.kernel) == (1.0, eq.Linear())


@pytest.mark.parametrize("name", ["UCB", "IDS-one", "IDS-two"])
def test_the_camelback_learners_have_a_fixed_coefficient(name):
    posterior = LEARNERS[name](CAMELBACK, 0).posterior
    assert posterior.confidence == eq.FixedConfidence(1.0)
    assert (posterior.regularizer, posterior.kernel) == (1.0, eq.RBF(0.2))


def test_the_honest_ones_know_their_noise_without_a_norm_bound_too():
    posterior = LEARNERS["IDS-two-honest"](CAMELBACK, 0).posterior
    assert posterior.regularizer == pytest.approx(0.2)
    assert posterior.confidence.beta == pytest.approx(0.2 * 2 * math.log(20))


def test_scaled_ucb_has_intervals_twice_as_wide():
    for told in (LINEAR, CAMELBACK):
        plain, scaled = (LEARNERS[name](told, 0).posterior.beta for name in ("UCB", "UCB-scaled"))
        assert scaled == pytest.approx(4 * plain)


def test_other_problems_are_set_up_in_the_units_of_the_function():
    function = branin()
    told, s = problem("branin", function), spread(function)
    assert told.kernel.diagonal([[0.5, 0.5]])[0] == pytest.approx(s**2)
    assert told.regularizer == pytest.approx(s**2)
    assert told.noise == pytest.approx(0.1 * s)
    assert problem("branin", function, noise=2.0).noise == 2.0


def test_the_linear_problem_has_no_lengthscale():
    with pytest.raises(ValueError, match="lengthscale"):
        problem("linear", linear(rng=0), lengthscale=0.3)
