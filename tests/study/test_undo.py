"""`undo` takes back the last step and nothing else, whatever it was; a further one takes back the step before."""

import numpy as np
import pytest

import equipoise as eq

SPACE = eq.Space(q1=eq.Float(0, 1))
NAMES = eq.Finite(["espresso", "filter", "latte"])


@pytest.fixture
def study(tmp_path):
    """A study with four readings, and what the log says of it."""
    opt = eq.Optimizer(SPACE, log=tmp_path / "study.jsonl", rng=0)
    for value in (0.1, 0.2, 0.3, 0.4):
        opt.tell(opt.ask(), value)
    return opt


@pytest.fixture
def judged(tmp_path):
    opt = eq.Optimizer(NAMES, log=tmp_path / "study.jsonl", rng=0)
    for answer in ("first", "second", "equal"):
        opt.judge(opt.ask_pair(judge="anna"), answer)
    return opt


def values(opt):
    return {record.trial: record.value for record in opt.records(aside=False)}


def same_when_resumed(opt):
    """The log says the same, and a further undo would take back the same."""
    again, points = eq.resume(opt.log), opt.space.candidates(np.random.default_rng(0))[:9]
    assert [repr(record) for record in again.records()] == [repr(record) for record in opt.records()]
    assert again.answers() == opt.answers()
    assert again.last_answered == opt.last_answered
    np.testing.assert_array_equal(again.posterior.mean(points), opt.posterior.mean(points))


def test_of_readings_one_after_the_other(study):
    assert [study.undo() for _ in range(4)] == [3, 2, 1, 0]
    assert study.readings == 0
    assert study.open_trials == (0, 1, 2, 3)
    with pytest.raises(RuntimeError, match="nothing to undo"):
        study.undo()
    same_when_resumed(study)


def test_of_a_correction_the_former_reading_stands_again(study):
    before = study.posterior.mean(np.array([[0.3]]))
    study.correct(1, 5.0, time=3.0)
    study.correct(1, 6.0)
    assert study.undo() == 1
    assert values(study)[1] == 5.0
    same_when_resumed(study)
    assert study.undo() == 1
    assert values(study) == {0: 0.1, 1: 0.2, 2: 0.3, 3: 0.4}
    np.testing.assert_allclose(study.posterior.mean(np.array([[0.3]])), before)
    same_when_resumed(study)
    assert study.undo() == 3  # the step before: the last reading
    assert values(study)[3] is None
    study.tell(3, 0.5)
    assert study.undo() == 3
    assert study.undo() == 2


def test_of_a_retraction_it_is_told_again(study):
    study.retract(2)
    assert study.undo() == 2
    assert values(study) == {0: 0.1, 1: 0.2, 2: 0.3, 3: 0.4}
    same_when_resumed(study)
    assert study.undo() == 3


def test_of_a_retraction_that_was_corrected_before(study):
    study.correct(2, 0.9)
    study.retract(2)
    study.undo()
    assert values(study)[2] == 0.9
    study.undo()
    assert values(study)[2] == 0.3
    same_when_resumed(study)


def test_of_a_retraction_whose_trial_was_told_anew(study):
    study.retract(2)
    study.expire(2)
    assert study.ask().id == 2
    study.tell(2, 0.7)
    assert study.undo() == 2
    assert values(study)[2] is None
    same_when_resumed(study)


def test_of_a_retraction_whose_trial_waits(study):
    study.retract(3)
    study.expire(3)
    with pytest.raises(RuntimeError, match="cannot be undone any more"):
        study.undo()


@pytest.mark.filterwarnings("ignore::equipoise.DuelGivenUp")
def test_of_a_failure(study):
    trial = study.ask()
    study.tell(trial, failed="no beam")
    study.retract(trial)
    study.undo()
    assert study.records()[-1].failed == "no beam"
    study.undo()
    assert trial.id in study.open_trials
    same_when_resumed(study)


def test_of_what_nobody_asked_for(study):
    number = study.add({"q1": 0.5}, 7.0, block="2025")
    study.correct(number, 8.0)
    study.retract(number)
    for value in (8.0, 7.0):
        assert study.undo() == number
        assert values(study)[number] == value
        same_when_resumed(study)
    study.undo()
    assert number not in values(study)
    assert study.undo() == 3


def test_of_judgements(judged):
    first = judged.answers()[0][0]
    judged.correct(first, "equal")
    assert judged.undo() == first.id
    assert [answer for _, answer in judged.answers()] == ["first", "second", "equal"]
    judged.retract(first)
    assert judged.undo() == first.id
    assert sorted(answer for _, answer in judged.answers()) == ["equal", "first", "second"]
    same_when_resumed(judged)
    judged.judge(judged.ask_pair(judge="anna"), skip="cold")
    judged.undo()
    assert len(judged.open_pairs) == 1
    number = judged.add_judgement("latte", "filter", "first")
    assert judged.undo() == number
    assert judged.judgements == 3


def test_in_the_shell(study):
    from invoking import invoke

    invoke("correct", study.log, 1, 2.5)
    assert "0.2 again" in invoke("undo", study.log).output
    assert invoke("undo", study.log, "--json").data == {"id": 3, "retracted": True}
