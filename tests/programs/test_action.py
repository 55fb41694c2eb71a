"""The GitHub Action: its step, run here as a runner does."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
ACTION = ROOT / "action.yml"

pytestmark = pytest.mark.skipif(
    sys.platform == "win32" or not ACTION.exists(), reason="needs a POSIX system and a checkout"
)


def git(folder, *words):
    who = ["-c", "user.name=a", "-c", "user.email=a@b", "-c", "commit.gpgsign=false"]
    subprocess.run(["git", *who, *words], cwd=folder, check=True, capture_output=True)


@pytest.fixture
def repository(tmp_path):
    """Two commits, the second of which prints 3 more; and a command that is this library."""
    folder = tmp_path / "repository"
    folder.mkdir()
    git(folder, "init", "-q", "-b", "main")
    for number in (100, 103):
        (folder / "bench").write_text(f"#!/bin/sh\necho {number}\n")
        (folder / "bench").chmod(0o755)
        git(folder, "add", ".")
        git(folder, "commit", "-q", "-m", str(number))
    (tmp_path / "equipoise").write_text(f'#!/bin/sh\nexec {sys.executable} -m equipoise "$@"\n')
    (tmp_path / "equipoise").chmod(0o755)
    return folder


def run_step(repository, **given):
    """Run the last step of the action, with its inputs as they are by default or as given."""
    text = ACTION.read_text(encoding="utf-8")
    usual = {name: value.strip('"') for name, value in re.findall(r"^  ([a-z-]+): \{.*default: (.*)\}$", text, re.M)}
    assert set(given) <= {name.replace("-", "_") for name in usual}
    inputs = {name: given.get(name.replace("-", "_"), value) for name, value in usual.items()}
    env = {
        name: inputs[value]
        for name, value in re.findall(r"^        ([A-Z_]+): \$\{\{ inputs\.([a-z-]+) \}\}$", text, re.M)
    }
    assert len(env) == len(usual)
    step = re.findall(r"^      run: (.*)$", text, re.M)[-1]
    places = {"GITHUB_ACTION_PATH": str(ROOT), "EQUIPOISE": str(repository.parent / "equipoise")}
    places["GITHUB_STEP_SUMMARY"] = str(repository.parent / "summary.md")
    everything = {**os.environ, **env, **places}
    return subprocess.run(["bash", "-c", step], cwd=repository, env=everything, capture_output=True, text=True)


OPTIONS = "--metric reading -N --scale difference"


def test_a_change_for_the_worse_is_a_red_check(repository):
    options = f"{OPTIONS} --prepare 'echo one >> told; echo two' --time 60s"
    run = run_step(repository, command="./bench", fail_above="2", options=options)
    assert run.returncode == 1, run.stderr
    assert "HEAD is higher than HEAD^ by more than 2: +3 [+3, +3]" in (repository.parent / "summary.md").read_text()
    assert "<failure" in (repository / "equipoise.xml").read_text()


def test_what_is_not_decided_warns_or_fails(repository):
    options = f"{OPTIONS} -M 2"
    warned = run_step(repository, base="main~1", command="./bench", fail_above="2", options=options)
    assert warned.returncode == 0, warned.stderr
    assert "::warning::not decided within 5m" in warned.stdout
    failed = run_step(repository, base="main~1", command="./bench", fail_above="2", options=options, undecided="fail")
    assert failed.returncode == 2
