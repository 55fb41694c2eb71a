"""The proof: a process killed at hundreds of random instants loses nothing, and ends where an undisturbed one does."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

HARNESS = Path(__file__).with_name("kill_harness.py")
KILLS = int(os.environ.get("EQUIPOISE_KILLS", "80"))


@pytest.mark.parametrize("seed", [0, 1])
def test_nothing_told_is_lost_or_doubled_by_sigkill(tmp_path, seed):
    command = [sys.executable, "-W", "error", HARNESS, tmp_path / "study.jsonl", str(KILLS // 2), str(seed)]
    env = os.environ | {"OMP_NUM_THREADS": "1"}
    run = subprocess.run(command, capture_output=True, text=True, check=False, env=env)
    assert run.returncode == 0, run.stderr
    result = json.loads(run.stdout)
    assert result["acknowledged"] > KILLS // 2  # they did get something done between the kills
    assert result["readings"] >= result["acknowledged"]
    assert result["lost"] == []
    assert result["doubled"] == 0
    assert result["different"] == []
