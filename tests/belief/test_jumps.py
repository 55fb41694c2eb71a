"""Jumps of the offset: found as they happen, found later where overlooked, and no single one decides between points."""

import numpy as np
import pytest

import equipoise as eq
from equipoise.belief.disturbances import _of_steps
from equipoise.belief.trust import jackknife
from equipoise.lab.environments import BlockOffsets, Environment, camelback

NOISE = 0.1


def condition(posterior, points, readings):
    for t, (x, y) in enumerate(zip(points, readings, strict=True), start=1):
        posterior = posterior.condition(eq.Comparison(x, None, y, time=t))
    return posterior


def learned(guard=None):
    form = eq.belief.Form(np.ones(2), np.arange(2), eq.Tracked())
    return eq.belief.LearnedBelief.prior(eq.belief.LearnedModel(form, guard=guard))


def found(posterior):
    return [time for time, _ in posterior.exact.offset.jumps]


def world(seed, n, jumps):
    """Readings of a bump at random points, with an offset that jumps."""
    rng = np.random.default_rng(seed)
    X = rng.random((n, 2))
    offset = sum(size * (np.arange(1, n + 1) >= time) for time, size in jumps)
    return X, np.exp(-4 * ((X - 0.3) ** 2).sum(axis=1)) + offset + NOISE * rng.standard_normal(n)


@pytest.mark.parametrize("seed", range(3))
def test_a_jump_is_found_as_soon_as_a_second_reading_confirms_it(seed):
    X, y = world(seed, 42, [(41, 3.0)])
    assert found(condition(learned(), X[:41], y[:41])) == []
    assert found(condition(learned(), X, y)) == [41.0]


@pytest.mark.parametrize("seed", range(3))
def test_jumps_overlooked_at_first_are_found_at_a_refit(seed):
    """Among the first readings f is unknown, so a jump may pass for f; it must not stay so."""
    X, y = world(seed, 60, [(4, 5.0), (9, -8.0)])
    posterior = condition(learned(), X, y)
    assert {4.0, 9.0} <= set(found(posterior))
    mean, variance = posterior.exact.difference(np.array([[0.3, 0.3]]), np.array([1.0, 1.0]))
    assert abs(mean[0] - 0.98) < 4 * variance[0] ** 0.5 + 0.1
    assert posterior.hyperparameters.noise**0.5 * posterior.hyperparameters.step < 2 * NOISE


@pytest.mark.parametrize("every", [3, 5])
def test_an_offset_that_steps_often_is_found_out(every):
    """Most pairs of readings are whole, but enough are not that a typical difference is a jump."""
    X, y = world(0, 90, [])
    levels = 10 * np.random.default_rng(1).standard_normal(90)[np.arange(90) // every]
    posterior = condition(learned(), X, y + levels)
    steps = {float(time) for time in range(every + 1, 91, every)}
    assert len(steps & set(found(posterior))) >= 0.85 * len(steps)
    assert len(set(found(posterior)) - steps) <= 2
    mean, variance = posterior.exact.difference(np.array([[0.3, 0.3]]), np.array([1.0, 1.0]))
    assert abs(mean[0] - 0.98) < 4 * variance[0] ** 0.5 + 0.1
    assert variance[0] ** 0.5 < 0.2


@pytest.mark.parametrize("kept", [slice(None), slice(3, None, 2)], ids=["all", "some"])
def test_surprise_and_likelihood_of_steps_are_those_of_the_full_matrices(kept):
    rng = np.random.default_rng(0)
    n = 12
    root, y = rng.standard_normal((n, n)), rng.standard_normal(n)
    K, own = root @ root.T + np.eye(n), np.arange(n)[kept]
    w = rng.random(len(own) - 1)
    H = np.zeros((n, len(w)))
    H[own] = own[:, None] >= own[1:]
    V = K + H * w @ H.T
    P = np.linalg.inv(V)
    a, b, likelihood = _of_steps(K, y, own, w)
    np.testing.assert_allclose(a, np.einsum("nt,nm,mt->t", H, P, H))
    np.testing.assert_allclose(b, H.T @ P @ y)
    assert likelihood == pytest.approx(-0.5 * y @ P @ y - 0.5 * np.linalg.slogdet(V)[1])


def test_a_study_whose_offset_steps_every_five_readings_pays_little_more_than_without():
    """Of 200 readings: 66 with steps that are found at each fit and a unit free of them, 346 without; no offset: 51."""
    world = Environment(camelback(), BlockOffsets(5, 10.0), 0.316, rng=2)
    opt = eq.Optimizer(eq.Box(world.function.bounds), rng=10_002)
    paid = 0.0
    for _ in range(120):
        trial = opt.ask()
        paid += world.regret(trial.x)
        opt.tell(trial, world.measure(trial.x))
    assert paid < 110


@pytest.mark.parametrize("seed", range(3))
def test_a_calm_or_waving_offset_has_no_jumps(seed):
    X, y = world(seed, 80, [])
    assert found(condition(learned(), X, y)) == []
    wave = 2 * np.sin(0.2 * np.arange(80)) - 0.1 * np.arange(80)
    assert found(condition(learned(), X, y + wave)) == []


@pytest.mark.parametrize("seed", range(4))
def test_a_jump_inside_a_pair_does_not_turn_the_guard(seed):
    """One difference is off by the jump, the readings around it say why: the tracked belief is kept."""
    rng = np.random.default_rng(seed)
    posterior = learned(guard=3.0)
    for t in range(1, 61, 2):
        a, b = pair = rng.permutation([[0.3, 0.3], rng.random(2)])
        f, offset = np.exp(-4 * ((pair - 0.3) ** 2).sum(axis=1)), 3.0 * (np.array([t, t + 1]) >= 48)
        y = f + offset + NOISE * rng.standard_normal(2)
        for comparison in (
            eq.Comparison(a, None, y[0], time=t),
            eq.Comparison(b, None, y[1], time=t + 1),
            eq.Comparison(a, b, y[0] - y[1], time=t + 1),
        ):
            posterior = posterior.condition(comparison)
        assert not posterior.contradicted, f"after reading {t + 1}"


def test_without_each_datum_in_turn():
    rng = np.random.default_rng(0)
    data = [eq.Comparison(rng.random(2), rng.random(2), rng.normal(), variance=rng.random()) for _ in range(9)]
    x, z = rng.random((2, 2))

    def posterior(comparisons):
        belief = eq.belief.AnywherePosterior(eq.RBF(0.4), 0.3)
        for comparison in comparisons:
            belief = belief.condition(comparison)
        return belief

    without = [posterior(data[:i] + data[i + 1 :]).difference(x[None], z) for i in range(9)]
    expected_mean, expected_variance = np.array(without)[:, :, 0].T
    mean, variance = jackknife(posterior(data), x, z)
    np.testing.assert_allclose(mean, expected_mean, rtol=1e-10)
    np.testing.assert_allclose(variance, expected_variance, rtol=1e-10)
