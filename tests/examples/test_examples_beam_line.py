"""The beam line with three numbers runs small, and says what it should."""

import re
import subprocess
import sys
from pathlib import Path

EXAMPLE = Path(__file__).parents[2] / "examples" / "beam_line.py"


def script(*arguments):
    done = subprocess.run([sys.executable, str(EXAMPLE), *arguments], capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_the_beam_line_runs_and_holds_its_limits():
    said = script("--readings", "24")
    assert said.startswith("The start: flux 12.8 %, loss 4.8 %, spot 1.48 mm.")
    assert said.count("True values: flux") == 3
    on_the_way = [tuple(map(float, found)) for found in re.findall(r"at most ([\d.]+) % and ([\d.]+) mm", said)]
    (loss, spot), (safe_loss, safe_spot) = on_the_way
    assert (safe_loss, safe_spot) < (loss, spot)
    assert safe_loss <= 4.8 + 2.0 + 6.5, "a tenth of the range of the loss at most"
    assert safe_spot <= 1.48 + 0.3 + 0.17, "a tenth of the range of the spot at most"
    assert "A compromise: flux" in said
