"""Pairs that are judged on the page: by station, by a real server, and in a browser."""

import re

import pytest
from seen import NEEDS_BROWSER, exhibits, expect, screen, violations
from served import Served, begun, home

import equipoise as eq
from equipoise.web.actions import change
from equipoise.web.forms import RefusedError, on_button
from equipoise.web.now import Sitting
from equipoise.web.station import Station

PIXEL = bytes.fromhex(
    "89504e470d0a1a0a0000000d4948445200000001000000010806000000"
    "1f15c4890000000d49444154789c6360606060000000050001a5f645400000000049454e44ae426082"
)


def do(station, **given):
    return change(station, {name: str(value) for name, value in given.items()})


def said(study):
    return {pair.id: answer for pair, answer in eq.resume(study).study.answers()}


@pytest.fixture
def station(tmp_path):
    begun(tmp_path / "study.jsonl", kernel=None)
    return Station(tmp_path / "study.jsonl", sitting=Sitting("anna"))


def test_a_judgement_and_the_next_pair(station):
    do(station, do="ask")
    now = station.now()
    assert [label for _, label in now.question.form.words] == ["A, much", "A", "equal", "B", "B, much"]
    assert any(dial.changed for dial in now.question.sides[0].dials)
    do(station, do="answer", trial=now.question.number, answer="much first")
    after = station.now()
    assert after.question.number == now.question.number + 1
    assert after.version != now.version
    with pytest.raises(RefusedError, match="out of date: pair 0 was judged: A, much"):
        do(station, do="answer", trial=now.question.number, answer="second")
    with pytest.raises(RefusedError, match="must be a number or one of"):
        do(station, do="answer", trial=after.question.number, answer="third")
    do(station, do="skip", trial=after.question.number)
    do(station, do="undo", trial=after.question.number)
    assert station.now().question.number == after.question.number
    known = station.known()
    assert known.told == "1 judgement"
    assert known["trials"]["rows"][0].state.startswith("A, much")
    assert said(station.path) == {0: "much first"}


def test_what_a_setting_says_never_leads_out_of_its_folder(tmp_path):
    (tmp_path / "secret.png").write_bytes(PIXEL)
    (tmp_path / "shown").mkdir()
    (tmp_path / "shown" / "3.png").write_bytes(PIXEL)
    (tmp_path / "shown" / "4.html").write_text("<script>alert(1)</script>")
    sitting = Sitting(show=f"{tmp_path}/shown/{{gain}}.png")
    assert sitting.content({"gain": 3}).kind == "image"
    for value in ("../secret", "..\\secret", "/etc/passwd", "missing"):
        assert sitting.content({"gain": value}).kind == ""
    assert (
        Sitting(show=f"{tmp_path}/shown/{{gain}}.html").content({"gain": 4}).kind == ""
    )  # no pages, only what is looked at
    assert on_button("slightly second") == "B, slightly"


@NEEDS_BROWSER
def test_judging_blind_by_clicks_with_pictures(browser, tmp_path):
    study = tmp_path / "study.jsonl"
    opt = begun(study, kernel=None)
    for x in range(7):
        (tmp_path / f"{x}.png").write_bytes(PIXEL)
    server = Served(study, "--judge", "anna", "--blind", "--show", f"{tmp_path}/{{focus}}.png")
    try:
        with screen(browser, server, study) as page:
            page.get_by_role("button", name="Next pair").click()
            exhibits(page, "img")
            assert "focus" not in page.locator("#now").inner_text()
            assert page.locator(".choice img").first.evaluate("image => image.naturalWidth") == 1
            assert violations(page) == []
            for k, label in enumerate(("A, much", "B", "equal")):
                page.get_by_role("button", name=label, exact=True).click()
                expect(page.locator("#now-title")).to_contain_text(f"pair {k + 1}")
                exhibits(page, "img")
            page.get_by_role("button", name="Cannot tell").click()
            expect(page.locator("#now-title")).to_contain_text("pair 4")
            expect(page.locator("#best-title")).to_contain_text("after 3 judgements")
            page.locator("#trial-1").click()
            page.get_by_label("Better is").select_option("much second")
            page.get_by_role("button", name="Correct it").click()
            expect(page.locator(".trials")).to_contain_text(re.compile("B, much"))
            assert violations(page) == []
        assert server.get(home(study) + "exhibit/4/A").headers["content-type"] == "image/png"
        for path in ("exhibit/0/A", "exhibit/4/C", "exhibit/4/A/../..", "exhibit/x/A"):
            assert server.get(home(study) + path).status == 404
    finally:
        server.stop()
    assert said(study) == {0: "much first", 1: "much second", 2: "equal"}
    assert opt.study.log == study
