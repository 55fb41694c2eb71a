"""The routes of the screen: looking changes nothing, and every change is a form."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any
from urllib.parse import quote

from jinja2 import Environment, PackageLoader, StrictUndefined, Template
from markupsafe import Markup
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import HTMLResponse, PlainTextResponse, RedirectResponse, Response

from equipoise.log import LogError
from equipoise.web.actions import change
from equipoise.web.forms import RefusedError, fields
from equipoise.web.guard import may_change
from equipoise.web.known import Known
from equipoise.web.now import Now
from equipoise.web.station import Station
from equipoise.web.streaming import Broadcast
from equipoise.web.studies import Studies

STATIC = Path(__file__).with_name("static")
TEMPLATES = Environment(
    loader=PackageLoader("equipoise.web"), autoescape=True, undefined=StrictUndefined, trim_blocks=True
)
TEMPLATES.filters["path"] = lambda name: quote(name, safe="")


LONGEST_NAME = 80
"""Characters of the name of a judge."""


class Pages:
    """Answers what is asked of the screen.

    Args:
        studies: The studies.
        broadcast: What tells screens of changes.
    """

    def __init__(self, studies: Studies, broadcast: Broadcast) -> None:
        self.studies, self.broadcast = studies, broadcast
        self._drawn: dict[tuple[str, bool], tuple[Known, str]] = {}

    async def first(self, request: Request) -> Response:
        """Show the list of studies; where there is only one, that one."""
        if self.studies.only is not None:
            there = self.studies.only in self.studies.files()
            return RedirectResponse(f"/study/{quote(self.studies.only, safe='')}/" if there else "/new", 303)
        summaries = await run_in_threadpool(self.studies.summaries)
        return page("list.html", request, summaries=summaries, folder=self.studies.path.name)

    async def screen(self, request: Request) -> Response:
        """Show the screen of a study."""
        station = await self.found(request)
        return await self._shown(request, station, [])

    async def now(self, request: Request) -> Response:
        """Show what is to be done now, to be put into the screen."""
        station = await self.found(request)
        return await self._shown(request, station, [], part=True)

    async def seat(self, request: Request) -> Response:
        """Lead whoever has said a name to the screen where that name judges."""
        station = await self.found(request)
        if not station.several:
            raise MissingError("Nobody says a name to judge here.")
        name = " ".join(request.query_params.get("judge", "").split())
        if not name or "/" in name or len(name) > LONGEST_NAME or not name.isprintable():
            refused = f"A judge has a name of at most {LONGEST_NAME} characters, without a slash."
            return await self._shown(request, station, [refused], 409)
        return RedirectResponse(home(station, name), 303)

    async def known(self, request: Request) -> Response:
        """Show what is known, to be put into the screen."""
        station = await self.found(request)
        return HTMLResponse(await run_in_threadpool(self._known, station, may_change(request.scope)))

    async def post(self, request: Request) -> Response:
        """Do what a form says."""
        station = await self.found(request)
        body, status = await request.body(), 200
        given: dict[str, str] = {}
        try:
            given = fields(body)
            given.pop("judge", None)  # the address says who judges
            given |= {"judge": request.path_params["judge"]} if "judge" in request.path_params else {}
            said = await run_in_threadpool(change, station, given)
        except RefusedError as error:
            said, status = [str(error)], 409
        part = request.headers.get("hx-request") == "true"
        if part or said:
            return await self._shown(request, station, said, status, given if status != 200 else None, part)
        return RedirectResponse(home(station, request.path_params.get("judge")), 303)

    async def events(self, request: Request) -> Response:
        """Tell a screen what is new, as it happens."""
        station = await self.found(request)
        if self.broadcast.full:
            return PlainTextResponse("Too many screens listen.\n", 503)
        return _Streaming(self.broadcast, station, request.path_params.get("judge"))

    async def found(self, request: Request) -> Station:
        """Return the study that is asked for, or refuse."""
        name = request.path_params["name"]
        try:
            station = await run_in_threadpool(self.studies.station, name)
        except (LogError, ValueError, TypeError) as error:
            raise MissingError(f"This study cannot be opened: {error}") from error
        if station is None:
            raise MissingError("There is no study of this name.")
        if "judge" in request.path_params and not station.several:
            raise MissingError("Nobody says a name to judge here: see `equipoise serve STUDY --judges`.")
        return station

    async def _shown(
        self,
        request: Request,
        station: Station,
        said: Sequence[str],
        status: int = 200,
        draft: Mapping[str, str] | None = None,
        part: bool = False,
    ) -> Response:
        """Return the screen; or the part of it that says what is to be done now.

        Args:
            request: The request.
            station: The study.
            said: The messages for the screen.
            status: Other than 200 if a change was refused.
            draft: What was typed into the form that was refused.
            part: Whether to return that part alone.
        """
        now = await run_in_threadpool(station.now, request.path_params.get("judge"))
        shown = {"now": now, "said": said, "refused": status != 200, "draft": _kept(draft or {}, now)}
        if not part:
            shown["known_html"] = await run_in_threadpool(self._known, station, may_change(request.scope))
        name = "now.html" if part else "screen.html"
        return page(name, request, status, station=station, name=station.path.name, **shown)

    def _known(self, station: Station, operator: bool) -> str:
        """Return what is known as HTML, made once after each change for operators and once for watchers."""
        known, key = station.known(), (station.path.name, operator)
        drawn = self._drawn.get(key)
        if drawn is None or drawn[0] is not known:
            self._drawn[key] = drawn = (known, _panels(known, operator))
        return drawn[1]


def _panels(known: Known, operator: bool) -> str:
    """Return the HTML of all panels."""
    drawn = []
    for panel, shown in known.shown:
        parts = (_template(text).render(shown, operator=operator) for text in (panel.title, panel.html))
        drawn.append((panel.name, panel.scrolls, *map(Markup, parts)))
    return TEMPLATES.get_template("known.html").render(version=known.version, panels=drawn)


@cache
def _template(text: str) -> Template:
    """Return a template, by its text or by the name of its file."""
    return TEMPLATES.get_template(text) if text.endswith(".html") else TEMPLATES.from_string(text)


class MissingError(Exception):
    """What was asked for is not there."""


class HiddenError(Exception):
    """What was asked for shows settings, which are hidden from blind judges."""


def must_see(request: Request, station: Station) -> None:
    """Refuse to show settings that are hidden, unless it was said on the page of what is hidden that they may be."""
    if station.blind and request.query_params.get("seen") != "yes":
        raise HiddenError


async def hidden(request: Request, error: Exception) -> Response:
    """Lead to the page that says what is hidden, and what it means to look at it."""
    return RedirectResponse(f"{home_of(request.path_params)}hidden", 303)


async def missing(request: Request, error: Exception) -> Response:
    """Answer what is not there, or cannot be read."""
    return page("missing.html", request, 404 if isinstance(error, MissingError) else 503, text=str(error))


class _Streaming(Response):
    """An answer that goes on."""

    def __init__(self, broadcast: Broadcast, station: Station, judge: str | None) -> None:
        super().__init__()
        self._streams, self._station, self._judge = broadcast, station, judge

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        await self._streams.serve(self._station, self._judge, scope, receive, send)


def _kept(draft: Mapping[str, str], now: Now) -> dict[str, str]:
    """Return what was typed into a form that was refused, unless it was about another question."""
    same = now.question is not None and draft.get("trial") == str(now.question.number)
    return defaultdict(str, draft if same else {})


def page(template: str, request: Request, status: int = 200, **shown: Any) -> Response:
    """Return a page made from a template."""
    shown |= {"operator": may_change(request.scope)}
    return HTMLResponse(TEMPLATES.get_template(template).render(**shown), status)


def home(station: Station, judge: str | None = None) -> str:
    """Return the address of a study's screen; of a judge who has said a name, that of their own."""
    return home_of({"name": station.path.name} | ({} if judge is None else {"judge": judge}))


def home_of(asked: Mapping[str, str]) -> str:
    """Return the address of the screen of the study, and the judge, that an address names."""
    own = f"judge/{quote(asked['judge'], safe='')}/" if "judge" in asked else ""
    return f"/study/{quote(asked['name'], safe='')}/{own}"
