"""SemiTS against the recursion of Kim and Paik in R^d, and its probabilities against the normal distribution."""

import math
import pickle

import numpy as np
import pytest
from scipy.stats import norm

import equipoise as eq
from equipoise.data import Reading
from equipoise.policies import semits
from equipoise.policies.semits import SemiTS, SemiTSPosterior


def mixture(X, rng, k):
    chosen = rng.choice(len(X), size=k, replace=False)
    return eq.Proposal(X[chosen], rng.dirichlet(np.ones(k)))


@pytest.mark.parametrize("regularizer", [1.0, 0.4])
def test_posterior_agrees_with_the_recursion(regularizer):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(20, 4))
    posterior = SemiTSPosterior(X, eq.Linear(), regularizer)
    B, q = regularizer * np.eye(4), np.zeros(4)
    for t in range(200):
        proposal = SemiTS()(posterior.at(posterior.points), rng) if t % 2 else mixture(X, rng, 5)
        duel = eq.Centered()(proposal, rng)
        y = rng.normal() + 3 * math.sin(t)
        posterior = posterior.condition(duel.comparison([Reading(y)]))
        xbar = proposal.weights @ proposal.points
        spread, u = proposal.points - xbar, duel.first - xbar
        B += np.outer(u, u) + (proposal.weights[:, None] * spread).T @ spread
        q += 2 * u * y
        belief = posterior.at(posterior.points)
        np.testing.assert_allclose(belief.mean, X @ np.linalg.solve(B, q), atol=1e-8)
        np.testing.assert_allclose(belief.covariance(), regularizer * X @ np.linalg.solve(B, X.T), atol=1e-8)
        np.testing.assert_allclose(belief.variance, belief.covariance().diagonal(), atol=1e-12)
    assert posterior.log_det == pytest.approx(np.linalg.slogdet(B / regularizer)[1], abs=1e-8)
    assert posterior.comparisons == 200


def test_posterior_is_that_of_separate_outcomes():
    """For any kernel: one outcome 2 y, then zeros in the directions sqrt(pi_i) (phi_i - xbar), one at a time."""
    rng = np.random.default_rng(1)
    X = rng.normal(size=(9, 2))
    posterior = SemiTSPosterior(X, eq.RBF(0.8), 0.3)
    mean, C = np.zeros(9), eq.RBF(0.8)(X, X)
    for _ in range(15):
        duel = eq.Centered()(mixture(X, rng, 4), rng)
        y = rng.normal()
        posterior = posterior.condition(duel.comparison([Reading(y)]))
        pi = np.array([duel.proposal.weights[(duel.proposal.points == x).all(axis=1)].sum() for x in X])
        data = [((duel.first == X).all(axis=1) - pi, 2 * y)]
        data += [(np.sqrt(pi[i]) * (np.eye(9)[i] - pi), 0.0) for i in range(9)]
        for u, outcome in data:
            c = C @ u
            mean = mean + c * (outcome - u @ mean) / (0.3 + u @ c)
            C = C - np.outer(c, c) / (0.3 + u @ c)
        belief = posterior.at(posterior.points)
        np.testing.assert_allclose(belief.mean, mean, atol=1e-8)
        np.testing.assert_allclose(belief.covariance(), C, atol=1e-8)


def test_other_comparisons_are_learned_from_as_usual():
    X = np.linspace(0, 1, 4)[:, None]
    ours, usual = SemiTSPosterior(X, eq.RBF(0.5)), eq.belief.FinitePosterior(X, eq.RBF(0.5))
    for comparison in (eq.Comparison(X[0], X[2], 0.7), eq.Comparison(X[1], None, 0.2)):
        ours, usual = ours.condition(comparison), usual.condition(comparison)
    np.testing.assert_array_equal(ours.at(ours.points).mean, usual.at(usual.points).mean)


def test_posterior_is_immutable_and_survives_pickling():
    rng = np.random.default_rng(2)
    X = rng.normal(size=(6, 2))
    before = SemiTSPosterior(X, eq.Linear())
    prior = before.at(before.points).covariance().copy()
    after = before.condition(eq.Centered()(mixture(X, rng, 3), rng).comparison([Reading(1.0)]))
    np.testing.assert_array_equal(before.at(before.points).covariance(), prior)
    again = pickle.loads(pickle.dumps(after))
    np.testing.assert_array_equal(again.at(again.points).mean, after.at(after.points).mean)


def test_anticipation_shrinks_the_variance_and_keeps_the_mean():
    rng = np.random.default_rng(3)
    X = rng.normal(size=(6, 2))
    posterior = SemiTSPosterior(X, eq.Linear()).condition(eq.Comparison(X[0], X[1], 1.0))
    duel = eq.Centered()(mixture(X, rng, 3), rng)
    told = duel.comparison([Reading(5.0)])
    ahead, told = posterior.anticipate(told), posterior.condition(told)
    np.testing.assert_array_equal(ahead.at(ahead.points).mean, posterior.at(posterior.points).mean)
    np.testing.assert_array_equal(ahead.at(ahead.points).covariance(), told.at(told.points).covariance())
    assert (ahead.at(ahead.points).variance < posterior.at(posterior.points).variance).all()


@pytest.mark.parametrize("shape", [(20, 4), (5, 5), (3, 8), (7, 1), (1, 1)])
def test_factor(shape):
    rng = np.random.default_rng(4)
    for scale in (1e-9, 1.0, 1e9):
        X = scale * rng.normal(size=shape)
        F = semits.factor(X @ X.T)
        assert F.shape[1] <= min(shape)
        np.testing.assert_allclose(F @ F.T, X @ X.T, atol=1e-10 * scale**2)
    assert semits.factor(np.zeros((3, 3))).shape == (3, 0)


def test_probability_of_two_points():
    mean, X, draws = np.array([0.3, 0.0]), np.array([[1.0, 0.2], [0.5, -0.7]]), 40_000
    counts = semits.best_counts(mean, semits.factor(X @ X.T), draws, np.random.default_rng(5))
    p = norm.cdf(0.3 / np.linalg.norm(X[0] - X[1]))
    assert counts.sum() == draws
    assert abs(counts[0] / draws - p) < 4 * math.sqrt(p * (1 - p) / draws)  # fails by chance below 1e-4


def test_law_of_the_point_measured():
    """Drawn from the estimate of few draws, a point is measured as often as one draw makes it the best."""
    rng, repeats = np.random.default_rng(6), 4000
    X = rng.normal(size=(4, 2))
    posterior = SemiTSPosterior(X, eq.Linear())
    few = [eq.Centered()(SemiTS(draws=7)(posterior.at(posterior.points), rng), rng).first for _ in range(repeats)]
    v = math.sqrt(2 * math.log(1 / 0.05))
    best = np.argmax(v * rng.normal(size=(400_000, 2)) @ X.T, axis=1)  # C / lambda = X X'
    for i in range(4):
        p = (best == i).mean()
        seen = np.mean([np.array_equal(x, X[i]) for x in few])
        assert abs(seen - p) < 4.5 * math.sqrt(p * (1 - p) * (1 / repeats + 1 / 400_000)) + 1e-12


def test_scale_of_the_draws_follows_the_regularizer():
    """N(mean, v^2 B^-1) with B = lambda I: four times lambda halves the spread."""
    X = np.array([[1.0], [0.0]])
    told = eq.Comparison([1.0], None, 1.0)
    for regularizer in (1.0, 4.0):
        posterior = SemiTSPosterior(X, eq.Linear(), regularizer).condition(told)
        proposal = SemiTS(draws=40_000)(posterior.at(posterior.points), np.random.default_rng(7))
        B = regularizer + 1
        v = math.sqrt(2 * math.log(2 / 0.05))
        p = norm.cdf((1 / B) / (v / math.sqrt(B)))
        assert abs(proposal.weights[-1 if proposal.points[-1, 0] == 1 else 0] - p) < 4 * math.sqrt(0.25 / 40_000)


def test_single_point():
    posterior = SemiTSPosterior([[0.4]], eq.RBF(1.0))
    proposal = SemiTS()(posterior.at(posterior.points), np.random.default_rng(0))
    after = posterior.condition(eq.Centered()(proposal, np.random.default_rng(0)).comparison([Reading(3.0)]))
    np.testing.assert_array_equal(proposal.weights, [1.0])
    assert after.at(after.points).mean == pytest.approx(0.0)


def test_finds_the_best_under_an_offset():
    space = eq.Finite([[1.0, 0.0], [0.8, 0.6], [0.0, 1.0], [-1.0, 0.0]])
    posterior = SemiTSPosterior(space.points, eq.Linear())
    opt = eq.Optimizer(space, policy=SemiTS(draws=200), posterior=posterior, rng=0)
    last, noise = 0.0, np.random.default_rng(8)
    for _ in range(1500):
        trial = opt.ask()
        value = float(trial.x @ [0.0, 1.0])
        opt.tell(trial, value - last + 0.1 * noise.normal())
        last = value
    np.testing.assert_array_equal(opt.recommend().x, [0.0, 1.0])


@pytest.mark.parametrize("arguments", [{"delta": 0.0}, {"delta": 2.0}, {"draws": 0}])
def test_arguments_are_checked(arguments):
    with pytest.raises(ValueError, match=next(iter(arguments))):
        SemiTS(**arguments)
