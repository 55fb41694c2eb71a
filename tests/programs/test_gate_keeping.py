"""`equipoise gate`: init, try, status, in repositories and folders; failures, interrupts, exit codes; the recipes."""

import json
import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from invoking import gone, invoke, started, written

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "gate.md"

TRAIN = """import math, sys
skill = 1.0
seed = int(sys.argv[1])
noise = math.sin(1e4 * math.sin(seed + 7 * skill))
print("METRIC loss=%.6f" % (10 - skill + math.sin(7 * seed) + 0.1 * noise))
"""
"""A program whose loss has a level for each seed, and a little that neither seed nor version foretells."""


def git(*words):
    return subprocess.run(["git", *words], check=True, capture_output=True, text=True).stdout


def change(skill):
    text = re.sub("skill = .*", f"skill = {skill}", TRAIN)
    Path("train.py").write_text(text, encoding="utf-8")


@pytest.fixture
def project(tmp_path, monkeypatch):
    """A repository with a program, and a gate whose champion it is."""
    monkeypatch.chdir(tmp_path)
    change(1.0)
    git("init", "-q")
    git("config", "user.email", "a@example.org")
    git("config", "user.name", "A")
    git("add", "-A")
    git("commit", "-qm", "first")
    begun("--metric", "loss", "--lower")
    return tmp_path


def begun(*options, words=(sys.executable, "train.py", "{seed}")):
    return invoke("gate", "init", "--seed", 1, *options, "--", *words)


def test_a_night(project):
    """Files that are not committed are the candidate; branch and index stay as they are."""
    index = git("status", "--short")
    change(1.0001)
    assert invoke("gate", "try", "--name", "same", code=1).stdout.startswith("Discard same")
    change(2.0)
    said = invoke("gate", "try", "--name", "better", "--json").data
    assert (said["decision"], said["exit"]) == ("keep", 0)
    assert said["effect"][0] == pytest.approx(1.0, abs=0.25)
    change(1.5)
    assert invoke("gate", "try", code=1).stdout.startswith("Discard")
    night = invoke("gate", "status", "--json").data
    assert night["counts"] == {"keep": 1, "discard": 2, "open": 0}
    assert night["champion"] == "better"
    assert night["gain"][0] == pytest.approx(1.0, abs=0.25)
    assert night["record"] > 1.5
    assert "3 ideas" in invoke("gate", "status").stdout
    assert git("status", "--short").replace(" M train.py\n", "") == index
    assert len(git("worktree", "list").splitlines()) == 1


def test_revisions_and_new_files(project):
    """A branch is a candidate; so is a file that git does not know yet."""
    git("checkout", "-qb", "idea")
    Path("skill.py").write_text("more = 1.0\n", encoding="utf-8")
    Path("train.py").write_text(TRAIN.replace("1.0\n", "1.0 + __import__('skill').more\n", 1), encoding="utf-8")
    assert invoke("gate", "try", "--name", "new file").stdout.startswith("Keep new file")
    git("add", "-A", ":!gate.jsonl*")
    git("commit", "-qm", "idea")
    git("checkout", "-q", "-")
    assert invoke("gate", "try", "--rev", "HEAD", code=1).stdout.startswith("Discard HEAD")
    assert "no revision" in invoke("gate", "try", "--rev", "nonsense", code=64).stderr


@pytest.mark.parametrize(
    ("program", "why"),
    [
        ("raise SystemExit(3)", "exit status 3"),
        ("1 / 0", "exit status 1: ZeroDivisionError: division by zero"),
        ("print('no number')", "loss"),
        ("print('METRIC loss=nan')", "loss"),
        ("import time; time.sleep(600)", "no end after 5 s"),
    ],
)
def test_a_candidate_that_fails_or_hangs(project, program, why):
    log = Path("gate.jsonl")
    log.unlink()
    begun("--metric", "loss", "--lower", "--timeout", "5s")  # the champion needs less on any machine
    Path("train.py").write_text(program, encoding="utf-8")
    said = invoke("gate", "try", "--json", code=1).data
    assert why in said["why"]
    assert invoke("gate", "status", "--json").data["counts"]["keep"] == 0


def test_an_interrupt_loses_nothing(project):
    """Ctrl-C while a candidate runs: it is ended, and the same command continues."""
    change(2.0)
    slow = Path("train.py").read_text(encoding="utf-8")
    pid, go = project / "pid", project / "go"
    wait = f"import os, time, pathlib\npathlib.Path({str(pid)!r}).write_text(f'{{os.getpid()}}\\n')\n"
    Path("train.py").write_text(f"{wait}time.sleep(60 * (not os.path.exists({str(go)!r})))\n{slow}")
    Path(".gitignore").write_text("pid\ngo\n", encoding="utf-8")
    with started("gate", "try", "--name", "slow") as run:
        (child,) = written(pid)
        assert "another `gate try` is running" in invoke("gate", "try", code=64).stderr
        run.send_signal(signal.SIGINT)
        assert run.wait(60) == 130
        gone(child)
    assert invoke("gate", "status", "--json").data["trying"] == "slow"
    assert len(git("worktree", "list").splitlines()) == 1
    (project / "go").touch()
    assert invoke("gate", "try", "--name", "slow", "--json").data["decision"] == "keep"


def test_a_champion_that_fails(project, monkeypatch):
    lines = Path("gate.jsonl").read_text(encoding="utf-8")
    Path("gate.jsonl").unlink()
    said = begun_code("--metric", "accuracy", code=4)
    assert "the champion failed" in said.stderr
    Path("gate.jsonl").write_text(lines, encoding="utf-8")


def begun_code(*options, code):
    return invoke("gate", "init", *options, "--", sys.executable, "train.py", "{seed}", code=code)


def test_folders_without_git(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name, skill in (("old", 1.0), ("new", 2.0)):
        Path(name).mkdir()
        (Path(name) / "train.py").write_text(TRAIN.replace("1.0\n", f"{skill}\n", 1), encoding="utf-8")
    begun("--metric", "loss", "--lower", "--dir", "old")
    assert invoke("gate", "try", "--dir", "new").stdout.startswith("Keep new")
    assert "differ from the champion" in invoke("gate", "try", "--dir", "new", code=64).stderr
    assert "no" in invoke("gate", "try", "--rev", "HEAD", code=64).stderr


def test_wrong_usage(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert "does not exist" in invoke("gate", "status", code=64).stderr
    Path("gate.jsonl").write_text("{}\n", encoding="utf-8")
    assert "must be a new file" in begun_code(code=64).stderr
    assert "damaged" in invoke("gate", "status", code=64).stderr
    assert "keep: the candidate is the champion" in invoke("gate", "--help").stdout


def test_what_is_built_and_linked(project):
    """Ignored files are linked into every version; --build runs once in each that is measured."""
    Path("gate.jsonl").unlink()
    Path(".gitignore").write_text("data\n*.o\n", encoding="utf-8")
    Path("data").mkdir()
    Path("data/level").write_text("5", encoding="utf-8")
    Path("train.py").write_text(TRAIN.replace("10 -", "float(open('data/level').read()) + len(open('b.o').read()) -"))
    git("add", "-A")
    git("commit", "-qm", "built")
    begun("--metric", "loss", "--lower", "--link", "data", "--build", "echo x >> b.o")
    change_built = Path("train.py").read_text(encoding="utf-8").replace("skill = 1.0", "skill = 2.0")
    Path("train.py").write_text(change_built, encoding="utf-8")
    assert invoke("gate", "try").stdout.startswith("Keep")
    assert Path("data/level").read_text(encoding="utf-8") == "5"


# The recipes of the page.

BLOCK = re.compile(r"^```(\w+)\n(?:# |<!-- )?file: (\S+?)(?: -->)?\n(.*?)^```", re.MULTILINE | re.DOTALL)


def recipe(name):
    """A file that the page shows."""
    return next(body for _, file, body in BLOCK.findall(PAGE.read_text(encoding="utf-8")) if file == name)


def shell(text, **environment):
    """Run a script with `equipoise` on its path."""
    home = Path("bin")
    home.mkdir(exist_ok=True)
    (home / "equipoise").write_text(f'#!/bin/sh\nexec "{sys.executable}" -m equipoise "$@"\n', encoding="utf-8")
    (home / "python").write_text(f'#!/bin/sh\nexec "{sys.executable}" "$@"\n', encoding="utf-8")
    for file in home.iterdir():
        file.chmod(0o755)
    paths = {"PATH": f"{home.resolve()}:{os.environ['PATH']}"}
    return subprocess.run(
        ["bash", "-e", "-c", text], capture_output=True, text=True, env={**os.environ, **paths, **environment}
    )


@pytest.fixture
def loop(project):
    """A repository without a gate, in which `bin` and results are ignored."""
    Path("gate.jsonl").unlink()
    Path(".gitignore").write_text("bin\ngate.jsonl*\n", encoding="utf-8")
    return project


STEPS = ("equipoise gate init", "equipoise gate try")


def test_the_loop_of_an_agent(loop):
    """The commands of the skill file, with a stand-in for the agent that has three ideas."""
    Path("measure.sh").write_text(recipe("measure.sh"), encoding="utf-8")
    Path("measure.sh").chmod(0o755)
    git("add", "-A")
    git("commit", "-qm", "measure")
    skill = recipe("SKILL.md")
    init, step = (re.findall(rf"^    ({word}.*(?:\n    .*)*)", skill, re.MULTILINE)[0] for word in STEPS)
    assert shell(init.replace("\n    ", "\n")).returncode == 0
    for idea, number in (("same", 1.0001), ("better", 2.0), ("worse", 1.4)):
        change(number)
        done = shell(step.replace("\n    ", "\n"), IDEA=idea)
        assert done.returncode == 0, done.stderr
    assert git("log", "--format=%s").split("\n")[:2] == ["better", "measure"]
    assert "skill = 2.0" in Path("train.py").read_text(encoding="utf-8")
    assert git("status", "--short") == ""


def test_the_job_of_a_ci(loop):
    """A pull request that is worse is red, one that is better is green."""
    Path("measure.sh").write_text(recipe("measure.sh"), encoding="utf-8")
    Path("measure.sh").chmod(0o755)
    git("add", "-A")
    git("commit", "-qm", "measure")
    job = recipe("gate.yml")
    script = re.findall(r"run: \|\n((?: {10}.*\n)+)", job)[-1].replace("          ", "")
    base = git("rev-parse", "HEAD").strip()
    for number, code in ((2.0, 0), (0.5, 1)):
        change(number)
        git("commit", "-qam", f"skill {number}")
        done = shell(script, BASE=base)
        assert done.returncode == code, done.stderr
        Path("gate.jsonl").unlink()
        git("reset", "-q", "--hard", base)


def test_the_search_for_a_prompt(tmp_path, monkeypatch):
    """The script of the page, with a stand-in for the model that likes long prompts."""
    monkeypatch.chdir(tmp_path)
    Path("prompts.py").write_text(recipe("prompts.py"), encoding="utf-8")
    Path("model.py").write_text(
        "import math\n\ndef passes(prompt, question):\n    return math.sin(99 * question) + len(prompt) / 20 > 1.2\n"
    )
    done = subprocess.run([sys.executable, "prompts.py"], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert "The champion is" in done.stdout


def test_the_json_of_the_log_is_plain(project):
    for line in Path("gate.jsonl").read_text(encoding="utf-8").splitlines():
        assert "at" in json.loads(line)
