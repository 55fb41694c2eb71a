"""Kernels against scikit-learn, finite differences, and the laws that make a function a kernel."""

import copy
import dataclasses
import pickle
import tracemalloc

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from sklearn.gaussian_process import kernels as sk

import equipoise as eq
from equipoise.kernels import RBF, Kernel, Levels, Linear, Matern32, Matern52, Product, Scaled, Sum

LENGTHSCALES = (0.4, 1.3, 0.7)
STATIONARY = [cls(scale) for cls in (RBF, Matern32, Matern52) for scale in (0.6, LENGTHSCALES)]
COMPOSITE = [
    2.5 * RBF(0.3),
    Linear() + RBF(LENGTHSCALES),
    Linear() * Matern52(0.6),
    0.5 * (Matern32(0.4) + 2 * Linear()) * RBF(1.0) + Linear() * Linear(),
]
KERNELS = [*STATIONARY, Linear(), *COMPOSITE]

DOT = sk.DotProduct(sigma_0=0.0, sigma_0_bounds="fixed")
REFERENCES = [
    (RBF(0.6), sk.RBF(0.6)),
    (RBF(LENGTHSCALES), sk.RBF(LENGTHSCALES)),
    (Matern32(0.6), sk.Matern(0.6, nu=1.5)),
    (Matern32(LENGTHSCALES), sk.Matern(LENGTHSCALES, nu=1.5)),
    (Matern52(0.6), sk.Matern(0.6, nu=2.5)),
    (Matern52(LENGTHSCALES), sk.Matern(LENGTHSCALES, nu=2.5)),
    (Linear(), DOT),
    (RBF(0.6) + Linear(), sk.RBF(0.6) + DOT),
    (Matern52(0.6) * Linear(), sk.Matern(0.6, nu=2.5) * DOT),
    (3.0 * Matern32(0.6), sk.ConstantKernel(3.0) * sk.Matern(0.6, nu=1.5)),
    (2.0 * RBF(0.3) * Linear() + Matern32(1.5), 2.0 * sk.RBF(0.3) * DOT + sk.Matern(1.5, nu=1.5)),
]

over_kernels = pytest.mark.parametrize("kernel", KERNELS, ids=repr)
over_stationary = pytest.mark.parametrize("kernel", STATIONARY, ids=repr)


@pytest.fixture
def points():
    """Two lists of points in three dimensions; the second ends with the first's first two."""
    rng = np.random.default_rng(0)
    A = rng.normal(size=(7, 3))
    return A, np.concatenate([rng.normal(size=(5, 3)), A[:2]])


@pytest.mark.parametrize(("kernel", "reference"), REFERENCES, ids=lambda value: repr(value))
def test_agrees_with_scikit_learn(kernel, reference, points):
    A, B = points
    np.testing.assert_allclose(kernel(A, B), reference(A, B), rtol=1e-12, atol=1e-15)
    np.testing.assert_allclose(kernel.diagonal(A), reference.diag(A), rtol=1e-12)


@over_kernels
@settings(max_examples=30, deadline=None)
@given(X=hnp.arrays(np.float64, st.tuples(st.integers(1, 8), st.just(3)), elements=st.floats(-5, 5)))
def test_symmetric_positive_semidefinite_with_its_diagonal(kernel, X):
    K = kernel(X, X)
    scale = np.abs(K).max()
    np.testing.assert_allclose(K, K.T, rtol=1e-12, atol=1e-14 * scale)
    np.testing.assert_allclose(np.diag(K), kernel.diagonal(X), rtol=1e-12)
    assert np.linalg.eigvalsh(K).min() >= -1e-12 * max(scale, 1.0)


@over_stationary
def test_stationary_kernels_are_one_at_distance_zero(kernel, points):
    A, _ = points
    np.testing.assert_array_equal(np.diag(kernel(A, A)), np.ones(7))
    np.testing.assert_array_equal(kernel.diagonal(A), np.ones(7))


@over_kernels
def test_gradient_is_the_derivative_in_the_first_argument(kernel, points):
    A, B = points
    h = 1e-5
    numeric = np.stack([(kernel(A + e, B) - kernel(A - e, B)) / (2 * h) for e in h * np.eye(3)], axis=-1)
    np.testing.assert_allclose(kernel.gradient(A, B), numeric, rtol=1e-7, atol=1e-8)


@over_stationary
def test_gradients_vanish_at_coincident_points(kernel, points):
    A, _ = points
    np.testing.assert_array_equal(np.einsum("iij->ij", kernel.gradient(A, A)), np.zeros((7, 3)))


@over_stationary
def test_slope_is_the_derivative_of_the_profile(kernel):
    r2 = np.array([0.01, 0.3, 2.0, 9.0])
    h = 1e-6
    numeric = (kernel.profile(r2 + h) - kernel.profile(r2 - h)) / (2 * h)
    np.testing.assert_allclose(kernel.slope(r2), numeric, rtol=1e-6)


@pytest.mark.parametrize(("cls", "expected"), [(RBF, -1 / 2), (Matern32, -3 / 2), (Matern52, -5 / 6)])
def test_slope_at_distance_zero(cls, expected):
    np.testing.assert_allclose(cls.slope(np.zeros(1)), [expected], rtol=1e-15)


@over_kernels
def test_leading_axes_broadcast_as_a_loop_would(kernel):
    rng = np.random.default_rng(1)
    A, B = rng.normal(size=(2, 1, 4, 3)), rng.normal(size=(5, 6, 3))
    for operation in (kernel, kernel.gradient):
        loop = np.array([[operation(A[i, 0], B[j]) for j in range(5)] for i in range(2)])
        np.testing.assert_allclose(operation(A, B), loop, rtol=1e-13, atol=1e-15)
    loop = np.array([[kernel.diagonal(A[i, 0])] for i in range(2)])
    np.testing.assert_allclose(kernel.diagonal(A), loop, rtol=1e-13)


@over_kernels
def test_shapes_of_lists_and_of_no_points(kernel):
    none, one = np.empty((0, 3)), [[0, 1, 2]]
    assert kernel(none, one).shape == (0, 1)
    assert kernel.gradient(one, none).shape == (1, 0, 3)
    assert kernel.diagonal(none).shape == (0,)
    assert kernel(one, one).dtype == kernel.diagonal(one).dtype == np.float64


@over_kernels
def test_results_are_fresh_and_arguments_untouched(kernel, points):
    A, B = points
    before = A.copy(), B.copy()
    for result in (kernel(A, B), kernel.gradient(A, B), kernel.diagonal(A)):
        result += 1.0
    np.testing.assert_array_equal(A, before[0])
    np.testing.assert_array_equal(B, before[1])


@over_stationary
def test_a_common_offset_changes_no_digit(kernel):
    rng = np.random.default_rng(2)
    A, B = rng.integers(-1024, 1024, size=(2, 9, 3)) / 1024  # adding 2^30 to these is exact
    shift = 2.0**30
    np.testing.assert_array_equal(kernel(A + shift, B + shift), kernel(A, B))
    np.testing.assert_array_equal(kernel.gradient(A + shift, B + shift), kernel.gradient(A, B))


@pytest.mark.parametrize("cls", [RBF, Matern32, Matern52])
def test_memory_does_not_grow_with_the_dimension(cls):
    n, m, d = 1, 50_000, 40
    rng = np.random.default_rng(3)
    A, B = rng.random((n, d)), rng.random((m, d))
    tracemalloc.start()
    cls(1.0)(A, B)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 8 * (8 * n * m)  # eight matrices, where (n, m, d) would be forty


def test_far_points_are_independent_without_warnings():
    for kernel in STATIONARY:
        assert kernel([[0.0] * 3], [[1e6] * 3]) == 0.0
        assert not kernel.gradient([[0.0] * 3], [[1e6] * 3]).any()


@pytest.mark.parametrize("number", [2, 2.0, np.float64(2.0), np.float32(2.0), np.int64(2)], ids=repr)
def test_numbers_scale_from_either_side(number):
    expected = Scaled(RBF(0.2), 2.0)
    for scaled in (number * RBF(0.2), RBF(0.2) * number):
        assert scaled == expected
        assert type(scaled.factor) is float


def test_operators_build_the_named_kernels():
    assert RBF(0.2) + Linear() == Sum(RBF(0.2), Linear())
    assert RBF(0.2) * Linear() == Product(RBF(0.2), Linear())


@pytest.mark.parametrize("other", ["2", None, np.ones(2), [1.0]], ids=repr)
@pytest.mark.parametrize("operator", [lambda a, b: a * b, lambda a, b: b * a, lambda a, b: a + b])
def test_operators_refuse_what_is_neither_kernel_nor_number(operator, other):
    with pytest.raises(TypeError):
        operator(RBF(0.2), other)


def test_numbers_are_not_added():
    with pytest.raises(TypeError, match="unsupported operand"):
        RBF(0.2) + 1.0


@pytest.mark.parametrize("factor", [0.0, -1.0, np.inf, np.nan])
def test_a_factor_must_be_positive(factor):
    with pytest.raises(ValueError, match=r"`factor` must be (positive|finite), got "):
        factor * RBF(0.2)


def test_parts_must_be_kernels():
    with pytest.raises(TypeError, match="`second` must be a Kernel, got 3"):
        Sum(RBF(0.2), 3)
    with pytest.raises(TypeError, match="`first` must be a Kernel, got 3"):
        Product(3, RBF(0.2))
    with pytest.raises(TypeError, match="`kernel` must be a Kernel, got 3"):
        Scaled(3, 2.0)


@pytest.mark.parametrize("cls", [RBF, Matern32, Matern52])
@pytest.mark.parametrize(
    ("lengthscale", "error", "message"),
    [
        (0.0, ValueError, r"`lengthscale` must be positive, got 0\.0"),
        (-1, ValueError, r"`lengthscale` must be positive, got -1"),
        (np.nan, ValueError, r"`lengthscale` must be finite, got nan"),
        ([0.1, -0.2], ValueError, r"`lengthscale` must be positive in every dimension, got \[0\.1, -0\.2\]"),
        ([0.1, np.inf], ValueError, r"`lengthscale` must be finite, got "),
        ([], ValueError, r"`lengthscale` must have shape \(n\), got \(0,\)"),
        ([[0.1, 0.2]], ValueError, r"`lengthscale` must have shape \(n\), got \(1, 2\)"),
        ([0.1, [0.2]], TypeError, r"`lengthscale` must be an array of real numbers, got "),
        ("short", TypeError, r"`lengthscale` must be an array of real numbers, got 'short'"),
        (None, TypeError, r"`lengthscale` must be a real number, got None"),
    ],
)
def test_lengthscale_is_checked(cls, lengthscale, error, message):
    with pytest.raises(error, match=message):
        cls(lengthscale)


@pytest.mark.parametrize("cls", [RBF, Matern32, Matern52])
def test_lengthscales_must_match_the_dimension_of_the_points(cls):
    kernel, A = cls((0.1, 0.2)), np.zeros((4, 3))
    message = r"`lengthscale` must have one entry per dimension of the points, 3, got \(0\.1, 0\.2\)"
    for operation in (kernel, kernel.gradient):
        with pytest.raises(ValueError, match=message):
            operation(A, A)
    with pytest.raises(ValueError, match=message):
        kernel.diagonal(A)


@over_kernels
def test_points_are_checked(kernel):
    A = np.zeros((4, 3))
    for operation in (kernel, kernel.gradient):
        with pytest.raises(ValueError, match=r"`A` must have shape \(\.\.\., n, d\), got \(3,\)"):
            operation(A[0], A)
        with pytest.raises(ValueError, match=r"`B` must have shape \(\.\.\., n, d\), got \(3,\)"):
            operation(A, A[0])
        with pytest.raises(ValueError, match=r"one dimension, got shapes \(4, 3\) and \(4, 2\)"):
            operation(A, A[:, :2])
        with pytest.raises(ValueError, match=r"broadcast, got shapes \(2, 4, 3\) and \(5, 4, 3\)"):
            operation(np.zeros((2, 4, 3)), np.zeros((5, 4, 3)))
    with pytest.raises(ValueError, match=r"`A` must have shape \(\.\.\., n, d\), got \(3,\)"):
        kernel.diagonal(A[0])
    with pytest.raises(TypeError, match=r"`A` must be an array of real numbers, got \[\['x'\]\]"):
        kernel.diagonal([["x"]])


@over_kernels
def test_kernels_are_values(kernel, points):
    for twin in (eval(repr(kernel)), pickle.loads(pickle.dumps(kernel)), copy.deepcopy(kernel)):
        assert twin == kernel
        assert hash(twin) == hash(kernel)
        np.testing.assert_array_equal(twin(*points), kernel(*points))
    assert dataclasses.replace(kernel) == kernel
    assert len({*KERNELS, kernel}) == len(KERNELS)
    with pytest.raises(dataclasses.FrozenInstanceError):
        kernel.lengthscale = 1.0


@pytest.mark.parametrize("lengthscale", [[1, 2], (1.0, 2.0), np.array([1, 2])], ids=repr)
def test_lengthscales_are_stored_as_plain_floats(lengthscale):
    assert RBF(lengthscale).lengthscale == (1.0, 2.0)
    assert repr(RBF(lengthscale)) == "RBF(lengthscale=(1.0, 2.0))"
    assert repr(RBF(np.array(2))) == "RBF(lengthscale=2.0)"
    assert RBF(lengthscale) != Matern32(lengthscale)


def test_the_base_class_is_abstract():
    with pytest.raises(TypeError, match="abstract"):
        Kernel()


@pytest.mark.parametrize("kernel", [RBF(0.3), 2.0 * Matern52([0.2, 0.4]) + RBF(9.0), RBF(0.3) * Linear()])
def test_a_large_matrix_is_to_the_last_bit_that_of_its_rows(kernel):
    rng = np.random.default_rng(0)
    A, B = rng.normal(size=(700, 2)), rng.normal(size=(151, 2))
    whole = kernel(A, B)
    assert whole.shape == (700, 151)
    by_rows = np.concatenate([kernel(A[i : i + 7], B) for i in range(0, 700, 7)])
    if kernel.entrywise:
        assert whole.tobytes() == by_rows.tobytes()
    np.testing.assert_allclose(whole, by_rows, rtol=1e-13, atol=1e-14)


@pytest.mark.parametrize("spread", [1.0, 1e-6, 0.0], ids=["apart", "in two heaps", "in two places"])
@pytest.mark.parametrize("cls", [RBF, Matern32, Matern52])
def test_many_lengthscales_change_no_digit_that_counts(cls, spread):
    """With many, inner products take the place of the sum over dimensions: but for close points, which keep all."""
    rng, d = np.random.default_rng(0), 40
    kernel = cls(rng.uniform(1.0, 9.0, d))
    A, B = (rng.integers(2, size=(n, 1)) + spread * rng.random((n, d)) for n in (60, 50))
    B[:5] = A[:5] + 1e-9
    whole, by_rows = kernel(A, B), np.concatenate([kernel(A[i : i + 1], B) for i in range(len(A))])
    np.testing.assert_allclose(whole, by_rows, rtol=1e-10)
    r2 = kernel._squared_distance(A, B)
    np.testing.assert_allclose(r2, np.sum(((A[:, None] - B) / kernel.lengthscale) ** 2, axis=2), rtol=1e-10)
    assert not kernel.entrywise
    assert np.linalg.eigvalsh(kernel(A, A)).min() > -1e-9


@pytest.mark.parametrize("kernel", [RBF, Matern32, Matern52])
def test_profile_and_slope_together_are_what_they_are_alone(kernel):
    r2 = np.random.default_rng(0).exponential(size=1000) * 9
    r2[0] = 0.0
    k, slope = kernel.with_slope(r2)
    assert k.tobytes() == kernel.profile(r2).tobytes()
    assert slope.tobytes() == kernel.slope(r2).tobytes()


def test_levels_are_a_matern_of_places_times_what_is_left_if_values_differ():
    space = eq.Space(n=eq.Int(0, 4), c=eq.Choice(list("xyz")), q=eq.Float(0, 1))
    X = space.candidates(np.random.default_rng(0))[:40]
    places = np.array([[x["n"] / 4, "xyz".index(x["c"]) / 2, x["q"]] for x in map(space.decode, X)])
    contrast = np.array([0.4, 1.3, 0.0])
    kernel = Levels([0.7, 2.0, 0.5], contrast, space.groups, [1.0, 0.0, 0.5**0.5, 2.0**0.5, 1.0])
    expected = sk.Matern([0.7, 2.0, 0.5], nu=2.5)(places)
    expected *= np.exp(-((places[:, None] != places[None]) @ contrast))
    np.testing.assert_allclose(kernel(X, X), expected, rtol=1e-12)


@pytest.mark.parametrize(
    ("arguments", "rule"),
    [
        (([0.0], [1.0]), "`lengthscale` must be positive"),
        (([1.0], [-1.0]), "`contrast` must not be negative"),
        (([1.0, 1.0], [1.0, 1.0], [0, 0]), "`groups` must name each of the 2 parameters"),
        (([1.0], [1.0], [0, 0], [1.0]), "`places` must have shape"),
    ],
)
def test_levels_refuse_what_makes_no_kernel(arguments, rule):
    with pytest.raises(ValueError, match=rule):
        Levels(*arguments)
