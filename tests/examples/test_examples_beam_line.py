"""The beam line with two numbers runs small, and says what it should."""

import re
import subprocess
import sys
from pathlib import Path

EXAMPLE = Path(__file__).parents[2] / "examples" / "beam_line.py"


def script(*arguments):
    done = subprocess.run([sys.executable, str(EXAMPLE), *arguments], capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_the_beam_line_runs_and_holds_its_limit():
    said = script("--readings", "24")
    assert said.startswith("The start: flux 12.8 %, loss 4.8 %.")
    assert said.count("In truth: flux") == 3
    on_the_way = [float(found) for found in re.findall(r"on the way at most ([\d.]+) % was lost", said)]
    assert on_the_way[1] < on_the_way[0]
    assert on_the_way[1] <= 4.8 + 2.0 + 8.7, "a tenth of the range of the loss at most"
    assert "A compromise: flux" in said
