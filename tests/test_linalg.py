"""The routines of linear algebra: SciPy's own, without importing its package."""

import ast
from pathlib import Path

import numpy as np
import pytest
import scipy.linalg

from equipoise import _linalg

K = np.cov(np.random.default_rng(0).normal(size=(40, 200)))
L = scipy.linalg.cholesky(K, lower=True)


def test_the_factor_is_that_of_scipy():
    np.testing.assert_allclose(_linalg.cholesky(K), L, rtol=1e-12, atol=1e-13)
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
    np.testing.assert_allclose(ours, theirs, rtol=1e-9, atol=1e-12)


def test_a_singular_factor_is_refused():
    with pytest.raises(np.linalg.LinAlgError, match="got one at 1"):
        _linalg.solve_lower(np.diag([1.0, 0.0]), np.ones(2))


def test_a_matrix_that_rounding_spoiled_is_factored_all_the_same():
    spoiled = np.ones((3, 3)) - 1e-13 * np.diag([0, 1, 2])
    factor = _linalg.safe_cholesky(spoiled)
    np.testing.assert_allclose(factor @ factor.T, spoiled, atol=1e-8)


@pytest.mark.parametrize("shape", [(0, 2), (1, 1), (60, 1), (60, 3)])
def test_distinct_points_are_those_of_numpy(shape):
    points = np.random.default_rng(2).integers(-2, 3, shape).astype(float)
    distinct, first, place = np.unique(points, axis=0, return_index=True, return_inverse=True)
    ours = _linalg.grouped(points)
    assert ours[0].tolist() == _linalg.firsts(points).tolist() == first.tolist()
    assert ours[1].tolist() == place.reshape(-1).tolist()
    assert points[ours[0]].tolist() == distinct.tolist()


def test_no_rows_are_made_distinct_by_numpy():
    """`np.unique(axis=0)` compares rows through Python: a signal that comes then leaves it as a TypeError."""
    package = Path(_linalg.__file__).parent.parent
    calls = [
        f"{path.relative_to(package)}:{node.lineno}"
        for path in package.rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "unique"
        if any(keyword.arg == "axis" for keyword in node.keywords)
    ]
    assert not calls
