"""A served study: its screen and its actions."""

import threading
import time

import numpy as np
import pytest
from served import START, begun, value_at

import equipoise as eq
from equipoise.belief import refitting
from equipoise.lab.environments import Simulator
from equipoise.runners import FailedError
from equipoise.web.actions import change
from equipoise.web.automatic import Automatic
from equipoise.web.beginning import begin_demo
from equipoise.web.beside import entry, moves, table
from equipoise.web.forms import SKIPPED, RefusedError, fields
from equipoise.web.now import told_of
from equipoise.web.station import Station
from equipoise.web.studies import Studies
from studies import events

pytestmark = pytest.mark.filterwarnings("ignore::equipoise.DuelGivenUp")


@pytest.fixture
def station(tmp_path):
    begun(tmp_path / "study.jsonl")
    return Station(tmp_path / "study.jsonl")


def do(station, **given):
    return change(station, {name: str(value) for name, value in given.items()})


def test_a_reading_and_the_next_setting(station):
    assert station.now().question is None
    do(station, do="ask")
    now = station.now()
    asked = now.question
    assert (asked.number, asked.about, now.mode) == (0, "pair 0, first of 2", "by hand")
    assert asked.form.fields[0].unit == "nA"
    assert [dial.before for dial in asked.sides[0].dials] == ["0", "0", "open"]  # at the start, as was said
    do(station, do="answer", trial=0, value="0.5")
    after = station.now()
    assert (after.question.number, after.question.about, after.readings) == (1, "pair 0, second of 2", 1)
    assert [dial.before for dial in after.question.sides[0].dials] == [dial.value for dial in asked.sides[0].dials]
    assert after.version != now.version
    assert eq.resume(station.path).records()[0].value == 0.5


def test_the_seed_is_said_with_the_setting(tmp_path):
    eq.Optimizer(eq.Space(q1=eq.Float(0, 1)), seeds=["fold 1", "fold 2"], rng=0, log=tmp_path / "study.jsonl")
    station = Station(tmp_path / "study.jsonl")
    do(station, do="ask")
    assert station.now().question.about == "pair 0, first of 2, on seed fold 1"


def test_only_the_knobs_that_change_are_marked(station):
    do(station, do="ask")
    do(station, do="start", shown=moves(station, "start")[1])
    now = station.now()
    x = next(record.x for record in station.opt.records() if record.trial == now.question.number)
    assert [dial.changed for dial in now.question.sides[0].dials] == [x[name] != START[name] for name in START]


def test_a_form_that_is_out_of_date_is_refused_and_told_why(station):
    do(station, do="ask")
    other = eq.resume(station.path)
    other.tell(0, 0.25)
    with pytest.raises(RefusedError, match=r"out of date: trial 0 was told 0\.25 at .*no trial is open here now"):
        do(station, do="answer", trial=0, value="0.5")
    assert do(station, do="answer", trial=0, value="0.25") == ["Trial 0 was already told 0.25."]
    do(station, do="ask")
    with pytest.raises(RefusedError, match=r"trial 0 was told 0\.25 at .*and trial 1 is open here now"):
        do(station, do="fail", trial=0, reason="late")
    with pytest.raises(RefusedError, match="trial 7 is not known"):
        do(station, do="answer", trial=7, value="1")


def test_failed_skipped_undone_corrected_retracted(station):
    do(station, do="ask")
    do(station, do="fail", trial=0, reason="shutter\nclosed")
    do(station, do="skip", trial=station.now().question.number)
    assert [record.failed for record in station.opt.records()][:2] == ["shutter closed", SKIPPED]
    trial = station.now().question.number
    do(station, do="answer", trial=trial, value="1.5", error="0.1")
    with pytest.raises(RefusedError, match="no longer the last answer"):
        do(station, do="undo", trial=0)
    do(station, do="undo", trial=trial)
    assert station.now().question.number == trial
    do(station, do="answer", trial=trial, value="\N{MINUS SIGN}2.5")
    with pytest.raises(RefusedError, match="has changed meanwhile"):
        do(station, do="correct", trial=trial, value="2.5", was=told_of(1.5))
    do(station, do="correct", trial=trial, value="2.5", was=told_of(-2.5))
    assert next(row.values for row in station.known()["trials"]["rows"] if row.trial == trial) == ("2.5",)
    do(station, do="undo", trial=trial)
    assert next(row.values for row in station.known()["trials"]["rows"] if row.trial == trial) == ("-2.5",)  # one step
    do(station, do="correct", trial=trial, value="2.5", was=told_of(-2.5))
    do(station, do="retract", trial=trial, was=told_of(2.5))
    assert station.opt.readings == 0
    assert station.known()["trials"]["undo"].trial == trial  # what was taken back may be told again


def test_what_is_done_beside_measuring_is_in_the_log(station):
    do(station, do="ask")
    for _ in range(4):
        now = station.now()
        do(station, do="answer", trial=now.question.number, value=str(0.1 * now.question.number))
    do(station, do="pause", reason="lunch")
    assert "lunch" in station.now().paused
    with pytest.raises(RefusedError, match="paused"):
        do(station, do="ask")
    do(station, do="by hand")
    do(station, do="audit", duels="3")
    assert "0 of 3" in station.known()["best"]["plan"]
    do(station, do="cancel")
    with pytest.raises(RefusedError, match="The best setting has changed meanwhile"):
        do(station, do="best", shown=told_of(START | {"focus": 6}))
    do(station, do="best", shown=moves(station, "best")[1])
    do(station, do="note", text="beam is back")
    notes = [(event["topic"], event["text"]) for event in events(station.path) if "note" in event]
    assert notes == [("dialed in: best", ""), ("note", "beam is back")]
    modes = [(event["value"], event.get("why")) for event in events(station.path) if event.get("set") == "mode"]
    assert modes == [("pause", "lunch"), ("by hand", None)]
    assert [text for _, text in station.known()["notes"]["notes"]] == [
        "note: beam is back",
        "dialed in: best",
        "by hand",
        "paused: lunch",
    ]
    assert all(dial.changed is False for dial in moves(station, "best")[0])
    text = entry(station)
    assert "4 readings" in text
    assert "beam is back" in text


def test_what_is_known(tmp_path):
    begun(tmp_path / "study.jsonl", readings=30)
    known = Station(tmp_path / "study.jsonl").known()
    best, chart = known["best"], known["readings"]["chart"]
    assert known.told == "30 readings"
    assert "nA" in best["claims"][0]
    assert "nA" in best["against_start"]
    assert [dial.before for dial in best["setting"]] == ["0", "0", "open"]
    assert [row.trial for row in known["trials"]["rows"]] == list(range(29, -1, -1))
    assert "reading / " not in chart
    assert "value / nA" in chart


def test_a_reading_that_nobody_asked_for_is_in_the_list(tmp_path):
    begun(tmp_path / "study.jsonl", kernel=None)
    station = Station(tmp_path / "study.jsonl")
    eq.resume(station.path).add(START, 0.75)
    assert [(row.values, row.state) for row in station.known()["trials"]["rows"]] == [(("0.75",), "told")]
    station.opt.study.follow()
    assert b",0.75," in table(station)


def test_what_others_write_is_followed_and_computed_once(station):
    first = station.known()
    assert station.known() is first
    other = eq.resume(station.path)
    other.tell(other.ask(worker="shell"), 0.5)
    again = station.known()
    assert again.told == "1 reading"
    assert again["trials"]["rows"][0].state == "told"
    assert station.now().question is None  # it was the shell's


@pytest.mark.parametrize("between", ["recommend", "follow"])
def test_what_is_written_while_it_is_computed_is_shown_by_the_next_look(station, between, monkeypatch):
    """Else a screen would be old for as long as nothing else is written."""
    shell = eq.resume(station.path)
    owner = eq.Optimizer if between == "recommend" else type(station.opt.study)
    real = getattr(owner, between)

    def late(study):  # after the study was followed
        found = real(study)
        monkeypatch.undo()
        shell.tell(shell.ask(worker="page"), 0.5)
        shell.ask(worker="page")
        return found

    shell.study.set("mode", "pause")
    monkeypatch.setattr(owner, between, late)
    (station.known if between == "recommend" else station.now)()
    assert station.now().question.number == 1
    assert station.known().told == "1 reading"
    assert station.known().version == station.edition


@pytest.fixture
def learned(tmp_path):
    """A station of a study that learns its model, five readings told."""
    begun(tmp_path / "study.jsonl", readings=5, kernel=None)
    station = Station(tmp_path / "study.jsonl")
    do(station, do="ask")
    return station


def test_a_reading_does_not_wait_for_the_fit_that_it_is_due(learned, monkeypatch):
    fitting, let_go, real = threading.Event(), threading.Event(), refitting.fit

    def slow(*arguments):
        fitting.set()
        assert let_go.wait(60)
        return real(*arguments)

    monkeypatch.setattr(refitting, "fit", slow)
    do(learned, do="answer", trial=5, value="0.5")
    assert fitting.wait(60)
    assert learned.now().question.number == 6  # the next setting is there, and more can be told, while it fits
    do(learned, do="answer", trial=6, value="0.5")
    assert learned.known().told == "7 readings"
    let_go.set()
    until(lambda: "refit" in events(learned.path)[-1])
    assert not eq.resume(learned.path).study.refit()


def test_no_thread_is_left_when_no_fit_is_due(learned):
    """Whatever runs beside a study ends by itself: a server may have many studies."""
    for trial in (5, 6):
        do(learned, do="answer", trial=trial, value="0.5")
        until(lambda: not [thread for thread in threading.enumerate() if thread.name == "fits"])
        assert not learned.opt.study.refit()
    assert any("refit" in line for line in events(learned.path))


def test_a_fit_that_was_left_over_is_made(tmp_path):
    opt = begun(tmp_path / "study.jsonl", readings=5, kernel=None)
    opt.tell(opt.ask(worker="page"), 0.5, refit=False)
    station = Station(tmp_path / "study.jsonl")
    until(lambda: "refit" in events(station.path)[-1])


def test_a_reading_does_not_wait_for_the_pictures(learned, monkeypatch):
    looking, let_go, real = threading.Event(), threading.Event(), learned.viewer._opt.recommend

    def slow():
        looking.set()
        assert let_go.wait(60)
        return real()

    monkeypatch.setattr(learned.viewer._opt, "recommend", slow)
    watcher = threading.Thread(target=learned.known)
    watcher.start()
    assert looking.wait(60)
    do(learned, do="answer", trial=5, value="0.5")
    assert learned.now().question.number == 6
    let_go.set()
    watcher.join()


def test_a_fit_that_cannot_be_written_is_made_after_the_next_reading(learned, monkeypatch):
    tried = threading.Event()

    def full(study):
        tried.set()
        raise eq.LogError("full")

    monkeypatch.setattr(type(learned.opt.study), "refit", full)
    do(learned, do="answer", trial=5, value="0.5")
    assert tried.wait(60)
    monkeypatch.undo()
    do(learned, do="answer", trial=6, value="0.5")
    until(lambda: any("refit" in line for line in events(learned.path)))


def test_two_stations_and_a_shell_lose_nothing(tmp_path):
    path = tmp_path / "study.jsonl"
    begun(path)
    stations = [Station(path, worker=name) for name in ("a", "b")]

    def work(station):
        do(station, do="ask")
        for _ in range(15):
            trial = station.now().question.number
            do(station, do="answer", trial=trial, value=str(trial / 8))

    threads = [threading.Thread(target=work, args=(station,)) for station in stations]
    for thread in threads:
        thread.start()
    shell = eq.resume(path)
    for _ in range(5):
        shell.tell(shell.ask(), 1.0)
    for thread in threads:
        thread.join()
    records = eq.resume(path).records()
    assert sum(record.value is not None for record in records) == 35
    assert all(r.value == r.trial / 8 for r in records if r.value is not None and r.worker in ("a", "b"))


def test_a_machine_stands_where_its_worker_read_last_or_where_it_was_moved_since(tmp_path):
    opt = begun(tmp_path / "study.jsonl", readings=3, kernel=None)
    assert opt.study.position() is None  # the page has measured, nobody else
    opt.tell(opt.ask(worker="w"), 0.5)
    opt.add(START, 0.75)  # the study did not ask for it
    at = {record.trial: record.x for record in opt.records()}
    assert (opt.study.position("page"), opt.study.position("w")) == (at[2], at[4])
    opt.study.note("moved", x=START)
    assert (
        opt.study.position("page") == opt.study.position("w") == START == eq.resume(opt.study.log).study.position("x")
    )


# By itself.


def until(true, seconds=120.0):
    """Wait until something is true."""
    deadline = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < deadline
        time.sleep(0.01)


def test_a_program_measures_until_somebody_pauses_and_goes_on_where_a_person_left_off(tmp_path):
    begun(tmp_path / "study.jsonl")
    station = Station(tmp_path / "study.jsonl", machine=True)

    def measure(trial):
        if trial.id == 2:
            raise KeyError("shutter closed")
        return {"value": value_at(trial.x)}

    loop = Automatic(station, measure)
    loop.start()
    try:
        with pytest.raises(RuntimeError, match="another run is active"):
            Automatic(Station(tmp_path / "study.jsonl", machine=True), measure).start()
        until(lambda: station.opt.readings >= 6)
        do(station, do="by hand")
        until(lambda: not station.busy)
        count = station.opt.readings
        do(station, do="ask")
        do(station, do="answer", trial=station.now().question.number, value="1")
        assert station.opt.readings == count + 1
        do(station, do="automatic")
        until(lambda: station.opt.readings >= count + 4)
    finally:
        loop.stop()
    assert [record.failed for record in station.opt.records() if record.trial == 2] == ["'shutter closed'"]


def test_a_program_that_always_fails_pauses_the_study(tmp_path):
    begun(tmp_path / "study.jsonl")
    station = Station(tmp_path / "study.jsonl", machine=True)

    def measure(trial):
        raise FailedError("no beam")

    loop = Automatic(station, measure)
    loop.start()
    try:
        until(lambda: station.mode == "pause")
    finally:
        loop.stop()
    assert "10 times in a row" in station.now().paused


def test_the_simulated_instrument_drifts_by_more_than_it_tells(tmp_path):
    begin_demo(tmp_path / "demo.jsonl")
    opt = eq.resume(tmp_path / "demo.jsonl")
    read, trial = Simulator(seed=0, seconds=0.0), opt.ask()
    values = np.array([read(trial.x) for _ in range(300)])
    assert np.ptp(values) > 8
    assert np.abs(np.diff(values)).mean() < 2


# Names and forms.


def test_a_folder_offers_its_studies_and_nothing_else(tmp_path):
    begun(tmp_path / "a.jsonl")
    (tmp_path / "notes.txt").write_text("x")
    (tmp_path / "broken.jsonl").write_text("{}\n")
    studies = Studies(tmp_path)
    assert set(studies.files()) == {"a.jsonl", "broken.jsonl"}
    assert studies.station("a.jsonl") is studies.station("a.jsonl")
    for name in ("notes.txt", "../a.jsonl", "a.jsonl.lock", ""):
        assert studies.station(name) is None
    for name in ("", "../x", "a b", ".x", "x" * 200):
        with pytest.raises(RefusedError):
            studies.place(name)


def test_a_form_is_read_as_it_was_sent():
    assert fields(b"reason=%C3%BC+%26&value=") == {"reason": "ü &", "value": ""}
    for body in (b"\xff", b"a=%ff", b"&".join(b"a=1" for _ in range(300))):
        with pytest.raises(RefusedError, match="cannot be read"):
            fields(body)


def test_a_log_that_is_gone_is_said_and_taken_up_again(station, tmp_path):
    do(station, do="ask")
    station.path.rename(tmp_path / "elsewhere")
    for look in (station.now, station.known, lambda: do(station, do="answer", trial=0, value="1")):
        with pytest.raises((eq.LogError, RefusedError), match="No such file"):
            look()
    (tmp_path / "elsewhere").rename(station.path)
    do(station, do="answer", trial=0, value="1")
    assert station.known().told == "1 reading"


def test_a_program_whose_log_cannot_be_written_says_so_and_goes_on(tmp_path):
    begun(tmp_path / "study.jsonl")
    station = Station(tmp_path / "study.jsonl", machine=True)
    loop = Automatic(station, lambda trial: {"value": value_at(trial.x)})
    loop.start()
    try:
        until(lambda: station.opt.readings >= 2)
        station.path.rename(tmp_path / "elsewhere")
        until(lambda: station.trouble)
        assert "cannot continue" in station.trouble
        (tmp_path / "elsewhere").rename(station.path)
        until(lambda: not station.trouble and station.opt.readings >= 4)
    finally:
        loop.stop()


def test_a_context_is_asked_for_before_each_pair(tmp_path):
    space = eq.Space(q=eq.Int(0, 5), temp=eq.Context(0, 40), sample=eq.Context(["dry", "wet"]))
    eq.Optimizer(space, log=tmp_path / "study.jsonl", rng=0)
    station = Station(tmp_path / "study.jsonl")
    assert [(need.label, need.options) for need in station.now().needs] == [("temp", ()), ("sample", ("dry", "wet"))]
    for temp, sample in (("warm", "dry"), ("21", "old"), ("", "wet"), ("99", "dry")):
        with pytest.raises(RefusedError, match="must"):
            do(station, do="ask", **{"context.temp": temp, "context.sample": sample})
    do(station, do="ask", **{"context.temp": "21", "context.sample": "wet"})
    do(station, do="answer", trial=0, value="1")
    assert station.now().question.number == 1  # the second half is at the same
    do(station, do="answer", trial=1, value="2")
    now = station.now()
    assert now.question is None
    assert [need.value for need in now.needs] == ["21", "wet"]
    assert station.known().told == "2 readings"


def test_a_program_measures_at_the_context_that_is_given(tmp_path):
    eq.Optimizer(eq.Space(q=eq.Int(0, 5), temp=eq.Context(0, 40)), log=tmp_path / "study.jsonl", rng=0)
    for context in (None, {"temp": 21}):
        station = Station(tmp_path / "study.jsonl", machine=True, context=context)
        loop = Automatic(station, lambda trial: {"value": float(trial.x["q"])})
        loop.start()
        try:
            until(lambda station=station: station.trouble or station.opt.readings >= 4)
        finally:
            loop.stop()
        assert ("temp" in station.trouble) == (context is None)
    assert {record.x["temp"] for record in station.opt.records()} == {21.0}
