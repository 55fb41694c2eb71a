"""Corrections and retractions: the state afterwards is that of a replay without it, or with another reading."""

import numpy as np
import pytest

import equipoise as eq
from invoking import invoke

BOX = eq.Box([(0, 1)])


def value(trial):
    return -4 * (float(trial.x[0]) - 0.7) ** 2 + 0.1 * trial.id


KNOWN = {"kernel": eq.RBF(0.3), "policy": eq.policies.MaxInfo()}


def study(told=value, log=None, **parts):
    """Ten trials, told what `told` says of each."""
    opt = eq.Optimizer(BOX, rng=0, log=log, **(KNOWN | parts))
    for _ in range(10):
        trial = opt.ask()
        opt.tell(trial, told(trial))
    return opt


def belief(opt):
    at = opt.posterior.at(np.linspace(0, 1, 21)[:, None])
    return at.mean.tobytes(), at.variance.tobytes(), opt.study.belief.comparisons, opt.study.open_trials, opt.readings


def replayed(events, **parts):
    """What other events would have come to."""
    return eq.Optimizer(BOX, rng=0, log=eq.log.MemoryLog(BOX, events), **(KNOWN | parts))


OVER = [{}, {"minimize": True}, {"reduction": eq.OnePoint(eq.reductions.RunningMean()), "policy": eq.IDS()}]


@pytest.mark.parametrize("parts", OVER, ids=repr)
def test_a_corrected_reading_is_as_if_it_had_been_told_so(parts):
    journal = eq.log.MemoryLog(BOX)
    opt = study(lambda trial: value(trial) + 5.0 * (trial.id == 4), journal, **parts)
    before = [event | {"value": 0.125, "error": 0.2} if event.get("tell") == 4 else event for event in journal.events]
    opt.correct(4, 0.125, error=0.2)
    assert belief(opt) == belief(replayed(before, **parts))
    assert belief(opt) == belief(replayed(journal.events, **parts))
    assert (opt.records()[4].value, opt.records()[4].error) == (0.125, 0.2)


@pytest.mark.parametrize("parts", OVER, ids=repr)
def test_a_retracted_reading_leaves_its_trial_open_and_teaches_nothing(parts):
    journal = eq.log.MemoryLog(BOX)
    opt = study(log=journal, **parts)
    without = [event for event in journal.events if event.get("tell") != 3]
    opt.retract(3)
    assert opt.study.open_trials == (3,)
    assert belief(opt) == belief(replayed(without, **parts))
    opt.tell(3, 0.25)
    assert opt.records()[-1].value == 0.25  # told last


def test_a_failure_is_retracted_like_a_reading():
    opt = eq.Optimizer(BOX, rng=0)
    trial = opt.ask()
    with pytest.warns(eq.DuelGivenUp):
        opt.tell(trial, failed="shutter")
    opt.retract(trial)
    opt.tell(trial, 0.5)
    assert opt.ask().id == 1  # the other half is wanted again


def test_undo_takes_the_last_answer_back_again_and_again():
    opt = study()
    assert [opt.undo() for _ in range(3)] == [9, 8, 7]
    assert opt.study.open_trials == (7, 8, 9)
    with pytest.raises(RuntimeError, match="there is nothing to undo"):
        eq.Optimizer(BOX, rng=0).undo()


def test_what_was_not_told_is_neither_corrected_nor_retracted():
    opt = study()
    trial = opt.ask()
    for change in (lambda: opt.correct(trial, 1.0), lambda: opt.retract(trial), lambda: opt.correct(99, 1.0)):
        with pytest.raises(ValueError, match="`trial` must be one whose reading was told"):
            change()
    with pytest.raises(ValueError, match="`value` must be finite"):
        opt.correct(0, float("nan"))


def test_a_learned_study_is_corrected_and_resumed(tmp_path):
    opt = eq.Optimizer(BOX, rng=0, log=tmp_path / "a.jsonl")
    for _ in range(14):
        trial = opt.ask()
        opt.tell(trial, value(trial) + 9.0 * (trial.id == 5))
    opt.correct(5, opt.records()[5].value - 9.0)
    best = opt.recommend()
    assert abs(best.x[0] - 0.7) < 0.15
    assert eq.resume(tmp_path / "a.jsonl").recommend().x.tobytes() == best.x.tobytes()


def test_in_the_shell(tmp_path):
    log = str(tmp_path / "a.jsonl")
    invoke("new", log, "--float", "q", "0", "1")
    invoke("ask", log)
    invoke("tell", log, "0", "0.5")
    assert "corrected to 0.25" in invoke("correct", log, "0", "0.25").output
    assert "0 is open again" in invoke("retract", log, "0").output
    invoke("tell", log, "0", "-0.5")
    assert "0 is open again" in invoke("undo", log).output
    said = invoke("replay", log).output
    assert "correct" in said
    assert "retract" in said
    for now in ("is at 0.25 again", "is at 0.5 again", "is open again"):  # the steps before, one after the other
        assert now in invoke("undo", log).output
    assert "nothing to undo" in invoke("undo", log, code=1).output
