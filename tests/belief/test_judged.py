"""The belief that learns from judgements: one belief in every form, and quick where there are many."""

import numpy as np
import pytest

import equipoise as eq
from equipoise.belief import (
    AnywherePosterior,
    FinitePosterior,
    Form,
    LearnedModel,
    infer,
    trusted,
)
from equipoise.belief.judgements.fitting import KernelFit
from equipoise.belief.judgements.pairing import Pairing
from equipoise.likelihoods import SCALES, Judgement, Panel, propagate

POINTS = np.random.default_rng(7).random((12, 2))


def said(n, seed=0, advantage=0.0, judge="", points=POINTS):
    """Judgements of a peak at (0.6, 0.6), on five steps, by a judge of noise 1."""
    rng = np.random.default_rng(seed)
    f = 5 * np.exp(-6 * ((points - 0.6) ** 2).sum(axis=1))
    for _ in range(n):
        i, j = rng.choice(len(points), 2, replace=False)
        z = f[i] - f[j] + advantage + rng.normal()
        yield Judgement(
            points[i], points[j], SCALES[5][2 + int(np.sign(z)) * int(abs(z) > 0.4) * (1 + int(abs(z) > 1.6))], 5, judge
        )


def learned(model, judgements):
    return judged(infer((), model), judgements)


def judged(belief, judgements):
    for each in judgements:
        belief = belief.judge(each)
    return belief


def form(law=None):
    return Form(np.ones(2), np.arange(2), eq.Tracked() if law is None else law)


@pytest.mark.parametrize("n", [3, 20, 90])
def test_listed_points_and_points_anywhere_agree(n):
    kernel, judgements = 4.0 * eq.RBF(0.4), list(said(n))
    one = learned(FinitePosterior(POINTS, kernel), judgements)
    other = learned(AnywherePosterior(kernel), judgements)
    a, b = one.posterior.at(POINTS), other.posterior.at(POINTS)
    assert a.mean - a.mean[0] == pytest.approx(b.mean - b.mean[0], abs=1e-6)
    assert a.psi(0) == pytest.approx(b.psi(0), abs=1e-6)
    assert len(one.fit.judges) == len(other.fit.judges) == int(n > 5)
    for ours, theirs in zip(one.fit.judges, other.fit.judges, strict=True):
        assert ours.advantage == pytest.approx(theirs.advantage, abs=1e-6)


def test_readings_first_or_judgements_first():
    """What is learned does not depend on who came first, where nothing but f is to be learned."""
    kernel, few = 4.0 * eq.RBF(0.4), list(said(5))
    read = [eq.Comparison(POINTS[k], POINTS[k + 1], 0.3 * k) for k in range(4)]
    first = infer(read, AnywherePosterior(kernel))
    first = judged(first, few)
    then = learned(AnywherePosterior(kernel), few)
    for each in read:
        then = then.condition(each)
    assert first.posterior.mean(POINTS) == pytest.approx(then.posterior.mean(POINTS), abs=1e-4)
    assert first.comparisons == then.comparisons == 9


def test_many_answers_are_nearly_as_consistent_as_few():
    """Beyond 64 answers a new one gets the site of its own cavity until the next sweep: hardly another belief."""
    spread = np.random.default_rng(3).random((60, 2))
    posterior = learned(LearnedModel(form(), guard=3.0), said(100, advantage=0.7, points=spread))
    panel = Panel(posterior.judgements, 1.0, "")
    prior = Pairing.of(posterior.judgements).prior(trusted(posterior.compared))
    exact = propagate(prior, panel.answers(panel.theta(posterior.fit.judges)))
    assert exact.converged
    firsts, seconds = (np.array([getattr(each, side) for each in posterior.judgements]) for side in ("first", "second"))
    ours = posterior.posterior.mean(firsts) - posterior.posterior.mean(seconds)
    assert np.abs(ours - exact.marginals.mean).max() < 0.1 * np.sqrt(exact.marginals.variance).max()
    (judge,) = posterior.fit.judges
    assert judge.advantage == pytest.approx(0.7, abs=0.4)
    assert judge.thresholds[5] == pytest.approx((0.4, 1.6), rel=0.6)


def test_the_better_judge_counts_more():
    """Two who contradict each other: one who was right before, and one who throws coins."""
    rng = np.random.default_rng(0)
    good = list(said(60, judge="good"))
    noise = [Judgement(e.first, e.second, str(rng.choice(SCALES[5])), 5, "coin") for e in said(60, seed=1)]
    mixed = [each for both in zip(good, noise, strict=True) for each in both]
    posterior = learned(LearnedModel(form(eq.Arbitrary())), mixed)
    judges = {judge.name: judge for judge in posterior.fit.judges}
    assert judges["coin"].noise > 2 * judges["good"].noise
    alone = learned(LearnedModel(form(eq.Arbitrary())), good)
    assert np.corrcoef(posterior.posterior.mean(POINTS), alone.posterior.mean(POINTS))[0, 1] > 0.9


def test_the_evidence_of_the_kernel_is_differentiated_rightly():
    judgements = list(said(25, advantage=0.3))
    panel = Panel(judgements, 1.0, "")
    fit = KernelFit(judgements, form(), panel, 1.0)
    x = np.append(np.log([0.4, 0.5, 3.0]), panel.guess + 0.1)

    def settled(at):
        """The value once the sites agree."""
        return [fit(at) for _ in range(4)][-1]

    tiny = 1e-4
    numeric = [(settled(x + tiny * e)[0] - settled(x - tiny * e)[0]) / (2 * tiny) for e in np.eye(len(x))]
    assert settled(x)[1] == pytest.approx(numeric, abs=1e-4)


def test_a_point_against_itself_teaches_only_about_the_judge():
    same = [Judgement(POINTS[0], POINTS[0], "first", 5)] * 12
    posterior = learned(LearnedModel(form(eq.Arbitrary())), same)
    assert posterior.posterior.mean(POINTS) == pytest.approx(np.zeros(12))
    assert posterior.fit.judges[0].advantage > 0.5


def test_a_posterior_that_cannot_learn_from_judgements_says_so():
    from equipoise.policies import SemiTSPosterior

    belief = infer((), SemiTSPosterior(POINTS, eq.Linear()))
    with pytest.raises((TypeError, ValueError)):
        belief.judge(Judgement(POINTS[0], POINTS[1], "first")).posterior.at(POINTS)


@pytest.mark.filterwarnings("ignore::equipoise.study.SetAside")
@pytest.mark.parametrize("scale", [1e5, 3e7, 1e9, 9.9e37])
@pytest.mark.parametrize("seed", [0, 1, 5])
def test_readings_that_dwarf_the_others_leave_a_belief_that_is_a_number(scale, seed):
    rng, opt = np.random.default_rng(seed), eq.Optimizer(eq.Box([(0, 1)]), rng=seed)
    for _ in range(4):
        pair = opt.ask_pair(steps=2)
        opt.tell(pair, str(rng.choice(pair.answers)))
    for i in range(26):
        opt.tell(opt.ask(), scale if i in (2, 3) else rng.standard_normal())
        assert np.isfinite(opt.posterior.mean(np.linspace(0, 1, 5)[:, None])).all()
    assert not np.isnan(opt.recommend().gap_bound)
