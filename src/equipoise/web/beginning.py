"""A new study, from a form: one line for each knob."""

from collections import defaultdict
from typing import Any
from urllib.parse import quote

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from equipoise.optimizer import Optimizer
from equipoise.spaces.named import Space
from equipoise.spaces.numbers import Float, Int
from equipoise.spaces.options import Choice
from equipoise.study.rules import UNIT
from equipoise.web.forms import Fields, fields, number, words
from equipoise.web.pages import Pages, page
from equipoise.web.shelf import Shelf
from equipoise.web.station import RefusedError

KNOBS = 8
"""Lines of the form; more knobs are for `equipoise new`."""


class Beginning:
    """Answers with the form of a new study, and makes it.

    Args:
        pages: Those of the screen.
    """

    def __init__(self, pages: Pages) -> None:
        self._shelf = pages.shelf

    async def form(self, request: Request) -> Response:
        """Show the form."""
        return self._form(request, {}, "")

    async def post(self, request: Request) -> Response:
        """Make the study."""
        given: dict[str, str] = {}
        try:
            given = fields(await request.body())
            name = await run_in_threadpool(begin, self._shelf, given)
        except RefusedError as error:
            return self._form(request, given, str(error), 409)
        return RedirectResponse(f"/study/{quote(name, safe='')}/", 303)

    def _form(self, request: Request, draft: Fields, refused: str, status: int = 200) -> Response:
        shown: dict[str, Any] = {
            "draft": defaultdict(str, draft),
            "refused": refused,
            "knobs": range(KNOBS),
            "only": self._shelf.only,
        }
        return page("new.html", request, status, **shown)


def begin(shelf: Shelf, given: Fields) -> str:
    """Make the study that a form describes; return its name."""
    path = shelf.place(words(given, "name"))
    try:
        lines = [k for k in range(KNOBS) if words(given, f"name{k}")]
        parameters = {words(given, f"name{k}"): _parameter(given, k) for k in lines}
        if len(parameters) < len(lines):
            raise RefusedError("Each knob must have a name of its own.")
        started = {name: _start(given, k) for name, k in zip(parameters, lines, strict=True)}
        start = started if all(value is not None for value in started.values()) else None
        if start is None and any(value is not None for value in started.values()):
            raise RefusedError("Say where every knob stands now, or of none.")
        opt = Optimizer(Space(parameters), start=start, minimize=given.get("goal") == "minimize", log=path)
    except (ValueError, TypeError, RuntimeError) as error:
        raise RefusedError(f"{str(error)[0].upper()}{str(error)[1:]}.") from error
    if words(given, "unit"):
        opt.note(UNIT, words(given, "unit"))
    return path.name


def _parameter(given: Fields, k: int) -> Float | Int | Choice:
    if given.get(f"kind{k}") == "choice":
        return Choice([option.strip() for option in words(given, f"options{k}").split(",")])
    name = words(given, f"name{k}")
    low, high = (number(given, f"{end}{k}", f"The {end} end of {name}") for end in ("low", "high"))
    unit = words(given, f"unit{k}")
    if given.get(f"kind{k}") == "int":
        return Int(int(low), int(high), unit=unit) if low.is_integer() and high.is_integer() else _no_whole(name)
    return Float(low, high, log=given.get(f"kind{k}") == "log", unit=unit)


def _no_whole(name: str) -> Int:
    raise RefusedError(f"The ends of {name} must be whole numbers.")


def _start(given: Fields, k: int) -> float | str | None:
    """Return where a knob stands now; `None` where that is not said."""
    if not words(given, f"start{k}"):
        return None
    if given.get(f"kind{k}") == "choice":
        return words(given, f"start{k}")
    return number(given, f"start{k}", f"Where {words(given, f'name{k}')} stands")
