"""PairIDS against brute force over mixtures, explicit pair features, and the regret of IDS."""

import itertools

import numpy as np
import pytest

import equipoise as eq
from equipoise.policies.pair_ids import PairIDS, mixtures, pair_gaps


def ratio_of(D, information, weights):
    return (weights @ D) ** 2 / (weights @ information)


def random_pairs(rng, count):
    return rng.uniform(0.01, 2, size=count), rng.exponential(size=count) * (rng.random(count) < 0.8)


def test_two_pairs_against_a_grid():
    rng, grid = np.random.default_rng(0), np.linspace(0, 1, 2001)
    for _ in range(300):
        D, information = random_pairs(rng, 2)
        if not information.any():
            continue
        gap, gain = D[0] + grid * (D[1] - D[0]), information[0] + grid * (information[1] - information[0])
        with np.errstate(divide="ignore"):
            best = (gap**2 / gain).min()
        ratio, _ = mixtures(D, information)
        assert ratio.min() == pytest.approx(best, rel=1e-3)
        assert ratio.min() <= best * (1 + 1e-12)


def test_ratio_is_that_of_the_mixture():
    rng = np.random.default_rng(1)
    D, information = random_pairs(rng, 6)
    ratio, p = mixtures(D, information)
    for a, b in itertools.product(range(6), repeat=2):
        if np.isfinite(ratio[a, b]):
            two = np.array([1 - p[a, b], p[a, b]])
            assert ratio[a, b] == pytest.approx(ratio_of(D[[a, b]], information[[a, b]], two))


def test_no_distribution_over_more_pairs_is_better():
    rng = np.random.default_rng(2)
    for _ in range(50):
        D, information = random_pairs(rng, 6)
        weights = rng.dirichlet(np.full(6, 0.3), size=500)
        ratio, _ = mixtures(D, information)
        assert ratio.min() <= ((weights @ D) ** 2 / np.maximum(weights @ information, 1e-300)).min() * (1 + 1e-9)


def test_mixtures_broadcast():
    rng = np.random.default_rng(3)
    D, information = rng.uniform(size=(4, 5)), rng.exponential(size=(4, 5))
    ratio, p = mixtures(D, information)
    for k in range(4):
        np.testing.assert_array_equal(ratio[k], mixtures(D[k], information[k])[0])
        np.testing.assert_array_equal(p[k], mixtures(D[k], information[k])[1])


def test_no_regret_is_best_and_no_information_is_worst():
    ratio, _ = mixtures(np.array([0.0, 1.0, 1.0]), np.array([0.0, 0.0, 1.0]))
    assert ratio[0, 0] == 0
    assert ratio[1, 1] == np.inf
    assert ratio[2, 2] == 1
    assert ratio.argmin() == 0


@pytest.mark.parametrize("regularizer", [1.0, 0.3])
def test_gaps_by_definition(regularizer):
    rng = np.random.default_rng(4)
    X, V, b = rng.normal(size=(5, 3)), regularizer * np.eye(3), np.zeros(3)
    posterior = eq.belief.FinitePosterior(X, eq.Linear(), regularizer, eq.FixedConfidence(2.0))
    for _ in range(20):
        first, second, outcome = *X[rng.integers(5, size=2)], rng.normal()
        posterior = posterior.condition(eq.Comparison(first, second, outcome))
        V += np.outer(first - second, first - second)
        b += (first - second) * outcome
    belief = posterior.at(posterior.points)
    i, j = np.triu_indices(5)
    features, theta = X[i] + X[j], np.linalg.solve(V, b)
    differences = features[None] - features[:, None]
    norms = np.sqrt(np.einsum("abi,ij,abj->ab", differences, np.linalg.inv(V), differences))
    expected = (differences @ theta + np.sqrt(2.0) * norms).max(axis=1)
    np.testing.assert_allclose(pair_gaps(belief, belief.covariance(), i, j), expected, atol=1e-8)


def test_refuses_large_sets():
    posterior = eq.belief.FinitePosterior(np.linspace(0, 1, 41)[:, None], eq.RBF(0.2))
    with pytest.raises(ValueError, match="at most 40 for PairIDS, got 41"):
        PairIDS()(posterior.at(posterior.points), np.random.default_rng(0))
    PairIDS()(posterior.at(posterior.points[:40]), np.random.default_rng(0))


def test_equal_points_and_single_points():
    for points in ([[0.3]], [[0.3], [0.3]]):
        posterior = eq.belief.FinitePosterior(points, eq.RBF(1.0))
        proposal = PairIDS()(posterior.at(posterior.points), np.random.default_rng(0))
        np.testing.assert_array_equal(proposal.points, [[0.3], [0.3]])


def regret(policy, seed, duels=150):
    rng, noise = np.random.default_rng([seed, 1]), np.random.default_rng([seed, 2])
    X, theta = noise.normal(size=(6, 3)), noise.normal(size=3)
    X, theta = X / np.linalg.norm(X, axis=1, keepdims=True), theta / np.linalg.norm(theta)
    posterior = eq.belief.FinitePosterior(X, eq.Linear(), 2.0, eq.TightConfidence(outcome_noise=np.sqrt(2)))
    total = 0.0
    for _ in range(duels):
        pair = policy(posterior.at(posterior.points), rng).points
        value = pair @ theta
        total += 2 * (X @ theta).max() - value.sum()
        outcome = value[0] - value[1] + np.sqrt(2) * noise.normal()
        posterior = posterior.condition(eq.Comparison(*pair, outcome))
    return total


def test_regret_agrees_with_ids():
    """The paired difference over 16 problems lies within 4 standard errors, which are small against the regret."""
    regrets = np.array([[regret(policy, seed) for policy in (eq.IDS(), PairIDS())] for seed in range(16)])
    difference = regrets[:, 0] - regrets[:, 1]
    error = difference.std(ddof=1) / np.sqrt(16)
    assert abs(difference.mean()) < 4 * error
    assert error < 0.15 * regrets.mean()
