"""The house: imports point down only, rooms keep their secrets, and no word names two things."""

import ast
import json
import subprocess
import sys
from collections import defaultdict
from pathlib import Path

import pytest

import equipoise

SOURCE = Path(equipoise.__file__).parent

# Lowest first: a layer may import itself and what stands before it. `equipoise` is the package's own `__init__`.
ORDER = [
    *("_lazy", "_typing", "_validation", "_linalg"),
    *("spaces", "kernels", "offsets", "likelihoods", "data", "reductions", "belief", "policies", "answer"),
    *("log", "study", "runners", "optimizer", "programs", "programs.gating", "plots", "equipoise"),
    *("lab", "lab.environments", "lab.fleet", "lab.experiments", "lab.board"),
    *("testing", "web", "cli", "programs.commands"),
    *("__main__", "integrations"),
]
ONLY = {"lab.environments": {"_typing", "_validation", "kernels"}}
NESTED = {"lab", "programs"}
"""Packages whose subpackages are layers of their own: nothing of the core imports them."""
IMPORTED_BY = {
    "runners": {"optimizer", "web", "cli", "programs.commands", "integrations"},
    "programs": {"programs.gating", "plots", "equipoise", "cli", "programs.commands", "integrations"},
    "programs.gating": {"equipoise", "lab.experiments", "programs.commands"},
    "lab": set(),
    "lab.environments": {"lab.fleet", "lab.experiments", "lab.board", "testing", "web", "cli"},
    "lab.fleet": {"lab.experiments", "testing", "cli"},
    "lab.experiments": {"lab.board", "cli"},
    "lab.board": {"cli"},
    "testing": set(),
    "web": {"cli"},
    "cli": {"__main__", "programs.commands"},
    "programs.commands": {"integrations"},
    "integrations": set(),
}

FILES = {path: ast.parse(path.read_text(encoding="utf-8")) for path in sorted(SOURCE.rglob("*.py"))}
NODES = [(path, node) for path, tree in FILES.items() for node in ast.walk(tree)]
CLASSES = [(path, node) for path, node in NODES if isinstance(node, ast.ClassDef)]


def layer(path):
    """The layer a file belongs to: its module, or its subpackage."""
    return placed([part.removesuffix(".py") for part in path.relative_to(SOURCE).parts])


def placed(parts):
    """The layer of a module, by the parts of its name below the package."""
    nested = len(parts) > 1 and parts[0] in NESTED and (SOURCE / parts[0] / parts[1]).is_dir()
    known = any((SOURCE / name).exists() for name in (parts[0], f"{parts[0]}.py")) and parts[0] != "__init__"
    return (".".join(parts[:2]) if nested else parts[0]) if known else "equipoise"


def room(path):
    """What keeps its secrets: the folder of a file, or a module at the top by itself."""
    return path.parent if path.parent != SOURCE else path


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
            yield placed(parts[1:] or [""])


def imports():
    """Every (file, layer that imports, layer imported) within the package, function bodies included."""
    for path, node in NODES:
        for target in imported(node):
            yield path.relative_to(SOURCE), layer(path), target


def allowed(source, target):
    if source == target:
        return True
    below = ORDER.index(target) < ORDER.index(source)
    return below and target in ONLY.get(source, {target}) and source in IMPORTED_BY.get(target, {source})


def where(path, node):
    return f"{path.relative_to(SOURCE)}:{node.lineno}"


# --- imports ------------------------------------------------------------------------------------------------------


def test_every_module_has_its_place():
    unknown = {layer(path) for path in FILES} - set(ORDER)
    assert not unknown, f"give {unknown} a place in ORDER"
    assert len(ORDER) == len(set(ORDER)) <= 32


def test_imports_point_down_only():
    wrong = {f"{path} imports {target}" for path, source, target in imports() if not allowed(source, target)}
    assert not wrong


LEAVES = {"cli", "programs.commands"}
"""Packages whose modules are imported one by one: a command of the shell loads what it needs, and no other command."""


def door(parts):
    """The package that a module belongs to, by the parts of its name below ours: what its door is."""
    known = [n for n in range(1, len(parts) + 1) if SOURCE.joinpath(*parts[:n]).is_dir()]
    return parts[: known[-1]] if known else []


def test_another_package_is_imported_through_its_door():
    wrong = []
    for path, node in NODES:
        parts = (getattr(node, "module", None) or "").split(".") if isinstance(node, ast.ImportFrom) else []
        inside = parts[1:] if parts[:1] == ["equipoise"] else []
        own = list(path.relative_to(SOURCE).parts[:-1])
        package = door(inside)
        if (
            package
            and package != inside
            and own[: len(package)] != package
            and not {package[0], ".".join(package)} & LEAVES
        ):
            wrong.append(f"{where(path, node)} {node.module}")
    assert not wrong


def test_the_rule_itself():
    assert allowed("policies", "belief")
    assert not allowed("belief", "policies")
    assert not allowed("spaces", "belief")
    assert not allowed("lab.environments", "belief")
    assert not allowed("integrations", "cli")
    assert not allowed("lab.experiments", "integrations")
    assert ("optimizer", "policies") in {(source, target) for _, source, target in imports()}


def test_the_core_imports_numpy_and_scipy_and_nothing_slow(tmp_path):
    script = (
        "import sys, json; before = set(sys.modules); from equipoise import Optimizer; "
        "new = {name: sys.modules[name] for name in set(sys.modules) - before}; "
        "print(json.dumps({name: getattr(module, '__file__', None) or '' for name, module in new.items()}))"
    )
    run = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True, cwd=tmp_path)
    loaded = {name: Path(file).parts for name, file in json.loads(run.stdout).items()}
    installed = {parts[parts.index("site-packages") + 1] for parts in loaded.values() if "site-packages" in parts}
    installed -= {
        name for name in installed if name.startswith("charset_normalizer") or "__mypyc" in name
    }  # numpy.f2py's
    assert {"numpy"} <= installed <= {"equipoise", "numpy", "scipy"}
    assert not {"scipy.stats", "scipy.optimize"} & set(loaded)


def test_a_study_needs_no_package_of_scipy(tmp_path):
    """Each takes a quarter of a second to import, in every command of the shell."""
    script = (
        "import sys, equipoise as eq; opt = eq.Optimizer(eq.Space(q1=eq.Float(0, 1)), rng=0, log='study.jsonl'); "
        "opt.run(lambda x: -(x['q1'] - 0.7) ** 2, readings=14); print(eq.resume('study.jsonl').ask().id); "
        "print([name for name in ('linalg', 'optimize', 'special', 'stats') if f'scipy.{name}' in sys.modules])"
    )
    run = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True, cwd=tmp_path)
    assert run.stdout == "14\n[]\n"


def test_a_command_loads_only_what_it_needs(tmp_path):
    """`numpy.ma`, which `np.quantile` and `np.unique` import, takes a tenth of the time of `best`."""
    script = (
        "import sys, equipoise as eq; opt = eq.Optimizer(eq.Space(q1=eq.Float(0, 1)), rng=0, log='study.jsonl'); "
        "opt.run(lambda x: -(x['q1'] - 0.7) ** 2, readings=14)"
    )
    subprocess.run([sys.executable, "-c", script], check=True, cwd=tmp_path)
    script = (
        "import sys; from equipoise.cli.main import main; main(['best', 'study.jsonl'], standalone_mode=False); "
        "print([name for name in ('numpy.ma', 'equipoise.runners.on_executor') if name in sys.modules])"
    )
    run = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True, cwd=tmp_path)
    assert run.stdout.endswith("\n[]\n")


def test_environments_and_experiments_come_with_the_package_when_asked_for():
    code = (
        "import equipoise as eq, sys; print('equipoise.lab' in sys.modules or 'equipoise.programs' in sys.modules, "
        "eq.lab.environments.Drift)"
    )
    said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert said.startswith("False <class 'equipoise.lab.environments")
    assert equipoise.lab.experiments.sweep is not None
    assert equipoise.testing is not None
    with pytest.raises(AttributeError, match="no attribute 'nonsense'"):
        _ = equipoise.nonsense


# --- names --------------------------------------------------------------------------------------------------------


def test_at_most_six_modules_stand_at_the_top():
    assert len(list(SOURCE.glob("*.py"))) <= 6


def test_a_user_types_at_most_47_names_and_sees_no_others():
    assert len(equipoise.__all__) == len(set(equipoise.__all__)) <= 47
    assert dir(equipoise) == sorted(equipoise.__all__)
    assert all(hasattr(equipoise, name) for name in equipoise.__all__)


def twice(places):
    """What stands in more than one place."""
    return {name: found for name, found in places.items() if len(found) > 1}


def test_no_word_names_two_modules():
    places = defaultdict(list)
    for path in FILES:
        name = path.parent.name if path.stem == "__init__" else path.stem
        places[name].append(str(path.relative_to(SOURCE)))
    assert not twice(places)


def test_no_word_names_two_public_classes():
    places = defaultdict(list)
    for path, node in CLASSES:
        if not node.name.startswith("_") and node in FILES[path].body:
            places[node.name].append(str(path.relative_to(SOURCE)))
    assert not twice(places)


# --- rooms --------------------------------------------------------------------------------------------------------


def name_of(node):
    """The last name of an expression: `Generic` of `typing.Generic[T]`."""
    node = node.value if isinstance(node, ast.Subscript) else node
    return node.attr if isinstance(node, ast.Attribute) else getattr(node, "id", "")


def names_in(node):
    return {name_of(each) for each in ast.walk(node) if isinstance(each, (ast.Name, ast.Attribute))}


def test_laws_of_the_offset_are_told_apart_nowhere_else():
    laws = {name for name in equipoise.offsets.__all__ if isinstance(getattr(equipoise.offsets, name), type)}
    laws = {name for name in laws if issubclass(getattr(equipoise.offsets, name), equipoise.offsets.Law)}
    assert {"Tracked", "Arbitrary", "Constant", "Blocks"} <= laws
    told = [
        where(path, node)
        for path, node in NODES
        if isinstance(node, ast.Call) and name_of(node.func) == "isinstance" and layer(path) != "offsets"
        if names_in(node.args[1]) & laws
    ]
    matched = [
        where(path, node)
        for path, node in NODES
        if isinstance(node, ast.MatchClass) and name_of(node.cls) in laws and layer(path) != "offsets"
    ]
    assert not told + matched


def test_comparisons_are_made_in_one_module():
    """The rules that others test their parts by make data of their own, as tests do."""
    made = {
        str(path.relative_to(SOURCE))
        for path, node in NODES
        if isinstance(node, ast.Call) and name_of(node.func) == "Comparison" and layer(path) != "testing"
    }
    assert made == {"data/teaching.py"}


TO_INHERIT = {"Law", "Kernel", "Lazy", "Posterior", "Stationary"}
"""What users inherit to add their own part: contracts with code that is shared."""


def test_no_concrete_class_is_subclassed():
    abstract, ours = set(TO_INHERIT), {node.name for _, node in CLASSES}
    for _, node in CLASSES:
        bases = {name_of(base) for base in node.bases}
        if bases & {"ABC", "Protocol"} or node.name.startswith("_"):
            abstract.add(node.name)
    wrong = [
        f"{where(path, node)} {node.name}({name_of(base)})"
        for path, node in CLASSES
        for base in node.bases
        if name_of(base) in ours - abstract and not name_of(base).endswith(("Error", "Warning"))
    ]
    assert not wrong


def is_private(name):
    return name.startswith("_") and not name.startswith("__")


def own(node):
    """Whether an object is the one whose method this is, or a copy of it that nobody has seen yet."""
    by_name = isinstance(node, ast.Name) and node.id in ("self", "cls", "new")
    return by_name or (isinstance(node, ast.Call) and name_of(node.func) == "super")


def private_names():
    """The private names that each room gives to attributes, functions, classes and variables."""
    names = defaultdict(set)
    for path, node in NODES:
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            names[room(path)].add(node.name)
        elif isinstance(node, (ast.Attribute, ast.Name)) and isinstance(node.ctx, ast.Store):
            names[room(path)].add(name_of(node))
    return {place: set(filter(is_private, found)) for place, found in names.items()}


def test_nothing_outside_a_room_reads_a_private_name_of_it():
    """A private name that no room of ours has given is another library's."""
    given = private_names()
    everybodys = set.union(*given.values())
    wrong = [
        f"{where(path, node)} {ast.unparse(node)}"
        for path, node in NODES
        if isinstance(node, ast.Attribute) and is_private(node.attr) and not own(node.value)
        if node.attr in everybodys and node.attr not in given[room(path)]
    ]
    modules = {"_lazy", "_typing", "_validation", "_linalg"}
    taken = [
        f"{where(path, node)} {alias.name}"
        for path, node in NODES
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("equipoise")
        for alias in node.names
        if is_private(alias.name) and alias.name not in modules and alias.name not in given.get(room(path), set())
    ]
    assert not wrong + taken
