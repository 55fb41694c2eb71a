"""The pages: their code runs, their links lead somewhere, the English is plain."""

import re
import sys
import types
import warnings
from importlib.util import find_spec
from pathlib import Path

import pytest

import equipoise as eq

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
PAGES = [
    *(ROOT / f"{page}.md" for page in ("README", "CONTRIBUTING", "CHANGELOG", "SECURITY")),
    *sorted(DOCS.glob("*.md")),
    *sorted(DOCS.glob("guides/*.md")),
]
ELSEWHERE = {"optuna.md", "gest.md", "extending.md"}
"""Pages whose code is run by tests of their own."""

CODE = re.compile(r"^```python\n(.*?)^```|^<!-- setup\n(.*?)^-->", re.MULTILINE | re.DOTALL)
OPTIONAL = ("optuna", "matplotlib", "joblib", "distributed")


def name(page):
    return str(page.relative_to(ROOT))


def blocks(page):
    """The code of a page in order, with what prepares for it."""
    return ["".join(match.groups("")) for match in CODE.finditer(page.read_text(encoding="utf-8"))]


WITH_CODE = [page for page in PAGES if blocks(page) and page.name not in ELSEWHERE]


@pytest.mark.parametrize("page", WITH_CODE, ids=name)
def test_the_code_of_a_page_runs(page, tmp_path, monkeypatch):
    """In one namespace, from top to bottom, in an empty folder."""
    codes = blocks(page)
    for package in OPTIONAL:
        if find_spec(package) is None and any(
            re.search(rf"^\s*(from|import) {package}\b", code, re.M) for code in codes
        ):
            pytest.skip(f"needs {package}")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MPLBACKEND", "Agg")
    module = types.ModuleType("page")
    monkeypatch.setitem(sys.modules, "page", module)
    known = set(sys.modules)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", eq.DuelGivenUp)
            for code in codes:
                exec(compile(code, page.name, "exec"), module.__dict__)
    finally:
        for stub in sys.modules.keys() - known:  # a page's stand-in for a package must not deceive other tests
            if sys.modules[stub].__spec__ is None:
                del sys.modules[stub]
    if "matplotlib.pyplot" in sys.modules:
        sys.modules["matplotlib.pyplot"].close("all")


def test_most_pages_have_code_that_runs():
    assert {"README.md", "docs/index.md", "docs/first.md", "docs/guides/instrument.md"} <= set(map(name, WITH_CODE))
    assert {page.name for page in PAGES} >= ELSEWHERE


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_what_a_page_links_to_exists(page):
    text = page.read_text(encoding="utf-8")
    for target in re.findall(r"\]\(([^)#\s]+)(?:#[^)]*)?\)", text):
        made = target.startswith("api/")  # by the site, when it is built
        assert made or target.startswith("https://") or (page.parent / target).exists(), target
    for script in re.findall(r"python ((?:examples|benchmarks|docs)/\S+\.py)", text):
        assert (ROOT / script).exists(), script


ODD = ("of which", "is no news", "so many", "whoever", "what became of", "nobody asked for", "held for spoiled")
"""Phrases that stop a reader."""

DIALECT = r"\bso many\b|\bwhoever\b|what became of|nobody asked for|gone on with|held for spoiled|for all that is known"
DIALECT += r"|\bof late\b|by no means|in want of|who met whom|noise and all|thinks most of"
DIALECT += r"|\ban? \w+ of (?:its|their|your|our|one's) own\b|as far as is known|\bfor ever\b|\bto and fro\b"
DIALECT += r"|on (?:what|which) ground|makes no sense|is no news|\bone a (?:line|row|column|session|round)\b"
DIALECT += r"|\bthrows? (?:a|the|its) coin|what is known of|(?:is|are) said of\b"
DIALECT += r"|\bin truth\b|\bof before\b|no matter who|\bwhat says\b|what is no\b|what c[ao]me (?:of|true|out)\b"
DIALECT += r"|what is believed of|nothing where|\bper cent\b|\ball else\b|\bas ever\b|[Ww]hat (?:it is|they are) called"
DIALECT += r"|(?:is|are|study|log) taken up\b"
BRITISH = r"neighbour|\bcentre|behaviour|favour|colour(?! = 1)|modelled|whilst|analyse[sd]?\b|optimisation|normalis"


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_the_english_is_plain(page):
    text = " ".join(page.read_text(encoding="utf-8").split())
    assert [odd for odd in ODD if odd in text] == []
    assert re.findall(f"{DIALECT}|{BRITISH}", text, re.I) == []


SAID = [path for folder in ("src", "tests", "benchmarks", "examples") for path in sorted((ROOT / folder).rglob("*.py"))]


def test_docstrings_and_messages_are_plain():
    odd = re.compile(f"{DIALECT}|{BRITISH}", re.I)
    found = [f"{path.relative_to(ROOT)}: {text}" for path in SAID for text in odd.findall(path.read_text("utf-8"))]
    assert [each for each in found if not each.startswith("tests/test_pages.py")] == []


def test_the_readme_is_short_and_speaks_of_this_version():
    readme = (ROOT / "README.md").read_text(encoding="utf-8").splitlines()
    assert len(readme) <= 120
    assert max(line.count("|") for line in readme) - 1 <= 5, "no wide table"
    section = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8").partition(f"\n## [{eq.__version__}]")[2]
    assert 100 < len(section.partition("\n### ")[0].split()) < 450, "what is new must be read in two minutes"
    assert f"version: {eq.__version__}" in (ROOT / "CITATION.cff").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def conf():
    """The configuration of the site, as a module."""
    source = DOCS / "conf.py"
    module = types.ModuleType("conf")
    module.__file__ = str(source)
    before = list(sys.path)
    exec(compile(source.read_text(encoding="utf-8"), source, "exec"), module.__dict__)
    yield module
    sys.path[:] = before


def test_the_reference_has_every_public_name(conf):
    documented = " ".join(conf.reference().values())
    for top in eq.__all__:
        thing = getattr(eq, top)
        names = [top] if not isinstance(thing, types.ModuleType) else getattr(thing, "__all__", [])
        for each in names:
            nested = isinstance(thing, types.ModuleType) and isinstance(getattr(thing, each), types.ModuleType)
            assert nested or re.search(rf":: {each}$", documented, re.MULTILINE), (top, each)


def test_every_name_of_the_reference_has_a_summary(conf):
    rows = re.findall(r"\* - :py:obj:`(\w+)`\n     - (.*)", " ".join(conf.reference().values()))
    assert len(rows) > 300
    assert [name for name, said in rows if not said.strip()] == []
    assert dict(rows)["BIASES"].startswith("Every bias by its name")


def test_the_reference_has_what_the_guides_use(conf):
    documented = " ".join(conf.reference().values())
    assert {"Poisson", "Binomial", "LogConcave"} <= set(re.findall(r":: (\w+)$", documented, re.MULTILINE))
    if find_spec("sklearn"):
        assert ".. autoclass:: DuelSearchCV" in documented


def test_the_reference_groups_every_member_of_the_optimizer(conf):
    members = {each for each in dir(eq.Optimizer) if each[0] != "_"}
    grouped = [each for group in conf.GROUPS.values() for each in group]
    assert sorted(grouped) == sorted(members)


def test_the_map_has_every_room_and_no_arrow_points_up(conf):
    graph = conf.module_map.rooms()
    source = Path(eq.__file__).parent
    folders = {path.parent.name for path in (*source.glob("*/__init__.py"), *source.glob("lab/*/__init__.py"))}
    folders -= {"lab", "_linalg"}  # which has nothing but its folders; which every room imports
    assert folders <= set(graph)
    places = conf.module_map.places(graph)
    assert all(places[room][1] > places[target][1] for room in graph for target in graph[room])
    drawn = conf.module_map.svg()
    assert all(f">{room}</text>" in drawn for room in graph)
    colored = {room for _, rooms in conf.module_map.COLORS.values() for room in rooms.split()}
    assert set(graph) <= colored


def test_the_files_of_the_notation_exist():
    table = (DOCS / "concepts.md").read_text(encoding="utf-8").partition("## Notation")[2]
    paths = re.findall(r"`(\w+/(?:\w+\.py)?)`", table)
    assert len(paths) > 10
    assert [path for path in paths if not (Path(eq.__file__).parent / path).exists()] == []
