"""The pair whose better one is expected to be best."""

import numpy as np
import pytest

import equipoise as eq
from equipoise.policies.eubo import EUBO, expected_best
from equipoise.policies.pairs import pairwise_psi


def test_is_the_expectation_of_the_larger():
    rng = np.random.default_rng(0)
    A = rng.normal(size=(4, 4))
    C, mean = A @ A.T, rng.normal(size=4)
    f = mean + rng.standard_normal((200_000, 4)) @ np.linalg.cholesky(C).T
    drawn = np.maximum(f[:, :, None], f[:, None, :]).mean(axis=0)
    assert expected_best(mean, pairwise_psi(C)) == pytest.approx(drawn, abs=0.03)


def test_pairs_what_is_good_and_uncertain():
    posterior = eq.belief.FinitePosterior([[0.0], [0.4], [1.0]], eq.RBF(0.1), regularizer=0.01)
    posterior = posterior.condition(eq.Comparison([0.4], [0.0], 3.0))
    pair = EUBO()(posterior.at(posterior.points), np.random.default_rng(0))
    assert sorted(pair.points.ravel()) == [0.4, 1.0]


def test_what_is_known_for_sure_is_compared_by_its_mean():
    assert expected_best(np.array([1.0, 3.0]), np.zeros((2, 2))) == pytest.approx(np.array([[1, 3], [3, 3.0]]))
