"""The routines of linear algebra: those of SciPy to the last bit, without its package."""

import numpy as np
import pytest
import scipy.linalg

from equipoise import _linalg

K = np.cov(np.random.default_rng(0).normal(size=(40, 200)))
L = scipy.linalg.cholesky(K, lower=True)


def test_the_factor_is_that_of_scipy():
    assert _linalg.cholesky(K).tobytes() == L.tobytes()
    with pytest.raises(np.linalg.LinAlgError, match="the leading minor of order 2"):
        _linalg.cholesky(np.array([[1.0, 2.0], [2.0, 1.0]]))


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("transposed", [False, True])
@pytest.mark.parametrize("shape", [(40,), (40, 3), (40, 0)])
def test_a_solution_is_that_of_scipy(order, transposed, shape):
    factor, b = np.asarray(L, order=order), np.random.default_rng(1).normal(size=shape)
    theirs = scipy.linalg.solve_triangular(factor, b, lower=True, trans=int(transposed))
    ours = _linalg.solve_lower(factor, b, transposed)
    assert ours.shape == shape
    assert ours.tobytes() == theirs.tobytes()


def test_a_singular_factor_is_refused():
    with pytest.raises(np.linalg.LinAlgError, match="got one at 1"):
        _linalg.solve_lower(np.diag([1.0, 0.0]), np.ones(2))


def test_a_matrix_that_rounding_spoiled_is_factored_all_the_same():
    spoiled = np.ones((3, 3)) - 1e-13 * np.diag([0, 1, 2])
    factor = _linalg.safe_cholesky(spoiled)
    np.testing.assert_allclose(factor @ factor.T, spoiled, atol=1e-8)
