"""The site: `make docs` builds it into `build/site`; warnings are errors, and so are links that lead nowhere."""

import ast
import re
import sys
from importlib import import_module
from inspect import getdoc, ismodule
from itertools import pairwise
from pathlib import Path
from typing import get_origin

DOCS = Path(__file__).parent
sys.path[:0] = [str(DOCS.parent / "src"), str(DOCS)]

import module_map  # noqa: E402

import equipoise as eq  # noqa: E402
from equipoise.lab import board  # noqa: E402

project = "Equipoise"
author = "The Equipoise authors"
copyright = "the Equipoise authors"
version = release = eq.__version__

extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon", "sphinx_copybutton"]
exclude_patterns = ["_build"]
html_theme = "furo"
html_title = f"Equipoise {release}"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_copy_source = False
templates_path: list[str] = []
default_role = "code"  # `name` in a docstring is a name
myst_heading_anchors = 4
myst_enable_extensions = ["attrs_block", "deflist", "substitution"]
myst_substitutions = {"version": release}
copybutton_prompt_text = "$ "  # what a shell shows is not copied
copybutton_only_copy_prompt_lines = True
autodoc_member_order = "bysource"
autodoc_typehints = "none"  # the docstrings say what is what
autodoc_default_options = {"members": True}
napoleon_use_ivar = True
napoleon_use_rtype = False

NAMESPACES = {
    "spaces": "where points lie",
    "kernels": "the prior covariance of f",
    "offsets": "assumptions about the bias",
    "likelihoods": "how an answer depends on f",
    "reductions": "how to measure a proposal",
    "policies": "which points to propose",
    "belief": "the posterior of f",
    "answer": "recommendations and claims",
    "study": "questions, answers and state",
    "log": "the file of a study",
    "programs": "comparing and tuning programs and functions",
    "plots": "pictures",
    "lab.fleet": "many learners at once",
    "lab.environments": "worlds to test against",
    "lab.experiments": "runs by name, repeated and kept",
    "lab.experiments.real": "published experiments, replayed",
    "lab.board": "optimizers at tasks whose readings drift",
    "testing": "the rules that your own part must keep",
    "web": "the operator's page",
    "integrations.optuna": "Optuna",
    "integrations.sklearn": "scikit-learn",
    "integrations.gest": "gest-api: Xopt, Badger, libEnsemble",
    "integrations.vocs": "problems in the words of VOCS",
}
"""The packages of the reference, and what each is about; one that is not installed is left out."""


FIRST = (
    "Optimizer",
    "resume",
    "Trial",
    "Recommendation",
    "compare",
    "Gate",
    "Space",
    "Float",
    "Int",
    "Choice",
    "Context",
)
"""What most users type stands first in its section."""

SECTIONS = ("spaces", "policies", "offsets", "reductions", "kernels", "belief")
"""The packages whose names have sections of their own among those that a user types."""

GROUPS = {
    "The loop": ("open", "ask", "tell", "ask_pair", "ask_pairs", "run", "begin_block", "add"),
    "Mend": ("correct", "retract", "undo"),
    "Answer": ("recommend", "front", "rank", "compare", "audit", "verify", "cancel", "done"),
    "See": ("readings", "judgements", "records", "posterior", "space", "study"),
}
"""The members of `Optimizer`, by what they are for."""


def reference() -> dict[str, str]:
    """Return the pages of the reference: the names a user types, then those of each package that are not among them."""
    top = [name for name in dict.fromkeys((*FIRST, *eq.__all__)) if not ismodule(getattr(eq, name))]
    pages = {"equipoise": _page("The names a user types", "equipoise", _sections(top))}
    for name, about in NAMESPACES.items():
        try:
            module = import_module(f"equipoise.{name}")
        except ImportError:
            continue
        names = getattr(module, "__all__", None) or _own(module)
        kept = [each for each in names if not ismodule(getattr(module, each)) and each not in top]
        pages[name] = _page(f"eq.{name}: {about}", module.__name__, {"": kept})
    return pages


def _sections(names: list[str]) -> dict[str, list[str]]:
    """Return the names of each section: those of a study first."""
    found: dict[str, list[str]] = {each: [] for each in ("", *SECTIONS)}
    for name in names:
        package = getattr(eq, name).__module__.split(".")[1]
        found[package if package in found else ""].append(name)
    titles = NAMESPACES | {"": "studies", "belief": "confidence"}
    return {titles[each][0].upper() + titles[each][1:]: kept for each, kept in found.items()}


def _own(module: object) -> list[str]:
    """Return the public names that a module without `__all__` defines."""
    found = vars(module).items()
    return [name for name, each in found if name[0] != "_" and getattr(each, "__module__", "") == module.__name__]


def _page(title: str, module: str, sections: dict[str, list[str]]) -> str:
    parts = [_section(heading, module, names) for heading, names in sections.items()]
    return f"# {title}\n\n" + "\n".join(parts)


def _section(heading: str, module: str, names: list[str]) -> str:
    things = {each: getattr(import_module(module), each) for each in names}
    said = {each: _summary(module, each, thing) for each, thing in things.items()}
    documented = "\n".join(_entry(thing, each, said[each]) for each, thing in things.items())
    summary = "\n".join(f"   * - :py:obj:`{each}`\n     - {text}" for each, text in said.items())
    table = f".. list-table::\n   :widths: 30 70\n\n{summary}\n" if things else ""
    top = f"## {heading}\n\n" if heading else ""
    return f"{top}```{{eval-rst}}\n.. currentmodule:: {module}\n\n{table}\n{documented}\n```\n"


def _is_data(thing: object) -> bool:
    """Return whether a thing is a constant, a table or an alias of types, which has no docstring of its own."""
    return not callable(thing) or get_origin(thing) is not None


def _summary(module: str, name: str, thing: object) -> str:
    """Return the first paragraph of a docstring; of a constant, a table or an alias, of the text below it."""
    text = _text_below(module, name) if _is_data(thing) else getdoc(thing)
    return " ".join((text or "").split("\n\n")[0].split())


def _text_below(module: str, name: str) -> str:
    """Return the text below the assignment of a name, in the package or module that exports it."""
    folder = DOCS.parent / "src" / module.replace(".", "/")
    for path in sorted(folder.rglob("*.py")) or [folder.with_suffix(".py")]:
        for node, below in pairwise(ast.parse(path.read_text(encoding="utf-8")).body):
            targets = [ast.unparse(each) for each in getattr(node, "targets", [getattr(node, "target", None)]) if each]
            if name in re.findall(r"\w+", " ".join(targets)) and isinstance(below, ast.Expr):
                return str(ast.literal_eval(below.value))
    return ""


def _entry(thing: object, name: str, said: str) -> str:
    """Return how a name is documented: a table of parts by the names in it."""
    if _is_data(thing):
        parts = thing if isinstance(thing, (dict, tuple, list)) else [thing]
        return f".. py:data:: {name}\n\n   {said}\n\n   {', '.join(f'``{each}``' for each in parts)}\n"
    if thing is eq.Optimizer:
        return f".. autoclass:: {name}\n   :no-members:\n\n{_grouped()}"
    return f".. autoclass:: {name}\n" if isinstance(thing, type) else f".. autofunction:: {name}\n"


def _grouped() -> str:
    """Return the members of `Optimizer` under the headings of `GROUPS`."""
    lines = []
    for title, members in GROUPS.items():
        lines.append(f"   .. rubric:: {title}\n")
        for each in members:
            kind = "autoproperty" if isinstance(getattr(eq.Optimizer, each), property) else "automethod"
            lines.append(f"   .. {kind}:: Optimizer.{each}\n")
    return "\n".join(lines)


def write_reference(app: object) -> None:
    """Write the pages of the reference beside the others, before these are read."""
    folder = DOCS / "api"
    folder.mkdir(exist_ok=True)
    (folder / "modules.svg").write_text(module_map.svg(), encoding="utf-8")
    (folder / "board.html").write_text(board.fragment(board.stored()), encoding="utf-8")
    pages = reference()
    for name, text in pages.items():
        path = folder / f"{name}.md"
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            path.write_text(text, encoding="utf-8")
    for path in folder.glob("*.md"):
        if path.stem not in pages and path.stem != "index":
            path.unlink()


def list_all_pages(app: object, page: str, source: list[str]) -> None:
    """List the pages that the start page does not name last, so that a new page needs no line here."""
    if page == "index":
        listed = set(re.findall(r"^(?:.*<)?([\w/-]+)>?$", source[0], re.MULTILINE))
        further = sorted(path.stem for path in DOCS.glob("*.md") if path.stem not in listed | {"index"})
        source[0] = source[0].replace("% further pages", "\n".join(further))


def keep_numbers_together(app: object, page: str, source: list[str]) -> None:
    """Break no line of a table inside a number: `7.9 ± 3.3`, `20 %`, `(0, 1)`, `[0.6, 0.8]`."""
    parts = re.split(r"^(```.*?^```)", source[0], flags=re.MULTILINE | re.DOTALL)
    parts[::2] = [re.sub(r"^\|.*$", _unbroken, part, flags=re.MULTILINE) for part in parts[::2]]
    source[0] = "".join(parts)


def _unbroken(line: re.Match[str]) -> str:
    kept = re.sub(r"(?<=[\d.]) (?=[±%])|(?<=±) ", "\u00a0", line[0])
    return re.sub(r"([(\[])([-+\d., ]+)([)\]])", lambda m: m[0].replace(" ", "\u00a0"), kept)


def read_start_page_again(*_: object) -> list[str]:
    """Read the start page at every build, as there may be new pages to list."""
    return ["index"]


def setup(app: object) -> None:
    """Hook them into Sphinx."""
    app.connect("env-get-outdated", read_start_page_again)  # type: ignore[attr-defined]
    app.connect("builder-inited", write_reference)  # type: ignore[attr-defined]
    app.connect("source-read", list_all_pages)  # type: ignore[attr-defined]
    app.connect("source-read", keep_numbers_together)  # type: ignore[attr-defined]
