"""Folding of old data: the belief stays that of all data, at a cost that does not grow."""

import shutil
from functools import partial

import numpy as np
import pytest

import equipoise as eq
from equipoise.belief import AnywherePosterior, LearnedBelief, LearnedModel
from equipoise.belief.folding import MAX_INDUCING, Folding
from equipoise.belief.model import Form, Model
from equipoise.belief.observations import Observations
from equipoise.kernels import Matern52, Scaled
from equipoise.study import defaults

SHORT = Folding(exact=60, window=20, chunk=40)
KERNEL = Scaled(Matern52([0.3, 0.4]), 2.0)
OFFSET = eq.Tracked().known(walk=0.02, wave=0.5, duration=12.0, pair=0.01)
NOISE = 0.05
X = np.random.default_rng(7).random((60, 2))


def hill(x):
    return np.sin(4 * x[..., 0]) + np.cos(3 * x[..., 1])


def drift(t):
    return 2 * np.sin(t / 9) + 0.01 * t


def readings(n, seed=0, spread=0.5):
    """Return readings in pairs; where they are taken narrows with time, as in a search."""
    rng = np.random.default_rng(seed)
    told = []
    for t in range(1, n + 1):
        x = np.clip([0.4, 0.3] + rng.normal(size=2) * spread * (0.2 + 0.8 * np.exp(-t / 100)), 0, 1)
        y = float(hill(x) + drift(t) + NOISE**0.5 * rng.normal())
        told.append(eq.Comparison(x, None, y, time=t, pair=(t - 1) // 2))
    return told


def duels(n, seed=0):
    """Return duels among ten points."""
    rng = np.random.default_rng(seed)
    pairs = [rng.choice(10, 2, replace=False) for _ in range(n)]
    return [eq.Comparison(X[i], X[j], float(hill(X[i]) - hill(X[j]) + 0.3 * rng.normal())) for i, j in pairs]


def learned(comparisons, folding, offset=OFFSET, model=None):
    posterior = AnywherePosterior(KERNEL, NOISE, offset=offset, folding=folding)
    return posterior.given(Observations.of(comparisons), len(comparisons), posterior.model if model is None else model)


def deviations(ours, exact):
    """Return by how many deviations differences of f differ, and the ratio of these deviations."""
    (a, v), (b, w) = (posterior.difference(X[1:], X[0]) for posterior in (ours, exact))
    return np.abs(a - b) / np.sqrt(w), np.sqrt(v / w)


def after(posterior, comparisons):
    for comparison in comparisons:
        posterior = posterior.condition(comparison)
    return posterior


def same(ours, other):
    for a, b in zip(ours.difference(X[1:], X[0]), other.difference(X[1:], X[0]), strict=True):
        np.testing.assert_array_equal(a, b)


# --- which data are folded ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("folding", [Folding(), SHORT, SHORT.of_pairs, Folding(0, 0, 1)])
def test_few_are_kept_and_of_many_the_last(folding):
    due, changes = folding.after(0), []
    for n in range(2000):
        folded = folding.folded(n)
        assert folded % folding.chunk == 0
        assert folded == 0 if n <= folding.exact else folding.window <= n - folded < folding.window + folding.chunk
        if n == due:
            changes.append(folding.folded(n) - folding.folded(n - 1))
            due = folding.after(n)
        else:
            assert folded == folding.folded(max(n - 1, 0))
    assert min(changes) > 0


@pytest.mark.parametrize("numbers", [(-1, 0, 1), (10, 20, 5), (10, 5, 0), (10, 5.5, 1)])
def test_it_must_keep_the_window_and_fold_something(numbers):
    with pytest.raises((TypeError, ValueError), match=r"`(exact|window|chunk)` must"):
        Folding(*numbers)


def test_it_is_logged_with_the_posterior(tmp_path):
    form = Form(np.ones(1), np.arange(1), eq.Tracked())
    prior = LearnedModel(form, folding=Folding(8, 2, 4))
    eq.Optimizer(eq.Box([(0, 1)]), posterior=prior, log=tmp_path / "study.jsonl", rng=0)
    assert eq.resume(tmp_path / "study.jsonl").study.belief.learned.model.folding == Folding(8, 2, 4)


# --- what they come to --------------------------------------------------------------------------------------------


def test_nothing_is_lost_of_duels_among_few_points():
    """Without an offset, and with all points among the inducing ones, folding is exact."""
    told = duels(300)
    ours, exact = (learned(told, folding, offset=None) for folding in (SHORT, None))
    assert len(ours.digest.source) == 280
    assert ours.size == exact.size == 300
    far, ratio = deviations(ours, exact)
    assert far.max() < 1e-6
    np.testing.assert_allclose(ratio, 1.0, atol=1e-6)


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_readings_with_an_offset_say_nearly_the_same(seed):
    told = readings(500, seed)
    ours, exact = (learned(told, folding) for folding in (SHORT, None))
    assert len(ours.digest) <= MAX_INDUCING
    far, ratio = deviations(ours, exact)
    assert far.max() < 0.6  # twelve seams, each worth about one reading
    assert np.sqrt((far**2).mean()) < 0.2
    assert ratio.min() > 0.97
    assert ratio.max() < 1.1


def test_larger_chunks_are_nearer():
    told = readings(600, 3)
    exact = learned(told, None)
    error = [
        np.sqrt((deviations(learned(told, Folding(60, 20, chunk)), exact)[0] ** 2).mean()) for chunk in (20, 60, 240)
    ]
    assert error[0] > error[-1]
    assert error[-1] < 0.1


def test_under_another_kernel_it_is_still_about_the_same_function():
    told = readings(400)
    other = Model(Scaled(Matern52([0.25, 0.35]), 3.0), NOISE, OFFSET)
    far, ratio = deviations(learned(told, SHORT).under(other), learned(told, None).under(other))
    assert np.sqrt((far**2).mean()) < 0.3
    assert ratio.min() > 0.95
    assert ratio.max() < 1.2


def test_one_by_one_goes_on_from_the_digest():
    told, more = readings(300), readings(340)[300:]
    ours, exact = (after(learned(told, folding), more) for folding in (SHORT, None))
    far, _ = deviations(ours, exact)
    assert np.sqrt((far**2).mean()) < 0.2
    open_, expected = (posterior.anticipate_all(more[:4]) for posterior in (ours, exact))
    np.testing.assert_allclose(open_.difference(X[1:], X[0])[1], expected.difference(X[1:], X[0])[1], rtol=0.2)
    one = ours.anticipate(more[0]).difference(X[1:], X[0])
    np.testing.assert_allclose(one, ours.anticipate_all(more[:1]).difference(X[1:], X[0]), rtol=1e-6, atol=1e-9)


def test_gradients_are_those_of_the_belief():
    posterior, x, h = learned(readings(300), SHORT), np.array([0.3, 0.6]), 1e-5
    landscape = posterior.landscape(X[0])
    gap, psi, slope, psi_slope = landscape.gap_and_psi(x)
    mean, variance = posterior.difference(x[None], X[0])
    assert (gap, psi) == (pytest.approx(-mean[0]), pytest.approx(variance[0]))
    for j in range(2):
        step = h * np.eye(2)[j]
        up, down = landscape.gap_and_psi(x + step), landscape.gap_and_psi(x - step)
        assert slope[j] == pytest.approx((up[0] - down[0]) / (2 * h), rel=1e-4, abs=1e-6)
        assert psi_slope[j] == pytest.approx((up[1] - down[1]) / (2 * h), rel=1e-3, abs=1e-6)


def test_the_offset_is_known_at_all_times():
    told = readings(300)
    (time, ours), (same_time, exact) = (learned(told, folding).offsets(X[0]) for folding in (SHORT, None))
    np.testing.assert_array_equal(time, same_time)
    np.testing.assert_array_equal(time, np.arange(1, 301))
    assert np.abs(ours - exact).max() < 0.3
    assert np.std(ours - drift(time)) < 0.3 * np.std(drift(time))


def test_a_jump_inside_of_what_is_folded_is_remembered():
    told = readings(300)
    told = [eq.Comparison(c.first, None, c.outcome + 20 * (c.time > 90), time=c.time, pair=c.pair) for c in told]
    jumping = Model(KERNEL, NOISE, OFFSET.jumping((91.0, 400.0)))
    exact = learned(told, None, model=jumping)
    assert np.sqrt((deviations(learned(told, SHORT, model=jumping), exact)[0] ** 2).mean()) < 0.2
    assert np.sqrt((deviations(learned(told, SHORT), exact)[0] ** 2).mean()) > 0.3


BLOCKED = eq.offsets.Accounted(eq.Tracked(), blocks=True)
EFFECT = 0.25


def in_blocks(n, seed, blocks, turns=False):
    """Return readings in blocks, one after the other or in turns, each with a level and an effect on the settings."""
    own = np.random.default_rng(seed).normal(size=(blocks, 3)) * [EFFECT**0.5, EFFECT**0.5, 2.0]
    told = []
    for i, each in enumerate(readings(n, seed)):
        b = i // 2 % blocks if turns else i * blocks // n
        change = own[b] @ [2 * np.sin(4 * each.first[0]), 2 * np.cos(5 * each.first[1]), 1.0]
        where = eq.offsets.Circumstances(block=f"day {b}")
        told.append(
            eq.Comparison(each.first, None, each.outcome + change, time=each.time, pair=each.pair, circumstances=where)
        )
    return told


def of_blocks(effect=EFFECT):
    values = {"walk": 0.02, "wave": 0.5, "duration": 12.0, "pair": 0.01, "block": 4.0, "effect": effect}
    return eq.offsets.OffsetModel(BLOCKED, tuple(values[each.name] for each in BLOCKED.hyperparameters))


@pytest.mark.parametrize(("blocks", "turns"), [(1, False), (3, False), (10, False), (5, True)])
def test_a_long_block_says_no_more_than_it_did_before_it_was_folded(blocks, turns):
    """What one block says of f is told from f by no number of its readings, folded or not."""
    told = in_blocks(400, 0, blocks, turns)
    ours, exact = (learned(told, folding, of_blocks()) for folding in (SHORT, None))
    assert len(ours.digest.source) == 360
    far, ratio = deviations(ours, exact)
    assert np.sqrt((far**2).mean()) < 0.5
    assert ratio.min() > 0.97
    assert ratio.max() < 1.1
    careless = deviations(learned(told, SHORT, of_blocks(1e-5)), exact)[1]  # as if blocks did not change settings
    assert np.median(careless) < 0.9


def test_a_block_goes_on_after_it_was_folded():
    told = in_blocks(340, 1, 2)
    ours, exact = (after(learned(told[:300], folding, of_blocks()), told[300:]) for folding in (SHORT, None))
    far, ratio = deviations(ours, exact)
    assert np.sqrt((far**2).mean()) < 0.2
    assert ratio.min() > 0.97
    both = (learned(told[:300], folding, of_blocks()).anticipate_all(told[300:310]) for folding in (SHORT, None))
    assert deviations(*both)[1].min() > 0.97


# --- what was done need not be done again -------------------------------------------------------------------------


def test_a_digest_goes_on_where_it_ended_to_the_last_bit():
    told = readings(400)
    early, anew = learned(told[:250], SHORT), learned(told, SHORT)
    on = early.given(Observations.of(told), 400, early.model)
    same(on, anew)
    found = early.model.offset.jumping((390.0, 4.0))  # what is found later does not touch what is folded
    later = Model(KERNEL, NOISE, found)
    assert early.digest.stands_for(Observations.of(told), later)
    same(early.given(Observations.of(told), 400, later), learned(told, SHORT, model=later))


def test_a_digest_of_other_data_or_of_another_model_is_not_used():
    told = readings(400)
    early, data = learned(told[:250], SHORT), Observations.of(told)
    changed = [*told[:3], eq.Comparison(told[3].first, None, 9.0, time=4, pair=1), *told[4:]]
    assert early.digest.stands_for(data, early.model)
    assert not early.digest.stands_for(Observations.of(changed), early.model)
    assert not early.digest.stands_for(data, Model(KERNEL, 2 * NOISE, OFFSET))
    assert not early.digest.stands_for(data, Model(KERNEL, NOISE, OFFSET.jumping((5.0, 1.0))))
    assert not early.digest.stands_for(data.since(0, 100), early.model)
    same(early.given(Observations.of(changed), 400, early.model), learned(changed, SHORT))


# --- where everything is learned ----------------------------------------------------------------------------------


def fresh(folding=SHORT, guard=None):
    form = Form(np.ones(2), np.arange(2), eq.Tracked())
    return LearnedBelief.prior(LearnedModel(form, folding=folding, guard=guard))


def test_it_folds_by_itself_and_fits_all_data(monkeypatch):
    from equipoise.belief import refitting

    fitted, fit = [], refitting.fit

    def counting(evidence, *rest):
        fitted.append(len(evidence.data))
        return fit(evidence, *rest)

    monkeypatch.setattr(refitting, "fit", counting)
    told, posterior = readings(150), fresh()
    for comparison in told:
        posterior = posterior.condition(comparison)
        exact = posterior.exact
        if exact.size > SHORT.exact:
            assert len(exact.observations) < SHORT.window + SHORT.chunk
            assert exact.size == len(exact.digest.source) + len(exact.observations)
    assert fitted[-1] > 100  # not the window alone
    assert posterior.exact.comparisons == 150
    np.testing.assert_allclose(
        posterior.relearned(told, posterior.fitted).exact.mean(X), posterior.exact.mean(X), atol=1e-6
    )


def test_told_does_not_depend_on_what_it_knew():
    told = readings(150)
    known = after(fresh(), told)
    for some in (told[:130], told):
        same(known.relearned(some, known.fitted).exact, fresh().relearned(some, known.fitted).exact)


def test_duels_are_folded_too_and_contradict_as_before():
    told = []
    for k in range(100):
        rng = np.random.default_rng(k)
        for half, i in enumerate(rng.permutation(2)):
            y = (1.0, 0.0)[i] + 0.1 * rng.normal()
            told.append(eq.Comparison(X[i], None, y, time=2 * k + half + 1, pair=k))
        told.append(eq.Comparison(X[1], X[0], 1.0 + 0.1 * rng.normal()))
    guarded = [fresh(folding, 3.0) for folding in (SHORT, None)]
    folded, exact = (each.relearned(told, each.fitted) for each in guarded)
    assert len(folded.duels.digest.source) == 80
    assert folded.duels.size == 100
    assert folded.contradicted
    assert exact.contradicted
    assert not fresh(guard=3.0).relearned(told[:150:3] + told[1:150:3], guarded[0].fitted).contradicted


@pytest.mark.parametrize(
    "parts", [{}, {"offset": eq.Arbitrary()}, {"policy": eq.UCB()}], ids=["default", "duels", "ucb"]
)
def test_a_long_study_taken_up_is_the_one_that_was_left(tmp_path, monkeypatch, parts):
    monkeypatch.setattr(defaults, "LearnedModel", partial(LearnedModel, folding=Folding(20, 6, 12)))
    opt = eq.Optimizer(eq.Box([(0, 1)] * 2), log=tmp_path / "study.jsonl", rng=0, **parts)
    rng = np.random.default_rng(0)
    for t in range(1, 61):
        trial = opt.ask()
        opt.tell(trial, float(hill(np.asarray(trial.x)) + drift(t) + 0.1 * rng.normal()))
    log = shutil.copy(tmp_path / "study.jsonl", tmp_path / "again.jsonl")
    again = eq.resume(log)
    assert again.posterior.digest is not None
    same(opt.posterior, again.posterior)
    np.testing.assert_array_equal(opt.ask().x, again.ask().x)


def test_the_noise_is_learned_from_very_many_readings():
    """Of readings that are far apart all would be offset."""
    told = readings(2000, spread=0.3)
    posterior = fresh(Folding()).relearned(told, fresh().fitted).refitted()
    learned = posterior.hyperparameters
    assert learned.noise * learned.step**2 == pytest.approx(NOISE, rel=0.3)
