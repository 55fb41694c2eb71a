"""The two ways to keep a covariance matrix, against the plain formula C - w w'."""

import tracemalloc

import numpy as np
import pytest

import equipoise as eq
from equipoise.belief import covariance
from equipoise.belief.covariance import SMALL, TAIL, Dense, LowRank

KERNEL = eq.Matern52(0.2)


def line(m):
    return np.linspace(0.0, 1.0, m)[:, None]


def prior(form, m):
    none = np.empty((0, m))
    return Dense(KERNEL(line(m), line(m)), none) if form is Dense else LowRank(KERNEL, line(m), none)


def rows(m, n):
    return 0.1 * np.random.default_rng(0).normal(size=(n, m)) / np.sqrt(n)


over_forms = pytest.mark.parametrize("form", [Dense, LowRank])
over_sizes = pytest.mark.parametrize("m", [1, 5, SMALL, SMALL + 1, 150])


@over_forms
@over_sizes
def test_every_answer_is_that_of_the_plain_formula(form, m):
    C, plain = prior(form, m), KERNEL(line(m), line(m))
    indices, weights = np.array([0, m // 2, m - 1]), np.array([1.0, -0.3, -0.7])
    for row in rows(m, 2 * TAIL + 3):  # through two folds and into a third tail
        C, plain = C.downdate(row), plain - np.outer(row, row)
        np.testing.assert_allclose(C.apply(indices, weights), weights @ plain[indices], rtol=1e-12, atol=1e-14)
        np.testing.assert_allclose(C.apply(indices[1:2], np.ones(1)), plain[m // 2], rtol=1e-12, atol=1e-14)
        np.testing.assert_allclose(C.column(m // 2), plain[m // 2], rtol=1e-12, atol=1e-14)
    np.testing.assert_allclose(C.full(), plain, rtol=1e-12, atol=1e-14)


@over_forms
@over_sizes
def test_no_answer_is_a_window_into_the_matrix(form, m):
    C = prior(form, m)
    for row in (None, *rows(m, TAIL)):  # every length of the tail, from the prior through the first fold
        C = C if row is None else C.downdate(row)
        before = C.full().copy()
        for array in (C.apply(np.array([0]), np.ones(1)), C.column(0), C.full()):
            array[:] = 7.0
        np.testing.assert_array_equal(C.full(), before)


def test_the_form_follows_the_number_of_points(monkeypatch):
    assert isinstance(covariance.prior(KERNEL, line(covariance.DENSE)), Dense)
    assert isinstance(covariance.prior(KERNEL, line(covariance.DENSE + 1)), LowRank)
    monkeypatch.setattr(covariance, "DENSE", 4)
    assert isinstance(covariance.prior(KERNEL, line(5)), LowRank)


@pytest.mark.parametrize("m", [SMALL, 150])
@pytest.mark.parametrize("regularizer", [1.0, 1e-3])
def test_posteriors_of_both_forms_agree(monkeypatch, m, regularizer):
    rng = np.random.default_rng(0)
    dense = eq.belief.FinitePosterior(line(m), KERNEL, regularizer)
    monkeypatch.setattr(covariance, "DENSE", 0)
    low_rank = eq.belief.FinitePosterior(line(m), KERNEL, regularizer)
    assert (type(dense._covariance), type(low_rank._covariance)) == (Dense, LowRank)
    for t in range(3 * TAIL + 5):
        i, j, k = rng.integers(m, size=3)
        mixture = eq.Proposal(line(m)[[j, k]], np.array([0.4, 0.6]))
        comparison = eq.Comparison(line(m)[i], (line(m)[j], None, mixture)[t % 3], rng.normal())
        dense, low_rank = dense.condition(comparison), low_rank.condition(comparison)
    expected, actual = (posterior.at(posterior.points) for posterior in (dense, low_rank))
    scale = np.abs(expected.mean).max()
    np.testing.assert_allclose(actual.mean, expected.mean, rtol=1e-8, atol=1e-10 * scale)
    np.testing.assert_allclose(actual.variance, expected.variance, rtol=1e-8)
    np.testing.assert_allclose(actual.covariance(), expected.covariance(), rtol=1e-8, atol=1e-12)
    np.testing.assert_allclose(actual.psi(3), expected.psi(3), rtol=1e-8)
    assert low_rank.log_det == pytest.approx(dense.log_det, rel=1e-10)


def test_many_points_never_cost_a_square_matrix():
    m, n = 20_000, 50  # a square matrix would take 3.2 GB
    tracemalloc.start()
    try:
        posterior = eq.belief.FinitePosterior(line(m), KERNEL)
        for i in range(n):
            posterior = posterior.condition(eq.Comparison(posterior.points[37 * i], posterior.points[m - 1 - i], 1.0))
        psi = posterior.at(posterior.points).psi(0)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert (psi >= 0).all()
    assert peak < 8 * m * (n + 3 * TAIL + 50)
