"""Blocks in studies of Optuna: by the sampler's constructor, and by a trial's own attribute."""

import numpy as np
import optuna
import pytest

from equipoise.integrations.optuna import DuelSampler, best_params, paired

optuna.logging.set_verbosity(optuna.logging.ERROR)


def test_readings_belong_to_the_block_of_their_process_or_of_their_trial():
    storage, rng = optuna.storages.InMemoryStorage(), np.random.default_rng(0)
    levels = {"host a": 40.0, "host b": -25.0, "host c": 3.0}

    def objective(trial):
        block = "host c" if trial.number % 5 == 4 else trial.study.sampler.block
        trial.set_user_attr("block", block) if block == "host c" else None
        return -((trial.suggest_float("x", 0, 1) - 0.7) ** 2) + levels[block] + 0.005 * rng.normal()

    for block in ("host a", "host b"):
        study = optuna.create_study(
            storage=storage,
            study_name="s",
            direction="maximize",
            sampler=DuelSampler(seed=1, block=block),
            load_if_exists=True,
        )
        study.optimize(paired(objective), n_trials=14)
    assert best_params(study)["x"] == pytest.approx(0.7, abs=0.1)
    sampler = study.sampler
    model = sampler._model(study)
    belief, _ = model.belief(model.translation(model.search_space()), sampler.memory)
    names = {each.name for each in belief.learned.form.law.hyperparameters}
    assert {"block", "effect"} <= names
    blocks = set(belief.learned.exact.observations.moments.block.tolist())
    assert blocks == set(levels)


def test_a_block_is_a_name():
    with pytest.raises(TypeError, match="`block` must be a name, got 7"):
        DuelSampler(block=7)
