"""Counts and shares: their tilts against brute force, and expectation propagation against a grid."""

import numpy as np
import pytest
from scipy.special import digamma, polygamma

import equipoise as eq
from equipoise.likelihoods import Binomial, Few, Poisson, ReadAnswers, Sites, parsed, propagate, written
from equipoise.offsets import Moments

PARTS, ORDER = 400, 20


def brute(likelihood, y, mu, v):
    """log Z, mean and variance of u after one answer, by a composite rule with 8,000 nodes."""
    (x, w), s = np.polynomial.legendre.leggauss(ORDER), np.sqrt(v)
    outcome, variance = likelihood.glance(y[None])
    low = min(mu - 12 * s, float(outcome[0] - 12 * np.sqrt(variance[0])))
    high = max(mu + 12 * s, float(outcome[0] + 12 * np.sqrt(variance[0])))
    edges = np.linspace(low, high, PARTS + 1)
    half = 0.5 * np.diff(edges)[:, None]
    u, weights = (edges[:-1, None] + half + half * x).ravel(), (half * w).ravel()
    h = likelihood.log_likelihood(y[None], u[:, None])[0][:, 0] - 0.5 * (u - mu) ** 2 / v
    p = weights * np.exp(h - h.max())
    mean = p @ u / p.sum()
    return np.log(p.sum()) + h.max() - 0.5 * np.log(2 * np.pi * v), mean, p @ (u - mean) ** 2 / p.sum()


CASES = [
    (Poisson(), (0.0,)),
    (Poisson(), (1.0,)),
    (Poisson(), (17.0,)),
    (Poisson(), (400.0,)),
    (Binomial(), (0.0, 1.0)),
    (Binomial(), (1.0, 1.0)),
    (Binomial(), (0.0, 500.0)),
    (Binomial(), (17.0, 200.0)),
]


@pytest.mark.parametrize(("likelihood", "numbers"), CASES, ids=str)
def test_a_tilt_agrees_with_brute_force(likelihood, numbers):
    y = np.array(numbers)
    mu, v = (each.ravel() for each in np.meshgrid([-6.0, 0.0, 3.0, 9.0], [0.01, 1.0, 30.0]))
    found = likelihood.tilt(np.tile(y, (len(mu), 1)), mu, v)
    log_z, mean, variance = np.array([brute(likelihood, y, *each) for each in zip(mu, v, strict=True)]).T
    assert found.log_z == pytest.approx(log_z, rel=1e-9, abs=1e-9)
    assert mu + v * found.slope == pytest.approx(mean, rel=1e-7, abs=1e-7 * np.sqrt(variance.min()))
    assert v * (1 - v * found.curvature) == pytest.approx(variance, rel=1e-6)


def on_a_grid(K, m, answers, size=81):
    """Evidence, means and variances of three latents, by brute force."""
    x = np.linspace(-6, 6, size)
    e = np.array(np.meshgrid(x, x, x, indexing="ij")).reshape(3, -1)
    u = m[:, None] + np.linalg.cholesky(K) @ e
    log_p = answers.likelihood.log_likelihood(answers.y, u.T)[0].sum(axis=1)
    weight = np.exp(-0.5 * (e * e).sum(axis=0))
    p = weight * np.exp(log_p)
    z, p = p.sum() / weight.sum(), p / p.sum()
    return np.log(z), u @ p, (u * u) @ p - (u @ p) ** 2


def answered(likelihood, *numbers):
    answers = ReadAnswers.of(likelihood, numbers[0])
    for each in numbers[1:]:
        answers = answers.joined(ReadAnswers.of(likelihood, each))
    return answers


THREE = [
    answered(Poisson(), (0.0,), (3.0,), (17.0,)),
    answered(Poisson(), (40.0,), (0.0,), (1.0,)),
    answered(Binomial(), (0.0, 5.0), (9.0, 10.0), (17.0, 200.0)),
    answered(Binomial(), (1.0, 1.0), (0.0, 1.0), (1.0, 1.0)),
]


def three_latents():
    rng = np.random.default_rng(0)
    A, drift = rng.normal(size=(3, 3)), 0.3 * np.minimum.outer(np.arange(1, 4), np.arange(1, 4))
    return 0.3 * A @ A.T + drift + 0.2 * np.eye(3), np.full(3, 0.5)


@pytest.mark.parametrize("answers", THREE, ids=lambda answers: f"{answers.likelihood} {answers.y.tolist()}")
def test_propagation_agrees_with_a_grid(answers):
    K, m = three_latents()
    found = propagate(Few(K, m), answers)
    evidence, means, variances = on_a_grid(K, m, answers)
    assert found.converged
    assert found.log_evidence == pytest.approx(evidence, abs=4e-3)
    assert found.marginals.mean == pytest.approx(means, abs=4e-3)
    assert found.marginals.variance == pytest.approx(variances, rel=2e-2)


@pytest.mark.parametrize("answers", THREE, ids=lambda answers: f"{answers.likelihood} {answers.y.tolist()}")
def test_sites_are_readings_with_errors_of_their_own(answers):
    """Gaussian readings of the sites' outcomes and variances lead to the marginals of expectation propagation."""
    K, m = three_latents()
    found = propagate(Few(K, m), answers)
    inverse = np.linalg.inv(K + np.diag(1.0 / found.sites.precision))
    mean, variance = m + K @ inverse @ (found.sites.outcome - m), (K - K @ inverse @ K).diagonal()
    assert mean == pytest.approx(found.marginals.mean, abs=1e-12)
    assert variance == pytest.approx(found.marginals.variance, rel=1e-10)


@pytest.mark.parametrize("answers", THREE, ids=lambda answers: f"{answers.likelihood} {answers.y.tolist()}")
def test_minimizing_mirrors_f_and_an_origin_shifts_it(answers):
    K, m = three_latents()
    plain, mirrored = propagate(Few(K, m), answers), propagate(Few(K, -m), answers.signed(-1.0))
    shifted = propagate(Few(K, m - 2.0), answers.less(2.0))
    assert mirrored.marginals.mean == pytest.approx(-plain.marginals.mean, abs=1e-5)
    assert shifted.marginals.mean == pytest.approx(plain.marginals.mean - 2.0, abs=1e-5)
    assert mirrored.log_evidence == pytest.approx(plain.log_evidence, abs=1e-6)
    assert answers.signed(-1.0).less(-2.0).glance()[0] == pytest.approx(2.0 - answers.glance()[0])


def test_a_posterior_takes_sites_for_readings_with_an_error():
    """The latent of a count is f plus the offset plus noise: its site is a reading whose error is that of the site."""
    rng, noise, kernel, offset = np.random.default_rng(0), 0.05, 2.0 * eq.RBF(0.3), eq.Tracked().known(walk=0.1)
    x, time = rng.random((12, 1)), np.arange(12.0)
    moments, F = Moments(time, np.full(12, -1.0)), kernel(x, x)
    K = F + offset(moments, moments, F) + noise * np.eye(12)
    found = propagate(Few(K, np.zeros(12)), answered(Poisson(), *rng.poisson(np.exp(1.0 + np.sin(5.0 * x)))))
    belief = eq.belief.AnywherePosterior(kernel, noise, offset=offset)
    for point, t, y, tau in zip(x, time, found.sites.outcome, found.sites.precision, strict=True):
        belief = belief.condition(eq.Comparison(point, None, y, time=t, variance=1.0 / tau))
    alpha = np.linalg.solve(K + np.diag(1.0 / found.sites.precision), found.sites.outcome)
    assert belief.mean(x) == pytest.approx(F @ alpha, abs=1e-8)
    assert found.marginals.mean == pytest.approx(K @ alpha, abs=1e-8)


def test_a_count_of_zero_says_that_the_rate_is_small_and_not_how_small():
    answers = answered(Poisson(), (0.0,))
    mu, v = np.array([3.0]), np.array([4.0])
    low, wide = propagate(Few(v[:, None], mu), answers), propagate(Few(100 * v[:, None], mu), answers)
    assert low.marginals.mean[0] < 0
    assert wide.marginals.variance[0] > 10  # far below zero everything is as likely


def test_impossible_beliefs_leave_finite_sites():
    for likelihood, numbers in CASES:
        y = np.array([numbers] * 3)
        mu, v = np.array([-1e5, 1e3, 1e8]), np.array([1e-10, 1e-4, 1e6])
        with np.errstate(all="ignore"):
            sites = Sites.of(likelihood.tilt(y, mu, v), mu, v)
        assert np.isfinite([sites.precision, sites.shift]).all()


@pytest.mark.parametrize("v", [1e4, 1e8, 1e12])
@pytest.mark.parametrize("deviations", [-1.0, 0.0, 1.0])
def test_under_a_flat_belief_an_answer_is_a_logarithm_of_gamma_numbers(deviations, v):
    cases = ((Poisson(), (72.0,), (72.0,)), (Poisson(), (1e6,), (1e6,)), (Binomial(), (3.0, 20.0), (3.0, 17.0)))
    for likelihood, numbers, (won, *lost) in cases:
        mu = deviations * np.sqrt(v)
        tilt = likelihood.tilt(np.array([numbers]), np.array([mu]), np.array([v]))
        mean = digamma(won) - sum(map(digamma, lost))
        variance = polygamma(1, won) + sum(polygamma(1, each) for each in lost)
        near = 1e-3 * np.sqrt(variance) + 2 * variance * abs(deviations) / np.sqrt(v)  # the belief pulls a little
        np.testing.assert_allclose(mu + v * tilt.slope, mean, atol=near)
        np.testing.assert_allclose(v * (1.0 - v * tilt.curvature), variance, rtol=1e-2, atol=1e-15 * v)


@pytest.mark.parametrize(
    ("likelihood", "value", "said"),
    [
        (Poisson(), 1.5, r"`value` must be a whole number of at least 0, got 1.5"),
        (Poisson(), -1, r"`value` must be a whole number of at least 0, got -1"),
        (Poisson(), 1e300, r"`value` must be at most 1e\+15, got 1e\+300"),
        (Poisson(), (17, 200), r"`value` must be a real number, got \(17, 200\)"),
        (Binomial(), 0.5, r"`value` must be successes and trials, such as \(17, 200\), got 0.5"),
        (Binomial(), "17/200", r"`value` must be successes and trials, such as \(17, 200\), got '17/200'"),
        (Binomial(), (3, 0), r"`value\[1\]` must be a whole number of at least 1, got 0"),
        (Binomial(), (17, 16), r"`value` must have at most as many successes as trials, got \(17, 16\)"),
    ],
)
def test_what_is_no_answer_is_refused_in_words(likelihood, value, said):
    with pytest.raises((TypeError, ValueError), match=said):
        likelihood.check("value", value)


def test_numbers_of_every_kind_are_taken():
    assert Poisson().check("value", np.int64(3)) == Poisson().check("value", 3.0) == (3.0,)
    assert Binomial().check("value", np.array([1, 2])) == Binomial().check("value", [1, 2.0]) == (1.0, 2.0)


@pytest.mark.parametrize("text", ["", "seventeen", "1/2/3", "17/", "1_000", "17 200"])
def test_what_people_write_must_be_numbers(text):
    with pytest.raises(ValueError, match=r"`value` must be a number such as 0.83, or a share such as 17/200, got"):
        parsed(text)


def test_what_is_written_is_read_again():
    for value in ((0.83,), (-1.2e-3,), (17.0,), (1e22,), (17.0, 200.0)):
        read = parsed(written(*value))
        assert read == (value if len(value) == 2 else value[0])
    assert parsed(" \N{MINUS SIGN}3 ") == -3.0


@pytest.mark.parametrize(
    ("likelihood", "answers", "middle", "most"),
    [
        (Poisson(), [(30.0,), (20.0,), (45.0,)], np.log(30.0), 0.35),
        (Poisson(), [(100.0,), (70.0,), (140.0,)], np.log(100.0), 0.2),
        (Poisson(), [(1000.0,), (700.0,), (1400.0,)], np.log(1000.0), 0.06),
        (Binomial(), [(50.0, 100.0), (40.0, 100.0), (65.0, 100.0)], 0.0, 0.1),
    ],
)
def test_a_glance_teaches_nearly_what_an_answer_does(likelihood, answers, middle, most):
    """What docs/method.md says of counts and shares that are learned as Gaussian readings; the deviation is right."""
    prior = 0.25
    for answer in np.array(answers):
        (seen,), (variance,) = likelihood.glance(answer[None])
        _, mean, exact = brute(likelihood, answer, middle, prior)
        glanced = (seen * prior + middle * variance) / (prior + variance)
        assert abs(glanced - mean) <= most * np.sqrt(exact)
        assert prior * variance / (prior + variance) == pytest.approx(exact, rel=0.08)
