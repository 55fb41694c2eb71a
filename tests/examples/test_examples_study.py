"""The examples of a study do what they promise: in a shell, and in a loop of caput and caget."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import equipoise as eq

EXAMPLES = Path(__file__).parents[2] / "examples"


def run(*command):
    """Run a program in which `equipoise` is the one under test; return what it printed."""
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    env = os.environ | {"PATH": path, "MPLBACKEND": "Agg", "OMP_NUM_THREADS": "1"}
    done = subprocess.run([*map(str, command)], capture_output=True, text=True, env=env, check=False)
    assert done.returncode == 0, done.stderr
    assert "Traceback" not in done.stderr
    return done.stdout


@pytest.mark.skipif(os.name != "posix", reason="a shell script")
def test_the_shell_script(tmp_path):
    said = run("sh", EXAMPLES / "study.sh", tmp_path)
    assert "# Certified." in said
    opt = eq.resume(tmp_path / "study.jsonl")
    best = opt.recommend()
    assert best.x == {"q1": pytest.approx(0.7, abs=0.2), "q2": pytest.approx(-0.3, abs=0.2)}
    assert (best.kind, best.gap_bound <= 0.3) == ("audited", True)
    assert {record.failed for record in opt.records()} == {None, "exit status 1"}
    assert len((tmp_path / "study.csv").read_text().splitlines()) == 1 + len(opt.records())


def test_the_epics_loop_can_be_stopped_and_continued(tmp_path):
    loop = [sys.executable, "-W", "error", EXAMPLES / "epics_loop.py", tmp_path / "epics.jsonl"]
    run(*loop, 20)
    said = run(*loop, 60)
    assert "after 60 readings" in said
    assert float(re.search(r"True transmission there: (\S+),", said)[1]) > 0.8
    records = eq.resume(tmp_path / "epics.jsonl").records()
    assert {record.failed for record in records} == {None, "shutter closed"}
    assert all(record.error > 0 and record.time > 0 for record in records if record.value is not None)
