"""Notes: written once, kept forever, and never learned from."""

import json

import pytest

import equipoise as eq
from equipoise.study import Note
from invoking import invoke, new_study
from studies import events, state

SPACE = eq.Space(q1=eq.Float(-2, 2, unit="A"), lens=eq.Choice(["in", "out"]))
AT = {"q1": 0.5, "lens": "out"}


@pytest.fixture
def opt(tmp_path):
    return eq.Optimizer(SPACE, kernel=eq.RBF(0.5), log=tmp_path / "study.jsonl", rng=0)


def test_a_note_is_in_the_log_and_comes_back(opt):
    opt.study.note("stop", "beam dump <b>\u202e")
    opt.study.note("best", x=AT)
    said = [Note("stop", "beam dump <b>\u202e"), Note("best", "", AT)]
    assert opt.study.notes == eq.resume(opt.study.log).study.notes == said
    last = events(opt.study.log)[-1]
    assert (last["note"], last["topic"], last["x"]) == (1, "best", AT)


def test_nothing_is_learned_from_a_note(opt, tmp_path):
    silent = eq.Optimizer(SPACE, kernel=eq.RBF(0.5), log=tmp_path / "silent.jsonl", rng=0)
    for k, study in enumerate((opt, silent)):
        for value in (0.2, 0.5, 0.1):
            study.tell(study.ask(), value)
            if not k:
                study.study.note("shift", "ours")
    assert state(opt) == state(silent)


def test_another_process_reads_what_was_noted(opt):
    other = eq.resume(opt.study.log)
    opt.study.note("stop")
    assert other.study.notes == []
    other.study.follow()
    assert other.study.notes == [Note("stop")]
    other.study.note("again")
    opt.study.note("shift")
    assert [note.topic for note in opt.study.notes] == ["stop", "again", "shift"]


def test_the_last_answer_is_the_one_to_undo(opt):
    assert opt.study.last_answered is None
    first = opt.ask()
    opt.tell(first, 0.3)
    assert opt.study.last_answered == first.id == opt.undo()
    assert opt.study.last_answered is None


def test_notes_stay_when_a_reading_is_taken_back(opt):
    opt.tell(opt.ask(), 0.3)
    opt.study.note("shift")
    opt.undo()
    assert [note.topic for note in opt.study.notes] == ["shift"]


def test_what_is_no_note_is_refused(opt):
    with pytest.raises(TypeError, match="`topic` must be a text, got 3"):
        opt.study.note(3)
    with pytest.raises(ValueError, match="must lie within"):
        opt.study.note("best", x={"q1": 7, "lens": "in"})
    codec = eq.log.Codec(SPACE)
    for line in ({"note": -1, "topic": "a", "text": ""}, {"note": 0, "topic": 3, "text": ""}, {"note": 0}):
        with pytest.raises(ValueError, match=r"must be at least 0|it is an unknown event, .*, with the keys note\b"):
            codec.from_json(line)
    assert len(events(opt.study.log)) == 1


def test_a_note_from_the_shell(tmp_path):
    study = new_study(tmp_path)
    invoke("note", study, "shift", "beam", "is", "back")
    invoke("note", study, "best", "--x", json.dumps({"q1": 1, "q2": 0}))
    assert eq.resume(study).study.notes == [Note("shift", "beam is back"), Note("best", "", {"q1": 1.0, "q2": 0.0})]
    assert "shift: beam is back" in invoke("replay", study).output


def test_units_are_kept_and_older_logs_have_none(tmp_path):
    assert repr(eq.Float(0, 1, unit="mm")) == "Float(0.0, 1.0, unit='mm')"
    assert eq.Float(0, 1, False, 0.5, unit="mm").unit == "mm"  # by name only: `step` has the fourth place
    assert eq.Int(1, 3).to_dict() == {"type": "int", "low": 1, "high": 3, "log": False}
    path = tmp_path / "study.jsonl"
    invoke("new", path, "--float", "q1", 0, 1, "--unit", "q1", "mm", "--int", "n", 1, 3)
    assert [p.unit for p in eq.resume(path).space.parameters.values()] == ["mm", ""]
    with pytest.raises(TypeError, match="`unit` must be a text"):
        eq.Float(0, 1, unit=3)
    invoke("new", tmp_path / "b", "--choice", "m", "a,b", "--unit", "m", "mm", code=2)
