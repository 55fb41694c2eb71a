"""libEnsemble: the example runs, and finds what it looks for."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("libensemble", reason="needs libensemble")
pytest.importorskip("gest_api", reason="needs the extra `gest`")

EXAMPLE = Path(__file__).parents[2] / "examples" / "libensemble_duels.py"


def test_two_workers_find_the_best_point_of_a_drifting_measurement():
    environment = os.environ | {"OMP_NUM_THREADS": "1"}
    run = subprocess.run([sys.executable, EXAMPLE], capture_output=True, text=True, check=True, env=environment)
    readings, x, y = re.search(r"after (\d+) readings: x = (\S+), y = (\S+) ", run.stdout).groups()
    assert int(readings) >= 50
    assert float(x) == pytest.approx(0.7, abs=0.1)
    assert float(y) == pytest.approx(0.2, abs=0.2)
