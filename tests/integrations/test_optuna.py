"""Optuna: every trial is a duel, all state is in the storage, and nothing that Optuna allows breaks it."""

import enum
import itertools
import json
import math
import pickle
import re
import shutil
import threading
import warnings
from collections import Counter
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

optuna = pytest.importorskip("optuna", reason="needs the extra `optuna`")

from optuna.distributions import CategoricalDistribution, FloatDistribution, IntDistribution  # noqa: E402
from optuna.storages import JournalStorage  # noqa: E402
from optuna.storages.journal import JournalFileBackend  # noqa: E402
from optuna.trial import FixedTrial, TrialState, create_trial  # noqa: E402

import equipoise as eq  # noqa: E402
from equipoise.belief import LearnedBelief  # noqa: E402
from equipoise.data import Reading, teaches  # noqa: E402
from equipoise.integrations.optuna import (  # noqa: E402
    DuelSampler,
    NotModeled,
    Unreadable,
    best_params,
    front,
    paired,
    recommend,
)
from equipoise.integrations.optuna.knowledge import STALE_TRIALS, StudyModel  # noqa: E402
from equipoise.integrations.optuna.records import FIT, PAIR, TrialPair, fit_from_json, fit_to_json  # noqa: E402
from equipoise.integrations.optuna.translation import Translation, internal  # noqa: E402
from equipoise.integrations.remembering import remembered  # noqa: E402
from equipoise.log.events import Asked, Handed, Told  # noqa: E402
from equipoise.offsets import Law  # noqa: E402

optuna.logging.set_verbosity(optuna.logging.ERROR)

RETRY = getattr(optuna.storages, "RetryHeartbeatStaleTrialCallback", None) or optuna.storages.RetryFailedTrialCallback
experimental = pytest.mark.filterwarnings("ignore::optuna.exceptions.ExperimentalWarning")

SPACE = {"x": FloatDistribution(0, 1), "y": IntDistribution(0, 4)}


class Instrument:
    """A reading that drifts: in 60 readings by more than f varies. Values are multiples of 2^-20: sums are exact."""

    def __init__(self, drift=0.05, offset=0.0):
        self.drift, self.offset, self.readings, self.seen = drift, offset, 0, []

    def f(self, params):
        return -4 * (params["x"] - 0.7) ** 2 - (params["y"] - 2) ** 2 / 8

    def __call__(self, trial):
        x, y = trial.suggest_float("x", 0, 1), trial.suggest_int("y", 0, 4)
        self.readings += 1
        self.seen.append(trial)
        return round(self.f({"x": x, "y": y}) * 2**20) / 2**20 + self.drift * self.readings + self.offset


def make(direction="maximize", **options):
    return optuna.create_study(direction=direction, sampler=DuelSampler(**{"seed": 0} | options))


def run(study, trials, objective=None):
    objective = Instrument() if objective is None else objective
    study.optimize(paired(objective), n_trials=trials)
    return objective


def points(study):
    """What was compared, as it was recorded."""
    return [t.system_attrs[PAIR]["p"] for t in study.trials]


def model_of(study, law=None):
    model = StudyModel(eq.Tracked() if law is None else law)
    model.update(study)
    return model, model.translation(model.search_space())


# What it is for.


@pytest.mark.parametrize("direction", ["maximize", "minimize"])
@pytest.mark.parametrize("offset", [eq.Tracked(), eq.Arbitrary()])
def test_finds_the_best_setting_where_the_best_trial_of_a_plain_study_is_wrong(direction, offset):
    sign = 1 if direction == "maximize" else -1
    study, instrument = make(direction, offset=offset), Instrument()
    study.optimize(paired(lambda trial: sign * instrument(trial)), n_trials=40)
    best = recommend(study)
    assert instrument.f(best.x) > -0.05
    assert best.readings == 80
    assert math.isfinite(best.gap_bound)
    assert best_params(study) == best.x

    plain = optuna.create_study(direction=direction, sampler=optuna.samplers.TPESampler(seed=0))
    instrument = Instrument()
    plain.optimize(lambda trial: sign * instrument(trial), n_trials=80)
    assert plain.best_trial.number >= 60  # the drift decides, not f


def test_nothing_is_certified_before_the_unit_of_f_is_known():
    study = make()
    study.optimize(paired(Instrument()), n_trials=2)
    assert recommend(study).gap_bound == math.inf


@pytest.mark.parametrize("seed", [4, 6])
@pytest.mark.parametrize("slope", [-0.1, 1.0])
def test_a_steady_drift_is_followed_whatever_its_slope(seed, slope):
    study, clock = make(seed=seed), iter(range(1000))
    study.optimize(paired(lambda trial: -((trial.suggest_float("x", 0, 1) - 0.7) ** 2) + slope * next(clock)), 25)
    assert best_params(study)["x"] == pytest.approx(0.7, abs=0.05)


def test_a_trial_measures_both_members_in_random_order_and_reports_their_difference():
    study = make()
    instrument = run(study, 30)
    assert instrument.readings == 60
    orders = Counter()
    for n, trial in enumerate(study.trials):
        pair = [instrument.seen[2 * n], instrument.seen[2 * n + 1]]
        (rival,) = [t for t in pair if isinstance(t, FixedTrial)]
        assert rival.number == trial.number == n
        orders[pair.index(rival)] += 1
        values = trial.system_attrs[PAIR]["p"]
        assert {name: v[0] for name, v in values.items()} == trial.params
        assert {name: v[1] for name, v in values.items()} == rival.params
        first, second = trial.user_attrs["duel_first"], trial.user_attrs["duel_second"]
        assert trial.value == first - second
        drift = 0.05 if pair.index(rival) == 0 else -0.05
        assert first - second - drift == pytest.approx(
            instrument.f(trial.params) - instrument.f(rival.params), abs=1e-5
        )
    assert min(orders.values()) >= 6  # 30 fair coins: below that once in 2,000


@pytest.mark.parametrize("offset", [0.0, 1.0, 4096.0])
def test_under_an_arbitrary_offset_no_offset_between_trials_matters(offset):
    """To the last bit: what a trial adds to both readings never reaches the model."""
    study = make(offset=eq.Arbitrary())

    class Jumping(Instrument):
        def __call__(self, trial):
            return super().__call__(trial) + offset * (trial.number % 3)

    run(study, 12, Jumping(drift=0.0))
    reference = make(offset=eq.Arbitrary())
    run(reference, 12, Instrument(drift=0.0))
    assert points(study) == points(reference)


@pytest.mark.parametrize("law", [eq.Tracked(), eq.Arbitrary()])
def test_workers_may_have_offsets_of_their_own(law):
    """A hundred times the signal and another in every trial: readings teach nothing, differences do."""
    study = make(offset=law)

    class Elsewhere(Instrument):
        def __call__(self, trial):
            return super().__call__(trial) + 100 * (trial.number * 0.618 % 1)

    assert run(study, 30, Elsewhere()).f(best_params(study)) > -0.15


def test_user_attributes_of_the_rival_are_kept():
    study = make()

    def objective(trial):
        trial.set_user_attr("level", trial.suggest_float("x", 0, 1))
        return 0.0

    study.optimize(paired(objective), n_trials=3)
    for trial in study.trials:
        first, second = trial.system_attrs[PAIR]["p"]["x"]
        assert (trial.user_attrs["level"], trial.user_attrs["second:level"]) == (first, second)


# Duels of one reading.


def test_one_point_duels_need_no_wrapping():
    study, instrument = make(reduction=eq.OnePoint(eq.BestForecaster())), Instrument(drift=0.02)
    study.optimize(instrument, n_trials=120)
    assert instrument.readings == 120
    assert best_params(study)["x"] == pytest.approx(0.7, abs=0.2)
    assert recommend(study).readings == 119  # the first was drawn before the space was known
    signs = Counter(t.system_attrs[PAIR]["s"] for t in study.trials[1:])
    assert min(signs[2.0], signs[-2.0]) >= 35
    for trial in study.trials[1:]:
        record = TrialPair.of(trial)
        assert record.picked == trial.params
    assert any(t.system_attrs[PAIR]["c"] for t in study.trials[2:])


def test_an_enqueued_one_point_trial_teaches_nothing_since_no_coin_chose_it():
    study, instrument = make(reduction=eq.OnePoint()), Instrument()
    study.optimize(instrument, n_trials=8)
    study.enqueue_trial({"x": 0.123, "y": 1})
    study.optimize(instrument, n_trials=1)
    assert study.trials[-1].params == {"x": 0.123, "y": 1}
    model, translation = model_of(study, eq.Arbitrary())
    assert [*model.taught(translation)] == list(range(1, 8))


# What goes wrong.


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf, None, "text"])
@pytest.mark.parametrize("member", [0, 1])
def test_a_reading_that_is_no_number_fails_its_trial_and_nothing_else(value, member):
    study, instrument = make(), Instrument()
    run(study, 8, instrument)
    before = best_params(study)
    calls = iter(range(2))
    study.optimize(paired(lambda trial: value if next(calls) == member else instrument(trial)), n_trials=1)
    assert study.trials[-1].state == TrialState.FAIL
    assert best_params(study) == before
    run(study, 2, instrument)
    assert study.trials[-1].state == TrialState.COMPLETE


@pytest.mark.parametrize("error", [ValueError("broken"), optuna.TrialPruned()])
@pytest.mark.parametrize("member", [0, 1])
def test_failed_and_pruned_trials_are_given_up(error, member):
    study, instrument = make(), Instrument()
    run(study, 8, instrument)
    before = best_params(study)

    calls = iter(range(2))

    def broken(trial):
        value = instrument(trial)
        trial.report(value, 0)
        if next(calls) == member:
            raise error
        return value

    study.optimize(paired(broken), n_trials=1, catch=(ValueError,))
    found = best_params(study)
    if study.trials[-1].state == TrialState.PRUNED:
        assert found == before
    else:  # what was measured is recommended from now on, as it does not fail
        assert study.trials[-1].state == TrialState.FAIL
        pairs = [TrialPair.of(trial) for trial in study.trials[:-1]]
        assert any(pair.member(i) == pytest.approx(found) for pair in pairs for i in (0, 1))


@pytest.mark.parametrize("fails", [math.nan, ValueError("the wall")], ids=["nan", "error"])
def test_settings_that_fail_are_not_asked_for_again_and_again(fails):
    """The first pair that failed was once proposed for good: 26 of 30 trials."""

    def walled(trial):
        x, n = trial.suggest_float("x", 0, 1), trial.suggest_int("n", 0, 1)
        if x > 0.9 and isinstance(fails, Exception):
            raise fails
        return fails if x > 0.9 else (x - 0.3) ** 2 + 0.1 * n

    study = optuna.create_study(sampler=DuelSampler(seed=0))
    study.optimize(paired(walled), n_trials=24, catch=(ValueError,))
    assert len(study.get_trials(states=(TrialState.FAIL,))) <= 5
    assert best_params(study)["x"] == pytest.approx(0.3, abs=0.1)


def test_nothing_is_recommended_where_trials_fail():
    def uphill(trial):
        x = trial.suggest_float("x", 0, 1)
        return x if x <= 0.6 else math.nan

    study = optuna.create_study(sampler=DuelSampler(seed=0), direction="maximize")
    study.optimize(paired(uphill), n_trials=24)
    assert 0.5 < best_params(study)["x"] <= 0.6


@pytest.mark.parametrize("spike", [1e300, -1e200, 9.9e37])
def test_a_value_that_cannot_be_a_reading_ends_no_study(spike):
    def objective(trial):
        value = (trial.suggest_float("x", 0, 1) - 0.3) ** 2
        return spike if trial.number == 7 else value

    study = optuna.create_study(sampler=DuelSampler(seed=0))
    study.optimize(paired(objective), n_trials=20)
    assert best_params(study)["x"] == pytest.approx(0.3, abs=0.1)


def test_an_infinite_one_point_reading_teaches_nothing():
    study, instrument = make(reduction=eq.OnePoint(eq.reductions.RunningMean())), Instrument()
    study.optimize(instrument, n_trials=8)
    before = best_params(study)
    study.optimize(lambda trial: instrument(trial) * math.inf, n_trials=1)
    assert study.trials[-1].state == TrialState.COMPLETE
    assert best_params(study) == before
    study.optimize(instrument, n_trials=1)


def test_an_unwrapped_objective_is_refused_at_once():
    with pytest.raises(RuntimeError, match=r"must be measured by paired\(objective\), got a value without a rival"):
        make().optimize(Instrument(), n_trials=3)


def test_parts_that_do_not_fit_are_refused():
    plain = optuna.create_study(sampler=optuna.samplers.RandomSampler())
    with pytest.raises(RuntimeError, match=r"needs a study with a DuelSampler, got .*RandomSampler"):
        run(plain, 1)
    with pytest.raises(RuntimeError, match="measures two points a trial, got a sampler for one"):
        run(make(reduction=eq.OnePoint()), 1)
    with pytest.raises(TypeError, match=r"`reduction` must be TwoPoint\(\) or OnePoint"):
        DuelSampler(reduction=eq.Direct())
    with pytest.raises(ValueError, match="`policy` must propose pairs"):
        DuelSampler(policy=eq.UCB())
    with pytest.raises(ValueError, match="`offset` must be Arbitrary"):
        DuelSampler(reduction=eq.OnePoint(), offset=eq.Tracked())
    with pytest.raises(TypeError, match="`offset` must be an object such as Tracked"):
        DuelSampler(offset=eq.Tracked)
    with pytest.raises(ValueError, match="`memory` must be at least 2"):
        DuelSampler(memory=1)
    with pytest.raises(ValueError, match="`study` must have a finished duel"):
        recommend(make())


# What Optuna allows.


def test_an_enqueued_trial_is_compared_with_the_best_one_known():
    study, instrument = make(), Instrument()
    study.enqueue_trial({"x": 0.1, "y": 0})  # before anything is known
    run(study, 10, instrument)
    assert study.trials[0].params == {"x": 0.1, "y": 0}
    study.enqueue_trial({"x": 0.25, "y": 1})
    study.enqueue_trial({"y": 4})
    run(study, 2, instrument)
    whole, part = study.trials[-2:]
    assert whole.params == {"x": 0.25, "y": 1}
    assert part.params["y"] == 4
    assert {name: v[1] for name, v in whole.system_attrs[PAIR]["p"].items()}["x"] == pytest.approx(0.7, abs=0.1)
    model, translation = model_of(study)
    assert len(model.taught(translation)) == 12
    study.enqueue_trial(best_params(study))  # against the challenger, then
    run(study, 1, instrument)


def test_an_enqueued_point_outside_the_range_is_measured_but_not_learned_from():
    study, instrument = make(), Instrument()
    run(study, 6, instrument)
    study.enqueue_trial({"x": 1.5, "y": 1})
    with pytest.warns(UserWarning, match="out of range"):
        run(study, 1, instrument)
    assert study.trials[-1].params["x"] == 1.5
    model, translation = model_of(study)
    assert [*model.taught(translation)] == list(range(6))


@experimental
def test_a_retried_trial_is_the_same_duel_measured_anew():
    study, instrument = make(), Instrument()
    run(study, 8, instrument)
    lost = study.ask()
    half = Instrument()
    with pytest.raises(ZeroDivisionError):  # the worker dies between the two readings
        paired(lambda trial: half(trial) if half.readings == 0 else 1 / 0)(lost)
    frozen = study.trials[-1]
    study.tell(lost, state=TrialState.FAIL)
    RETRY()(study, frozen)
    run(study, 1, instrument)
    retried = study.trials[-1]
    assert retried.state == TrialState.COMPLETE
    assert retried.number == frozen.number + 1
    assert retried.system_attrs[PAIR]["p"] == frozen.system_attrs[PAIR]["p"]
    model, translation = model_of(study)
    assert [*model.taught(translation)] == [*range(8), 9]


@experimental
def test_readings_that_a_retried_trial_inherits_are_not_its_own():
    study = make()
    run(study, 8)
    done = study.trials[-1]
    RETRY()(study, done)  # as if it had died right before its end
    trial = study.ask()
    with pytest.raises(RuntimeError, match="got a value without a rival"):
        study.tell(trial, done.value)
    model, translation = model_of(study)
    assert [*model.taught(translation)] == list(range(8))


@pytest.mark.parametrize("fixed", [None, SPACE])
def test_a_batch_is_asked_for_before_anything_is_told(fixed):
    study, instrument = make(), Instrument()
    run(study, 4, instrument)
    measure = paired(instrument)
    batch = [study.ask(fixed) for _ in range(5)]
    for trial in batch:
        _ = trial.relative_params  # proposed now, all of them before the first is measured
    values = {trial.number: measure(trial) for trial in reversed(batch)}
    for trial in np.random.default_rng(0).permutation(np.array(batch, dtype=object)):
        study.tell(trial, values[trial.number])
    assert len({json.dumps(pair) for pair in points(study)[4:]}) == 5
    run(study, 20, instrument)
    assert instrument.f(best_params(study)) > -0.05


@pytest.mark.parametrize("options", [{}, {"reduction": eq.OnePoint(eq.reductions.LastOffset())}])
def test_threads_share_a_study(options):
    study, instrument, lock = make(**options), Instrument(), threading.Lock()

    def objective(trial):
        with lock:
            return instrument(trial)

    study.optimize(objective if options else paired(objective), n_trials=24, n_jobs=4)
    assert len(study.get_trials(states=(TrialState.COMPLETE,))) == 24
    assert instrument.readings == (24 if options else 48)
    best = best_params(study)
    assert 0 <= best["x"] <= 1
    assert options or instrument.f(best) > -2  # one-point duels in the order of threads: 2 in 30 are worse


@pytest.mark.parametrize(("low", "high", "kept"), [(-1.0, 2.0, 10), (0.5, 1.0, None)])
def test_a_range_may_change_between_trials(low, high, kept):
    study, instrument = make(), Instrument()
    run(study, 10, instrument)

    def changed(trial):
        x, y = trial.suggest_float("x", low, high), trial.suggest_int("y", 0, 4)
        return instrument.f({"x": x, "y": y})

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NotModeled)  # a proposed value may have left the range
        study.optimize(paired(changed), n_trials=8)
    model, translation = model_of(study)
    assert translation.distributions["x"] == FloatDistribution(low, high)
    learned = [*model.taught(translation)]
    old = [pair["x"] for pair in points(study)[:10]]
    assert learned[-8:] == list(range(10, 18))
    assert len(learned) - 8 == (kept or sum(low <= a <= high and low <= b <= high for a, b in old))
    assert low <= best_params(study)["x"] <= high


def test_a_parameter_that_comes_later_is_shared_by_both_members_and_said_not_to_be_optimized():
    study, instrument = make(), Instrument()
    run(study, 6, instrument)
    seen = []

    def more(trial):
        seen.append(trial.suggest_float("late", 0, 1))
        return instrument(trial) + 100 * seen[-1]

    with pytest.warns(NotModeled, match="parameter 'late' is drawn at random and not optimized in trial 6"):
        study.optimize(paired(more), n_trials=1)
    study.optimize(paired(more), n_trials=4)  # said once
    assert seen[::2] == seen[1::2]
    assert len(set(seen)) == 5
    assert set(best_params(study)) == {"x", "y"}
    assert abs(study.trials[-1].value) < 5  # what it does cancels


def test_the_parameters_to_optimize_can_be_given():
    study = make(search_space=SPACE)
    run(study, 3)
    assert all(PAIR in t.system_attrs for t in study.trials)
    only = make(search_space={"x": FloatDistribution(0, 1)})
    with pytest.warns(NotModeled, match="'y'"):
        run(only, 6)
    assert set(best_params(only)) == {"x"}
    assert all(pair["y"][0] == pair["y"][1] for pair in points(only))


def test_a_conditional_space_is_optimized_where_all_branches_agree():
    study = make()

    def objective(trial):
        kind = trial.suggest_categorical("kind", ["a", "b"])
        extra = trial.suggest_float(f"{kind}1", 0, 1)
        return (kind == "b") + 0.1 * extra

    with pytest.warns(NotModeled, match="make a study for each branch"):
        study.optimize(paired(objective), n_trials=15)
    assert best_params(study) == {"kind": "b"}


def test_the_best_setting_is_shown_as_the_objective_sees_it():
    def objective(trial):
        step, size = trial.suggest_float("step", 0, 1, step=0.25), trial.suggest_int("size", 0, 300, step=100)
        return step * (1 - step) + size / 100 + trial.suggest_categorical("gain", [0.25, 1.5])

    study = optuna.create_study(direction="maximize", sampler=DuelSampler(seed=0))
    study.optimize(paired(objective), n_trials=20)
    assert str(recommend(study)).startswith("gain = 1.5, size = 300, step = 0.5\n")

    both = optuna.create_study(directions=["maximize", "minimize"], sampler=DuelSampler(seed=0))
    both.optimize(paired(lambda trial: (objective(trial), trial.params["step"])), n_trials=12)
    for point in front(both):
        x = point.x
        assert str(point).startswith(f"gain = {x['gain']}, size = {x['size']}, step = {x['step']:g}:")


def test_the_best_parameters_contain_the_constants():
    def objective(trial):
        return (
            trial.suggest_float("x", 0, 1) + trial.suggest_int("n", 3, 3) + len(trial.suggest_categorical("m", ["a"]))
        )

    study = optuna.create_study(direction="maximize", sampler=DuelSampler(seed=0))
    study.optimize(paired(objective), n_trials=3)
    assert best_params(study).keys() == {"x", "n", "m"}
    assert (best_params(study)["n"], best_params(study)["m"]) == (3, "a")


@experimental
def test_some_parameters_may_be_fixed_by_optunas_own_wrapper():
    study, instrument = make(), Instrument()
    run(study, 5, instrument)
    study.sampler = optuna.samplers.PartialFixedSampler({"y": 3}, study.sampler)
    run(study, 5, instrument)
    for pair in points(study)[5:]:
        assert pair["y"] == [3.0, 3.0]
    assert recommend(study).readings == 20
    study.sampler.reseed_rng()


class Mode(enum.Enum):
    SLOW = 1
    FAST = 2


def test_a_choice_may_be_any_hashable_object():
    options = (None, True, 3, 2.5, "text", (1, 2), Mode.FAST, frozenset({1}))
    study, seen = make(), []

    def objective(trial):
        seen.append(trial.suggest_categorical("option", options))
        return float(seen[-1] is Mode.FAST)

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # Optuna says that not every storage can keep them
        study.optimize(paired(objective), n_trials=30)
        assert best_params(study)["option"] is Mode.FAST
    assert all(any(value is option for option in options) for value in seen)


# The same rules as an optimizer's.


@dataclass(frozen=True)
class Steady(Law):
    """One's own law: a level that is not known."""

    guard: float | None = 3.0


class Silent(Law):
    """A law that says nothing of itself."""


LAWS = [eq.Tracked(), eq.Tracked(guard=None), eq.Arbitrary(), eq.Constant(), eq.Blocks(10), Steady(), Silent()]


def told_the_same(study, law):
    """Return an optimizer, and yield to it one duel of a study after the other."""
    _, translation = model_of(study, law)
    optimizer = eq.Optimizer(
        translation.space, offset=law, reduction=study.sampler.reduction, minimize=study.direction.name == "MINIMIZE"
    )
    yield optimizer
    for number, trial in enumerate(study.trials):
        pair = TrialPair.of(trial)
        duel, readings = pair.duel(translation.encode), pair.told(trial)
        first = number * len(readings)
        optimizer.study.replay(Asked(first, duel, number))
        for i, reading in enumerate(readings):
            if i:
                optimizer.study.replay(Handed(first + i))
            optimizer.study.replay(Told(first + i, Reading(reading.value)))
        yield number


def same_belief(ours, theirs, grid):
    a, b = ours.posterior.at(grid), theirs.posterior.at(grid)
    np.testing.assert_allclose(a.mean - a.mean[0], b.mean - b.mean[0], rtol=1e-6, atol=1e-6)
    np.testing.assert_allclose(a.psi(0), b.psi(0), rtol=1e-6, atol=1e-6)
    assert (ours.comparisons, ours.knows_unit) == (theirs.comparisons, theirs.knows_unit)
    assert ours.posterior.beta == pytest.approx(theirs.posterior.beta)


def part_of(study, trials):
    """The study as it was when this many trials had finished and the next had been proposed."""
    part = optuna.create_study(direction=study.direction, sampler=study.sampler)
    part.add_trials(study.trials[:trials])
    return part


DIRECTED = [*((law, "maximize") for law in LAWS), (eq.Tracked(), "minimize"), (eq.Arbitrary(), "minimize")]


@pytest.mark.parametrize(
    ("law", "direction"), DIRECTED, ids=[f"{type(law).__name__}{law.guard}-{way}" for law, way in DIRECTED]
)
def test_the_same_duels_lead_an_optimizer_and_a_sampler_to_the_same_belief(law, direction):
    """After every duel: same data, same fits at the same moments, same jumps, same trust."""
    study = make(direction, offset=law, search_space=SPACE)

    class Restless(Instrument):
        def __call__(self, trial):
            jump = 30.0 if 24 <= self.readings < 40 else 0.0
            return super().__call__(trial) + jump + 0.05 * math.sin(1e4 * self.readings)

    run(study, 23, Restless())
    history, grid = told_the_same(study, law), np.random.default_rng(0).random((12, 2))
    optimizer = next(history)
    for number in history:
        model, translation = model_of(part_of(study, number + 1), law)
        belief, _ = model.belief(translation, 96)
        same_belief(belief, optimizer.study.belief, grid)
        assert belief.learned.contradicted == optimizer.study.belief.learned.contradicted
        ours, theirs = belief.learned.fitted, optimizer.study.belief.learned.fitted
        if number >= 3:  # after a fit an optimizer learns all at once, a sampler one by one: the same but for rounding
            assert ours.hyperparameters.theta == pytest.approx(theirs.hyperparameters.theta, rel=1e-6, abs=1e-6)
            assert (len(ours.jumps), len(ours.blips)) == (len(theirs.jumps), len(theirs.blips))


@pytest.mark.parametrize("baseline", [eq.reductions.Zero(), eq.reductions.RunningMean()])
def test_the_same_one_point_duels_lead_to_the_same_belief(baseline):
    study = make(reduction=eq.OnePoint(baseline), search_space=SPACE)
    study.optimize(Instrument(), n_trials=30)
    history, grid = told_the_same(study, eq.Arbitrary()), np.random.default_rng(0).random((12, 2))
    optimizer, steps = next(history), list(history)
    assert len(steps) == 30
    model, translation = model_of(study, eq.Arbitrary())
    assert [*model.taught(translation)] == steps[0 if baseline == eq.reductions.Zero() else 1 :]
    same_belief(model.belief(translation, 96)[0], optimizer.study.belief, grid)


@pytest.mark.parametrize("law", LAWS, ids=lambda law: type(law).__name__ + str(law.guard))
def test_beyond_its_memory_old_duels_are_folded_and_say_nearly_the_same(law):
    """A study that forgets the duels in the middle knows less."""
    study = make(offset=law, memory=16)
    run(study, 50)
    model, translation = model_of(study, law)
    taught = [*model.taught(translation).values()]
    belief = model.belief(translation, 16, trial=50)[0].learned
    assert belief.exact.size == belief.exact.comparisons == len(taught) * (2 if law.learns_readings else 1)
    assert len(belief.exact.digest.source) >= 0.7 * belief.exact.size
    prior, X = LearnedBelief.prior(replace(belief.model, folding=None)), np.random.default_rng(0).random((40, 2))

    def error(known):
        (mean, _), (exact, least) = (each.exact.difference(X[1:], X[0]) for each in (known, whole))
        return float(np.sqrt(np.mean((mean - exact) ** 2 / least)))

    whole = prior.relearned([lesson for lessons in taught for lesson in lessons], belief.fitted)
    some = prior.relearned([lesson for lessons in remembered(taught, 16) for lesson in lessons], belief.fitted)
    if isinstance(law, (eq.Tracked, eq.Arbitrary)):  # laws that the readings follow
        assert error(belief) < 0.3 * error(some)
    fitted = [fit for t in study.trials if (fit := t.system_attrs.get(FIT)) and fit["n"] >= 16]
    growth = [b["n"] / a["n"] for a, b in itertools.pairwise(fitted) if a["n"] != b["n"]]
    assert growth
    assert min(growth) >= 1.19
    assert max(growth) < 1.6


@pytest.mark.parametrize("law", [eq.Tracked(), eq.Arbitrary(), eq.Blocks(4)], ids=repr)
def test_learning_at_once_comes_to_the_same_as_one_by_one(law):
    """Of `told`, in the core: also with a point that met itself, and refitted or watched afterwards."""
    study = make(offset=law)
    run(study, 12)
    model, translation = model_of(study, law)
    grid, point = np.random.default_rng(0).random((20, 2)), np.array([0.5, 0.5])
    told = [lesson for lessons in model.taught(translation).values() for lesson in lessons]
    null = eq.TwoPoint()(eq.Proposal.pair(point, point), np.random.default_rng(0))
    told += teaches(null, [Reading(1.1, place=25), Reading(1.15, place=26)], law, number=12.0)
    belief, _ = model.belief(translation, 96)
    learned = belief.learned.fitted
    together = belief.learned.relearned(told, learned)
    reference = eq.belief.AnywherePosterior(
        together.exact.kernel, together.exact.regularizer, together.exact.confidence, together.exact.offset
    )
    for comparison in told:
        if (comparison.second is None) == law.learns_readings:
            reference = reference.condition(replace(comparison, outcome=comparison.outcome - learned.origin))
    assert together.exact.comparisons == reference.comparisons
    assert together.exact.log_det == pytest.approx(reference.log_det)
    np.testing.assert_allclose(together.exact.at(grid).mean, reference.at(grid).mean, atol=1e-7)
    np.testing.assert_allclose(together.exact.at(grid).variance, reference.at(grid).variance, atol=1e-7)
    assert together.watching().fitted == together.fitted
    assert together.refitted().fitted != together.fitted
    if law.guard is not None:
        exact, duels = together.exact, together.duels
        assert len(duels.observations) == 12  # the point that met itself says nothing of f
        assert duels.comparisons == 13
        assert (duels.kernel, together.fitted) == (exact.kernel, learned)
        assert duels.regularizer >= 2 * exact.regularizer
        again = together.refitted()
        assert again.duels.kernel == again.exact.kernel != duels.kernel


def source_of(pattern):
    files = sorted(Path(eq.__file__).parent.joinpath("integrations").glob(pattern))
    assert files
    return "".join(path.read_text(encoding="utf-8") for path in files)


def test_it_stays_an_adapter():
    source = source_of("optuna/*.py")
    assert source.count("\n") <= 1050
    assert "Comparison(" not in source
    assert not any(f"isinstance({what}" in source for what in ("law", "self.law", "offset"))


def test_what_is_no_adapter_stands_beside_it():
    """Racing needs no sampler, and a belief is rebuilt from a stored fit without Optuna."""
    assert "import optuna" not in source_of("remembering.py")
    assert "from optuna" not in source_of("remembering.py")
    racing = source_of("optuna/racing/*.py")
    assert racing.count("\n") <= 250
    taken = re.findall(r"from equipoise\.integrations\.optuna\.(\w+)", racing)
    assert set(taken) == {"racing"}


# Others' data.

STORED = Path(__file__).parents[1] / "data" / "v0.1.0" / "optuna-journal.log"
OLD = {
    "tracked": ({}, 28, {"x": 0.7009, "y": 2}),
    "arbitrary": ({"offset": eq.Arbitrary()}, 16, {"x": 0.6956, "y": 2}),
    "one-point": ({"reduction": eq.OnePoint(eq.reductions.RunningMean())}, 9, {"x": 0.5218, "y": 2}),
}


@pytest.mark.parametrize("name", OLD)
@experimental
def test_a_study_of_version_0_1_0_goes_on(name, tmp_path):
    """Every duel it has is learned from, though what it has fitted is not used; it had a trial left open."""
    options, readings, was = OLD[name]
    path = str(shutil.copy(STORED, tmp_path))
    storage = JournalStorage(JournalFileBackend(path))
    study = optuna.load_study(study_name=name, storage=storage, sampler=DuelSampler(seed=0, **options))
    best = recommend(study)
    assert best.readings == readings
    assert best.x["x"] == pytest.approx(was["x"], abs=0.15 if name == "one-point" else 0.03)
    objective = Instrument(drift=-0.05 if name == "arbitrary" else 0.05)
    sign = -1 if name == "arbitrary" else 1
    trials = len(study.trials)
    measure = (lambda f: f) if "reduction" in options else paired
    study.optimize(measure(lambda trial: sign * objective(trial)), n_trials=4)
    assert [t.state for t in study.trials[trials:]] == [TrialState.COMPLETE] * 4
    assert recommend(study).readings == readings + objective.readings
    assert any(FIT in t.system_attrs for t in study.trials[trials:])


LEARNED = {
    "type": "Hyperparameters",
    "lengthscales": [1.0, 1.0],
    "variance": 1.0,
    "noise": 1.0,
    "offset": [],
    "step": 1,
}
MALFORMED = [
    {PAIR: 5},
    {PAIR: {}},
    {PAIR: {"p": {"x": [0.1]}, "o": 0, "n": 8}},
    {PAIR: {"p": {"x": ["a", 0.2], "y": [1, 2]}, "o": 0, "n": 8}},
    {PAIR: {"p": {"x": [math.nan, 0.2], "y": [1, 2]}, "o": 0, "n": 8}},
    {PAIR: {"p": [1, 2]}},
    {PAIR: {"p": {"x": [0.1, 0.2], "y": [1, 2]}, "o": 0, "n": 8, "y": [1.0]}},
    {PAIR: {"p": {"x": [0.1, 0.2], "y": [1, 2]}, "s": "plus", "c": 0, "m": 0}},
    {FIT: 5},
    {FIT: {"n": 6}},
    {FIT: {"g": "b", "n": -1, "k": 0, "l": {"type": "Learned", "hyperparameters": LEARNED}}},
    {FIT: {"g": "b 4", "n": 6, "k": 0, "l": {"type": "Learned", "hyperparameters": LEARNED | {"noise": -1.0}}}},
    {FIT: {"g": "b 9", "n": 6, "k": 0, "l": {"type": "Learned", "hyperparameters": LEARNED}}},
    {FIT: {"g": "b 4", "n": 6, "k": 0, "l": {"type": "Learned", "hyperparameters": LEARNED, "jumps": [[1, -2]]}}},
    {FIT: {"g": "b 4", "n": 6, "k": 0, "l": {"type": "RBF"}}},
    {FIT: {"g": "b 4", "n": 6, "k": 0, "l": {"type": "Nobody"}}},
]


@pytest.fixture(scope="module")
def eight_duels():
    study = make()
    run(study, 8)
    return study.trials


@pytest.mark.parametrize("attributes", MALFORMED, ids=json.dumps)
@pytest.mark.parametrize("state", [TrialState.COMPLETE, TrialState.RUNNING], ids=["complete", "running"])
def test_an_attribute_that_makes_no_sense_is_passed_over_with_a_warning(eight_duels, attributes, state):
    study, instrument = make(), Instrument()
    study.add_trials(eight_duels)
    instrument.readings = 16
    done = {"values": [1.0]} if state == TrialState.COMPLETE else {}
    params = {"x": 0.5, "y": 2}
    study.add_trial(create_trial(state=state, params=params, distributions=SPACE, system_attrs=attributes, **done))
    with pytest.warns(Unreadable, match="of trial 8"):
        run(study, 1, instrument)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", Unreadable)
        run(study, 1, instrument)
        model, translation = model_of(study)
        assert set(best_params(study)) == {"x", "y"}
    assert [*model.taught(translation)] == [*range(8), 9, 10]


@pytest.mark.parametrize(
    "shown",
    [{}, {"duel_first": "high", "duel_second": 1.0}, {"duel_first": 2.0}, {"duel_first": 1e999, "duel_second": 0}],
)
def test_readings_of_version_0_1_0_that_are_no_numbers_teach_nothing(shown):
    study = make()
    run(study, 4)
    pair = {"p": {"x": [0.1, 0.2], "y": [1.0, 2.0]}, "o": 0, "n": 4}
    params = {"x": 0.1, "y": 1}
    study.add_trial(
        create_trial(values=[1.0], params=params, distributions=SPACE, system_attrs={PAIR: pair}, user_attrs=shown)
    )
    model, translation = model_of(study)
    assert [*model.taught(translation)] == [0, 1, 2, 3]


def test_a_fit_of_another_law_or_space_is_not_used():
    study = make(offset=eq.Blocks(4))
    run(study, 10)
    for other, law in (
        (SPACE, eq.Blocks(5)),
        ({"x": FloatDistribution(0, 2), "y": IntDistribution(0, 4)}, eq.Blocks(4)),
    ):
        model = StudyModel(law, other)
        model.update(study)
        translation = model.translation(model.search_space())
        _, fit = model.belief(translation, 96)
        assert fit is not None  # all was learned again
        assert fit.duels >= 8
    model, translation = model_of(study, eq.Blocks(4))
    assert model.belief(translation, 96)[1] is None or study.trials[-1].system_attrs.get(FIT, {}).get("n", 0) < 10


def test_both_readings_are_kept_in_one_write(monkeypatch):
    study = make()
    writes, write = [], study._storage.set_trial_system_attr
    monkeypatch.setattr(
        study._storage,
        "set_trial_system_attr",
        lambda i, key, value: writes.append((key, value)) or write(i, key, value),
    )
    run(study, 1)
    trial = study.trials[0]
    ((key, value),) = [entry for entry in writes if "y" in entry[1]]
    assert (key, value["n"]) == (PAIR, 0)
    assert value["y"] == [trial.user_attrs["duel_first"], trial.user_attrs["duel_second"]]
    assert json.loads(json.dumps(value)) == value == trial.system_attrs[PAIR]


def test_the_rival_knows_its_study_and_hooks_reach_the_independent_sampler():
    calls = []

    class Watching(optuna.samplers.RandomSampler):
        def before_trial(self, study, trial):
            calls.append(("before", trial.number))

        def after_trial(self, study, trial, state, values):
            calls.append(("after", trial.number, state, values))

    study, instrument = make(independent_sampler=Watching(0)), Instrument()

    def objective(trial):
        assert trial.study.study_name == study.study_name
        return instrument(trial)

    study.optimize(paired(objective), n_trials=2)
    done = [("after", t.number, TrialState.COMPLETE, [t.value]) for t in study.trials]
    assert calls == [("before", 0), done[0], ("before", 1), done[1]]


@pytest.mark.parametrize("choices", [[True, 1], [0, False], [1, 2, 1.0], ["a", "a"]])
def test_choices_that_compare_equal_are_refused(choices):
    def objective(trial):
        return float(trial.suggest_categorical("mode", choices) is choices[0])

    for study in (make(), make(search_space={"mode": CategoricalDistribution(choices)})):
        with pytest.raises(ValueError, match="choices of 'mode' must not compare equal"):
            study.optimize(paired(objective), n_trials=1)
    with pytest.raises(ValueError, match="must not compare equal"):
        make(reduction=eq.OnePoint()).optimize(objective, n_trials=1)


# Storage, and what is kept in it.


def test_everything_kept_is_short_json():
    study = make()
    run(study, 40)
    for trial in study.trials:
        kept = {key: json.dumps(value) for key, value in trial.system_attrs.items()}
        assert set(kept) <= {PAIR, FIT}
        assert len(kept[PAIR]) < 150
        assert len(kept.get(FIT, "")) < 800
    fits = [t.number for t in study.trials if FIT in t.system_attrs]
    assert fits[0] == 3  # six readings
    assert len(fits) < 14


def test_a_fresh_process_goes_on_as_the_old_one_would_have():
    """The sampler is thrown away after every trial: what it knew is in the storage."""
    study, other = make(), make()
    run(study, 25)
    instrument = Instrument()
    for _ in range(25):
        other.sampler = DuelSampler(seed=0)
        run(other, 1, instrument)
    assert points(study) == points(other)
    twin = pickle.loads(pickle.dumps(study.sampler))
    assert twin.recommend(study).x == best_params(study)
    loaded = optuna.create_study(direction="maximize", sampler=optuna.samplers.RandomSampler())
    loaded.add_trials(study.trials)
    assert recommend(loaded).x["x"] == pytest.approx(best_params(study)["x"], abs=1e-3)


@pytest.mark.parametrize("law", [eq.Tracked(), eq.Arbitrary()])
def test_learning_what_is_new_comes_to_the_same_as_learning_everything_again(law):
    """Trials finish out of order, some fail; a rebuild after each agrees."""
    study, measure, rng = make(offset=law), paired(Instrument()), np.random.default_rng(3)
    seasoned, memory, open_trials = StudyModel(law), 24, []
    grid = np.array([[x, y] for x in np.linspace(0, 1, 9) for y in (0.0, 0.5)])
    for step in range(70):
        trial = study.ask()
        open_trials.append((trial, measure(trial)))
        if len(open_trials) > 3:
            trial, value = open_trials.pop(rng.integers(len(open_trials)))
            study.tell(trial, *([None, TrialState.FAIL] if step % 7 == 0 else [value]))
        if step < 20 or step % 5:
            continue
        seasoned.update(study)
        fresh, translation = model_of(study, law)
        ours, _ = seasoned.belief(seasoned.translation(seasoned.search_space()), memory)
        theirs, _ = fresh.belief(translation, memory)
        assert ours.comparisons == theirs.comparisons
        a, b = ours.posterior.at(grid), theirs.posterior.at(grid)
        np.testing.assert_allclose(a.mean, b.mean, atol=1e-9)
        np.testing.assert_allclose(a.psi(0), b.psi(0), atol=1e-9)


@given(st.integers(0, 400), st.integers(2, 130))
def test_memory_holds_the_first_and_the_last(n, memory):
    kept = [*remembered(range(n), memory)]
    assert len(kept) == len(set(kept)) == min(n, memory)
    assert kept == sorted(kept)
    assert set(range(min(n, memory // 2))) <= set(kept)
    assert set(range(max(n - memory // 2, 0), n)) <= set(kept)


def test_what_others_are_measuring_is_anticipated_unless_they_are_long_gone():
    study = make()
    run(study, 8)
    others = [study.ask() for _ in range(3)]
    for trial in others:
        _ = trial.relative_params
    model, translation = model_of(study)
    belief, _ = model.belief(translation, 96)
    assert model.anticipating(belief, translation).comparisons == belief.comparisons + 6
    for _ in range(STALE_TRIALS):
        study.tell(study.ask(), state=TrialState.FAIL)
    model.update(study)
    assert model.anticipating(belief, translation) is belief


def test_a_fit_is_kept_to_the_last_bit():
    study = make()
    run(study, 10)
    (content,) = [t.system_attrs[FIT] for t in study.trials if FIT in t.system_attrs][-1:]
    fit = fit_from_json(json.loads(json.dumps(content)))
    assert fit_to_json(fit) == content
    assert fit == fit_from_json(content)


def test_two_studies_may_share_a_sampler():
    sampler = DuelSampler(seed=0)
    one, two = (optuna.create_study(direction=d, sampler=sampler) for d in ("maximize", "minimize"))
    for _ in range(3):
        run(one, 4)
        run(two, 4)
    assert best_params(one)["x"] == pytest.approx(0.7, abs=0.2)
    assert best_params(two)["x"] == pytest.approx(0.0, abs=0.2)


# Spaces.

FLOATS = st.tuples(st.floats(-1e3, 1e3), st.floats(1e-3, 1e3), st.none() | st.floats(1e-3, 1e3)).map(
    lambda t: FloatDistribution(t[0], t[0] + t[1], step=t[2])
)
LOGS = st.tuples(st.floats(1e-9, 1e3), st.floats(1.5, 1e6)).map(
    lambda t: FloatDistribution(t[0], t[0] * t[1], log=True)
)
INTS = st.tuples(st.integers(-(10**9), 10**9), st.integers(1, 10**9), st.integers(1, 10**4)).map(
    lambda t: IntDistribution(t[0], t[0] + t[1], step=t[2])
)
LOG_INTS = st.tuples(st.integers(1, 10**6), st.integers(1, 10**9)).map(
    lambda t: IntDistribution(t[0], sum(t), log=True)
)
CHOICES = st.integers(2, 9).map(lambda n: CategoricalDistribution([f"c{i}" for i in range(n)]))
HUGE = st.just(IntDistribution(0, 2**50)) | st.just(IntDistribution(1, 2**50, log=True))


@settings(max_examples=150, deadline=None)
@given(st.lists(FLOATS | LOGS | INTS | LOG_INTS | CHOICES | HUGE, min_size=1, max_size=4), st.integers(0, 2**32 - 1))
@pytest.mark.filterwarnings("ignore:The distribution is specified by")
def test_what_is_decoded_may_be_suggested_and_is_encoded_again(distributions, seed):
    named = {f"p {i}": d for i, d in enumerate(distributions) if not d.single()}
    if not named:
        return
    translation, rng = Translation(named), np.random.default_rng(seed)
    for point in translation.space.candidates(rng)[:16]:
        values = translation.decode(point)
        for name, d in named.items():
            assert d._contains(values[name])
            assert internal(d, d.to_external_repr(values[name])) == values[name]
        again = translation.decode(translation.encode(values))
        assert again == pytest.approx(values, rel=1e-9, abs=1e-9)
    assert translation.encode({}) is None
    assert translation.signature == Translation(dict(named)).signature
