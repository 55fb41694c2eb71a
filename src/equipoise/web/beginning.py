"""The form of a new study, with one line per knob; and the study of a simulated instrument."""

from collections import defaultdict
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from urllib.parse import quote

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from equipoise.optimizer import Optimizer
from equipoise.spaces import Choice, Context, Float, Int, Space
from equipoise.study import PARTS, Part
from equipoise.web.forms import Fields, RefusedError, count, fields, number, words
from equipoise.web.pages import Pages, page
from equipoise.web.studies import Studies

KNOBS = 8
"""Number of lines of the form at first, and of lines added at a time."""

MOST_KNOBS = 64
"""Maximum number of lines of the form; more knobs need `equipoise new`."""

KINDS = {
    "float": "number",
    "log": "number, ratios count",
    "int": "whole number",
    "log int": "whole number, ratios count",
    "choice": "choice",
    "context": "number, given and not chosen",
    "context choice": "one of several, given and not chosen",
}
"""Kinds of lines, in the words of the form."""

OF_OPTIONS = ("choice", "context choice")
"""Kinds with a list of values."""

COLUMNS = (
    ("name", 10, "Name", "Name"),
    ("kind", 0, "Kind", "Kind"),
    ("low", 6, "From", "Least value"),
    ("high", 6, "To", "Largest value"),
    ("step", 5, "In steps of", "Step"),
    ("options", 18, "Options, with commas", "Options"),
    ("unit", 5, "Unit", "Unit"),
    *((name, 7, part.label, part.label) for name, part in PARTS.items() if part.kind == "by name"),
)
"""Fields of a line: name, size, heading, and label for screen readers."""

MOST_FIELDS = len(COLUMNS) * MOST_KNOBS + len(PARTS) + 16
"""Maximum number of fields of the form."""


class Beginning:
    """Handlers of the form of a new study.

    Args:
        pages: The handlers of the screen.
    """

    def __init__(self, pages: Pages) -> None:
        self._studies = pages.studies

    async def form(self, request: Request) -> Response:
        """Show the form."""
        return self._form(request, {}, "")

    async def post(self, request: Request) -> Response:
        """Make the study."""
        given: dict[str, str] = {}
        try:
            given = fields(await request.body(), MOST_FIELDS)
            if "more" in given:
                given["lines"] = str(min(_lines(given) + KNOBS, MOST_KNOBS))
                return self._form(request, given, "")
            name = await run_in_threadpool(begin, self._studies, given)
        except RefusedError as error:
            return self._form(request, given, str(error), 409)
        return RedirectResponse(f"/study/{quote(name, safe='')}/", 303)

    def _form(self, request: Request, draft: Fields, refused: str, status: int = 200) -> Response:
        shown: dict[str, Any] = {
            "draft": defaultdict(str, draft),
            "refused": refused,
            "knobs": range(_lines(draft)),
            "most": MOST_KNOBS,
            "columns": COLUMNS,
            "kinds": KINDS,
            "parts": {name: part for name, part in PARTS.items() if part.kind != "by name"},
            "opened": any(draft.get(name) for name, part in PARTS.items() if part.rare),
            "only": self._studies.only,
        }
        return page("new.html", request, status, **shown)


def begin(studies: Studies, given: Fields) -> str:
    """Create the study that a form describes; return its name."""
    path = studies.place(words(given, "name"))
    try:
        lines = {k: words(given, f"name{k}") for k in range(_lines(given)) if words(given, f"name{k}")}
        parameters = {name: _parameter(given, k) for k, name in lines.items()}
        if len(parameters) < len(lines):
            raise RefusedError("Each knob must have its own name.")
        space = Space(parameters, constraint=words(given, "constraint") or None)
        opt = Optimizer(space, log=path, **{name: _part(given, name, part, lines) for name, part in PARTS.items()})
    except (ValueError, TypeError, RuntimeError) as error:
        raise RefusedError(f"{str(error)[0].upper()}{str(error)[1:]}.") from error
    if words(given, "unit"):
        opt.study.set("unit", words(given, "unit"))
    return path.name


def begin_demo(path: Path) -> None:
    """Create the study of the simulated instrument."""
    from equipoise.lab.environments import Simulator

    space = Space({name: Float(-6, 6, unit="1/m²") for name in Simulator.names})
    opt = Optimizer(space, start=dict.fromkeys(Simulator.names, 0.0), log=path, rng=0)
    opt.study.set("unit", "nA")


def _lines(given: Fields) -> int:
    """Return the number of lines of the form."""
    return min(count(given, "lines"), MOST_KNOBS) if "lines" in given else KNOBS


def _part(given: Fields, name: str, part: Part, lines: Mapping[int, str]) -> Any:
    """Return a part of the study from a form; `None` if its field is empty."""
    if part.kind == "by name":
        return _by_name(given, name, part, lines)
    text = words(given, name)
    if not text:
        return None
    if part.kind == "texts":
        return [each.strip() for each in text.split(",") if each.strip()]
    if part.kind in ("number", "count"):
        value = number(given, name, f"\N{LEFT DOUBLE QUOTATION MARK}{part.label}\N{RIGHT DOUBLE QUOTATION MARK}")
        return int(value) if part.kind == "count" and value.is_integer() else value
    return text == "yes" if part.kind == "flag" else part.written(name, text)


def _by_name(given: Fields, name: str, part: Part, lines: Mapping[int, str]) -> dict[str, Any] | None:
    """Return the value of each knob whose field is filled in."""
    values = {
        knob: _value(given, f"{name}{k}", k, part.label) for k, knob in lines.items() if words(given, f"{name}{k}")
    }
    if values and part.complete and len(values) < len(lines):
        raise RefusedError("Give the present value of every knob, or of none.")
    return values or None


def _parameter(given: Fields, k: int) -> Float | Int | Choice | Context:
    kind, name = given.get(f"kind{k}"), words(given, f"name{k}")
    if kind in OF_OPTIONS:
        options = [option.strip() for option in words(given, f"options{k}").split(",")]
        return Choice(options) if kind == "choice" else Context(options)
    low, high = (number(given, f"{end}{k}", f"The {end} end of {name}") for end in ("low", "high"))
    step = number(given, f"step{k}", f"The step of {name}") if words(given, f"step{k}") else None
    if kind == "context":
        return Context(low, high, step=step)
    unit = words(given, f"unit{k}")
    log = str(kind).startswith("log")
    if kind in ("int", "log int"):
        whole = low.is_integer() and high.is_integer() and step in (None, 1.0)
        return Int(int(low), int(high), log=log, unit=unit) if whole else _no_whole(name)
    return Float(low, high, log=log, step=step, unit=unit)


def _no_whole(name: str) -> Int:
    raise RefusedError(f"The ends of {name} must be whole numbers, and its step 1 or nothing.")


def _value(given: Fields, field: str, k: int, label: str) -> float | str:
    """Return a value of a knob."""
    if given.get(f"kind{k}") in OF_OPTIONS:
        return words(given, field)
    return number(given, field, f"{label} of {words(given, f'name{k}')}")
