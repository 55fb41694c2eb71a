"""The tables of the pages: every name in them exists, and those that list all of something leave nothing out."""

import ast
import builtins
import inspect
import itertools
import re
import tomllib
from functools import cache
from pathlib import Path

import pytest

import equipoise as eq
from equipoise.log import codec, fits
from equipoise.log.codec import Codec

ROOT = Path(__file__).parents[1]
SOURCE = Path(eq.__file__).parent
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]
FENCE = re.compile(r"^```.*?^```", re.MULTILINE | re.DOTALL)
INSTANCES = {"opt": eq.Optimizer, "best": eq.Recommendation, "trial": eq.Trial, "pair": eq.likelihoods.Pair}
"""What a variable of the pages is."""

ELSEWHERE = {"trial": {"suggest_float", "suggest_int", "report", "should_prune"}}
"""Names of other libraries: Optuna's trials."""

FOREIGN = {"time_dependent_upper_confidence_bound"}
"""Another one: a generator of Xopt."""


def name(page):
    return str(page.relative_to(ROOT))


def rows(page):
    """The rows of all tables of a page, each as a list of cells."""
    text = FENCE.sub("", page.read_text(encoding="utf-8"))
    return [line.strip().strip("|").split(" | ") for line in text.splitlines() if line.startswith("|")]


def spans(cells):
    return [span for cell in cells for span in re.findall(r"`([^`]+)`", cell)]


@cache
def words_of_the_sources():
    """Every name that stands in the sources, tests and benchmarks."""
    files = [*SOURCE.rglob("*.py"), *(ROOT / "tests").rglob("*.py"), *(ROOT / "benchmarks").glob("*.py")]
    texts = [path.read_text(encoding="utf-8") for path in files if path != Path(__file__)]
    return {word for text in texts for word in re.findall(r"\w+", text)} | {path.stem for path in files}


def resolve(path):
    """Follow a dotted name that begins at the library, or at a variable of the pages."""
    first, *parts = path.split(".")
    thing = eq if first == "eq" else INSTANCES[first]
    for part in parts:
        if part in ELSEWHERE.get(first, ()):
            return
        if part in getattr(thing, "__dataclass_fields__", {}):
            return  # an attribute of an instance
        thing = getattr(thing, part)
        if isinstance(thing, property):
            named = thing.fget.__annotations__["return"]  # by its name, where it is loaded when it is used
            thing = getattr(eq.study, named) if isinstance(named, str) else named


@pytest.mark.parametrize("page", [page for page in PAGES if rows(page)], ids=name)
def test_every_name_in_a_table_exists(page):
    missing = []
    for span in {span for cells in rows(page) for span in spans(cells)}:
        bare = re.sub(r"'[^']*'|\"[^\"]*\"", "", span)
        for path in re.findall(r"(?<![\w.])(?:eq|opt|best|trial|pair)(?:\.[A-Za-z_]\w*)+", bare):
            try:
                resolve(path)
            except AttributeError:
                missing.append(path)
        files = re.findall(r"(?<![\w./])(?:[\w.-]+/)+(?:[\w.-]+\.(?:py|md|sh|jsonl|toml|html|css))?(?![\w/])", bare)
        missing += [file for file in files if "..." not in file and not _exists(page, file)]
        plain = re.sub(r"(?:[\w.-]+/)+[\w.-]*", "", bare)
        words = re.findall(r"(?<![\w$.\\-])(?:[A-Z]\w*_\w+|[A-Z][a-z]+[A-Z]\w*|[a-z]{2,}_\w{2,})(?!\w)", plain)
        missing += [word for word in words if word not in words_of_the_sources() | set(dir(builtins)) | FOREIGN]
    assert sorted(missing) == []


def _exists(page, file):
    return any((folder / file).exists() for folder in (SOURCE, ROOT, page.parent))


def table(page, head):
    """The cells of the first column of the table whose header begins with a word, span by span."""
    lines = rows(ROOT / page)
    begin = next(i for i, cells in enumerate(lines) if cells[0].strip() == head) + 2  # below the header and its rule
    first = itertools.takewhile(lambda cells: cells[0].strip().startswith("`"), lines[begin:])
    return [span for cells in first for span in spans(cells[:1])]


def test_the_table_of_the_log_has_every_event():
    kinds = set(re.findall(r'case \{"(\w+)"', inspect.getsource(Codec)))
    assert len(kinds) >= 14
    assert kinds <= set(table("docs/studies.md", "key"))


def written(module):
    """The keys that a module of the log writes into its JSON, or takes from that of earlier versions."""
    nodes = list(ast.walk(ast.parse(inspect.getsource(module))))
    keys = {each for node in nodes if isinstance(node, ast.Dict) for each in node.keys}
    keys |= {node.slice for node in nodes if isinstance(node, ast.Subscript)}
    keys |= {ast.Constant(key.arg) for node in nodes if isinstance(node, ast.Call) for key in _named(node)}
    return {key.value for key in keys if isinstance(key, ast.Constant) and isinstance(key.value, str)}


def _named(call):
    return [key for key in call.keywords if getattr(call.func, "id", "") == "_given" and key.arg]


def test_the_table_of_the_log_has_every_key():
    keys = written(codec) | written(fits) | set(eq.offsets.Circumstances.of().to_dict())
    assert len(keys) >= 65
    log = (ROOT / "docs" / "studies.md").read_text(encoding="utf-8").partition("## The log")[2].partition("###")[0]
    assert sorted(key for key in keys if f"`{key}`" not in log) == []


def test_the_rooms_have_every_package_and_module():
    folders = {path.parent.name for path in SOURCE.glob("[!_]*/__init__.py")}
    modules = {path.stem for path in SOURCE.glob("*.py") if not path.stem.startswith("_")}
    assert set(table("CONTRIBUTING.md", "room")) == folders | modules


def test_the_install_page_names_every_extra_and_what_it_brings():
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["optional-dependencies"]
    named = {cells[0].strip(" `"): cells[-1] for cells in rows(ROOT / "docs/install.md")}
    assert set(extras) <= set(named)
    brought = {extra: set(re.findall(r"[\w-]+", named[extra])) for extra in set(extras) - {"dev"}}
    direct = {extra: {re.split(r"[\[><=]", each)[0] for each in extras[extra]} - {"equipoise"} for extra in brought}
    assert {extra: names - brought[extra] for extra, names in direct.items() if names - brought[extra]} == {}


def test_the_parts_of_your_own_name_every_check():
    checks = {each for each in eq.testing.__all__ if each.startswith("check_")}
    text = (ROOT / "docs" / "extending.md").read_text(encoding="utf-8")
    assert checks <= set(re.findall(r"check_\w+", text))


def test_what_is_said_to_stand_in_a_file_stands_there():
    found = 0
    for page in PAGES:
        text = page.read_text(encoding="utf-8")
        for word, file in re.findall(r"`(\w+)` (?:in|of) `([\w/]+\.py)`", text):
            source = next((folder / file for folder in (SOURCE, ROOT) if (folder / file).exists()), None)
            assert source is not None, file
            assert re.search(rf"^(?:def |class )?{word}\b", source.read_text(encoding="utf-8"), re.MULTILINE), (
                word,
                file,
            )
            found += 1
    assert found >= 2


def test_the_sections_of_the_method_that_the_sources_name_exist():
    method = (ROOT / "docs" / "method.md").read_text(encoding="utf-8")
    sections = set(re.findall(r"^## (\d+)\. ", method, re.MULTILINE))
    pattern = re.compile(r"METHOD (?:section )?(\d+)|docs/method\.md, sections? (\d+)")
    named = {n for path in SOURCE.rglob("*.py") for pair in pattern.findall(path.read_text("utf-8")) for n in pair if n}
    assert len(named) > 8
    assert named <= sections


def test_the_lists_that_parts_are_added_to_exist():
    text = "\n".join(path.read_text(encoding="utf-8") for path in SOURCE.rglob("*.py"))
    wanted = {span for cells in rows(ROOT / "docs" / "extending.md") for span in spans(cells) if span.isupper()}
    assert len(wanted) >= 4
    assert {each for each in wanted if not re.search(rf"^{each}\b.*=", text, re.MULTILINE)} == set()


def test_the_rule_itself():
    with pytest.raises(AttributeError):
        resolve("opt.recomend")
    with pytest.raises(AttributeError):
        resolve("eq.policies.Challengers")
    resolve("best.gap_bound")
    assert "certifies" in words_of_the_sources()
