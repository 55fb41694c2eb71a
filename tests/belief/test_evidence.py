"""Learned hyperparameters, which the paper assumes known: the evidence, its gradient, the priors, and the fit."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import multivariate_normal, norm
from sklearn.gaussian_process import kernels as sk

import equipoise as eq
from equipoise.belief.evidence import Evidence, fit, typical_step
from equipoise.belief.model import Form, Hyperparameters, Priors
from equipoise.belief.observations import Observations
from equipoise.offsets import Moments
from equipoise.offsets.offset import LEVEL_VARIANCE
from equipoise.offsets.terms import jump_covariance
from equipoise.offsets.tracked import SLOPE_VARIANCE

EXTENT = np.array([1.0, 3.0, 0.5, 0.5])
GROUPS = np.array([0, 1, 2, 2])  # the last two coordinates are one parameter's
ARBITRARY, CONSTANT, TRACKED, BLOCKS = eq.Arbitrary(), eq.Constant(), eq.Tracked(), eq.Blocks(4)
LAWS = [ARBITRARY, CONSTANT, TRACKED, BLOCKS]


def form(law, extent=EXTENT, groups=GROUPS):
    return Form(extent, groups, law)


def plane(law):
    """The form over the unit square."""
    return form(law, np.ones(2), np.arange(2))


def some_data(law, seed=0, n=12):
    """Data of every kind a law knows, with errors of their own."""
    rng = np.random.default_rng(seed)
    data = Observations.none(4)
    for t in range(n):
        points, u = rng.random((1, 4)) * EXTENT, np.ones(1)
        if law == ARBITRARY:  # pairs, and mixtures of three
            k = 1 if t % 3 else 3
            points, u = np.concatenate((points, rng.random((k, 4)) * EXTENT)), np.append(1.0, np.full(k, -1.0 / k))
        when = Moments.at(1.5 * t + rng.random(), t // 2)
        data = data.add(points, u, when, 3 * rng.normal(), float(rng.choice([0.0, 0.4])))
    return data


def evidence_of(law, seed=0):
    data = some_data(law, seed)
    jumps = 0.0
    if law == TRACKED:
        jumps = jump_covariance(((4.0, 2.0), (9.5, 1.0)), data.moments, data.moments)
    nulls = np.array([0.3, -0.8, 0.1]) if law == ARBITRARY else None
    return Evidence(data, form(law), jumps, nulls), jumps


def thetas(law, seed=1, count=5):
    """Places from all over the prior."""
    prior = Priors(form(law).table)
    return prior.mean + 0.7 * prior.deviation * np.random.default_rng(seed).normal(size=(count, len(prior.mean)))


@pytest.mark.parametrize("law", LAWS, ids=repr)
def test_the_evidence_is_the_log_density_of_the_outcomes(law):
    evidence, jumps = evidence_of(law)
    data, t = evidence.data, evidence.data.moments.time
    U = np.zeros((len(t), len(data.points)))
    U[np.repeat(np.arange(len(t)), np.diff(np.append(data.starts, len(data.weights)))), np.arange(U.shape[1])] = (
        data.weights
    )
    for theta in thetas(law):
        values = np.exp(theta)
        scales, v, noise = values[:3], values[3], values[4]
        K = U @ (v * sk.Matern(scales[GROUPS] * EXTENT, nu=2.5)(data.points)) @ U.T + np.diag(noise + data.variances)
        if law != ARBITRARY:
            K += LEVEL_VARIANCE + jumps
        if law == TRACKED:
            walk, wave, duration, pair = values[5:]
            K += SLOPE_VARIANCE * np.outer(t, t) + walk * np.minimum.outer(t, t)
            K += wave * sk.Matern(duration, nu=2.5)(t[:, None])
            K += pair * (data.moments.pair[:, None] == data.moments.pair)
        if law == BLOCKS:
            runs = np.floor((t - 1) / 4)
            K += values[5] * (runs[:, None] == runs)
        density = multivariate_normal.logpdf(data.outcomes, cov=K) + norm.logpdf(evidence.nulls, 0, noise**0.5).sum()
        constant = 0.5 * np.log(2 * np.pi) * (len(t) + len(evidence.nulls))
        assert evidence(theta)[0] == pytest.approx(density + constant, rel=1e-10)


def central_differences(function, theta, h=1e-5):
    steps = h * np.eye(len(theta))
    return np.array([(function(theta + e)[0] - function(theta - e)[0]) / (2 * h) for e in steps])


@pytest.mark.parametrize("law", LAWS, ids=repr)
def test_gradients_of_evidence_and_priors_agree_with_central_differences(law):
    for function in (evidence_of(law)[0], Priors(form(law).table)):
        for theta in thetas(law):
            gradient = function(theta)[1]
            size = np.abs(gradient).max()
            np.testing.assert_allclose(
                gradient, central_differences(function, theta), rtol=1e-6, atol=1e-7 * (1 + size)
            )


@pytest.mark.parametrize("law", LAWS, ids=repr)
def test_the_evidence_is_that_of_the_posterior_it_leads_to(law):
    """The same data under the fitted kernels: log det(K + noise) and y'(K + noise)^-1 y from the Cholesky factor."""
    evidence, _ = evidence_of(law)
    if law == TRACKED:  # without the jumps, which the hyperparameters do not know
        evidence = Evidence(evidence.data, form(law))
    fitted = form(law).named(np.exp(thetas(law)[0]).tolist(), 1.0)
    prior, data = eq.belief.AnywherePosterior(eq.RBF(1.0)), evidence.data
    posterior = prior.given(data, len(data), form(law).model(fitted))
    whitened = posterior.solve(data.outcomes)
    log_det = posterior.log_det + np.log(fitted.noise + data.variances).sum()
    value = -0.5 * float(whitened @ whitened) - 0.5 * log_det
    nulls = -0.5 * (evidence.nulls @ evidence.nulls / fitted.noise + len(evidence.nulls) * np.log(fitted.noise))
    assert evidence(thetas(law)[0])[0] == pytest.approx(value + nulls, rel=1e-10)


MIXED = eq.Space(n=eq.Int(0, 4), c=eq.Choice(list("xyz")), q=eq.Float(0, 1), b=eq.Choice(list("xy")))


def told_apart(law, n=30):
    """The evidence of readings of settings some of whose values come twice, under a form that tells values apart."""
    rng = np.random.default_rng(3)
    points = MIXED.candidates(rng)[:n]
    told = [eq.Comparison(x, None, rng.normal(), time=1.5 * t, pair=t // 2) for t, x in enumerate(points)]
    whole = Form(MIXED.extent, MIXED.groups, law, MIXED.levels, leveled=True)
    prior = Priors(whole.table)
    return Evidence(Observations.of(told), whole), prior.mean + 0.5 * prior.deviation * rng.normal(size=len(prior.mean))


@pytest.mark.parametrize("law", [CONSTANT, TRACKED], ids=repr)
def test_values_are_told_apart_by_the_same_kernel_in_fit_and_belief(law):
    evidence, theta = told_apart(law)
    data, fitted = evidence.data, evidence.form.named(np.exp(theta).tolist(), 1.0)
    assert len(fitted.lengthscales) == 4 + 2  # n and c have more than two values; q is not counted
    np.testing.assert_allclose(evidence(theta)[1], central_differences(evidence, theta), rtol=1e-5, atol=1e-5)
    posterior = eq.belief.AnywherePosterior(eq.RBF(1.0)).given(data, len(data), evidence.form.model(fitted))
    whitened = posterior.solve(data.outcomes)
    log_det = posterior.log_det + np.log(fitted.noise + data.variances).sum()
    assert evidence(theta)[0] == pytest.approx(-0.5 * float(whitened @ whitened) - 0.5 * log_det, rel=1e-10)


def test_data_choose_whether_values_are_told_apart():
    """Of a value that stands out among many in order the readings say so; of a smooth function they say nothing."""
    space = eq.Space(n=eq.Int(0, 20), m=eq.Int(0, 20))

    def forms_of(f):
        belief = eq.belief.infer((), eq.belief.LearnedModel(Form(space.extent, space.groups, CONSTANT, space.levels)))
        rng, points = np.random.default_rng(0), space.candidates(np.random.default_rng(1))[:60]
        said = [f(**space.decode(x)) + 0.05 * rng.normal() for x in points]
        for t, (x, y) in enumerate(zip(points, said, strict=True)):
            belief = belief.condition(eq.Comparison(x, None, y, time=t))
        return belief.learned.form.leveled

    assert forms_of(lambda n, m: float(n % 4 == 0) + 0.3 * (m in (3, 8, 16, 17)))
    assert not forms_of(lambda n, m: np.sin(n / 6) + np.cos(m / 5))


@pytest.mark.parametrize("law", LAWS, ids=repr)
def test_vectors_go_there_and_back(law):
    offset = tuple(0.01 * 3.0**k for k in range(len(law.hyperparameters)))
    some = Hyperparameters((0.1, 2.0), 3.0, 0.2, offset, step=1e-6)
    twin = plane(law).named(np.exp(some.theta).tolist(), 1e-6)
    for name in ("lengthscales", "variance", "noise", "offset"):
        assert getattr(twin, name) == pytest.approx(getattr(some, name), rel=1e-14)
    assert len(some.theta) == len(Priors(plane(law).table).mean)
    assert twin.step == 1e-6


def test_units_of_the_kernels_are_those_of_the_user():
    some = Hyperparameters((0.1, 2.0, 0.5), 3.0, 0.2, (0.01, 0.5, 7.0, 0.2), step=10.0)
    models = {law: form(law).model(some, ((3.0, 8.0),)) for law in LAWS}
    kernel = eq.kernels.Scaled(eq.Matern52([0.1, 6.0, 0.25, 0.25]), 300.0)
    assert models[ARBITRARY].kernel == models[TRACKED].kernel == models[BLOCKS].kernel == kernel
    assert {model.noise for model in models.values()} == {20.0}
    X = np.random.default_rng(0).random((5, 4))
    np.testing.assert_allclose(models[CONSTANT].kernel(X, X), kernel(X, X) + 100 * LEVEL_VARIANCE, rtol=1e-9)
    assert models[ARBITRARY].offset is models[CONSTANT].offset is None
    tracked = TRACKED.known(10.0, walk=0.01, wave=0.5, duration=7.0, pair=0.2).jumping((3.0, 8.0))
    assert models[TRACKED].offset == tracked
    when = Moments(np.array([1.0, 2.0]), np.zeros(2))
    expected = 100 * (LEVEL_VARIANCE + 2 * SLOPE_VARIANCE + 0.01 + 0.2 + 0.5 * sk.Matern(7.0, nu=2.5)([[1.0]], [[2.0]]))
    assert tracked(when, when)[0, 1] == pytest.approx(expected.item(), rel=1e-12)


def test_a_guess_lies_within_the_bounds_and_lengthscales_grow_with_the_root_of_the_dimension():
    for law in LAWS:
        for G in (1, 4, 20):
            few, many = (form(law, np.ones(n), np.arange(n)) for n in (G, 4 * G))
            low, high = Priors(few.table).bounds
            guess = few.guess().theta
            assert ((guess > low) & (guess < high)).all()
            assert Priors(many.table).mean[0] - Priors(few.table).mean[0] == pytest.approx(np.log(2))


def test_guess_and_prior_of_everything_stand_in_one_table():
    for law in LAWS:
        table = form(law).table
        assert [each.guess for each in table] == pytest.approx(np.exp(form(law).guess().theta).tolist(), rel=1e-14)
        names = ["lengthscale"] * 3 + ["variance", "noise"] + [each.name for each in law.hyperparameters]
        assert [each.name for each in table] == names
        assert all(each.reason for each in table)
    assert form(TRACKED).guess(7.0).step == 7.0


def outcomes(values):
    none = np.zeros(len(values))
    moments = Moments(none, none)
    return Observations(none[:, None], none + 1, np.arange(len(values)), moments, np.array(values, dtype=float), none)


def test_duels_that_a_jump_has_parted_do_not_count_for_the_typical_step():
    y = np.tile([0.0, 1.0], 20) + 50.0 * (np.arange(40)[:, None] >= np.arange(1, 40, 6)).sum(axis=1)
    known = tuple(range(2, 41, 6))  # times count from 1
    data = replace(outcomes(y), moments=Moments(np.arange(1.0, 41.0), np.zeros(40)))
    assert typical_step(data, TRACKED) > 10
    assert typical_step(data, TRACKED, known) == pytest.approx(1 / 2.33)
    assert typical_step(data, TRACKED, tuple(range(1, 41))) == typical_step(data, TRACKED)  # there is nothing else


def test_the_typical_step_is_the_deviation_of_normal_readings_in_any_unit():
    # Where the upper tenth of |a - b| begins, its density is 0.146: 4000 of them know the step to 0.014. Five of that.
    z = np.random.default_rng(0).normal(size=(2, 4000))
    assert typical_step(outcomes(z[0]), TRACKED) == pytest.approx(1.0, abs=0.07)
    assert typical_step(outcomes(z[0] - z[1]), ARBITRARY) == pytest.approx(1.0, abs=0.07)
    for law in LAWS:
        assert typical_step(outcomes(z[0] * 2.0**-30), law) == typical_step(outcomes(z[0]), law) * 2.0**-30
        assert typical_step(outcomes([]), law) == typical_step(outcomes([0.0] * 9), law) == 1.0
        assert typical_step(outcomes([0.0] * 30 + [7.0]), law) == pytest.approx(7.0 / 2.33)  # one step, mostly none
    assert typical_step(outcomes(np.arange(9) + 1e9), CONSTANT) == pytest.approx(1 / 2.33)
    assert typical_step(outcomes([5.0]), TRACKED) == 1.0


def _columns(moments):
    return moments.time, moments.pair, moments.block, moments.campaign


def test_thinned_data_keep_what_belongs_together():
    data = some_data(ARBITRARY, n=40)
    thin = data.thinned(13, run=3)
    kept = [int(np.flatnonzero(data.moments.time == time)[0]) for time in thin.moments.time]
    assert kept == [0, 1, 2, 12, 13, 14, 24, 25, 26, 37, 38, 39]
    ends, thin_ends = np.append(data.starts[1:], len(data.weights)), np.append(thin.starts[1:], len(thin.weights))
    for i, j in enumerate(kept):
        old, new = slice(data.starts[j], ends[j]), slice(thin.starts[i], thin_ends[i])
        for name in ("points", "weights"):
            np.testing.assert_array_equal(getattr(thin, name)[new], getattr(data, name)[old])
        for name in ("outcomes", "variances"):
            assert getattr(thin, name)[i] == getattr(data, name)[j]
        for ours, all_of_it in zip(_columns(thin.moments), _columns(data.moments), strict=True):
            assert ours[i] == all_of_it[j]
    assert data.thinned(40) is data


# --- fitting ------------------------------------------------------------------------------------------------------

WALK = 0.05
TRUE = Hyperparameters((0.15, 0.6), variance=4.0, noise=0.1)
OFFSETS = {TRACKED: (WALK, 1e-6, 8.0, 1e-3), BLOCKS: (2.0,)}


def drawn(law, seed, n=150):
    """Outcomes drawn from the model itself, at random points of the unit square."""
    rng = np.random.default_rng(seed)
    kernel = plane(ARBITRARY).model(TRUE).kernel
    data = Observations.none(2)
    X = rng.random((2 * n, 2))
    f = np.linalg.cholesky(kernel(X, X) + 1e-9 * np.eye(2 * n)) @ rng.normal(size=2 * n)
    walk = rng.normal(size=n).cumsum()
    offset = {TRACKED: 5.0 + np.sqrt(WALK) * walk, BLOCKS: 5.0 + np.sqrt(2.0) * np.diff(walk, prepend=0.0).repeat(4)}
    for t in range(n):
        when = Moments.at(t + 1.0, -1.0)
        noise = np.sqrt(TRUE.noise) * rng.normal()
        if law == ARBITRARY:
            data = data.add(X[2 * t : 2 * t + 2], np.array([1.0, -1.0]), when, f[2 * t] - f[2 * t + 1] + noise, 0.0)
        else:
            shift = offset[law][t] if law in offset else 0.0
            data = data.add(X[[2 * t]], np.ones(1), when, f[2 * t] + shift + noise, 0.0)
    return data


@pytest.mark.parametrize("law", LAWS, ids=repr)
def test_a_fit_finds_what_the_outcomes_were_drawn_from(law):
    """Asked of the median of three draws: within a factor of 1.5 for lengthscales and noise, 3 for walk and level."""
    found = []
    for seed in range(3):
        evidence = Evidence(drawn(law, seed), plane(law))
        best, density = fit(evidence, [plane(law).guess()], 1.0)
        prior, truth = Priors(plane(law).table), replace(TRUE, offset=OFFSETS.get(law, ()))
        at_best, at_truth = (evidence(theta)[0] + prior(theta)[0] for theta in (best.theta, truth.theta))
        assert density == pytest.approx(at_best)
        assert at_best > at_truth - 0.1  # the truth is no better than the best
        found.append([*best.lengthscales, best.noise, *best.offset[:1]])
    first, second, noise, *strength = np.median(found, axis=0)
    assert 1 / 1.5 < (second / first) / 4.0 < 1.5
    assert 1 / 1.5 < first / 0.15 < 1.5
    assert 1 / 1.5 < noise / TRUE.noise < 1.5
    for drawn_from, fitted in zip(OFFSETS.get(law, ()), strength, strict=False):  # the walk, or the level of a run
        assert 1 / 3 < fitted / drawn_from < 3


def test_null_duels_tell_the_noise():
    """Three outcomes say little of the noise, forty null duels all of it."""
    data, nulls = some_data(ARBITRARY, n=3), np.random.default_rng(0).normal(0, 0.1, 40)
    guess = [form(ARBITRARY).guess()]
    alone, _ = fit(Evidence(data, form(ARBITRARY)), guess, 1.0)
    told, _ = fit(Evidence(data, form(ARBITRARY), nulls=nulls), guess, 1.0)
    assert told.noise == pytest.approx(np.mean(nulls**2), rel=0.2)
    assert alone.noise > 5 * told.noise


class Cliff:
    """An evidence that is a parabola around a guess, and numerically singular on one side of it."""

    form = form(ARBITRARY, np.ones(1), np.arange(1))

    def __init__(self, edge):
        self.edge = edge

    def __call__(self, theta):
        if theta[0] > self.edge:
            raise np.linalg.LinAlgError
        return -50.0 * float(theta @ theta), -100.0 * theta


@pytest.mark.parametrize("edge", [-0.2, -10.0])
def test_a_singular_corner_is_no_end_of_the_world(edge):
    start = Hyperparameters((0.3,))
    found, _ = fit(Cliff(edge), [start], 2.0)
    assert found.step == 2.0
    if edge == -10.0:  # even the start is singular: nothing to learn, nothing to fear
        assert found.lengthscales == pytest.approx((0.3,))
    else:
        assert np.log(found.lengthscales[0]) <= edge
