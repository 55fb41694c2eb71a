"""Imports point down only, and the core stands on NumPy and SciPy alone."""

import ast
import json
import subprocess
import sys
from pathlib import Path

import pytest

import equipoise

SOURCE = Path(equipoise.__file__).parent

# Lowest first: a layer may import itself and what stands before it. `equipoise` is the package's own `__init__`.
ORDER = [
    *("_typing", "_validation", "_linalg"),
    *("domain", "constraints", "sampling", "numeric", "parameters", "space", "named_space", "descriptions"),
    *("kernels", "offsets", "duel", "baselines", "forecasters", "reductions"),
    *("confidence", "covariance", "posterior", "dual", "hyperparameters", "learned", "guarded", "defaults"),
    *("acquisition", "policies", "ledger", "streams", "events", "locks", "lines", "settings", "log"),
    *("progress", "proposing", "recommending", "optimizer", "study", "plots", "equipoise"),
    *("environments", "experiments", "commands", "cli", "__main__", "integrations", "web"),
]
ONLY = {"environments": {"_typing", "_validation", "kernels"}}
IMPORTED_BY = {
    "cli": {"__main__"},
    "integrations": set(),
    "web": set(),
    "environments": {"experiments", "commands", "cli", "integrations", "web"},
}


def layer(path):
    """The layer a file belongs to: its module, or its subpackage."""
    part = path.relative_to(SOURCE).parts[0].removesuffix(".py")
    return "equipoise" if part == "__init__" else part


def imported(node):
    """The layers one import statement reaches."""
    names = []
    if isinstance(node, ast.Import):
        names = [alias.name for alias in node.names]
    elif isinstance(node, ast.ImportFrom):
        assert node.level == 0, f"line {node.lineno}: imports are absolute"
        names = [f"{node.module}.{alias.name}" for alias in node.names]
    for parts in (name.split(".") for name in names):
        if parts[0] == "equipoise":
            known = len(parts) > 1 and any((SOURCE / name).exists() for name in (parts[1], f"{parts[1]}.py"))
            yield parts[1] if known else "equipoise"


def imports():
    """Every (file, layer that imports, layer imported) within the package, function bodies included."""
    for path in sorted(SOURCE.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            for target in imported(node):
                yield path.relative_to(SOURCE), layer(path), target


def allowed(source, target):
    if source == target:
        return True
    below = ORDER.index(target) < ORDER.index(source)
    return below and target in ONLY.get(source, {target}) and source in IMPORTED_BY.get(target, {source})


def test_every_module_has_its_place():
    unknown = {layer(path) for path in SOURCE.rglob("*.py")} - set(ORDER)
    assert not unknown, f"give {unknown} a place in ORDER"


def test_imports_point_down_only():
    wrong = {f"{path} imports {target}" for path, source, target in imports() if not allowed(source, target)}
    assert not wrong


def test_the_rule_itself():
    assert allowed("policies", "posterior")
    assert not allowed("posterior", "policies")
    assert not allowed("space", "posterior")
    assert not allowed("environments", "posterior")
    assert not allowed("web", "cli")
    assert not allowed("experiments", "integrations")
    assert ("optimizer", "policies") in {(source, target) for _, source, target in imports()}


def test_the_core_imports_numpy_and_scipy_and_nothing_slow(tmp_path):
    script = (
        "import sys, json; before = set(sys.modules); import equipoise; "
        "new = {name: sys.modules[name] for name in set(sys.modules) - before}; "
        "print(json.dumps({name: getattr(module, '__file__', None) or '' for name, module in new.items()}))"
    )
    run = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True, cwd=tmp_path)
    loaded = {name: Path(file).parts for name, file in json.loads(run.stdout).items()}
    installed = {parts[parts.index("site-packages") + 1] for parts in loaded.values() if "site-packages" in parts}
    assert {"numpy"} <= installed <= {"equipoise", "numpy", "scipy"}
    assert not {"scipy.stats", "scipy.optimize"} & set(loaded)


def test_environments_and_experiments_come_with_the_package_when_asked_for():
    code = "import equipoise as eq, sys; a = 'equipoise.environments' in sys.modules; print(a, eq.environments.Drift)"
    said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert said.startswith("False <class 'equipoise.environments")
    assert equipoise.experiments.sweep is not None
    with pytest.raises(AttributeError, match="no attribute 'nonsense'"):
        _ = equipoise.nonsense
