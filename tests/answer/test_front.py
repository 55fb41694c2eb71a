"""The front and its hypervolume, against brute force."""

import math

import numpy as np
import pytest

import equipoise as eq
from equipoise.answer import dominated, domination, hypervolume


def slow(Y, margin):
    """Which settings are beaten in every objective, pair by pair."""
    return [any(all(b > a + margin for a, b in zip(y, z, strict=True)) for z in Y) for y in Y]


@pytest.mark.parametrize("k", [1, 2, 3, 4])
@pytest.mark.parametrize("margin", [0.0, 0.1])
def test_dominated_settings_are_those_that_another_one_beats_in_all(k, margin):
    Y = np.random.default_rng(k).normal(size=(40, k))
    assert dominated(Y, margin).tolist() == slow(Y, margin)
    many = np.stack([Y, -Y])
    assert dominated(many, margin).tolist() == [slow(Y, margin), slow(-Y, margin)]


def test_equal_settings_do_not_dominate_each_other():
    assert not dominated(np.ones((3, 2))).any()


@pytest.mark.parametrize("k", [1, 2, 3, 4])
def test_the_hypervolume_is_the_share_of_the_box_that_is_dominated(k):
    rng = np.random.default_rng(k)
    Y, r = rng.uniform(-0.2, 1.0, size=(12, k)), np.zeros(k)
    points = rng.random((200_000, k))
    share = (points[:, None] <= Y).all(axis=2).any(axis=1)
    error = max(share.std() / np.sqrt(len(points)), 1e-5)
    assert hypervolume(Y, r) == pytest.approx(share.mean(), abs=5 * error)


def test_the_hypervolume_knows_no_order_and_no_copies():
    rng = np.random.default_rng(0)
    Y = np.round(rng.random((20, 3)), 1)
    again = np.concatenate((Y, Y[:7]))[rng.permutation(27)]
    assert hypervolume(again, np.zeros(3)) == pytest.approx(hypervolume(Y, np.zeros(3)), rel=1e-12)
    assert hypervolume(-Y, np.zeros(3)) == 0.0
    assert hypervolume(np.empty((0, 3)), np.zeros(3)) == 0.0


def test_the_probability_to_be_dominated_is_that_of_the_draws():
    """Two settings with independent values: the second dominates if both differences are above zero."""
    points = np.array([[0.0], [9.0]])
    belief = eq.belief.FinitePosterior(points, eq.RBF(0.1), regularizer=1.0)
    beliefs = []
    for outcome in (1.0, -0.5):
        beliefs.append(belief.condition(eq.Comparison([9.0], [0.0], outcome)).at(points))
    means = [each.mean[1] - each.mean[0] for each in beliefs]
    above = [0.5 + 0.5 * math.erf(m / math.sqrt(2 * b.psi(0)[1])) for m, b in zip(means, beliefs, strict=True)]
    wanted = np.array([above[0] * above[1], (1 - above[0]) * (1 - above[1])])
    lost = np.mean([domination(beliefs, 0.0, np.arange(2), np.random.default_rng(seed)) for seed in range(20)], axis=0)
    assert lost == pytest.approx(wanted, abs=5 * 0.5 / np.sqrt(20 * 256))
