"""Draws of many learners at once have the law of one learner's."""

import numpy as np
import pytest

import equipoise as eq
from equipoise.belief.arrays import pick
from equipoise.lab.fleet import Blueprint, SharedCoins
from equipoise.lab.fleet.covariances import Directions
from equipoise.lab.fleet.posterior_draws import (
    best_counts_of_all,
    draws_of_all,
    factors,
    normals_needed,
    reaches,
    reflected,
)

LEARNERS = 6


@pytest.fixture(params=["linear", "kernel"])
def beliefs(request):
    rng = np.random.default_rng(0)
    points = rng.standard_normal((LEARNERS, 12, 3))
    blueprint = Blueprint(points, eq.Linear() if request.param == "linear" else eq.RBF(1.0), eq.IDS(), regularizer=0.3)
    beliefs = blueprint.prior(LEARNERS)
    for _ in range(5):
        first, second = rng.integers(12, size=(2, LEARNERS))
        beliefs = beliefs.condition(Directions(first, second), rng.standard_normal(LEARNERS))
    return beliefs


def test_factors_are_factors(beliefs):
    F = factors(beliefs)
    assert F @ F.swapaxes(-1, -2) == pytest.approx(beliefs.covariances.full(), abs=1e-9)


def test_reflections_leave_the_covariance(beliefs):
    F = factors(beliefs)
    turned = reflected(F, np.random.default_rng(0).standard_normal((LEARNERS, 2, F.shape[2])))
    assert turned @ turned.swapaxes(-1, -2) == pytest.approx(F @ F.swapaxes(-1, -2), abs=1e-12)
    assert not np.allclose(turned, F)


def test_draws_have_the_posteriors_moments(beliefs):
    n = 20_000
    drawn = draws_of_all(beliefs, n, 1.0, np.random.default_rng(1))
    error = np.sqrt(beliefs.variance / n)
    assert (np.abs(drawn.mean(axis=1) - beliefs.mean) < 5 * error + 1e-9).all()  # 72 means: chance 4e-5
    assert drawn.var(axis=1) == pytest.approx(beliefs.variance, rel=0.06, abs=1e-9)  # six deviations


def numbers(beliefs, n, seed):
    """The numbers of n draws and of the reflections."""
    rng, r = np.random.default_rng(seed), normals_needed(beliefs)
    return rng.standard_normal((n, r), dtype=np.float32), rng.standard_normal((LEARNERS, 2, r))


@pytest.mark.parametrize(("n", "scale"), [(500, 0.7), (499, 0.2), (30, 3.0)])
def test_counts_are_those_of_all_points(beliefs, n, scale):
    """Leaving out points that are out of reach changes no count: the same draws over all points give the same."""
    v = np.full(LEARNERS, scale)
    z, turns = numbers(beliefs, n, 3)
    counts = best_counts_of_all(beliefs, v, z, turns)
    values = beliefs.mean[:, None, :] + z @ factors(beliefs, v, turns).swapaxes(-1, -2)
    expected = [np.bincount(row.argmax(axis=-1), minlength=counts.shape[1]) for row in values]
    assert np.abs(counts - expected).sum() <= 2  # one near-tie may fall to the other in single precision


def test_no_draw_shorter_than_its_reach_makes_a_point_the_best(beliefs):
    z, turns = numbers(beliefs, 2000, 5)
    F = factors(beliefs, np.full(LEARNERS, 0.3), turns)
    leader = beliefs.mean.argmax(axis=-1)
    g, E = beliefs.mean - beliefs.mean.max(axis=-1, keepdims=True), F - pick(F, leader)[:, None, :]
    best = (g[:, None, :] + z @ E.swapaxes(-1, -2)).argmax(axis=-1)
    reach = np.take_along_axis(reaches(g, E), best, axis=-1)
    length = np.sqrt((z * z).sum(axis=-1))
    won = best != leader[:, None]
    assert won.any()
    assert (np.broadcast_to(length, won.shape)[won] >= reach[won]).all()


def test_counts_estimate_the_chance_to_be_the_best(beliefs):
    n = 4000
    counts = best_counts_of_all(beliefs, np.ones(LEARNERS), *numbers(beliefs, n, 4))
    drawn = draws_of_all(beliefs, n, 1.0, np.random.default_rng(5)).argmax(axis=-1)
    expected = np.array([np.bincount(row, minlength=counts.shape[1]) for row in drawn])
    p = (counts + expected) / (2 * n)
    assert (np.abs(counts - expected) <= 5 * np.sqrt(2 * n * p * (1 - p)) + 1).all()  # 72 differences: chance 4e-5


def test_learners_that_share_draws_do_not_draw_alike():
    """Two learners of one belief: the noise of their estimates is uncorrelated over rounds."""
    beliefs = Blueprint(np.eye(4), eq.Linear(), eq.IDS()).prior(2)
    coins = SharedCoins(np.random.default_rng(0))
    noise = np.array([coins.best_counts(beliefs, 100, np.ones(2))[:, 0] for _ in range(400)])
    assert noise.std(axis=0) == pytest.approx(np.sqrt(100 * 0.25 * 0.75) * np.ones(2), rel=0.2)
    assert abs(np.corrcoef(noise.T)[0, 1]) < 0.2  # four deviations


def test_ties_are_broken_fairly():
    scores = np.zeros((9000, 4))
    scores[:, 2] = -1.0
    scores[:3000, 3] = 1.0
    chosen = SharedCoins(np.random.default_rng(0)).argmax(scores)
    assert (chosen[:3000] == 3).all()
    share = np.bincount(chosen[3000:], minlength=4) / 6000
    assert share[2] == 0
    assert share[[0, 1, 3]] == pytest.approx(1 / 3, abs=0.03)  # five deviations
