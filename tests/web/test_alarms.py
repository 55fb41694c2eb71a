"""Alarms: found in the log, shown on the page, and passed to a program that may misbehave."""

import json
from datetime import UTC, datetime, timedelta

import pytest
from seen import NEEDS_BROWSER, expect, screen
from served import Served, begun, home, value_at

import equipoise as eq
from equipoise.web.alarms import Alarm, Lookout, Watch
from equipoise.web.automatic import Automatic
from equipoise.web.known import ignore_notice
from equipoise.web.means import Means, Target
from equipoise.web.station import Station
from equipoise.web.studies import Studies
from invoking import until


@pytest.fixture
def path(tmp_path):
    begun(tmp_path / "study.jsonl", readings=6)
    return tmp_path / "study.jsonl"


def texts(alarms):
    return [(alarm.event, alarm.text) for alarm in alarms]


def test_a_failure_a_pause_and_a_late_reading_of_any_program_are_seen(path):
    station, elsewhere = Station(path), eq.resume(path, notify=ignore_notice)
    lookout = Lookout(station)
    assert lookout.look() == []  # what was before it looked is known
    elsewhere.tell(elsewhere.ask(worker="shell"), failed="no <beam>")
    assert texts(lookout.look()) == [("failed", "Trial 6 failed: no <beam>")]
    assert station.now().alarm == "Trial 6 failed: no <beam>"
    assert lookout.look() == []
    trial = elsewhere.ask(worker="shell")
    assert lookout.look() == []
    later = datetime.now(UTC) + timedelta(seconds=59)
    assert lookout.look(later) == []
    overdue = f"Trial {trial.id} is overdue: no reading for more than 60 s"
    assert texts(lookout.look(later + timedelta(seconds=9))) == [("overdue", overdue)]
    elsewhere.tell(trial, 1.0)
    assert lookout.look(later) == []
    assert station.now().alarm == ""
    elsewhere.study.set("mode", "pause", "lunch")
    assert texts(lookout.look()) == [("paused", "Paused: lunch")]


def test_what_is_typed_here_is_no_alarm(path):
    station = Station(path)
    lookout = Lookout(station, overdue=5.0)
    lookout.look()
    trial = station.opt.ask(worker="page")
    station.opt.tell(trial, failed="seen by the operator")
    assert lookout.look() == []
    station.opt.ask(worker="page")
    assert [alarm.event for alarm in lookout.look(datetime.now(UTC) + timedelta(seconds=6))] == ["overdue"]


def test_the_end_of_a_program_is_told_once_and_whoever_is_told_may_fail(path):
    told, broken = [], [True]

    def on_event(event):
        told.append(event)
        if broken[0]:
            raise OSError("no <pager>")

    means = Means(Target(readings=8), on_event=on_event)
    studies = Studies(path, machine=True, means=means)
    station, watch = studies.station("study.jsonl"), Watch(studies)
    watch.start()
    automatic = Automatic(station, lambda trial: {"value": value_at(trial.x)})
    automatic.start()
    try:
        until(lambda: told)
        until(lambda: station.now().troubles)
        assert station.now().troubles == ("The program of --on-event could not be told: no <pager>",)
        broken[0] = False
        station.opt.study.set("mode", "by hand")
        station.opt.study.set("mode", "pause", "by hand")
        until(lambda: not station.now().troubles)
    finally:
        automatic.stop()
        watch.stop()
    assert [(each["event"], each["text"]) for each in told] == [
        ("ended", "Paused: the budget of 8 is spent"),
        ("paused", "Paused: by hand"),
    ]
    assert told[0]["study"] == str(path)


def test_a_program_is_told_by_arguments_and_json(tmp_path):
    begun(tmp_path / "study.jsonl", readings=2)
    hook = tmp_path / "hook.sh"
    hook.write_text(f'#!/bin/sh\nprintf "%s|%s|%s\\n" "$@" >> {tmp_path}/words\n(cat; echo) >> {tmp_path}/json\n')
    hook.chmod(0o755)
    server = Served(tmp_path / "study.jsonl", "--on-event", hook, "--", "sh", "-c", "exit 3")
    try:
        server.get(home("study.jsonl"))
        said = until(lambda: (tmp_path / "json").exists() and (tmp_path / "json").read_text().splitlines())
        words = (tmp_path / "words").read_text().splitlines()
        until(lambda: "⚠ " in server.get(home("study.jsonl")).text.partition("</title>")[0])
    finally:
        server.stop()
    event = json.loads(said[0])
    assert event["event"] == "failed"
    assert event["text"] == f"Trial {event['trial']} failed: exit status 3"
    assert set(event) == {*Alarm.__dataclass_fields__, "study"}
    assert words[0] == f"failed|{tmp_path}/study.jsonl|{event['text']}"


@NEEDS_BROWSER
def test_an_alarm_is_in_the_title_and_heard_if_sound_is_on(browser, path):
    server = Served(path)
    listen = "() => { window.rung = 0; const made = AudioContext.prototype.createOscillator;"
    listen += "AudioContext.prototype.createOscillator = function () { window.rung += 1; return made.call(this); }; }"
    try:
        with screen(browser, server, path) as page:
            page.evaluate(listen)
            elsewhere = eq.resume(path, notify=ignore_notice)
            elsewhere.tell(elsewhere.ask(worker="shell"), failed="no beam")
            expect(page).to_have_title("⚠ Trial 6 failed: no beam - study.jsonl")
            assert page.evaluate("rung") == 0  # off by default
            page.get_by_role("button", name="Sound is off").click()
            expect(page.get_by_role("button", name="Sound is on")).to_be_visible()
            assert page.evaluate("rung") == 2  # so that one knows what it is like
            elsewhere.tell(elsewhere.ask(worker="shell"), 1.0)
            expect(page).to_have_title("study.jsonl")
            elsewhere.study.set("mode", "pause", "lunch")
            expect(page).to_have_title("⚠ Paused: lunch - study.jsonl")
            assert page.evaluate("rung") == 4
    finally:
        server.stop()


def test_the_reason_of_a_failure_has_the_last_line_of_standard_error(tmp_path):
    begun(tmp_path / "study.jsonl", readings=2)
    server = Served(tmp_path / "study.jsonl", "--", "sh", "-c", "echo warming up >&2; echo 'no <beam>' >&2; exit 3")
    try:
        text = until(lambda: (said := server.get(home("study.jsonl")).text).count("no &lt;beam&gt;") and said)
    finally:
        said = server.stop()
    assert "failed: exit status 3, no &lt;beam&gt;" in text
    assert "warming up\nno <beam>\n" in said  # the terminal has all of it
