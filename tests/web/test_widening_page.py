"""If the best setting is at a limit, the page says so and offers to widen the range."""

import pytest
from seen import NEEDS_BROWSER, PHONE, expect, screen, violations
from served import Served, home
from test_page import answered

import equipoise as eq
from equipoise.study import Setting
from equipoise.web.server import application
from equipoise.web.studies import Studies


@pytest.fixture
def path(tmp_path):
    opt = eq.Optimizer(eq.Space(q1=eq.Float(-1, 1, unit="A"), m=eq.Int(0, 4)), log=tmp_path / "study.jsonl", rng=0)
    for _ in range(24):
        trial = opt.ask()
        opt.tell(trial, 3 * trial.x["q1"] - abs(trial.x["m"] - 2.0) + 0.05 * trial.id)
    assert opt.recommend().x == {"q1": 1.0, "m": 2}
    return tmp_path / "study.jsonl"


def test_a_form_widens_a_range_and_an_empty_end_stays(path):
    app, place = application(Studies(path)), home("study.jsonl")
    assert 'href="confirm/widen?knob=q1">Widen q1</a>' in answered(app, place)[1]
    form = {"do": "widen", "knob": "q1", "low": "", "high": "2.5", "reason": "it was at the limit"}
    for wrong, why in (
        ({"high": "0.5"}, "must reach beyond the range of q1"),
        ({"high": "much"}, "The high end must be a number"),
        ({"knob": "nonsense"}, "Only the range of a number of the study can be widened"),
    ):
        status, text = answered(app, place, form | wrong)
        assert (status, why in text) == (409, True)
    assert eq.resume(path).study.settings == []
    assert answered(app, place, form)[0] == 303
    text = answered(app, place)[1]
    assert "range of q1: -1 to 2.5: it was at the limit" in text
    assert eq.resume(path).study.settings == [Setting("range of q1", "-1 to 2.5", "it was at the limit")]
    assert "q1: -1 to 2.5 A" in answered(app, f"{place}confirm/widen?knob=m")[1]


def test_a_limit_is_said_beside_the_best_setting_above_all_claims(path):
    text = answered(application(Studies(path)), home("study.jsonl"))[1]
    assert text.index('id="best-setting"') < text.index("It is at the limit of q1") < text.index("etter than the start")


@NEEDS_BROWSER
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_range_is_widened_by_clicks_on_a_phone(browser, path, scheme):
    server = Served(path)
    try:
        with screen(browser, server, path, size=PHONE, color_scheme=scheme) as page:
            page.get_by_role("link", name="Widen q1").click()
            assert page.get_by_label("Knob").input_value() == "q1"
            page.get_by_label("To (empty: as it is)").fill("4")
            assert violations(page) == []
            page.get_by_role("button", name="Widen it").click()
            expect(page.locator(".panel.notes")).to_contain_text("range of q1: -1 to 4")
            page.get_by_role("button", name="Begin").or_(page.get_by_role("button", name="Next setting")).click()
            expect(page.locator("#now-title")).to_contain_text("Trial 24")
        with screen(browser, server, path, role="watcher") as page:
            panel = page.locator(".best").bounding_box()
            for row in page.locator(".best .dials tbody tr").all():  # also below a long remark
                assert row.bounding_box()["y"] + 20 <= panel["y"] + panel["height"]
            assert page.get_by_role("link", name="Widen").count() == 0
    finally:
        server.stop()
    assert eq.resume(path).space.parameters["q1"].high == 4.0
