"""BOSE against its definition in R^d, and its weights against the smallest ball found by trying all supports."""

import itertools
import math

import numpy as np
import pytest

import equipoise as eq
from equipoise.data import Reading
from equipoise.policies import bose
from equipoise.policies.bose import BOSE
from equipoise.policies.pairs import pairwise_psi

KINDS = {
    "general": lambda rng, X: X,
    "duplicates": lambda rng, X: X[rng.integers(len(X), size=len(X))],
    "near duplicates": lambda rng, X: X[rng.integers(len(X), size=len(X))] + 1e-7 * rng.normal(size=X.shape),
    "all equal": lambda rng, X: np.tile(X[0], (len(X), 1)),
    "collinear": lambda rng, X: np.outer(X[:, 0], X[0]),
    "two": lambda rng, X: X[:2],
    "lattice": lambda rng, X: np.round(X),
    "sphere": lambda rng, X: X / np.linalg.norm(X, axis=1, keepdims=True),
    "nearly a sphere": lambda rng, X: X / np.linalg.norm(X, axis=1, keepdims=True) + 1e-6 * rng.normal(size=X.shape),
    "cross-polytope": lambda rng, X: np.concatenate((np.eye(X.shape[1]), -np.eye(X.shape[1]))),
    "stretched": lambda rng, X: X * 10.0 ** rng.uniform(-6, 6, size=X.shape[1]),
    "far from the origin": lambda rng, X: X + 1e3,
    "spoiled by rounding": lambda rng, X: X + 1e6,  # squared distances have four digits left
}


def instances(kind, count=150, seed=0):
    rng = np.random.default_rng(seed)
    for _ in range(count):
        X = rng.normal(size=(rng.integers(2, 25), rng.integers(1, 7)))
        yield KINDS[kind](rng, X) * 10.0 ** rng.uniform(-8, 8)


def violation(psi, S, w):
    """Largest |x_a - m_w|^2 less its bound, relative to that bound, from squared distances alone."""
    variance = 0.5 * w @ psi[np.ix_(S, S)] @ w
    return np.max(w @ psi[S] - variance - variance) / variance if variance > 0 else 0.0


@pytest.mark.parametrize("kind", KINDS)
def test_weights_are_feasible(kind):
    for X in instances(kind):
        psi = pairwise_psi(X @ X.T)
        S, w = bose.balanced(psi)
        assert len(set(S.tolist())) == len(S)
        assert (w >= 0).all()
        assert w.sum() == pytest.approx(1, abs=1e-12)
        assert violation(psi, S, w) < 1e-6


@pytest.mark.parametrize("kind", ["general", "duplicates", "collinear", "two", "lattice", "sphere", "cross-polytope"])
def test_weights_are_feasible_by_definition(kind):
    for X in instances(kind):
        S, w = bose.balanced(pairwise_psi(X @ X.T))
        center = w @ X[S]
        squared = np.sum((X - center) ** 2, axis=1)
        variance = w @ squared[S]
        assert squared.max() - variance <= 1e-6 * variance
        assert len(S) <= X.shape[1] + 1


def ball_through(points):
    """Center and squared radius of the smallest ball through all of the points."""
    edges = points[1:] - points[0]
    offset = np.linalg.lstsq(edges, 0.5 * np.sum(edges**2, axis=1), rcond=None)[0]
    return points[0] + offset, offset @ offset


def test_weights_hold_the_smallest_ball():
    rng = np.random.default_rng(1)
    for _ in range(40):
        X = rng.normal(size=(7, 3))
        supports = itertools.chain.from_iterable(itertools.combinations(range(7), k) for k in (2, 3, 4))
        balls = [ball_through(X[list(support)]) for support in supports]
        inside = [r2 for c, r2 in balls if np.sum((X - c) ** 2, axis=1).max() <= r2 * (1 + 1e-9)]
        S, w = bose.balanced(pairwise_psi(X @ X.T))
        variance = w @ np.sum((X[S] - w @ X[S]) ** 2, axis=1)
        assert variance == pytest.approx(min(inside), rel=1e-6)


def test_swaps_reach_the_same_ball():
    rng = np.random.default_rng(2)
    for _ in range(20):
        X = rng.normal(size=(10, 3))
        psi = pairwise_psi(X @ X.T)
        S, w = bose.swapped(psi, np.arange(10), np.full(10, 0.1))
        assert violation(psi, S, w) < 1e-6
        T, v = bose.balanced(psi)
        np.testing.assert_allclose(w @ X[S], v @ X[T], atol=1e-3)


def test_gradient_of_the_saddle_point():
    """METHOD section 6: g_i = 2 x_i'(2 m_w - x_a) - x_i'x_i, with the term that the authors' code lacks."""
    rng = np.random.default_rng(3)
    X, w, a = rng.normal(size=(5, 3)), rng.dirichlet(np.ones(5)), 2

    def saddle(v):
        m = v @ X
        return np.sum((X[a] - m) ** 2) - v @ np.sum(X**2, axis=1) + m @ m

    g = 2 * X @ (2 * w @ X - X[a]) - np.sum(X**2, axis=1)
    step = 1e-6 * np.eye(5)
    numeric = [(saddle(w + h) - saddle(w - h)) / 2e-6 for h in step]
    np.testing.assert_allclose(g, numeric, atol=1e-6)


def test_coefficient():
    assert bose.coefficient(1, 4, 0.05) == pytest.approx(math.sqrt(4 * math.log(1.25) + 2 * math.log(20)) + 1)


@pytest.mark.parametrize("regularizer", [1.0, 2.5])
def test_agrees_with_the_matrices_of_the_paper(regularizer):
    rng = np.random.default_rng(6)
    X, theta = rng.normal(size=(12, 4)), rng.normal(size=4)
    posterior = eq.belief.FinitePosterior(X, eq.Linear(), regularizer)
    G, b, survivors = regularizer * np.eye(4), np.zeros(4), set()
    for t in range(1, 301):
        proposal = BOSE()(posterior.at(posterior.points), rng)
        inverse = np.linalg.inv(G)
        estimate, gamma = inverse @ b, bose.coefficient(t, 4, 0.05)
        differences = X[None] - X[:, None]
        norms = np.sqrt(np.maximum(np.einsum("abi,ij,abj->ab", differences, inverse, differences), 0))
        alive = np.all(differences @ estimate <= gamma * norms + 1e-9, axis=1)
        center = proposal.weights @ proposal.points
        distance = np.einsum("ai,ij,aj->a", X - center, inverse, X - center)
        spread = proposal.points - center
        variance = proposal.weights @ np.einsum("ai,ij,aj->a", spread, inverse, spread)
        assert distance[alive].max() <= variance * (1 + 1e-6)
        np.testing.assert_allclose(posterior.at(posterior.points).mean, X @ estimate, atol=1e-8)
        survivors.add(int(alive.sum()))
        duel = eq.Centered()(proposal, rng)
        y = float(duel.first @ theta) + rng.normal() + math.sin(t)
        posterior = posterior.condition(duel.comparison([Reading(y)]))
        G += np.outer(duel.first - center, duel.first - center)
        b += (duel.first - center) * y
    assert len(survivors) > 3


def test_offsets_cancel_in_expectation():
    posterior = eq.belief.FinitePosterior(np.random.default_rng(7).normal(size=(9, 3)), eq.RBF(1.0))
    proposal = BOSE()(posterior.at(posterior.points), np.random.default_rng(0))
    rng, draws = np.random.default_rng(8), 4000
    firsts = np.array([eq.Centered()(proposal, rng).first for _ in range(draws)])
    seen = np.array([np.all(firsts == point, axis=1).mean() for point in proposal.points])
    error = np.sqrt(proposal.weights * (1 - proposal.weights) / draws)
    assert (np.abs(seen - proposal.weights) < 4.5 * error).all()  # fails by chance below 1e-4


def test_a_lone_survivor_is_measured_and_teaches_nothing():
    posterior = eq.belief.FinitePosterior([[1.0, 0.0], [0.0, 1.0]], eq.Linear(), 1e-3)
    posterior = posterior.condition(eq.Comparison([1.0, 0.0], [0.0, 1.0], 50.0))
    proposal = BOSE()(posterior.at(posterior.points), np.random.default_rng(0))
    np.testing.assert_array_equal(proposal.points, [[1.0, 0.0]])
    np.testing.assert_array_equal(proposal.weights, [1.0])
    duel = eq.Centered()(proposal, np.random.default_rng(0))
    after = posterior.condition(duel.comparison([Reading(7.0)]))
    np.testing.assert_array_equal(after.at(after.points).mean, posterior.at(posterior.points).mean)
    assert after.comparisons == posterior.comparisons + 1


def test_equal_points_and_single_points():
    for points in ([[0.3]], [[0.3], [0.3]]):
        posterior = eq.belief.FinitePosterior(points, eq.RBF(1.0))
        proposal = BOSE()(posterior.at(posterior.points), np.random.default_rng(0))
        np.testing.assert_array_equal(proposal.points, [[0.3]])


def test_finds_the_best_under_an_offset():
    A = np.array([[1.0, 0.0], [0.8, 0.6], [0.0, 1.0], [-1.0, 0.0]])
    opt = eq.Optimizer(eq.Finite(A), policy=BOSE(), kernel=eq.Linear(), rng=0)
    last, noise = 0.0, np.random.default_rng(9)
    for _ in range(1500):
        trial = opt.ask()
        value = float(trial.x @ [0.0, 1.0])
        opt.tell(trial, value - last + 0.1 * noise.normal())
        last = value
    np.testing.assert_array_equal(opt.recommend().x, [0.0, 1.0])


@pytest.mark.parametrize("delta", [0.0, 1.0, math.nan])
def test_delta_must_be_a_probability(delta):
    with pytest.raises(ValueError, match="delta"):
        BOSE(delta=delta)
