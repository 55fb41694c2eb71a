"""Offsets: their covariance against an explicit construction, the dual form that carries one against a fresh solve."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.gaussian_process import kernels as sk

import equipoise as eq

quick = settings(max_examples=60, deadline=None, derandomize=True)
VARIANCES = st.floats(0.0, 10.0)
TIMES = st.lists(st.integers(0, 60).map(lambda k: k / 2), min_size=1, max_size=12)  # half hours: some coincide
JUMPS = st.lists(st.tuples(st.integers(1, 29).map(float), st.floats(0.01, 9.0)), max_size=3).map(tuple)
OFFSETS = st.builds(eq.OffsetKernel, VARIANCES, VARIANCES, VARIANCES, VARIANCES, st.floats(0.5, 20.0), JUMPS)


def made_of(kernel, times):
    """The covariance of the offset put together from independent normal numbers, as a simulation would."""
    t = np.asarray(times)
    moments = np.unique(np.append(0.0, t))
    steps = np.sqrt(kernel.walk * np.diff(moments)) * (t[:, None] >= moments[1:])  # what was walked up to t
    jumps = [np.sqrt(variance) * (t >= when) for when, variance in kernel.jumps]
    A = np.column_stack([np.sqrt(kernel.level) * np.ones(len(t)), np.sqrt(kernel.slope) * t, steps, *jumps])
    return A @ A.T + kernel.wave * sk.Matern(kernel.duration, nu=2.5)(t[:, None])


@quick
@given(OFFSETS, TIMES, st.floats(0.0, 100.0))
def test_the_covariance_is_that_of_a_level_a_slope_a_wave_a_walk_and_jumps(kernel, times, factor):
    K = kernel(times, times)
    scale = 1.0 + np.abs(K).max()
    np.testing.assert_allclose(K, made_of(kernel, times), rtol=1e-10, atol=1e-12 * scale)
    assert np.linalg.eigvalsh(0.5 * (K + K.T)).min() > -1e-13 * len(K) * scale
    np.testing.assert_allclose(kernel(times, times[:1]), K[:, :1], rtol=1e-14)
    np.testing.assert_allclose(kernel.scaled(factor)(times, times), factor * K, rtol=1e-12, atol=1e-12 * factor * scale)


def test_a_random_walk_and_a_jump_are_simulated_with_this_covariance():
    """The standard error of a covariance over N runs is at most sqrt(2 C_ii C_jj / N); five of them for 64 entries."""
    N, n, rng = 40_000, 8, np.random.default_rng(0)
    kernel = eq.OffsetKernel(level=1.0, walk=0.5, jumps=((4.0, 3.0),))
    runs = rng.normal(size=(N, 1)) + np.sqrt(0.5) * rng.normal(size=(N, n)).cumsum(axis=1)
    runs += np.sqrt(3.0) * rng.normal(size=(N, 1)) * (np.arange(1, n + 1) >= 4)
    t = np.arange(1.0, n + 1)
    K = kernel(t, t)
    seen = runs.T @ runs / N
    assert (np.abs(seen - K) < 5 * np.sqrt(2 * np.outer(np.diag(K), np.diag(K)) / N)).all()


@pytest.mark.parametrize("guard", [0.0, -1.0, np.nan])
def test_a_guard_must_be_positive(guard):
    with pytest.raises(ValueError, match="`guard` must be"):
        eq.Tracked(guard)
    assert eq.Tracked(None).guard is None


# --- the dual form with an offset ---------------------------------------------------------------------------------

KERNEL = 1.7 * eq.Matern52([0.4, 0.9])
NOISE = 0.05


EVENTFUL = eq.OffsetKernel(25.0, 0.01, 0.2, 0.5, 6.0, ((9.0, 4.0),))


def readings(seed, n=25, kernel=EVENTFUL):
    """Readings at irregular times, some with an error of their own: the posterior, and what it was told."""
    rng = np.random.default_rng(seed)
    X = rng.random((n, 2))
    t = np.cumsum(rng.exponential(size=n))
    y, variances = 3 * rng.normal(size=n) + 40, rng.choice([0.0, 0.3], n)
    posterior = eq.belief.AnywherePosterior(KERNEL, NOISE, offset=kernel)
    for row in zip(X, [None] * n, y, t, variances, strict=True):
        posterior = posterior.condition(eq.Comparison(*row))
    return posterior, X, t, y, variances


def dense(X, P, K_o, y, noise):
    """Mean and covariance of f at P by the textbook formula."""
    K = KERNEL(X, X) + K_o + np.diag(noise)
    k = KERNEL(P, X)
    return k @ np.linalg.solve(K, y), KERNEL(P, P) - k @ np.linalg.solve(K, k.T)


@pytest.mark.parametrize("seed", range(3))
def test_readings_with_an_offset_agree_with_a_fresh_solve(seed):
    posterior, X, t, y, variances = readings(seed)
    P = np.random.default_rng(100).random((7, 2))
    other = eq.OffsetKernel(1.0, walk=2.0)
    again = posterior.under(2.0 * eq.Matern52(0.5), 0.3, posterior.offset).under(KERNEL, NOISE, other)
    for belief, kernel in ((posterior, posterior.offset), (again, other)):
        mean, C = dense(X, P, kernel(t, t), y, NOISE + variances)
        at = belief.at(P)
        np.testing.assert_allclose(at.mean, mean, rtol=1e-9, atol=1e-9)
        np.testing.assert_allclose(belief.mean(P), mean, rtol=1e-9, atol=1e-9)
        np.testing.assert_allclose(at.covariance(), C, rtol=1e-9, atol=1e-10)
        difference, psi = belief.difference(P[1:], P[0])
        np.testing.assert_allclose(difference, mean[1:] - mean[0], rtol=1e-9, atol=1e-9)
        np.testing.assert_allclose(psi, np.diag(C)[1:] + C[0, 0] - 2 * C[1:, 0], rtol=1e-9, atol=1e-10)
        noise = np.diag(NOISE + variances)
        log_det = np.linalg.slogdet(KERNEL(X, X) + kernel(t, t) + noise)[1] - np.linalg.slogdet(noise)[1]
        assert belief.log_det == pytest.approx(log_det, rel=1e-9)
        np.testing.assert_allclose(
            belief.residuals(), y - dense(X, X, kernel(t, t), y, NOISE + variances)[0], atol=1e-8
        )


@pytest.mark.parametrize("seed", range(3))
def test_under_a_wide_level_only_differences_of_readings_teach(seed):
    """As the level's variance grows, the posterior becomes that of the contrasts y_i - y_0, which know no level."""
    _, X, t, y, variances = readings(seed)
    walk = eq.OffsetKernel(walk=0.2)
    P = np.random.default_rng(100).random((7, 2))
    D = np.eye(len(y))[1:] - np.eye(len(y))[0]
    S = D @ (KERNEL(X, X) + walk(t, t) + np.diag(NOISE + variances)) @ D.T
    u = (KERNEL(P[1:], X) - KERNEL(P[:1], X)) @ D.T
    mean = u @ np.linalg.solve(S, D @ y)
    prior = 2 * KERNEL.factor - 2 * KERNEL(P[1:], P[:1])[:, 0]
    psi = prior - np.einsum("ij,ji->i", u, np.linalg.solve(S, u.T))
    for level in (1e6, 1e7):
        posterior = readings(seed, kernel=eq.OffsetKernel(level, walk=0.2))[0]
        found = posterior.difference(P[1:], P[0])
        np.testing.assert_allclose(found, (mean, psi), rtol=1e-4, atol=1e-4)
