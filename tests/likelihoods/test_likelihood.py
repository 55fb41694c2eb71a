"""A likelihood of one's own: counts, of f plus an offset, against integration by brute force."""

from dataclasses import dataclass

import numpy as np
import pytest
from scipy.special import gammaln

import equipoise as eq
from equipoise.likelihoods import Few, Tilt, propagate
from equipoise.offsets import Moments

NODES = np.linspace(-8.0, 8.0, 1001)
WEIGHTS = np.exp(-0.5 * NODES**2)


@dataclass(frozen=True)
class Counts:
    """Poisson counts of rate exp(u)."""

    value: np.ndarray

    def __len__(self):
        return len(self.value)

    def take(self, kept):
        return Counts(self.value[kept])

    def log_probability(self, u):
        return self.value[:, None] * u - np.exp(u) - gammaln(self.value + 1.0)[:, None]

    def tilt(self, mu, v):
        u = mu[:, None] + np.sqrt(v)[:, None] * NODES
        weighted = WEIGHTS / WEIGHTS.sum() * np.exp(self.log_probability(u))
        z = weighted.sum(axis=1)
        mean = (weighted * u).sum(axis=1) / z
        variance = (weighted * (u - mean[:, None]) ** 2).sum(axis=1) / z
        return Tilt(np.log(z), (mean - mu) / v, (1.0 - variance / v) / v, v, 1e-12 * v)


def integrated(K, m, counts, size=91):
    """Evidence, means and variances of three latents on a grid."""
    x = np.linspace(-6, 6, size)
    e = np.array(np.meshgrid(x, x, x, indexing="ij")).reshape(3, -1)
    u = m[:, None] + np.linalg.cholesky(K) @ e
    weight = np.exp(-0.5 * (e * e).sum(axis=0))
    p = weight * np.exp(counts.log_probability(u).sum(axis=0))
    z, p = p.sum() / weight.sum(), p / p.sum()
    return np.log(z), u @ p, (u * u) @ p - (u @ p) ** 2


@pytest.mark.parametrize("value", [(0, 3, 17), (40, 0, 1), (5, 5, 5)])
def test_counts_teach_f_plus_an_offset(value):
    rng = np.random.default_rng(0)
    A, drift = rng.normal(size=(3, 3)), 0.3 * np.minimum.outer(np.arange(1, 4), np.arange(1, 4))
    K, m, counts = 0.3 * A @ A.T + drift + 0.2 * np.eye(3), np.full(3, 1.5), Counts(np.array(value))
    found = propagate(Few(K, m), counts)
    evidence, means, variances = integrated(K, m, counts)
    assert found.converged
    assert found.log_evidence == pytest.approx(evidence, abs=1e-3)
    assert found.marginals.mean == pytest.approx(means, abs=1e-3)
    assert found.marginals.variance == pytest.approx(variances, rel=2e-3)
    first = propagate(Few(K[:2, :2], m[:2]), counts.take(np.arange(2)))
    assert propagate(Few(K, m), counts, first.sites).marginals.mean == pytest.approx(found.marginals.mean, abs=1e-4)


def test_a_posterior_takes_sites_for_readings_with_an_error():
    """The latent of a count is f plus the offset plus noise: its site is a reading whose error is that of the site."""
    rng, noise, kernel, offset = np.random.default_rng(0), 0.05, 2.0 * eq.RBF(0.3), eq.Tracked().known(walk=0.1)
    x, time = rng.random((12, 1)), np.arange(12.0)
    moments, F = Moments(time, np.full(12, -1.0)), kernel(x, x)
    K = F + offset(moments, moments, F) + noise * np.eye(12)
    found = propagate(Few(K, np.zeros(12)), Counts(rng.poisson(np.exp(1.0 + np.sin(5.0 * x[:, 0])))))
    belief = eq.belief.AnywherePosterior(kernel, noise, offset=offset)
    for point, t, y, tau in zip(x, time, found.sites.outcome, found.sites.precision, strict=True):
        belief = belief.condition(eq.Comparison(point, None, y, time=t, variance=1.0 / tau))
    alpha = np.linalg.solve(K + np.diag(1.0 / found.sites.precision), found.sites.outcome)
    assert belief.mean(x) == pytest.approx(F @ alpha, abs=1e-8)
    assert found.marginals.mean == pytest.approx(K @ alpha, abs=1e-8)
