"""The guard under attack: requests of strangers, other sites and broken clients to a real server on a real port."""

import socket
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import pytest
from served import Served, begun, home

import equipoise as eq

EVIL = '"><script>alert(1)</script><img src=x onerror=alert(1)>'


@pytest.fixture(scope="module")
def study(tmp_path_factory):
    path = tmp_path_factory.mktemp("guard") / "study.jsonl"
    opt = begun(path, readings=4)
    opt.ask(worker="page")
    return path


@pytest.fixture(scope="module")
def server(study):
    server = Served(study, impatient=True)
    yield server
    server.stop()


@pytest.fixture
def unchanged(study):
    """The study must be as it was, to the last byte."""
    before = study.read_bytes()
    yield
    assert study.read_bytes() == before


def raw(server, data, then=b""):
    """Send bytes; return all that comes back until the server closes, or `None` where it does not in time."""
    with socket.create_connection(("127.0.0.1", server.port), timeout=120) as line:
        line.sendall(data)
        found = line.recv(65536) if then else b""
        line.sendall(then)
        try:
            while more := line.recv(65536):
                found += more
        except TimeoutError:
            return None
        except ConnectionResetError:
            pass
        return found


# Who may come in.

PATHS = ["", "now", "known", "events", "confirm/pause", "trial/0", "logbook", "download/csv", "download/jsonl"]


@pytest.mark.parametrize("path", ["/", "/new", *(f"/study/study.jsonl/{path}" for path in PATHS)])
def test_nobody_sees_anything_without_a_cookie(server, path, unchanged):
    for cookie in (None, "equipoise=1", f"equipoise-{server.port}=", f"equipoise-{server.port}=é\x01"):
        answer = server.request("GET", path, headers={"Cookie": cookie}, cookie=None)
        assert answer.status == 401
        assert "study.jsonl" not in answer.text
        assert "mrad" not in answer.text
    assert server.post(path, {"do": "pause"}, cookie=None).status == 401


def test_a_token_is_exchanged_for_a_cookie_that_scripts_and_other_sites_do_not_get(server):
    token = server.operator.split("token=")[1]
    answer = server.get(f"/?token={token}", cookie=None)
    flags = {part.strip().lower() for part in answer.headers["set-cookie"].split(";")[1:]}
    assert {"httponly", "samesite=strict"} <= flags
    assert token not in answer.headers["set-cookie"]
    assert token not in answer.text
    assert answer.headers["cache-control"] == "no-store"


def test_a_wrong_token_opens_nothing_and_has_to_wait(server):
    token = server.operator.split("token=")[1]
    begun = time.monotonic()
    for wrong in (token[:-1], token + "x", token.swapcase(), "%00", server.cookie["operator"].split("=")[1]):
        answer = server.get(f"/?token={wrong}", cookie=None)
        assert answer.status == 401
        assert "set-cookie" not in answer.headers
    assert time.monotonic() - begun > 5 * 0.4
    assert server.post("/enter", {"token": "x" * 32}, cookie=None).status == 401
    assert server.post("/enter", {"token": token}, cookie=None).status == 200


def test_many_wrong_tokens_at_once_are_sent_away(server):
    answers = []

    def guess():
        answers.append(server.get("/?token=guessed", cookie=None).status)

    threads = [threading.Thread(target=guess) for _ in range(12)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert set(answers) == {401, 429}
    assert server.get(home("study.jsonl")).status == 200


def test_a_watcher_sees_everything_and_changes_nothing(server, unchanged):
    page = server.get(home("study.jsonl"), cookie="watcher")
    assert page.status == 200
    assert "watching only" in page.text
    assert "<form" not in page.text
    for do in ("answer", "fail", "skip", "undo", "pause", "audit", "best", "note", "correct", "retract"):
        answer = server.post(home("study.jsonl"), {"do": do, "trial": 4, "value": 1, "text": "x"}, cookie="watcher")
        assert answer.status == 403
    assert server.post("/new", {"name0": "q"}, cookie="watcher").status == 403


# Other names, other sites.


@pytest.mark.parametrize(
    "host",
    [
        *("evil.example", "evil.example:PORT", "localhost.evil.example", "127.0.0.1.evil.example:PORT", "", "a b"),
        *(
            "127.0.0.1:PORT@evil.example",
            "evil.example@127.0.0.1",
            "127.0.0.1/evil",
            "[::1",
            "10.0.0.7:PORT",
            "0.0.0.0",
        ),
    ],
)
def test_a_foreign_name_that_leads_here_is_refused(server, host, unchanged):
    """DNS rebinding: the browser believes that we are evil.example, and sends what it has for that name."""
    given = host.replace("PORT", str(server.port))
    assert server.get(home("study.jsonl"), Host=given).status in (400, 421)
    own = {"Host": given, "Origin": f"http://{given}"}
    assert server.post(home("study.jsonl"), {"do": "pause"}, **own).status in (400, 421)


def test_our_own_names_are_known_at_any_port():
    """A tunnel gives the page another port."""
    from equipoise.web.guard import Guard, Headers
    from equipoise.web.tokens import Tokens

    guard = Guard(None, Tokens.fresh())
    for host in ("localhost", "localhost:9000", "127.0.0.1:8765", "[::1]:80", "LOCALHOST"):
        assert guard._called_rightly(Headers({"host": host})), host
    assert not guard._called_rightly(Headers({"host": "10.0.0.7"}))
    anywhere = Guard(None, Tokens.fresh(), addresses=True)
    assert anywhere._called_rightly(Headers({"host": "10.0.0.7:8765"}))
    assert not anywhere._called_rightly(Headers({"host": "evil.example"}))


@pytest.mark.parametrize(
    "headers",
    [
        {"Origin": "http://evil.example", "Sec-Fetch-Site": "cross-site"},
        {"Origin": "http://evil.example"},
        {"Origin": "null"},
        {"Origin": "http://127.0.0.1:1"},
        {"Origin": "https://HOST"},
        {"Origin": "http://HOST.evil.example"},
        {"Origin": None, "Sec-Fetch-Site": None},
        {"Sec-Fetch-Site": "cross-site"},
        {"Sec-Fetch-Site": "same-site"},
        {"Sec-Fetch-Site": "none"},
        {"Origin": None, "Sec-Fetch-Site": "cross-site"},
    ],
    ids=str,
)
def test_a_change_must_come_from_our_own_page(server, headers, unchanged):
    headers = {name: value and value.replace("HOST", server.host) for name, value in headers.items()}
    answer = server.post(home("study.jsonl"), {"do": "note", "text": "forged"}, **headers)
    assert answer.status == 403
    assert not [name for name in answer.headers if name.lower().startswith("access-control")]


@pytest.mark.parametrize("method", ["OPTIONS", "PUT", "DELETE", "PATCH", "TRACE", "CONNECT", "FOO"])
def test_other_methods_are_refused(server, method, unchanged):
    answer = server.request(method, home("study.jsonl"), headers={"Origin": "http://evil.example"})
    assert answer.status in (400, 405)
    assert not [name for name in answer.headers if name.lower().startswith("access-control")]


def test_looking_changes_nothing(server, study, unchanged):
    names = [*PATHS, "confirm/best", "confirm/start", "confirm/audit", "download/svg", "?do=pause", "?do=note&text=x"]
    for name in names:
        if name != "events":
            assert server.get(home(study) + name).status == 200, name
    assert server.request("HEAD", home(study)).status == 200


def test_every_answer_says_what_a_browser_may_do_with_it(server):
    paths = [
        home("study.jsonl"),
        "/nothing",
        "/static/page.css",
        "/static/nothing",
        home("study.jsonl") + "download/csv",
    ]
    answers = [
        *map(server.get, paths),
        server.get("/", cookie=None),
        server.get("/", Host="evil"),
        server.post("/", b""),
    ]
    for answer in answers:
        policy = answer.headers["content-security-policy"]
        assert "default-src 'none'" in policy
        assert "frame-ancestors 'none'" in policy
        assert "unsafe" not in policy
        assert answer.headers["x-content-type-options"] == "nosniff"
        assert answer.headers["x-frame-options"] == "DENY"
        assert "server" not in answer.headers


def test_pages_need_nothing_that_the_policy_forbids_and_nobody_else(server, study):
    for name in ("", "confirm/pause", "trial/0", "logbook"):
        text = server.get(home(study) + name).text
        assert "http://" not in text.replace("http://www.w3.org", "")
        assert "https://" not in text
        for inline in (" style=", "<style", " onclick=", "javascript:", "<script>"):
            assert inline not in text


# What is sent.


def test_a_form_of_any_size_is_not_taken(server, unchanged):
    long = b"do=note&text=" + b"x" * 100_000
    assert server.post(home("study.jsonl"), long).status == 413
    claimed = {"Content-Length": "99999999999"}
    assert server.post(home("study.jsonl"), b"do=note", **claimed).status == 413
    chunk = b"%x\r\n%s\r\n" % (len(long), long)
    head = (
        f"POST {home('study.jsonl')} HTTP/1.1\r\nHost: {server.host}\r\nOrigin: http://{server.host}\r\n"
        f"Cookie: {server.cookie['operator']}\r\nContent-Type: application/x-www-form-urlencoded\r\n"
        "Transfer-Encoding: chunked\r\n\r\n"
    )
    assert b" 413 " in raw(server, head.encode() + chunk)[:20]
    assert server.post(home("study.jsonl"), {"do": "note", "text": "x" * 1001}).status == 409


@pytest.mark.parametrize("kind", ["application/json", "text/plain", "multipart/form-data; boundary=x", ""])
def test_only_forms_are_taken(server, kind, unchanged):
    answer = server.post(home("study.jsonl"), b"do=note&text=x", **{"Content-Type": kind})
    assert answer.status == 415


@pytest.mark.parametrize(
    "body",
    [
        *(b"", b"do=", b"do=exec", b"do=answer", b"do=answer&trial=4", b"do=answer&trial=-1&value=1"),
        *(b"\xff=%ff", b"do=%ff", b"&" * 1000),
        *(b"do=answer&trial=4&value=nan", b"do=answer&trial=4&value=1e999", b"do=answer&trial=4&value=1_0"),
        *(
            b"do=answer&trial=4&value=0,5",
            b"do=answer&trial=99999999999&value=1",
            b"do=answer&value=1&trial=" + b"9" * 5000,
            b"do=answer&trial=4&value=" + b"9" * 5000,
            b"do=audit&duels=0",
            b"do=correct&trial=4&value=1",
        ),
        *(
            b"do=fail&trial=4&reason=",
            b"do=undo&trial=0",
            b"do=retract&trial=4",
            b"do=automatic",
            b"do=cancel",
            b"do=note&text=",
        ),
    ],
)
def test_a_form_that_makes_no_sense_is_refused_with_a_reason(server, body, unchanged):
    answer = server.post(home("study.jsonl"), body, **{"HX-Request": "true"})
    assert answer.status == 409
    assert "Refused. " in answer.text


def test_whoever_sends_too_slowly_is_cut_off(server):
    """A head without its end, a dribble, a body that does not come, a second request that stops in its middle."""
    head = f"GET / HTTP/1.1\r\nHost: {server.host}\r\n".encode()
    promised = "Content-Type: application/x-www-form-urlencoded\r\nContent-Length: 50\r\n\r\ndo=no"
    body = f"POST / HTTP/1.1\r\nHost: {server.host}\r\nOrigin: http://{server.host}\r\n{promised}"
    sent = [(b"GET / HTTP/1.1\r\nHost: x",), (b"",), (head + b"\r\n", head), (body.encode(),)]
    with ThreadPoolExecutor() as pool:
        answers = list(pool.map(lambda parts: raw(server, *parts), sent))
    assert None not in answers
    assert answers[-1].startswith(b"HTTP/1.1 408")


def test_what_is_not_http_does_no_harm(server):
    for data in (b"\x16\x03\x01\x02\x00\x01", b"\r\n" * 1000, b"GET /" + b"a" * 100_000 + b" HTTP/1.1\r\n\r\n"):
        assert raw(server, data) is not None
    assert server.get(home("study.jsonl")).status == 200


@pytest.mark.parametrize(
    "path",
    [
        *("/study/..%2f..%2fetc%2fpasswd/", "/study/%2e%2e/", "/study/other.jsonl/", "/study/study.jsonl.lock/"),
        *("/static/../guard.py", "/static/..%2fguard.py", "/static/%2e%2e/guard.py", "/study/study.jsonl/download/exe"),
        *("/study/study.jsonl/trial/99", "/study/study.jsonl/confirm/exec", "/study/study.jsonl/trial/-1", "/%00"),
        *(f"/study/study.jsonl/trial/{'9' * 5000}", f"/study/study.jsonl/exhibit/{'9' * 5000}/A"),
    ],
)
def test_no_path_leads_elsewhere(server, path):
    answer = server.get(path)
    assert answer.status == 404
    assert "import" not in answer.text


# What a study says of itself.


def test_names_notes_and_reasons_are_text_and_nothing_else(tmp_path):
    path = tmp_path / f"{EVIL.replace('/', '')}.jsonl"
    space = eq.Space({EVIL: eq.Int(0, 3, unit=EVIL), "o": eq.Choice([EVIL, "b\u202e"])})
    opt = eq.Optimizer(space, kernel=eq.RBF(0.5), log=path, rng=0)
    opt.study.set("unit", EVIL)
    opt.study.note(EVIL, EVIL + "\u202e")
    opt.study.set("mode", "pause", EVIL + "\u202e")
    opt.tell(opt.ask(worker=EVIL), 0.5)
    with pytest.warns(eq.DuelGivenUp):
        opt.tell(opt.ask(worker=EVIL), failed=EVIL)
    opt.ask(worker="page")
    server = Served(tmp_path)
    try:
        listed = server.get("/").text
        assert EVIL not in listed
        link = listed.split('href="/study/')[1].split('"')[0]
        for name in ("", "now", "known", "trial/0", "trial/1", "logbook", "confirm/best"):
            answer = server.get(f"/study/{link}{name}")
            assert answer.status == 200, answer.text
            assert "<script>alert" not in answer.text
            assert "<img" not in answer.text
            assert "\u202e" not in answer.text
            assert "onerror=alert(1)&gt;" in answer.text  # it is shown, as text
        disposition = server.get(f"/study/{link}download/csv").headers["content-disposition"]
        assert "<" not in disposition
        assert '"' not in disposition.replace('filename="', "", 1)[:-1]
        said = server.post(f"/study/{link}", {"do": "answer", "trial": 2, "value": EVIL}, **{"HX-Request": "true"}).text
        assert "<script>alert" not in said
    finally:
        server.stop()


def test_a_page_for_other_machines_comes_with_a_warning(tmp_path):
    begun(tmp_path / "study.jsonl")
    server = Served(tmp_path / "study.jsonl", "--host", "0.0.0.0")
    try:
        assert server.get(home("study.jsonl"), cookie=None).status == 401
        assert server.get(home("study.jsonl")).status == 200
    finally:
        assert "without encryption" in server.stop()
