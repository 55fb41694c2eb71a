"""Settings of a study: its unit and its mode are events; former versions wrote them as notes."""

import pytest

import equipoise as eq
from equipoise.log.events import FORMER_SETTINGS, Set
from equipoise.study import Note, Setting, unit_of
from equipoise.web.station import Station
from invoking import invoke, new_study
from studies import events, rewrite, state

SPACE = eq.Space(q1=eq.Float(-2, 2, unit="A"))


@pytest.fixture
def opt(tmp_path):
    return eq.Optimizer(SPACE, kernel=eq.RBF(0.5), log=tmp_path / "study.jsonl", rng=0)


def test_a_setting_is_in_the_log_and_comes_back(opt):
    opt.study.set("unit", "mW")
    opt.study.set("mode", "pause", "lunch")
    opt.study.set("mode", "pause", "lunch")  # no news
    assert (
        opt.study.settings
        == eq.resume(opt.study.log).study.settings
        == [Setting("unit", "mW"), Setting("mode", "pause", "lunch")]
    )
    assert (opt.study.notes, opt.recommend().unit) == ([], "mW")
    last = events(opt.study.log)[-1]
    assert (last["set"], last["value"], last["why"]) == ("mode", "pause", "lunch")
    assert all(setting.at is not None for setting in opt.study.settings)


def test_notes_of_former_versions_that_were_settings_still_are(opt):
    former = [("unit", "nA"), ("shift", "ours"), ("automatic", ""), ("pause", "beam dump"), ("late", "")]
    lines = [
        {"note": k, "topic": topic, "text": text, "at": "2026-11-16T02:40:11.123Z"}
        for k, (topic, text) in enumerate(former)
    ]
    rewrite(opt.study.log, [*events(opt.study.log), *lines])
    again = eq.resume(opt.study.log)
    assert again.study.settings == [
        Setting("unit", "nA"),
        Setting("mode", "automatic"),
        Setting("mode", "pause", "beam dump"),
    ]
    again.study.note("next")
    assert (
        eq.resume(opt.study.log).study.notes == again.study.notes == [Note("shift", "ours"), Note("late"), Note("next")]
    )
    station = Station(opt.study.log)
    assert (station.mode, unit_of(station.opt.study.settings)) == ("pause", "nA")
    assert "beam dump" in station.now().paused


def test_a_note_cannot_be_taken_for_a_setting(opt):
    for topic in FORMER_SETTINGS:
        with pytest.raises(ValueError, match=f"`topic` must not be that of a setting, see `set`, got '{topic}'"):
            opt.study.note(topic)
    assert len(events(opt.study.log)) == 1


def test_what_is_no_setting_is_refused(opt):
    codec = eq.log.Codec(SPACE)
    for name, value, why in (("color", "red", ""), ("mode", "asleep", ""), ("unit", 3, ""), ("unit", "W", 3)):
        with pytest.raises((TypeError, ValueError), match=r"`(name|value|why)`.* must be .*, got"):
            opt.study.set(name, value, why)
        with pytest.raises((TypeError, ValueError), match=r"`(name|value|why)`.* must be .*, got"):
            codec.from_json({"set": name, "value": value, "why": why})
    assert codec.from_json(codec.to_json(Set("mode", "by hand"))) == Set("mode", "by hand")


def test_nothing_is_learned_from_a_setting(opt, tmp_path):
    silent = eq.Optimizer(SPACE, kernel=eq.RBF(0.5), log=tmp_path / "silent.jsonl", rng=0)
    for study in (opt, silent):
        for value in (0.2, 0.5, 0.1):
            study.tell(study.ask(), value)
            if study is opt:
                study.study.set("mode", "pause", str(value))
    assert state(opt) == state(silent)
    opt.undo()
    assert len(opt.study.settings) == 3


def test_a_setting_from_the_shell(tmp_path):
    study = new_study(tmp_path)
    invoke("set", study, "mode", "pause", "beam", "is", "gone")
    invoke("set", study, "mode", "asleep", code=1)
    assert eq.resume(study).study.settings == [Setting("mode", "pause", "beam is gone")]
    assert "mode: pause (beam is gone)" in invoke("replay", study).output
