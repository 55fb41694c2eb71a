"""BOSE's weights for many learners are those of one, from wherever the steps begin."""

import numpy as np
import pytest

from equipoise.lab.fleet.balancing import climbed_together, stationary
from equipoise.policies.bose import balanced


def distances(rng, n, m, d):
    x = rng.standard_normal((n, m, d))
    return ((x[:, :, None] - x[:, None]) ** 2).sum(-1)


@pytest.mark.parametrize("dimension", [1, 2, 4])
def test_the_weights_are_as_good_as_those_of_one_learner(dimension):
    rng = np.random.default_rng(dimension)
    psi = distances(rng, 40, 10, dimension)
    alive = rng.random((40, 10)) < 0.8
    alive[:, 0] = True
    start = rng.dirichlet(np.ones(10), size=40) * (rng.random((40, 10)) < 0.3)
    start[:5] = 0.0
    w, arrived = climbed_together(psi, alive, start)
    assert not arrived[:5].any()
    assert arrived.sum() >= 25  # some begin nowhere; the rest is left to the one-learner function
    for i in np.flatnonzero(arrived):
        keep = np.flatnonzero(alive[i])
        S, weights = balanced(psi[i][np.ix_(keep, keep)])
        expected = np.zeros(10)
        expected[keep[S]] = weights
        reached, best = (each @ psi[i] @ each for each in (w[i], expected))
        assert reached == pytest.approx(best, rel=1e-6)  # in a plane four points may share it in several ways


def test_one_whose_points_coincide_keeps_nobody_from_arriving():
    psi = distances(np.random.default_rng(0), 3, 6, 2)
    psi[1] = 0.0
    w, arrived = climbed_together(psi, np.ones((3, 6), dtype=bool), np.full((3, 6), 1 / 6) * (np.arange(6) < 2))
    assert arrived.tolist() == [True, False, True]
    for i in (0, 2):
        S, weights = balanced(psi[i])
        assert w[i] @ psi[i] @ w[i] == pytest.approx(weights @ psi[i][np.ix_(S, S)] @ weights, rel=1e-6)


def test_a_lone_point_has_all_the_weight():
    psi = distances(np.random.default_rng(0), 2, 5, 3)
    alone = np.zeros((2, 5), dtype=bool)
    alone[0, 2] = alone[1, 4] = True
    w, arrived = climbed_together(psi, alone, alone.astype(float))
    assert arrived.all()
    assert w.tolist() == alone.astype(float).tolist()
    assert stationary(psi, alone).tolist() == alone.astype(float).tolist()


def test_points_that_coincide_are_left_to_the_other_method():
    psi = np.zeros((1, 3, 3))
    _, arrived = climbed_together(psi, np.ones((1, 3), dtype=bool), np.array([[0.5, 0.5, 0.0]]))
    assert not arrived.any()
