"""The size of the house: modules of a package, files that a reading runs through, what an import loads."""

import ast
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import equipoise as eq
from tracing import SOURCE, files_run

PACKAGES = sorted(path.parent for path in SOURCE.rglob("__init__.py"))


@pytest.mark.parametrize("package", PACKAGES, ids=lambda package: package.relative_to(SOURCE).as_posix())
def test_a_package_has_at_most_18_modules(package):
    modules = [path for path in package.glob("*.py") if path.stem != "__init__"]
    assert len(modules) <= 18


# --- classes and functions ----------------------------------------------------------------------------------------

TREES = {path.relative_to(SOURCE).as_posix(): ast.parse(path.read_text("utf-8")) for path in SOURCE.rglob("*.py")}
LARGE = {
    "Study": 27,
}
"""Classes with more than 20 public methods and properties, and how many each may have."""


def functions(tree):
    return [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)]


CLASSES = [node for tree in TREES.values() for node in ast.walk(tree) if isinstance(node, ast.ClassDef)]


def public(node):
    """The public methods and properties of a class."""
    return {each.name for each in node.body if isinstance(each, ast.FunctionDef) and each.name[0] != "_"}


def test_a_class_has_at_most_20_public_members():
    assert {node.name for node in CLASSES if len(public(node)) > LARGE.get(node.name, 20)} == set()


def test_the_contract_of_a_posterior_is_small():
    assert len(public(next(node for node in CLASSES if node.name == "Posterior"))) <= 14


def passes_on(method):
    """Whether all that a method does is to call the one of the same name of a part, or to look it up."""
    done = method.body[-1].value if isinstance(method.body[-1], ast.Return) else None
    found = done.func if isinstance(done, ast.Call) else done
    whole = len(method.body) == 1 + (ast.get_docstring(method) is not None)
    said = ast.unparse(found) if whole and isinstance(found, ast.Attribute) else ""
    return said.startswith("self.") and said.endswith("." + method.name) and "(" not in said


def test_no_method_of_a_belief_only_passes_on():
    classes = [node for path, tree in TREES.items() if path.startswith("belief/") for node in ast.walk(tree)]
    methods = [(node.name, each) for node in classes if isinstance(node, ast.ClassDef) for each in functions(node)]
    assert [f"{name}.{each.name}" for name, each in methods if passes_on(each)] == []


def test_a_function_is_short():
    """Without its docstring: three lines in the median, 50 at most."""
    sizes = []
    for path, tree in TREES.items():
        for node in functions(tree):
            body = node.body[1:] if ast.get_docstring(node) is not None else node.body
            sizes += [(body[-1].end_lineno - body[0].lineno + 1, path, node.name)] if body else []
    assert max(sizes)[0] <= 50, max(sizes)
    assert sorted(sizes)[len(sizes) // 2][0] <= 3


def test_the_methods_of_a_state_are_short():
    """With their docstrings."""
    state = next(node for node in TREES["study/state.py"].body if isinstance(node, ast.ClassDef))
    assert state.name == "State"
    assert max(node.end_lineno - node.lineno + 1 for node in functions(state)) <= 30


def test_the_shell_of_a_study_reaches_through_one_object():
    """A function that the optimizer hands to the session looks at what it is given, not at what that has."""
    lambdas = [node for node in ast.walk(TREES["optimizer/ask_tell.py"]) if isinstance(node, ast.Lambda)]
    reached = [node for each in lambdas for node in ast.walk(each.body) if isinstance(node, ast.Attribute)]
    assert lambdas
    assert [ast.unparse(node) for node in reached if isinstance(node.value, ast.Attribute)] == []


def test_the_shell_of_a_study_is_short():
    """Its signatures and docstrings are most of it."""
    assert len([name for name in dir(eq.Optimizer) if name[0] != "_"]) <= 25
    assert len((SOURCE / "optimizer/ask_tell.py").read_text("utf-8").splitlines()) <= 270


def test_a_judgement_goes_the_way_of_a_reading():
    """The words of the second way are gone."""
    gone = re.compile("docket|hearing|listening|ballot|ruling|keeper|run_pairs|add_judgement", re.IGNORECASE)
    assert [path for path in TREES if gone.search(path)] == []
    assert [path for path in TREES if gone.search((SOURCE / path).read_text("utf-8"))] == []


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

    study()  # what is loaded at first use is not part of the path
    return {path: lines for path, lines in files_run(study).items() if path != "_validation.py"}


def test_the_papers_path_runs_through_few_files():
    table = the_papers_path()
    assert {"optimizer/ask_tell.py", "policies/ids.py", "reductions/two_point.py"} <= set(table)
    assert len(table) <= 25
    assert sum(table.values()) <= 4260


# --- what an import loads -----------------------------------------------------------------------------------------


def loaded(code):
    """The modules that a fresh interpreter has loaded after running some code."""
    run = [sys.executable, "-c", f"import sys; {code}; print(*sys.modules)"]
    return set(subprocess.run(run, capture_output=True, text=True, check=True).stdout.split())


def of_ours(modules):
    return {name for name in modules if name.split(".")[0] == "equipoise"}


def test_an_import_loads_few_modules():
    assert of_ours(loaded("import equipoise")) == {"equipoise"}
    assert len(of_ours(loaded("from equipoise import Optimizer"))) <= 89


HEAVY = {"click", "jinja2", "joblib", "matplotlib", "optuna", "rich", "scipy", "starlette", "tqdm", "uvicorn"}
"""Packages that an optimizer can do without until it is used, or that only few need."""


def test_an_optimizer_loads_no_heavy_package():
    modules = loaded("from equipoise import Optimizer")
    assert not HEAVY & {name.split(".")[0] for name in modules}
    assert not {"cli", "integrations", "lab", "plots", "programs", "runners", "testing", "web"} & {
        name.split(".")[1] for name in of_ours(modules) - {"equipoise"}
    }


def test_every_name_comes_from_its_part():
    typed = {name for names in eq.NAMES.values() for name in names.split()}
    assert typed <= set(eq.__all__) <= typed | set(eq.PARTS)
    with pytest.raises(AttributeError, match="no attribute 'nonsense'"):
        _ = eq.nonsense
    assert loaded("from equipoise import *") > loaded("import equipoise.optimizer")


def test_type_checkers_know_the_same_names():
    """They read the imports that are never run."""
    tree = ast.parse(Path(eq.__file__).read_text(encoding="utf-8"))
    block = next(node for node in tree.body if isinstance(node, ast.If))
    names = {
        (node.module, alias.name) for node in block.body if isinstance(node, ast.ImportFrom) for alias in node.names
    }
    homes = {(f"equipoise.{part}", name) for part, some in eq.NAMES.items() for name in some.split()}
    assert names == homes | {("equipoise", name) for name in set(eq.__all__) & set(eq.PARTS)}
