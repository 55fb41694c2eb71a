"""Charts and settings: their content, for every kind of study."""

import math
from xml.etree import ElementTree

import pytest
from served import begun, home
from test_page import answered

import equipoise as eq
from equipoise.plots import series
from equipoise.web import View
from equipoise.web.means import Target
from equipoise.web.now import dials
from equipoise.web.panels.drawings import certificate_chart, estimate_charts, readings_chart
from equipoise.web.panels.lists import BEST
from equipoise.web.panels.progress import progress_chart
from equipoise.web.panels.svg import Axis, Chart, around
from equipoise.web.server import application
from equipoise.web.studies import Studies
from equipoise.web.tokens import Tokens

EVIL = '<script>"&'
STUDIES = {
    "box": (eq.Box([(0, 1), (-2, 2)]), {}),
    "one": (eq.Space(rate=eq.Float(1e-4, 1e-1, log=True)), {}),
    "choice": (eq.Space({EVIL: eq.Choice(["a", EVIL]), "n": eq.Int(1, 3)}), {"minimize": True}),
    "points": (eq.Finite([[0.0, 0, 1], [1, 0, 0], [0.5, 1, 1], [2, 2, 2]]), {}),
    "line": (eq.Finite([[0.0], [1.0], [0.5]]), {}),
}


def viewed(opt, goal=None):
    return View(opt, opt.recommend(), start=series.start_of(opt), bounds={}, goal=goal or Target())


@pytest.mark.parametrize("name", STUDIES)
def test_charts_are_whole_pictures_of_any_study(name):
    space, parts = STUDIES[name]
    opt = eq.Optimizer(space, kernel=eq.RBF(0.5), rng=0, **parts)
    opt.study.set("unit", EVIL)
    for value in (0.2, 0.5, 0.1, 0.7):
        opt.tell(opt.ask(), value)
    view = viewed(opt)
    charts = [
        readings_chart(view),
        progress_chart(view),
        *estimate_charts(view),
        certificate_chart({2: 0.5, 4: 0.2}, 4, ""),
    ]
    for chart in charts:
        picture = ElementTree.fromstring(chart)
        assert picture.attrib["role"] == "img"
        assert picture.attrib["aria-label"]
        assert "nan" not in chart
    assert len(ElementTree.fromstring(charts[0]).findall(".//circle")) == 4
    assert all(str(dial) for dial in dials(space, view.best.x))


def test_axes_have_the_units_of_knobs_and_readings():
    opt = eq.Optimizer(eq.Space(q1=eq.Float(0, 1, unit="A")), kernel=eq.RBF(0.5), rng=0)
    opt.study.set("unit", "mW")
    opt.tell(opt.ask(), 0.2)
    (chart,) = estimate_charts(viewed(opt))
    written = [each.text for each in ElementTree.fromstring(chart).iter() if each.text]
    assert {"q1 / A", "f(x) - f(best) / mW"} <= set(written)


def test_before_any_reading_there_is_nothing_to_draw():
    opt = eq.Optimizer(eq.Box([(0, 1)]), kernel=eq.RBF(0.5), rng=0)
    assert "Nothing was read yet" in readings_chart(viewed(opt))
    assert "no bound yet" in certificate_chart({1: math.inf}, 1, "")


def test_what_is_said_of_several_numbers_is_what_the_shell_says():
    """Of several objectives there is no bound, nor an audit that would bring one; limits are said."""
    options = {"start": {"q": 0.2}, "limits": ["loss <= 0.6"], "rng": 0}
    for objective in ("flux", "flux, -size"):
        opt = eq.Optimizer(eq.Space(q=eq.Float(0, 1)), objective=objective, **options)
        for _ in range(20):
            trial = opt.ask()
            q = trial.x["q"]
            found = {"flux": 1 - (q - 0.7) ** 2, "loss": q**2} | ({"size": q} if "size" in objective else {})
            opt.tell(trial, {name: value + 0.001 * trial.id for name, value in found.items()})
        view = viewed(opt)
        shown, said = BEST.shows(view), str(view.best)
        assert all(claim in said for claim in shown["claims"])
        assert "loss <= 0.6" in shown["claims"][0]
        assert shown["against_start"] in said
        assert shown["against_start"].startswith("Better than" if objective == "flux" else "A compromise: flux +")


def test_values_stand_where_they_belong():
    chart = Chart.of((0, 10), (-1, 1))
    assert chart.x.at(0) < chart.x.at(5) < chart.x.at(10)
    assert chart.y.at(-1) > chart.y.at(1)  # up is up
    for low, high, log in ((0, 1, False), (-3, 1e6, False), (1e-9, 2e-9, False), (1e-3, 50, True), (2.0, 3.0, True)):
        ticks = [value for value, _ in Axis(low, high, log=log).ticks()]
        assert 2 <= len(ticks) <= 12
        assert all(low - 1e-9 <= value <= high * (1 + 1e-9) for value in ticks)
    low, high = around([0.0, math.inf, 5.0])
    assert low < 0 < 5 < high < 6


def test_knobs_are_shown_to_the_digits_that_matter():
    space = eq.Space(
        a=eq.Float(0, 1000), b=eq.Float(0, 0.01, unit="T"), c=eq.Float(1e-6, 1, log=True), n=eq.Int(1, 9), k=3
    )
    x = {"a": 123.456, "b": 0.00123456, "c": 1.23456e-5, "n": 4, "k": 3}
    assert [dial.value for dial in dials(space, x)] == ["123.5", "0.001235", "1.2346e-05", "4", "3"]
    assert str(dials(space, x)[1]) == "b = 0.001235 T"


def test_tokens_are_kept_for_their_owner_alone(tmp_path):
    kept = Tokens.kept(tmp_path / "tokens")
    assert Tokens.kept(tmp_path / "tokens") == kept
    assert (tmp_path / "tokens").stat().st_mode & 0o77 == 0
    assert kept.role(kept.operator) == "operator"
    assert kept.role_of_cookie(kept.cookie("watcher")) == "watcher"
    assert kept.role_of_cookie(kept.operator) is None
    assert kept.role("é\udc80") is None
    for wrong in (("short", kept.watcher), (kept.watcher, kept.watcher), ("a b" * 10, kept.watcher)):
        with pytest.raises(ValueError, match="must be"):
            Tokens(*wrong)
    (tmp_path / "one").write_text("only-one-token-here\n")
    with pytest.raises(ValueError, match="must hold two tokens"):
        Tokens.kept(tmp_path / "one")


def test_charts_of_named_readings_have_the_name(tmp_path):
    opt = begun(tmp_path / "study.jsonl", objective="flux, -size", kernel=None)
    for k in range(4):
        opt.tell(opt.ask(), {"flux": 5.0 + 0.1 * k, "size": 2.0 - 0.1 * k})
    text = answered(application(Studies(opt.study.log)), home("study.jsonl"))[1]
    assert "Estimate of flux <small>" in text
    assert ">flux / nA</text>" in text
    assert ">flux better by / nA</text>" in text


def test_a_list_of_judgements_has_no_column_of_readings(tmp_path):
    opt = begun(tmp_path / "study.jsonl")
    opt.tell(opt.ask_pair(), "first")
    text = answered(application(Studies(opt.study.log)), home("study.jsonl"))[1]
    assert '<th scope="col">State</th>' in text
    assert ">Reading" not in text.partition('id="trials"')[2]
