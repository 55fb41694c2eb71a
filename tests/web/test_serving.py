"""`equipoise serve` and `equipoise.web.serve`: what may be served, and how it ends."""

import signal
import subprocess
import sys
import time

import pytest
from served import Served, begun, home, value_at

import equipoise as eq
from invoking import gone, invoke, until


def test_what_cannot_be_served_is_refused(tmp_path):
    assert "--demo" in invoke("serve", code=2).stderr
    assert "--demo" in invoke("serve", "--demo", tmp_path, code=2).stderr
    assert "measures one study" in invoke("serve", tmp_path, "--", "true", code=2).stderr
    (tmp_path / "tokens").write_text("short\nshorter\n")
    begun(tmp_path / "study.jsonl")
    for wrong in (("--judge", "a", "--judges"), ("--numbers",), ("--blind",), ("--judges", "--", "true")):
        assert "--judge" in invoke("serve", tmp_path / "study.jsonl", *wrong, code=2).stderr
    refused = invoke("serve", tmp_path / "study.jsonl", "--token-file", tmp_path / "tokens", code=1)
    assert "must be at least 16 letters" in refused.stderr
    refused = invoke("serve", tmp_path / "study.jsonl", "--host", "203.0.113.9", "--port", 0, code=1)
    assert "cannot listen at" in refused.stderr
    (tmp_path / "poem.jsonl").write_text("roses are red\n")
    assert "damaged" in invoke("serve", tmp_path / "poem.jsonl", "--port", 0, code=1).stderr


def test_without_the_extra_it_is_named():
    code = "import sys; sys.modules['starlette'] = None; import equipoise; equipoise.web"
    said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stderr
    assert said.splitlines()[-1].startswith('ImportError: the page needs more packages: pip install "equipoise[web]"')


def test_limits_steps_contexts_and_many_knobs_are_said_on_the_page(tmp_path):
    study = tmp_path / "new.jsonl"
    server = Served(study)
    line = {
        "name0": "a",
        "kind0": "float",
        "low0": "0",
        "high0": "1",
        "step0": "0.05",
        "start0": "0.5",
        "max_step0": "0.1",
    }
    line |= {"name1": "temp", "kind1": "context", "low1": "0", "high1": "40", "start1": "21"}
    line |= {"name2": "day", "kind2": "context choice", "options2": "wet, dry", "start2": "dry"}
    for k in range(3, 30):
        line |= {f"name{k}": f"q{k}", f"kind{k}": "float", f"low{k}": "0", f"high{k}": "1", f"start{k}": "0.2"}
    rest = {"lines": "32", "drop": "0.5", "constraint": "a + q3 <= 1"}
    try:
        more = server.post("/new", {"lines": "8", "more": "yes", "name7": "kept", "drop": "0.5"})
        assert more.status == 200
        assert 'name="max_step15"' in more.text
        assert 'value="kept"' in more.text
        assert server.post("/new", line | rest | {"start29": ""}).status == 409
        assert server.post("/new", line | rest | {"constraint": "a + zz <= 1"}).status == 409
        assert server.post("/new", line | rest | {"drop": "-1"}).status == 409
        assert server.post("/new", line | rest | {"max_step1": "3"}).status == 409  # a context is not moved
        assert not study.exists()
        assert server.post("/new", line | rest).status == 303
    finally:
        server.stop()
    opt = eq.resume(study)
    assert len(opt.space.parameters) == 30
    assert opt.space.parameters["a"] == eq.Float(0, 1, step=0.05)
    assert opt.space.contexts == ("temp", "day")
    assert opt.space.constraint == "a + q3 <= 1"
    limits = opt._session.state.setup.caution
    assert limits.drop == 0.5
    assert limits.max_step[0] == 0.1
    assert opt.space.decode(limits.start)["q29"] == 0.2


def test_a_study_that_is_not_there_is_begun_on_the_page(tmp_path):
    study = tmp_path / "new.jsonl"
    server = Served(study, "--unit", "mW")
    try:
        assert server.get("/").headers["location"] == "/new"
        fields = {
            "minimize": "yes",
            "unit": "mW",
            "name0": "n",
            "kind0": "int",
            "low0": "1",
            "high0": "8",
            "unit0": "dB",
        }
        assert server.post("/new", fields | {"high0": "x"}).status == 409
        assert server.post("/new", fields | {"high0": "8.5"}).status == 409
        assert server.post("/new", fields | {"name1": "n", "low1": "0", "high1": "1"}).status == 409
        assert server.post("/new", {"name0": ""}).status == 409
        assert not study.exists()
        assert server.post("/new", fields | {"name1": "r", "kind1": "log", "low1": "1e-3", "high1": "1"}).status == 303
        assert server.post("/new", fields).status == 409  # it is there now
        assert server.get(home(study)).status == 200
    finally:
        server.stop()
    opt = eq.resume(study)
    assert opt.study.setup.minimize
    assert opt.space.to_dict() == eq.Space(n=eq.Int(1, 8, unit="dB"), r=eq.Float(1e-3, 1, log=True)).to_dict()


def test_the_demonstration_runs_by_itself_and_leaves_nothing(tmp_path, monkeypatch):
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    server = Served("--demo")
    try:
        assert "Automatic" in server.get("/study/demo.jsonl/now").text
        until(lambda: "nA" in server.get("/study/demo.jsonl/known").text)
        assert any(tmp_path.iterdir())
    finally:
        assert "Ended; every reading" in server.stop()
    assert not any(tmp_path.iterdir())


def test_a_function_measures(tmp_path):
    begun(tmp_path / "study.jsonl")
    code = f"""
import sys
sys.path[:0] = {sys.path!r}
import equipoise as eq
from served import value_at
def announce(text):
    print(text, flush=True)
eq.web.serve({str(tmp_path / "study.jsonl")!r}, value_at, place=eq.web.Binding(port=0), announce=announce)
"""
    process = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True)
    try:
        assert "?token=" in process.stdout.readline()
        opt = eq.resume(tmp_path / "study.jsonl")
        deadline = time.monotonic() + 120
        while opt.readings < 4:
            assert time.monotonic() < deadline
            time.sleep(0.1)
            opt.study.follow()
    finally:
        process.kill()
        process.communicate(timeout=120)
    assert all(record.value == value_at(record.x) for record in opt.records() if record.value is not None)


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGKILL])
def test_a_program_ends_with_the_server_in_the_middle_of_a_reading(tmp_path, how):
    begun(tmp_path / "study.jsonl")
    number = tmp_path / "number"
    server = Served(tmp_path / "study.jsonl", "--", "sh", "-c", f"echo $$ > {number}; exec sleep 600")
    program = int(until(lambda: number.exists() and number.read_text()))
    said = server.stop(how)
    gone(program)
    if how == signal.SIGKILL:
        return
    assert "Ended; every reading that was acknowledged is in the study. The program was ended too: trial 0" in said
    opt = eq.resume(tmp_path / "study.jsonl")
    assert opt.study.open_trials == ()
    assert opt.ask(worker="page").id == 0
    assert [record.failed for record in opt.records()] == [None]


def test_help_has_examples():
    assert "equipoise serve --demo" in invoke("serve", "--help").output
