"""A folder of studies: the list, and the pages to rename, archive or copy a study."""

import threading
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from glob import escape
from pathlib import Path
from typing import Any
from urllib.parse import quote

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from equipoise.log import FileLock, Header, LockTimeoutError, LogError
from equipoise.optimizer import resume
from equipoise.spaces import printable
from equipoise.web.forms import RefusedError, fields
from equipoise.web.guard import may_only_judge
from equipoise.web.known import Outline, day, ignore_notice, recommended
from equipoise.web.pages import MissingError, Pages, page
from equipoise.web.studies import ARCHIVE, SUFFIX, Studies


@dataclass(frozen=True)
class ListedStudy:
    """A study in the list.

    Attributes:
        name: The name of its file.
        begun: The time when it was started, in local time.
        knobs: The knobs that it tunes.
        trouble: The reason why it cannot be read, if there is one.
        outline: Its outline; `None` until it is computed.
    """

    name: str
    begun: str
    knobs: str
    trouble: str = ""
    outline: Outline | None = None


class Folder:
    """Handlers of the list of studies, and of changes to the folder.

    Args:
        pages: The handlers of the screen.
    """

    def __init__(self, pages: Pages) -> None:
        self._studies = pages.studies
        self._outlines: dict[Path, tuple[int, Outline]] = {}
        self._lock = threading.Lock()

    def listed(self, request: Request) -> Response:
        """Show the list of studies; if there is only one, show that study."""
        studies = self._studies
        if studies.only is not None:
            there = studies.only in studies.files()
            seat = "judge" if may_only_judge(request.scope) else ""
            return RedirectResponse(f"/study/{quote(studies.only, safe='')}/{seat}" if there else "/new", 303)
        if may_only_judge(request.scope):
            raise MissingError("Ask for the address of the study that you are to judge.")
        return self._list(request)

    def _list(self, request: Request, refused: str = "") -> Response:
        archived = "archive" in request.query_params
        files = self._studies.archived() if archived else self._studies.files()
        rows = [self._row(path) for path in files.values()]
        if any(row.outline is None and not row.trouble for row in rows) and self._lock.acquire(blocking=False):
            threading.Thread(target=self._outline, args=([*files.values()],), daemon=True).start()
        shown: dict[str, Any] = {"rows": rows, "folder": self._studies.path.name, "archived": archived}
        shown |= {"others": len(self._studies.archived()), "refused": refused}
        return page("list.html", request, 409 if refused else 200, **shown)

    def _row(self, path: Path) -> ListedStudy:
        try:
            content = Header.read(path).content
        except LogError as error:
            return ListedStudy(path.name, "", "", printable(str(error), ""))
        parameters = content["space"].get("parameters")
        knobs = ", ".join(parameters) if isinstance(parameters, dict) else str(content["space"].get("type", ""))
        begun = day(content.get("at"))
        size, outline = self._outlines.get(path, (-1, None))
        return ListedStudy(
            path.name, begun, printable(knobs, ""), outline=outline if size == path.stat().st_size else None
        )

    def _outline(self, paths: Iterable[Path]) -> None:
        """Compute the outlines of studies, one after the other, in the background."""
        try:
            for path in paths:
                size = path.stat().st_size
                if self._outlines.get(path, (-1, None))[0] != size:
                    self._outlines[path] = size, self._computed(path)
        except OSError:  # renamed meanwhile: the next list has the new name
            return
        finally:
            self._lock.release()

    def _computed(self, path: Path) -> Outline:
        station = next((each for each in self._studies.opened if each.path == path), None)
        if station is not None:
            try:
                return station.known().outline
            except LogError:  # another file may have taken its place
                self._studies.forget(path.name)
        try:
            opt = resume(path, notify=ignore_notice)
            return Outline.of(opt, recommended(opt))
        except (LogError, ValueError, TypeError) as error:  # damaged, or with custom parts that must be passed again
            return Outline(trouble=printable(str(error), ""))

    def manage(self, request: Request) -> Response:
        """Show the file actions of a study."""
        name = request.path_params["name"]
        return page("manage.html", request, name=name, stem=name.removesuffix(SUFFIX), refused="")

    async def post(self, request: Request) -> Response:
        """Rename, archive or restore a study."""
        return await run_in_threadpool(self._post, request, await request.body())

    def _post(self, request: Request, body: bytes) -> Response:
        name = request.path_params["name"]
        try:
            change(self._studies, name, fields(body))
        except RefusedError as error:
            shown = {"name": name, "stem": name.removesuffix(SUFFIX), "refused": str(error)}
            return page("manage.html", request, 409, **shown)
        return RedirectResponse("/", 303)


def change(studies: Studies, name: str, given: Mapping[str, str]) -> None:
    """Rename, archive or restore a study according to a form."""
    here, there = studies.files(), studies.archived()
    match given.get("do"):
        case "rename" if name in here:
            _move(studies, here[name], studies.place(given.get("name", "").strip().removesuffix(SUFFIX)))
        case "archive" if name in here:
            (studies.path / ARCHIVE).mkdir(exist_ok=True)
            _move(studies, here[name], studies.path / ARCHIVE / name)
        case "bring back" if name in there:
            _move(studies, there[name], studies.path / name)
        case _:
            raise RefusedError("There is no such study, or no such action.")


def _move(studies: Studies, path: Path, to: Path) -> None:
    """Move the log of a study, unless a program is measuring it."""
    if not studies.folder:
        raise RefusedError("The server was started for this file: rename it after the server has ended.")
    if to.exists():
        raise RefusedError(f"There is a study called {to.name} already.")
    for lock in path.parent.glob(f"{escape(path.name)}.run*"):
        try:
            with FileLock(lock, timeout=0.0):
                pass
        except LockTimeoutError:
            raise RefusedError("A program measures this study: end it first.") from None
    with studies.closed(path.name):
        path.rename(to)
    path.with_name(f"{path.name}.lock").unlink(missing_ok=True)
