"""The page of a judge: only A, B and the answers; the content that shows a setting; requests that it refuses."""

import re

import pytest
from seen import NEEDS_BROWSER, PHONE, expect, screen, violations
from served import Served, begun, home

import equipoise as eq
from equipoise.web.judging import Content, Sitting
from equipoise.web.judging.contents import MOST_CHARACTERS, of_file, of_text

SAY = """#!/bin/sh
case "$1" in --focus=*) n=${1#--focus=};; esac
printf '# Focus %s\\n\\n<script>document.title = "run"</script> *soft* [x](http://evil.example)\\n' "$n"
"""


def test_texts_are_escaped_and_markdown_has_no_links():
    assert of_text('{"b": "<i>"}') == Content("json", '{\n  "b": "<i>"\n}')
    for text in (
        "<script>x</script>",
        "<img src=x onerror=y>",
        "[a](javascript:x)",
        "![a](/x)",
        "<http://evil.example>",
    ):
        shown = of_text(text).text
        assert not any(tag in shown for tag in ("<script", "<img", "<a "))
    assert "<strong>so</strong>" in of_text("**so**").text
    assert of_text("not { json", "json").kind == "text"
    assert len(of_text("x" * 10**6, "text").text) == MOST_CHARACTERS + 1


def test_files_are_shown_by_what_they_are(tmp_path):
    for name, content in (("a.md", "# A"), ("a.txt", "# A"), ("a.json", "[1]"), ("a.png", ""), ("a.exe", "")):
        (tmp_path / name).write_text(content)
    kinds = [of_file(tmp_path / f"a.{end}", tmp_path).kind for end in ("md", "txt", "json", "png", "exe", "none")]
    assert kinds == ["markdown", "text", "json", "image", "", ""]
    (tmp_path / "in").mkdir()
    assert of_file(tmp_path / "in" / ".." / "a.md", tmp_path / "in").kind == ""


def test_a_program_shows_a_setting_once_or_names_a_file_of_the_folder(tmp_path):
    (tmp_path / "in").mkdir()
    for name in ("in/7.png", "8.png"):
        (tmp_path / name).write_text("")
    calls, said = [], {7: "7.png", 8: "../8.png", 9: "*nine*"}

    def say(x):
        calls.append(x["n"])
        return said[x["n"]]

    sitting = Sitting("anna", say=say, folder=tmp_path / "in").of("bert")
    assert [sitting.content({"n": n}).kind for n in (7, 8, 9, 9, 7)] == [
        "image",
        "markdown",
        "markdown",
        "markdown",
        "image",
    ]
    assert calls == [7, 8, 9]
    opt = eq.Optimizer(eq.Space(n=eq.Int(0, 9)), rng=0)
    assert sitting.side(opt, "A", {"n": 5}, {"n": 4}).content.lacks == "There is no output of A: 5."


def test_names_are_shown_as_they_are():
    opt = eq.Optimizer(eq.Finite(["<b>Be brief.", "Be long."]), rng=0)
    side = Sitting().side(opt, "A", "<b>Be brief.", "Be long.")
    assert (side.dials, side.content) == ((), Content("text", "<b>Be brief."))


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    folder = tmp_path_factory.mktemp("judged")
    (folder / "say.sh").write_text(SAY)
    (folder / "say.sh").chmod(0o755)
    begun(folder / "study.jsonl", readings=2)
    server = Served(folder / "study.jsonl", "--judges", "--blind", "--say", folder / "say.sh")
    server.path = folder / "study.jsonl"
    yield server
    server.stop()


def test_the_token_of_judges_opens_their_page_and_nothing_else(server):
    place, before = home(server.path), server.path.read_bytes()
    own = f"{place}judge/anna/"
    assert server.get("/", cookie="judge").headers["location"] == f"{place}judge"
    for query, status in (("", 200), ("?judge=a/b", 409), ("?judge=", 409)):
        seat = server.get(f"{place}judge{query}", cookie="judge")
        assert seat.status == status
        assert "Who judges?" in seat.text
        for hidden in ('class="panel', "confirm/", "download/", "By hand"):
            assert hidden not in seat.text, (query, hidden)
    assert server.get(own, cookie="judge").status == 200
    ways = [
        place,
        "/new",
        f"/manage/{server.path.name}",
        f"{place}known",
        f"{place}now",
        f"{place}download/csv?seen=yes",
    ]
    ways += [
        f"{own}{end}" for end in ("known", "trial/0", "confirm/best?seen=yes", "download/csv?seen=yes", "hidden", "x")
    ]
    for way in ways:
        assert server.get(way, cookie="judge").status == 403, way
    for do in ("pause", "note", "best", "undo", "correct", "automatic", "cancel", "audit"):
        form = {"do": do, "trial": 0, "text": "x", "duels": 8}
        assert server.post(own, form, cookie="judge").status == 409, do
        assert server.post(place, form, cookie="judge").status == 403, do
    assert server.path.read_bytes() == before


@NEEDS_BROWSER
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_judge_sees_two_and_the_answers(browser, server, scheme):
    with screen(browser, server, role="judge", size=PHONE, color_scheme=scheme) as page:
        page.get_by_label("Who judges?").fill(scheme)
        page.get_by_role("button", name="Begin").click()
        expect(page.locator(".choice")).to_have_count(2)  # at once
        expect(page.locator(".shown em").first).to_have_text("soft")
        assert page.title() == "study.jsonl"
        assert page.locator("nav, .panel, table, a").count() == 0
        assert violations(page) == []
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
        for _ in range(2):
            title = page.locator("#now-title").inner_text()
            page.locator("button[value='much first']").click()
            expect(page.get_by_role("button", name="Take back")).to_contain_text("A, much")
            expect(page.locator("#now-title")).not_to_have_text(title)  # the next pair
            expect(page.locator(".choice")).to_have_count(2)
        page.get_by_role("button", name="Take back").click()
        expect(page.locator(".choice")).to_have_count(2)
    assert [answer for pair, answer in eq.resume(server.path).study.answers() if pair.judge == scheme] == ["much first"]


def test_the_only_judge_takes_back_an_answer(tmp_path):
    path = tmp_path / "study.jsonl"
    begun(path)
    server = Served(path, "--judge", "anna")
    try:
        own = f"{home(path)}judge/anna/"
        assert server.post(own, {"do": "ask"}, cookie="judge").status == 303
        assert server.post(own, {"do": "answer", "trial": 0, "answer": "first"}, cookie="judge").status == 303
        text = server.get(own, cookie="judge").text
        assert "Take back pair 0: A" in text
        was = re.search(r'name="was" value="(\w+)"', text)[1]
        assert server.post(own, {"do": "retract", "trial": 0, "was": was}, cookie="judge").status == 303
    finally:
        server.stop()
    assert eq.resume(path).study.answers() == []


@NEEDS_BROWSER
def test_answers_stay_in_sight_below_long_texts(browser, tmp_path):
    names = [f"{'word ' * 4000}{k}" for k in range(3)]
    eq.Optimizer(eq.Finite(names), log=tmp_path / "study.jsonl", rng=0)
    server = Served(tmp_path / "study.jsonl", "--judge", "anna")
    try:
        with screen(browser, server, role="judge", size=PHONE) as page:
            expect(page.locator(".choice")).to_have_count(2)
            assert page.evaluate("document.documentElement.scrollHeight > 2 * innerHeight")
            for place in (0, 3000):
                page.evaluate(f"scrollTo(0, {place})")
                expect(page.locator("button[value='much first']")).to_be_in_viewport(timeout=5000)
    finally:
        server.stop()
