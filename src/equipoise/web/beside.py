"""Pages beside the screen: confirmations, one question, the logbook entry, files."""

import io
import threading
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from typing import Any

from starlette.requests import Request
from starlette.responses import FileResponse, Response

from equipoise import plots
from equipoise.spaces import Dial, printable
from equipoise.study import Record, as_csv, timed, way
from equipoise.web.actions import is_own, target
from equipoise.web.forms import Field, RefusedError
from equipoise.web.now import Side, answer_of, dials, numbers, told_of
from equipoise.web.pages import MissingError, Pages, must_see, page
from equipoise.web.panels import described, gathered
from equipoise.web.station import Station

_drawing = threading.Lock()
"""A lock that draws pictures one at a time: pyplot keeps its figures in a global that all threads share."""


@dataclass(frozen=True)
class Confirmation:
    """The confirmation that is required before an action.

    Attributes:
        title: The action.
        text: The consequences of the action.
        button: The label of the button.
        fields: The fields to fill in.
    """

    title: str
    text: str
    button: str
    fields: tuple[Field, ...] = ()


DUELS = (Field("duels", "Pairs, of two readings or one judgement each", value="24"),)
WHY = Field("reason", "Why, for the log (may be left empty)", keys="text")
ENDS = tuple(Field(end, f"{label} (empty: as it is)") for end, label in (("low", "From"), ("high", "To")))

CONFIRMATIONS = {
    "pause": Confirmation(
        "Pause",
        "No further setting is handed out here, and a program that measures by itself stops after its reading.",
        "Pause",
        (WHY,),
    ),
    "by hand": Confirmation("Measure by hand", "Readings are entered here from now on.", "Go on by hand"),
    "automatic": Confirmation("Measure by program", "The program measures by itself from now on.", "Go on by program"),
    "audit": Confirmation(
        "Audit the best setting",
        "The next pairs try to prove the best setting wrong. Once they are told, the bound is audited.",
        "Plan the audit",
        DUELS,
    ),
    "verify": Confirmation(
        "Verify the best setting",
        "The next pairs compare the best setting with the start and the runners-up, without any model.",
        "Plan the verification",
        DUELS,
    ),
    "cancel": Confirmation("Cancel the plan", "Its answers stay.", "Cancel it"),
    "widen": Confirmation(
        "Widen a range",
        "The study learns all answers again in the wider range and may ask there. The range never shrinks again.",
        "Widen it",
        (*ENDS, WHY),
    ),
    "start": Confirmation("Return to start", "Set the machine to the start of the study.", "It is dialed in"),
    "best": Confirmation("Dial in best", "Set the machine to the best known setting.", "It is dialed in"),
}


MOVES = ("start", "best")
"""Actions whose confirmation shows a setting."""

REVEALING = (*MOVES, "widen")
"""Actions that show settings or the names of knobs, which blind judges must not see."""


def moves(station: Station, what: str) -> tuple[tuple[Dial, ...], str]:
    """Return the dials of an action, compared with the machine's setting, and the form's token of that setting."""
    if what not in MOVES:
        return (), ""
    try:
        x = target(station, what)
    except RefusedError as error:
        raise MissingError(str(error)) from error
    return dials(station.opt.space, x, station.stands), told_of(x)


def _asked(station: Station, what: str, knob: str) -> dict[str, Any]:
    """Return the fields and details of a confirmation."""
    fields, ranges = CONFIRMATIONS[what].fields, numbers(station.opt.space) if what == "widen" else {}
    if not ranges:
        return {"fields": fields, "ranges": ()}
    names = tuple(printable(name, "") for name in ranges)
    known = [f"{printable(n, '')}: {p.low:g} to {p.high:g} {p.unit}".strip() for n, p in ranges.items()]
    return {"fields": (Field("knob", "Knob", options=names, value=knob), *fields), "ranges": known}


def entry(station: Station) -> str:
    """Return the entry for a logbook, as text."""
    known = station.known()
    best, said = known["best"], [f"{at} {text}" for at, text in known["notes"]["notes"]]
    lines = [
        f"{datetime.now().astimezone():%Y-%m-%d %H:%M:%S %Z}, study {station.path.name}, {known.told}",
        f"Best setting: {'hidden' if station.blind else ', '.join(map(str, best['setting']))}",
        *best["claims"],
        best["against_start"],
        *([best["plan"]] if best["plan"] else []),
        *(["Notes:", *(f"  {line}" for line in said)] if said else []),
    ]
    return "\n".join(lines)


def table(station: Station, judgements: bool = False) -> bytes:
    """Return all trials, or all judged pairs, as CSV."""
    opt = station.opt
    rows = timed(opt.records(judgements=judgements), opt.study.setup.columns)
    return as_csv(rows, opt.space, judgements).encode()


def _picture(kind: str) -> Callable[[Station], bytes]:
    def draw(station: Station) -> bytes:
        with _drawing:
            pyplot = plots.style.pyplot()
            pyplot.switch_backend("Agg")
            figure, file = plots.style.figure(plots.overview(station.opt)), io.BytesIO()
            figure.savefig(file, format=kind, dpi=150)
            pyplot.close(figure)
            return file.getvalue()

    return draw


FILES: dict[str, tuple[str, Callable[[Station], bytes]]] = {
    "csv": ("text/csv; charset=utf-8", table),
    "judgements.csv": ("text/csv; charset=utf-8", partial(table, judgements=True)),
    "svg": ("image/svg+xml", _picture("svg")),
    "png": ("image/png", _picture("png")),
    "jsonl": ("application/x-ndjson", lambda station: station.path.read_bytes()),
}
"""Downloads by suffix: the content type, and the function that returns the content."""


def _sides(station: Station, record: Record) -> list[Side]:
    """Return the settings of a question; those of a pair are compared with each other."""
    if record.steps is None:
        return [Side(dials(station.opt.space, record.x))]
    first, second = record.x
    pairs = ("A", first, second), ("B", second, first)
    return [Side(dials(station.opt.space, x, other), letter) for letter, x, other in pairs]


def _steps(station: Station, what: str) -> dict[str, Any]:
    """Return whether the page sets the machine for an action, in how many steps, or why it cannot."""
    sets = what in MOVES and station.means.set is not None
    steps, unreachable = 0, ""
    try:
        steps = len(way(station.opt.study.setup, station.stands, target(station, what))) if sets else 0
    except ValueError as error:
        unreachable = f"{str(error)[0].upper()}{str(error)[1:]}."
    return {"sets": sets, "steps": steps, "unreachable": unreachable}


class Beside:
    """Handlers of requests for the pages beside the screen.

    Args:
        pages: The handlers of the screen.
    """

    def __init__(self, pages: Pages) -> None:
        self._pages = pages

    def confirm(self, request: Request) -> Response:
        """Ask for confirmation of an action."""
        station, what = self._pages.found(request), request.path_params["what"]
        question = CONFIRMATIONS.get(what)
        if question is None:
            raise MissingError("There is no such action.")
        if what in REVEALING:
            must_see(request, station)
        moved, told = moves(station, what)
        shown: dict[str, Any] = {"what": what, "question": question, "dials": moved, "shown": told}
        shown |= _steps(station, what) | _asked(station, what, request.query_params.get("knob", ""))
        return page("confirm.html", request, name=station.path.name, **shown)

    def trial(self, request: Request) -> Response:
        """Show one question and its answer, with forms to correct or retract it."""
        station, number = self._pages.found(request), request.path_params["trial"]
        judge, record = request.path_params.get("judge"), station.record(number)
        if judge is not None and not is_own(record, judge):
            raise MissingError(f"There is no pair of this number that {judge} has judged.")
        if record is None:
            raise MissingError("There is no such trial.")
        answered = answer_of(record)
        form, state = station.form(record), described(record, blind=True)
        shown: dict[str, Any] = {"record": record, "form": form, "answered": answered, "was": told_of(answered)}
        shown |= {"state": printable(state, ""), "worker": printable(record.worker or "", "")}
        shown["filled"] = {} if answered is None else form.write(answered)
        shown["sides"] = () if station.blind else _sides(station, record)
        return page("trial.html", request, name=station.path.name, **shown)

    def hidden(self, request: Request) -> Response:
        """Show the way to the settings that are hidden from blind judges, on request."""
        station = self._pages.found(request)
        return page("hidden.html", request, name=station.path.name)

    def logbook(self, request: Request) -> Response:
        """Show the entry for a logbook, ready to copy."""
        station = self._pages.found(request)
        return page("logbook.html", request, name=station.path.name, text=entry(station))

    def pictures(self, request: Request) -> Response:
        """Show the importance of each knob, the predictions, a map of two knobs and every slice."""
        station, asked = self._pages.found(request), request.query_params
        must_see(request, station)
        shown = station.viewer.look(lambda view: gathered(view, [asked.get("across", ""), asked.get("up", "")]))
        return page("pictures.html", request, name=station.path.name, **shown)

    def help(self, request: Request) -> Response:
        """Explain the words of the page."""
        return page("help.html", request)

    def exhibit(self, request: Request) -> Response:
        """Return the file that shows a side of the open pair."""
        station, letter = self._pages.found(request), request.path_params["letter"]
        record = station.open(request.path_params.get("judge"))
        sitting, places = station.sitting, ("A", "B")
        if sitting is None or record is None or record.trial != request.path_params["pair"] or letter not in places:
            raise MissingError("This pair has nothing to show any more.")
        path = sitting.content(record.x[places.index(letter)]).path
        if path is None:
            raise MissingError("This setting has nothing to show.")
        return FileResponse(path)

    def download(self, request: Request) -> Response:
        """Return a file."""
        station = self._pages.found(request)
        if request.path_params["kind"] not in FILES:
            raise MissingError("There is no such file.")
        must_see(request, station)
        kind, make = FILES[request.path_params["kind"]]
        try:
            with station.turn():  # include what others wrote
                pass
            content = make(station)
        except ImportError as error:
            raise MissingError(str(error)) from error
        stem = "".join(c if c.isascii() and (c.isalnum() or c in "-_") else "_" for c in station.path.stem)
        end = request.path_params["kind"]
        attached = f'attachment; filename="{stem}{"-" if "." in end else "."}{end}"'
        return Response(content, media_type=kind, headers={"content-disposition": attached})
