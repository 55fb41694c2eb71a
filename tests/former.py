"""Logs that earlier versions wrote, and what those versions knew of them: see `kinds.py` for what the studies are."""

import gzip
import json
from pathlib import Path

FOLDER = Path(__file__).parent / "data" / "v0.2.0"
LAST = json.loads((FOLDER / "expected.json").read_text())
"""What version 0.2.0 knew of each study: its belief at some points, against the first, and what it would ask next."""


def former(name, folder):
    """Copy the log that version 0.2.0 wrote of a kind of study into a folder, and return its path."""
    path, packed = folder / f"{name}.jsonl", FOLDER / f"{name}.jsonl.gz"
    path.write_bytes(gzip.decompress(packed.read_bytes()) if packed.exists() else (FOLDER / path.name).read_bytes())
    return path
