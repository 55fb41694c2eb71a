"""`undo` takes back the last step and nothing else, whatever it was; a further one takes back the step before."""

import numpy as np
import pytest

import equipoise as eq

SPACE = eq.Space(q1=eq.Float(0, 1))
NAMES = eq.Finite(["espresso", "filter", "latte"])


@pytest.fixture
def opt(tmp_path):
    """A study with four readings, and what the log says of it."""
    opt = eq.Optimizer(SPACE, log=tmp_path / "study.jsonl", rng=0)
    for value in (0.1, 0.2, 0.3, 0.4):
        opt.tell(opt.ask(), value)
    return opt


@pytest.fixture
def judged(tmp_path):
    opt = eq.Optimizer(NAMES, log=tmp_path / "study.jsonl", rng=0)
    for answer in ("first", "second", "equal"):
        opt.tell(opt.ask_pair(judge="anna"), answer)
    return opt


def values(opt):
    return {record.trial: record.value for record in opt.records(aside=False)}


def same_when_resumed(opt):
    """The log says the same, and a further undo would take back the same."""
    again, points = eq.resume(opt.study.log), opt.space.candidates(np.random.default_rng(0))[:9]
    assert [repr(record) for record in again.records()] == [repr(record) for record in opt.records()]
    assert again.study.answers() == opt.study.answers()
    assert again.study.last_answered == opt.study.last_answered
    np.testing.assert_array_equal(again.posterior.mean(points), opt.posterior.mean(points))


def test_of_readings_one_after_the_other(opt):
    assert [opt.undo() for _ in range(4)] == [3, 2, 1, 0]
    assert opt.readings == 0
    assert opt.study.open_trials == (0, 1, 2, 3)
    with pytest.raises(RuntimeError, match="nothing to undo"):
        opt.undo()
    same_when_resumed(opt)


def test_of_a_correction_the_former_reading_stands_again(opt):
    before = opt.posterior.mean(np.array([[0.3]]))
    opt.correct(1, 5.0, time=3.0)
    opt.correct(1, 6.0)
    assert opt.undo() == 1
    assert values(opt)[1] == 5.0
    same_when_resumed(opt)
    assert opt.undo() == 1
    assert values(opt) == {0: 0.1, 1: 0.2, 2: 0.3, 3: 0.4}
    np.testing.assert_allclose(opt.posterior.mean(np.array([[0.3]])), before)
    same_when_resumed(opt)
    assert opt.undo() == 3  # the step before: the last reading
    assert values(opt)[3] is None
    opt.tell(3, 0.5)
    assert opt.undo() == 3
    assert opt.undo() == 2


def test_of_a_retraction_it_is_told_again(opt):
    opt.retract(2)
    assert opt.undo() == 2
    assert values(opt) == {0: 0.1, 1: 0.2, 2: 0.3, 3: 0.4}
    same_when_resumed(opt)
    assert opt.undo() == 3


def test_of_a_retraction_that_was_corrected_before(opt):
    opt.correct(2, 0.9)
    opt.retract(2)
    opt.undo()
    assert values(opt)[2] == 0.9
    opt.undo()
    assert values(opt)[2] == 0.3
    same_when_resumed(opt)


def test_of_a_retraction_whose_trial_was_told_anew(opt):
    opt.retract(2)
    opt.study.expire(2)
    assert opt.ask().id == 2
    opt.tell(2, 0.7)
    assert opt.undo() == 2
    assert values(opt)[2] is None
    same_when_resumed(opt)


def test_of_a_retraction_whose_trial_waits(opt):
    opt.retract(3)
    opt.study.expire(3)
    with pytest.raises(RuntimeError, match="can no longer be undone"):
        opt.undo()


@pytest.mark.filterwarnings("ignore::equipoise.DuelGivenUp")
def test_of_a_failure(opt):
    trial = opt.ask()
    opt.tell(trial, failed="no beam")
    opt.retract(trial)
    opt.undo()
    assert opt.records()[-1].failed == "no beam"
    opt.undo()
    assert trial.id in opt.study.open_trials
    same_when_resumed(opt)


def test_of_what_nobody_asked_for(opt):
    number = opt.add({"q1": 0.5}, 7.0, block="2025")
    opt.correct(number, 8.0)
    opt.retract(number)
    for value in (8.0, 7.0):
        assert opt.undo() == number
        assert values(opt)[number] == value
        same_when_resumed(opt)
    opt.undo()
    assert number not in values(opt)
    assert opt.undo() == 3


def test_of_judgements(judged):
    first = judged.study.answers()[0][0]
    judged.correct(first, "equal")
    assert judged.undo() == first.id
    assert [answer for _, answer in judged.study.answers()] == ["first", "second", "equal"]
    judged.retract(first)
    assert judged.undo() == first.id
    assert sorted(answer for _, answer in judged.study.answers()) == ["equal", "first", "second"]
    same_when_resumed(judged)
    judged.tell(judged.ask_pair(judge="anna"), failed="cold")
    judged.undo()
    assert len(judged.study.open_pairs) == 1
    number = judged.add("latte", "first", against="filter")
    assert judged.undo() == number
    assert judged.judgements == 3


def test_in_the_shell(opt):
    from invoking import invoke

    invoke("correct", opt.study.log, 1, 2.5)
    assert "0.2 again" in invoke("undo", opt.study.log).output
    assert invoke("undo", opt.study.log, "--json").data == {"id": 3, "retracted": True}
