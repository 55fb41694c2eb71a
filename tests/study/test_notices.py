"""Notices about a change: returned, given as a warning, or passed to the user's function."""

import pytest

import equipoise as eq
from equipoise.study import DeadSensor, WrongUnit
from invoking import invoke, new_study

GRID = eq.Finite([[0.0], [0.5], [1.0]])
KNOWN = {"kernel": eq.RBF(0.3), "regularizer": 0.01}


def test_what_is_to_be_known_of_a_reading_is_returned_and_warned_of():
    opt = eq.Optimizer(GRID, rng=0, **KNOWN)
    assert opt.tell(opt.ask(), 0.5) is None
    with pytest.warns(eq.DuelGivenUp) as caught:
        (notice,) = opt.tell(opt.ask(), failed="no beam")
    assert isinstance(notice, eq.DuelGivenUp)
    assert str(notice) == str(caught[0].message) == "duel 0 given up: trial 1 failed (no beam)"
    assert caught[0].filename == __file__


def test_notices_go_to_who_asked_for_them_instead(tmp_path):
    path, found = tmp_path / "study.jsonl", []
    opt = eq.Optimizer(GRID, rng=0, log=path, **KNOWN)
    opt.tell(opt.ask(), 0.5)
    with path.open("ab") as file:
        file.write(b'{"hand":')
    opt = eq.resume(path, notify=found.append)
    assert [type(notice) for notice in found] == [eq.log.TornLine]
    opt.tell(opt.ask(), failed="no beam")
    assert [type(notice) for notice in found[1:]] == [eq.DuelGivenUp]
    with path.open("ab") as file:
        file.write(b'{"hand":')
    opt.ask()  # a line that another process has left torn
    assert [type(notice) for notice in found[2:]] == [eq.log.TornLine]


def test_a_torn_line_is_warned_of_where_the_study_is_used(tmp_path):
    path = tmp_path / "study.jsonl"
    opt = eq.Optimizer(GRID, rng=0, log=path, **KNOWN)
    for use in (opt.ask, lambda: eq.resume(path)):
        with path.open("ab") as file:
            file.write(b'{"hand":')
        with pytest.warns(eq.log.TornLine) as caught:
            use()
        assert caught[0].filename == __file__


def test_a_wrong_unit_is_said_by_the_recommendation():
    opt = eq.Optimizer(GRID, rng=0, **KNOWN)
    for trial in (opt.ask() for _ in range(12)):
        opt.tell(trial, 100.0 * float(trial.x[0]) + trial.id)
    with pytest.warns(WrongUnit) as caught:
        best = opt.recommend()
    assert [type(notice) for notice in best.notices] == [WrongUnit]
    assert caught[0].filename == __file__
    with pytest.warns(WrongUnit):
        opt.compare([0.0], [1.0])


def test_the_shell_says_what_is_to_be_known_and_nothing_of_python(tmp_path):
    study = new_study(tmp_path)
    for trial in range(10):
        invoke("ask", study)
        said = invoke("tell", study, trial, 0.5)
    assert said.stderr.startswith("Note: the last 10 readings are all 0.5: check the sensor")
    assert said.stderr.count("\n") == 1
    assert DeadSensor.__name__ not in said.output
