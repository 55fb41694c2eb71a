"""The page of pictures: bars, map, predictions and slices of the same series as matplotlib draws, and help."""

import re
from itertools import pairwise

import pytest
from seen import NEEDS_BROWSER, PHONE, screen, violations
from served import Served, begun, home
from test_page import answered

import equipoise as eq
from equipoise.plots.importance import shares
from equipoise.web.now import Sitting
from equipoise.web.panels import PANELS
from equipoise.web.server import application
from equipoise.web.studies import Studies


@pytest.fixture
def opt(tmp_path):
    return begun(tmp_path / "study.jsonl", readings=20)


def pictures(opt, query="", **how):
    return answered(application(Studies(opt.study.log, **how)), f"{home('study.jsonl')}pictures?{query}")


def test_the_page_shows_the_numbers_of_the_plots(opt):
    status, text = pictures(opt)
    assert status == 200
    found = shares(opt, opt.recommend())
    rows = re.findall(r'<th scope="row">(\w+)</th>.*?<td class="value">(\d+)&nbsp;%</td>', text)
    assert rows == [(each.knob.name, f"{100 * each.total:.0f}") for each in found]
    assert len(re.findall(r"The estimate of f along", text)) == 3
    assert "10 pairs: the first reading less the second" in text
    assert "nan" not in text


def test_any_two_knobs_have_a_map_with_units(opt):
    text = pictures(opt, "across=angle&up=focus")[1]
    assert "A map of angle and focus" in text
    assert ">angle / mrad</text>" in text
    assert ">focus / mm</text>" in text
    assert text.count('class="cell" x=') == 49
    assert re.search(r"The estimate is from -\S+ to \S+ nA against the best\.", text)
    for strange in ("across=angle&up=angle", "across=<b>&up=focus"):
        assert "A map of" in pictures(opt, strange)[1]
        assert "<b>" not in pictures(opt, strange)[1]


def test_cells_of_a_map_touch(opt):
    text = pictures(opt, "across=filter&up=focus")[1]
    cells = re.findall(r'class="cell" x="(\S+)%" y="(\S+)%" width="(\S+)%" height="(\S+)%"', text)
    for k, ends in enumerate((2, 7)):
        spans = sorted({(float(cell[k]), float(cell[k + 2])) for cell in cells})
        assert len(spans) == ends
        for (low, size), (following, _) in pairwise(spans):
            assert round(low + size - following, 6) == 0


def test_charts_of_a_study_with_limits_say_that_limits_are_not_drawn(tmp_path):
    opt = begun(tmp_path / "study.jsonl", objective="flux", limits=["loss <= 3"], kernel=None)
    for k in range(4):
        opt.tell(opt.ask(), {"flux": 5.0 + 0.1 * k, "loss": 2.0 - 0.1 * k})
    assert pictures(opt)[1].count("limits are not drawn") == 2
    assert "limits are not drawn" in answered(application(Studies(opt.study.log)), home("study.jsonl"))[1]


def test_a_study_without_readings_or_knobs_has_a_page_too(tmp_path):
    eq.Optimizer(eq.Finite(["a", "b"]), log=tmp_path / "study.jsonl", rng=0).study.set("unit", "nA")
    assert "Nothing is known of knobs yet" in pictures(eq.resume(tmp_path / "study.jsonl"))[1]


def test_blind_judges_see_none(opt):
    assert pictures(opt, sitting=Sitting(None, blind=True))[0] == 303


def test_every_word_that_is_asked_about_is_explained(opt):
    text = answered(application(Studies(opt.study.log)), "/help")[1]
    for panel in PANELS:
        assert not panel.help or f'id="{panel.help}"' in text


@NEEDS_BROWSER
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_pictures_and_help_are_fit_for_everybody(browser, opt, scheme):
    server = Served(opt.study.log)
    try:
        with screen(browser, server, opt.study.log, "watcher", PHONE, color_scheme=scheme) as page:
            page.get_by_role("link", name="Pictures").click()
            page.get_by_label("Up").select_option("angle")
            page.get_by_role("button", name="Draw").click()
            assert "up=angle" in page.url
            assert violations(page) == []
            assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
            page.goto(f"http://{server.host}/help")
            assert violations(page) == []
    finally:
        server.stop()
