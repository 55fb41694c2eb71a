import ast
import copy
import pickle
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize

import equipoise.lab.environments
from equipoise.lab.environments import FUNCTIONS, Function, additive, camelback, gp_draw, hartmann3, linear
from equipoise.lab.environments.beamline import BEAM, beam_line, drift_space, quadrupole, transfer

NAMES = sorted(FUNCTIONS)
ONE_DIMENSION = [[0.0, 1.0]]


def draw(name, seed=0):
    return FUNCTIONS[name](np.random.default_rng(seed))


def sample(function, n, seed=1):
    rng = np.random.default_rng(seed)
    if function.is_finite:
        return function.points[rng.integers(len(function.points), size=n)]
    low, high = function.bounds.T
    return rng.uniform(low, high, (n, function.dimension))


def refined(function, start):
    return -minimize(lambda x: -function(x), start, bounds=function.bounds, method="L-BFGS-B").fun


@pytest.mark.parametrize("name", NAMES)
def test_nothing_beats_the_declared_maximum(name):
    function = draw(name)
    points = sample(function, 30_000)
    values = np.concatenate([function(block) for block in np.split(points, 10)])
    assert values.max() <= function.maximum + 1e-12
    if not function.is_finite:
        starts = [function.maximizer, *points[np.argsort(-values)[:5]]]
        assert max(refined(function, x) for x in starts) <= function.maximum + 1e-9


@pytest.mark.parametrize("name", NAMES)
def test_the_maximizer_lies_in_the_domain_and_reaches_the_maximum(name):
    function = draw(name)
    assert function(function.maximizer) == pytest.approx(function.maximum, abs=1e-12)
    assert abs(function.regret(function.maximizer)) <= 1e-12
    if function.is_finite:
        assert (function.points == function.maximizer).all(axis=1).any()
    else:
        low, high = function.bounds.T
        assert ((low <= function.maximizer) & (function.maximizer <= high)).all()


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("name", ["gp", "additive", "linear"])
def test_random_functions_declare_their_optimum_for_every_seed(name, seed):
    function = draw(name, seed)
    points = sample(function, 5000)
    values = function(points)
    assert values.max() <= function.maximum + 1e-12
    if not function.is_finite:
        assert refined(function, points[np.argmax(values)]) <= function.maximum + 1e-9


@pytest.mark.parametrize("name", NAMES)
def test_calls_are_vectorized_over_leading_axes(name):
    function = draw(name)
    points = sample(function, 6)
    alone = [float(function(x)) for x in points]
    np.testing.assert_allclose(function(points.reshape(2, 3, -1)), np.reshape(alone, (2, 3)), atol=1e-12)
    assert np.ndim(function(points[0])) == 0
    assert [function.locate(x)[1] for x in points] == pytest.approx(alone, abs=1e-12)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("copied", [copy.deepcopy, lambda function: pickle.loads(pickle.dumps(function))])
def test_copies_are_equal_and_read_only(name, copied):
    function = draw(name)
    points = sample(function, 10)
    function.locate(points[0])
    twin = copied(function)
    np.testing.assert_array_equal(twin(points), function(points))
    assert twin.maximum == function.maximum
    assert not twin.maximizer.flags.writeable


@pytest.mark.parametrize("name", NAMES)
def test_the_same_seed_gives_the_same_function(name):
    points = sample(draw(name, 3), 10)
    np.testing.assert_array_equal(draw(name, 3)(points), draw(name, 3)(points))


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("camelback", 1.0316284535),
        ("branin", -0.3978873577),
        ("hartmann3", 3.86278),
        ("hartmann6", 3.32237),
        ("ackley", 0.0),
        ("rosenbrock", 0.0),
        ("levy", 0.0),
    ],
)
def test_optima_of_the_literature(name, value):
    assert draw(name).maximum == pytest.approx(value, abs=5e-6)


def test_textbook_formulas_of_ackley_and_levy():
    x = np.array([0.3, -1.7])
    root, waves = np.sqrt((x**2).mean()), np.cos(2 * np.pi * x).mean()
    ackley = -20 * np.exp(-0.2 * root) - np.exp(waves) + 20 + np.e
    assert draw("ackley")(x) == pytest.approx(-ackley)
    w = 1 + (x - 1) / 4
    levy = np.sin(np.pi * w[0]) ** 2 + (w[0] - 1) ** 2 * (1 + 10 * np.sin(np.pi * w[0] + 1) ** 2)
    levy += (w[1] - 1) ** 2 * (1 + np.sin(2 * np.pi * w[1]) ** 2)
    assert draw("levy")(x) == pytest.approx(-levy)


def test_camelback_grid_is_the_papers():
    grid = draw("camelback-grid")
    assert grid.points.shape == (900, 2)
    assert grid.maximum == pytest.approx(1.0286, abs=5e-5)
    assert float(camelback()([2.0, 1.0])) == -2.5


@given(n=st.integers(2, 6))
@settings(max_examples=5, deadline=None)
def test_grids_are_row_major_with_their_ends(n):
    grid = hartmann3().on_grid(n)
    axis = np.linspace(0, 1, n)
    by_hand = [[a, b, c] for a in axis for b in axis for c in axis]
    np.testing.assert_array_equal(grid.points, by_hand)
    assert grid.maximum == grid(grid.points).max() <= hartmann3().maximum


def test_linear_is_the_papers():
    function = linear(rng=4)
    assert function.points.shape == (20, 4)
    np.testing.assert_allclose(np.linalg.norm(function.points, axis=1), 1)
    theta = function(np.eye(4))
    assert np.linalg.norm(theta) == pytest.approx(1)
    np.testing.assert_allclose(function(function.points), function.points @ theta)


def test_additive_is_the_sum_of_its_parts():
    function = additive(3, rng=0)
    x = sample(function, 50)
    by_hand = sum(part(x[:, [i]]) for i, part in enumerate(function.parts))
    np.testing.assert_allclose(function(x), by_hand)
    assert function.maximum == pytest.approx(sum(part.maximum for part in function.parts))
    grid = function.on_grid(5)
    assert grid.maximum == pytest.approx(sum(part.maximum for part in grid.parts))


def test_gp_draws_have_the_rbf_covariance():
    n = 2000
    points = np.array([[0.0], [0.2], [1.0]])
    rng = np.random.default_rng(0)
    values = np.array([gp_draw(points=points, features=16, rng=rng)(points) for _ in range(n)])
    expected = np.exp(-0.5 * ((points - points.T) / 0.2) ** 2)
    # Each product has variance at most 2 for a Gaussian, a little more with 16 features; 5 standard errors
    # of 6 distinct entries: a false alarm less than once in 10^5.
    np.testing.assert_allclose(values.T @ values / n, expected, atol=5 * np.sqrt(2.5 / n))


@given(k=st.lists(st.floats(-6, 6), min_size=3, max_size=3))
@settings(max_examples=50, deadline=None)
def test_beam_optics_are_symplectic(k):
    J = np.kron(np.eye(2), [[0.0, 1.0], [-1.0, 0.0]])
    R = transfer(k)
    # Entries reach about 50, so products of two rows lose three digits.
    np.testing.assert_allclose(R.T @ J @ R, J, atol=1e-11)
    assert np.linalg.det(R) == pytest.approx(1, abs=1e-9)


@given(k=st.floats(-6, 6))
def test_a_quadrupole_is_two_halves_and_solves_hills_equation(k):
    half = quadrupole(k, 0.1)
    np.testing.assert_allclose(half @ half, quadrupole(k, 0.2), atol=1e-13)
    kick = np.zeros((4, 4))
    kick[1, 0], kick[3, 2] = -k, k
    steps = np.linalg.matrix_power(drift_space(1e-5) + 1e-5 * kick, 20_000)
    np.testing.assert_allclose(steps, quadrupole(k, 0.2), atol=1e-4)


def test_beam_intensity_is_the_fraction_of_particles_that_pass():
    n, k = 200_000, np.array([-1.0, 5.0, -5.0])
    particles = np.random.default_rng(0).standard_normal((n, 4)) * np.sqrt(np.diag(BEAM))
    arrived = particles @ transfer(k).T
    passed = (np.abs(arrived[:, [0, 2]]) < 0.7e-3).all(axis=1).mean()
    assert beam_line()(k) == pytest.approx(passed, abs=5 * np.sqrt(0.25 / n))
    assert beam_line()(sample(beam_line(), 1000)).min() >= 0


def test_beam_line_optimum_is_stationary_and_inside():
    line = beam_line()
    steps = 1e-4 * np.eye(3)
    slope = (line(line.maximizer + steps) - line(line.maximizer - steps)) / 2e-4
    assert np.abs(slope).max() < 1e-8
    assert (np.abs(line.maximizer) < 5.9).all()


def test_points_are_looked_up_whatever_their_form():
    function = Function.finite("square", lambda x: (x**2).sum(-1), [[0.0, -0.0], [1.0, 2.0]])
    for same in ([1, 2], np.array([1, 2]), np.array([1, 2], dtype=np.float32), np.array([9.0, 1, 0, 2])[1::2]):
        assert function.locate(same)[0].base is function.points
    assert function.locate(np.array([-0.0, 0.0]))[0].base is function.points
    assert function.locate([3.0, 0.0])[1] == 9.0


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        (lambda: camelback()([1.0, 2.0, 3.0]), r"`x` must have shape \(..., 2\), got \(3,\)"),
        (lambda: camelback().locate([1.0]), r"`x` must have shape \(2\), got \(1,\)"),
        (lambda: camelback().locate(np.zeros((2, 1))), r"`x` must have shape \(2\), got \(2, 1\)"),
        (lambda: camelback().locate(np.array([np.nan, 0])), "`x` must be finite"),
        (lambda: draw("camelback-grid").on_grid(3), "finite domain"),
        (lambda: camelback().on_grid(1), "`per_dimension` must be at least 2"),
        (lambda: Function("f", np.sum, 0.0, np.zeros(1)), "exactly one of `bounds` and `points`"),
        (lambda: Function.box("f", np.sum, [[1.0, 1.0]], [1.0]), "`bounds` must have low < high"),
        (lambda: gp_draw(rng=0), "exactly one of `bounds` and `points`"),
        (lambda: gp_draw(bounds=ONE_DIMENSION, lengthscale=0.0), "`lengthscale` must be positive"),
        (lambda: gp_draw(bounds=ONE_DIMENSION, lengthscale=[0.1, 0.2]), r"`lengthscale` must have shape \(1\)"),
    ],
)
def test_errors_name_argument_rule_and_value(wrong, message):
    with pytest.raises(ValueError, match=message):
        wrong()


def test_the_package_imports_nothing_of_the_learners():
    allowed = ("numpy", "scipy", "equipoise._typing", "equipoise._validation", "equipoise.lab.environments")
    for file in Path(equipoise.lab.environments.__file__).parent.glob("*.py"):
        for node in ast.walk(ast.parse(file.read_text())):
            if isinstance(node, ast.ImportFrom) and node.module.split(".")[0] in ("equipoise", "numpy", "scipy"):
                assert node.module.startswith(allowed), f"{file.name} imports {node.module}"
