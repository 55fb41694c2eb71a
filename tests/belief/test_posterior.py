"""Both forms of the posterior, against each other, a fresh solve, scikit-learn and ridge; and what never changes."""

import copy
import dataclasses
import pickle
from typing import NamedTuple

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy.linalg import solve_triangular
from scipy.sparse import csr_array
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process import kernels as sk
from sklearn.linear_model import Ridge

import equipoise as eq
from equipoise.belief import covariance, trust
from equipoise.belief.arrays import difference_variance
from equipoise.belief.posterior import direction

KERNELS = [eq.RBF(0.3), eq.RBF(3.0), eq.kernels.Matern32(0.5), 2.0 * eq.Matern52(0.4) + eq.Linear()]
ANY_KERNEL = st.sampled_from(KERNELS)
REGULARIZERS = st.floats(-6, 3).map(lambda exponent: 10.0**exponent)

# Derandomized: the tolerances stand near the limits of double precision, where luck should play no part.
exhaustive = settings(max_examples=100, deadline=None, derandomize=True)


class Problem(NamedTuple):
    """Data on a finite set in which points, pairs and the two sides of a pair repeat."""

    points: np.ndarray  # (m, d)
    kernel: eq.kernels.Kernel
    regularizer: float
    comparisons: list[eq.Comparison]
    U: np.ndarray  # (n, m): row t holds the direction of comparison t

    @property
    def outcomes(self):
        return np.array([comparison.outcome for comparison in self.comparisons])


def grid_points(sizes, d):
    """Points of a coarse grid, so that many coincide."""
    shape = sizes.map(lambda m: (m, d))
    return hnp.arrays(np.int64, shape, elements=st.integers(-3, 3)).map(lambda grid: grid / 6)


@st.composite
def problems(draw, kernels=ANY_KERNEL, kinds=("pair", "pair", "null", "mixture", "absolute"), dims=3):
    points = draw(grid_points(st.integers(2, 8), draw(st.integers(1, dims))))
    m = len(points)
    index = st.integers(0, m - 1)
    kernel, regularizer = draw(kernels), draw(REGULARIZERS)
    # f of moderate norm, seen through noise of up to three standard deviations
    f = kernel(points, points) @ draw(hnp.arrays(np.int64, m, elements=st.integers(-3, 3)))
    comparisons, U = [], []
    for kind in draw(st.lists(st.sampled_from(kinds), min_size=1, max_size=12)):
        u = np.zeros(m)
        i = draw(index)
        u[i] = 1.0
        second = None
        if kind in ("pair", "null"):
            j = i if kind == "null" else draw(index)
            second = points[j]
            u[j] -= 1.0
        elif kind == "mixture":
            js = draw(st.lists(index, min_size=1, max_size=4))
            weights = np.array([draw(st.integers(1, 5)) for _ in js], dtype=float)
            weights /= weights.sum()
            second = eq.Proposal(points[js], weights)
            np.subtract.at(u, js, weights)
        outcome = u @ f + np.sqrt(regularizer) * draw(st.floats(-3, 3))
        comparisons.append(eq.Comparison(points[i], second, outcome))
        U.append(u)
    return Problem(points, kernel, regularizer, comparisons, np.array(U))


def forms(problem):
    """Both posteriors, given all data."""
    finite = eq.belief.FinitePosterior(problem.points, problem.kernel, problem.regularizer)
    dual = eq.belief.AnywherePosterior(problem.kernel, problem.regularizer)
    for comparison in problem.comparisons:
        finite, dual = finite.condition(comparison), dual.condition(comparison)
    return finite, dual


def is_apart(comparison):
    points, _ = direction(comparison)
    return len(points) != 2 or (points[0] != points[1]).any()


def pairwise(C):
    return np.diag(C)[:, None] + np.diag(C) - 2 * C


def psi_matrix(belief):
    return np.array([belief.psi(j) for j in range(len(belief.points))])


def assert_agrees(belief, mean, C):
    """1e-8 relative, as far as subtracting numbers of the size of the prior variance allows."""
    scale = np.abs(C).max() + 1.0
    psi = psi_matrix(belief)
    assert (psi >= 0).all()
    assert (belief.variance >= 0).all()
    np.testing.assert_allclose(belief.mean, mean, rtol=1e-8, atol=1e-8 * max(np.abs(mean).max(), 1e-3))
    np.testing.assert_allclose(psi, pairwise(C), rtol=1e-8, atol=1e-13 * scale)
    np.testing.assert_allclose(belief.variance, np.diag(C), rtol=1e-8, atol=1e-13 * scale)
    np.testing.assert_allclose(belief.covariance(), C, rtol=1e-8, atol=1e-11 * scale)


# --- against independent references -------------------------------------------------------------------------------


@exhaustive
@given(problems(), st.randoms(use_true_random=False))
def test_both_forms_agree_with_a_fresh_solve(problem, random):
    U, y, lam = problem.U, problem.outcomes, problem.regularizer
    K = problem.kernel(problem.points, problem.points)
    S = U @ K @ U.T + lam * np.eye(len(U))
    X = np.linalg.solve(S, U @ K)
    mean, C = X.T @ y, K - (U @ K).T @ X
    log_det = np.linalg.slogdet(np.eye(len(U)) + U @ K @ U.T / lam)[1]
    rounding = 1e-15 * len(U) * K.max() / lam  # of log_det, by that of K
    some = random.choices(range(len(K)), k=random.randint(1, 2 * len(K)))  # any subset, any order, repeats
    for posterior in forms(problem):
        assert posterior.comparisons == len(U)
        np.testing.assert_allclose(posterior.log_det, log_det, rtol=1e-8, atol=rounding)
        whole = posterior.points if isinstance(posterior, eq.belief.FinitePosterior) else problem.points
        assert_agrees(posterior.at(whole), mean, C)
        assert_agrees(posterior.at(problem.points[some]), mean[some], C[np.ix_(some, some)])
        difference, psi = posterior.difference(problem.points[some], problem.points[0])
        np.testing.assert_allclose(difference, mean[some] - mean[0], rtol=1e-8, atol=1e-8 * (np.abs(mean).max() + 1e-3))
        np.testing.assert_allclose(psi, pairwise(C)[some, 0], rtol=1e-8, atol=1e-13 * (np.abs(C).max() + 1.0))


@exhaustive
@given(problems(), ANY_KERNEL, REGULARIZERS)
def test_the_dual_form_under_another_prior_is_as_if_it_had_always_been(problem, kernel, regularizer):
    _, dual = forms(problem)
    before = dual.at(problem.points).covariance()
    actual, expected = (
        dual.under(eq.belief.Model(kernel, regularizer)),
        forms(problem._replace(kernel=kernel, regularizer=regularizer))[1],
    )
    belief = expected.at(problem.points)
    # Outcomes need not be likely under the other prior: what misfits by many deviations is magnified in the mean.
    scale = max(np.abs(problem.outcomes).max() / np.sqrt(regularizer), 1e-3)
    for mean in (actual.at(problem.points).mean, actual.mean(problem.points)):
        np.testing.assert_allclose(mean, belief.mean, rtol=1e-8, atol=1e-8 * scale)
    np.testing.assert_allclose(psi_matrix(actual.at(problem.points)), psi_matrix(belief), rtol=1e-8, atol=1e-13 * 4)
    np.testing.assert_allclose(actual.log_det, expected.log_det, rtol=1e-8, atol=1e-14 * 40 / regularizer)
    apart = [is_apart(comparison) for comparison in problem.comparisons]  # equal pairs are not kept
    residuals = (problem.outcomes - problem.U @ belief.mean)[apart]
    np.testing.assert_allclose(trust.residuals(actual), residuals, rtol=1e-8, atol=1e-8 * scale)
    np.testing.assert_array_equal(dual.at(problem.points).covariance(), before)


@exhaustive
@given(problems(kernels=st.just(1.5 * eq.RBF(0.4)), kinds=("absolute",)))
def test_absolute_readings_agree_with_scikit_learn(problem):
    X = np.array([comparison.first for comparison in problem.comparisons])
    kernel = sk.ConstantKernel(1.5) * sk.RBF(0.4)
    reference = GaussianProcessRegressor(kernel, alpha=problem.regularizer, optimizer=None).fit(X, problem.outcomes)
    finite, dual = forms(problem)
    for points, posterior in ((finite.points, finite), (np.linspace(-1, 1, 5)[:, None] * X[0], dual)):
        assert_agrees(posterior.at(points), *reference.predict(points, return_cov=True))


@exhaustive
@given(problems(kernels=st.just(eq.Linear()), kinds=("pair", "null", "mixture"), dims=4))
def test_linear_comparisons_agree_with_ridge_regression(problem):
    X, lam = problem.points, problem.regularizer
    features = problem.U @ X
    ridge = Ridge(lam, fit_intercept=False, solver="svd").fit(features, problem.outcomes)
    V = features.T @ features + lam * np.eye(X.shape[1])
    for posterior in forms(problem):
        assert_agrees(posterior.at(X), X @ ridge.coef_, lam * X @ np.linalg.solve(V, X.T))


# --- many data ----------------------------------------------------------------------------------------------------


def stream(points, f, noise, n, rng):
    """Yield comparisons of every kind with their directions; pairs are most frequent, as in use."""
    for kind in rng.choice(["pair", "absolute", "null", "mixture"], p=[0.85, 0.05, 0.05, 0.05], size=n):
        i, j, k = rng.integers(len(points), size=3)
        second, indices, weights = {
            "pair": (points[j], [i, j], [1.0, -1.0]),
            "absolute": (None, [i], [1.0]),
            "null": (points[i], [i, i], [1.0, -1.0]),
            "mixture": (eq.Proposal(points[[i, j, k]], np.array([0.2, 0.3, 0.5])), [i, i, j, k], [1, -0.2, -0.3, -0.5]),
        }[kind]
        outcome = weights @ f[indices] + noise * rng.normal()
        yield eq.Comparison(points[i], second, outcome), indices, weights


@pytest.mark.parametrize(("regularizer", "n"), [(1.0, 5_000), (1e-3, 20_000)])  # the larger one loses less by far
def test_nothing_is_lost_in_20000_conditionings_on_900_points(regularizer, n):
    # Measured after 20,000: psi 1e-12 and 3e-10 relative, element by element; mean 3e-14 and 1e-12 of its range.
    m, rng = 900, np.random.default_rng(0)
    points = np.stack(np.meshgrid(np.linspace(-2, 2, 30), np.linspace(-1, 1, 30)), axis=-1).reshape(m, 2)
    f = np.sin(3 * points[:, 0]) + points[:, 1]
    kernel = eq.RBF(0.2)
    posterior = eq.belief.FinitePosterior(points, kernel, regularizer)
    rows, columns, entries, outcomes = [], [], [], []
    for t, (comparison, indices, weights) in enumerate(stream(points, f, np.sqrt(regularizer), n, rng)):
        posterior = posterior.condition(comparison)
        rows += [t] * len(indices)
        columns += indices
        entries += list(weights)
        outcomes.append(comparison.outcome)

    # Fresh solve on K = A A': C = A M^-1 A' with M = I + A' U'U A / lambda; psi as a sum of squares.
    U = csr_array((entries, (rows, columns)), shape=(n, m))
    values, vectors = np.linalg.eigh(kernel(points, points))
    A = vectors * np.sqrt(np.maximum(values, 0.0))
    L = np.linalg.cholesky(np.eye(m) + A.T @ (U.T @ U).toarray() @ A / regularizer)
    W = solve_triangular(L, A.T, lower=True)
    mean = W.T @ solve_triangular(L, A.T @ (U.T @ np.array(outcomes)) / regularizer, lower=True)

    belief = posterior.at(posterior.points)
    assert np.linalg.eigvalsh(belief.covariance()).min() > -1e-13
    assert belief.variance.min() > 0
    np.testing.assert_allclose(belief.variance, np.einsum("nm,nm->m", W, W), rtol=1e-6)
    np.testing.assert_allclose(belief.mean, mean, rtol=0, atol=1e-6 * np.ptp(mean))
    np.testing.assert_allclose(posterior.log_det, 2 * np.log(np.diag(L)).sum(), rtol=1e-6)
    for j in range(0, m, 29):
        psi = belief.psi(j)
        assert psi[j] == 0
        assert (np.delete(psi, j) > 0).all()
        np.testing.assert_allclose(psi, np.sum((W - W[:, [j]]) ** 2, axis=0), rtol=1e-6)
        np.testing.assert_allclose(belief.mean - belief.mean[j], mean - mean[j], rtol=0, atol=1e-6 * np.ptp(mean))


# --- one contract, every form -------------------------------------------------------------------------------------

LINE = np.linspace(0.0, 1.0, 100)[:, None]
FORMS = ["small", "tail", "low rank", "dual"]


@pytest.fixture(params=FORMS)
def prior(request, monkeypatch):
    """Each form before any data; what it is asked about are points of `LINE[:40]`."""
    if request.param == "dual":
        return eq.belief.AnywherePosterior(eq.RBF(0.1), 0.1, eq.TightConfidence())
    if request.param == "low rank":
        monkeypatch.setattr(covariance, "DENSE", 0)
    size = 40 if request.param == "small" else 100
    posterior = eq.belief.FinitePosterior(LINE[:size], eq.RBF(0.1), 0.1, eq.TightConfidence())
    assert size <= covariance.SMALL or len(posterior._covariance.tail) == 0  # both sides of SMALL are tried
    return posterior


def conditioned(posterior, n, seed=0):
    rng = np.random.default_rng(seed)
    for _ in range(n):
        i, j = rng.integers(40, size=2)
        posterior = posterior.condition(eq.Comparison(LINE[i], LINE[j], rng.normal()))
    return posterior


def answers(posterior):
    """Everything a posterior says, as bytes."""
    belief = posterior.at(LINE[:40])
    arrays = [belief.mean, belief.variance, belief.covariance(), psi_matrix(belief)]
    arrays += posterior.difference(LINE[3:7], LINE[20])
    if isinstance(posterior, eq.belief.FinitePosterior):
        whole = posterior.at(posterior.points)
        arrays += [whole.mean, whole.variance, whole.psi(5)]
    return [posterior.comparisons, posterior.log_det, posterior.beta, *[array.tobytes() for array in arrays]]


@pytest.mark.parametrize("n", [0, 5, covariance.TAIL - 2, covariance.TAIL - 1, covariance.TAIL + 3])
def test_branches_of_one_parent_leave_it_and_each_other_alone(prior, n):
    parent = conditioned(prior, n)
    before = answers(parent)
    branches = [conditioned(parent, 3, seed) for seed in (1, 2)]
    after = [answers(branch) for branch in branches]
    for branch in branches:
        conditioned(branch, covariance.TAIL, seed=3)
    assert answers(parent) == before
    assert [answers(branch) for branch in branches] == after
    assert after == [answers(conditioned(conditioned(prior, n), 3, seed)) for seed in (1, 2)]
    assert after[0] != after[1]


def test_writing_into_what_was_handed_out_or_in_changes_nothing(prior):
    x, z = LINE[3].copy(), LINE[9].copy()
    posterior = prior
    for second in (None, z, eq.Proposal(np.array([z, x]), np.array([0.5, 0.5]))):
        posterior = posterior.condition(eq.Comparison(x, second, 1.0))
    before = answers(posterior)
    x[:], z[:] = 0.77, 0.88
    for points in (LINE[:40].copy(), posterior.support):
        belief = posterior.at(points)
        difference = posterior.difference(LINE[3:7], LINE[20])
        for array in (belief.mean, belief.variance, belief.column(1), belief.covariance(), belief.psi(1), *difference):
            if array.flags.writeable:
                array[:] = 7.0
    assert answers(posterior) == before
    if isinstance(posterior, eq.belief.FinitePosterior):
        belief = posterior.at(posterior.points)
        for array in (posterior.points, posterior.support, belief.mean, belief.variance):
            assert not array.flags.writeable


@pytest.mark.parametrize("clone", [copy.deepcopy, copy.copy, lambda it: pickle.loads(pickle.dumps(it))])
@pytest.mark.parametrize("n", [0, 7])
def test_copies_answer_and_learn_alike(prior, clone, n):
    posterior = conditioned(prior, n)
    fresh = clone(posterior)
    before = answers(posterior)  # calls `at`, which may remember its answer
    for twin in (fresh, clone(posterior)):
        assert answers(twin) == before
        assert answers(conditioned(twin, 4, seed=1)) == answers(conditioned(posterior, 4, seed=1))


def test_no_data_is_the_prior(prior):
    belief = prior.at(LINE[:40])
    K = prior.kernel(LINE[:40], LINE[:40])
    np.testing.assert_array_equal(belief.mean, np.zeros(40))
    np.testing.assert_array_equal(belief.variance, np.ones(40))
    np.testing.assert_allclose(belief.covariance(), K, rtol=1e-14)
    np.testing.assert_allclose(psi_matrix(belief), pairwise(K), rtol=1e-12, atol=1e-15)
    assert (prior.comparisons, prior.log_det, prior.beta) == (0, 0.0, eq.TightConfidence()(0.0, 0.1))


def test_an_equal_pair_counts_and_teaches_nothing(prior):
    posterior = conditioned(prior, 5)
    for second in (LINE[3].copy(), eq.Proposal.single(LINE[3])):
        after = posterior.condition(eq.Comparison(LINE[3], second, 2.5))
        assert after.comparisons == posterior.comparisons + 1
        assert answers(after)[1:] == answers(posterior)[1:]


def test_a_mixture_of_one_point_is_a_pair(prior):
    pair, mixture = (
        conditioned(prior, 5).condition(eq.Comparison(LINE[3], second, 2.5))
        for second in (LINE[8], eq.Proposal.single(LINE[8]))
    )
    assert answers(pair) == answers(mixture)


def test_minus_zero_is_zero(prior):
    plus, minus = (
        conditioned(prior, 3)
        .condition(eq.Comparison([zero], LINE[5], 1.0))
        .condition(eq.Comparison(LINE[7], eq.Proposal.single([zero]), 1.0))
        .condition(eq.Comparison([zero], None, 1.0))
        .condition(eq.Comparison([zero], [0.0], 1.0))
        for zero in (0.0, -0.0)
    )
    assert answers(plus) == answers(minus)
    np.testing.assert_array_equal(plus.at(np.array([[-0.0], LINE[4]])).mean, plus.at(LINE[[0, 4]]).mean)
    assert len(minus.support) == len(plus.support)
    assert not np.signbit(minus.support).any() or isinstance(minus, eq.belief.AnywherePosterior)


def test_minus_zero_in_the_set_is_zero():
    posterior = eq.belief.FinitePosterior([[-0.0], [1.0]], eq.RBF(0.5)).condition(eq.Comparison([0.0], [1.0], 1.0))
    assert posterior.difference([[0.0]], [1.0]) == posterior.difference([[-0.0]], [1.0])


@pytest.mark.parametrize("second", [LINE[8], LINE[3], None, eq.Proposal(LINE[[3, 8, 12]], np.array([0.2, 0.5, 0.3]))])
def test_anticipation_keeps_the_mean_and_shrinks_the_variance_as_data_would(prior, second):
    posterior = conditioned(prior, 6)
    before = answers(posterior)
    comparison = eq.Comparison(LINE[3], second, 1.7)
    anticipated, told = posterior.anticipate(comparison), posterior.condition(comparison)
    expected, real, old = (it.at(LINE[:40]) for it in (anticipated, told, posterior))
    np.testing.assert_allclose(expected.mean, old.mean, rtol=1e-13, atol=1e-14)
    np.testing.assert_array_equal(expected.covariance(), real.covariance())
    np.testing.assert_array_equal(expected.variance, real.variance)
    assert (expected.variance <= old.variance).all()
    assert (anticipated.log_det, anticipated.comparisons) == (told.log_det, told.comparisons)
    assert answers(posterior) == before


def test_the_belief_carries_the_confidence_of_the_moment(prior):
    posterior = conditioned(prior, 9)
    belief = posterior.at(LINE[:40])
    assert belief.beta == posterior.beta == posterior.confidence(posterior.log_det, 0.1)
    assert (belief.regularizer, belief.comparisons) == (0.1, 9)
    np.testing.assert_allclose(belief.width(belief.psi(4)), np.sqrt(belief.beta * belief.psi(4) / 0.1), rtol=1e-14)
    np.testing.assert_allclose(belief.column(4), belief.covariance()[4], rtol=1e-13, atol=1e-15)


def test_differences_take_lists_and_integers_and_are_antisymmetric(prior):
    posterior = conditioned(prior, 9)
    mean, variance = posterior.difference(LINE[[0, 5, 6]].tolist(), [0])
    assert mean.shape == variance.shape == (3,)
    assert mean[0] == 0
    assert variance[0] == pytest.approx(0, abs=1e-15)
    back_mean, back_variance = posterior.difference(LINE[:1], LINE[5])
    assert -back_mean[0] == pytest.approx(mean[1], rel=1e-12)
    assert back_variance[0] == pytest.approx(variance[1], rel=1e-12)
    for points, reference, message in (
        (LINE[0], LINE[0], "`points` must have shape"),
        (LINE[:3], LINE[:1], "`reference` must have shape"),
        (LINE[:3], [0.1, 0.2], "`reference` must have shape"),
        (LINE[:3], [np.nan], "`reference` must be finite"),
    ):
        with pytest.raises(ValueError, match=message):
            posterior.difference(points, reference)


def test_the_regularizer_must_be_positive(prior):
    for value in (0.0, -1.0, np.inf):
        with pytest.raises(ValueError, match="`regularizer` must be"):
            eq.belief.AnywherePosterior(prior.kernel, value)
        with pytest.raises(ValueError, match="`regularizer` must be"):
            eq.belief.FinitePosterior(LINE, prior.kernel, value)


# --- what only one form has ---------------------------------------------------------------------------------------


def test_a_point_outside_the_set_is_named():
    posterior = eq.belief.FinitePosterior([[0.0, 0.0], [1.0, 2.0]], eq.RBF(0.5))
    stranger = eq.Proposal(np.array([[0.0, 0.0], [-0.0, 3.0]]), np.array([0.5, 0.5]))
    message = r"a point must be one of the 2 given ones, got \[0\. 3\.\]"
    for call in (
        lambda: posterior.condition(eq.Comparison([-0.0, 3.0], [1.0, 2.0], 1.0)),
        lambda: posterior.condition(eq.Comparison([1.0, 2.0], stranger, 1.0)),
        lambda: posterior.difference([[0.0, 0.0]], [0.0, 3.0]),
        lambda: posterior.at(np.array([[0.0, 0.0], [0.0, 3.0]])),
    ):
        with pytest.raises(ValueError, match=message):
            call()


def test_support_is_the_whole_set_or_the_points_of_the_data():
    finite, dual = eq.belief.FinitePosterior(LINE, eq.RBF(0.1)), eq.belief.AnywherePosterior(eq.RBF(0.1))
    assert len(dual.support) == 0
    for i, j in ((3, 5), (5, 3), (2, 2), (9, 3)):
        finite, dual = (it.condition(eq.Comparison(LINE[i], LINE[j], 1.0)) for it in (finite, dual))
    np.testing.assert_array_equal(finite.support, LINE)
    np.testing.assert_array_equal(dual.support, LINE[[3, 5, 9]])


def test_difference_variance_broadcasts_over_leading_axes():
    rng = np.random.default_rng(0)
    variance, column, variance_z = rng.random((4, 3, 5)), rng.random((4, 3, 5)), rng.random((4, 3, 1))
    inputs = [array.copy() for array in (variance, column, variance_z)]
    psi = difference_variance(variance, column, variance_z)
    for i in np.ndindex(4, 3):
        expected = [max(v + variance_z[i][0] - 2 * c, 0) for v, c in zip(variance[i], column[i], strict=True)]
        np.testing.assert_array_equal(difference_variance(variance[i], column[i], variance_z[i][0]), psi[i])
        np.testing.assert_allclose(psi[i], expected, rtol=1e-14, atol=1e-15)
    assert (psi == 0).any()  # the clip was met
    for given_array, old in zip((variance, column, variance_z), inputs, strict=True):
        np.testing.assert_array_equal(given_array, old)


def test_a_belief_is_frozen():
    belief = eq.belief.AnywherePosterior(eq.RBF(0.1)).at(LINE)
    with pytest.raises(dataclasses.FrozenInstanceError):
        belief.beta = 2.0
