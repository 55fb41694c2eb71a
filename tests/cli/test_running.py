"""`equipoise run`: programs that work, fail, hang, lie and are interrupted."""

import errno
import json
import os
import signal
import subprocess
import sys
import time
from contextlib import ExitStack
from pathlib import Path

import numpy as np
import pytest

import equipoise as eq
from equipoise.log import jsonl as lines
from equipoise.runners import FailedError, file_name, only_one, reading
from invoking import interruptible, invoke, new_study


@pytest.fixture
def study(tmp_path):
    return new_study(tmp_path)


@pytest.fixture
def program(tmp_path):
    """Write a program whose body sees the settings `x` and may do anything before it prints a bowl."""

    def write(body="", name="measure"):
        path = tmp_path / name
        path.write_text(
            f"#!{sys.executable}\nimport json, os, signal, sys, time\n"
            "words = dict(word[2:].split('=', 1) for word in sys.argv[1:] if '=' in word)\n"
            "x = {name: float(value) for name, value in words.items() if name in ('q1', 'q2')}\n"
            f"{body}\n"
            "print('warming up')\n"
            "print(-(x['q1'] - 0.7) ** 2 - x['q2'] ** 2)\n"
        )
        path.chmod(0o755)
        return path

    return write


def counter(path):
    """Lines of Python that count the calls in a file, as `n` from 1."""
    return f"""calls = open({str(path)!r}, 'a+')
calls.write('.')
calls.flush()
calls.seek(0)
n = len(calls.read())"""


def equipoise(*arguments):
    """Start `equipoise` as its own process, which can be interrupted also where these tests cannot."""
    command, options = [sys.executable, "-m", "equipoise", *map(str, arguments)], {"preexec_fn": interruptible}
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **options)


def ended(process, timeout=120):
    """Wait for a process; return its exit code, standard output and standard error."""
    out, err = process.communicate(timeout=timeout)
    assert "Traceback" not in err
    return process.returncode, out, err


# Programs that work.


def test_settings_as_arguments_until_the_budget(study, program):
    code, out, err = ended(equipoise("run", study, "--readings", 12, "--", program(), "--shots", "5"))
    assert (code, err) == (0, "")
    opt = eq.resume(study)
    assert opt.readings == 12
    for record in opt.records():
        assert record.value == pytest.approx(-((record.x["q1"] - 0.7) ** 2) - record.x["q2"] ** 2)
    assert out.splitlines()[1].startswith("By a guess, nothing is better by more than ")
    assert out.splitlines()[2] == "An estimate needs 18 more readings."
    assert out.splitlines()[-1] == "After 12 readings."
    assert sorted(path.name for path in study.parent.iterdir()) == ["measure", "study.jsonl", "study.jsonl.lock"]


def test_it_is_the_same_study_as_by_hand(study, program):
    ended(equipoise("run", study, "--readings", 9, "--", program()))
    invoke("run", study, "--readings", 12, "--", program())  # continued
    twin = eq.Optimizer(eq.Space(q1=eq.Float(-2, 2), q2=eq.Float(-1, 1)), rng=0)
    for record in eq.resume(study).records():
        trial = twin.ask()
        assert trial.x == record.x
        twin.tell(trial, record.value)


def test_settings_as_json_and_all_that_can_be_told(study, tmp_path):
    script = "import json, sys; t = json.load(sys.stdin); x = {k: round(v, 1) for k, v in t['x'].items()}; " + (
        "print(json.dumps({'value': x['q1'], 'x': x, 'time': t['id'] * 10, 'error': 0.5, 'more': None}))"
    )
    data = invoke("run", study, "--readings", 4, "--stdin", "--json", "--", sys.executable, "-c", script).data
    assert (data["readings"], data["exit"]) == (4, 0)
    for record in eq.resume(study).records():
        assert record.value == pytest.approx(record.x["q1"])
        assert (record.time, record.error) == (record.trial * 10.0, 0.5)


def test_hostile_settings_arrive_whole(tmp_path):
    hostile = ["$(touch hacked)", "-x", "two words", "it's", "ü;*"]
    path, seen = tmp_path / "study.jsonl", tmp_path / "seen"
    eq.Optimizer(eq.Space(q=eq.Float(0, 1), mode=eq.Choice(hostile)), kernel=eq.RBF(0.5), log=path, rng=0)
    script = f"import sys; open({str(seen)!r}, 'a').write(sys.argv[2] + chr(10)); print(0.5)"
    invoke("run", path, "--readings", 10, "--", sys.executable, "-c", script)
    modes = [f"--mode={record.x['mode']}" for record in eq.resume(path).records()]
    assert seen.read_text().splitlines() == modes
    assert len(set(modes)) > 2


def test_it_stops_at_the_certificate(study, program):
    result = invoke("run", study, "--eps", 0.5, "--readings", 150, "--json", "--", program())
    data = result.data
    assert "A bound of 0.50 is expected after about " in result.stderr
    assert (data["certified"], data["kind"], data["exit"]) == (True, "audited", 0)
    assert data["gap_bound"] <= 0.5
    assert 30 + 16 <= data["readings"] < 100
    again = invoke("run", study, "--eps", 0.5, "--json", "--", "false").data  # nothing left to do
    assert again["readings"] == data["readings"]


def test_the_budget_without_the_certificate_is_exit_code_3(study, program):
    result = invoke("run", study, "--eps", 1e-9, "--readings", 7, "--json", "--", program(), code=3)
    assert (result.data["certified"], result.data["readings"], result.data["exit"]) == (False, 7, 3)
    assert "When a bound of 1.0e-09 is reached cannot be forecast." in result.stderr


# Programs that do not.


def test_failures_are_survived(study, program, tmp_path):
    body = counter(tmp_path / "calls") + "\nif n % 4 == 0:\n    sys.exit(7)"
    result = invoke("run", study, "--readings", 9, "--", program(body))
    opt = eq.resume(study)
    assert opt.readings == 9
    failed = [record for record in opt.records() if record.failed]
    assert {record.failed for record in failed} == {"exit status 7"}
    assert len(failed) >= 2
    assert f"Trial {failed[0].trial} failed, exit status 7: q1 = " in result.stderr


def test_a_program_that_hangs_is_ended_with_all_it_has_started(study, program, tmp_path):
    beats = tmp_path / "beats"
    body = f"""if not os.path.exists({str(beats)!r}):
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    os.fork()
    while True:
        open({str(beats)!r}, 'a').write('.')
        time.sleep(0.02)"""
    code, _, err = ended(equipoise("run", study, "--readings", 2, "--timeout", 1.0, "--", program(body)))
    assert code == 0
    assert "Trial 0 failed, no answer after 1 s: q1 = " in err
    before = beats.read_text()
    time.sleep(0.3)
    assert beats.read_text() == before


def test_it_gives_up_after_too_many_failures(study):
    result = invoke("run", study, "--max-failures", 3, "--json", "--", "false", code=4)
    assert "The program failed 3 times in a row." in result.stderr
    assert result.data["exit"] == 4
    assert [record.failed for record in eq.resume(study).records()] == ["exit status 1"] * 3


@pytest.mark.parametrize(
    ("out", "why"),
    [
        ("", "got ''"),
        (
            "beam lost",
            "its last line must be a number, JSON with \"value\", or numbers such as flux=3.1, got 'beam lost'",
        ),
        ("0.5\nvalue=0.7", "got 'value=0.7'"),
        ('{"error": 0.5}', 'its JSON must have a "value"'),
        ('{"value": 0.5', "its last line must be a number"),
        ('{"failed": "shutter closed"}', "shutter closed"),
        ("1_000", "got '1_000'"),
        ("\u0661\u0662", "its last line must be a number"),  # twelve, in Arabic digits
        ("\uff11", "its last line must be a number"),
        ("0x1p4", "got '0x1p4'"),
        ('{"value": ' + "[" * 100_000, "its last line must be a number"),
    ],
)
def test_what_is_no_reading(out, why):
    with pytest.raises(FailedError) as error:
        reading(out)
    assert why in str(error.value)


@pytest.mark.parametrize("out", ["1", "-1.5", "+.5", "2.", "1e-3", "1E+5", " 7 "])
def test_what_is_a_number(out):
    assert reading(out) == {"value": float(out)}


def test_output_is_bounded_and_its_end_counts(study):
    script = "import sys; [sys.stdout.write('x' * 10**6) for _ in range(300)]; print(); print(0.5)"
    measured = "import resource as r, subprocess as s, sys; s.run(sys.argv[1:], check=True, stdout=s.DEVNULL); "
    measured += "print(r.getrusage(r.RUSAGE_CHILDREN).ru_maxrss)"
    run = ["-m", "equipoise", "run", str(study), "--readings", "1", "--", sys.executable, "-c", script]
    done = subprocess.run([sys.executable, "-c", measured, sys.executable, *run], capture_output=True, check=True)
    assert int(done.stdout) < 300_000  # kB, of the command and its program; 300 MB went by
    assert eq.resume(study).records()[0].value == 0.5


def test_a_child_in_the_background_does_not_hold_a_reading_up(study, tmp_path):
    script = "sleep 600 & echo $! >> " + str(tmp_path / "children") + "; echo 0.5"
    start = time.monotonic()
    try:
        invoke("run", study, "--readings", 3, "--", "sh", "-c", script)
    finally:
        for child in (tmp_path / "children").read_text().split():
            os.kill(int(child), signal.SIGKILL)
    assert time.monotonic() - start < 300
    assert [record.value for record in eq.resume(study).records()] == [0.5] * 3


def test_a_program_that_closes_its_output_and_hangs_is_ended(study):
    script = "import os, time; print(0.5, flush=True); os.close(1); time.sleep(600)"
    result = invoke("run", study, "--max-failures", 1, "--timeout", 0.5, "--", sys.executable, "-c", script, code=4)
    assert "no answer after 0.5 s" in result.stderr


def test_settings_longer_than_a_pipe_do_not_hold_a_timeout_up(tmp_path):
    path = tmp_path / "study.jsonl"
    many = {f"knob_{i:03d}_" + "x" * 200: eq.Float(0, 1) for i in range(300)}
    eq.Optimizer(eq.Space(many), log=path, rng=0, design=0)
    result = invoke("run", path, "--stdin", "--timeout", 0.3, "--max-failures", 1, "--", "sleep", 600, code=4)
    assert "Trial 0 failed, no answer after 0.3 s" in result.stderr


def test_our_own_trouble_is_not_blamed_on_the_program(study, monkeypatch):
    def broken(*args, **options):
        raise np.linalg.LinAlgError("not positive definite")

    monkeypatch.setattr(eq.Optimizer, "tell", broken)
    result = invoke("run", study, "--", "sh", "-c", "echo 0.25", code=1)
    assert 'Trial 0 read {"value": 0.25}, which the study refused.' in result.stderr
    monkeypatch.undo()
    assert eq.resume(study).study.open_trials == (0,)  # not failed


@pytest.mark.parametrize("out", ["nan", '{"value": "0.5"}', '{"value": 1, "x": [3]}', '{"value": 1, "error": -1}'])
def test_a_reading_that_makes_no_sense_is_a_failure(study, out):
    script = f"print({out!r})"
    invoke("run", study, "--max-failures", 1, "--", sys.executable, "-c", script, code=4)
    (record,) = eq.resume(study).records()
    assert record.failed.startswith("`")


def test_a_program_that_cannot_be_started(study, tmp_path):
    result = invoke("run", study, "--", tmp_path / "nothing", code=1)
    assert "nothing could not be started: No such file or directory" in result.stderr
    assert eq.resume(study).study.open_trials == ()


def test_a_reading_that_cannot_be_logged_is_said(study, monkeypatch):
    real = lines._write

    def full(file, data):
        if data.startswith(b'{"tell"'):
            raise OSError(errno.ENOSPC, "No space left on device")
        real(file, data)

    monkeypatch.setattr(lines, "_write", full)
    result = invoke("run", study, "--", "sh", "-c", "echo 0.25", code=1)
    assert 'Trial 0 read {"value": 0.25}, which the study refused.' in result.stderr
    assert "study.jsonl could not be written: No space left on device" in result.stderr
    monkeypatch.undo()
    invoke("tell", study, 0, 0.25)
    assert eq.resume(study).readings == 1


# Interruptions.


def until(condition, timeout=120):
    """Wait for a condition."""
    end = time.monotonic() + timeout
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.01)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_interrupted_in_the_middle_of_a_reading(study, program, tmp_path, number):
    calls = tmp_path / "calls"
    body = counter(calls) + "\nif n == 4:\n    time.sleep(600)"
    measure = program(body)
    process = equipoise("run", study, "--readings", 6, "--json", "--", measure)
    until(lambda: calls.exists() and len(calls.read_text()) == 4)
    process.send_signal(number)
    code, out, err = ended(process)
    assert code == 130
    assert "Interrupted; nothing is lost, and the same command continues." in err
    assert json.loads(out)["exit"] == 130
    opt = eq.resume(study)
    assert (opt.readings, opt.study.open_trials) == (3, ())
    code, _, _ = ended(equipoise("run", study, "--readings", 6, "--", measure))
    records = eq.resume(study).records()
    assert (code, [record.trial for record in records]) == (0, list(range(6)))


def test_killed_and_continued(study, program, tmp_path):
    calls = tmp_path / "calls"
    measure = program(counter(calls) + "\nif n == 4:\n    signal.alarm(2)\n    time.sleep(600)")  # nobody ends it
    process = equipoise("run", study, "--readings", 6, "--", measure)
    until(lambda: calls.exists() and len(calls.read_text()) == 4)
    process.kill()
    process.communicate()
    assert eq.resume(study).study.open_trials == (3,)
    code, _, _ = ended(equipoise("run", study, "--readings", 6, "--", measure))
    assert (code, [record.trial for record in eq.resume(study).records()]) == (0, list(range(6)))


def test_every_worker_has_a_lock_of_its_own(study):
    names = [None, "a/b", "a_b", "a.b", "A/b", "x" * 300, "x" * 301, "ü", "", "%2F"]
    assert len({file_name(name) for name in names}) == len(names)
    with ExitStack() as runs:
        for name in names:
            runs.enter_context(only_one(study, name))
        with pytest.raises(RuntimeError, match="another run is active"), only_one(study, "a/b"):
            pass


def test_two_runs_need_two_workers(study, program, tmp_path):
    started = tmp_path / "started"
    measure = program(f"open({str(started)!r}, 'w')\ntime.sleep(0.3)")
    process = equipoise("run", study, "--readings", 8, "--", measure)
    until(started.exists)
    result = invoke("run", study, "--readings", 8, "--", measure, code=1)
    assert f"another run is active, by process {process.pid} on " in result.stderr
    other = equipoise("run", study, "--readings", 8, "--worker", "laser/2", "--", program(name="quick"))
    assert [ended(process)[0], ended(other)[0]] == [0, 0]
    records = eq.resume(study).records()
    workers = {}
    for record in records:
        workers.setdefault(record.duel, set()).add(record.worker)
    assert all(len(names) == 1 for names in workers.values())
    assert {record.worker for record in records} == {None, "laser/2"}
    assert not list(Path(study.parent).glob("*.run*"))
