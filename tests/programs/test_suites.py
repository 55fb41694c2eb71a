"""Suites: many benchmarks in one budget, few false claims among all, resumed by a log, told in four ways."""

import json
import os
import re
import shlex
import subprocess
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest

import equipoise
from equipoise.programs import Contest, Question
from equipoise.programs.commands.measuring import Bench, Job
from equipoise.programs.commands.suite_file import Benchmark, loaded, of_pytest
from equipoise.programs.commands.suiting import Source, SuiteRun
from equipoise.programs.comparison_log import ComparisonLog, Execution
from equipoise.programs.family import BenchmarkFamily, Member, above
from invoking import invoke


@pytest.fixture(autouse=True)
def _here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def suite(tmp_path, text):
    (tmp_path / "bench.toml").write_text(text)
    return ["compare", "--suite", "bench.toml", "--seed", 0, "--time", "60s"]


SUITE = """
metric = "reading"

[[benchmark]]
name = "worse"
commands = ["echo 100", "echo 103"]
fail-above = 1

[[benchmark]]
name = "within"
commands = ["echo 100", "echo 100"]
fail-above = 1

[[benchmark]]
name = "query"
commands = ["echo p50=3 p99=9", "echo p50=2 p99=9"]
metric = ["p50", "p99"]
read = ["p50", "p99"]
margin = 0.5
"""


# --- the family ----------------------------------------------------------------------------------------------------


def test_of_what_is_claimed_of_many_programs_that_do_not_differ_little_is_false():
    """Half of 20 benchmarks have changed by much; at most 5 % of what is claimed to have changed may be false."""
    question, shares = Question(("a", "b")), []
    for seed in range(60):
        rng = np.random.default_rng(seed)
        d = rng.standard_t(2, (20, 40)) + np.where(np.arange(20) < 10, 3.0, 0.0)[:, None]
        family = BenchmarkFamily({str(i): Member(question, tuple(row)) for i, row in enumerate(d)})
        shares.append(len([name for name in family.changed if int(name) >= 10]) / max(len(family.changed), 1))
        assert len(family.changed) >= 8
    assert np.mean(shares) < 0.05


def test_a_claim_and_an_interval_without_zero_are_the_same():
    question = Question(("a", "b"))
    rng = np.random.default_rng(1)
    d = 0.3 * rng.normal(size=(12, 30)) + np.linspace(0, 0.4, 12)[:, None]
    family = BenchmarkFamily({str(i): Member(question, tuple(row)) for i, row in enumerate(d)})
    assert 0 < len(family.changed) < 12
    for name in family.changed:
        assert family.finding(name).interval.low > 0
        assert family.standing(name) == "worse"


def test_the_same_within_a_margin_is_a_claim_of_its_own():
    rng = np.random.default_rng(2)
    same, change = 0.001 * rng.normal(size=30), 0.05 + 0.001 * rng.normal(size=30)
    question = Question(("a", "b"), margin=0.01)
    family = BenchmarkFamily({"same": Member(question, tuple(same)), "change": Member(question, tuple(change))})
    assert (family.standing("same"), family.standing("change")) == ("same", "worse")
    limited = Question(("a", "b"), fail_above=0.03)
    family = BenchmarkFamily({"same": Member(limited, tuple(same)), "change": Member(limited, tuple(change))})
    assert (family.gate("same"), family.gate("change")) == (0, 1)
    assert family.decided == {"same", "change"}


def test_passes_that_are_fewer_are_no_typical_difference():
    """Of readings in steps the mean counts: about the typical difference, 0, nothing would ever be known."""
    d = np.array([1.0, 0.0, 0.0] * 30)
    assert above(d, 0.1, stepped=True) > 20
    assert above(d, 0.5, stepped=True) == 0
    assert above(np.zeros(9), -0.1, stepped=True) > 20
    assert above(np.array([]), 0.0) == 1.0


# --- measured ------------------------------------------------------------------------------------------------------


def test_a_suite_is_measured_and_told_in_four_ways(tmp_path):
    files = ["--export-json", "out.json", "--markdown", "out.md", "--junit", "out.xml"]
    said = invoke(*suite(tmp_path, SUITE), *files, code=1).stdout.splitlines()
    assert said[0].startswith("fails   worse")
    assert "+3 [+3, +3] of 100" in said[0]
    assert said[-1].startswith("new against old, 4 benchmarks: 1 fails, ")
    assert "At most 5 % of the claims are false" in said[-1]
    found = {each["name"]: each for each in json.loads((tmp_path / "out.json").read_text())["benchmarks"]}
    words = {name: each["verdict"] for name, each in found.items()}
    assert words == {"worse": "fails", "within": "passes", "query p50": "lower", "query p99": "same"}
    assert found["worse"]["gate"] == 1
    assert found["query p50"]["difference"] == {"value": -1.0, "low": -1.0, "high": -1.0}
    assert "| `worse` | **fails** | +3 [+3, +3] of 100 | reading |" in (tmp_path / "out.md").read_text()
    cases = ElementTree.parse(tmp_path / "out.xml").getroot()
    assert (cases.get("tests"), cases.get("failures"), cases.get("errors")) == ("4", "1", "0")
    assert [case.get("name") for case in cases if case.find("failure") is not None] == ["worse"]


def test_the_budget_goes_to_what_is_not_decided(tmp_path):
    noisy = "echo $(( $(cat n) * 7919 % 10007 )) > n; cat n"  # no number of runs shows a difference
    (tmp_path / "n").write_text("1")
    text = f'metric = "reading"\n[[benchmark]]\nname = "clear"\ncommands = ["echo 1", "echo 2"]\n' \
           f'[[benchmark]]\nname = "noisy"\ncommand = "{noisy}"\n'  # fmt: skip
    data = invoke(*suite(tmp_path, text), "--time", "3s", "--json", "-").data
    rounds = {each["name"]: each["rounds"] for each in data["benchmarks"]}
    assert rounds["clear"] <= 12 <= rounds["noisy"]


def test_a_benchmark_without_a_forecast_is_not_left_behind():
    """After six rounds there is none; a cheaper benchmark, far from a decision, has one."""
    rng, sources = np.random.default_rng(0), []
    for name, rounds, seconds, effect in (("slow", 6, 0.1, 1.6), ("quick", 40, 0.01, 1.001)):
        lines = dict.fromkeys(("old", "new"), name)
        question = Question(("old", "new"))
        bench = Bench(Job(lines), {"wall": Contest(question)}, None, None, name)
        for _ in range(rounds):
            walls = {"old": seconds * rng.lognormal(0, 0.3), "new": effect * seconds * rng.lognormal(0, 0.3)}
            bench.recall([Execution(arm, wall, wall, 0.0, None) for arm, wall in walls.items()])
        sources.append(Source(Benchmark(name, lines, {"wall": question}, (), {}), bench))
    run = SuiteRun(sources, 0.05, 0)
    run._turns = 1  # not the turn of the one with the least time
    assert run._cost(sources[0], frozenset()) == pytest.approx(4 * sources[0].each)
    assert run._next() is sources[0]


def test_a_benchmark_that_fails_does_not_keep_others_from_it(tmp_path):
    text = SUITE + '\n[[benchmark]]\nname = "broken"\ncommands = ["echo 1", "echo gone >&2; exit 3"]\n'
    data = invoke(
        *suite(tmp_path, text.replace("fail-above = 1", "margin = 0.5")), "--json", "-", "--junit", "out.xml", code=4
    ).data
    assert "exit status 3: echo gone >&2; exit 3\n  gone\n" in data["text"]
    assert ElementTree.parse(tmp_path / "out.xml").find("testcase/error").text == "  gone"
    found = {each["name"]: each for each in data["benchmarks"]}
    assert found["broken"]["verdict"] == "failed"
    assert "exit status 3" in found["broken"]["failure"]
    assert found["worse"]["verdict"] == "higher"
    assert ElementTree.parse(tmp_path / "out.xml").getroot().get("errors") == "1"


def test_a_test_that_fails_does_not_keep_others_from_it(tmp_path, monkeypatch):
    monkeypatch.setenv("PYTHONPATH", str(Path(equipoise.__file__).parents[1]))
    (tmp_path / "test_it.py").write_text(
        "import pytest\n\n\n"
        "def test_fine(benchmark):\n    benchmark(int)\n\n\n"
        "def test_broken(benchmark):\n    benchmark(int)\n    assert False\n\n\n"
        "@pytest.mark.skip\ndef test_skipped(benchmark):\n    benchmark(int)\n"
    )
    (tmp_path / "test_none.py").write_text("def test_none():\n    pass\n")
    text = '[[benchmark]]\npytest = "-p no:cacheprovider test_{}.py"\n'
    both = [*suite(tmp_path, text.format("it") + text.format("none")), "--log", "log.jsonl", "--json", "-"]
    monkeypatch.setattr(SuiteRun, "measure", lambda *_: None)
    assert "0 benchmarks: none was measured" in invoke(*both).data["text"]
    monkeypatch.setattr(SuiteRun, "measure", lambda run, *_: [each.measure() for each in run.sources].clear())
    data = invoke(*both, code=4).data
    found = {each["name"].split("::")[-1]: each for each in data["benchmarks"]}
    assert found["test_fine"]["rounds"] == 1
    assert found["test_broken"]["failure"] in ("it fails in old and new", "it fails in new and old")
    assert "it ran no test with the fixture" in found["-p no:cacheprovider test_none.py"]["failure"]
    assert len(found) == 3
    monkeypatch.setattr(SuiteRun, "measure", lambda *_: None)
    again = invoke(*both, code=4).data["benchmarks"]  # from the log
    assert sorted(each.get("failure", "") for each in again) == sorted(
        each.get("failure", "") for each in found.values()
    )


def test_a_log_goes_on_where_it_was(tmp_path):
    arguments = [*suite(tmp_path, SUITE), "--log", "log.jsonl"]
    invoke(*arguments, code=1)
    before = sum(len(each.rounds) for each in ComparisonLog(tmp_path / "log.jsonl").sessions)
    again = invoke(*arguments, "--json", "-", code=1).data
    assert sum(len(each.rounds) for each in ComparisonLog(tmp_path / "log.jsonl").sessions) == before
    assert {each["verdict"] for each in again["benchmarks"]} == {"fails", "passes", "lower", "same"}
    assert "is the log of a suite" in invoke("compare", "--log", "log.jsonl", "--metric", "reading", code=64).stderr


@pytest.mark.parametrize("inside", ["", "tests"])
def test_packages_of_a_revision_come_before_installed_ones(tmp_path, monkeypatch, inside):
    for folder in ("installed", "revision/src"):
        (tmp_path / folder).mkdir(parents=True)
        (tmp_path / folder / "work.py").write_text("")
    revision = tmp_path / "revision"
    (revision / inside).mkdir(exist_ok=True)
    own = f"assert work.__file__ == {str(revision / 'src' / 'work.py')!r}"
    (revision / inside / "test_it.py").write_text(
        f"import work\n\ndef test_it(benchmark):\n    {own}\n    benchmark(int)\n"
    )
    subprocess.run(["git", "init", "-q"], cwd=revision, check=True)
    library = str(Path(equipoise.__file__).parents[1])
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(tmp_path / "installed"), library]))
    words = shlex.split(of_pytest("-p no:cacheprovider test_it.py"))
    run = subprocess.run(words, cwd=revision / inside, capture_output=True, text=True)
    assert run.returncode == 0, run.stdout
    assert [*json.loads(run.stdout.splitlines()[-1])] == ["test_it.py::test_it"]


def test_a_suite_of_two_revisions(tmp_path):
    who = ["git", "-c", "user.name=a", "-c", "user.email=a@b", "-c", "commit.gpgsign=false"]
    subprocess.run([*who, "init", "-q", "-b", "main"], check=True)
    for number in (100, 103):
        (tmp_path / "number").write_text(f"{number}\n")
        subprocess.run([*who, "add", "number"], check=True)
        subprocess.run([*who, "commit", "-q", "-m", str(number)], check=True)
    text = '[[benchmark]]\nname = "cat"\ncommand = "cat number built"\nread = "v=([0-9]+)\\n"\nmetric = "v"\n'
    arguments = [*suite(tmp_path, text), "--git", "main~1..main", "--build", "echo x >> built"]
    said = invoke(*arguments).stdout
    assert "higher  cat  v      +3 [+3, +3] of 100" in said
    assert "main against main~1, 1 benchmark: 1 higher." in said


@pytest.mark.parametrize(
    ("text", "rule"),
    [
        ("", "must have at least one [[benchmark]]"),
        ("[[benchmark]]\nname = 'a'", "must have one of command, commands and pytest"),
        ("[[benchmark]]\ncommand = 'a'\ncolor = 1", "must have only name, command"),
        ("speed = 1\n[[benchmark]]\ncommand = 'a'", "must have only time, alpha"),
        ("[[benchmark]]\ncommand = 'a'\n[[benchmark]]\ncommand = 'a'", "another name for each"),
        ("[[benchmark]]\ncommands = ['a']", "commands must be two"),
        ("[benchmark", "must be TOML"),
        ("time = 'long'\n[[benchmark]]\ncommand = 'a'", "bench.toml: time must be a time such as 60s"),
        (
            "margin = '1%'\n[[benchmark]]\nname='q'\ncommand = 'a'\nread = 'p'",
            "bench.toml: q: --margin must be a number",
        ),
        ("[[benchmark]]\ncommand = 'a'\nmetric = 'speed'", "--metric must be one of"),
        ("[[benchmark]]\ncommand = 'a'\nmetric = 3", "bench.toml: metric must be a text or a list of texts, got 3"),
        ("[[benchmark]]\ncommand = 'a'\nhigher = 'no'", "bench.toml: higher must be true or false, got 'no'"),
        ("[[benchmark]]\ncommands = ['a', 2]", "bench.toml: commands must be a list of texts, got ['a', 2]"),
        ("[[benchmark]]\ncommand = 3", "bench.toml: command must be a text, got 3"),
        ("[[benchmark]]\ncommand = 'a'\nscale = 'log'", "bench.toml: a: `scale` must be one of ratio, difference"),
        ("alpha = 3.0\n[[benchmark]]\ncommand = 'a'", "bench.toml: alpha must be a number between 0 and 1, got 3.0"),
    ],
)
def test_a_file_that_makes_no_sense_is_refused(tmp_path, text, rule):
    assert rule in invoke(*suite(tmp_path, text), code=64).stderr


def test_the_suite_of_the_page_is_one(tmp_path):
    page = Path(__file__).parents[2] / "docs" / "compare.md"
    if not page.exists():
        pytest.skip("needs a checkout")
    (tmp_path / "bench.toml").write_text(re.findall(r"^```toml\n(.*?)^```", page.read_text(), re.M | re.S)[0])
    usual = {"metric": (), "read": (), "scale": None, "margin": None, "fail_above": None, "higher": False}
    found = loaded(tmp_path / "bench.toml", ("old", "new"), {**usual, "center": "typical", "alpha": 0.05})
    assert found.seconds == 600
    assert [[*each.questions] for each in found.benchmarks] == [["wall"], ["cpu"], ["p50", "p99"], []]


def test_options_that_a_suite_does_not_have(tmp_path):
    for options, rule in (
        (["echo 1"], "--suite has its commands in its file"),
        (["--center", "mean"], "--suite must be without --center"),
        (["--runs", 3, "-L", "n", "1,2", "-p", "sync"], "--suite must be without --prepare, --runs, -L: use its file"),
        (["--csv", "x.csv"], "--suite has no --csv"),
        (["--plot", "x.png", "--log", "log.jsonl"], "--suite has no --plot"),
    ):
        assert rule in invoke(*suite(tmp_path, SUITE), *options, code=64).stderr
    assert "could not be read" in invoke("compare", "--suite", "none.toml", code=64).stderr
    assert not (tmp_path / "log.jsonl").exists()  # nothing was measured


def test_a_budget_that_decides_nothing_is_said(tmp_path):
    said = invoke(*suite(tmp_path, SUITE), "--time", "1ms", code=2).stderr
    assert re.search("Note: ([0-9]) of \\1 benchmarks had too few rounds to decide: see --time", said)


def test_commands_have_test_cases_too(tmp_path):
    arms = ["-n", "old", "echo 100", "-n", "new", "echo 103", "--metric", "reading", "-N"]
    invoke("compare", *arms, "--fail-above", 1, "--junit", "out.xml", code=1)
    case = ElementTree.parse(tmp_path / "out.xml").getroot()[0]
    assert case.get("name") == "new against old, reading"
    assert case.find("failure").get("message") == "+3 [+3, +3]"
