"""The code on the pages about integrations runs."""

import os
import re
import subprocess
import sys
import types
from importlib.util import find_spec
from pathlib import Path

import pytest

DOCS = Path(__file__).parents[2] / "docs"
OPTIONAL = ("optuna", "gest_api", "xopt", "sklearn")


def sections(page):
    """The code of each section of a page."""
    text = (DOCS / page).read_text(encoding="utf-8")
    for section in re.split(r"^## ", text, flags=re.MULTILINE):
        yield "\n".join(re.findall(r"^```python\n(.*?)^```", section, re.MULTILINE | re.DOTALL))


def runnable(code):
    """Whether the packages that a section imports are installed."""
    return all(find_spec(name) for name in OPTIONAL if re.search(rf"^(from|import) {name}\b", code, re.MULTILINE))


@pytest.mark.filterwarnings("ignore::optuna.exceptions.ExperimentalWarning" if find_spec("optuna") else "default")
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
@pytest.mark.parametrize("page", ["optuna.md", "gest.md", "train.md"])
def test_the_code_of_a_page_runs(page, tmp_path, monkeypatch):
    if not runnable("\n".join(sections(page)).split("\n\n")[0]):
        pytest.skip(f"needs what {page} is about")
    monkeypatch.chdir(tmp_path)
    module = types.ModuleType("page")
    monkeypatch.setitem(sys.modules, "page", module)
    codes = [code for code in sections(page) if code and runnable(code)]
    assert codes
    for code in codes:  # with assertions of its own
        exec(compile(code, page, "exec"), module.__dict__)


def test_the_comparison_with_plain_optuna_runs(tmp_path):
    pytest.importorskip("optuna", reason="needs the extra `optuna`")
    pytest.importorskip("matplotlib", reason="needs the extra `plot`")
    script = DOCS.parent / "examples" / "optuna_drop_in.py"
    picture = tmp_path / "picture.png"
    options = ["--seeds", "2", "--readings", "20", "--picture", str(picture)]
    environment = os.environ | {"OMP_NUM_THREADS": "1", "MPLBACKEND": "Agg"}
    run = subprocess.run(
        [sys.executable, script, *options], capture_output=True, text=True, check=True, env=environment
    )
    rows = [line.split()[0] for line in run.stdout.splitlines()[2:]]
    assert {"TPE", "DuelSampler"} <= set(rows)
    assert picture.stat().st_size > 10_000
