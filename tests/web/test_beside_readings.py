"""The fields of a reading besides its value: several numbers, a block, covariates; all of them visible."""

import re

import pytest
from seen import DESK, NEEDS_BROWSER, PHONE, expect, screen, violations
from served import Served, begun, home
from test_page import answered

import equipoise as eq
from equipoise.study import PARTS
from equipoise.web.server import application
from equipoise.web.studies import Studies

SPACE = eq.Space(q1=eq.Float(-1, 1, unit="A"), lens=eq.Int(0, 4))


def last(path):
    return max(eq.resume(path).records(), key=lambda record: record.ended or "")


def test_a_block_and_numbers_that_were_measured_beside_are_told(tmp_path):
    path = tmp_path / "study.jsonl"
    begun(path)
    app, place = application(Studies(path)), home("study.jsonl")
    answered(app, place, {"do": "ask"})
    form = {"do": "answer", "trial": 0, "value": "1.5", "block": "monday", "beside": "room temperature=21.3, flow=2"}
    for wrong in ("21.3", "flow=much"):
        status, text = answered(app, place, form | {"beside": wrong})
        assert (status, f'value="{wrong}"' in text, "<details open>" in text) == (409, True, True)
    assert answered(app, place, form)[0] == 303
    assert (last(path).block, last(path).covariates) == ("monday, page", {"room temperature": 21.3, "flow": 2.0})
    text = answered(app, place)[1]
    assert '<label for="beside-room temperature">room temperature</label>' in text
    assert "Block monday" in text
    assert answered(app, place, {"do": "answer", "trial": 1, "value": "2", "beside-flow": "3"})[0] == 303
    assert (last(path).block, last(path).covariates) == ("monday, page", {"flow": 3.0})
    assert eq.resume(path).study.block == "monday"


def test_a_reading_of_several_numbers_is_short_in_the_list(tmp_path):
    path = tmp_path / "study.jsonl"
    opt = eq.Optimizer(SPACE, objective="flux", limits=["loss <= 3"], log=path, rng=0)
    opt.tell(opt.ask(worker="page"), {"flux": 2.0 / 3.0, "loss": 1.0 / 3.0})
    app, place = application(Studies(path)), home("study.jsonl")
    text = answered(app, place)[1]
    assert '<th scope="col" class="value">flux</th><th scope="col" class="value">loss</th>' in text
    assert '<td class="value">0.666667</td><td class="value">0.333333</td>' in text
    assert "Undo trial 0: 0.666667, 0.333333" in text
    answered(app, place, {"do": "ask"})
    fields = {"value-flux": "1", "value-loss": "-", "beside": "flow=2"}
    assert answered(app, place, {"do": "answer", "trial": 1} | fields)[0] == 303
    assert (last(path).told, last(path).covariates) == ({"flux": 1.0}, {"flow": 2.0})


def test_a_new_study_has_every_part_of_the_table(tmp_path):
    app = application(Studies(tmp_path))
    fields = set(re.findall(r'name="(\w+)"', answered(app, "/new")[1]))
    assert {name + "0" * (part.kind == "by name") for name, part in PARTS.items()} <= fields
    typed = {"name": "all", "name0": "q1", "low0": "0", "high0": "1", "unit0": "A", "start0": "0.5", "max_step0": "0.2"}
    typed |= {"name1": "temp", "kind1": "context", "low1": "0", "high1": "40", "start1": "20", "drop": "2"}
    typed |= {"name2": "turns", "kind2": "log int", "low2": "1", "high2": "512", "start2": "8"}
    typed |= {"objective": "flux", "limits": "loss <= 3, size <= start + 1", "safe": "yes", "constraint": "q1 <= 0.9"}
    typed |= {"max_gap": "30", "design": "4", "seeds": "fold 1, fold 2", "policy": "Challenger"}
    assert answered(app, "/new", typed)[0] == 303
    setup = eq.resume(tmp_path / "all.jsonl").study.setup
    assert (setup.objective, setup.limits, setup.safe) == ("flux", ("loss <= 3", "size <= start + 1"), True)
    assert setup.space.parameters["turns"] == eq.Int(1, 512, log=True)
    assert (setup.max_gap, setup.design, setup.drop, setup.max_step) == (30.0, 4, 2.0, {"q1": 0.2})
    assert (setup.seeds.values, setup.space.contexts) == (("fold 1", "fold 2"), ("temp",))


@NEEDS_BROWSER
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_they_are_typed_on_a_phone(browser, tmp_path, scheme):
    path = tmp_path / "study.jsonl"
    begun(path)
    server = Served(path)
    try:
        with screen(browser, server, path, size=PHONE, color_scheme=scheme) as page:
            page.get_by_role("button", name="Begin").click()
            page.get_by_text("Block, temperature").click()
            page.get_by_label("Begin a block").fill("tuesday")
            page.get_by_label("Measured beside").fill("flow=2.5")
            page.get_by_label("Reading", exact=True).fill("0.5")
            assert violations(page) == []
            page.get_by_role("button", name="Tell").click()
            expect(page.get_by_label("flow", exact=True)).to_be_visible()
            expect(page.get_by_text("Block tuesday")).to_be_visible()
            assert page.evaluate("document.documentElement.scrollWidth") <= 390
    finally:
        server.stop()
    assert (last(path).block, last(path).covariates) == ("tuesday, page", {"flow": 2.5})


@NEEDS_BROWSER
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_new_study_fits_a_phone(browser, tmp_path, scheme):
    server = Served(tmp_path)
    try:
        with screen(browser, server, size=PHONE, color_scheme=scheme) as page:
            page.goto(f"http://{server.host}/new")
            for label, value in {"Name": "mine", "Name of knob 1": "q1"}.items():
                page.get_by_label(label, exact=True).fill(value)
            for label, value in {"Least value of knob 1": "0", "Largest value of knob 1": "2"}.items():
                field = page.get_by_label(label, exact=True)
                box = field.bounding_box()
                assert 0 <= box["x"] <= box["x"] + box["width"] <= 390
                field.fill(value)
            assert violations(page) == []
            page.get_by_role("button", name="Begin the study").click()
            expect(page.locator("#now")).to_be_visible()
    finally:
        server.stop()
    assert eq.resume(tmp_path / "mine.jsonl").space.parameters == {"q1": eq.Float(0, 2)}


INSIDE = """names => names.map(name => {
    const panel = document.querySelector(".panel." + name), box = panel.getBoundingClientRect();
    return [...panel.querySelectorAll(".dials tbody tr, svg.chart")].filter(each => {
        const at = each.getBoundingClientRect();
        return at.bottom > box.bottom + 1 || at.height < 20;
    }).length;
})"""
"""How many settings and pictures of each panel are out of sight, or too small to be seen."""


@NEEDS_BROWSER
def test_of_several_objectives_the_front_and_every_knob_are_in_sight(browser, tmp_path):
    path = tmp_path / "study.jsonl"
    opt = eq.Optimizer(SPACE, objective="flux, -size", start={"q1": 0.0, "lens": 1}, log=path, rng=0)
    for _ in range(16):
        trial = opt.ask(worker="page")
        opt.tell(trial, {"flux": trial.x["q1"] + 0.1 * trial.id, "size": trial.x["q1"] ** 2 + trial.x["lens"]})
    server = Served(path)
    try:
        for scheme in ("light", "dark"):
            with screen(browser, server, path, color_scheme=scheme) as page:
                assert page.evaluate(INSIDE, ["best", "front"]) == [0, 0]
                assert violations(page) == []
        with screen(browser, server, path, size=PHONE) as page:
            assert violations(page) == []
            assert page.evaluate("document.documentElement.scrollWidth") <= 390
    finally:
        server.stop()


TEXTS = """[...document.querySelectorAll(".chart text.tick")].map(each => each.getBoundingClientRect().height)"""
"""Heights of the labels of all axes, in pixels of the screen."""

CUT = """[...document.querySelectorAll(".dials")].filter(
    each => each.scrollWidth > each.parentElement.clientWidth
).length"""
"""How many tables of settings are wider than their place."""


@NEEDS_BROWSER
def test_labels_can_be_read_and_long_options_fit(browser, tmp_path):
    path = tmp_path / "study.jsonl"
    long = "a coated foil of 25 micrometers of aluminum behind the second slit"
    opt = eq.Optimizer(eq.Space(q=eq.Float(0, 1), filter=eq.Choice(["open", long])), log=path, rng=0)
    for _ in range(12):
        trial = opt.ask(worker="page")
        opt.tell(trial, trial.x["q"] + (trial.x["filter"] == long))
    opt.ask(worker="page")
    server = Served(path)
    try:
        for size in (DESK, PHONE):
            with screen(browser, server, path, size=size) as page:
                heights = page.evaluate(TEXTS)
                assert heights
                assert max(heights) < 1.2 * min(heights)
                assert min(heights) > 9
                assert page.evaluate(CUT) == 0
                assert page.evaluate("document.documentElement.scrollWidth") <= size["width"]
    finally:
        server.stop()


@NEEDS_BROWSER
@pytest.mark.parametrize("size", [DESK, PHONE])
def test_names_and_units_of_knobs_are_whole(browser, tmp_path, size):
    units = {"temperature": "K", "flow": "sccm", "pressure": "mbar", "rf_phase_gun": "mrad"}
    space = {name: eq.Float(-100, 1000, unit=unit) for name, unit in units.items()}
    opt = eq.Optimizer(eq.Space(space | {"gas": eq.Choice(["argon", "forming gas"])}), log=tmp_path / "s.jsonl", rng=0)
    opt.tell(opt.ask(worker="page"), 1.0)
    opt.ask(worker="page")
    server = Served(tmp_path / "s.jsonl")
    try:
        with screen(browser, server, tmp_path / "s.jsonl", size=size) as page:
            table = page.locator("#now .dials")
            lines = "names => names.map(name => { const text = document.createRange(); text.selectNodeContents(name);"
            lines += " return text.getClientRects().length; })"
            assert set(table.locator("th[scope=row]").evaluate_all(lines)) == {1}
            assert table.evaluate("table => table.scrollWidth <= table.closest('section').clientWidth")
    finally:
        server.stop()


@NEEDS_BROWSER
def test_a_question_of_many_knobs_begins_at_the_first_one_on_a_phone(browser, tmp_path):
    space = eq.Space({f"q{k:02d}": eq.Float(-1, 1) for k in range(30)})
    opt = eq.Optimizer(space, kernel=eq.RBF(0.5), log=tmp_path / "s.jsonl", rng=0)
    opt.ask(worker="page")
    server = Served(tmp_path / "s.jsonl")
    try:
        with screen(browser, server, tmp_path / "s.jsonl", size=PHONE) as page:
            for reading in ("1", "2"):
                expect(page.locator("#now th[scope=row]").first).to_be_in_viewport(timeout=5000)
                title = page.locator("#now-title").inner_text()
                page.get_by_label("Reading", exact=True).fill(reading)
                page.get_by_role("button", name="Tell").click()
                expect(page.locator("#now-title")).not_to_have_text(title)
            expect(page.locator("#now th[scope=row]").first).to_be_in_viewport(timeout=5000)
    finally:
        server.stop()
