"""Pairs judged on the page: what is refused, what blind judges see, which files are served, and by which keys."""

import asyncio
import wave

import numpy as np
import pytest
from seen import NEEDS_BROWSER, PHONE, exhibits, expect, screen, violations
from served import Served, begun, home

import equipoise as eq
from equipoise.web.actions import change
from equipoise.web.beside import CONFIRMATIONS, FILES
from equipoise.web.forms import RefusedError
from equipoise.web.now import Sitting, told_of
from equipoise.web.server import application
from equipoise.web.station import Station
from equipoise.web.studies import Studies
from studies import events


@pytest.fixture
def path(tmp_path):
    begun(tmp_path / "study.jsonl")
    return tmp_path / "study.jsonl"


def do(station, **given):
    return change(station, {name: str(value) for name, value in given.items()})


def said(path):
    return [(pair.id, pair.judge, answer) for pair, answer in eq.resume(path).study.answers()]


def test_a_stale_form_is_refused_and_told_why(path):
    station = Station(path, sitting=Sitting("anna"))
    do(station, do="ask")
    eq.resume(path).tell(0, "second")
    with pytest.raises(RefusedError, match=r"pair 0 was judged: B at \d\d:.*, and no pair is open here now"):
        do(station, do="answer", trial=0, answer="first")
    assert do(station, do="answer", trial=0, answer="second") == ["Pair 0 was already judged: B."]
    do(station, do="ask")
    do(station, do="skip", trial=1, reason="the sound\nbroke")
    with pytest.raises(RefusedError, match=r"pair 1 was skipped at .*, and pair 2 is open here now"):
        do(station, do="skip", trial=1)
    with pytest.raises(RefusedError, match="pair 9 is not known"):
        do(station, do="answer", trial=9, answer="first")
    before = path.read_bytes()
    for wrong in ("best", "", "first second"):
        with pytest.raises(RefusedError, match="`value` must be"):
            do(station, do="answer", trial=2, answer=wrong)
    assert path.read_bytes() == before


def test_a_skipped_pair_has_its_reason_and_can_be_undone(path):
    station = Station(path, sitting=Sitting())
    do(station, do="ask")
    do(station, do="skip", trial=0, reason="the sound\nbroke")
    do(station, do="skip", trial=1)
    assert [event["reason"] for event in events(path) if "fail" in event] == ["the sound broke", "can't tell"]
    assert station.known()["trials"]["undo"].state == "skipped: can't tell"
    do(station, do="undo", trial=1)
    assert station.now().question.number == 1
    assert [row.state for row in station.known()["trials"]["rows"]] == ["skipped: the sound broke"]


def test_what_is_known_by_judgements_alone(path):
    station = Station(path, sitting=Sitting())
    do(station, do="ask")
    for _ in range(12):
        (pair,) = station.opt.study.open_pairs
        gain = pair.first["focus"] - pair.second["focus"]
        do(station, do="answer", trial=pair.id, answer="equal" if gain == 0 else "first" if gain > 0 else "second")
    known = station.known()
    assert "noises of the judge" in known["best"]["claims"][0]  # the unit of readings plays no part
    chosen = station.opt.compare(station.opt.recommend().x, station.start).chosen
    assert chosen > 0.5
    assert f"hosen over the start in {100 * chosen:.0f} % of cases." in known["best"]["against_start"]
    assert all("nan" not in chart for chart in (known["readings"]["chart"], *known["estimate"]["charts"]))


def test_a_study_that_was_judged_opens_to_be_judged(path):
    assert Station(path).sitting is None
    opt = eq.resume(path)
    opt.tell(opt.ask_pair(), "first")
    assert Station(path).sitting == Sitting()
    assert Station(path, machine=True).sitting is None
    for value in (0.1, 0.2):
        opt.tell(opt.ask(), value)
    assert Station(path).sitting is None


def got(app, path, query=b""):
    """What the pages answer an operator, without a guard and a server."""
    scope = {"type": "http", "method": "GET", "path": path, "query_string": query, "headers": []}
    sent = []

    async def receive():
        return {"type": "http.request"}

    async def send(message):
        sent.append(message.get("body", b"").decode())

    asyncio.run(app(scope | {"equipoise.role": "operator"}, receive, send))
    return "".join(sent)


def test_blind_judges_see_no_setting_anywhere_on_the_page(path):
    opt = eq.resume(path)
    opt.tell(opt.ask_pair(), "first")
    opt.tell(opt.ask(), 0.5)
    opt.ask_pair()
    app = application(Studies(path, sitting=Sitting(blind=True, show=f"{path.parent}/{{focus}}.png")))
    seen = "".join(got(app, f"{home(path)}{part}") for part in ("", "now", "known", "trial/0", "logbook"))
    assert "Which is better?" in seen
    assert "There is no file of A." in seen
    for word in (">focus", "focus ", "angle", ">thin", "mrad", str(path.parent)):
        assert word not in seen


@pytest.mark.parametrize("own", ["", "judge/anna/"])
def test_no_address_shows_a_setting_to_blind_judges_unless_they_say_so(tmp_path, own):
    path = tmp_path / "study.jsonl"
    space = eq.Space(gain=eq.Float(100, 200), mode=eq.Choice(["SECRET1", "SECRET2"]))
    opt = eq.Optimizer(space, start={"gain": 123.0, "mode": "SECRET1"}, log=path, rng=0)
    opt.tell(opt.ask_pair(judge="anna"), "first")
    opt.tell(opt.ask(), 0.5)
    opt.ask_pair(judge="anna")
    app = application(Studies(path, sitting=Sitting(None, blind=True)))
    parts = ["", "now", "known", "hidden", "logbook", "trial/0", "trial/1", "trial/2"]
    parts += [f"confirm/{what}" for what in CONFIRMATIONS] + [f"download/{kind}" for kind in FILES]
    for part in parts:
        seen = got(app, f"{home(path)}{own}{part}")
        assert not any(word in seen for word in ("SECRET", ">gain")), part
    assert "SECRET" in got(app, f"{home(path)}{own}confirm/best", b"seen=yes")
    assert "SECRET" in got(app, f"{home(path)}{own}download/csv", b"seen=yes")


def judges(path, **how):
    return Station(path, sitting=Sitting(None, **how))


def test_several_judges_each_have_a_pair_an_undo_and_a_name_of_their_own(path):
    station = judges(path)
    assert station.now().judge is None
    with pytest.raises(RefusedError, match="Enter the name of the judge first"):
        do(station, do="ask")
    for judge in ("anna", "bert"):
        do(station, do="ask", judge=judge)
    pairs = [station.now(judge).question.number for judge in ("anna", "bert")]
    assert pairs == [0, 1]
    with pytest.raises(RefusedError, match="pair 0 is not open here, and pair 1 is open here now"):
        do(station, do="answer", trial=0, answer="first", judge="bert")
    do(station, do="answer", trial=1, answer="second", judge="bert")
    do(station, do="answer", trial=0, answer="first", judge="anna")
    assert said(path) == [(1, "bert", "second"), (0, "anna", "first")]
    last = station.now("bert").last
    assert (last.pair, last.said) == (1, "B")
    assert station.known()["trials"]["undo"] is None  # it would be anybody's
    do(station, do="retract", trial=1, was=last.was, judge="bert")
    assert station.now("bert").question.number == 1
    assert said(path) == [(0, "anna", "first")]


def test_a_judge_changes_nothing_that_another_has_said(path):
    station = judges(path)
    eq.resume(path).tell(eq.resume(path).ask(), 0.5)
    for judge in ("anna", "bert"):
        do(station, do="ask", judge=judge)
        pair = station.now(judge).question.number
        do(station, do="answer", trial=pair, answer="first", judge=judge)
    before, own = path.read_bytes(), said(path)
    was, theirs, reading = told_of("first"), own[1][0], 0
    for form in (
        {"do": "retract", "trial": theirs, "was": was},
        {"do": "correct", "trial": theirs, "was": was, "answer": "second"},
        {"do": "undo", "trial": theirs},
        {"do": "expire", "trial": station.now("bert").question.number},
        {"do": "correct", "trial": reading, "was": told_of(0.5), "value": 1},
        {"do": "retract", "trial": reading, "was": told_of(0.5)},
    ):
        with pytest.raises(RefusedError, match="anna has not judged pair"):
            do(station, **form, judge="anna")
    assert path.read_bytes() == before
    app = application(Studies(path, sitting=Sitting(None)))
    assert "Correct it" in got(app, f"{home(path)}judge/anna/trial/{own[0][0]}")
    for number in (theirs, reading):
        assert "no pair of this number" in got(app, f"{home(path)}judge/anna/trial/{number}")
    do(station, do="retract", trial=theirs, was=was)  # anyone who runs the study may
    assert said(path) == own[:1]


def test_a_number_is_an_answer(path):
    station = Station(path, sitting=Sitting("anna", numbers=True))
    do(station, do="ask")
    for wrong in ("", "much", "-2", "1_0"):
        with pytest.raises(RefusedError, match=r"[Hh]ow much better it is"):
            do(station, do="answer", trial=0, answer="first", by=wrong)
    for k, (word, by) in enumerate((("first", "2.5"), ("second", ".5"), ("equal", ""))):
        do(station, do="answer", trial=k, answer=word, by=by)
    assert [answer for _, _, answer in said(path)] == [2.5, -0.5, 0.0]
    assert Station(path).sitting == Sitting(numbers=True)  # as it was judged before
    page = got(application(Studies(path)), f"{home(path)}trial/1")
    assert 'value="0.5"' in page
    assert '<option value="second" selected>' in page
    do(station, do="correct", trial=1, answer="first", by="4", was=told_of(-0.5))
    assert [answer for _, _, answer in said(path)] == [2.5, 4.0, 0.0]


def test_an_earlier_pair_is_asked_again_in_the_other_order(path):
    station = Station(path, sitting=Sitting("anna", check_every=3))
    do(station, do="ask")
    for k in range(4):
        do(station, do="answer", trial=k, answer="first")
    shown = [pair for pair, _ in eq.resume(path).study.answers()]
    assert [pair.again for pair in shown] == [None, None, None, 0]
    assert (shown[3].first, shown[3].second) == (shown[0].second, shown[0].first)
    assert "0 of 1 alike in both orders" in str(eq.resume(path).study.judges()[0])


def test_who_judges_blind_finds_no_way_to_the_best_but_by_asking_for_it(path):
    begun_of = {blind: application(Studies(path, sitting=Sitting(None, blind=blind))) for blind in (True, False)}
    for blind, app in begun_of.items():
        seen = "".join(got(app, f"{home(path)}{part}") for part in ("", "judge/anna/", "judge/anna/now"))
        assert "Who judges?" in seen
        for way in ("confirm/best", "confirm/start", "download/"):
            assert (way in seen) is not blind
        assert ('href="hidden"' in seen) is blind
    hidden = got(begun_of[True], f"{home(path)}judge/anna/hidden")
    assert all(way in hidden for way in ("confirm/best", "download/judgements.csv", "no longer blind"))
    table = got(begun_of[True], f"{home(path)}judge/anna/download/judgements.csv", b"seen=yes")
    assert table.startswith("pair,judge,first.focus,")


def test_names_of_judges_are_asked_for_where_they_are_wanted(path):
    app, alone = application(Studies(path, sitting=Sitting(None))), application(Studies(path, sitting=Sitting("anna")))
    assert "at most 80 characters" in got(app, f"{home(path)}judge", b"judge=a%2Fb")
    assert "at most 80 characters" in got(app, f"{home(path)}judge", b"judge=+")
    assert got(app, f"{home(path)}judge", b"judge=anna") == ""  # led on
    assert "does not use named judges" in got(alone, f"{home(path)}judge/bert/")
    assert "does not use named judges" in got(alone, f"{home(path)}judge", b"judge=bert")


# Files.


def test_a_template_is_formatted_and_leads_to_files_of_its_folder_only(tmp_path):
    (tmp_path / "img").mkdir()
    (tmp_path / "img" / "0.33.svg").write_text("<svg/>")
    (tmp_path / "secret.svg").write_text("secret")
    (tmp_path / "img" / "link.svg").symlink_to(tmp_path / "secret.svg")
    assert Sitting(show=f"{tmp_path}/img/{{blur:.2f}}.svg").content({"blur": 1 / 3}).kind == "image"
    loose = Sitting(show=f"{tmp_path}/img/{{name}}.svg")
    assert loose.content({"name": "0.33"}).kind == "image"
    for name in ("../secret", f"{tmp_path}/secret", "link", "a\0b", "x" * 5000):
        assert loose.content({"name": name}).kind == "", name
    assert Sitting(show=f"{tmp_path}/img/{{up}}/{{name}}.svg").content({"up": "..", "name": "secret"}).kind == ""
    assert str(Sitting(show="{x[0]:g}-{x[1]:g}.wav").file(np.array([0.5, 0.25]))) == "0.5-0.25.wav"
    with pytest.raises(ValueError, match=r"`show` must name knobs of the study \(focus\), got 'focus.real'"):
        Sitting(show="{focus.real}.png").file({"focus": 3})
    with pytest.raises(ValueError, match="`show` must be a template"):
        Sitting(show="{filter:.2f}.png").file({"filter": "open"})


def test_a_template_that_does_not_fit_the_study_is_refused_at_the_start(path):
    with pytest.raises(ValueError, match="must name knobs of the study"):
        Station(path, sitting=Sitting(show="img/{blur}.png"))


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    """A folder of studies that are judged by sounds."""
    folder = tmp_path_factory.mktemp("judged")
    for focus in range(7):
        with wave.open(str(folder / f"{focus}.wav"), "wb") as file:
            file.setparams((1, 1, 8000, 0, "NONE", ""))
            file.writeframes(bytes(range(100)))
    (folder / "secret.wav").write_text("secret")
    server = Served(folder, "--judge", "anna", "--show", f"{folder}/{{focus}}.wav")
    server.folder = folder
    yield server
    server.stop()


def test_files_need_a_token_and_watchers_do_not_judge(server):
    path = server.folder / "guard.jsonl"
    begun(path).ask_pair(judge="anna")
    place = f"{home(path)}exhibit/0/A"
    answer = server.request("HEAD", place)
    assert (answer.status, answer.headers["content-type"].partition("/")[0]) == (200, "audio")
    assert "media-src 'self'" in answer.headers["content-security-policy"]
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert server.request("HEAD", place, cookie="watcher").status == 200
    assert server.request("HEAD", place, cookie=None).status == 401
    for end in (
        "..",
        "%2e%2e%2fsecret.wav",
        "A/../../../secret.wav",
        "a",
        "%2Fetc%2Fpasswd",
        "A%00",
        "..%5csecret.wav",
    ):
        answer = server.get(f"{home(path)}exhibit/0/{end}")
        assert answer.status == 404, end
        assert answer.text != "secret"
    before, form = path.read_bytes(), {"do": "answer", "trial": 0, "answer": "first"}
    assert server.post(home(path), form, cookie="watcher").status == 403
    assert server.post(home(path), form, cookie=None).status == 401
    assert server.post(home(path), form, Origin="http://evil.example").status == 403
    assert server.post(home(path), form | {"answer": "<script>"}).status == 409
    assert path.read_bytes() == before


# In a browser.


def access(page, key):
    """Press an access key, as the system sends it: Playwright's own Alt+b is not taken for one."""
    pressed = {"type": "char", "text": key, "unmodifiedText": key, "key": key, "modifiers": 1, "isSystemKey": True}
    page.context.new_cdp_session(page).send("Input.dispatchKeyEvent", pressed)


@NEEDS_BROWSER
def test_judgements_by_clicks_and_by_keyboard(browser, server):
    path = server.folder / "six.jsonl"
    begun(path)
    with screen(browser, server, path) as page:
        page.get_by_role("button", name="Next pair").click()
        for k in range(2):
            exhibits(page, "audio")
            page.get_by_role("button", name="A", exact=True).click()
            expect(page.locator("#now small")).to_have_text(f"pair {k + 1}")
        height, inner = page.evaluate("[document.documentElement.scrollHeight, innerHeight]")
        assert height <= inner  # no scrolling at 1280 x 800
        expect(page.locator("fieldset")).to_be_focused()  # before the answers: Enter alone says nothing
        order = []
        for _ in range(6):
            page.keyboard.press("Tab")
            order.append(page.evaluate("document.activeElement.value || document.activeElement.name"))
        assert order == ["much first", "first", "equal", "second", "much second", "reason"]
        for k in range(2, 6):
            exhibits(page, "audio")
            if k % 2:
                expect(page.locator("fieldset")).to_be_focused()
                for _ in range(3):
                    page.keyboard.press("Tab")
                page.keyboard.press("Enter")
            else:
                access(page, "b")
            expect(page.locator("#now small")).to_have_text(f"pair {k + 1}")
        expect(page.locator("#best-title")).to_contain_text("after 6 judgements")
        expect(page.locator(".best")).to_contain_text("hosen over the start in")
        assert violations(page) == []
    words = ["first"] * 2 + ["much second", "equal"] * 2
    assert said(path) == [(k, "anna", word) for k, word in enumerate(words)]


@NEEDS_BROWSER
def test_judgements_on_a_phone_and_without_script(browser, server):
    path = server.folder / "phone.jsonl"
    begun(path)
    with screen(browser, server, path, size=PHONE, has_touch=True, is_mobile=True) as page:
        page.get_by_role("button", name="Next pair").tap()
        exhibits(page, "audio")
        page.get_by_role("button", name="B", exact=True).tap()
        expect(page.locator("#now small")).to_have_text("pair 1")
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
        for element in page.locator("button, a.button, input:not([type=hidden])").all():
            assert element.bounding_box()["height"] >= 24
    plain = {"java_script_enabled": False}
    with screen(browser, server, path, **plain) as first, screen(browser, server, path, **plain) as late:
        exhibits(first, "audio")
        exhibits(late, "audio")
        first.get_by_role("button", name="A, much", exact=True).click()
        expect(first.locator("#now small")).to_have_text("pair 2")
        exhibits(first, "audio")
        late.get_by_role("button", name="equal", exact=True).click()
        expect(late.get_by_role("alert")).to_contain_text("out of date: pair 1 was judged: A, much at")
        first.locator("#reason").fill("same")
        first.get_by_role("button", name="Cannot tell").click()
        expect(first.locator("#now small")).to_have_text("pair 3")
        first.get_by_role("button", name="Undo").click()
        expect(first.locator("#now small")).to_have_text("pair 2")
    assert said(path) == [(0, "anna", "second"), (1, "anna", "much first")]


@NEEDS_BROWSER
def test_two_judges_on_one_server(browser, tmp_path):
    path = tmp_path / "study.jsonl"
    begun(path)
    server = Served(path, "--judges", "--numbers", "--blind")
    try:
        with screen(browser, server, path) as one, screen(browser, server, path) as other:
            for number, (page, name) in enumerate(((one, "Anna K."), (other, "bert"))):
                page.get_by_label("Who judges?").fill(name)
                page.keyboard.press("Enter")
                expect(page.locator("#now small")).to_have_text(f"pair {number}, {name}")  # at once
            one.locator("#by").fill("2")
            one.locator("#by").press("Enter")
            assert said(path) == []  # Enter says nothing of A or B
            one.get_by_role("button", name="A", exact=True).click()
            expect(one.locator("#now small")).to_have_text("pair 2, Anna K.")
            assert said(path) == [(0, "Anna K.", 2.0)]
            one.get_by_role("button", name="Take back pair 0: A by 2").click()
            expect(one.locator("#now small")).to_have_text("pair 0, Anna K.")
            assert violations(one) == []
        assert said(path) == []
    finally:
        server.stop()
