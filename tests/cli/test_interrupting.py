"""Commands that are interrupted, hung up and killed: none of their programs continues, and the exit status is right."""

import fcntl
import os
import pty
import signal
import subprocess
import sys
import termios

import pytest

import equipoise as eq
from equipoise.cli.interrupting import interruptible
from equipoise.programs.comparison_log import ComparisonLog
from invoking import KILL_LAUNCHER, gone, invoke, new_study, started, written
from invoking import interruptible as heeding


@pytest.fixture(autouse=True)
def _here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    new_study(tmp_path)


HANG = "sleep 600 & echo $$ $! > pids; wait"
"""A program that never ends, nor what it has started."""

COMMANDS = {
    "run": ["run", "study.jsonl", "--readings", 5, "--", "sh", "-c", HANG],
    "tune": ["tune", f"{HANG}; echo {{n=1..9}}", "--log", "tune.jsonl"],
    "compare": ["compare", f"{HANG}; echo 1", f"{HANG}; echo 2", "--log", "compare.jsonl"],
    "serve": ["serve", "study.jsonl", "--port", 0, "--", "sh", "-c", HANG],
}


@pytest.mark.parametrize("name", ["run", "tune", "compare"])
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_program_ends_with_a_command_that_is_interrupted(name, number, tmp_path):
    process = started(*COMMANDS[name])
    pids = written(tmp_path / "pids")
    process.send_signal(number)
    _, err = process.communicate(timeout=120)
    assert process.returncode == 130
    assert "Interrupted" in err
    assert "Traceback" not in err
    for pid in pids:
        gone(pid)


@pytest.mark.parametrize("name", COMMANDS)
def test_a_program_ends_with_a_command_that_is_killed(name, tmp_path):
    process = started(*COMMANDS[name], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    pids = written(tmp_path / "pids")
    process.kill()
    process.wait()
    for pid in pids:
        gone(pid)
    if name == "run":
        assert eq.resume("study.jsonl").study.open_trials == (0,)  # the same command gives it up, and continues
    elif name == "compare":
        assert ComparisonLog("compare.jsonl").sessions == []


def test_a_terminal_that_is_closed_ends_a_command(tmp_path):
    """What cannot be printed any more is no error."""
    ours, theirs = pty.openpty()

    def take_the_terminal():
        heeding()
        fcntl.ioctl(0, termios.TIOCSCTTY, 0)

    streams = dict.fromkeys(("stdin", "stdout", "stderr"), theirs)
    process = started(*COMMANDS["run"], **streams, start_new_session=True, preexec_fn=take_the_terminal)
    os.close(theirs)
    pids = written(tmp_path / "pids")
    os.close(ours)
    assert process.wait(120) == 130
    for pid in pids:
        gone(pid)
    assert eq.resume("study.jsonl").study.open_trials == ()


def test_a_hangup_that_is_ignored_stays_ignored():
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)  # as under nohup
    try:
        with interruptible():
            assert signal.getsignal(signal.SIGHUP) is signal.SIG_IGN
    finally:
        signal.signal(signal.SIGHUP, before)


@pytest.mark.parametrize("calls", [1, 2, 10])
def test_tune_is_interrupted_at_the_start_in_the_search_and_while_it_verifies(calls, tmp_path):
    """The first call is the start, eight are the search, the others verify."""
    count = f"echo . >> count; test $(wc -l < count) -lt {calls} || {{ echo $$ > pids; exec sleep 600; }}; "
    options = ["--metric", "reading", "--readings", 8, "--seed", 0, "--start", "n=9"]
    process = started("tune", count + "echo {n=1..9}", *options)
    pids = written(tmp_path / "pids")
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=120)
    assert process.returncode == 130
    assert "Interrupted" in err
    assert "Traceback" not in err
    assert f"after {min(calls, 10) - 2 if calls > 1 else 0} readings" in out
    for pid in pids:
        gone(pid)


@pytest.mark.parametrize("name", ["run", "tune", "compare"])
def test_a_command_goes_on_if_its_launcher_is_killed(name, tmp_path):
    once = f"test -e pids || {{ echo $$ > pids; {KILL_LAUNCHER}; exec sleep 600; }}; "
    said = {
        "run": lambda: invoke("run", "study.jsonl", "--readings", 2, "--", "sh", "-c", once + "echo 1"),
        "tune": lambda: invoke("tune", once + "echo {n=1..9}", "--metric", "reading", "--readings", 3),
        "compare": lambda: invoke("compare", once + "echo 1", "echo 2", "--metric", "reading", "-M", 2),
    }[name]()
    assert "Note: the process that starts programs was killed, and is started again" in said.stderr
    gone(*written(tmp_path / "pids"))
    if name == "run":
        assert [record.value for record in eq.resume("study.jsonl").records()] == [1.0, 1.0]


@pytest.mark.parametrize("name", ["run", "tune", "compare"])
def test_a_launcher_that_is_always_killed_ends_a_command_with_a_word(name, monkeypatch):
    monkeypatch.setattr("equipoise.runners.launcher.PATIENCE", 0.05)
    script = KILL_LAUNCHER + "; exec sleep 600"
    said = {
        "run": lambda: invoke("run", "study.jsonl", "--", "sh", "-c", script, code=4),
        "tune": lambda: invoke("tune", script + "{n=1..9}", code=4),
        "compare": lambda: invoke("compare", script, script + "0", code=4),
    }[name]()
    assert "Error: the process that starts programs was killed 3 times in a row" in said.stderr
    if name == "run":
        assert eq.resume("study.jsonl").study.open_trials == ()


def test_an_interrupt_of_any_command_has_its_exit_status(monkeypatch):
    def interrupted(*args, **options):
        raise KeyboardInterrupt

    monkeypatch.setattr(eq.Optimizer, "recommend", interrupted)
    assert "Interrupted" in invoke("best", "study.jsonl", code=130).stderr
    monkeypatch.setattr("equipoise.cli.main.import_module", interrupted)
    invoke("best", "study.jsonl", code=130)


@pytest.mark.parametrize(
    ("name", "closed"), [("run", "<&- >&- 2>&-"), ("compare", "<&- >&- 2>&-"), ("compare", "2>&-"), ("export", ">&-")]
)
def test_standard_streams_may_be_closed(name, closed):
    words = {
        "run": "run study.jsonl --readings 2 -- sh -c 'echo 1'",
        "compare": "compare 'echo 1' 'echo 2' --metric reading -M 2 --log compare.jsonl",
        "export": "export study.jsonl",
    }[name]
    line = f"{sys.executable} -m equipoise {words} {closed}"
    done = subprocess.run(["sh", "-c", line], capture_output=True, text=True, check=False)
    assert (done.returncode, "Traceback" in done.stderr) == (0, False)
    if name == "run":
        assert eq.resume("study.jsonl").readings == 2
    if name == "compare":
        assert len(ComparisonLog("compare.jsonl").sessions[0].rounds) == 2


@pytest.mark.parametrize("unbuffered", ["", "1"])
def test_an_answer_that_cannot_be_printed_is_no_traceback(unbuffered, monkeypatch):
    monkeypatch.setenv("PYTHONUNBUFFERED", unbuffered)
    with open("/dev/full", "w") as full:
        process = started("export", "study.jsonl", stdout=full)
        _, err = process.communicate(timeout=120)
    assert process.returncode == 1
    assert "Error: the answer could not be printed: No space left on device" in err
    assert "Traceback" not in err
