"""What docs/extending.md shows does run, in order, in one namespace."""

import re
import sys
import types
from pathlib import Path

import equipoise as eq
from equipoise import testing
from equipoise.cli.main import MODULES, SECTIONS
from invoking import invoke

PAGE = Path(__file__).parents[2] / "docs" / "extending.md"
TEXT = PAGE.read_text(encoding="utf-8")


def test_the_code_of_the_page_runs(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    module = types.ModuleType("extending")  # with its own name, so that pickle finds its classes
    monkeypatch.setitem(sys.modules, "extending", module)
    blocks = re.findall(r"^```python\n(.*?)^```", TEXT, re.MULTILINE | re.DOTALL)
    assert len(blocks) == 9
    monkeypatch.setattr(eq.web, "PANELS", list(eq.web.PANELS))
    for block in blocks:
        exec(compile(block, PAGE.name, "exec"), module.__dict__)
    said = capsys.readouterr().out.strip()
    assert said.startswith("`policy` must be given again")
    assert f"print(error)  # {said}" in TEXT
    add_command(monkeypatch, module)
    assert invoke("spread", "drifting.jsonl", "--json").data["largest"] <= 5.0
    assert "Print the spread of the readings." in invoke("--help").output


def add_command(monkeypatch, module):
    """Do what the page says of a command: a module, and a line in the table."""
    monkeypatch.setitem(sys.modules, "equipoise.cli.spreading", module)
    monkeypatch.setitem(SECTIONS["A study"], "spread", "cli.spreading")
    monkeypatch.setitem(MODULES, "spread", "cli.spreading")


def test_every_check_is_shown_and_what_is_shown_exists():
    shown = set(re.findall(r"\bcheck_\w+", TEXT))
    assert shown == set(testing.__all__)
    source = Path(eq.__file__).parent
    for path in re.findall(r"`((?:\w+/)+\w+\.py)`", TEXT):
        assert (source / path).exists() or (PAGE.parents[1] / path).exists(), path
    for name in re.findall(r"`eq\.([\w.]+)`", TEXT):
        found = eq
        for part in name.split("."):
            found = getattr(found, part)
