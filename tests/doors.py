"""Every way into a study, each a function of a log that goes through it and looks at what comes out.

A door raises nothing but `RefusedError`, with the words of the refusal, and lets no text pass that has a NaN in it.
"""

import asyncio
import copy
import csv
import io
import json
import pickle
import re
import threading
from urllib.parse import urlencode

import numpy as np
import pytest
from click.testing import CliRunner

import equipoise as eq
from equipoise.cli.main import main
from equipoise.likelihoods import written
from equipoise.web.now import Sitting
from equipoise.web.server import application
from equipoise.web.studies import Studies
from kinds import by_name
from studies import events, rewrite

NAN = re.compile(r"\bnan\b", re.IGNORECASE)
CONTEXT = {"temp": 20}
MOST_UNDONE = 15
"""How many answers are taken back at most: each costs a replay."""


class RefusedError(Exception):
    """The study has refused what it was asked for, in words."""


def clean(text):
    """Return a text, which must not have a NaN in it."""
    assert NAN.search(text) is None, text
    return text


def strictly(text):
    """Return what a text says as JSON; NaN and Infinity are no JSON."""
    return json.loads(text, parse_constant=lambda word: (_ for _ in ()).throw(AssertionError(f"{word} is no JSON")))


def shell(*words, codes=(0,)):
    """Run a command; return what it says."""
    result = CliRunner().invoke(main, list(map(str, words)))
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    clean(result.output)
    if result.exit_code not in codes:
        raise RefusedError(result.output.strip().splitlines()[-1])
    if result.exit_code and not result.stdout:
        raise RefusedError(result.output.strip().splitlines()[-1])
    return strictly(result.stdout) if "--json" in words else result.stdout


def at(path):
    """Return the context of a study, if it has one, as an argument and as options."""
    with path.open(encoding="utf-8") as file:
        parameters = json.loads(file.readline())["space"].get("parameters", {})
    context = CONTEXT if "temp" in parameters else None
    return context, [] if context is None else ["--context", "temp=20"]


def spoken(opt, value):
    """Return a value as an answer of the study: a number, a count, a share or numbers by name."""
    if opt.study.setup.outputs is not None:
        return by_name(opt, value)
    count = round(abs(8 * value))
    return {"log rate": count, "log odds": (min(count, 20), 20)}.get(opt.study.setup.likelihood.scale, value)


def typed(opt, value):
    """Return the same as people type it."""
    said = spoken(opt, value)
    return written(said) if isinstance(said, dict) else written(*np.atleast_1d(said).tolist())


def refused(act):
    """Do something with a study; where that is refused in words, say so."""
    try:
        return act()
    except (ValueError, RuntimeError) as error:
        raise RefusedError(str(error)) from error


def seen(opt, context=None):
    """Return what is believed and would be asked next."""
    part = opt.space.at(context)
    points = part.candidates(np.random.default_rng(0))[:20]
    mean, psi = opt.posterior.difference(points, points[0])
    assert np.isfinite(mean).all()
    assert np.isfinite(psi).all()
    return mean.tolist(), psi.tolist(), opt.study.propose(context=context).points.tolist()


def must_agree(one, other, context=None):
    """Two optimizers are one study; a product rounds as its factors lie in memory, so not to the last bit."""
    for a, b in zip(seen(one, context), seen(other, context), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-9, atol=1e-12)


def ask(path):
    _, options = at(path)
    shown, data = shell("ask", path, *options), shell("ask", path, *options, "--json")
    assert str(data["id"]) not in shown.split()[0]
    opt = eq.resume(path)
    assert set(opt.study.open_trials) >= {int(shown.split()[0]), data["id"]}
    opt.ask(n=3, worker="laser-2", context=at(path)[0])


def tell(path):
    context, options = at(path)
    for value in (0.5, -0.25):
        trial = shell("ask", path, *options, "--json")["id"]
        shell("tell", path, trial, typed(eq.resume(path), value), "--time", trial, "--json")
    seen(eq.resume(path), context)


def fail(path):
    context, options = at(path)
    trial = shell("ask", path, *options, "--json")["id"]
    shell("fail", path, trial, "no beam")
    seen(eq.resume(path), context)


def expire(path):
    _, options = at(path)
    trial = shell("ask", path, *options, "--json")["id"]
    shell("expire", path, trial)
    assert shell("ask", path, *options, "--json")["id"] == trial


def correct(path):
    opt = eq.resume(path)
    told = [record.trial for record in opt.records() if record.value is not None]
    if not told:
        raise RefusedError("nothing was told")
    before = opt.recommend().readings
    shell("correct", path, told[-1], typed(opt, 0.125))
    shell("retract", path, told[0])
    again = eq.resume(path)
    seen(again, at(path)[0])
    assert again.recommend().readings >= before - 1


def judge(path):
    opt, (context, _) = eq.resume(path), at(path)
    for answer in ("first", 0.5):
        pair = refused(lambda: opt.study.next_pair(judge="carl", context=context))
        opt.tell(pair, answer)
        clean(str(opt.study.judges()))
    seen(opt, context)
    if context is None:
        shell("judge", path, shell("judge", path, "--json", "--judge", "carl")["id"], "second")
        shell("judge", path, shell("judge", path, "--json")["id"], "skip")


def best(path):
    _, options = at(path)
    shell("best", path, *options)
    shell("best", path, *options, "--json", "--eps", 0.1, codes=(0, 3))
    opt = eq.resume(path)
    found = opt.recommend(context=at(path)[0])
    clean(str(found) + repr(found) + found._repr_html_() + repr(opt) + opt._repr_html_())
    assert np.isfinite(opt.space.encode(found.x)).all()


def compare(path):
    opt, (context, _) = eq.resume(path), at(path)
    a, *_, b = np.tile(opt.space.at(context).candidates(np.random.default_rng(0)), (2, 1))
    found = opt.compare(opt.space.decode(a), opt.space.decode(b))
    clean(str(found) + repr(found))
    ranking = [(place["rank"], place["value"]) for place in shell("rank", path, "--json")]
    assert ranking == [(place.rank, place.value) for place in refused(opt.rank)]
    shell("rank", path)
    assert 0 <= refused(lambda: opt.study.coin_test(99)) <= 1


def past(path):
    opt = eq.resume(path)
    told = opt.readings + opt.judgements
    clean(str(opt.study.history([0, told // 2, told], context=at(path)[0])))


def status(path):
    shell("status", path)
    shell("status", path, "--json")


def rows(text):
    """Return the columns and the rows of a table."""
    reader = csv.DictReader(io.StringIO(text))
    return list(reader.fieldnames), list(reader)


def export(path):
    opt = eq.resume(path)
    for options, expected in (((), opt.records()), (("--judgements",), opt.records(judgements=True))):
        found = rows(shell("export", path, *options))[1]
        assert len(found) == len(shell("export", path, *options, "--json")) == len(expected)
    assert len(opt.study.to_frame()) == len(opt.records())
    assert len(opt.study.to_frame(judgements=True)) == len(opt.records(judgements=True))


def table(path, *options):
    """Export a table and put its values up, so that it is another one."""
    file = path.with_suffix(".csv")
    columns, found = rows(shell("export", path, *options))
    setup = eq.resume(path).study.setup
    exact = setup.likelihood.exact
    for row in found:
        whole = () if exact else setup.columns[:1]
        row |= {name: float(row[name]) + (1.0 if name in whole else 0.5) for name in setup.columns if row.get(name)}
        row |= {"block": ""} if "block" in row else {}
        row |= {"value": float(row["value"]) + (0.5 if exact else 1.0)} if row.get("value") else {}
        row |= {"of": float(row["of"]) + 1.0} if row.get("of") else {}
        row |= {"judge": "dora"} if "judge" in row else {}
    with file.open("w", newline="") as out:
        writer = csv.DictWriter(out, columns)
        writer.writeheader()
        writer.writerows(found)
    return file, sum(bool(row.get("value") or row.get("answer")) for row in found)


def import_into(path):
    file, told = table(path)
    before = eq.resume(path).readings
    taken = shell("import", path, file, "--block", "2024", "--json", codes=(0, 1))
    assert taken["taken"] == told, taken
    opt = eq.resume(path)
    assert opt.readings == before
    seen(opt, at(path)[0])


def import_judgements(path):
    file, told = table(path, "--judgements")
    before = eq.resume(path).judgements
    shell("import", path, file, "--judgements", "--json")
    opt = eq.resume(path)
    assert opt.judgements == before + told
    seen(opt, at(path)[0])


def frames(path):
    opt = eq.resume(path)
    judged, read = opt.study.to_frame(judgements=True), opt.study.to_frame()
    if len(judged):
        assert len(opt.study.add_frame(judged, judgements=True)) == judged["answer"].notna().sum()
    if len(read):
        known = read[read["value"].notna()].assign(block="2024")
        assert len(refused(lambda: opt.study.add_frame(known))) == len(known)
    seen(opt, at(path)[0])


def plot(path):
    _, options = at(path)
    shell("plot", path, *options, "--out", path.with_suffix(".png"))


def replay(path):
    shell("replay", path)
    shell("replay", path, "--json")


def replay_verify(path):
    shell("replay", path, "--verify")


def audit(path):
    _plan(path, "audit")


def verify(path):
    _plan(path, "verify")


def _plan(path, purpose):
    context, options = at(path)
    shell(purpose, path, "--duels", 2, *options)
    opt = eq.resume(path)
    asked = 0
    while opt.study.plan is not None and asked < 12:
        trial = opt.ask(context=context)
        opt.tell(trial, spoken(opt, 0.1 * trial.id), time=float(trial.id))
        asked += 1
    assert opt.study.plan is None
    clean(str(opt.recommend(context=context)))
    shell("status", path)


def cancel(path):
    opt = eq.resume(path)
    if opt.study.plan is None:
        refused(lambda: opt.verify(2, context=at(path)[0]))
    shell("cancel", path)
    seen(eq.resume(path), at(path)[0])


def undo(path):
    for _ in range(2):
        shell("undo", path)
    shell("status", path)
    shell("best", path, *at(path)[1])


def undo_all(path):
    opt = eq.resume(path)
    for _ in range(MOST_UNDONE):
        if opt.study.last_answered is not None:
            opt.undo()
    again = eq.resume(path)
    assert again.study.open_trials == opt.study.open_trials
    must_agree(again, opt, at(path)[0])


def goes_on(path):
    """Measure, judge, correct, take back, fail and begin a block, all in a row."""
    opt, (context, _) = eq.resume(path), at(path)
    trial = opt.ask(context=context)
    error = 0.1 if opt.study.setup.likelihood.exact else 0.0
    opt.tell(trial, spoken(opt, 0.25), error=error, covariates={"humidity": 0.5})
    opt.correct(trial, spoken(opt, 0.5))
    opt.study.set("unit", "nA")
    opt.tell(opt.ask(context=context), spoken(opt, 0.75))
    opt.undo()
    opt.retract(trial)
    opt.begin_block("thursday")
    opt.study.note("done")
    again = eq.resume(path)
    must_agree(opt, again, context)


def pickled(path):
    _copied(path, lambda opt: pickle.loads(pickle.dumps(opt)))


def copied(path):
    _copied(path, copy.deepcopy)


def _copied(path, copy_of):
    opt, (context, _) = eq.resume(path), at(path)
    other = copy_of(opt)
    assert other.study.log is None
    must_agree(other, opt, context)
    size = path.stat().st_size
    other.tell(other.ask(context=context), spoken(opt, 0.5))
    assert path.stat().st_size == size
    assert (opt.readings, opt.judgements) == (other.readings - 1, other.judgements)


def resumed(path):
    context, _ = at(path)
    opt, again = eq.resume(path), eq.resume(path)
    must_agree(opt, again, context)
    opt.tell(opt.ask(context=context), spoken(opt, 0.5))
    again.study.follow()
    must_agree(opt, again, context)
    assert [repr(record) for record in opt.records()] == [repr(record) for record in again.records()]


def thread(path):
    opt, (context, _), out = eq.resume(path), at(path), []

    def work():
        try:
            opt.tell(opt.ask(context=context), spoken(opt, 0.5))
            out.append(opt.recommend(context=context))
        except BaseException as error:
            out.append(error)

    worker = threading.Thread(target=work)
    worker.start()
    worker.join()
    if isinstance(out[0], BaseException):
        raise out[0]
    again = eq.resume(path)
    must_agree(opt, again, context)


class Page:
    """The pages of a study, asked for without a server."""

    def __init__(self, path, sitting=None, context=None):
        self._app = application(Studies(path, context=context, sitting=sitting))
        self.home = f"/study/{path.name}/"

    def get(self, address, *status):
        return self._request("GET", address, b"", status or (200,))

    def post(self, address="", **fields):
        return self._request("POST", self.home + address, urlencode(fields).encode(), (200,))

    def _request(self, method, address, body, status):
        where, _, query = address.partition("?")
        scope = {
            **{"type": "http", "method": method, "path": where, "raw_path": where.encode(), "root_path": ""},
            **{"query_string": query.encode(), "scheme": "http", "server": ("localhost", 80), "http_version": "1.1"},
            **{"headers": [(b"host", b"localhost"), (b"hx-request", b"true")], "equipoise.role": "operator"},
        }
        sent = []

        async def receive():
            return {"type": "http.request", "body": body, "more_body": False}

        async def send(message):
            sent.append(message)

        asyncio.run(self._app(scope, receive, send))
        text = b"".join(message.get("body", b"") for message in sent[1:]).decode(errors="replace")
        if sent[0]["status"] == 409:
            raise RefusedError(re.search(r"Refused\. (.*?)<", text)[1])
        assert sent[0]["status"] in status, (sent[0]["status"], address, text)
        return clean(text)


def _pages(path, sitting=None):
    context, _ = at(path)
    before = set(threading.enumerate())
    page, opt = Page(path, sitting, context), eq.resume(path)
    page.get("/", 303)
    page.get("/new")
    home = page.home if sitting is None or sitting.judge is not None else f"{page.home}judge/carl/"
    shown = (200,) if sitting is None else (200, 303)  # who judges blind is led away from what would tell settings
    for name in ("", "now", "known", "hidden", "logbook", "download/csv", "download/judgements.csv", "download/jsonl"):
        page.get(home + name, *shown)
    for what in ("pause", "by hand", "automatic", "audit", "verify", "cancel", "best"):
        page.get(f"{home}confirm/{what}", *shown)
    page.get(f"{home}confirm/nothing", 404)
    answered = [record.trial for record in opt.records()][-2:] + [pair.id for pair, _ in opt.study.answers()][-1:]
    for trial in answered:
        page.get(f"{home}trial/{trial}", *shown, *(() if sitting is None else (404,)))  # a judge sees no other's
    page.get(f"{home}trial/99999", 404)
    for worker in set(threading.enumerate()) - before:
        if "look_back" in worker.name:
            worker.join()  # what is computed of the past; others go on
    page.get(home)
    return page


def serve(path):
    page = _pages(path)
    page.post(do="note", text="hello")
    opt = eq.resume(path)
    names = opt.study.setup.columns
    if names or not opt.study.setup.likelihood.exact:
        page.post(do="ask")
        (trial,) = set(eq.resume(path).study.open_trials) - set(opt.study.open_trials)
        said = {f"value-{name}": y for name, y in spoken(opt, 0.5).items()} if names else {"value": typed(opt, 0.5)}
        page.post(do="answer", trial=trial, **said)
        assert typed(opt, 0.5) in page.get(f"{page.home}trial/{trial}")
    page.get(page.home)


def serve_judges(path):
    page = _pages(path, Sitting(None, blind=True))
    page.post(address="judge/carl/", do="ask")
    page.get(f"{page.home}judge/carl/")


def gest(path):
    """Let a generator of gest-api go on with a study of q1 and q2; VOCS has no units."""
    vocs = pytest.importorskip("gest_api.vocs")
    from equipoise.integrations.gest import DuelGenerator

    lines = events(path)
    lines[0]["space"]["parameters"]["q1"].pop("unit", None)
    rewrite(path, lines)
    goal = "MINIMIZE" if eq.resume(path).study.setup.minimize else "MAXIMIZE"
    space = vocs.VOCS(variables={"q1": [-2, 2], "q2": [-1, 1]}, objectives={"f": goal})
    generator = DuelGenerator(space, log=path)
    generator.ingest([point | {"f": 0.1 * point["_id"]} for point in generator.suggest(3)])
    clean(str(generator.get_best_points()))
    seen(eq.resume(path))


DOORS = {
    door.__name__.replace("_", "-"): door
    for door in (
        *(ask, tell, fail, expire, correct, judge, best, compare, past, status, export, import_into, import_judgements),
        *(
            frames,
            plot,
            replay,
            replay_verify,
            audit,
            verify,
            cancel,
            undo,
            undo_all,
            goes_on,
            pickled,
            copied,
            resumed,
        ),
        *(thread, serve, serve_judges, gest),
    )
}
"""Every way into a study, by name."""
