"""The page in a real browser: by clicks, by keyboard, on a phone, in two tabs, without script, killed in the middle."""

import re
import signal
from pathlib import Path

import pytest
from seen import NEEDS_BROWSER, PATIENCE, PHONE, expect, screen, violations
from served import Served, begun, home, value_at

import equipoise as eq

pytestmark = NEEDS_BROWSER


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("studies")


@pytest.fixture(scope="module")
def server(folder):
    server = Served(folder)
    yield server
    server.stop()


@pytest.fixture
def study(folder, request):
    """A study of the test's own in the folder that is served."""
    path = folder / f"{request.node.name}.jsonl"
    begun(path)
    return path


def trial_of(page):
    expect(page.locator("#now-title")).to_contain_text("Trial")
    return int(re.search(r"Trial (\d+)", page.locator("#now-title").inner_text())[1])


def setting_of(page):
    """What the page says is to be dialed in."""
    rows = page.locator("#now .dials tbody tr").all_inner_texts()
    cells = [re.split(r"\s+", row.strip()) for row in rows]
    return {row[0]: row[3] for row in cells}


def tell(page, value):
    """Enter a reading by clicks, and wait for the next setting."""
    trial = trial_of(page)
    page.locator("#value").click()
    page.locator("#value").fill(str(value))
    page.get_by_role("button", name="Tell").click()
    expect(page.locator("#now-title")).not_to_contain_text(f"Trial {trial} ")
    return trial


def told(study):
    return {record.trial: record.value for record in eq.resume(study).records() if record.value is not None}


def test_a_whole_study_by_clicks(browser, server, study):
    entered = {}
    with screen(browser, server, study) as page:
        page.get_by_role("button", name="Begin").click()
        expect(page.locator("#now-title")).to_contain_text("Trial 0")
        for k in range(24):
            value = round(value_at(setting_of(page)) + 0.2 * k, 3)
            entered[tell(page, value)] = value
        assert told(study) == entered
        best = eq.resume(study).recommend()
        expect(page.locator("#best-title")).to_contain_text("after 24 readings")
        shown = page.locator(".best .dials .set").all_inner_texts()
        assert shown == [str(value) for value in best.x.values()]
        shell = eq.resume(study)
        for k in range(24, 60):
            trial = shell.ask(worker="shell")
            shell.tell(trial, value_at(trial.x) + 0.2 * k)
        expect(page.locator("#best-title")).to_contain_text("after 60 readings")
        expect(page.locator(".readings circle")).to_have_count(60)
        height, inner = page.evaluate("[document.documentElement.scrollHeight, innerHeight]")
        assert height <= inner  # no scrolling at 1280 x 800
    assert best.x == {"focus": 4, "angle": 1, "filter": "thin"}


def test_a_reading_that_the_server_could_not_take_is_said_and_kept(browser, server, study):
    with screen(browser, server, study) as page:
        page.get_by_role("button", name="Begin").click()
        expect(page.locator("#value")).to_be_focused()
        sorry = "<main><h1>Not here</h1><p>No space left on device.</p></main>"
        page.route(f"**{home(study)}", lambda route: route.fulfill(status=503, body=sorry, content_type="text/html"))
        page.locator("#value").fill("1.5")
        page.get_by_role("button", name="Tell").click()
        expect(page.locator("#said")).to_contain_text("The server failed: No space left on device.")
        assert page.locator("#value").input_value() == "1.5"
        page.unroute(f"**{home(study)}")
        page.get_by_role("button", name="Tell").click()
        expect(page.locator("#now-title")).to_contain_text("Trial 1")
    assert told(study) == {0: 1.5}


def focused(page):
    return page.evaluate("document.activeElement.name || document.activeElement.textContent.trim()")


def test_by_keyboard_alone(browser, server, study):
    with screen(browser, server, study) as page:
        page.keyboard.press("Enter")  # Begin has the focus
        expect(page.locator("#value")).to_be_focused()
        for k in range(4):
            page.keyboard.type(str(0.5 + k))
            page.keyboard.press("Enter")
            expect(page.locator("#now-title")).to_contain_text(f"Trial {k + 1}")
            expect(page.locator("#value")).to_be_focused()
        order = []
        for _ in range(7):
            order.append(focused(page))
            page.keyboard.press("Tab")
        assert order == ["value", "error", "do", "Block, temperature, …", "reason", "do", "do"]
        page.locator("#reason").focus()
        page.keyboard.type("beam lost")
        page.keyboard.press("Enter")
        expect(page.locator("#said")).to_contain_text("Duel 2 given up: trial 4 failed (beam lost)")
        expect(page.locator(".trials")).to_contain_text("Undo trial 4")
        for _ in range(40):
            if focused(page) == "do" and page.evaluate("document.activeElement.value") == "undo":
                break
            page.keyboard.press("Tab")
        page.keyboard.press("Enter")
        expect(page.locator("#now-title")).to_contain_text("Trial 4")
    assert told(study) == {0: 0.5, 1: 1.5, 2: 2.5, 3: 3.5}
    assert eq.resume(study).study.open_trials[0] == 4


def test_an_answer_that_is_older_than_that_to_a_form_is_left_out(browser, server, study):
    """What was fetched before a reading was told may come after it: what is typed for the next trial stays."""
    held = []
    with screen(browser, server, study) as page:
        page.get_by_role("button", name="Begin").click()
        expect(page.locator("#now-title")).to_contain_text("Trial 0")
        page.route("**/now", lambda route: held.append((route, route.fetch())) if not held else route.continue_())
        eq.resume(study).study.set("unit", "mW")  # something new for the part that is being filled in
        for _ in range(PATIENCE // 50):  # the page may have asked before
            if not held:
                page.wait_for_timeout(50)
        tell(page, 1.0)
        assert trial_of(page) == 1
        (route, older), *_ = held
        assert "Trial 0" in older.text()
        page.locator("#value").fill("2.0")
        with page.expect_response("**/now"):
            route.fulfill(response=older)
        page.evaluate("new Promise((done) => setTimeout(done, 300))")
        assert page.locator("#value").input_value() == "2.0"
        page.locator("#value").press("Enter")
        expect(page.locator("#now-title")).to_contain_text("Trial 2")
    assert told(study) == {0: 1.0, 1: 2.0}


def heights(page, selector):
    """How high all elements are, measured at once: a part of the page may be another one a moment later."""
    return page.evaluate(
        "selector => [...document.querySelectorAll(selector)].map(each => each.getBoundingClientRect().height)",
        selector,
    )


def test_on_a_phone(browser, server, study):
    with screen(browser, server, study, size=PHONE, has_touch=True, is_mobile=True) as page:
        page.get_by_role("button", name="Begin").tap()
        expect(page.locator("#value")).to_be_visible()
        tell(page, 0.5)
        tell(page, 0.75)
        expect(page.locator("#best-title")).to_contain_text("after 2 readings")
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
        buttons = heights(page, "button, a.button, input:not([type=hidden])")
        assert len(buttons) > 10
        assert min(buttons) >= 24
        assert heights(page, ".readings svg")[0] > 100
    assert told(study) == {0: 0.5, 1: 0.75}


IN_SIGHT = """() => {
    const box = document.querySelector(".now .settings"), end = box.getBoundingClientRect().bottom + 2;
    return [...box.querySelectorAll("tbody tr")].filter(row => row.getBoundingClientRect().bottom <= end).length;
}"""


@pytest.mark.parametrize("knobs", [30, 90])
def test_no_knob_is_out_of_sight_unless_it_is_said(browser, tmp_path, knobs):
    space = eq.Space({f"QUAD{i:02d}": eq.Float(-1, 1, unit="A") for i in range(knobs)})
    opt = eq.Optimizer(space, kernel=eq.RBF(0.5), log=tmp_path / "study.jsonl", rng=0)
    opt.tell(opt.ask(worker="page"), 0.5)
    opt.ask(worker="page")
    server = Served(opt.study.log)
    try:
        with screen(browser, server, opt.study.log) as page:
            expect(page.locator(".now caption").last).to_contain_text(f"to {knobs} of {knobs}")
            more, left = page.locator(".now .more"), knobs - page.evaluate(IN_SIGHT)
            if knobs == 30:
                assert left == 0
                expect(more).to_be_hidden()
            else:
                assert left > 0
                expect(more).to_contain_text(f"{left} more knobs: scroll down")
                page.evaluate("document.querySelector('.now .settings').scrollTo(0, 1e6)")
                expect(more).to_be_hidden()
            expect(page.locator(".best .more")).to_contain_text("more knobs: scroll down")
            assert violations(page) == []
    finally:
        server.stop()


def test_what_has_the_focus_keeps_it_when_something_is_new(browser, server, study):
    with screen(browser, server, study) as page:
        page.get_by_role("button", name="Begin").click()
        tell(page, 0.5)
        shell = eq.resume(study)
        for k, part in enumerate(("#undo", "#best", "#trials", "#notes", "#trial-0"), 2):
            page.locator(part).focus()
            shell.tell(shell.ask(worker="shell"), float(k))
            expect(page.locator("#best-title")).to_contain_text(f"after {k} readings")
            expect(page.locator(part)).to_be_focused()


def test_two_tabs_and_a_shell_at_once(browser, server, study):
    with screen(browser, server, study) as one, screen(browser, server, study) as two:
        one.get_by_role("button", name="Begin").click()
        expect(two.locator("#now-title")).to_contain_text("Trial 0")  # by itself
        two.locator("#value").fill("7")
        tell(one, 0.5)
        expect(two.locator("#now-title")).to_contain_text("Trial 1")
        expect(two.locator("#value")).to_have_value("")  # what was typed was for another setting
        two.locator("#value").fill("0.7")
        shell = eq.resume(study)
        for value in (0.1, 0.2):
            shell.tell(shell.ask(worker="shell"), value)
        expect(two.locator("#best-title")).to_contain_text("after 3 readings")
        expect(two.locator("#value")).to_have_value("0.7")  # nobody's reading disturbs who types
        shell.tell(1, 0.9)  # the page's own trial, told from the shell
        expect(two.get_by_role("button", name="Next setting")).to_be_visible()
    assert told(study) == {0: 0.5, 1: 0.9, 2: 0.1, 3: 0.2}


def test_typed_text_stays_whatever_else_happens(browser, server, study):
    with screen(browser, server, study, refusals=("404",)) as page:
        page.get_by_role("button", name="Begin").click()
        page.locator("summary").click()
        page.locator("#value").fill("0.7")
        page.locator("#block").fill("monday")
        shell = eq.resume(study, notify=lambda notice: None)
        shell.tell(shell.ask(worker="shell"), failed="no beam")
        expect(page.get_by_role("alert")).to_contain_text("no beam")
        expect(page.locator("#value")).to_have_value("0.7")
        expect(page.locator("#block")).to_have_value("monday")
        expect(page.locator("#block")).to_be_visible()
        page.locator("#text").fill("opened the valve")
        page.get_by_role("button", name="Write").click()
        expect(page.locator("#notes")).to_contain_text("opened the valve")
        expect(page.locator("#text")).to_have_value("")
        expect(page.locator("#value")).to_have_value("0.7")
        study.rename(study.with_suffix(".away"))
        page.get_by_role("button", name="Tell").click()
        expect(page.locator("#said")).to_contain_text("There is no study of this name.")
        expect(page.locator("#value")).to_have_value("0.7")
        study.with_suffix(".away").rename(study)
        page.get_by_role("button", name="Tell").click()
        expect(page.locator("#now-title")).to_contain_text("Trial 1")
    assert told(study)[0] == 0.7


def test_a_form_that_is_out_of_date(browser, server, study):
    with screen(browser, server, study, java_script_enabled=False) as old, screen(browser, server, study) as new:
        old.get_by_role("button", name="Begin").click()
        expect(new.locator("#now-title")).to_contain_text("Trial 0")
        tell(new, 0.5)
        old.locator("#value").fill("0.6")
        old.get_by_role("button", name="Tell").click()
        expect(old.get_by_role("alert")).to_contain_text("out of date: trial 0 was told 0.5")
        expect(old.locator("#now-title")).to_contain_text("Trial 1")
        expect(old.locator("#value")).to_have_value("")
        old.locator("#value").fill("half")
        old.get_by_role("button", name="Tell").click()
        expect(old.get_by_role("alert")).to_contain_text("must be a number")
        expect(old.locator("#value")).to_have_value("half")  # to be mended
    assert told(study) == {0: 0.5}


def test_with_script_switched_off(browser, server, study):
    with screen(browser, server, study, java_script_enabled=False) as page:
        page.get_by_role("button", name="Begin").click()
        for k in range(3):
            tell(page, k)
        page.locator("#reason").fill("no beam")
        page.get_by_role("button", name="Failed").click()
        expect(page.get_by_role("status").first).to_contain_text("given up")
        page.get_by_role("button", name="Undo trial 3").click()
        expect(page.locator("#now-title")).to_contain_text("Trial 3")
        page.get_by_role("link", name="Pause").click()
        page.get_by_label("Why").fill("shift change")
        page.get_by_role("button", name="Pause").click()
        expect(page.locator("#now")).to_contain_text("shift change")
        expect(page.locator("#value")).to_have_count(0)
        page.get_by_role("link", name="Go on by hand").click()
        page.get_by_role("button", name="Go on by hand").click()
        page.get_by_role("link", name="Dial in best").click()
        page.get_by_role("button", name="It is dialed in").click()
        page.locator("#trial-1").click()
        page.get_by_label("Reading").fill("1.25")
        page.get_by_role("button", name="Correct it").click()
        page.get_by_role("link", name="Audit").click()
        page.get_by_role("button", name="Plan the audit").click()
        expect(page.locator(".best")).to_contain_text("0 of 24 duels told")
        page.locator("#text").fill("beam is back")
        page.get_by_role("button", name="Write").click()
        expect(page.locator(".notes li").first).to_contain_text("note: beam is back")
    assert told(study) == {0: 0.0, 1: 1.25, 2: 2.0}
    again = eq.resume(study)
    assert [note.topic for note in again.study.notes] == ["dialed in: best", "note"]
    assert [setting.value for setting in again.study.settings if setting.name == "mode"] == ["pause", "by hand"]


def test_a_server_killed_in_the_middle_loses_nothing(browser, tmp_path):
    study, tokens = tmp_path / "study.jsonl", tmp_path / "tokens"
    begun(study)
    server = Served(study, "--token-file", tokens)
    entered = {}
    try:
        with screen(browser, server, study) as page:
            page.get_by_role("button", name="Begin").click()
            for k in range(5):
                entered[tell(page, k)] = float(k)
            server.stop(signal.SIGKILL)
            expect(page.locator("#line")).to_be_visible()
            assert told(study) == entered
            server = Served(study, "--token-file", tokens, port=server.port)
            expect(page.locator("#line")).to_be_hidden()
            for k in range(5, 8):
                entered[tell(page, k)] = float(k)
    finally:
        server.stop()
    assert told(study) == entered


def test_a_program_measures_and_people_take_over(browser, tmp_path):
    study, program = tmp_path / "study.jsonl", tmp_path / "measure"
    begun(study)
    program.write_text("#!/bin/sh\nsleep 0.05\necho 0.$(date +%N)\n")
    program.chmod(0o755)
    server = Served(study, "--", program)
    try:
        with screen(browser, server, study) as page:
            expect(page.locator("#now")).to_contain_text("Automatic")
            expect(page.locator("#trial-3")).to_be_visible()  # readings appear by themselves
            page.get_by_role("link", name="Take over by hand").click()
            page.get_by_role("button", name="Go on by hand").click()
            page.get_by_role("button", name="Next setting").click()
            expect(page.locator("#value")).to_be_visible()
            trial = tell(page, 0.77)
            page.get_by_role("link", name="Go on by program").click()
            page.get_by_role("button", name="Go on by program").click()
            expect(page.locator(f"#trial-{trial + 3}")).to_be_visible()
    finally:
        server.stop()
    assert told(study)[trial] == 0.77
    assert len(set(told(study).values())) > 4


def test_a_new_study_in_a_folder_and_one_that_only_watches(browser, server, folder):
    with screen(browser, server) as page:
        page.get_by_role("link", name="New study").click()
        page.get_by_label("Name", exact=True).fill("fresh")
        page.get_by_label("Its unit").fill("mW")
        for field, value in {"Name": "QF1", "Least value": "-2", "Largest value": "2", "Unit": "A"}.items():
            page.get_by_label(f"{field} of knob 1").fill(value)
        page.get_by_label("Kind of knob 2").select_option("choice")
        page.get_by_label("Name of knob 2").fill("lens")
        page.get_by_label("Options of knob 2").fill("in, out")
        page.get_by_label("Present value of knob 1").fill("0.5")
        page.get_by_role("button", name="Begin the study").click()
        expect(page.get_by_role("alert")).to_contain_text("every knob")
        page.get_by_label("Present value of knob 2").fill("in")
        page.get_by_role("button", name="Begin the study").click()
        page.get_by_role("button", name="Begin").click()
        expect(page.locator("#now .dials")).to_contain_text("QF1")
        with screen(browser, server, "fresh.jsonl", role="watcher") as other:
            expect(other.locator("#now-title")).to_contain_text("Trial 0")
            assert other.locator("form").count() == 0
            tell(page, 0.5)
            expect(other.locator("#now-title")).to_contain_text("Trial 1")
    opt = eq.resume(folder / "fresh.jsonl")
    assert opt.space.parameters["QF1"].unit == "A"
    assert [setting.value for setting in opt.study.settings] == ["mW"]


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_everybody_can_use_it(browser, server, folder, scheme):
    path = folder / f"axe-{scheme}.jsonl"
    opt = begun(path, readings=20)
    with pytest.warns(eq.DuelGivenUp):
        opt.tell(opt.ask(worker="page"), failed="no beam")
    opt.study.set("mode", "pause", "lunch")
    with screen(browser, server, path, color_scheme=scheme) as page:
        assert violations(page) == []
        opt.study.set("mode", "by hand")
        opt.ask(worker="page")
        expect(page.locator("#value")).to_be_visible()
        assert violations(page) == []
        beside = ("confirm/best", "confirm/audit", "trial/3", "logbook", "pictures")
        for name in (*beside, "../..", "../../new", "../../help", f"../../manage/{path.name}"):
            page.goto(f"http://{server.host}{home(path)}{name}")
            assert violations(page) == [], name


def test_on_paper_there_are_pictures_and_no_buttons(browser, server, folder):
    begun(folder / "paper.jsonl", readings=10)
    with screen(browser, server, "paper.jsonl") as page:
        page.emulate_media(media="print")
        assert not page.locator("button:visible, nav:visible").count()
        assert page.locator("svg.chart:visible").count() >= 3


def test_what_may_be_taken_home(browser, server, folder):
    begun(folder / "home.jsonl", readings=6)
    with screen(browser, server, "home.jsonl") as page:
        for name, begins in {"CSV": b"trial,duel", "SVG": b"<?xml", "PNG": b"\x89PNG", "Log": b'{"equipoise"'}.items():
            with page.expect_download() as download:
                page.get_by_role("link", name=name, exact=True).click()
            assert Path(download.value.path()).read_bytes().startswith(begins)
        page.get_by_role("link", name="Logbook entry").click()
        entry = page.get_by_label("To be copied").input_value()
        assert "6 readings" in entry
        page.context.grant_permissions(["clipboard-read", "clipboard-write"])
        page.get_by_role("button", name="Copy").click()
        expect(page.get_by_role("button", name="Copied")).to_be_visible()
        assert page.evaluate("navigator.clipboard.readText()") == entry


def test_a_reading_that_cannot_be_sent_is_said_and_stays(browser, server, study):
    with screen(browser, server, study) as page:
        page.get_by_role("button", name="Begin").click()
        trial = trial_of(page)
        page.locator("#value").fill("0.5")
        page.context.set_offline(True)
        page.get_by_role("button", name="Tell").click()
        expect(page.locator("#said")).to_contain_text("Not sent: the server could not be reached")
        expect(page.locator("#value")).to_have_value("0.5")
        page.context.set_offline(False)
        assert told(study) == {}
        page.get_by_role("button", name="Tell").click()
        expect(page.locator("#now-title")).not_to_contain_text(f"Trial {trial} ")
        expect(page.locator("#said")).not_to_contain_text("Not sent")
    assert told(study) == {trial: 0.5}
