"""The code on docs/performance.md runs."""

import re
from pathlib import Path

PAGE = Path(__file__).parents[3] / "docs" / "performance.md"


def test_the_page_runs(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    blocks = re.findall(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    assert blocks
    names = {}
    for block in blocks:
        exec(block, names)
    assert len(names["resume"]("pumps.npz")) == 10_000
