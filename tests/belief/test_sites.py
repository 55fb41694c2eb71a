"""Counts and shares are learned by expectation propagation: against integration, in any order, under any model."""

import itertools
import runpy
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

import equipoise as eq
from equipoise.belief import AnywherePosterior, FinitePosterior, Folding, Form, LearnedModel, Model, infer
from equipoise.likelihoods import Binomial, Poisson

counts = SimpleNamespace(**runpy.run_path(str(Path(__file__).parents[2] / "benchmarks" / "counts.py")))
WALK = eq.Tracked().known(walk=0.1)
AT = np.array([[0.2], [0.9]])
CASES = {
    "small counts": (Poisson(), [(0.0,), (2.0,), (5.0,)]),
    "no counts": (Poisson(), [(1.0,), (0.0,), (0.0,)]),
    "shares": (Binomial(), [(1.0, 5.0), (4.0, 5.0), (0.0, 5.0)]),
    "rare": (Binomial(), [(1.0, 20.0), (0.0, 20.0), (3.0, 20.0)]),
}


def quadrature(likelihood, answers, K, about, cross, prior, nodes=32):
    """Mean and variance of f at points, by Gauss and Hermite in three latents about given ones."""
    mean, root = about
    z, w = np.polynomial.hermite_e.hermegauss(nodes)
    z = np.array(list(itertools.product(z, repeat=3)))
    u = mean + z @ root.T
    log_p = likelihood.log_likelihood(np.array(answers), u)[0].sum(axis=1)
    log_p += 0.5 * (z * z).sum(axis=1) - 0.5 * (u * np.linalg.solve(K, u.T).T).sum(axis=1)
    p = np.prod(list(itertools.product(w, repeat=3)), axis=1) * np.exp(log_p - log_p.max())
    f = u @ np.linalg.solve(K, cross.T)
    mean = p @ f / p.sum()
    rest = prior - np.einsum("ij,ij->i", cross, np.linalg.solve(K, cross.T).T)
    return mean, p @ (f - mean) ** 2 / p.sum() + rest


@pytest.mark.parametrize("offset", [None, WALK], ids=["level known", "walk"])
@pytest.mark.parametrize(("likelihood", "answers"), CASES.values(), ids=CASES)
def test_a_posterior_agrees_with_quadrature(likelihood, answers, offset):
    x = np.array([[0.1], [0.4], [0.7]])
    belief = counts.posterior(counts.lessons(x, answers, likelihood, 0.0), offset=offset)
    kernel, moments = counts.KERNEL, belief.observations.moments
    F = kernel(x, x)
    K = F + counts.NOISE * np.eye(3) + (0.0 if offset is None else offset(moments, moments, F))
    gain = np.linalg.solve(K + np.diag(belief.observations.variances), K).T
    about = gain @ belief.observations.outcomes, 1.2 * np.linalg.cholesky(K - gain @ K)
    mean, variance = quadrature(likelihood, answers, K, about, kernel(AT, x), kernel.diagonal(AT))
    found = belief.at(AT)
    assert np.abs(found.mean - mean).max() < 2e-3 * np.sqrt(variance.min())
    assert found.variance == pytest.approx(variance, rel=0.01)


def draw(likelihood, n, seed=0):
    """Lessons about a wave, drawn under a likelihood."""
    rng = np.random.default_rng(seed)
    x = rng.random((n, 1))
    u = np.sin(6.0 * x[:, 0])
    if isinstance(likelihood, Poisson):
        answers = [(float(each),) for each in rng.poisson(np.exp(u))]
    else:
        answers = [(float(rng.binomial(8, p)), 8.0) for p in likelihood.expected(u)]
    return counts.lessons(x, answers, likelihood, 0.0)


@pytest.mark.parametrize("likelihood", [Poisson(), Binomial()], ids=str)
def test_many_answers_agree_with_importance_sampling(likelihood):
    """Twelve answers under an offset that walks: the samples come from the propagated posterior and are weighted."""
    some = draw(likelihood, 12)
    mean, deviation, worth = counts.integrated(some, likelihood, AT, np.random.default_rng(1), WALK)
    found = counts.posterior(some, offset=WALK).at(AT)
    assert worth > 0.3  # else the samples say little
    assert np.abs(found.mean - mean).max() < 0.03 * deviation.min()
    assert np.sqrt(found.variance) == pytest.approx(deviation, rel=0.02)


@pytest.mark.parametrize("offset", [None, WALK], ids=["level known", "walk"])
def test_what_answers_teach_does_not_depend_on_when_they_are_learned(offset):
    some = draw(Poisson(), 72)
    one_by_one = counts.posterior(some, offset=offset)
    data = one_by_one.observations
    at_once = one_by_one.given(data, len(some), one_by_one.model).at(AT)
    few = counts.posterior(some[:40], offset=offset)
    again = few.given(few.observations, 40, few.model).at(AT)
    assert few.at(AT).mean == pytest.approx(again.mean, abs=1e-5)  # all sites are consistent at each
    assert np.abs(one_by_one.at(AT).mean - at_once.mean).max() < 0.03 * np.sqrt(at_once.variance.min())


def test_another_model_makes_its_own_sites():
    some = draw(Poisson(), 30)
    belief, other = counts.posterior(some, offset=WALK), Model(4.0 * counts.KERNEL, 0.2)
    fresh = AnywherePosterior(other.kernel, other.noise)
    for each in some:
        fresh = fresh.condition(each)
    assert belief.under(other).at(AT).mean == pytest.approx(fresh.at(AT).mean, abs=1e-5)
    stale = belief.under(other, (None, replace(belief.observations, answers=None)))
    assert np.abs(stale.at(AT).mean - fresh.at(AT).mean).max() > 1e-3


def test_folded_answers_teach_what_they_did():
    some = draw(Poisson(), 60)
    whole = counts.posterior(some, offset=WALK)
    folding = Folding(exact=20, window=10, chunk=20)
    folded = AnywherePosterior(whole.kernel, whole.regularizer, offset=WALK, folding=folding)
    folded = folded.given(whole.observations, 60, whole.model)
    assert len(folded.digest.source) == 40
    found, exact = folded.at(AT), whole.at(AT)
    assert np.abs(found.mean - exact.mean).max() < 0.3 * np.sqrt(exact.variance.min())
    assert found.variance == pytest.approx(exact.variance, rel=0.3)
    again = folded.given(folded.source, 60, whole.model)
    assert again.digest is folded.digest  # it depends on the answers and the model alone
    more = folded.condition(draw(Poisson(), 1, seed=5)[0])
    assert len(more.digest.source) == 40
    assert len(more.observations) == 21


def test_a_table_of_points_learns_answers_too():
    some = draw(Poisson(), 5)
    points = np.concatenate(([each.first for each in some], AT))
    listed, anywhere = FinitePosterior(points, counts.KERNEL, counts.NOISE), counts.posterior(some)
    for each in some:
        listed = listed.condition(each)
    found, exact = listed.at(AT), anywhere.at(AT)
    assert np.abs(found.mean - exact.mean).max() < 0.03 * np.sqrt(exact.variance.min())


def test_what_is_anticipated_is_no_answer():
    some = draw(Poisson(), 8)
    belief = counts.posterior(some[:7], offset=WALK)
    expecting = belief.anticipate(some[7])
    assert not expecting.observations.sited
    assert expecting.at(AT).mean == pytest.approx(belief.at(AT).mean, abs=1e-9)
    assert (expecting.at(AT).variance < belief.at(AT).variance).all()


def test_the_noise_of_counts_is_no_step_of_f():
    """Counts of one rate differ by Poisson's law alone: a fit must not think that f varies by as much."""
    rng = np.random.default_rng(0)
    some = counts.lessons(rng.random((24, 1)), [(float(y),) for y in rng.poisson(2.0, 24)], Poisson(), 0.0)
    model = LearnedModel(Form(np.ones(1), np.arange(1), eq.Tracked()))
    steps = [
        infer(lessons, model).learned.hyperparameters.step
        for lessons in (some, [replace(each, answers=None) for each in some])
    ]
    assert steps[0] < 0.5 * steps[1]
