"""The size of the house: modules of a package, files that a reading runs through, what an import loads."""

import subprocess
import sys

import numpy as np
import pytest

import equipoise as eq
from tracing import SOURCE, files_run

PACKAGES = sorted(path.parent for path in SOURCE.rglob("__init__.py"))
LARGER = {"belief": 20, "lab/experiments": 20, "study": 30, "web": 24}
"""Packages that have more than 18 modules, and may not grow."""


@pytest.mark.parametrize("package", PACKAGES, ids=lambda package: package.relative_to(SOURCE).as_posix())
def test_a_package_has_at_most_18_modules(package):
    modules = [path for path in package.glob("*.py") if path.stem != "__init__"]
    assert len(modules) <= LARGER.get(package.relative_to(SOURCE).as_posix(), 18)


# --- the way of a datum -------------------------------------------------------------------------------------------


def the_papers_path():
    """The files from `ask` to `recommend` in a study as the paper has it, without the checks of what is given."""
    points = np.linspace(0, 1, 11)[:, None]
    opt = eq.Optimizer(
        eq.Finite(points),
        kernel=eq.RBF(0.2),
        policy=eq.IDS(),
        reduction=eq.TwoPoint(),
        confidence=eq.FixedConfidence(1.0),
        regularizer=1.0,
        rng=0,
    )

    def study():
        for value in (0.3, 0.4):
            opt.tell(opt.ask(), value)
        opt.recommend()

    return {path: lines for path, lines in files_run(study).items() if path != "_validation.py"}


def test_the_papers_path_runs_through_few_files():
    table = the_papers_path()
    assert {"optimizer.py", "policies/ids.py", "reductions/two_point.py"} <= set(table)
    assert len(table) <= 37
    assert sum(table.values()) <= 7500


# --- what an import loads -----------------------------------------------------------------------------------------


def loaded(code):
    """The modules that a fresh interpreter has loaded after running some code."""
    run = [sys.executable, "-c", f"import sys; {code}; print(*sys.modules)"]
    return set(subprocess.run(run, capture_output=True, text=True, check=True).stdout.split())


def of_ours(modules):
    return {name for name in modules if name.split(".")[0] == "equipoise"}


def test_an_import_loads_few_modules():
    assert len(of_ours(loaded("import equipoise"))) <= 143
