"""Statistics and statements, on curves whose growth is known."""

import numpy as np
import pytest

from equipoise.lab.experiments import Curves, Experiment, Result, checks
from equipoise.lab.experiments.results import grid
from equipoise.lab.experiments.statistics import growth, lead, level, median_interval, short

READINGS = 1000
AT = np.array(grid(READINGS), dtype=float)
EXPERIMENT = Experiment("UCB", "linear", readings=READINGS)


def curves(rows):
    """Curves with the given cumulative regret, shape (r, k)."""
    results = (Result(i, grid(READINGS), list(map(float, row)), [0.0], 0.0, 0.0, 1.0) for i, row in enumerate(rows))
    return Curves(EXPERIMENT, tuple(results))


def finals(values):
    return curves([value * AT / READINGS for value in values])


def noisy(power, scale=1.0, repetitions=50, seed=0):
    factors = np.random.default_rng(seed).lognormal(0, 0.5, size=(repetitions, 1))
    return curves(scale * factors * AT**power)


@pytest.mark.parametrize("power", [0.0, 0.5, 0.9, 1.0])
def test_growth_is_the_power_whatever_the_scale(power):
    np.testing.assert_allclose(growth(noisy(power, scale=7.0)), power, atol=1e-9)


def test_a_run_that_costs_nothing_does_not_grow():
    np.testing.assert_array_equal(growth(curves([0 * AT])), 0.0)
    assert growth(curves([np.maximum(AT - 900, 0)]))[0] > 1


@pytest.mark.parametrize(("power", "expected"), [(0.5, True), (0.74, True), (0.76, False), (1.0, False)])
def test_sublinear_and_linear_are_opposites(power, expected):
    assert checks.sublinear("", noisy(power)).passed is expected
    assert checks.linear("", noisy(power)).passed is not expected


def test_a_logarithm_is_sublinear_and_a_late_line_is_not():
    assert checks.sublinear("", curves([np.log1p(AT)] * 5)).passed
    assert checks.linear("", curves([50 + 0.3 * AT] * 5)).passed


def test_some_locked_runs_do_not_make_a_learner_linear_but_are_counted():
    rows = [np.sqrt(AT)] * 30 + [0.5 * AT] * 20
    check = checks.sublinear("", curves(rows))
    assert check.passed
    assert "20 of 50 runs linear" in check.numbers


def test_levels():
    result = level(np.array([1.0, 2.0, 3.0, 10.0]))
    assert (result.mean, result.median) == (4.0, 2.5)
    assert result.error == pytest.approx(2 * np.std([1, 2, 3, 10], ddof=1) / 2)
    assert str(level(np.array([5.0]))) == "5.0 ± -"


def test_the_interval_of_the_median_covers_it():
    rng = np.random.default_rng(0)
    samples = rng.exponential(size=(2000, 50))
    covered = [low <= np.log(2) <= high for low, high in map(median_interval, samples)]
    assert np.mean(covered) + 3 * np.sqrt(0.05 * 0.95 / 2000) >= 0.95
    assert median_interval(np.array([3.0, 1.0])) == (1.0, 3.0)


def test_differences_are_paired():
    world = np.random.default_rng(0).exponential(1000, size=50)  # differs far more than the learners do
    first, second = finals(world), finals(world + 10 + np.arange(50) % 3)
    assert lead(first, second).mean == pytest.approx(10.98)
    assert checks.ahead("", first, [second]).passed
    assert checks.behind("", second, [first]).passed
    assert not checks.on_a_par("", first, second).passed
    assert checks.best("", first, [second]).passed
    assert not checks.best("", second, [first]).passed


def test_equal_learners_are_on_a_par_and_both_best():
    rng = np.random.default_rng(1)
    first, second = finals(rng.normal(100, 10, 50)), finals(rng.normal(100, 10, 50))
    assert checks.on_a_par("", first, second).passed
    assert checks.best("", first, [second]).passed
    assert checks.best("", second, [first]).passed
    assert not checks.ahead("", first, [second]).passed


def test_close_and_much_worse_are_a_factor_of_three():
    assert checks.close("", finals([299] * 3), finals([100] * 3)).passed
    assert not checks.close("", finals([301] * 3), finals([100] * 3)).passed
    assert checks.much_worse("", finals([301] * 3), finals([100] * 3)).passed
    assert not checks.much_worse("", finals([299] * 3), finals([100] * 3)).passed


def test_close_forgives_a_few_bad_runs():
    assert checks.close("", finals([150] * 40 + [9000] * 10), finals([100] * 50)).passed


def test_a_statement_shows_its_verdict_and_numbers():
    text = str(checks.much_worse("UCB suffers", finals([100, 300]), finals([100, 100])))
    assert text.startswith("FAIL  UCB suffers: UCB (none) 200 ± 200, UCB (none) 100")


@pytest.mark.parametrize(
    ("value", "text"), [(0.0, "0"), (0.5, "0.5"), (12.34, "12.3"), (99.99, "100"), (-250.4, "-250"), (8412.2, "8412")]
)
def test_numbers_are_short(value, text):
    assert short(value) == text
