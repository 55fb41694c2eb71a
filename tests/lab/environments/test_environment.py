import copy
import math
import pickle

import numpy as np
import pytest

from equipoise.lab.environments import BIASES, FUNCTIONS, Drift, Environment, camelback, linear


def points_of(function, n, seed):
    rng = np.random.default_rng(seed)
    if function.is_finite:
        return function.points[rng.integers(len(function.points), size=n)]
    return rng.uniform(*function.bounds.T, (n, function.dimension))


def measured(environment, points):
    return [environment.measure(x) for x in points]


@pytest.mark.parametrize("name", sorted(FUNCTIONS))
def test_a_reading_is_value_plus_noise_plus_offset(name):
    function = FUNCTIONS[name](np.random.default_rng(0))
    environment = Environment(function, Drift(-0.5), noise=0.2, rng=3)
    points = points_of(function, 10, seed=1)
    shown = measured(environment, points)
    assert [r.time for r in environment.history] == list(range(1, 11))
    assert [r.y for r in environment.history] == shown
    for x, reading in zip(points, environment.history, strict=True):
        np.testing.assert_array_equal(reading.x, x)
        assert reading.value == pytest.approx(float(function(x)), abs=1e-12)
        assert reading.y == reading.value + reading.offset + reading.noise
        assert environment.regret(x) == pytest.approx(float(function.regret(x)), abs=1e-12)
    assert environment.readings == 10


@pytest.mark.parametrize("name", sorted(BIASES))
def test_the_noise_depends_on_seed_and_time_only(name):
    function = camelback().on_grid(30)
    plain = Environment(function, noise=1.0, rng=5)
    biased = Environment(function, BIASES[name](), noise=1.0, rng=5)
    measured(plain, points_of(function, 600, seed=1))
    measured(biased, points_of(function, 600, seed=2))
    assert [r.noise for r in plain.history] == [r.noise for r in biased.history]


@pytest.mark.parametrize("name", ["jumps", "random-walk", "blocks"])
def test_the_stream_of_the_bias_is_its_own(name):
    function = linear(rng=0)
    quiet, loud = (Environment(function, BIASES[name](), noise=s, rng=5) for s in (0.0, 2.0))
    measured(quiet, points_of(function, 300, seed=1))
    measured(loud, points_of(function, 300, seed=2))
    assert [r.offset for r in quiet.history] == [r.offset for r in loud.history]


def test_noise_has_the_stated_deviation_and_is_independent():
    environment = Environment(linear(rng=0), noise=0.5, rng=0)
    x, n = environment.function.points[0], 20_000
    noise = np.array(measured(environment, [x] * n)) - environment.function.locate(x)[1]
    # Five standard errors each: a false alarm less than once in 10^5.
    assert abs(noise.mean()) < 5 * 0.5 / math.sqrt(n)
    assert noise.std() == pytest.approx(0.5, abs=5 * 0.5 / math.sqrt(2 * n))
    assert abs(np.corrcoef(noise[1:], noise[:-1])[0, 1]) < 5 / math.sqrt(n)


def test_seeds_differ_and_a_shared_generator_gives_new_streams():
    function = linear(rng=0)
    rng = np.random.default_rng(0)
    environments = [Environment(function, noise=1.0, rng=seed) for seed in (0, 1, rng, rng)]
    assert len({e.measure(function.points[0]) for e in environments}) == 3  # seed 0 twice, by design


@pytest.mark.parametrize("name", sorted(BIASES))
@pytest.mark.parametrize("copied", [copy.deepcopy, lambda thing: pickle.loads(pickle.dumps(thing))])
def test_copies_continue_alike_and_apart(name, copied):
    function = linear(rng=0)
    environment = Environment(function, BIASES[name](), noise=1.0, rng=5)
    points = points_of(function, 60, seed=1)
    measured(environment, points[:30])
    twin = copied(environment)
    assert measured(environment, points[30:]) == measured(twin, points[30:])
    assert twin.readings == len(twin.history) == 60


def test_the_learner_cannot_change_the_past():
    environment = Environment(camelback())
    x = np.array([0.5, 0.5])
    environment.measure(x)
    x[:] = 0.0
    np.testing.assert_array_equal(environment.history[0].x, [0.5, 0.5])
    with pytest.raises(ValueError, match="read-only"):
        environment.history[0].x[0] = 1.0


def test_history_can_be_left_out():
    environment = Environment(camelback(), BIASES["calibration"](), rng=0, keep_history=False)
    measured(environment, points_of(camelback(), 20, seed=0))
    assert environment.readings == 20
    assert environment.history == []


def test_a_refused_point_leaves_no_trace():
    function = linear(rng=0)
    tried, plain = (Environment(function, BIASES["random-walk"](), noise=1.0, rng=0) for _ in range(2))
    with pytest.raises(ValueError, match=r"`x` must have shape \(4\), got \(3,\)"):
        tried.measure([1.0, 2.0, 3.0])
    with pytest.raises(ValueError, match="`x` must be finite"):
        tried.measure([1.0, 2.0, 3.0, math.nan])
    assert tried.readings == 0
    assert tried.measure(function.points[0]) == plain.measure(function.points[0])


def test_negative_noise_is_refused():
    with pytest.raises(ValueError, match="`noise` must not be negative, got -1"):
        Environment(camelback(), noise=-1)
