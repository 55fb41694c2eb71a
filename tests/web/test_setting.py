"""The machine is set from the page: by a program or a function, only after a confirmation, within `max_step`."""

import threading
import time

import pytest
from served import START, Served, begun, home
from test_page import answered
from test_station import do, until

import equipoise as eq
from equipoise.study import way
from equipoise.web import Means
from equipoise.web.automatic import Automatic
from equipoise.web.beside import moves
from equipoise.web.forms import RefusedError
from equipoise.web.server import application
from equipoise.web.station import Station
from equipoise.web.studies import Studies


@pytest.fixture
def stands():
    return []


@pytest.fixture
def station(tmp_path, stands):
    begun(tmp_path / "study.jsonl", readings=2)
    return Station(tmp_path / "study.jsonl", means=Means(set=stands.append))


def test_a_trial_is_set_only_when_somebody_presses(station, stands):
    do(station, do="ask")
    assert (stands, station.now().settable, station.now().dialed) == ([], True, "")
    do(station, do="set", trial=2)
    assert stands == [station.opt.records(trials=[2])[0].x]
    assert station.now().dialed
    do(station, do="answer", trial=2, value="1")
    assert (len(stands), station.now().dialed) == (1, "")  # the next one is not set by itself
    with pytest.raises(RefusedError, match="out of date: trial 2 was told"):
        do(station, do="set", trial=2)


@pytest.mark.parametrize("where", ["start", "best"])
def test_the_start_and_the_best_setting_are_set_as_they_were_shown(station, stands, where):
    x, shown = START if where == "start" else station.opt.recommend().x, moves(station, where)[1]
    with pytest.raises(RefusedError, match="has changed meanwhile"):
        do(station, do=where, shown="0123")
    assert stands == []
    do(station, do=where, shown=shown)
    assert stands == [x]
    assert station.stands == x
    assert eq.resume(station.path).study.notes[-1].topic == f"dialed in: {where}"


def test_a_way_obeys_the_limits_or_is_refused(tmp_path):
    space = eq.Space(n=eq.Int(0, 7), q=eq.Float(0, 1), constraint="n + 7 * q <= 10")
    opt = eq.Optimizer(space, start={"n": 0, "q": 0.0}, max_step={"n": 2.5, "q": 0.25}, rng=0)
    found = way(opt.study.setup, None, {"n": 7, "q": 0.4})
    assert found[-1] == {"n": 7, "q": 0.4}
    settings = [{"n": 0, "q": 0.0}, *found]
    for one, other in zip(settings, found, strict=False):
        assert abs(other["n"] - one["n"]) <= 2.5
        assert abs(other["q"] - one["q"]) <= 0.25
        assert space.valid(space.encode(other)[None])[0]
    with pytest.raises(ValueError, match="violates the constraint"):
        way(opt.study.setup, {"n": 7, "q": 0.0}, {"n": 7, "q": 1.0})
    strict = eq.Optimizer(eq.Space(n=eq.Int(0, 7)), start={"n": 0}, max_step={"n": 0.5}, rng=0)
    with pytest.raises(ValueError, match="no sequence of steps of `max_step`"):
        way(strict.study.setup, None, {"n": 3})


def test_the_page_says_in_how_many_steps_and_goes_them(tmp_path, stands):
    opt = eq.Optimizer(
        eq.Space(q=eq.Float(0, 1)),
        start={"q": 0.0},
        max_step={"q": 0.3},
        kernel=eq.RBF(0.5),
        rng=0,
        log=tmp_path / "study.jsonl",
    )
    opt.study.note("moved", x={"q": 0.8})
    app = application(Studies(tmp_path / "study.jsonl", worker=None, means=Means(set=stands.append)))
    text = answered(app, home("study.jsonl") + "confirm/start")[1]
    assert "in 3 steps, none longer" in text
    shown = text.partition('name="shown" value="')[2].partition('"')[0]
    assert answered(app, home("study.jsonl"), {"do": "start", "shown": shown})[0] == 303
    assert [round(x["q"], 3) for x in stands] == [0.533, 0.267, 0.0]


def test_a_machine_that_refuses_is_said_and_nothing_is_written(station):
    def broken(x):
        raise OSError("power supply <tripped>")

    refusing = Station(station.path, means=Means(set=broken))
    do(refusing, do="ask")
    with pytest.raises(RefusedError, match="could not be set: power supply <tripped>; check its position"):
        do(refusing, do="best", shown=moves(refusing, "best")[1])
    assert refusing.opt.study.notes == []
    with pytest.raises(RefusedError, match="could not be set"):
        do(refusing, do="set", trial=2)
    assert refusing.now().dialed == ""
    with pytest.raises(RefusedError, match="No program sets the machine here"):
        do(Station(station.path), do="set", trial=2)


def test_one_moves_at_a_time_and_the_others_may_look(station, stands):
    free = threading.Event()
    slow = Station(station.path, means=Means(set=lambda x: free.wait(60)))
    do(slow, do="ask")
    mover = threading.Thread(target=do, args=(slow,), kwargs={"do": "set", "trial": 2})
    mover.start()
    until(slow.machinist._moving.locked)
    begun_at = time.monotonic()
    assert slow.now().question.number == 2
    with pytest.raises(RefusedError, match="Somebody else is setting the machine"):
        do(slow, do="set", trial=2)
    assert time.monotonic() - begun_at < 30
    free.set()
    mover.join()
    assert slow.now().dialed


def test_a_program_is_preceded_by_the_setting_of_each_trial(tmp_path, stands):
    begun(tmp_path / "study.jsonl")
    read = []

    def set_it(x):
        if len(stands) == 3:
            stands.append("refused")
            raise ValueError("out of range")
        stands.append(x)

    def measure(trial):
        read.append(trial.x == stands[-1])
        return {"value": float(len(read))}

    station = Station(tmp_path / "study.jsonl", machine=True, means=Means(set=set_it))
    loop = Automatic(station, measure)
    loop.start()
    try:
        until(lambda: station.opt.readings >= 6)
        with pytest.raises(RefusedError, match="The program measures: pause it first"):
            do(station, do="start", shown=moves(station, "start")[1])
    finally:
        loop.stop()
    assert all(read)
    failed = [record.failed for record in station.opt.records() if record.failed]
    assert failed == ["the machine could not be set: out of range; check its position"]


def test_a_command_of_the_shell_sets_the_machine(tmp_path):
    begun(tmp_path / "study.jsonl")
    script = tmp_path / "set.sh"
    script.write_text(
        f"""#!/bin/sh
        echo "$@" >> {tmp_path}/set.txt
        if [ -e {tmp_path}/broken ]; then echo no power >&2; exit 3; fi
        """
    )
    script.chmod(0o755)
    server = Served(tmp_path / "study.jsonl", "--set", f"{script} --fast")
    try:
        place = home("study.jsonl")
        assert server.post(place, {"do": "ask"}).status == 303
        assert "Set the machine" in server.get(place).text
        assert "Set the machine" not in server.get(place, cookie="watcher").text
        assert server.post(place, {"do": "set", "trial": 0}, cookie="watcher").status == 403
        assert server.post(place, {"do": "set", "trial": 0}).status == 303
        (tmp_path / "broken").touch()
        refused = server.post(place, {"do": "set", "trial": 0})
    finally:
        server.stop()
    assert (refused.status, "exit status 3, no power" in refused.text) == (409, True)
    words = (tmp_path / "set.txt").read_text().splitlines()[0].split()
    x = eq.resume(tmp_path / "study.jsonl").records()[0].x
    assert words == ["--fast", *(f"--{name}={value}" for name, value in x.items())]


@pytest.fixture
def stepped(tmp_path, stands):
    space, path = eq.Space(q=eq.Float(0, 1)), tmp_path / "stepped.jsonl"
    opt = eq.Optimizer(space, start={"q": 0.0}, max_step={"q": 0.3}, kernel=eq.RBF(0.5), rng=0, log=path)
    opt.study.note("moved", x={"q": 0.8})
    return Station(path, worker=None, means=Means(set=stands.append))


def longest(begun_at, stands):
    return max(abs(b["q"] - a["q"]) for a, b in zip([{"q": begun_at}, *stands], stands, strict=False))


def test_steps_are_counted_from_the_setting_that_the_machine_reached(stepped, stands):
    do(stepped, do="ask")
    trial = stepped.open()
    do(stepped, do="set", trial=trial.trial)
    assert stepped.stands == trial.x == stands[-1]
    assert not any(dial.changed for dial in stepped.now().question.sides[0].dials)
    do(stepped, do="start", shown=moves(stepped, "start")[1])
    assert stands[-1] == {"q": 0.0}
    do(stepped, do="set", trial=trial.trial)  # handed out when the machine stood elsewhere
    assert stands[-1] == trial.x
    assert longest(0.8, stands) <= 0.3 + 1e-9
    do(stepped, do="answer", trial=trial.trial, value="1")
    assert stepped.stands == trial.x


def test_a_machine_that_stops_on_its_way_stands_where_it_came(stepped, stands):
    def tired(x):
        if len(stands) == 2:
            raise OSError("stuck")
        stands.append(x)

    station = Station(stepped.path, worker=None, means=Means(set=tired))
    before = station.now().version
    with pytest.raises(RefusedError, match="at step 3 of 3: stuck"):
        do(station, do="start", shown=moves(station, "start")[1])
    assert station.stands == stands[-1]
    assert before == station.now().version  # no question is open
    do(station, do="ask")
    assert station.now().question.sides[0].dials[0].before.startswith("0.26")


def test_a_program_goes_on_in_steps_from_where_the_machine_was_moved(stepped, stands):
    waiting = stepped.opt.ask(worker=None)
    do(stepped, do="start", shown=moves(stepped, "start")[1])
    read = []
    station = Station(stepped.path, worker=None, machine=True, means=Means(set=stands.append))
    loop = Automatic(station, lambda trial: read.append(trial) or {"value": 1.0})
    loop.start()
    until(lambda: read)
    loop.stop()
    assert read[0].id == waiting.id
    assert longest(0.8, stands) <= 0.3 + 1e-9
