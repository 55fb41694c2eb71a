"""The guard: the tracked offset is believed until the duels contradict it, and then the duels are."""

import copy
import math
import pickle
from dataclasses import replace

import numpy as np
import pytest

import equipoise as eq
from equipoise.belief import AnywherePosterior, Folding, LearnedBelief, LearnedModel, Model, Observations
from equipoise.belief.model import Form
from equipoise.belief.trust import jackknife, under_model

POINTS = np.linspace(0, 1, 21)[:, None]
LEFT, RIGHT = [0.2], [0.8]
TRACKED = eq.Tracked()
FORM = Form(np.ones(1), np.arange(1), TRACKED)


def fresh(guard=3.0):
    return LearnedBelief.prior(LearnedModel(FORM, guard=guard))


def reading(x, y, time):
    return eq.Comparison(x, None, y, time=time)


def pairs(n, lie, seed=0):
    """Left and right in pairs: each reading says that left is better, each duel that right is, if it is a lie."""
    rng, comparisons = np.random.default_rng(seed), []
    for k in range(n):
        z = 0.1 * rng.normal(size=4)
        for half, i in enumerate(rng.permutation(2)):
            comparisons.append(reading((LEFT, RIGHT)[i], (1.0, 0.0)[i] + z[i], 2 * k + half))
        comparisons.append(eq.Comparison(RIGHT, LEFT, (1.0 if lie else -1.0) + z[2]))
    return comparisons


def after(posterior, comparisons):
    for comparison in comparisons:
        posterior = posterior.condition(comparison)
    return posterior


def same(belief, expected):
    np.testing.assert_allclose(belief.mean - belief.mean[0], expected.mean - expected.mean[0], atol=1e-9)
    np.testing.assert_allclose(belief.variance, expected.variance, atol=1e-9)


def test_what_agrees_is_tracked():
    posterior = after(fresh(), pairs(12, lie=False))
    tracked = after(fresh(None), pairs(12, lie=False))
    assert not posterior.contradicted
    assert posterior.trusted is posterior.exact
    same(posterior.trusted.at(POINTS), tracked.exact.at(POINTS))
    assert (posterior.trusted.beta, posterior.trusted.regularizer) == (tracked.exact.beta, tracked.exact.regularizer)
    assert posterior.exact.comparisons == 24
    assert posterior.trusted.at(np.array([LEFT, RIGHT])).mean.argmax() == 0


def test_what_the_duels_contradict_is_not_believed():
    comparisons = pairs(12, lie=True)
    posterior = after(fresh(), comparisons)
    assert posterior.contradicted
    assert posterior.exact.at(np.array([LEFT, RIGHT])).mean.argmax() == 0  # what it would have believed
    assert posterior.trusted.at(np.array([LEFT, RIGHT])).mean.argmax() == 1
    duels = eq.belief.AnywherePosterior(
        posterior.trusted.kernel, posterior.trusted.regularizer, eq.CredibleConfidence()
    )
    duels = after(duels, [c for c in comparisons if c.second is not None])
    same(posterior.trusted.at(POINTS), duels.at(POINTS))
    assert posterior.trusted.beta == duels.beta
    assert posterior.trusted.kernel == posterior.exact.kernel  # the duels borrow what the readings taught of f


def test_the_guard_says_how_much_it_takes():
    comparisons = pairs(12, lie=True)
    posterior = after(fresh(), comparisons)
    mean, variance = jackknife(posterior.trusted, np.array(RIGHT), np.array(LEFT))
    deviations = float((mean / np.sqrt(variance)).min())
    assert after(fresh(0.99 * deviations), comparisons).contradicted
    assert not after(fresh(1.01 * deviations), comparisons).contradicted


def test_a_single_duel_is_not_enough_however_loud():
    """Without each duel in turn the contradiction must still stand."""
    honest = pairs(8, lie=False)
    loud = eq.Comparison(RIGHT, LEFT, 50.0)
    assert not after(fresh(), [*honest, loud]).contradicted
    assert after(fresh(), [*honest, *(eq.Comparison(RIGHT, LEFT, 50.0 + i) for i in range(12))]).contradicted


def test_leaving_one_out_is_leaving_it_out():
    rng = np.random.default_rng(0)
    comparisons = [eq.Comparison(a, b, rng.normal()) for a, b in rng.random((9, 2, 1))]
    posterior = after(eq.belief.AnywherePosterior(eq.RBF(0.3), 0.2), comparisons)
    mean, variance = jackknife(posterior, np.array(LEFT), np.array(RIGHT))
    for i in range(9):
        rest = after(eq.belief.AnywherePosterior(eq.RBF(0.3), 0.2), comparisons[:i] + comparisons[i + 1 :])
        expected = rest.difference(np.array([LEFT]), np.array(RIGHT))
        np.testing.assert_allclose((mean[i], variance[i]), np.ravel(expected), rtol=1e-9)


def test_noise_that_only_the_duels_show_is_theirs():
    """The readings' noise is 0.1; where the duels scatter by 2, their own noise is what makes a contradiction."""
    rng, comparisons = np.random.default_rng(0), []
    for c in pairs(30, lie=False):
        outcome = c.outcome if c.second is None else float(2 * rng.normal())
        comparisons.append(eq.Comparison(c.first, c.second, outcome, c.time))
    posterior = after(fresh(), comparisons)
    duels = posterior.duels
    assert duels.regularizer > 10 * posterior.exact.regularizer
    assert not posterior.contradicted


def test_nothing_is_contradicted_before_there_are_duels():
    assert not fresh().contradicted
    assert not after(fresh(), [reading(LEFT, 1.0, 1.0), reading(RIGHT, 9.0, 2.0)]).contradicted
    assert not fresh().condition(eq.Comparison(RIGHT, LEFT, 9.0)).contradicted


def test_anticipating_makes_surer_and_changes_no_mean():
    for lie in (False, True):
        posterior = after(fresh(), pairs(12, lie=lie))
        ahead = posterior.anticipate_all([reading([0.5], 0.0, 30.0), eq.Comparison([0.5], LEFT, 0.0)])
        assert ahead.contradicted == posterior.contradicted
        before, then = posterior.trusted.at(POINTS), ahead.trusted.at(POINTS)
        np.testing.assert_allclose(then.mean - then.mean[0], before.mean - before.mean[0], atol=1e-8)
        assert (then.variance <= before.variance + 1e-9).all()
        assert then.variance[10] < before.variance[10]


def test_conditioning_leaves_what_was_there_as_it_was_and_copies_learn_the_same():
    comparisons = pairs(12, lie=True)
    chain = [posterior := fresh()]
    chain += [posterior := posterior.condition(c) for c in comparisons]
    seen = [(p.contradicted, p.trusted.at(POINTS).mean.tobytes()) for p in chain]
    assert len({contradicted for contradicted, _ in seen}) == 2
    for twin in (copy.deepcopy(chain[20]), pickle.loads(pickle.dumps(chain[20]))):
        again = after(twin, comparisons[20:])
        assert (again.contradicted, again.trusted.at(POINTS).mean.tobytes()) == seen[-1]
    assert [(p.contradicted, p.trusted.at(POINTS).mean.tobytes()) for p in chain] == seen


# --- in a study ---------------------------------------------------------------------------------------------------


def study(offset, bias, seed, readings=60):
    """A hill on eleven points; `bias` gives the offset of both halves of a pair from what was told before it."""
    points = np.linspace(0, 1, 11)[:, None]
    opt, rng = eq.Optimizer(eq.Finite(points), offset=offset, rng=seed), np.random.default_rng(seed)
    told = []
    for t in range(readings):
        if t % 2 == 0:
            b = bias(t, told)
        trial = opt.ask()
        x = float(trial.x[0])
        told.append(x)
        opt.tell(trial, -4 * (x - 0.7) ** 2 + b + 0.05 * float(rng.normal()))
    return opt


DRIFTS = {
    "none": lambda t, told: 0.0,
    "drift": lambda t, told: -0.1 * t,
    "wave": lambda t, told: math.sin(0.2 * t),
    "jump": lambda t, told: 3.0 * (t > 30),
}


@pytest.mark.parametrize("drift", DRIFTS)
def test_an_offset_that_wanders_is_tracked(drift):
    for seed in range(2):
        opt = study(TRACKED, DRIFTS[drift], seed)
        assert not opt.study.belief.learned.contradicted
        assert abs(opt.recommend().x[0] - 0.7) < 0.15


@pytest.mark.parametrize("guard", [3.0, None])
@pytest.mark.parametrize("law", [eq.Tracked(), eq.Blocks(6)], ids=repr)
def test_without_a_guard_there_is_none(law, guard):
    posterior = eq.Optimizer(eq.Finite(POINTS), offset=replace(law, guard=guard), rng=0).study.belief.learned
    assert posterior.law == replace(law, guard=guard)
    assert (posterior.duels is None) == (guard is None)


def test_what_many_duels_come_to_is_kept_while_their_number_hardly_grows():
    """Their noise, which is more than the readings show, is that of some of them: else all were folded again."""
    rng = np.random.default_rng(0)
    x = rng.random((130, 2, 1))
    y = np.sin(6 * x[:, 0, 0]) - np.sin(6 * x[:, 1, 0]) + 0.5 * rng.standard_normal(130)
    data = Observations.of([eq.Comparison(*each, value) for each, value in zip(x, y, strict=True)])
    model, folding = Model(eq.RBF(0.3), 0.01), Folding(exact=60, window=20, chunk=20)
    duels = AnywherePosterior(model.kernel, model.noise, folding=folding)
    few, more, many = (under_model(duels, data.since(0, n), n, model) for n in (100, 104, 130))
    assert few.regularizer == more.regularizer
    assert under_model(few, data.since(0, 104), 104, model).digest is few.digest
    assert 0.15 < few.regularizer < 0.4
    assert 0.15 < many.regularizer < 0.4


def under_a_season(readings, seed, lie=0.0):
    """The belief from pairs of random points and their duels, under a wave of 7 readings; a lie changes the duels."""
    rng = np.random.default_rng(seed)
    form, told = Form(np.ones(2), np.arange(2), TRACKED), []
    for k in range(readings // 2):
        x, z = rng.random((2, 2)), 0.1 * rng.normal(size=2)
        wave = np.sin(2 * math.pi * (2 * k + np.array([1.0, 2.0])) / 7)
        y = 1.4 * np.sin(9 * x).sum(axis=1) + wave + z
        told += [eq.Comparison(x[i], None, float(y[i]), time=2.0 * k + i + 1, pair=k) for i in range(2)]
        told.append(eq.Comparison(x[0], x[1], (1 - lie) * float(y[0] - y[1])))
    return after(LearnedBelief.prior(LearnedModel(form, guard=3.0)), told).refitted()


@pytest.mark.parametrize("seed", range(3))
def test_duels_under_a_season_are_as_noisy_as_it_makes_them(seed):
    belief = under_a_season(80, seed)
    assert belief.form.period == pytest.approx(7, rel=0.01)
    changed = 1 - math.cos(2 * math.pi / 7)  # mean square of what the wave changes between two readings
    assert 0.5 * changed < belief.duels.regularizer < 2 * changed
    assert not belief.contradicted


def test_duels_that_contradict_are_believed_under_a_season_too():
    belief = under_a_season(160, 0, lie=2.0)
    assert belief.form.period == pytest.approx(7, rel=0.01)
    assert belief.contradicted
