"""Counts and shares in Optuna: objectives that return them, what is learned, stored and said, and what is refused."""

import math

import numpy as np
import optuna
import pytest

import equipoise as eq
from equipoise.integrations.optuna import DuelSampler, paired, recommend

COUNTS, SHARES = eq.likelihoods.Poisson(), eq.likelihoods.Binomial()


def counted(seed, sign=1.0):
    """Return an objective with few events at the best setting, x = 0.7 or worst, whose rate drifts."""
    rng, drift = np.random.default_rng(seed), [0.0]

    def objective(trial):
        x = trial.suggest_float("x", 0, 1)
        drift[0] += 0.1 * rng.normal()
        return int(rng.poisson(math.exp(1.5 - sign * 6 * (x - 0.7) ** 2 + drift[0])))

    return objective


def shared(seed):
    rng = np.random.default_rng(seed)

    def objective(trial):
        x, n = trial.suggest_float("x", 0, 1), int(rng.integers(50, 150))
        return int(rng.binomial(n, 1 / (1 + math.exp(6 * (x - 0.7) ** 2 - 1)))), n

    return objective


def study_of(objective, likelihood, trials=30, direction="maximize", **more):
    study = optuna.create_study(direction=direction, sampler=DuelSampler(seed=0, likelihood=likelihood, **more))
    study.optimize(paired(objective), n_trials=trials)
    return study


@pytest.mark.parametrize("direction", ["maximize", "minimize"])
def test_counts_are_learned_as_counts(direction):
    best = recommend(study_of(counted(2, 1.0 if direction == "maximize" else -1.0), COUNTS, 40, direction))
    assert abs(best.x["x"] - 0.7) < 0.2
    assert best.unit == "in log rate"
    assert "a factor of" in str(best)
    assert math.isfinite(best.gap_bound)


def test_a_share_is_stored_with_its_trials_and_shown_as_a_share():
    study = study_of(shared(0), SHARES)
    assert abs(recommend(study).x["x"] - 0.7) < 0.2
    for trial in study.trials:
        pair = trial.system_attrs["eq"]
        first, second = (k / n for k, n in zip(pair["y"], pair["v"]["of"], strict=True))
        assert trial.value == pytest.approx(first - second)


def test_another_process_knows_the_same():
    study = study_of(counted(1), COUNTS, 24)
    again = optuna.create_study(direction="maximize", sampler=DuelSampler(seed=0, likelihood=COUNTS))
    again.add_trials(study.get_trials())
    assert recommend(again).x == pytest.approx(recommend(study).x, rel=1e-6)
    assert recommend(again).gap_bound == pytest.approx(recommend(study).gap_bound, rel=1e-6)


def test_many_counts_are_folded():
    best = recommend(study_of(counted(3), COUNTS, 30, memory=12))
    assert abs(best.x["x"] - 0.7) < 0.3


def test_a_count_may_have_further_numbers_beside_it():
    objective = counted(0)

    def measured(trial):
        found = objective(trial)
        trial.set_user_attr("size", trial.params["x"])
        return found

    best = recommend(study_of(measured, COUNTS, 30, limits=["size <= 0.6"]))
    assert best.x["x"] < 0.62


@pytest.mark.parametrize(
    ("likelihood", "value", "words"),
    [
        (COUNTS, 1.5, "`objective` must be a whole number of at least 0, got 1.5"),
        (COUNTS, -1, "`objective` must be a whole number of at least 0, got -1"),
        (SHARES, 17, r"`objective` must be successes and trials, such as \(17, 200\), got 17"),
    ],
)
def test_what_is_no_count_is_refused(likelihood, value, words):
    with pytest.raises((TypeError, ValueError), match=words):
        study_of(lambda trial: (trial.suggest_float("x", 0, 1), value)[1], likelihood, 1)


def test_likelihoods_that_cannot_be_are_refused():
    with pytest.raises(TypeError, match="`likelihood` must be an object such as Poisson"):
        DuelSampler(likelihood=eq.likelihoods.Poisson)
    with pytest.raises(ValueError, match=r"`likelihood` must be Gaussian\(\) for duels of a single reading"):
        DuelSampler(likelihood=COUNTS, reduction=eq.OnePoint())
    with pytest.raises(ValueError, match="`limits` must be of outputs that are not counts"):
        study_of(counted(0), COUNTS, 2, limits=["value <= 3"])
