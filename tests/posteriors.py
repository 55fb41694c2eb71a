"""Posteriors for the tests of policies over pairs: random ones in both forms, and degenerate ones."""

import numpy as np

import equipoise as eq


def random_posterior(seed, beta=1.0, points=12, comparisons=15, form="covariance"):
    """A posterior after random comparisons of random points; `covariance` or `dual`."""
    rng = np.random.default_rng(seed)
    X = rng.uniform(0, 1, (points, 2))
    confidence = eq.FixedConfidence(beta)
    if form == "covariance":
        posterior = eq.belief.FinitePosterior(X, eq.RBF(0.4), 0.7, confidence)
    else:
        posterior = eq.belief.AnywherePosterior(eq.RBF(0.4), 0.7, confidence)
    for _ in range(comparisons):
        i, j = rng.choice(points, 2, replace=False)
        posterior = posterior.condition(eq.Comparison(X[i], X[j], 2 * rng.normal()))
    return posterior, X


def exchangeable(points=4):
    """Independent values of equal variance, no data: every point and every pair is as good as another."""
    posterior = eq.belief.FinitePosterior(np.eye(points), eq.Linear())
    return posterior, posterior.points


def certain(points=3):
    """No variance at all, equal means: a linear function of features that are zero."""
    posterior = eq.belief.FinitePosterior(np.zeros((points, 2)), eq.Linear())
    return posterior, posterior.points


def duplicated():
    """Every point twice, after a comparison that makes the first pair of twins the leader."""
    X = np.array([[0.0], [0.0], [0.6], [0.6], [1.0], [1.0]])
    posterior = eq.belief.FinitePosterior(X, eq.RBF(0.4)).condition(eq.Comparison([0.0], [1.0], 0.5))
    return posterior, posterior.points


def differences(posterior, X):
    """Mean and confidence half-width of every difference, entry by entry: `mean(x) - mean(z)`, `width(x, z)`."""
    belief = posterior.at(X)
    C, m = belief.covariance(), len(X)
    gap, width = np.empty((m, m)), np.empty((m, m))
    for x in range(m):
        for z in range(m):
            psi = max(C[x, x] + C[z, z] - 2 * C[x, z], 0.0)
            gap[x, z] = belief.mean[x] - belief.mean[z]
            width[x, z] = np.sqrt(posterior.beta * psi / posterior.regularizer)
    return gap, width


def unbeaten(gap, width):
    """The candidates that no other beats with confidence."""
    return [x for x in range(len(gap)) if not (gap[:, x] > width[:, x]).any()]


def indices(policy, posterior, X, seed=0):
    """Which of the candidates the policy proposes; equal candidates count as the first of them."""
    rng = seed if isinstance(seed, np.random.Generator) else np.random.default_rng(seed)
    proposal = policy(posterior.at(X), rng)
    assert proposal.weights.tolist() == [0.5, 0.5]
    return tuple(int(np.flatnonzero((point == X).all(axis=1))[0]) for point in proposal.points)
