"""The estimated regret: joint draws against brute force, and the pooling of several opinions."""

import numpy as np
import pytest
from scipy.stats import multivariate_normal, norm

import equipoise as eq
from equipoise.answer import regret
from equipoise.answer.regret import regret_bound

POINTS = np.array([[0.0], [0.3], [1.0]])


@pytest.fixture
def posterior():
    belief = eq.belief.FinitePosterior(POINTS, eq.RBF(0.4), 0.1)
    return belief.condition(eq.Comparison(POINTS[0], POINTS[2], 0.5)).condition(
        eq.Comparison(POINTS[1], POINTS[2], 0.3)
    )


@pytest.fixture(autouse=True)
def _many_draws(monkeypatch):
    monkeypatch.setattr(regret, "DRAWS", 20_000)


def test_one_rival_is_a_normal_quantile(posterior):
    (mean,), (variance,) = posterior.difference(POINTS[1:2], POINTS[0])
    bound = regret_bound((posterior,), POINTS[0], POINTS[1:2], True, np.random.default_rng(0))
    assert bound == pytest.approx(mean + norm.ppf(0.95) * np.sqrt(variance), rel=0.03)


def test_several_rivals_are_bounded_jointly(posterior):
    bound = regret_bound((posterior,), POINTS[0], POINTS[1:], True, np.random.default_rng(0))
    mean, _ = posterior.difference(POINTS[1:], POINTS[0])
    C = posterior.at(POINTS).covariance()
    A = np.array([[-1.0, 1.0, 0.0], [-1.0, 0.0, 1.0]])
    assert multivariate_normal(mean, A @ C @ A.T).cdf([bound, bound]) == pytest.approx(0.95, abs=0.005)


def test_opinions_are_pooled(posterior):
    other = eq.belief.FinitePosterior(POINTS, eq.RBF(0.1), 0.1)
    one, two, both = (
        regret_bound(opinions, POINTS[0], POINTS[1:], True, np.random.default_rng(0))
        for opinions in ((posterior,), (other,), (posterior, other))
    )
    assert min(one, two) < both < max(one, two)


def test_a_leader_without_rivals_has_nothing_to_fear(posterior):
    assert regret_bound((posterior,), POINTS[0], POINTS[:1], True, np.random.default_rng(0)) < 1e-3


def test_a_quantile_is_that_of_numpy_to_the_last_bit():
    rng = np.random.default_rng(0)
    for n in (1, 2, 3, 300, 900):
        values = np.maximum(rng.normal(size=n), -0.5)
        for level in (0.0, 0.3, 0.5, regret.LEVEL, 1.0):
            assert regret.quantile(values, level) == float(np.quantile(values, level))
