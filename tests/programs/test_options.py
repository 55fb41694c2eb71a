"""Options that users of hyperfine know, several metrics, numbers that are read, and revisions."""

import os
import re
import subprocess
import sys

import numpy as np
import pytest
from click.testing import CliRunner

from equipoise.cli.main import main
from equipoise.programs import Question, verdict_of
from equipoise.programs.commands.comparing import decided_after, sooner
from equipoise.programs.commands.exporting import Results
from equipoise.programs.commands.metrics import Read, reads
from equipoise.programs.commands.scanning import settings
from equipoise.programs.comparison_log import ComparisonLog, Execution
from equipoise.runners import FailedError
from invoking import invoke

READ = ("--metric", "reading", "-N")


@pytest.fixture(autouse=True)
def _here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def commands(data):
    return [result["command"] for result in data["results"]]


def lines(path):
    return path.read_text().split()


# --- hyperfine's ---------------------------------------------------------------------------------------------------


def test_a_parameter_list_makes_a_command_of_each_value():
    data = invoke("compare", "-L", "n", "3,5", "-L", "m", "1,2", "echo {m}{n}", *READ, "-r", 2, "--json", "-").data
    assert commands(data) == ["echo 13", "echo 23", "echo 15", "echo 25"]
    assert data["equipoise"]["rounds"][0] == {"echo 13": 13.0, "echo 15": 15.0, "echo 23": 23.0, "echo 25": 25.0}


def test_a_parameter_scan_makes_a_command_of_each_number():
    data = invoke("compare", "-P", "n", 1, 2, "-D", 0.5, "echo {n}", *READ, "-r", 2, "--json", "-").data
    assert commands(data) == ["echo 1", "echo 1.5", "echo 2.0"]
    both = settings([("mode", "a,b")], [("x", "1", "3"), ("y", "0.5", "1")], ["2", "0.5"])
    assert len(both) == 8
    assert both[-1] == {"mode": "b", "x": "3", "y": "1.0"}


def test_names_and_hooks_have_the_parameter_too(tmp_path):
    hooks = ["--prepare", "echo p{n} >> said", "--setup", "echo s{n} >> said"]
    options = ["-L", "n", "3,5", "-n", "number {n}", *hooks, "--metric", "reading", "-r", 1]
    data = invoke("compare", *options, "echo {n}", "--json", "-").data
    assert commands(data) == ["number 3", "number 5"]
    assert lines(tmp_path / "said")[:2] == ["s3", "s5"]
    assert sorted(lines(tmp_path / "said")[2:]) == ["p3", "p5"]


def test_what_is_scanned_says_its_parameters_as_hyperfine_does():
    options = [*READ, "-r", 1, "--reference", "echo 0"]
    data = invoke("compare", "-L", "n", "3,5", *options, "echo {n}", "--json", "-").data
    assert commands(data) == ["echo 0", "echo 3", "echo 5"]  # the reference has no parameter, and is run once
    assert [each.get("parameters") for each in data["results"]] == [None, {"n": "3"}, {"n": "5"}]
    table = invoke("compare", "-L", "n", "3,5", *options, "echo {n}", "--csv", "-").stdout.splitlines()
    assert [line.split(",")[-1] for line in table] == ["parameter_n", "", "3", "5"]
    hooks = ["--setup", "echo {n} > made"]
    data = invoke("compare", "-L", "n", "3,5", *hooks, "--metric", "reading", "-r", 1, "echo 1", "--json", "-").data
    assert commands(data) == ["echo 1 (n = 3)", "echo 1 (n = 5)"]
    data = invoke("compare", "-L", "n", "3,5", "-n", "a", "-n", "b", *READ, "-r", 1, "echo {n}", "--json", "-").data
    assert commands(data) == ["a", "b"]


def test_the_output_goes_through_a_pipe():
    script = 'python3 -c \'import os, stat; print(stat.S_ISFIFO(os.fstat(1).st_mode) + 0, file=open("kind", "a"))\''
    invoke("compare", script, "--output", "pipe", "-r", 1)
    invoke("compare", script, "--output", "null", "-r", 1)
    with open("kind") as file:
        assert file.read().split() == ["1", "0"]
    assert not os.path.exists("pipe")


@pytest.mark.parametrize(
    ("options", "rule"),
    [
        (["-L", "n", "1,2"], "{n} must stand in a command"),
        (["-L", "n", "1,2", "-n", "{n}", "--git", "a..b"], "-L and -P must be without --git"),
        (["-L", "n", "1,2", *["-n", "{n}"] * 3], "--name must be given for each of 4 commands, got 3"),
        (["-L", "n", "1,2", *["-n", "{n}"] * 2, *["--prepare", "a"] * 3], "--prepare must be given once for all"),
        (["-P", "n", "5", "1"], "-P n must go up"),
        (["-P", "n", "a", "b"], "-P must be NAME MIN MAX with numbers, got n a b"),
        (["-P", "n", "0.5", "2"], "add -D, such as -D 0.5"),
        (["-D", "1"], "-D must be given at most once for each -P"),
        (["-L", "n", "1", "-L", "n", "2"], "must name each parameter once"),
        (["--build", "make"], "--build goes with --git"),
        (["--reference-name", "old"], "--reference-name must be with --reference"),
        (["--git", "a..b", "-n", "old"], "--git must be without --name and --reference"),
        (["--git", "a..b", "--reference", "./old"], "--git must be without --name and --reference"),
        (["--metric", "speed"], "--metric must be one of wall, cpu, user"),
        (["--read", "a", "--read", "a"], "must name each number once"),
        (["--read", "a=("], "--read must be NAME, NAME=REGEX or REGEX"),
    ],
)
def test_what_cannot_be_is_refused(options, rule):
    assert rule in invoke("compare", *options, "echo 1", "echo 2", code=64).stderr


def test_runs_are_as_many_as_asked_for():
    data = invoke("compare", "echo 1", "echo 2", *READ, "--runs", 12, "--json", "-").data
    assert [len(result["times"]) for result in data["results"]] == [12, 12]  # decided long before


def test_the_reference_is_the_first():
    said = invoke("compare", "echo 5", *READ, "--reference", "echo 3").stdout
    assert "echo 5 is higher than echo 3 by 2 [2, 2]" in said


def test_the_reference_has_a_name_apart(tmp_path):
    options = ["--reference", "echo 3", "-n", "new", "echo 4", *READ]
    assert "new is higher than echo 3 by 1" in invoke("compare", *options).stdout
    assert "new is higher than old by 1" in invoke("compare", *options, "--reference-name", "old").stdout
    scanned = ["--reference", "echo 0", "-L", "n", "1,2", "echo {n}", "--metric", "reading", "-r", 1, "--json", "-"]
    data = invoke("compare", *scanned, "-n", "new {n}").data
    assert [each["command"] for each in data["results"]] == ["echo 0", "new 1", "new 2"]


def test_the_output_is_shown(capfd):
    invoke("compare", "echo seen; sleep 0.02", "sleep 0.02", "--show-output", "-r", 1)
    assert "seen\n" in capfd.readouterr().out


def test_one_command_alone_is_measured():
    data = invoke("compare", "echo 3", *READ, "-r", 4, "--json", "-", "--export-markdown", "out.md").data
    assert len(data["results"][0]["times"]) == 4
    assert "equipoise" not in data  # there is nothing to claim
    with open("out.md") as file:
        assert "| `echo 3` | 3 | 3 | 3 | 4 |\n" in file.read()
    assert invoke("compare", "echo 3", *READ, "-r", 1).stdout == "echo 3: reading 3 (median of 1 run, 3 to 3)\n"
    longer = invoke("compare", "echo 3", *READ, "--time", "300ms", "--json", "-").data
    assert len(longer["results"][0]["times"]) > 1  # all of the time
    assert invoke("compare", "echo 3", *READ, "-r", 2).stdout == "echo 3: reading 3 (median of 2 runs, 3 to 3)\n"


def test_the_same_command_twice_is_compared_with_itself():
    said = invoke("compare", "echo 3", "echo 3", *READ, "-r", 9, "--margin", 1).stdout
    assert "echo 3 (2) is the same as echo 3 within 1: 0 [0, 0]" in said


def test_what_concludes_runs_after_each_run(tmp_path):
    hooks = ["--conclude", "echo c >> said", "--prepare", "echo p >> said"]
    invoke("compare", "echo r >> said; echo 1", "echo r >> said; echo 2", "--metric", "reading", *hooks, "-r", 3)
    assert "".join(lines(tmp_path / "said")) == "prc" * 6
    failing = invoke("compare", "echo 1", "echo 2", *READ, "--conclude", "false", code=4).stderr
    assert re.search(r"--conclude, after echo [12], failed, exit status 1: false", failing)


def test_hooks_have_a_shell_and_their_time_whatever_the_programs_have(tmp_path):
    hooks = ["--setup", "sleep 0.6 && echo s >> said", "--prepare", "echo p >> said", "--cleanup", "echo c >> said"]
    invoke("compare", "echo 1", "echo 2", "--metric", "reading", *hooks, "-r", 2, "-N", "--timeout", "500ms")
    assert lines(tmp_path / "said") == ["s", *"pppp", "c"]


def test_it_does_not_stop_before_a_time():
    data = invoke("compare", "echo 1", "echo 2", *READ, "--min-benchmarking-time", "1s", "--json", "-").data
    assert sum(sum(result["times"]) for result in data["results"]) < 60
    assert len(data["results"][0]["times"]) >= 10


# --- numbers -------------------------------------------------------------------------------------------------------


def test_numbers_are_read_by_name_and_by_expression():
    out = 'epoch 1: loss=0.9\nMETRIC loss=0.25\n{"a": {"p99": 12}, "b": true}\n'
    assert reads("loss").value(out) == 0.25
    assert reads("a.p99").value(out) == 12
    assert reads(r"first=epoch (\d+)").value(out) == 1
    assert reads(r"epoch \d+").value(out) == 1
    assert reads(r"epoch \d+").name == "reading"
    assert Read("p99").value('{"p99": 3}\n{"p99": 4}\n{broken') == 4
    for number in ("1_000", "1,000", "0x10", "10_0"):
        with pytest.raises(FailedError, match="a number called loss"):
            reads("loss").value(f"loss={number}")
    assert [reads("loss").value(f"loss={text}") for text in ("1.5ms", "3x faster", "2e-3,4", "7.")] == [
        1.5,
        3,
        0.002,
        7,
    ]
    for text, rule in (("nothing", "a number called nothing"), ("x=nothing", "what matches 'nothing'")):
        with pytest.raises(FailedError, match=f"it must print {rule}"):
            reads(text).value(out)


def test_a_program_that_prints_no_number_says_why():
    said = invoke("compare", "echo 'no GPU' >&2", "echo loss=2", "--read", "loss", code=4).stderr
    assert "it must print a number called loss, got ''" in said
    assert "\n  no GPU\n" in said


def test_what_is_known_before_a_failure_is_said():
    failing = "echo x >> runs; test $(wc -l < runs) -lt 4 && echo 2"
    result = invoke("compare", "echo 1", failing, "--metric", "reading", code=4)
    assert "Stopped by a failure: this is the verdict so far." in result.stderr
    assert f"{failing} failed, exit status 1" in result.stderr
    assert "after 3 rounds" in result.stdout


def test_several_metrics_of_one_run():
    options = ["--read", "ms", "--read", r"mb=used (\d+)", "--metric", "ms", "--metric", "mb", "-r", 9]
    arms = ["-n", "a", "echo ms: 12, used 7", "-n", "b", "echo ms: 13, used 7"]
    data = invoke("compare", *arms, *options, "--margin", 0.5, "--log", "log.jsonl", "--json", "-").data
    assert [each["metric"] for each in data["equipoise"]["metrics"]] == ["ms", "mb"]
    assert [each["findings"][0]["standing"] for each in data["equipoise"]["metrics"]] == ["worse", "same"]
    assert [each["alpha"] for each in data["equipoise"]["metrics"]] == [0.025, 0.025]  # all claims together: 5 %
    again = invoke("compare", "--log", "log.jsonl", "--read", "mb", "--metric", "mb").stdout
    assert "b: mb 7 (median of 9 runs, 7 to 7)" in again


def test_the_gate_is_that_of_all_metrics():
    options = ["--read", "ms", "--read", "mb", "--metric", "ms", "--metric", "mb", "--scale", "difference"]
    for mb, code in ((7, 0), (9, 1)):
        arms = ["-n", "a", "echo ms=12 mb=7", "-n", "b", f"echo ms=12 mb={mb}"]
        invoke("compare", *arms, *options, "--fail-above", 1, code=code)


@pytest.mark.parametrize("event", ["instructions", "page-faults", "context-switches"])
def test_events_are_counted_or_it_is_said_why_not(event):
    """What a kernel and its machine count differs; what they do not count is an error with a reason."""
    options = ["--metric", event, "-N", "-r", 2]
    result = CliRunner().invoke(main, ["compare", *map(str, options), "sleep 0", "sleep 0.001"])
    if result.exit_code == 4:
        assert "its events cannot be counted" in result.stderr
    else:
        assert f"sleep 0: {event} " in result.stdout
        assert result.exit_code == 0


# --- revisions -----------------------------------------------------------------------------------------------------


def git(*words):
    who = ["-c", "user.name=a", "-c", "user.email=a@b", "-c", "commit.gpgsign=false"]
    subprocess.run(["git", *who, *words], check=True, capture_output=True)


@pytest.fixture
def repository(tmp_path):
    """A program whose second version prints more; a third is not committed."""
    git("init", "-q", "-b", "main")
    for number in (100, 103, 90):
        (tmp_path / "bench").write_text(f"#!/bin/sh\ncat built\necho {number}\n")
        (tmp_path / "bench").chmod(0o755)
        if number != 90:
            git("add", "bench")
            git("commit", "-q", "-m", str(number))
    return tmp_path


def test_two_revisions_are_built_compared_and_gone(repository):
    options = ["--build", "echo built > built", *READ, "--fail-above", 2]
    said = invoke("compare", "--git", "main~1..main", *options, "--", "./bench", code=1).stdout
    assert "main is higher than main~1 by more than 2: +3 [+3, +3]" in said
    listed = subprocess.run(["git", "worktree", "list"], capture_output=True, text=True, check=True).stdout
    assert len(listed.splitlines()) == 1
    assert not (repository / "built").exists()


def test_a_revision_alone_is_compared_with_the_working_tree(repository):
    (repository / "built").write_text("")
    options = ["--setup", "touch built", *READ]
    said = invoke("compare", "--git", "main", *options, "--", "./bench").stdout
    assert "working tree is lower than main by 13 [13, 13]" in said


def test_a_log_of_revisions_takes_the_same_commits_only(repository):
    options = ["--build", "touch built", *READ, "--log", "log.jsonl", "-r", 6]
    invoke("compare", "--git", "main~1..main", *options, "./bench")
    assert "over 2 sessions" in invoke("compare", "--git", "main~1..main", *options, "./bench").stdout
    git("commit", "-q", "--allow-empty", "-m", "another")
    refused = invoke("compare", "--git", "main~1..main", *options, "./bench", code=64).stderr
    assert "log.jsonl has main~1 as" in refused


def test_a_build_that_fails_is_named(repository):
    said = invoke("compare", "--git", "main~1..main", "--build", "echo no rule >&2; false", "./bench", code=4).stderr
    assert "Error: --build, in main~1, failed, exit status 1: echo no rule >&2; false\n  no rule\n" in said


def test_three_dots_begin_at_the_last_common_commit(repository):
    git("branch", "side", "main~1")
    said = invoke("compare", "--git", "side...main", "--build", "touch built", *READ, "./bench").stdout
    assert "main is higher than side...main by 3 [3, 3]" in said
    assert "git knows no revision 'nonsense'" in invoke("compare", "--git", "nonsense...", "./bench", code=64).stderr


def test_a_shallow_clone_is_told_to_fetch_more(repository, monkeypatch, tmp_path_factory):
    clone = tmp_path_factory.mktemp("clone")
    git("clone", "-q", "--depth", "1", repository.as_uri(), str(clone))
    monkeypatch.chdir(clone)
    said = invoke("compare", "--git", "HEAD~1..HEAD", "./bench", code=64).stderr
    assert "git knows no revision 'HEAD~1'" in said
    assert "fetch more of its history, in a shallow clone" in said


def test_revisions_that_are_none(repository):
    assert "git knows no revision 'nonsense'" in invoke("compare", "--git", "nonsense..main", "./bench", code=64).stderr
    said = invoke("compare", "--git", "main..HEAD", *READ, "--build", "touch built", "./bench", "-r", 1).stderr
    assert "Note: the revisions are the same commit" in said


# --- another metric ------------------------------------------------------------------------------------------------


def test_another_time_that_would_have_decided_is_named():
    """Waiting hides in wall time what computing shows."""
    rng = np.random.default_rng(0)
    rounds = [
        [Execution(arm, float(rng.exponential(1.0)) + 0.1, work, 0.01, None) for arm, work in (("a", 0.1), ("b", 0.2))]
        for _ in range(20)
    ]
    runs = [run for each in rounds for run in each]
    question = Question(("a", "b"), margin=0.01)
    walls = [{run.arm: run.wall for run in each} for each in rounds]
    wall = Results(("a", "b"), runs, {"wall": "time"}, {"wall": verdict_of(question, walls)})
    after = decided_after(question, [{run.arm: run.cpu for run in each} for each in rounds])
    assert 5 <= after <= 8
    assert sooner(wall, rounds) == [f"Note: --metric cpu would have decided after {after} rounds."]
    cpu = Results(("a", "b"), runs, {"cpu": "time"}, {"cpu": verdict_of(question, [{"a": 0.1, "b": 0.2}] * 20)})
    assert sooner(cpu, rounds) == []
    assert decided_after(question, []) is None


# --- duets ---------------------------------------------------------------------------------------------------------

needs_cores = pytest.mark.skipif(
    len(getattr(os, "sched_getaffinity", lambda _: [0])(0)) < 2, reason="needs Linux, and two cores"
)


@needs_cores
def test_a_duet_runs_both_at_once_on_two_cores_and_swapped(tmp_path):
    """Each waits until the other one has begun, and prints its core."""
    script = (
        "touch {0}; until test -e {1}; do sleep 0.01; done; python -S -c 'import os; print(*os.sched_getaffinity(0))'"
    )
    script = script.replace("python", sys.executable)
    arms = ["-n", "a", script.format("a", "b"), "-n", "b", script.format("b", "a")]
    options = ["--metric", "reading", "--prepare", "rm -f a b", "--timeout", "60s", "-r", 5, "--seed", 0]
    said = invoke("compare", *arms, *options, "--duet", "--log", "log.jsonl", "--json", "-").data
    rounds = ComparisonLog("log.jsonl").sessions[0].rounds
    for runs in rounds:
        assert [run.arm for run in runs] in (["a", "b", "b", "a"], ["b", "a", "a", "b"])
        first, second = ({run.reading for run in runs if run.arm == arm} for arm in "ab")
        assert first == second
        assert len(first) == 2
    assert len({runs[0].arm for runs in rounds}) == 2
    assert said["equipoise"]["findings"][0]["difference"]["value"] == 0.0
    assert len(said["results"][0]["times"]) == 10


@needs_cores
def test_what_fails_in_a_duet_is_named():
    said = invoke("compare", "-n", "a", "sleep 0.01", "-n", "b", "exit 3", "--duet", code=4).stderr
    assert "b failed, exit status 3: exit 3" in said


def test_duets_that_cannot_be_are_refused(monkeypatch):
    assert "--duet must be with two commands" in invoke("compare", "a", "b", "c", "--duet", code=64).stderr
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {0}, raising=False)
    assert (
        "--duet must have two cores, and this process may use 1"
        in invoke("compare", "a", "b", "--duet", code=64).stderr
    )
    monkeypatch.delattr(os, "sched_getaffinity")
    assert "--duet pins programs to cores" in invoke("compare", "a", "b", "--duet", code=64).stderr
