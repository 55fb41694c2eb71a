"""Several objectives, weighed."""

import numpy as np

import equipoise as eq
from equipoise.answer import dominated
from equipoise.policies import drawn, simplex, two_compromises, weighed

POINTS = np.linspace(0, 1, 21)[:, None]


def belief(values):
    """A belief that has seen each value without much noise."""
    posterior = eq.belief.FinitePosterior(POINTS, eq.RBF(0.3), regularizer=1e-4)
    for point, value in zip(POINTS, values, strict=True):
        posterior = posterior.condition(eq.Comparison(point, POINTS[0], value - values[0]))
    return posterior.at(POINTS)


def test_the_best_of_a_compromise_is_never_dominated_and_every_point_of_the_front_is_the_best_of_one():
    rng = np.random.default_rng(0)
    Y = rng.random((30, 2))
    r, s = np.zeros(2), np.ones(2)
    found = {int(weighed(Y.T, r, s, simplex(2, rng)).argmax()) for _ in range(3000)}
    front = set(np.flatnonzero(~dominated(Y)).tolist())
    assert found == front
    for i in front:
        w = 1 / Y[i]
        assert int(weighed(Y.T, r, s, w / w.sum()).argmax()) == i


def test_weights_are_spread_evenly_over_the_simplex():
    w = np.array([simplex(3, np.random.default_rng(seed)) for seed in range(4000)])
    assert np.allclose(w.sum(axis=1), 1.0)
    assert np.allclose(w.mean(axis=0), 1 / 3, atol=0.02)
    assert np.allclose(w.var(axis=0), 1 / 18, atol=0.005)


def test_draws_have_the_mean_and_covariance_of_the_belief():
    known = belief(np.sin(3 * POINTS[:, 0]))
    posterior = eq.belief.FinitePosterior(POINTS, eq.RBF(0.3)).condition(eq.Comparison(POINTS[0], POINTS[9], 1.0))
    vague = posterior.at(POINTS)
    values = drawn(vague, 20_000, np.random.default_rng(0))
    assert np.allclose(values.mean(axis=0), vague.mean, atol=0.04)
    assert np.allclose(np.cov(values.T), vague.covariance(), atol=0.06)
    assert np.allclose(np.ptp(drawn(known, 5, np.random.default_rng(0)) - known.mean, axis=1), 0.0, atol=0.2)


def test_a_pair_consists_of_two_compromises_under_the_same_weights():
    x = POINTS[:, 0]
    beliefs = [belief(-((x - 0.2) ** 2)), belief(-((x - 0.8) ** 2))]
    r, s = np.array([b.mean.min() - b.mean[0] for b in beliefs]) - 0.1, np.ones(2)
    middle = two_compromises(beliefs, 0, r, s, np.array([0.5, 0.5]), None, np.random.default_rng(0))
    left = two_compromises(beliefs, 0, r, s, np.array([0.02, 0.98]), None, np.random.default_rng(0))
    assert all(0.3 <= x[i] <= 0.7 for i in middle)
    assert all(x[i] < 0.3 for i in left), "the smaller a weight, the more is wanted of that objective"
    assert middle[0] != middle[1]


def test_settings_that_cannot_hold_are_left_out():
    x = POINTS[:, 0]
    beliefs = [belief(x), belief(x)]
    holds, s = np.where(x > 0.5, 0.0, 1.0), np.ones(2)
    for seed in range(10):
        pair = two_compromises(beliefs, 0, -s, s, s / 2, holds, np.random.default_rng(seed))
        assert (x[list(pair)] <= 0.5).all()
