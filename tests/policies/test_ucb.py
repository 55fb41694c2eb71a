"""UCB: the textbook formulas, fair ties, and the two ways it is known to behave."""

import math

import numpy as np
from scipy import stats

import equipoise as eq
from equipoise.data import Reading


def test_equals_linucb_in_feature_space():
    """METHOD section 6: argmax x'th + sqrt(beta) |x|_{V^-1}, beta from det V."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(20, 4))
    X /= np.linalg.norm(X, axis=1, keepdims=True)
    posterior = eq.belief.FinitePosterior(X, eq.Linear(), 1.0, eq.PaperConfidence(1.0, 1.0, 0.05))
    V, b = np.eye(4), np.zeros(4)
    for _ in range(40):
        inverse = np.linalg.inv(V)
        root = math.sqrt(np.linalg.slogdet(V)[1] + 2 * math.log(1 / 0.05)) + 1
        scores = X @ inverse @ b + root * np.sqrt(np.einsum("ij,jk,ik->i", X, inverse, X))
        proposal = eq.UCB()(posterior.at(posterior.points), rng)
        assert proposal.weights.tolist() == [1.0]
        x = proposal.points[0]
        if np.diff(np.sort(scores)[-2:]) > 1e-9:
            assert (x == X[scores.argmax()]).all()
        y = x @ np.full(4, 0.5) + rng.normal()
        V, b = V + np.outer(x, x), b + y * x
        posterior = posterior.condition(eq.UCB().reduction(proposal, rng).comparison([Reading(y)]))


def test_the_width_grows_with_beta():
    """Two points, one well known and promising: the greedy choice at beta = 0, the unknown one at a large beta."""
    points = np.array([[0.0], [5.0]])
    for beta, expected in ((0.0, 0.0), (25.0, 5.0)):
        posterior = eq.belief.FinitePosterior(points, eq.RBF(1.0), 0.01, eq.FixedConfidence(beta))
        posterior = posterior.condition(eq.Comparison(points[0], None, 0.5))
        assert eq.UCB()(posterior.at(posterior.points), np.random.default_rng(0)).points.item() == expected


def test_ties_are_broken_fairly():
    posterior = eq.belief.FinitePosterior(np.eye(5), eq.Linear())
    rng, n = np.random.default_rng(0), 2000
    belief = posterior.at(posterior.points)
    counts = np.bincount([eq.UCB()(belief, rng).points[0].argmax() for _ in range(n)], minlength=5)
    assert ((counts - n / 5) ** 2 / (n / 5)).sum() < stats.chi2.isf(1e-6, df=4)


def test_finds_the_optimum_without_an_offset_and_is_fooled_by_one():
    def right(drift):
        found = 0
        for seed in range(10):
            space = eq.Finite(np.linspace(0, 1, 11)[:, None])
            opt = eq.Optimizer(space, kernel=eq.RBF(0.2), policy=eq.UCB(), regularizer=0.05, rng=seed)
            for t in range(60):
                trial = opt.ask()
                opt.tell(trial, -4 * (trial.x[0] - 0.7) ** 2 + drift * t)
            found += abs(opt.recommend().x[0] - 0.7) < 0.05
        return found

    assert right(0.0) == 10
    assert right(-0.5) < 5
