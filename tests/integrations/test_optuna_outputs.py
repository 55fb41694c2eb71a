"""Optuna with more than one number per trial: limits, constraints, several objectives; all readings drift."""

import math

import numpy as np
import pytest

optuna = pytest.importorskip("optuna", reason="needs the extra `optuna`")

from optuna.trial import TrialState  # noqa: E402

import equipoise as eq  # noqa: E402
from equipoise.integrations.optuna import DuelSampler, best_params, front, paired, recommend  # noqa: E402
from equipoise.integrations.optuna.records import FIT, PAIR  # noqa: E402

pytestmark = pytest.mark.filterwarnings("ignore::optuna.exceptions.ExperimentalWarning")
START = {"x": 0.3, "y": 0.3}


def flux(params):
    return 10 * math.exp(-4 * (params["x"] - 0.7) ** 2 - 2 * (params["y"] - 0.6) ** 2)


def size(params):
    return 2 + params["x"] * params["y"]


class Beam:
    """Flux, loss and size, of which each drifts by more than a pair differs."""

    def __init__(self):
        self.readings = 0

    def __call__(self, trial):
        self.readings += 1
        trial.suggest_float("x", 0, 1)
        trial.suggest_float("y", 0, 1)
        trial.set_user_attr("size", size(trial.params) - 0.1 * self.readings)
        return flux(trial.params) + 0.3 * self.readings

    def both(self, trial):
        return self(trial), trial.user_attrs["size"]


def make(objective, trials=24, directions=("maximize",), **options):
    study = optuna.create_study(directions=[*directions], sampler=DuelSampler(seed=0, **options))
    study.enqueue_trial(START)
    study.optimize(paired(objective), n_trials=trials)
    return study


def test_a_limit_against_the_start_holds_though_its_output_drifts():
    study = make(Beam(), limits=["size <= start + 0.1"])
    best = recommend(study)
    assert best.usability.usable
    assert size(best.x) <= size(START) + 0.1 + 0.01
    assert flux(best.x) > flux(START) + 1
    assert "size <= start + 0.1" in str(best)
    pair = study.trials[3].system_attrs[PAIR]
    assert pair["v"]["size"] == [study.trials[3].user_attrs["size"], study.trials[3].user_attrs["second:size"]]
    assert best_params(study) == best.x


def test_constraints_of_either_kind_are_kept_and_hold():
    def constrained(trial):
        value = Beam()(trial)
        if hasattr(trial, "set_constraint"):  # since Optuna 5
            trial.set_constraint("left", trial.params["x"] - 0.6)
        return value

    study = make(constrained, constraints_func=lambda trial: [trial.params["y"] - 0.5, -trial.user_attrs["size"]])
    best = recommend(study)
    assert best.usability.usable
    assert best.x["y"] <= 0.51
    assert best.x["x"] <= 0.61 or not hasattr(optuna.Trial, "set_constraint")
    assert abs(best.x["y"] - 0.5) < 0.1
    for trial in study.trials:
        assert trial.system_attrs["constraints"] == [trial.params["y"] - 0.5, -trial.user_attrs["size"]]
        first, second = trial.system_attrs[PAIR]["v"]["constraints:0"]
        assert (first, second) == tuple(y - 0.5 for y in trial.system_attrs[PAIR]["p"]["y"])
    study.sampler = optuna.samplers.RandomSampler()
    assert recommend(study).usability is not None  # what is kept says that there are constraints


@pytest.mark.skipif(not hasattr(optuna.Trial, "set_constraint"), reason="since Optuna 5")
@pytest.mark.filterwarnings("ignore:The constraint value is ignored")
def test_a_constraint_of_the_trial_that_was_lost_is_not_learned_by_the_one_that_repeats_it():
    def constrained(trial):
        trial.set_constraint("left", trial.suggest_float("x", 0, 1) - 0.6)
        return trial.params["x"]

    study = optuna.create_study(direction="maximize", sampler=DuelSampler(seed=0))
    study.optimize(paired(constrained), n_trials=2)
    inherited = {"constraints:left": -9.0, PAIR: study.trials[1].system_attrs[PAIR]}
    study.add_trial(optuna.trial.create_trial(state=TrialState.WAITING, system_attrs=inherited))
    study.optimize(paired(constrained), n_trials=1)
    assert "v" in study.trials[1].system_attrs[PAIR]
    assert "v" not in study.trials[2].system_attrs[PAIR]  # Optuna keeps the first value
    assert study.trials[2].system_attrs[PAIR]["n"] == 2


def test_several_objectives_have_a_front_of_true_compromises():
    study = make(Beam().both, 30, ("maximize", "minimize"))
    study.set_metric_names(["flux", "size"])
    points = front(study)
    assert len(points) >= 4
    gains = np.array([[flux(p.x) - flux(START), size(p.x) - size(START)] for p in points])
    claims = [[p.against_start[name] for name in ("flux", "size")] for p in points]
    low, high = (np.array([[getattr(c, end) for c in row] for row in claims]) for end in ("low", "high"))
    assert np.mean((low - 0.02 <= gains) & (gains <= high + 0.02)) >= 0.9
    best = recommend(study, prefer="flux")
    assert flux(best.x) > 9.5
    assert best.x == points[0].x
    assert best.compromise.against_start["flux"].value == points[0].against_start["flux"].value
    small = recommend(study, weights={"flux": 1, "size": 5})
    assert size(small.x) < size(best.x)
    plain = {tuple(trial.params.values()) for trial in study.best_trials}
    assert {tuple(p.x.values()) for p in points} != plain  # differences to another rival each are no front


def test_several_objectives_may_have_limits_by_their_metric_names():
    study = optuna.create_study(
        directions=["maximize", "minimize"], sampler=DuelSampler(seed=0, limits=["size <= start"])
    )
    study.set_metric_names(["flux", "size"])
    study.enqueue_trial(START)
    study.optimize(paired(Beam().both), n_trials=24)
    points = front(study)
    assert points
    assert all(size(point.x) <= size(START) + 0.02 and point.holds >= 0.95 for point in points)


def test_a_fresh_process_goes_on_as_the_old_one_would_have():
    def run(fresh):
        study, objective = make(Beam(), 0, limits=["size <= start + 0.1"]), paired(Beam())
        for _ in range(12):
            study.sampler = DuelSampler(seed=0, limits=["size <= start + 0.1"]) if fresh else study.sampler
            study.optimize(objective, n_trials=1)
        return study

    old, new = run(False), run(True)
    assert [t.params for t in old.trials] == [t.params for t in new.trials]
    assert any(f"{FIT}:size" in trial.system_attrs for trial in old.trials)


def test_a_number_that_is_missing_costs_its_output_alone():
    beam = Beam()

    def sometimes(trial):
        value = beam(trial)
        if beam.readings % 5 == 0:
            trial.set_user_attr("size", None)
        return value

    study = make(sometimes, 12, limits=["size <= start + 0.1"])
    assert {t.state for t in study.trials} == {TrialState.COMPLETE}
    assert 0 < sum("v" not in t.system_attrs[PAIR] for t in study.trials) < 12
    assert recommend(study).readings == 24


def test_what_cannot_be_is_refused_in_words():
    with pytest.raises(RuntimeError, match="`limits` need the user attribute 'loss', got none for trial 0"):
        make(Beam(), 1, limits=["loss <= 3"])
    with pytest.raises(ValueError, match="each of `limits` must be a text"):
        DuelSampler(limits=["loss"])
    with pytest.raises(ValueError, match="`objective` must return 2 values"):
        make(Beam(), 1, ("maximize", "minimize"))
    one = optuna.create_study(sampler=DuelSampler(reduction=eq.OnePoint(), limits=["size <= 3"]))
    with pytest.raises(ValueError, match=r"`reduction` must be TwoPoint\(\) with several objectives or limits"):
        one.optimize(Beam(), n_trials=1)
    single = make(Beam(), 2)
    with pytest.raises(ValueError, match="must have several objectives to have a front"):
        front(single)
    with pytest.raises(ValueError, match="choose among several objectives"):
        recommend(single, prefer="flux")
    failing = make(lambda trial: (Beam()(trial), math.nan), 3, ("maximize", "minimize"))
    assert {t.state for t in failing.trials} == {TrialState.FAIL}
