"""Offsets: covariance against an explicit construction, derivatives, and the posterior that carries one."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.linalg import null_space
from sklearn.gaussian_process import kernels as sk

import equipoise as eq
from equipoise.belief import Model
from equipoise.belief.trust import residuals
from equipoise.offsets import Moments
from equipoise.offsets.offset import LEVEL_VARIANCE
from equipoise.offsets.terms import jump_covariance
from equipoise.offsets.tracked import SLOPE_VARIANCE

quick = settings(max_examples=60, deadline=None, derandomize=True)
VARIANCES = st.floats(0.0, 10.0)
TIMES = st.lists(st.integers(0, 60).map(lambda k: k / 2), min_size=1, max_size=12)  # half hours: some coincide
JUMPS = st.lists(st.tuples(st.integers(1, 29).map(float), st.floats(0.01, 9.0)), max_size=3).map(tuple)
UNITS = st.floats(0.1, 10.0)
LAWS = [eq.Arbitrary(), eq.Constant(), eq.Tracked(), eq.Blocks(3), eq.Blocks(7), eq.offsets.Steady()]
over_laws = pytest.mark.parametrize("law", LAWS, ids=repr)


def at(times):
    """Readings at given times, in pairs."""
    t = np.asarray(times, dtype=float)
    return Moments(t, np.arange(len(t)) // 2.0)


def tracked(walk, wave, duration, pair, unit, jumps):
    return eq.Tracked().known(unit, walk=walk, wave=wave, duration=duration, pair=pair).jumping(*jumps)


def blocks(length, level, unit, jumps):
    return eq.Blocks(length).known(unit, level=level).jumping(*jumps)


MODELS = st.one_of(
    st.builds(tracked, VARIANCES, VARIANCES, st.floats(0.5, 20.0), VARIANCES, UNITS, JUMPS),
    st.builds(blocks, st.integers(1, 9), VARIANCES, UNITS, JUMPS),
    st.builds(lambda unit, jumps: eq.Constant().known(unit).jumping(*jumps), UNITS, JUMPS),
)


def made_of(model, times):
    """The covariance of the offset put together from independent normal numbers, as a simulation would."""
    t = np.asarray(times)
    level = np.full((len(t), 1), LEVEL_VARIANCE**0.5)
    jumps = [np.sqrt(variance) * (t >= when) for when, variance in model.jumps]
    own, wave = [], 0.0
    if isinstance(model.law, eq.Tracked):
        walk, strength, duration, pair = model.values
        moments = np.unique(np.append(0.0, t))
        steps = np.sqrt(walk * np.diff(moments)) * (t[:, None] >= moments[1:])  # what was walked up to t
        pairs = pair**0.5 * np.eye(len(t)).repeat(2, axis=0)[: len(t)]  # its own level for each
        own, wave = [SLOPE_VARIANCE**0.5 * t, steps, pairs], strength * sk.Matern(duration, nu=2.5)(t[:, None])
    if isinstance(model.law, eq.Blocks):  # reading 1 begins the first run
        runs = np.array([int(np.floor((time - 1) / model.law.length)) for time in t])
        own = [model.values[0] ** 0.5 * (runs[:, None] == np.unique(runs))]
    A, J = model.unit * np.column_stack([level, *own]), np.column_stack([0.0 * t, *jumps])
    return A @ A.T + model.unit**2 * wave + J @ J.T


@quick
@given(MODELS, TIMES, st.floats(0.1, 100.0))
def test_the_covariance_is_that_of_what_the_law_says_it_is_made_of(model, times, factor):
    when = at(times)
    K = model(when, when)
    scale = 1.0 + np.abs(K).max()
    np.testing.assert_allclose(K, made_of(model, times), rtol=1e-10, atol=1e-12 * scale)
    assert np.linalg.eigvalsh(0.5 * (K + K.T)).min() > -1e-13 * len(K) * scale
    np.testing.assert_allclose(model(when, at(times[:1])), K[:, :1], rtol=1e-14)
    larger = replace(model, unit=factor * model.unit, jumps=tuple((t, factor**2 * v) for t, v in model.jumps))
    np.testing.assert_allclose(larger(when, when), factor**2 * K, rtol=1e-12, atol=1e-12 * factor**2 * scale)


def test_no_law_is_left_out():
    exported = {getattr(eq.offsets, name) for name in eq.offsets.__all__}
    laws = {kind for kind in exported if isinstance(kind, type) and issubclass(kind, eq.offsets.Law)}
    assert laws - {eq.offsets.Law} == {type(law) for law in LAWS}


def some_values(law, rng):
    return np.array([np.exp(rng.uniform(np.log(each.low) / 4, np.log(each.high) / 4)) for each in law.hyperparameters])


@over_laws
def test_derivatives_agree_with_central_differences(law):
    rng, h = np.random.default_rng(0), 1e-5
    a, b = at(np.cumsum(rng.exponential(size=9))), at(rng.integers(1, 20, 5))
    for _ in range(5):
        theta = np.log(some_values(law, rng))
        found = law.derivatives(np.exp(theta), a, b)
        assert len(found) == len(law.hyperparameters)
        for derivative, e in zip(found, h * np.eye(len(theta)), strict=True):
            up, down = (law.covariance(np.exp(theta + s * e), a, b) for s in (1, -1))
            numeric = (up - down) / (2 * h)
            np.testing.assert_allclose(derivative, numeric, rtol=1e-6, atol=1e-8 * (1 + np.abs(up).max()))


@over_laws
def test_what_is_prepared_is_the_covariance_and_its_derivatives(law):
    rng = np.random.default_rng(1)
    for times in (np.arange(1.0, 15.0), np.cumsum(rng.exponential(size=12))):
        when = at(times)
        prepared = law.prepared(when)
        for _ in range(5):
            values, W = some_values(law, rng), rng.normal(size=(len(times), len(times)))
            W += W.T
            K = law.covariance(values, when, when)
            np.testing.assert_allclose(prepared.covariance(values), K, rtol=1e-12)
            traces = [0.5 * np.trace(W @ derivative) for derivative in law.derivatives(values, when, when)]
            gradient = prepared.gradient(values, W, np.zeros_like(W))
            assert len(gradient) == len(traces)
            np.testing.assert_allclose(gradient, traces, rtol=1e-10, atol=1e-10)


def test_a_law_is_known_by_its_hyperparameters_and_no_others():
    law = eq.Tracked()
    guesses = tuple(each.guess for each in law.hyperparameters)
    assert law.known().values == guesses
    assert law.known(unit=3.0, wave=2.0).values == (guesses[0], 2.0, *guesses[2:])
    assert law.known(unit=3.0).unit == 3.0
    with pytest.raises(TypeError, match="known takes walk, wave, duration, pair, got level"):
        law.known(level=1.0)
    with pytest.raises(TypeError, match="known takes nothing, got walk"):
        eq.Constant().known(walk=1.0)


@over_laws
def test_every_hyperparameter_is_guessed_within_its_bounds_and_gives_a_reason(law):
    for each in law.hyperparameters:
        assert 0 < each.low < each.guess < each.high
        assert np.log(each.low) < each.mean < np.log(each.high)
        assert each.deviation > 0
        assert each.reason


def test_a_random_walk_and_a_jump_are_simulated_with_this_covariance():
    """The standard error of a covariance over N runs is at most sqrt(2 C_ii C_jj / N); five of them for 64 entries."""
    N, n, rng = 40_000, 8, np.random.default_rng(0)
    model = eq.Tracked().known(walk=0.5, wave=0.0, pair=0.7).jumping((4.0, 3.0))
    t = np.arange(1.0, n + 1)
    runs = 5 * rng.normal(size=(N, 1)) + 0.25 * rng.normal(size=(N, 1)) * t
    runs += np.sqrt(0.5) * rng.normal(size=(N, n)).cumsum(axis=1)
    runs += np.sqrt(3.0) * rng.normal(size=(N, 1)) * (t >= 4)
    runs += np.sqrt(0.7) * rng.normal(size=(N, n // 2)).repeat(2, axis=1)
    K = model(at(t), at(t))
    seen = runs.T @ runs / N
    assert (np.abs(seen - K) < 5 * np.sqrt(2 * np.outer(np.diag(K), np.diag(K)) / N)).all()


def test_a_level_of_its_own_is_that_of_a_pair_and_of_nothing_else():
    a = Moments(np.arange(1.0, 6.0), np.array([0.0, 0.0, 1.0, -1.0, -1.0]))
    shared = eq.Tracked().known(pair=2.0)(a, a) - eq.Tracked().known(pair=0.0)(a, a)
    expected = [[2, 2, 0, 0, 0], [2, 2, 0, 0, 0], [0, 0, 2, 0, 0], [0] * 5, [0] * 5]
    np.testing.assert_allclose(shared, expected, atol=1e-12)


def test_a_blip_is_of_one_reading():
    model, times = eq.Constant().known(), at([1.0, 2.0, 3.0])
    blips = model.blipping((2.0, 4.0)).blipping((3.0, 1.0))(times, times) - model(times, times)
    np.testing.assert_allclose(blips, np.diag([0.0, 4.0, 1.0]), atol=1e-12)


def test_jumps_are_shared_by_the_readings_after_them():
    jumps = ((2.0, 4.0), (3.5, 1.0))
    times = at([1.0, 2.0, 3.0, 4.0])
    expected = [[0, 0, 0, 0], [0, 4, 4, 4], [0, 4, 4, 4], [0, 4, 4, 5]]
    assert jump_covariance(jumps, times, times).tolist() == expected
    assert eq.Tracked().known().jumping(jumps[0]).jumping(jumps[1]).jumps == jumps


@pytest.mark.parametrize("guard", [0.0, -1.0, np.nan])
def test_a_guard_must_be_positive(guard):
    for law in (eq.Tracked, lambda guard: eq.Blocks(4, guard)):
        with pytest.raises(ValueError, match="`guard` must be"):
            law(guard)
        assert law(None).guard is None


@pytest.mark.parametrize(("length", "error"), [(0, ValueError), (-3, ValueError), (2.5, TypeError), ("4", TypeError)])
def test_a_run_has_a_whole_number_of_readings(length, error):
    with pytest.raises(error, match="`length` must be"):
        eq.Blocks(length)


# --- the posterior with an offset ---------------------------------------------------------------------------------

KERNEL = 1.7 * eq.Matern52([0.4, 0.9])
NOISE = 0.05


EVENTFUL = eq.Tracked().known(walk=0.2, wave=0.5, duration=6.0, pair=0.4).jumping((9.0, 4.0)).blipping((3.0, 2.0))


def readings(seed, n=25, offset=EVENTFUL):
    """Readings at irregular times, some with their own error: the posterior, and what it was told."""
    rng = np.random.default_rng(seed)
    X = rng.random((n, 2))
    t = np.cumsum(rng.exponential(size=n))
    y, variances = 3 * rng.normal(size=n) + 40, rng.choice([0.0, 0.3], n)
    posterior = eq.belief.AnywherePosterior(KERNEL, NOISE, offset=offset)
    for row in zip(X, [None] * n, y, t, variances, at(t).pair, strict=True):
        posterior = posterior.condition(eq.Comparison(*row))
    return posterior, X, t, y, variances


def dense(X, P, K_o, y, noise):
    """Mean and covariance of f at P by the textbook formula."""
    K = KERNEL(X, X) + K_o + np.diag(noise)
    k = KERNEL(P, X)
    return k @ np.linalg.solve(K, y), KERNEL(P, P) - k @ np.linalg.solve(K, k.T)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("offset", [EVENTFUL, eq.Blocks(4).known(0.7, level=2.0)], ids=["tracked", "blocks"])
def test_readings_with_an_offset_agree_with_a_fresh_solve(seed, offset):
    posterior, X, t, y, variances = readings(seed, offset=offset)
    P = np.random.default_rng(100).random((7, 2))
    other = eq.Tracked().known(0.2, walk=2.0)
    again = posterior.under(Model(2.0 * eq.Matern52(0.5), 0.3, posterior.offset)).under(Model(KERNEL, NOISE, other))
    for belief, model in ((posterior, posterior.offset), (again, other)):
        K_o = model(at(t), at(t))
        mean, C = dense(X, P, K_o, y, NOISE + variances)
        found = belief.at(P)
        np.testing.assert_allclose(found.mean, mean, rtol=1e-9, atol=1e-9)
        np.testing.assert_allclose(belief.mean(P), mean, rtol=1e-9, atol=1e-9)
        np.testing.assert_allclose(found.covariance(), C, rtol=1e-9, atol=1e-10)
        difference, psi = belief.difference(P[1:], P[0])
        np.testing.assert_allclose(difference, mean[1:] - mean[0], rtol=1e-9, atol=1e-9)
        np.testing.assert_allclose(psi, np.diag(C)[1:] + C[0, 0] - 2 * C[1:, 0], rtol=1e-9, atol=1e-10)
        noise = np.diag(NOISE + variances)
        log_det = np.linalg.slogdet(KERNEL(X, X) + K_o + noise)[1] - np.linalg.slogdet(noise)[1]
        assert belief.log_det == pytest.approx(log_det, rel=1e-9)
        np.testing.assert_allclose(residuals(belief), y - dense(X, X, K_o, y, NOISE + variances)[0], atol=1e-8)
        offsets = K_o @ np.linalg.solve(KERNEL(X, X) + K_o + noise, y) + mean[0]
        when, estimated = belief.offsets(P[0])
        np.testing.assert_allclose(estimated, offsets, rtol=1e-9, atol=1e-8)
        np.testing.assert_array_equal(when, belief.observations.moments.time)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize(
    ("law", "values", "unknown"),
    [
        (eq.Tracked(), {"walk": 0.2, "wave": 1e-9, "pair": 0.3}, lambda t: np.column_stack([np.ones(len(t)), t])),
        (eq.Blocks(4), {"level": 0.2}, lambda t: np.ones((len(t), 1))),
    ],
    ids=["tracked", "blocks"],
)
def test_under_a_wide_level_only_contrasts_of_readings_teach(seed, law, values, unknown):
    """As the variance of level and slope grows, the posterior becomes that of the contrasts which know neither."""
    _, X, t, y, variances = readings(seed)
    P = np.random.default_rng(100).random((7, 2))
    H, D = unknown(t), null_space(unknown(t).T).T
    narrow = law.known(**values)
    K_o = narrow(at(t), at(t)) - LEVEL_VARIANCE - (SLOPE_VARIANCE * np.outer(t, t) if H.shape[1] == 2 else 0.0)
    S = D @ (KERNEL(X, X) + K_o + np.diag(NOISE + variances)) @ D.T
    u = (KERNEL(P[1:], X) - KERNEL(P[:1], X)) @ D.T
    mean = u @ np.linalg.solve(S, D @ y)
    prior = 2 * KERNEL.factor - 2 * KERNEL(P[1:], P[:1])[:, 0]
    psi = prior - np.einsum("ij,ji->i", u, np.linalg.solve(S, u.T))
    for unit in (200.0, 600.0):
        scaled = {name: value / unit**2 for name, value in values.items()}
        posterior = readings(seed, offset=law.known(unit, **scaled))[0]
        found = posterior.difference(P[1:], P[0])
        np.testing.assert_allclose(found, (mean, psi), rtol=1e-4, atol=1e-4)


def test_a_posterior_says_what_law_it_assumes():
    assert readings(0)[0].law == eq.Tracked()
    assert readings(0, offset=eq.Blocks(4).known())[0].law == eq.Blocks(4)
    plain = eq.belief.AnywherePosterior(KERNEL)
    assert plain.law == eq.Arbitrary()
    assert plain.offsets(np.zeros(2)) is None
