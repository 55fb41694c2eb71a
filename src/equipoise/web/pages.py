"""The screen of a study, and the list of studies. GET requests change nothing; every change is a form."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import quote

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import HTMLResponse, PlainTextResponse, RedirectResponse, Response

from equipoise.log import LogError
from equipoise.web.actions import change
from equipoise.web.forms import DoubtError, RefusedError, fields
from equipoise.web.guard import may_change, may_only_judge
from equipoise.web.known import TEMPLATES
from equipoise.web.now import Now
from equipoise.web.station import Station
from equipoise.web.streaming import Broadcast
from equipoise.web.studies import Studies

JUDGES_DO = ("ask", "answer", "skip", "retract")
"""The actions of a judge."""

LONGEST_NAME = 80
"""Maximum number of characters in the name of a judge."""


class MissingError(Exception):
    """The requested page does not exist."""


class HiddenError(Exception):
    """The requested page shows settings, which are hidden from blind judges."""


class Pages:
    """Handlers of requests about the screen; all except `post` run in their own threads.

    Args:
        studies: The studies.
        broadcast: The sender of changes to screens.
    """

    def __init__(self, studies: Studies, broadcast: Broadcast) -> None:
        self.studies, self.broadcast = studies, broadcast

    def screen(self, request: Request) -> Response:
        """Show the screen of a study."""
        return self._shown(request, self.found(request))

    def now(self, request: Request) -> Response:
        """Show the current task, to be inserted into the screen."""
        return self._shown(request, self.found(request), part=True)

    def known(self, request: Request) -> Response:
        """Show the view of the study, to be inserted into the screen."""
        return HTMLResponse(self.found(request).known().html(may_change(request.scope)))

    def seat(self, request: Request) -> Response:
        """Redirect a named judge to the screen of that judge."""
        station = self.found(request)
        sitting = station.sitting
        if sitting is None or not (station.several or may_only_judge(request.scope)):
            raise MissingError("This page does not use named judges.")
        if "judge" not in request.query_params and may_only_judge(request.scope) and sitting.judge is None:
            return self._shown(request, station)
        name = " ".join((sitting.judge or request.query_params.get("judge", "")).split())
        if not name or "/" in name or len(name) > LONGEST_NAME or not name.isprintable():
            refused = f"Refused. A judge has a name of at most {LONGEST_NAME} characters, without a slash."
            return self._shown(request, station, [refused], 409)
        return RedirectResponse(home_of(request.path_params | {"judge": name}), 303)

    async def post(self, request: Request) -> Response:
        """Carry out the action of a form."""
        return await run_in_threadpool(self._post, request, await request.body())

    def _post(self, request: Request, body: bytes) -> Response:
        station, asked = self.found(request), request.path_params
        given: dict[str, str] = {}
        said, status = [], 200
        try:
            given = fields(body)
            given.pop("judge", None)  # the address names the judge
            given |= {"judge": asked["judge"]} if "judge" in asked else {}
            if may_only_judge(request.scope) and given.get("do") not in JUDGES_DO:
                raise RefusedError("A judge may only answer, skip and take back answers here.")
            said = change(station, given)
        except RefusedError as error:
            said, status = [str(error) if isinstance(error, DoubtError) else f"Refused. {error}"], 409
            given["sure"] = error.reading if isinstance(error, DoubtError) else ""
        part = request.headers.get("hx-request") == "true"
        if part or said:
            return self._shown(request, station, said, status, {} if status == 200 else given, part)
        return RedirectResponse(home_of(asked), 303)

    def events(self, request: Request) -> Response:
        """Send changes to a screen as they happen."""
        station = self.found(request)
        if self.broadcast.full:
            return PlainTextResponse("Too many open screens.\n", 503)
        return self.broadcast.stream(station, request.path_params.get("judge"))

    async def lost(self, request: Request, error: Exception) -> Response:
        """Respond that a log cannot be read, and open it anew at the next request."""
        self.studies.forget(request.path_params.get("name", ""))
        return await missing(request, error)

    def found(self, request: Request) -> Station:
        """Return the requested study, or refuse."""
        try:
            station = self.studies.station(request.path_params["name"])
        except (LogError, ValueError, TypeError) as error:
            raise MissingError(f"This study cannot be opened: {error}") from error
        if station is None:
            raise MissingError("There is no study of this name.")
        judge, sitting = request.path_params.get("judge"), station.sitting
        alone = may_only_judge(request.scope) and sitting is not None and sitting.judge == judge
        if judge is not None and not (station.several or alone):
            raise MissingError("This page does not use named judges: see `equipoise serve STUDY --judges`.")
        return station

    def _shown(
        self,
        request: Request,
        station: Station,
        said: Sequence[str] = (),
        status: int = 200,
        draft: Mapping[str, str] | None = None,
        part: bool = False,
    ) -> Response:
        """Return the screen, with messages and the values typed into a refused form; or only the current task."""
        judge = request.path_params.get("judge")
        now, bare = station.now(judge), judge is not None or may_only_judge(request.scope)
        shown: dict[str, Any] = {"now": now, "said": said, "refused": status != 200, "bare": bare}
        shown["draft"] = _kept(draft or {}, now)
        if not part and not bare:
            shown["known_html"] = station.known().html(may_change(request.scope))
        name = "now.html" if part else "judge.html" if bare else "screen.html"
        return page(name, request, status, station=station, name=station.path.name, **shown)


def _kept(draft: Mapping[str, str], now: Now) -> dict[str, str]:
    """Return the values typed into a refused form, unless it was about another question."""
    same = now.question is not None and draft.get("trial") == str(now.question.number)
    return defaultdict(str, draft if same else {})


def must_see(request: Request, station: Station) -> None:
    """Refuse to show hidden settings, unless the viewer agreed to see them on the page about hidden settings."""
    if station.blind and request.query_params.get("seen") != "yes":
        raise HiddenError


async def hidden(request: Request, error: Exception) -> Response:
    """Redirect to the page that says what is hidden and what it means to look at it."""
    return RedirectResponse(f"{home_of(request.path_params)}hidden", 303)


async def missing(request: Request, error: Exception) -> Response:
    """Respond that a study is missing or cannot be read."""
    return page("missing.html", request, 404 if isinstance(error, MissingError) else 503, text=str(error))


async def nowhere(request: Request, error: Exception) -> Response:
    """Respond that an address does not exist."""
    return page("missing.html", request, 404, text="There is no such page.")


def page(template: str, request: Request, status: int = 200, **shown: Any) -> Response:
    """Return a page rendered from a template."""
    shown |= {"operator": may_change(request.scope)}
    return HTMLResponse(TEMPLATES.get_template(template).render(**shown), status)


def home_of(asked: Mapping[str, str]) -> str:
    """Return the address of the screen of the study and the judge in a request."""
    own = f"judge/{quote(asked['judge'], safe='')}/" if "judge" in asked else ""
    return f"/study/{quote(asked['name'], safe='')}/{own}"
