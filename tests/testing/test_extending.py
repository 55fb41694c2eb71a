"""The code on docs/extending.md runs, in order, in one namespace."""

import ast
import re
import shutil
import subprocess
import sys
import types
from pathlib import Path

import equipoise as eq
from equipoise import testing
from equipoise.cli.main import MODULES, SECTIONS
from invoking import invoke

PAGE = Path(__file__).parents[2] / "docs" / "extending.md"
TEXT = PAGE.read_text(encoding="utf-8")
BLOCKS = re.findall(r"^```python\n(.*?)^```", TEXT, re.MULTILINE | re.DOTALL)


def test_the_code_of_the_page_runs(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    module = types.ModuleType("extending")  # with its own name, so that pickle finds its classes
    monkeypatch.setitem(sys.modules, "extending", module)
    assert len(BLOCKS) == 9
    monkeypatch.setattr(eq.web, "PANELS", list(eq.web.PANELS))
    for block in BLOCKS:
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


def shown(name):
    """A class or function of the page, with the imports of the page that it needs."""
    nodes = [node for block in BLOCKS for node in ast.parse(block).body]
    part = next(node for node in nodes if getattr(node, "name", "") == name)
    used = {node.id for node in ast.walk(part) if isinstance(node, ast.Name)}
    imports = [node for node in nodes if isinstance(node, ast.Import | ast.ImportFrom)]
    needed = [node for node in imports if used & {alias.asname or alias.name for alias in node.names}]
    return "\n".join(map(ast.unparse, [*needed, part]))


PUBLIC = "if TYPE_CHECKING:  # public\n"
PLACES = {
    "RandomRival": ("policies", "rivals", "policies/__init__.py", PUBLIC),
    "Periodic": ("offsets", "periods", "offsets/__init__.py", PUBLIC),
    "Waiting": ("likelihoods", "waits", "likelihoods/__init__.py", PUBLIC),
    "spread": ("cli", "spreading", "cli/main.py", '    "A study": {\n'),
}
"""Each part of the page: the folder and name of its file; the file that gets a line for it, and what stands before."""

ADDED = """
import equipoise as eq
law, policy, likelihood = eq.offsets.Periodic(24), eq.policies.RandomRival(), eq.likelihoods.Waiting()
opt = eq.Optimizer(eq.Space(q=eq.Float(0, 1)), offset=law, policy=policy, likelihood=likelihood, log="a.jsonl", rng=0)
opt.run(lambda x: 2.0 - x["q"], readings=4)
setup = eq.resume("a.jsonl").study.setup
print(setup.offset == law, setup.policy == policy, setup.likelihood == likelihood)
print(*{"Periodic"} & set(eq.offsets.__all__), *{"RandomRival"} & set(eq.policies.__all__), eq.__file__)
from equipoise.cli.main import main
main(["spread", "a.jsonl"])
"""


def test_a_part_of_the_library_is_one_file_and_one_line(tmp_path):
    """In a copy of the library: the log of a study knows the part, and so does the shell."""
    library = tmp_path / "equipoise"
    shutil.copytree(Path(eq.__file__).parent, library, ignore=shutil.ignore_patterns("__pycache__", "static"))
    for name, (folder, module, home, before) in PLACES.items():
        (library / folder / f"{module}.py").write_text(shown(name), "utf-8")
        line = f"    from equipoise.{folder}.{module} import {name} as {name}\n"
        line = f'        "{name}": "{folder}.{module}",\n' if folder == "cli" else line
        text = (library / home).read_text("utf-8")
        assert before in text
        (library / home).write_text(text.replace(before, before + line, 1), "utf-8")
    run = subprocess.run([sys.executable, "-c", ADDED], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert run.stdout.startswith("True True True\nPeriodic RandomRival"), run.stderr
    assert str(library) in run.stdout
    assert "The readings lie between" in run.stdout


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
