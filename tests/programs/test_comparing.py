"""`equipoise compare`: programs that are measured, fail, hang and are interrupted; files, sessions and exit codes."""

import csv
import io
import json
import os
import pty
import re
import signal
import statistics
import subprocess
import sys
import time
from xml.etree import ElementTree

import matplotlib
import pytest

from equipoise.programs.commands import exporting
from equipoise.programs.commands.live import Live
from equipoise.programs.commands.measuring import told
from equipoise.programs.commands.metrics import last_number
from equipoise.programs.commands.processes import Programs, RunOptions
from equipoise.programs.comparison_log import ComparisonLog, Execution
from equipoise.runners import FailedError
from invoking import gone, interruptible, invoke

matplotlib.use("Agg")

READ = ("--metric", "reading", "-N")
"""The last number printed, without a shell: `echo 3` reads 3, always."""


@pytest.fixture(autouse=True)
def _here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


# What is measured.


def test_wall_time_until_it_is_decided():
    said = invoke("compare", "sleep 0.01", "sleep 0.1", "-N", "--seed", 1).stdout.splitlines()
    found = re.fullmatch(r"sleep 0.01: wall (\S+) ms \(median of (\d+) runs, (\S+) ms to \S+ ms\)", said[0])
    assert 10 <= float(found[3]) <= float(found[1]) < 100
    assert re.match(
        r"sleep 0.1 takes \d+\.\d\d times \[.*\] what sleep 0.01 takes \(.* ms \[.*\] of .* ms\) in this", said[2]
    )
    assert said[2].endswith(f"after {found[2]} rounds.")
    assert int(found[2]) >= 10


def test_readings_and_their_sense():
    assert "b is higher than a by 2 [2, 2]" in invoke("compare", "-n", "a", "echo 3", "-n", "b", "echo 5", *READ).stdout
    data = invoke("compare", "-n", "a", "echo 3", "-n", "b", "echo 5", *READ, "--higher", "--json", "-").data
    assert data["equipoise"]["leader"] == "b"
    assert data["equipoise"]["findings"][0]["standing"] == "better"
    assert data["equipoise"]["findings"][0]["difference"] == {"value": 2.0, "low": 2.0, "high": 2.0}


def test_the_last_number_is_the_reading():
    assert last_number("10 runs\nthroughput: 83.5 MB/s\n") == 83.5
    assert last_number('{"value": 0.5, "error": 2}') == 0.5
    assert last_number("a=-1.5e-3;") == -0.0015
    with pytest.raises(FailedError, match="it must print a number, got 'none'"):
        last_number("none\n")
    with pytest.raises(FailedError, match="must be finite, got inf"):
        last_number("inf")


def test_user_time_tells_computing_from_waiting():
    """Both compute for much longer than a tick of the kernel's clock: some systems say zero for less."""
    spin = f"{sys.executable} -S -c 'sum(range(10**7))'"
    wait = f"{sys.executable} -S -c 'import time; sum(range(2 * 10**6)); time.sleep(.2)'"
    data = invoke("compare", "-n", "spin", spin, "-n", "wait", wait, "--metric", "user", "--json", "-",
                  "--time", "20s").data  # fmt: skip
    assert data["equipoise"]["leader"] == "wait"
    assert data["results"][0]["user"] > 2 * data["results"][1]["user"]


def test_cpu_time_is_user_and_system_time():
    data = invoke("compare", "sleep 0.05", f"{sys.executable} -S -c pass", "-N", "--metric", "cpu", "--json", "-").data
    assert data["equipoise"]["leader"] == "sleep 0.05"
    for result in data["results"]:
        mean = statistics.mean(told[result["command"]] for told in data["equipoise"]["rounds"])
        assert mean == pytest.approx(result["user"] + result["system"])


def test_a_time_that_reads_zero_is_refused_with_advice():
    """No clock has seen it compute."""
    nothing = Execution("a", 0.001, 0.0, 0.0, 1e7)
    with Programs(RunOptions(shell=())) as programs:
        for metric in ("cpu", "user", "system"):
            with pytest.raises(FailedError, match=f"its {metric} time reads 0 .advice: --scale difference."):
                told(nothing, [metric], programs, early=True)
        assert told(nothing, [], programs, early=True) == nothing


def test_a_coarse_clock_that_says_all_was_for_the_system_ends_nothing():
    """Of a program that mostly waits, some systems only estimate whose its few ticks were."""
    with Programs(RunOptions(shell=())) as programs:
        assert told(Execution("a", 0.1, 0.0, 0.02, 1e7), ["user"], programs, early=True).user == 0.0002
        assert told(Execution("a", 0.1, 0.02, 0.0, 1e7), ["system"], programs, early=True).system == 0.0002
        assert told(Execution("a", 0.1, 0.01, 0.01, 1e7), ["user"], programs, early=True).user == 0.01


def test_memory_is_the_programs_and_not_ours():
    ballast = bytearray(150_000_000)  # of this process: anyone who starts a program passes its size on
    with Programs(RunOptions(shell=())) as programs:
        runs = [
            programs.run("a", f"{sys.executable} -S -c 'x = bytearray({size}); x[::4096] = x[::4096]'")
            for size in (10**6, 6 * 10**7)
        ]
        assert programs.floor < 3e7 < len(ballast)
        small = programs.run("a", "true")
    assert small.rss is None  # it is what the process has that starts it
    assert (runs[0].rss or 0) < 3e7
    assert 5.5e7 < runs[1].rss - (runs[0].rss or 1e7) < 6.5e7
    said = invoke("compare", "true", "sleep 0", "-N", "--metric", "rss", code=4).stderr
    assert re.search(r"failed, less memory than \d+ MB cannot be measured", said)


def test_every_round_is_a_random_order(tmp_path):
    commands = [f"echo {name} >> {tmp_path}/order; echo {name}" for name in "12"]
    invoke("compare", *commands, "--metric", "reading", "-m", 30, "--seed", 0)
    order = (tmp_path / "order").read_text().split()
    rounds = [order[i : i + 2] for i in range(0, len(order), 2)]
    assert len(rounds) == 30
    assert all(sorted(each) == ["1", "2"] for each in rounds)
    assert 5 < rounds.count(["1", "2"]) < 25


# The shell, and very short programs.


def test_what_the_shell_costs_is_taken_off():
    with Programs(RunOptions()) as programs:
        programs.calibrate()
        cost = programs.shell_cost["wall"]
        walls = [programs.run("a", "sleep 0.02").wall for _ in range(15)]
    with Programs(RunOptions(shell=())) as programs:
        bare = [programs.run("a", "sleep 0.02").wall for _ in range(15)]
    assert 0 < cost < 0.1
    assert min(walls) == pytest.approx(min(bare), abs=0.01)


def test_what_is_as_short_as_the_shell_is_refused(monkeypatch):
    slow = {"wall": 60.0, "user": 0.0, "system": 0.0}  # a shell so slow that no load makes a program slower
    monkeypatch.setattr(Programs, "calibrate", lambda self: setattr(self, "shell_cost", slow))
    said = invoke("compare", ":", "exit 0", "-m", 40, "--margin", "0%", code=4).stderr
    assert "it takes no longer than the shell that starts it (advice: --shell none)" in said


def test_what_is_short_is_noted():
    noted = invoke(
        "compare", "-n", "x", "echo 1 | cat", "-n", "y", "echo 1 | cat | cat", "-M", 3, "--metric", "reading"
    )
    assert "More exact: --shell none" in noted.stderr or "median of 3 runs" in noted.stdout


def test_our_own_cost_around_a_process_is_small():
    with Programs(RunOptions(shell=())) as programs:
        around = []
        for _ in range(40):
            start = time.perf_counter()
            wall = programs.run("a", "true").wall
            around.append(time.perf_counter() - start - wall)
    assert min(around) < 0.003


def test_another_shell_and_none(tmp_path):
    shell = tmp_path / "myshell"
    shell.write_text('#!/bin/sh\necho used >> used\nexec sh "$@"\n')
    shell.chmod(0o755)
    invoke("compare", "echo 1", "echo 2", "--metric", "reading", "--shell", shell, "-M", 2)
    assert len((tmp_path / "used").read_text().split()) == 54  # 50 to learn what it costs
    said = invoke("compare", "echo 1 | cat", "echo 2", "--metric", "reading", "--shell", "none", "--json", "-").data
    assert said["equipoise"]["rounds"][0] == {"echo 1 | cat": 1.0, "echo 2": 2.0}


# What people know from hyperfine.


def test_prepare_setup_cleanup_and_warmup(tmp_path):
    (log := tmp_path / "log").touch()
    add = f"echo {{}} >> {log}"
    hooks = ["--prepare", add.format("p"), "--setup", add.format("s"), "--cleanup", add.format("c"), "--warmup", 2]
    invoke(
        "compare", f"{add.format('A')}; echo 1", f"{add.format('B')}; echo 2", "--metric", "reading", *hooks, "-M", 3
    )
    said = "".join(log.read_text().split())
    assert said.startswith("spApBpApB")
    assert said.endswith("c")
    assert (said.count("A"), said.count("B"), said.count("p"), said.count("s"), said.count("c")) == (5, 5, 10, 1, 1)


def test_hooks_of_each_command(tmp_path):
    add = f"echo {{}} >> {tmp_path}/log"
    hooks = ["-p", add.format("a"), "-p", add.format("b"), "-s", add.format("s"), "-s", add.format("t")]
    arms = ["-n", "x", f"{add.format('A')}; echo 1", "-n", "y", f"{add.format('B')}; echo 2"]
    invoke("compare", *arms, "--metric", "reading", *hooks, "-M", 2, "--null")
    said = "".join((tmp_path / "log").read_text().split())
    assert said.startswith("st")
    assert set(re.findall("..", said[2:])) == {"aA", "bB"}
    assert said.count("aA") == 4  # twice a round: the null has what the first has
    refused = invoke("compare", "a", "b", "c", "-p", "x", "-p", "y", code=64).stderr
    assert "--prepare must be given once for all, or once for each command, got 2" in refused


def test_a_command_that_fails_ends_it_unless_ignored():
    said = invoke("compare", "sleep 0.02", "exit 3", code=4)
    assert said.stderr == "Error: exit 3 failed, exit status 3\n"
    said = invoke("compare", "sleep 0", "no-such-program", "-N", code=4).stderr
    assert "no-such-program could not be started: No such file or directory" in said
    data = invoke(
        "compare", "-n", "a", "echo 1; exit 3", "-n", "b", "echo 2", "-i", "--metric", "reading", "--json", "-"
    ).data
    assert set(data["results"][0]["exit_codes"]) == {3}


def test_the_step_that_fails_is_named_with_its_last_words():
    complains = "echo first >&2; echo 'no \033[2J such file' >&2; exit 3"
    said = invoke("compare", "-n", "a", "echo 1", "-n", "b", complains, "--metric", "reading", code=4).stderr
    assert said.endswith(">&2; exit 3\n  first\n  no \\x1b[2J such file\n")
    for option in ("--setup", "--prepare", "--cleanup"):
        arms = ["-n", "a", "echo 1", "-n", "b", "echo 2"]
        said = invoke("compare", *arms, "--metric", "reading", "-M", 1, option, "echo gone >&2; exit 3", code=4).stderr
        assert re.search(
            rf"Error: {option}(, before [ab],)? failed, exit status 3: echo gone >&2; exit 3\n  gone\n", said
        )


def test_only_the_last_lines_of_many_are_shown():
    said = invoke("compare", "echo 1", "seq 100 >&2; exit 1", "--metric", "reading", code=4).stderr
    assert said.endswith("".join(f"\n  {n}" for n in range(91, 101)) + "\n")


def test_a_file_that_cannot_be_opened_is_named():
    said = invoke("compare", "sleep 0", "sleep 1", "--output", "nowhere/out", code=4).stderr
    assert "nowhere/out could not be opened: No such file or directory" in said


def test_a_shell_that_cannot_be_started_is_named():
    said = invoke("compare", "sleep 0", "sleep 1", "--shell", "no-such-shell", code=4).stderr
    assert "no-such-shell could not be started: No such file or directory" in said


def test_an_empty_command_is_refused():
    assert "a command line must have a word" in invoke("compare", "true", " ", "-N", code=4).stderr


def test_a_command_that_hangs_is_ended_with_all_it_started(tmp_path):
    start = time.monotonic()
    hang = f"sleep 600 & echo $! > {tmp_path}/pid; wait"
    said = invoke("compare", hang, hang + ";", "--timeout", "300ms", code=4).stderr
    assert "failed, no end after 0.3 s" in said
    assert time.monotonic() - start < 300
    gone(int((tmp_path / "pid").read_text()))


def test_input_and_output(tmp_path, capfd):
    (tmp_path / "in").write_text("7\n")
    said = invoke("compare", "cat", "sed s/7/9/", *READ, "--input", "in", "-M", 9).stdout
    assert "sed s/7/9/ is higher than cat by 2 [2, 2]" in said
    invoke("compare", "echo out", "echo other", "-N", "--output", "kept", "-M", 2)
    assert sorted((tmp_path / "kept").read_text().split()) == ["other", "other", "out", "out"]
    capfd.readouterr()
    invoke("compare", "echo seen; echo heard >&2; sleep 0.02", "sleep 0.02", "--output", "inherit", "-M", 1)
    assert "seen\n" in capfd.readouterr().out
    assert "--input must be a file, got nowhere" in invoke("compare", "a", "b", "--input", "nowhere", code=64).stderr


def test_budgets(tmp_path):
    (tmp_path / "count").write_text("1")  # noise that is the same each time: a power of 7919 modulo 10007, for each run
    drawn = f"cd {tmp_path}; n=$(( $(cat count) * 7919 % 10007 )); echo $n > count; "
    noisy = [drawn + "echo $n", drawn + "echo $((n + 500))"]
    found = invoke("compare", *noisy, "--metric", "reading", "-M", 12, "--json", "-", "--seed", 0)
    assert re.search(r"Note: \d+ to \d+ more rounds take about \S+ \w+: see --time", found.stderr)
    data = invoke("compare", *noisy, "--metric", "reading", "-M", 4, "--json", "-").data
    assert len(data["results"][0]["times"]) == 4
    start = time.monotonic()
    data = invoke("compare", *noisy, "--metric", "reading", "--time", "500ms", "--alpha", 1e-9, "--json", "-").data
    assert time.monotonic() - start < 60
    assert not data["equipoise"]["decided"]
    data = invoke("compare", "echo 1", "echo 2", *READ, "--min-runs", 20, "--json", "-").data
    assert len(data["results"][0]["times"]) == 20


# The verdict in files.


def test_json_is_hyperfines_and_ours(tmp_path):
    invoke("compare", "-n", "a", "echo 3", "-n", "b", "echo 4", *READ, "--export-json", "out.json", "--null")
    data = json.loads((tmp_path / "out.json").read_text())
    known = {"command", "mean", "stddev", "median", "user", "system", "min", "max", "times"}
    for result in data["results"]:
        assert set(result) == known | {"memory_usage_byte", "exit_codes"}
        assert result["mean"] == pytest.approx(statistics.mean(result["times"]))
        assert result["min"] <= result["median"] <= result["max"]
        assert len(result["times"]) == len(result["exit_codes"]) == len(result["memory_usage_byte"])
    assert [result["command"] for result in data["results"]] == ["a", "b", "a (again)"]
    ours = data["equipoise"]
    assert (ours["decided"], ours["leader"], ours["metric"]) == (True, "a", "reading")
    assert ours["floor"]["difference"]["value"] == 0
    assert ours["rounds"][0] == {"a": 3.0, "b": 4.0, "a (again)": 3.0}


def test_a_memory_that_was_not_measured_is_null(tmp_path):
    options = [*READ, "-M", 2, "--log", "log.jsonl"]
    data = invoke("compare", "echo 1", "echo 2", *options, "--json", "-").data
    assert data["results"][0]["memory_usage_byte"] == [None, None]
    assert (
        "`metric` must be one that was measured, got 'rss'"
        in invoke("compare", "--log", "log.jsonl", "--metric", "rss", code=64).stderr
    )


def test_limits_that_are_not_known_are_null():
    data = invoke("compare", "echo 1", "echo 2", *READ, "-M", 2, "--json", "-").data
    assert data["equipoise"]["findings"][0]["difference"] == {"value": 1.0, "low": None, "high": None}


def test_a_memory_that_was_not_measured_has_an_empty_cell():
    said = invoke("compare", "-N", "true", "--metric", "rss", "-r", 2, "--markdown", "-").stdout
    assert "| `true` |  |  |  | 2 |" in said


def test_any_command_line_makes_a_table_and_a_test_case(tmp_path):
    line = "echo `echo 1`\n: | true #\x01"
    invoke("compare", line, "echo 2", *READ, "--markdown", "out.md", "--junit", "out.xml", "--csv", "out.csv")
    assert "| `` echo `echo 1` : \\| true #\\x01 `` | 1 |" in (tmp_path / "out.md").read_text()
    case = ElementTree.parse(tmp_path / "out.xml").find("testcase")
    assert case.get("name") == f"echo 2 against {line}, reading".replace("\x01", "\\x01")
    assert [row["command"] for row in csv.DictReader(io.StringIO((tmp_path / "out.csv").read_text()))] == [
        line,
        "echo 2",
    ]


def test_a_file_that_cannot_be_written_is_refused_before_anything_is_measured(tmp_path):
    for out in ("nowhere/out.json", "."):
        said = invoke("compare", "touch measured", "echo 2", "--json", out, code=64).stderr
        assert f"{out} could not be written: it must be a file in a folder that exists" in said
    assert not (tmp_path / "measured").exists()


def test_a_gate_is_one_only_if_asked_for():
    data = invoke("compare", "echo 1", "echo 2", *READ, "--json", "-").data["equipoise"]
    assert data["gate"] is data["findings"][0]["gate"] is None
    data = invoke("compare", "echo 1", "echo 2", *READ, "--fail-above", 3, "--json", "-").data["equipoise"]
    assert data["gate"] == data["findings"][0]["gate"] == 0


def test_markdown_and_csv(tmp_path):
    invoke("compare", "-n", "a|b", "echo 3", "-n", "c", "echo 4", *READ, "--markdown", "out.md", "--csv", "out.csv")
    lines = (tmp_path / "out.md").read_text().splitlines()
    assert lines[0] == "| Command | reading, median | Min | Max | Runs | Relative to a\\|b |"
    assert lines[2:4] == ["| `a\\|b` | 3 | 3 | 3 | 10 | reference |", "| `c` | 4 | 4 | 4 | 10 | +1 [+1, +1] |"]
    assert lines[5].startswith("c is higher than a|b by 1 [1, 1]")
    rows = list(csv.DictReader((tmp_path / "out.csv").read_text().splitlines()))
    assert list(rows[0]) == ["command", "mean", "stddev", "median", "user", "system", "min", "max"]
    assert rows[1]["command"] == "c"


def test_a_picture(tmp_path):
    invoke("compare", "echo 3", "echo 4", *READ, "--plot", "out.png", "--null")
    assert (tmp_path / "out.png").read_bytes().startswith(b"\x89PNG")
    said = invoke("compare", "echo 3", "echo 4", *READ, "--plot", "nowhere/out.png", code=64).stderr
    assert "nowhere/out.png could not be written: it must be a file in a folder that exists" in said


def test_a_picture_that_cannot_be_drawn_is_refused_before_anything_is_measured(tmp_path, monkeypatch):
    refused = "nowhere/out.png could not be written"
    count = "sh -c 'echo >> runs; echo 0'"
    assert refused in invoke("tune", f"{count} {{q=0..1}}", "--time", "1s", "--plot", "nowhere/out.png", code=2).stderr
    monkeypatch.setattr(exporting, "find_spec", lambda name: None)
    said = invoke("compare", count, count, "--runs", 3, "--plot", "out.png", code=64).stderr
    assert "--plot needs matplotlib: install equipoise[plot]" in said
    assert not (tmp_path / "runs").exists()


# For CI.


@pytest.mark.parametrize(
    ("reading", "options", "code"),
    [("103", (), 1), ("101", (), 0), ("90", (), 0), ("103", ("-M", 2), 2), ("90", ("--higher",), 1)],
)
def test_the_exit_status_is_the_verdict(reading, options, code):
    said = invoke(
        "compare",
        "-n",
        "old",
        "echo 100",
        "-n",
        "new",
        f"echo {reading}",
        *READ,
        "--fail-above",
        2,
        *options,
        code=code,
    )
    words = {0: "new is not", 1: "new is ", 2: "Not decided yet whether new is"}[code]
    assert said.stdout.splitlines()[-1].startswith(words)


def test_per_cent_where_ratios_count():
    options = ["--metric", "reading", "-N", "--scale", "ratio", "--fail-above", "2%"]
    invoke("compare", "echo 100", "echo 103", *options, code=1)
    assert "must be a percentage such as 2%, got '2'" in invoke("compare", "a", "b", "--margin", 2, code=64).stderr
    said = invoke("compare", "a", "b", *READ, "--margin", "2%", code=64).stderr
    assert "--margin must be a number in the unit of the reading, such as 0.5; or a percentage" in said


def test_errors_are_no_verdicts():
    for arguments in (
        [],
        ["a", "b", "-n", "x", "-n", "x"],
        ["a", "b", "--nonsense"],
        ["a", "b", "--time", "soon"],
        ["a", "b", *["-n", "x"] * 3],
    ):
        assert "Error: " in invoke("compare", *arguments, code=64).stderr


# Sessions.


def test_a_log_gets_one_more_session_and_can_be_read_again(tmp_path):
    arms = ["-n", "old", "echo 100", "-n", "new", "echo 103"]
    one = invoke("compare", *arms, *READ, "--log", "log.jsonl").stdout
    assert "in this session" in one
    two = invoke("compare", *arms, *READ, "--log", "log.jsonl").stdout
    assert "over 2 sessions, after 20 rounds" in two
    assert "  Session 2: new +3 [+3, +3] of old, 10 rounds" in two
    again = invoke("compare", "--log", "log.jsonl", "--metric", "reading", "--plot", "out.png").stdout
    assert again.splitlines()[2:] == two.splitlines()[2:]
    assert "reading 100 (median of 20 runs" in again
    assert [len(each.rounds) for each in ComparisonLog(tmp_path / "log.jsonl").sessions] == [10, 10]
    assert "compares old, new: it cannot take a, b" in invoke("compare", "a", "b", "--log", "log.jsonl", code=64).stderr
    assert "does not exist" in invoke("compare", "--log", "none.jsonl", code=64).stderr


def test_a_session_with_the_null_and_one_without():
    arms = ["-n", "old", "echo 100", "-n", "new", "echo 103"]
    for options in (["--null"], []):
        said = invoke("compare", *arms, *READ, "--log", "log.jsonl", *options).stdout
    assert "over 2 sessions" in said
    assert (
        "Noise floor: old against itself, 0 [" in invoke("compare", "--log", "log.jsonl", "--metric", "reading").stdout
    )


def test_sessions_that_disagree_are_said_to():
    for reading in (103, 90):
        arms = ["-n", "old", "echo 100", "-n", "new", f"echo {reading}"]
        said = invoke(
            "compare", *arms, *READ, "--log", "log.jsonl", "--fail-above", 50, code=2 if reading == 90 else 0
        ).stdout
    assert "Sessions disagree about new and old" in said


def test_a_failure_ends_it_and_what_was_measured_is_told_and_kept(tmp_path):
    """A command that fails in its fourth round leaves three."""
    fails = f"echo . >> {tmp_path}/n; test $(wc -l < {tmp_path}/n) -le 3 && echo 1"
    options = ["--metric", "reading", "--log", "log.jsonl", "--cleanup", "touch cleaned"]
    said = invoke("compare", "-n", "a", fails, "-n", "b", "echo 2", *options, code=4)
    assert "Not decided yet: b differs from a by +1 [?, ?] in this session, after 3 rounds." in said.stdout
    assert "Error: a failed, exit status 1" in said.stderr
    assert len(ComparisonLog(tmp_path / "log.jsonl").sessions[0].rounds) == 3
    assert (tmp_path / "cleaned").exists()


# People who watch and interrupt.


def started(*arguments, **options):
    command = [sys.executable, "-m", "equipoise", "compare", *map(str, arguments)]
    return subprocess.Popen(command, text=True, preexec_fn=interruptible, **options)


def wait_for_rounds(path, rounds=8):
    until = time.monotonic() + 120
    while not (path.exists() and path.read_text().count('"round"') >= rounds):
        assert time.monotonic() < until
        time.sleep(0.02)


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupt_ends_with_the_verdict_so_far(tmp_path, how):
    arms = [f"echo $$ >> {tmp_path}/pids; sleep 0.05; echo {reading}" for reading in (1, 2)]
    options = ["--metric", "reading", "-m", 10**6, "--log", "log.jsonl", "-c", "touch cleaned"]
    process = started("-n", "a", arms[0], "-n", "b", arms[1], *options, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    wait_for_rounds(tmp_path / "log.jsonl")
    process.send_signal(how)
    out, err = process.communicate(timeout=120)
    assert process.returncode == 130
    assert "Interrupted: this is the verdict so far." in err
    assert "Traceback" not in err
    assert "b is higher than a by 1 [1, 1] in this session" in out
    assert (tmp_path / "cleaned").exists()
    gone(int((tmp_path / "pids").read_text().split()[-1]))


def test_an_interrupt_with_a_limit_has_the_exit_status_of_the_verdict(tmp_path):
    arms = ["echo $(date +%N)", "echo $(date +%N;)", "--metric", "reading", "--alpha", 1e-9]
    silent = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    process = started(*arms, "--fail-above", 1, "--log", "log.jsonl", **silent)
    wait_for_rounds(tmp_path / "log.jsonl", 2)
    process.send_signal(signal.SIGINT)
    assert process.wait(120) == 2


def test_a_terminal_shows_how_it_goes():
    ours, theirs = pty.openpty()
    process = started("sleep 0.02", "sleep 0.02;", "-M", 12, stdout=subprocess.DEVNULL, stderr=theirs)
    os.close(theirs)
    seen = b""
    try:
        while part := os.read(ours, 4096):
            seen += part
    except OSError:  # Linux says so where the last writer has gone
        pass
    finally:
        os.close(ours)
    assert process.wait(120) == 0
    text = seen.decode()
    assert re.search(r"Not decided yet.*: sleep 0.02; differs from sleep 0.02", text)
    assert re.search(r"round \d+, 0:\d\d, at most 0:\d\d left; Ctrl-C ends", text)
    assert "\x1b[2F\x1b[J" in text
    assert re.fullmatch(r"(Note: .*\r\n)*", text.rpartition("\x1b[J")[2])  # nothing is left of it


def test_elsewhere_a_line_now_and_then(capsys):
    live = Live(sys.stderr, 60.0)
    for rounds in range(1, 100):
        live.say(lambda rounds=rounds: f"after {rounds} rounds", rounds)
    live.clear()
    said = capsys.readouterr().err.splitlines()
    assert [int(re.search(r"after (\d+) rounds", line)[1]) for line in said] == [10, 20, 40, 80]


def test_help_says_what_people_need():
    said = invoke("compare", "--help").stdout
    for word in ("--fail-above", "--log", "--null", "Exit status:", "64   wrong usage", "Examples:"):
        assert word in said
    assert "compare" in invoke("--help").stdout
