"""The lessons of answers: against brute-force integration and scikit-learn, for every answer of a judge."""

import numpy as np
import pytest

from equipoise.likelihoods import (
    SCALES,
    Few,
    Judgement,
    Many,
    OrderedAnswers,
    Panel,
    choice_probability,
    propagate,
)
from equipoise.likelihoods.truncation import truncated

FIRST, SECOND = np.array([0, 1, 2, 0, 1]), np.array([1, 2, 0, 2, 0])
SAID = OrderedAnswers(
    low=np.array([0.0, -0.4, 0.4, -np.inf, 0.0]),
    high=np.array([np.inf, 0.4, 1.5, -1.2, 0.0]),
    value=np.array([0, 0, 0, 0, 1.3]),
    unit=np.full(5, 1.5),
    noise=np.array([1, 1, 0.7, 0.7, 1.2]),
    advantage=np.full(5, 0.3),
    number=np.array([False, False, False, False, True]),
)


def drawn(rng):
    """A prior of f at three points."""
    A = rng.normal(size=(3, 3))
    return A @ A.T + np.eye(3), rng.normal(size=3)


def few(C, mean, first=FIRST, second=SECOND):
    rows = C[first] - C[second]
    return Few(rows[:, first] - rows[:, second], mean[first] - mean[second])


def integrated(C, mean, answers, size=241):
    """Evidence, means and variances of the differences, on a grid over f(0) - f(2) and f(1) - f(2)."""
    T = np.array([[1.0, 0, -1], [0, 1, -1]])
    D, m = T @ C @ T.T, T @ mean
    L = np.linalg.cholesky(D)
    x = np.linspace(-7, 7, size)
    e = np.array(np.meshgrid(x, x, indexing="ij")).reshape(2, -1)
    weight = np.exp(-0.5 * (e * e).sum(axis=0))
    u = np.concatenate((m[:, None] + L @ e, np.zeros((1, e.shape[1]))))
    d = u[FIRST] - u[SECOND]
    spread = {name: np.repeat(getattr(answers, name)[:, None], e.shape[1], axis=1) for name in OrderedAnswers.__slots__}
    log_p = OrderedAnswers(**spread).tilt(d, np.zeros_like(d)).log_z.sum(axis=0)
    p = weight * np.exp(log_p)
    Z, p = p.sum() / weight.sum(), p / p.sum()
    return np.log(Z), d @ p, (d * d) @ p - (d @ p) ** 2


@pytest.mark.parametrize("seed", range(4))
def test_agrees_with_integration_by_brute_force(seed):
    C, mean = drawn(np.random.default_rng(seed))
    evidence, means, variances = integrated(C, mean, SAID)
    for prior in (few(C, mean), Many(C, mean, FIRST, SECOND)):
        found = propagate(prior, SAID)
        assert found.converged
        assert found.log_evidence == pytest.approx(evidence, abs=1e-3)
        assert found.marginals.mean == pytest.approx(means, abs=1e-3)
        assert found.marginals.variance == pytest.approx(variances, abs=2e-3)


def test_learners_with_one_prior_are_as_each_by_itself():
    C, mean = drawn(np.random.default_rng(0))
    means, who = np.array([mean, -mean]), np.array([0, 1, 0, 1, 1])
    prior = Many(C, means, FIRST, SECOND, (who,))
    together = propagate(prior, SAID)
    alone = [Many(C, means[k], FIRST[who == k], SECOND[who == k]) for k in (0, 1)]
    found = [propagate(each, SAID.take(np.nonzero(who == k)[0])) for k, each in enumerate(alone)]
    assert together.log_evidence == pytest.approx(sum(each.log_evidence for each in found))
    for k, each in enumerate(found):
        assert together.marginals.mean[who == k] == pytest.approx(each.marginals.mean, abs=1e-5)
        assert together.marginals.variance[who == k] == pytest.approx(each.marginals.variance, abs=1e-5)
        for ours, theirs in zip(prior.at_points(together.sites), alone[k].at_points(each.sites), strict=True):
            assert ours[k] == pytest.approx(theirs, abs=1e-5)


def test_equal_answers_may_share_a_site():
    C, mean = drawn(np.random.default_rng(1))
    count = np.array([3, 1, 2, 1, 4])
    each = np.repeat(np.arange(5), count)
    apart = propagate(Many(C, mean, FIRST[each], SECOND[each]), SAID.take(each))
    shared = propagate(Many(C, mean, FIRST, SECOND, count=count.astype(float)), SAID)
    assert shared.log_evidence == pytest.approx(apart.log_evidence, abs=1e-5)
    assert shared.marginals.mean[each] == pytest.approx(apart.marginals.mean, abs=1e-5)
    assert shared.marginals.variance[each] == pytest.approx(apart.marginals.variance, abs=1e-5)


def test_words_of_two_steps_are_scikit_learns_classifier():
    """Its Laplace approximation of a logistic link; a probit of noise 1.7 is nearly that link: hence the tolerance."""
    from sklearn.gaussian_process import GaussianProcessClassifier
    from sklearn.gaussian_process.kernels import ConstantKernel, DotProduct

    rng = np.random.default_rng(0)
    features = rng.normal(size=(30, 2))  # d = w @ features: a linear kernel, so that "first" and "second" are classes
    first = features @ [1.0, -0.5] + rng.logistic(size=30) > 0
    theirs = GaussianProcessClassifier(ConstantKernel(1.0, "fixed") * DotProduct(1e-6, "fixed"), optimizer=None).fit(
        features, first
    )
    said = [Judgement(f, 0 * f, "first" if win else "second", 2) for f, win in zip(features, first, strict=True)]
    panel = Panel(said, reference=1.702, standard="")
    found = propagate(Few(features @ features.T, np.zeros(30)), panel.answers(np.zeros(1)))
    marginals = zip(found.marginals.mean, found.marginals.variance, strict=True)
    ours = [choice_probability(m, v + 1.702**2) for m, v in marginals]
    assert ours == pytest.approx(theirs.predict_proba(features)[:, 1], abs=0.02)


def test_the_evidence_is_differentiated_rightly():
    rng = np.random.default_rng(1)
    said = []
    for _ in range(40):
        steps = int(rng.choice(list(SCALES)))
        answer = str(rng.choice(SCALES[steps])) if rng.random() < 0.8 else float(rng.normal())
        said.append(Judgement(rng.random(2), rng.random(2), answer, steps, str(rng.choice(["anna", "ben"]))))
    mu, v, tiny = rng.normal(size=40), rng.random(40), 1e-6
    for standard in ("anna", None):
        panel = Panel(said, 1.3, standard)
        theta = panel.guess + 0.2 * rng.normal(size=len(panel.guess))

        def value(at, panel=panel):
            return panel.answers(at).tilt(mu, v).log_z.sum()

        numeric = [(value(theta + tiny * e) - value(theta - tiny * e)) / (2 * tiny) for e in np.eye(len(theta))]
        assert panel.gradient(theta, panel.answers(theta).tilt(mu, v)) == pytest.approx(numeric, abs=1e-6)
        assert panel.theta(panel.judges(theta)) == pytest.approx(theta)


KINDS = ("anything", "unanimous", "all equal", "one pair", "numbers", "one pair, nearly unanimous")


def fuzzed(rng, kind):
    """Up to 60 judgements of five points by two judges."""
    n, steps = int(rng.integers(1, 60)), int(rng.choice(list(SCALES)))
    words, points = SCALES[steps], rng.random((5, 2))
    i, j = rng.integers(0, 5, (2, n)) if "one pair" not in kind else (np.zeros(n, int), np.ones(n, int))
    said = [str(word) for word in rng.choice(words, n)]
    if "unanimous" in kind:
        said = [words[-1] if rng.random() < 0.9 or kind == "unanimous" else words[0] for _ in said]
    if kind == "all equal":
        said = [words[len(words) // 2] for _ in said]
    if kind == "numbers":
        said = [float(rng.normal() * 10 ** rng.uniform(-6, 6)) if rng.random() < 0.3 else word for word in said]
    who = rng.choice(["a", "b"], n)
    said = [Judgement(points[k], points[m], w, steps, str(by)) for k, m, w, by in zip(i, j, said, who, strict=True)]
    return points, i, j, said


@pytest.mark.parametrize("kind", KINDS)
def test_converges_whatever_is_said(kind):
    """Contradictory, unanimous, always equal, always the first; an f that hardly varies, or a thousand noises."""
    for seed in range(12):
        rng = np.random.default_rng(seed)
        points, i, j, said = fuzzed(rng, kind)
        C = np.exp(rng.uniform(-5, 8)) * np.exp(-8 * ((points[:, None] - points) ** 2).sum(axis=-1))
        panel = Panel(said, standard="a")
        theta = panel.guess + (seed % 2) * rng.normal(size=len(panel.guess))
        ours = [
            propagate(prior, panel.answers(theta)) for prior in (few(C, np.zeros(5), i, j), Many(C, np.zeros(5), i, j))
        ]
        for found in ours:
            assert found.converged
            assert np.isfinite(found.log_evidence)
            assert (found.marginals.variance >= 0).all()
            assert (found.sites.precision > 0).all()
        assert ours[0].log_evidence == pytest.approx(ours[1].log_evidence, rel=1e-4, abs=1e-4)


@pytest.mark.parametrize("answer", ["first", "equal", "much second"])
def test_a_thousand_times_the_same(answer):
    a, b = np.zeros(1), np.ones(1)
    panel = Panel([Judgement(a, b, answer)] * 1000, standard="")
    index = np.zeros(1000, dtype=np.intp)
    found = propagate(Many(np.diag([4.0, 4.0]), np.zeros(2), index, index + 1), panel.answers(panel.guess))
    assert found.converged
    sure = {"first": (0.8, 1.2), "equal": (-0.1, 0.1), "much second": (-7.0, -4.0)}[answer]
    assert sure[0] < found.marginals.mean[0] < sure[1]


def test_no_digits_are_lost_far_from_zero():
    alpha, beta = np.array([30.0, -31.0, -np.inf, 5.0]), np.array([31.0, -30.0, -40.0, 5.0 + 1e-9])
    from scipy.stats import norm

    exact = [norm.logsf(30.0), norm.logcdf(-30.0), norm.logcdf(-40.0), norm.logpdf(5.0) + np.log(1e-9)]
    assert truncated(alpha, beta).log_z == pytest.approx(exact, rel=1e-6)


def test_words_have_an_order():
    assert [Judgement(None, None, word, 7).level for word in SCALES[7]] == [-3, -2, -1, 0, 1, 2, 3]
    assert [Judgement(None, None, word, 2).level for word in SCALES[2]] == [-1, 1]


EDGES = [(-1, 1), (-3, -1), (0.5, 0.6), (2, np.inf), (-np.inf, 1.5), (7, 8), (9, np.inf), (-6, -5.9), (-np.inf, np.inf)]


@pytest.mark.parametrize(("alpha", "beta"), EDGES)
def test_the_normal_law_between_two_edges_is_that_of_scipy(alpha, beta):
    from scipy.stats import truncnorm

    found = truncated(np.array([alpha], dtype=float), np.array([beta], dtype=float))
    assert found.mean[0] == pytest.approx(truncnorm.mean(alpha, beta), rel=1e-9, abs=1e-9)
    assert found.narrowing[0] == pytest.approx(1 - truncnorm.var(alpha, beta), rel=1e-9, abs=1e-9)


@pytest.mark.parametrize("edge", [1e2, 1e5, 1e9, 1e37, 1e60])
@pytest.mark.parametrize("width", [1e-3, 1.0, np.inf])
def test_the_normal_law_is_known_in_the_farthest_tail(edge, width):
    for sign in (1.0, -1.0):
        alpha, beta = sorted((sign * edge, sign * (edge + width)))
        if alpha == beta:  # there is nothing between them
            continue
        found = truncated(np.array([alpha]), np.array([beta]))
        assert found.log_z[0] == pytest.approx(-0.5 * edge**2, rel=1e-2)
        assert edge <= sign * found.mean[0] <= (edge + 1.01 / edge) * (1 + 1e-15)
        assert 1.0 - 1.01 / edge**2 <= found.narrowing[0] <= 1.0


@pytest.mark.parametrize("mean", [1e5, 1e9, -9.9e37])
@pytest.mark.parametrize("variance", [0.0, 1.0, 1e30])
def test_sites_are_finite_however_far_the_answers_are_from_what_was_believed(mean, variance):
    prior = Few(variance * np.eye(5), np.full(5, mean))
    found = propagate(prior, SAID)
    for numbers in (found.sites.precision, found.sites.shift, found.marginals.mean, found.marginals.variance):
        assert np.isfinite(numbers).all()
    assert (found.sites.precision <= 1.0001 / SAID.noise**2).all()
