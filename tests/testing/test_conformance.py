"""Every part that the library exports obeys the rules for its kind; a part that is exported and not here fails."""

import inspect

import numpy as np
import pytest

import equipoise as eq
from equipoise import kernels, likelihoods, offsets, policies, reductions, spaces, testing
from equipoise.lab import environments
from equipoise.lab.environments import BIASES, FUNCTIONS
from equipoise.log.parts import known_part
from equipoise.spaces import Fixed

UNIT = ("ignores_the_unit",)  # left out for what assumes noise of scale one, as their papers do
LEVEL = ("learns_a_level",)  # left out for what is not meant to learn one
POLICIES = {
    eq.BOSE(): UNIT,
    eq.IDS(): (),
    eq.IDS(floor=0.1): (),
    eq.UCB(): (),
    eq.Challenger(): (),
    eq.Challenger(boldness=0.0, climb=True): (),
    eq.DoubleThompson(): (),
    policies.EUBO(): (),
    policies.MaxInfo(): (),
    policies.MaxMinLCB(): (),
    policies.PairIDS(): (),
    policies.Random(): (),
    eq.SemiTS(draws=200): UNIT,
}
OFFSETS = [
    eq.Arbitrary(),
    eq.Constant(),
    eq.Tracked(),
    eq.Tracked(guard=None),
    eq.Blocks(4),
    eq.Blocks(1, guard=2.0),
    offsets.Steady(),
    offsets.Steady(guard=3.0),
]
LIKELIHOODS = [likelihoods.Gaussian(), likelihoods.Poisson(), likelihoods.Binomial()]
FORECASTERS = {
    reductions.Zero(): LEVEL,
    reductions.RunningMean(): (),
    reductions.ExponentialAverage(): (),
    reductions.ExponentialAverage(rate=1.0): (),
    reductions.LastOffset(): (),
    reductions.MinusLast(): LEVEL,
    reductions.Trend(): (),
    reductions.BestForecaster(): (),
}
REDUCTIONS = [eq.TwoPoint(), eq.OnePoint(), eq.OnePoint(eq.BestForecaster()), eq.Centered(), eq.Direct()]
KERNELS = [
    eq.RBF(0.3),
    eq.Matern52([0.2, 0.4, 0.5]),
    kernels.Matern32(0.3),
    eq.Linear(),
    kernels.Levels([0.5, 2.0, 0.7], [0.0, 0.3, 0.2], [0, 1, 1, 2], [1.0, 0.0, 1.4, 1.0]),
    2.0 * eq.RBF(0.3),
    eq.RBF(0.3) + eq.Linear(),
    eq.RBF(0.3) * eq.Linear(),
]


def in_the_disk(x):
    return float(x @ x) < 1


def light(x):
    return x["a"] * x["n"] < 4


SPACES = [
    eq.Finite([[0.0, 5.0], [1.0, 5.0], [-0.0, 4.0]]),
    eq.Finite(np.random.default_rng(0).uniform(-3, 3, (eq.Finite.LARGE + 1, 2))),
    eq.Box([(-2, 2), (-1, 1)], candidates=32, constraint=in_the_disk),
    eq.Space(q1=eq.Float(-2, 2), candidates=32),
    eq.Space(
        a=eq.Float(0.1, 10, log=True),
        n=eq.Int(1, 9),
        c=eq.Choice(["x", "y"]),
        k=Fixed(3),
        candidates=32,
        constraint=light,
    ),
    eq.Space(n=eq.Int(1, 3), c=eq.Choice(["x", "y", "z"])),
    eq.Space(n=eq.Int(1, 2000, log=True)),
    eq.Space(q=eq.Float(0, 1, step=0.1), temp=eq.Context(0, 40), sample=eq.Context(["dry", "wet"]), candidates=32),
]


OF_READINGS = {"LAST_READING", "Accounted", "Accounts", "Circumstances", "Covariate", "accounted", "unaccounted"}
"""What the belief makes of a law by what was told of the readings; tests/offsets/test_accounted.py."""

OF_ANSWERS = set(likelihoods.__all__) - {
    name for name in likelihoods.__all__ if hasattr(getattr(likelihoods, name), "exact") and name != "Likelihood"
}
"""Exported classes that are not likelihoods of readings: those for judgements and for propagation."""


def names(parts):
    return {type(part).__name__ for part in parts}


PLANTS = {"beam_line_with_loss", "branin_in_a_disk", "dtlz2", "gp_plant", "townsend", "zdt1"}
"""What has several numbers a trial."""


@pytest.mark.parametrize("name", sorted(PLANTS))
def test_a_plant_has_a_usable_start_and_a_better_setting(name):
    plant = getattr(environments, name)()
    points = np.random.default_rng(0).uniform(*plant.bounds.T, (4000, len(plant.bounds)))
    gains = plant.values(points) - plant.values(plant.start)
    assert plant.holds(plant.start)
    assert np.isfinite(gains).all()
    assert (gains[plant.holds(points)] > 0).any(axis=0).all()


def plain_functions(package):
    return {name for name in package.__all__ if inspect.isfunction(getattr(package, name))}


@pytest.mark.parametrize(
    ("package", "covered", "no_part"),
    [
        (policies, names(POLICIES), {"Policy", "SemiTSPosterior"}),
        (
            offsets,
            names(OFFSETS),
            {"Offset", "Law", "Hyperparameter", "Moments", "OffsetModel", "Prepared"} | OF_READINGS,
        ),
        (likelihoods, names(LIKELIHOODS), OF_ANSWERS),
        (reductions, names(REDUCTIONS) | names(FORECASTERS), {"Reduction", "Baseline"}),
        (kernels, names(KERNELS), {"Kernel", "Stationary"}),
        (
            spaces,
            names(SPACES) | names(p for space in SPACES for p in getattr(space, "parameters", {}).values()),
            {"Domain", "space_from_dict"},
        ),
        (
            environments,
            names(make() for make in BIASES.values()) | plain_functions(environments),
            {"BIASES", "FUNCTIONS", "Bias", "BiasProcess", "Environment", "Function", "Measurement", "Simulator"}
            | {"Plant", "PlantReadings"},
        ),
    ],
    ids=lambda value: getattr(value, "__name__", ""),
)
def test_the_lists_cover_what_is_exported(package, covered, no_part):
    assert covered | no_part == set(package.__all__), "list it here, or say that it is no part"
    assert not covered & no_part


def test_every_test_function_and_made_bias_has_a_name_of_its_own():
    used = {name for make in FUNCTIONS.values() for name in make.__code__.co_names}
    assert plain_functions(environments) - used - PLANTS == {"authors_calibration"}
    assert environments.authors_calibration in BIASES.values()


def test_what_is_covered_is_written_to_a_log_as_what_it_is():
    for part in (*POLICIES, *OFFSETS, *LIKELIHOODS, *FORECASTERS, *REDUCTIONS, *KERNELS):
        assert known_part(type(part).__name__) is type(part)


@pytest.mark.parametrize(("policy", "without"), POLICIES.items(), ids=repr)
def test_policies(policy, without):
    testing.check_policy(policy, without=without)


@pytest.mark.parametrize("law", OFFSETS, ids=repr)
def test_offsets(law):
    testing.check_offset(law)


@pytest.mark.parametrize("likelihood", LIKELIHOODS, ids=repr)
def test_likelihoods(likelihood):
    testing.check_likelihood(likelihood)


@pytest.mark.parametrize("reduction", REDUCTIONS, ids=repr)
def test_reductions(reduction):
    testing.check_reduction(reduction)


@pytest.mark.parametrize(("baseline", "without"), FORECASTERS.items(), ids=repr)
def test_forecasters(baseline, without):
    testing.check_forecaster(baseline, without=without)


@pytest.mark.parametrize("kernel", KERNELS, ids=repr)
def test_kernels(kernel):
    testing.check_kernel(kernel)


@pytest.mark.parametrize("space", SPACES, ids=lambda space: repr(space)[:60])
def test_spaces(space):
    testing.check_space(space)


@pytest.mark.parametrize("name", BIASES)
def test_biases(name):
    testing.check_bias(BIASES[name]())


@pytest.mark.parametrize("name", FUNCTIONS)
def test_functions(name):
    testing.check_function(FUNCTIONS[name](np.random.default_rng(0)))


@pytest.mark.parametrize("part", [*POLICIES, *FORECASTERS], ids=repr)
def test_a_rule_is_left_out_only_where_it_is_broken(part):
    """So that no exemption outlives its reason."""
    check, without = (
        (testing.check_policy, POLICIES[part]) if part in POLICIES else (testing.check_forecaster, FORECASTERS[part])
    )
    for rule in without:
        with pytest.raises(AssertionError, match=f"breaks `{rule}`"):
            check(part)
