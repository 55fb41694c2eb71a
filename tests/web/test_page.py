"""The pages as they answer requests: the files that a reading runs through, and pages of every kind of study."""

import asyncio
from urllib.parse import urlencode

from served import begun, home

import equipoise as eq
from equipoise.web import PANELS, PagePanel, Tokens, station
from equipoise.web.guard import Guard
from equipoise.web.now import Sitting
from equipoise.web.server import application
from equipoise.web.studies import Studies
from tracing import files_run


def answered(app, path, fields=None, **headers):
    """What the pages behind their guard answer an operator: the status and the text."""
    tokens = Tokens("operator-of-the-test", "watcher-of-the-test")
    body = urlencode(fields or {}).encode()
    known = {"host": "localhost", "cookie": f"equipoise={tokens.cookie('operator')}", "origin": "http://localhost"}
    known |= {"content-type": "application/x-www-form-urlencoded"} | headers
    path, _, query = path.partition("?")
    scope = {"type": "http", "method": "GET" if fields is None else "POST", "path": path}
    scope["query_string"] = query.encode()
    scope |= {"scheme": "http", "headers": [(name.encode(), value.encode()) for name, value in known.items()]}
    sent = []

    async def receive():
        return {"type": "http.request", "body": body}

    async def send(message):
        sent.append(message)

    asyncio.run(Guard(app, tokens)(scope, receive, send))
    return sent[0]["status"], b"".join(message.get("body", b"") for message in sent).decode()


def test_a_reading_that_is_posted_runs_through_few_files(tmp_path):
    begun(tmp_path / "study.jsonl", readings=3)
    app, place, seen = application(Studies(tmp_path / "study.jsonl")), home("study.jsonl"), []
    answered(app, place, {"do": "ask"})
    form = {"do": "answer", "trial": 3, "value": "0.5"}
    files = files_run(lambda: seen.append(answered(app, place, form, **{"hx-request": "true"})))
    assert "Trial 4" in seen[0][1]
    web = {path for path in files if path.startswith("web/")}
    assert {"web/guard.py", "web/pages.py", "web/actions.py", "web/templates/question.html"} <= web
    assert len(web) <= 12


def test_the_list_has_the_unit_of_readings_and_knobs(tmp_path):
    begun(tmp_path / "study.jsonl", readings=3)
    text = answered(application(Studies(tmp_path / "study.jsonl")), home("study.jsonl"))[1]
    for name, unit in {"Reading": "nA", "focus": "mm", "angle": "mrad"}.items():
        assert f'<th scope="col" class="value">{name} <small>{unit}</small></th>' in text


def test_a_panel_of_ones_own_is_on_the_screen_where_it_applies(tmp_path, monkeypatch):
    begun(tmp_path / "study.jsonl", readings=1)
    app, made = application(Studies(tmp_path / "study.jsonl")), []

    def shows(view):
        made.append(view.told)
        return {"text": "<script>"}

    html = "<p>{{ text }}{{ ', to be measured' if operator }}</p>"
    few = PagePanel("few", "Few", shows, html, applies=lambda view: view.answers < 2)
    monkeypatch.setattr(station, "PANELS", [*PANELS, few])
    for _ in range(2):
        text = answered(app, home("study.jsonl"))[1]
        assert '<section class="panel few" aria-labelledby="few-title">' in text
        assert "<p>&lt;script&gt;, to be measured</p>" in text
    assert made == ["1 reading"]  # once after each change
    shell = eq.resume(tmp_path / "study.jsonl")
    shell.tell(shell.ask(worker="page"), 1.0)
    assert "panel few" not in answered(app, home("study.jsonl"))[1]


def test_a_study_with_contexts_has_a_page_before_its_first_reading(tmp_path):
    space = eq.Space(q=eq.Int(0, 5), temp=eq.Context(0, 40), sample=eq.Context(["dry", "wet"]))
    eq.Optimizer(space, log=tmp_path / "study.jsonl", rng=0)
    app = application(Studies(tmp_path / "study.jsonl"))
    for part in ("", "known", "logbook", "confirm/best"):
        status, text = answered(app, home("study.jsonl") + part)
        assert status == 200
        assert ("Nothing was read yet." in text) == (part in ("", "known"))


def test_a_pair_that_was_skipped_has_a_page_where_that_is_taken_back(tmp_path):
    path = tmp_path / "study.jsonl"
    opt = begun(path)
    opt.tell(opt.ask_pair(), failed="<the sound broke>")
    app = application(Studies(path, sitting=Sitting()))
    status, text = answered(app, f"{home(path)}trial/0")
    assert (status, "Skipped: &lt;the sound broke&gt;" in text) == (200, True)
    was = text.partition('name="was" value="')[2].partition('"')[0]
    assert answered(app, home(path), {"do": "retract", "trial": 0, "was": was})[0] == 303
    assert [pair.id for pair in eq.resume(path).study.open_pairs] == [0]


def test_an_address_of_nothing_leads_back(tmp_path):
    begun(tmp_path / "study.jsonl")
    for address in ("/nowhere", f"{home('study.jsonl')}nowhere", f"{home('study.jsonl')}trial/7"):
        status, text = answered(application(Studies(tmp_path)), address)
        assert (status, "There is no such" in text, 'href="/">All studies' in text) == (404, True, True)
