"""A folder of studies: its list, and how studies are renamed, archived and brought back."""

import pytest
from served import begun, home, value_at
from test_page import answered

import equipoise as eq
from equipoise.runners import only_one
from equipoise.web.known import Outline
from equipoise.web.server import application
from equipoise.web.studies import Studies
from invoking import until


@pytest.fixture
def app(tmp_path):
    opt = begun(tmp_path / "a.jsonl", readings=8)
    for name in ("shell", "robot"):
        trial = opt.ask(worker=name)
        opt.tell(trial, value_at(trial.x))
    begun(tmp_path / "b.jsonl").study.set("mode", "pause")
    (tmp_path / "broken.jsonl").write_text("{}\n")
    return application(Studies(tmp_path))


def listed(app, where="/"):
    until(lambda: "…" not in answered(app, where)[1])
    return answered(app, where)[1]


def test_the_list_says_how_far_each_is_its_best_and_who_measures(app, tmp_path):
    text = listed(app)
    best = eq.resume(tmp_path / "a.jsonl").recommend()
    assert "10 readings" in text
    assert f"focus = {best.x['focus']} mm" in text
    assert "etter than the start" in text
    assert "robot, shell, page" in text
    assert "paused" in text
    assert "line 1 is damaged" in text
    opened = answered(app, home("a.jsonl"))[0]  # what is known is then computed once for both
    assert (opened, "10 readings" in listed(app)) == (200, True)


def test_of_many_knobs_the_list_shows_some(tmp_path):
    opt = eq.Optimizer(eq.Space(**{f"coil{k}": eq.Int(0, 9) for k in range(9)}), kernel=eq.RBF(0.5), rng=0)
    trial = opt.ask()
    opt.tell(trial, 1.0)
    best = Outline.of(opt, opt.recommend()).best
    assert best.startswith("coil0 = ")
    assert best.endswith(f"coil5 = {opt.recommend().x['coil5']}, 3 more")


def test_a_study_is_renamed_archived_and_brought_back(app, tmp_path):
    before = (tmp_path / "a.jsonl").read_bytes()
    assert answered(app, home("a.jsonl"))[0] == 200
    for name in ("b", "../x", ""):
        status, text = answered(app, "/manage/a.jsonl", {"do": "rename", "name": name})
        assert (status, "Refused." in text) == (409, True)
    assert answered(app, "/manage/a.jsonl", {"do": "rename", "name": "night.jsonl"})[0] == 303
    assert answered(app, home("a.jsonl"))[0] == 404
    assert answered(app, home("night.jsonl"))[0] == 200
    assert answered(app, "/manage/night.jsonl", {"do": "archive"})[0] == 303
    assert answered(app, home("night.jsonl"))[0] == 404
    assert "night" not in listed(app)
    assert "Archive (1)" in listed(app)
    assert (tmp_path / "archive" / "night.jsonl").read_bytes() == before
    assert answered(app, "/manage/night.jsonl", {"do": "bring back"})[0] == 303
    assert eq.resume(tmp_path / "night.jsonl").readings == 10
    assert answered(app, "/manage/zzz.jsonl", {"do": "archive"})[0] == 409


def test_a_study_that_a_program_measures_stays_where_it_is(app, tmp_path):
    with only_one(tmp_path / "a.jsonl", "robot"):
        status, text = answered(app, "/manage/a.jsonl", {"do": "archive"})
    assert (status, "A program measures this study" in text) == (409, True)
    assert answered(app, "/manage/a.jsonl", {"do": "archive"})[0] == 303


def test_the_file_that_a_server_was_started_for_stays_where_it_is(tmp_path):
    begun(tmp_path / "a.jsonl")
    app = application(Studies(tmp_path / "a.jsonl"))
    assert answered(app, "/manage/a.jsonl", {"do": "rename", "name": "b"})[0] == 409


@pytest.mark.parametrize("readings", [0, 20])
def test_a_study_that_was_replaced_is_opened_anew(tmp_path, readings):
    path, place = tmp_path / "a.jsonl", home("a.jsonl")
    begun(path, readings=8)
    app = application(Studies(tmp_path))
    assert "after 8 readings" in answered(app, place)[1]
    path.unlink()
    assert answered(app, place)[0] == 404
    begun(path, readings=readings)
    assert f"{readings} readings" in listed(app)
    assert f"after {readings} readings" in answered(app, place)[1]
    path.unlink()
    begun(path, readings=3)
    assert answered(app, place)[0] == 503  # said once
    assert "after 3 readings" in answered(app, place)[1]
