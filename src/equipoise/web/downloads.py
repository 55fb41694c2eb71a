"""What may be taken home: the table of trials, the pictures, the log itself."""

import io
import threading
from collections.abc import Callable
from functools import partial

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import FileResponse, Response

from equipoise import plots
from equipoise.study import as_csv, timed
from equipoise.web.pages import MissingError, Pages, must_see
from equipoise.web.pair_page import open_pair
from equipoise.web.station import Station

_drawing = threading.Lock()
"""Pictures are drawn one at a time: pyplot keeps what it draws where every thread finds it."""


def table(station: Station, judgements: bool = False) -> bytes:
    """Return all trials, or all pairs that were judged, as CSV."""
    return as_csv(timed(station.opt.records(judgements=judgements)), station.opt.space, judgements).encode()


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
"""What there is, by the end of its name: its type, and what makes it."""


class Downloads:
    """Answers with files.

    Args:
        pages: Those of the screen.
    """

    def __init__(self, pages: Pages) -> None:
        self._pages = pages

    async def exhibit(self, request: Request) -> Response:
        """Return the file that shows a side of the pair that is open here."""
        station, letter = await self._pages.found(request), request.path_params["letter"]
        sitting = None if station.sitting is None else station.sitting.of(request.path_params.get("judge"))
        pair = None if sitting is None else open_pair(station.opt, sitting)
        if sitting is None or pair is None or pair.id != request.path_params["pair"] or letter not in ("A", "B"):
            raise MissingError("There is nothing to be shown of this pair any more.")
        x = pair.first if letter == "A" else pair.second
        path = sitting.file(x)
        if path is None or not sitting.kind(x):
            raise MissingError("There is nothing to be shown of this setting.")
        return FileResponse(path)

    async def get(self, request: Request) -> Response:
        """Return a file."""
        station = await self._pages.found(request)
        if request.path_params["kind"] not in FILES:
            raise MissingError("There is no such file.")
        must_see(request, station)
        kind, make = FILES[request.path_params["kind"]]
        try:
            await run_in_threadpool(station.follow)
            content = await run_in_threadpool(make, station)
        except ImportError as error:
            raise MissingError(str(error)) from error
        stem = "".join(c if c.isascii() and (c.isalnum() or c in "-_") else "_" for c in station.path.stem)
        end = request.path_params["kind"]
        attached = f'attachment; filename="{stem}{"-" if "." in end else "."}{end}"'
        return Response(content, media_type=kind, headers={"content-disposition": attached})
