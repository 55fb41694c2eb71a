"""Two engines: repetitions in step as a fleet are the repetitions run one by one."""

import math
import sys

import numpy as np
import pytest

from equipoise.lab.experiments import Experiment, sweep
from equipoise.lab.experiments.batches import Batch, divided
from equipoise.lab.experiments.figures import FIGURES
from equipoise.lab.experiments.paper import reproduce
from invoking import invoke

OTHER_COINS = ("BOSE", "SemiTS", "SemiTS-authors")
"""Learners whose readings are the same in law only."""

pytestmark = pytest.mark.filterwarnings("ignore")  # of what a learner that is fooled should not claim


def fleet(learner, function="linear", bias="drift", readings=40):
    return Experiment(learner, function, bias, readings, engine="fleet")


def numbers(curves):
    """What does not depend on the clock."""
    return [(result.repetition, result.regret, result.recommended) for each in curves for result in each.results]


def batch(experiment, repetitions):
    return Batch(tuple((experiment.plan, i) for i in repetitions))


def repetitions_of(batches):
    return [tuple(i for _, i in batch.runs) for batch in batches]


def final(results):
    return np.array([result.regret[-1] for _, result in results])


def test_both_engines_draw_the_same_figure():
    fast, slow = (reproduce("linear", repetitions=2, readings=50, engine=e, jobs=1) for e in ("fleet", "one-by-one"))
    for cell, curves in fast.outcome.items():
        expected = slow.outcome[cell]
        assert curves.at == expected.at
        assert curves.regret.shape == expected.regret.shape
        if cell[1] not in OTHER_COINS:
            np.testing.assert_allclose(curves.regret, expected.regret, rtol=1e-7, atol=1e-9)  # eight digits are kept
            regrets = curves.column("recommended_regret"), expected.column("recommended_regret")
            np.testing.assert_allclose(*regrets, rtol=1e-7, atol=1e-9)
    assert "engine fleet" in fast.settings
    assert "engine one-by-one" in slow.settings


@pytest.mark.parametrize("learner", OTHER_COINS)
def test_other_coins_cost_the_same(learner):
    """Both meet the same worlds, so their difference is that of the coins alone; five deviations: chance 1e-6."""
    repetitions = tuple(range(20))
    settings = {"learner": learner, "function": "linear", "readings": 50}
    fast, slow = (final(batch(Experiment(**settings, engine=e), repetitions).run()) for e in ("fleet", "one-by-one"))
    difference = fast - slow
    assert np.any(difference != 0)
    assert abs(difference.mean()) <= 5 * difference.std(ddof=1) / math.sqrt(len(repetitions))


@pytest.mark.parametrize("learner", ["UCB", "IDS-one", "IDS-two", "BOSE", "SemiTS"])
def test_a_repetition_does_not_depend_on_those_it_is_run_with(learner):
    drift, none = fleet(learner), fleet(learner, bias="none")
    together = Batch(batch(drift, (0, 1, 2)).runs + batch(none, (1, 2)).runs).run()
    alone = batch(drift, (2,)).run() + batch(none, (2,)).run()
    assert [(experiment, result.repetition) for experiment, result in alone] == [(drift, 2), (none, 2)]
    assert final(alone) == pytest.approx(final(together)[[2, 4]], rel=1e-7)


def test_a_batch_is_a_function_of_its_settings():
    first, second = (final(batch(fleet("SemiTS"), (0, 1)).run()) for _ in range(2))
    np.testing.assert_array_equal(first, second)
    assert first[0] != first[1]


def test_processes_give_what_one_process_gives():
    experiments = [fleet("UCB"), fleet("SemiTS"), Experiment("IDS-two", "linear", "drift", readings=40)]
    assert numbers(sweep(experiments, 3, jobs=2)) == numbers(sweep(experiments, 3, jobs=1))


def test_what_is_there_is_not_run_again(tmp_path, monkeypatch):
    (before,) = sweep([fleet("IDS-two")], 2, out=tmp_path, jobs=1)
    ran, run = [], Batch.run
    monkeypatch.setattr(Batch, "run", lambda batch: ran.extend(repetitions_of([batch])) or run(batch))
    (after,) = sweep([fleet("IDS-two")], 5, out=tmp_path, jobs=1)
    assert ran == [(2, 3, 4)]
    assert numbers([after])[:2] == numbers([before])


def test_the_results_of_two_engines_are_kept_apart(tmp_path):
    experiments = [Experiment("UCB", "linear", readings=5, engine=engine) for engine in ("fleet", "one-by-one")]
    sweep(experiments, 1, out=tmp_path, jobs=1)
    assert len(list(tmp_path.iterdir())) == 2


def test_batches_are_as_large_as_the_caches_bear():
    grid = fleet("UCB", "camelback-grid")
    assert [len(each) for each in repetitions_of(divided([(grid, i) for i in range(3, 23)]))] == [9, 9, 2]
    assert repetitions_of(divided([(fleet("UCB"), i) for i in (0, 4, 7)])) == [(0, 4, 7)]
    assert repetitions_of(divided([(Experiment("UCB", "linear"), i) for i in (0, 4)])) == [(0,), (4,)]
    assert divided([]) == []


def test_experiments_that_differ_in_their_bias_share_a_batch():
    runs = [(fleet(learner, bias=bias), i) for learner in ("UCB", "BOSE") for bias in ("none", "drift") for i in (0, 1)]
    costly, cheap = divided(runs)
    assert [(plan.experiment, i) for plan, i in costly.runs] == runs[4:]  # what costs most comes first
    assert [(plan.experiment, i) for plan, i in cheap.runs] == runs[:4]
    assert len(divided([(fleet("UCB", readings=n), 0) for n in (40, 50)])) == 2


def test_every_worker_gets_some_batches():
    runs = [(fleet("UCB", bias=bias), i) for bias in ("none", "drift") for i in range(1000)]
    assert {len(each.runs) for each in divided(runs, workers=2)} == {500}
    assert {len(each.runs) for each in divided(runs, workers=100)} == {50}


@pytest.mark.parametrize(("learner", "function"), [("max-info", "linear"), ("UCB", "branin")])
def test_what_a_fleet_cannot_run_is_refused_before_anything_is_run(learner, function, tmp_path):
    with pytest.raises(ValueError, match="must"):
        sweep([fleet("UCB"), fleet(learner, function)], 2, out=tmp_path / "out", jobs=1)
    assert not (tmp_path / "out").exists()


def test_every_experiment_of_the_paper_suits_a_fleet():
    for figure in FIGURES.values():
        for experiment in figure.experiments(readings=1, engine="fleet").values():
            assert divided([(experiment, 0)])


def test_the_command_takes_the_engine(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)  # no picture: it costs more than the runs
    command = ("paper", "linear", "--repetitions", 1, "--readings", 2, "--jobs", 1, "--out", tmp_path)
    assert "engine fleet" in invoke(*command).stdout
    assert "engine one-by-one" in invoke(*command, "--engine", "one-by-one").stdout
    assert "'fleet', 'one-by-one'" in invoke(*command, "--engine", "diesel", code=2).stderr
