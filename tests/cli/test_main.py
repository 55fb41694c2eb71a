"""The command line: what it prints, writes, refuses and returns."""

import json
import re
import subprocess
import sys

import pytest
from click.testing import CliRunner

import equipoise
from equipoise.cli.main import main
from equipoise.lab.environments import BIASES, FUNCTIONS
from equipoise.lab.experiments import LEARNERS
from equipoise.lab.experiments.batches import Batch
from equipoise.lab.experiments.experiment import Staging


@pytest.fixture
def invoke():
    return lambda *arguments: CliRunner().invoke(main, list(map(str, arguments)))


def test_help_teaches(invoke):
    result = invoke("--help")
    assert result.exit_code == 0
    assert "equipoise demo" in result.output
    for command in ("demo", "paper", "bench"):
        assert invoke(command, "--help").exit_code == 0
    assert "equipoise paper all --repetitions 5" in invoke("paper", "-h").output
    assert invoke("--version").output == f"equipoise, version {equipoise.__version__}\n"


def test_a_misspelled_command_gets_a_suggestion(invoke):
    wrong, other = invoke("recomend"), invoke("compar")
    assert (wrong.exit_code, other.exit_code) == (2, 2)
    assert "No such command 'recomend'." in wrong.output
    assert "No such command 'compar'. Did you mean compare?" in other.output


def test_no_summary_of_a_command_is_cut_off(invoke):
    for words in ((), ("gate",), ("bench",)):
        commands = invoke(*words, "--help").output.partition("Start here")[0]
        assert re.findall(r"^  \w+ .*\.\.\.$", commands, re.MULTILINE) == []


def test_the_help_of_bench_lists_every_name(invoke):
    words = invoke("bench", "--help").output.replace(",", " ").split()
    assert set(words) >= {*LEARNERS, *FUNCTIONS, *BIASES}


def test_demo(invoke, tmp_path):
    pytest.importorskip("matplotlib")
    result = invoke("demo", "--paper", "--seeds", 2, "--readings", 60, "--out", tmp_path / "demo.png")
    assert result.exit_code == 0
    assert "| GP-UCB         |" in result.stdout
    assert "60 readings" in result.stdout
    assert (tmp_path / "demo.png").exists()


def test_demo_without_matplotlib_still_prints(invoke, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    result = invoke("demo", "--seeds", 1, "--readings", 20, "--out", tmp_path / "demo.png")
    assert result.exit_code == 0
    assert "eq.Optimizer(space)" in result.stdout
    assert "install equipoise[plot]" in result.stderr
    assert not (tmp_path / "demo.png").exists()


def test_paper(invoke, tmp_path):
    pytest.importorskip("matplotlib")
    command = ("paper", "camelback", "--repetitions", 2, "--readings", 12, "--jobs", 1, "--out", tmp_path)
    result = invoke(*command)
    assert result.exit_code == 0
    assert "| Periodic drift" in result.stdout
    assert "Periodic drift: IDS-two is sublinear: growth exponent" in result.stdout
    assert {path.name for path in tmp_path.iterdir()} == {
        "runs",
        *(f"camelback.{e}" for e in ("png", "pdf", "csv", "md")),
    }
    assert invoke(*command, "--strict").exit_code == 1  # twelve readings cannot bear the paper out


def test_paper_without_matplotlib_still_writes_tables(invoke, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    result = invoke("paper", "camelback", "--repetitions", 1, "--readings", 4, "--jobs", 1, "--out", tmp_path)
    assert result.exit_code == 0
    assert "install equipoise[plot]" in result.stderr
    assert (tmp_path / "camelback.md").exists()


def test_bench_prints_a_table(invoke):
    result = invoke("bench", "--function", "linear", "--readings", 20, "--repetitions", 2, "--jobs", 1)
    assert result.exit_code == 0
    rows = [[cell.strip() for cell in line.split("|")[1:4]] for line in result.stdout.strip().splitlines()[2:]]
    assert rows == [["linear", "none", "UCB"], ["linear", "none", "IDS-two"]]


def test_bench_prints_json(invoke):
    biases = ("--bias", "drift", "--bias", "jumps")
    result = invoke(
        "bench", "--function", "linear", *biases, "--learner", "random", "--readings", 30,
        "--repetitions", 1, "--jobs", 1, "--seed", 4, "--noise", 0.5, "--json",
    )  # fmt: skip
    assert result.exit_code == 0
    rows = json.loads(result.stdout)
    assert [row["bias"] for row in rows] == ["drift", "jumps"]
    assert rows[0]["regret_two_standard_errors"] is None
    assert (rows[0]["noise"], rows[0]["seed"], rows[0]["readings"]) == (0.5, 4, 30)
    assert rows[0]["regret_mean"] == rows[1]["regret_mean"] > 0  # a random learner heeds no bias


def test_bench_keeps_results_and_continues(invoke, tmp_path, monkeypatch):
    command = ("bench", "--function", "linear", "--readings", 20, "--repetitions", 2, "--jobs", 1, "--out", tmp_path)
    first = invoke(*command)
    monkeypatch.setattr(Staging, "run", None)  # not called again
    assert invoke(*command).stdout == first.stdout


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--learner", "nobody"), "`learner` must be one of UCB, "),
        (("--function", "nothing"), "`function` must be one of linear, "),
        (("--bias", "kind"), "`bias` must be one of none, "),
        (("--learner", "SemiTS", "--function", "branin"), "SemiTS needs a finite set"),
        (("--learner", "IDS-pairs"), "at most 40"),
        (("--noise", "-1"), "`noise` must not be negative"),
        (("--function", "linear", "--lengthscale", "0.3"), "`lengthscale` must not be given"),
        (("--readings", "0"), "--readings"),
        (("--backend", "mpi"), "--backend"),
        (("--address", "tcp://10.0.0.5:8786"), "--address is for --backend dask or ray"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, tuple) else "",
)
def test_bench_refuses_clearly(invoke, arguments, message):
    result = invoke("bench", *arguments)
    assert result.exit_code == 2
    assert message in result.stderr
    assert "Traceback" not in result.stderr


def test_paper_refuses_an_unknown_figure(invoke):
    result = invoke("paper", "third")
    assert result.exit_code == 2
    assert "'linear', 'camelback', 'all'" in result.stderr


def test_a_missing_backend_is_named(invoke, monkeypatch):
    monkeypatch.setitem(sys.modules, "ray", None)
    result = invoke("bench", "--function", "linear", "--readings", 5, "--backend", "ray")
    assert result.exit_code == 1
    assert "pip install ray" in result.stderr


@pytest.mark.parametrize("command", [("bench", "--function", "linear"), ("paper", "linear")])
def test_ctrl_c_exits_with_130(invoke, tmp_path, monkeypatch, command):
    def interrupt(self):
        raise KeyboardInterrupt

    monkeypatch.setattr(Batch, "run", interrupt)
    result = invoke(*command, "--jobs", 1, "--out", tmp_path)
    assert result.exit_code == 130
    assert f"kept in {tmp_path}, and the same command continues" in result.stderr


def test_importing_the_package_imports_nothing_optional():
    script = "import sys, equipoise; print([n for n in ('click', 'tqdm', 'joblib', 'matplotlib') if n in sys.modules])"
    assert subprocess.run([sys.executable, "-c", script], capture_output=True, text=True).stdout == "[]\n"


def test_experiments_import_no_joblib_and_no_matplotlib():
    script = (
        "import sys, equipoise.lab.experiments.paper, equipoise.lab.experiments.demo_plot, equipoise.cli;"
        "print([n for n in ('tqdm', 'joblib', 'matplotlib') if n in sys.modules])"
    )
    assert subprocess.run([sys.executable, "-c", script], capture_output=True, text=True).stdout == "[]\n"


def test_bench_real_prints_a_table_and_continues(invoke, tmp_path):
    command = ("bench", "real", "--competitor", "randomized blocks", "--world", "oats, 4 a batch", "--seeds", 3)
    first = invoke(*command, "--out", tmp_path / "real.csv")
    assert first.exit_code == 0
    assert "randomized blocks" in first.output
    assert len((tmp_path / "real.csv").read_text().splitlines()) == 4
    again = invoke(*command, "--out", tmp_path / "real.csv", "--plot", tmp_path / "real.png")
    assert first.output.splitlines()[-4] in again.output
    assert (tmp_path / "real.png").exists() or "install equipoise[plot]" in again.output


def test_bench_judge_prints_a_table_and_continues(invoke, tmp_path):
    command = ("bench", "judge", "--rule", "Challenger", "--utility", "ackley", "--answers", 4, "--seeds", 3)
    first = invoke(*command, "--out", tmp_path / "judge.csv")
    assert first.exit_code == 0
    assert "ackley" in first.output
    assert len((tmp_path / "judge.csv").read_text().splitlines()) == 4
    assert invoke(*command, "--out", tmp_path / "judge.csv").output.splitlines()[-4:] == first.output.splitlines()[-4:]


@pytest.mark.parametrize("option", ["rule", "utility"])
def test_bench_judge_says_what_it_knows(invoke, option):
    result = invoke("bench", "judge", f"--{option}", "nonsense")
    assert result.exit_code == 2
    assert f"--{option} must be one of" in result.output


@pytest.mark.parametrize("option", ["competitor", "world"])
def test_bench_real_says_what_it_knows(invoke, option):
    result = invoke("bench", "real", f"--{option}", "nonsense")
    assert result.exit_code == 2
    assert f"--{option} must be one of" in result.output
    assert "nonsense" in result.output
