"""The progress of a study: budget, rate, end and bound, and the pause at the goal."""

import math
import re
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from random import Random

import pytest
from served import begun, value_at
from test_drawings import viewed
from test_station import until

import equipoise as eq
from equipoise.lab.environments import Simulator
from equipoise.web import panels
from equipoise.web.automatic import Automatic
from equipoise.web.beginning import begin_demo
from equipoise.web.means import Means, Target
from equipoise.web.panels.lists import revealed
from equipoise.web.panels.progress import progress_chart, remaining, seconds_each
from equipoise.web.station import Station


def test_how_far_it_is(tmp_path):
    opt = begun(tmp_path / "study.jsonl", readings=6)
    said, bound = remaining(viewed(opt, Target(readings=8, eps=0.2)))
    assert re.fullmatch(r"6 of 8; [\d.e+]+ a second; 2 readings left, until about .*\.", said)
    assert "0.2" in bound
    assert remaining(viewed(opt, Target(eps=1e9, audit=False)))[-1] == "The bound of 1.0e+09 nA is reached."
    assert remaining(viewed(opt, Target(readings=6)))[0].startswith("6 of 6, all of the budget; ")
    assert remaining(viewed(eq.Optimizer(opt.space, rng=0))) == []


def test_a_bound_that_does_not_exist_yet_is_not_foreseen():
    """Of several objectives there may be an estimate and no bound."""
    opt, rng = eq.Optimizer(eq.Space(q=eq.Float(0, 1)), objective="flux, -size", start={"q": 0.2}, rng=0), Random(0)
    for _ in range(24):
        trial = opt.ask()
        flux, size = 1 - (trial.x["q"] - 0.7) ** 2, 2 + trial.x["q"]
        opt.tell(trial, {"flux": flux + rng.gauss(0, 0.01), "size": size + rng.gauss(0, 0.01)})
    assert math.isinf(opt.recommend().overall.bound)
    said = remaining(viewed(opt, Target(eps=0.2)))[-1]
    assert said.startswith("When a bound of 0.20 is reached cannot be forecast")


def test_the_rate_is_that_of_the_last_readings_whatever_the_lunch_break(tmp_path):
    record, at = begun(tmp_path / "study.jsonl", readings=1).records()[0], datetime(2026, 1, 1, tzinfo=UTC)
    seconds = [0, 30, 60, 90, 4000, 4030, 4060]
    records = [replace(record, ended=(at + timedelta(seconds=each)).isoformat()) for each in seconds]
    assert seconds_each(records) == 30.0
    assert seconds_each(records[:2]) is None


def test_the_demonstration_says_the_truth_at_its_end(tmp_path):
    begin_demo(tmp_path / "demo.jsonl")
    opt, read = eq.resume(tmp_path / "demo.jsonl"), Simulator(seed=0, seconds=0.0)
    for _ in range(8):
        trial = opt.ask()
        opt.tell(trial, read(trial.x))
    view = viewed(opt, Target(readings=8, truth=read.truth))
    best = read.truth(view.best.x)
    assert f"without drift and noise the best setting reads {best:.3g} nA, the start " in revealed(view)
    assert view.start == dict.fromkeys(Simulator.names, 0.0)
    assert revealed(viewed(opt, Target(readings=9, truth=read.truth))) == ""
    assert revealed(viewed(opt, Target(readings=8))) == ""


def test_a_study_without_readings_has_no_chart(tmp_path):
    assert progress_chart(viewed(begun(tmp_path / "study.jsonl"))) == ""
    assert panels.PANELS[1].name == "progress"  # what people look at first


@pytest.mark.parametrize("goal", [Target(readings=4), Target(eps=1e9, audit=False)], ids=["budget", "bound"])
def test_a_program_pauses_when_there_is_enough_and_goes_on_if_it_is_told_to(tmp_path, goal):
    begun(tmp_path / "study.jsonl", readings=2)
    station = Station(tmp_path / "study.jsonl", machine=True, means=Means(goal))
    automatic = Automatic(station, lambda trial: {"value": value_at(trial.x)})
    automatic.start()
    try:
        until(lambda: station.mode == "pause")
        enough = station.opt.readings
        why = station.opt.study.settings[-1].why
        station.opt.study.set("mode", "automatic")
        until(lambda: station.opt.readings > enough)
    finally:
        automatic.stop()
    assert why == ("the budget of 4 is spent" if goal.readings else "the bound of 1e+09 is reached")
    assert enough == 4 or goal.readings is None
