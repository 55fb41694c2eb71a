"""A stranger's study can do no harm to a terminal or a shell."""

import json
import os
import pty
import subprocess
from contextlib import suppress

import pytest
from click.testing import CliRunner

import equipoise as eq
from equipoise.cli.common import assignments, json_line, printable
from equipoise.cli.main import main
from invoking import invoke, started

ESCAPES = "\x1b]0;owned\x07\x1b[2J\x9b31m\u202e\x7f\r"


@pytest.fixture
def study(tmp_path):
    """A study whose names, options, workers and reasons are those of an attacker."""
    path = tmp_path / "theirs.jsonl"
    space = eq.Space({f"q{ESCAPES}": eq.Float(0, 1), "mode": eq.Choice([f"a{ESCAPES}", "b\ud800"])})
    opt = eq.Optimizer(space, kernel=eq.RBF(0.5), log=path, rng=0)
    with pytest.warns(eq.DuelGivenUp):
        opt.tell(opt.ask(worker=f"w{ESCAPES}"), failed=f"no{ESCAPES}\n2026 tell 7 0.5")
    opt.ask(worker=f"w{ESCAPES}")
    return path


def is_harmless(text):
    return all(c.isprintable() or c in "\n\t" for c in text)


@pytest.mark.parametrize("words", [["best"], ["status"], ["replay"], ["ask"], ["tell", 99, 1.0], ["tell", 0, 1.0]])
@pytest.mark.parametrize("as_json", [False, True])
def test_nothing_that_is_printed_moves_a_cursor(study, words, as_json):
    command, *rest = words
    code = 1 if command == "tell" else 0
    result = invoke(command, study, *rest, *(["--json"] if as_json else []), code=code)
    assert is_harmless(result.stdout)
    assert is_harmless(result.stderr)


@pytest.mark.parametrize(
    "words",
    [
        ["best", f"no{ESCAPES}"],
        ["tell", "STUDY", f"1{ESCAPES}", 1],
        ["best", "STUDY", "--context", f"a{ESCAPES}"],
        ["best", "STUDY", f"--no{ESCAPES}"],
        [f"no{ESCAPES}"],
        ["export", "STUDY", "--out", f"nowhere{ESCAPES}/x"],
        ["compare", "a", "b", "--time", f"a{ESCAPES}"],
        ["compare", f"--no{ESCAPES}"],
        ["tune", "{n=1..2}", "--start", f"a{ESCAPES}"],
    ],
)
def test_no_message_about_wrong_usage_moves_a_cursor(study, words):
    result = CliRunner().invoke(main, [str(study if word == "STUDY" else word) for word in words])
    assert result.exit_code in (1, 2, 64)
    assert "Error: " in result.stderr
    assert is_harmless(result.stderr)


def test_a_table_is_harmless_on_a_terminal_and_whole_in_a_file(study):
    said = invoke("export", study).stdout
    assert ESCAPES.replace("\r", "") in said.replace("\r", "")
    ours, theirs = pty.openpty()
    process = started("export", study, stdout=theirs)
    os.close(theirs)
    seen = b""
    with suppress(OSError):  # Linux says so when the last writer has gone
        while part := os.read(ours, 4096):
            seen += part
    os.close(ours)
    assert process.wait(120) == 0
    process.stderr.close()
    assert is_harmless(seen.decode().replace("\r\n", "\n"))
    assert r"w\x1b]0;owned\x07" in seen.decode()


def test_a_reason_is_one_line(study):
    printed = invoke("replay", study).stdout.splitlines()
    assert len(printed) == 1 + 3  # asked, failed, asked, and the summary
    assert r"no\x1b]0;owned\x07" in printed[1]
    assert r"\n2026 tell 7 0.5" in printed[1]


def test_json_keeps_what_it_escapes():
    data = {"name": ESCAPES + "\U0001f600\ud800 ü"}
    assert is_harmless(json_line(data))
    assert json.loads(json_line(data)) == data
    assert printable("Tür\n\toffen") == "Tür\n\toffen"


HOSTILE = ["PATH", "IFS", "LD_PRELOAD", "PS4", "ENV", "BASH_ENV", "path", "a b", "$(touch hacked)", "-x", "ü", "_", "1"]


@pytest.mark.parametrize("shell", ["sh", "bash"])
def test_what_ask_prints_sets_nothing_that_a_shell_obeys(tmp_path, shell):
    point = dict.fromkeys(HOSTILE, "/tmp/evil; touch hacked") | {"q1": 0.5, "T": 2}
    script = f'{assignments(point)}\necho "$PATH|$IFS|$q1|$T"; env'
    env = {"PATH": "/usr/bin:/bin", "HOME": "/"}
    run = subprocess.run([shell, "-c", script], capture_output=True, text=True, cwd=tmp_path, env=env, check=True)
    first, *variables = run.stdout.splitlines()
    assert first.startswith("/usr/bin:/bin|")
    assert "evil" not in run.stdout.replace("x_", "")
    assert "evil" not in first
    assert not run.stderr
    assert variables
    assert list(tmp_path.iterdir()) == []


def test_two_names_stay_two_variables():
    assert assignments({"a b": 1, "a-b": 2, "x_a_b": 3}) == "x_a_b=1 x_a_b_=2 x_a_b__=3"
