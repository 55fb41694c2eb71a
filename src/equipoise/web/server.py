"""The server: all routes behind the guard, behind a socket that disconnects slow clients."""

import asyncio
import socket
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import h11
import uvicorn
from starlette.applications import Starlette
from starlette.convertors import Convertor, register_url_convertor
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles
from starlette.types import ASGIApp
from uvicorn.protocols.http.h11_impl import H11Protocol

from equipoise.log import LogError
from equipoise.web.alarms import Watch
from equipoise.web.automatic import Automatic, Measure
from equipoise.web.beginning import Beginning
from equipoise.web.beside import Beside
from equipoise.web.folder import Folder
from equipoise.web.guard import LOOPBACK, Guard
from equipoise.web.means import NOTHING, Means
from equipoise.web.pages import HiddenError, MissingError, Pages, hidden, missing, nowhere
from equipoise.web.streaming import Broadcast
from equipoise.web.studies import Studies
from equipoise.web.tokens import Tokens

HEAD_SECONDS = 10.0
"""Seconds within which the head of a request must have arrived."""

MAX_HEAD = 2**14
"""Maximum number of bytes of the head of a request."""

MOST_CONNECTIONS = 300

ANYWHERE = ("0.0.0.0", "::")
"""Addresses that mean all networks of this machine."""


class PatientProtocol(H11Protocol):
    """HTTP with a timeout: a client that does not send the head of a request in time is disconnected."""

    _deadline: asyncio.TimerHandle | None = None

    def connection_made(self, transport: Any) -> None:
        """Start the timeout for the first request."""
        super().connection_made(transport)
        self._deadline = self.loop.call_later(HEAD_SECONDS, self._cut)

    def data_received(self, data: bytes) -> None:
        """Receive data; the timeout runs while the head of a request is incomplete."""
        super().data_received(data)
        waiting = self.conn.their_state is h11.IDLE
        if not waiting and self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None
        elif waiting and self._deadline is None:
            self._deadline = self.loop.call_later(HEAD_SECONDS, self._cut)

    def connection_lost(self, exc: Exception | None) -> None:
        """Cancel the timeout."""
        if self._deadline is not None:
            self._deadline.cancel()
        super().connection_lost(exc)

    def _cut(self) -> None:
        self.transport.abort()


@dataclass(frozen=True)
class Binding:
    """The address of a server.

    Attributes:
        host: The address to listen on.
        port: The port; 0 for any free port.
        names: Further allowed host names.
    """

    host: str = "127.0.0.1"
    port: int = 8765
    names: Sequence[str] = ()

    @property
    def loopback(self) -> bool:
        """True if only this machine can reach it."""
        return self.host in ("localhost", "::1") or self.host.startswith("127.")

    @property
    def allowed(self) -> list[str]:
        """All allowed host names."""
        own = [] if self.loopback or self.host in ANYWHERE else [self.host, socket.gethostname().lower()]
        everywhere = [socket.gethostname().lower()] if self.host in ANYWHERE else []
        return [*LOOPBACK, *own, *everywhere, *(name.lower() for name in self.names)]

    def listen(self) -> socket.socket:
        """Return a socket that listens at the address."""
        family = socket.AF_INET6 if ":" in self.host else socket.AF_INET
        return socket.create_server((self.host, self.port), family=family)


class NumberConvertor(Convertor[int]):
    """The number of a trial in an address, with a limited length: Python refuses to parse thousands of digits."""

    regex = "[0-9]{1,9}"

    def convert(self, value: str) -> int:
        """Return the number."""
        return int(value)

    def to_string(self, value: int) -> str:
        """Return the number as text for an address."""
        return str(value)


register_url_convertor("number", NumberConvertor())


def application(studies: Studies, ending: Callable[[], bool] = lambda: False) -> Starlette:
    """Return all pages, without a guard.

    Args:
        studies: The studies.
        ending: Whether the server is about to end.
    """
    pages = Pages(studies, Broadcast(ending))
    beside, beginning, folder = Beside(pages), Beginning(pages), Folder(pages)
    routes = [
        Route("/", folder.listed),
        Route("/help", beside.help),
        Route("/manage/{name}", folder.manage),
        Route("/manage/{name}", folder.post, methods=["POST"]),
        Route("/new", beginning.form),
        Route("/new", beginning.post, methods=["POST"]),
        Route("/study/{name}/judge", pages.seat),
    ]
    for study in ("/study/{name}/judge/{judge}", "/study/{name}"):  # a named judge has every page under a prefix
        routes += [
            Route(f"{study}/", pages.screen),
            Route(f"{study}/", pages.post, methods=["POST"]),
            Route(f"{study}/now", pages.now),
            Route(f"{study}/known", pages.known),
            Route(f"{study}/events", pages.events),
            Route(f"{study}/hidden", beside.hidden),
            Route(f"{study}/confirm/{{what}}", beside.confirm),
            Route(f"{study}/trial/{{trial:number}}", beside.trial),
            Route(f"{study}/logbook", beside.logbook),
            Route(f"{study}/pictures", beside.pictures),
            Route(f"{study}/download/{{kind}}", beside.download),
            Route(f"{study}/exhibit/{{pair:number}}/{{letter}}", beside.exhibit),
        ]
    static = Mount("/static", StaticFiles(directory=Path(__file__).with_name("static")))
    handlers: dict[Any, Any] = {MissingError: missing, LogError: pages.lost, HiddenError: hidden, 404: nowhere}
    return Starlette(routes=[*routes, static], exception_handlers=handlers)


class Server:
    """A server for the studies of a file or folder.

    Args:
        studies: The studies.
        place: The address to listen on.
        tokens: The tokens and their roles.
        measure: The function that measures, if there is one; it requires a single study.
        end: Ends the current reading, if that is possible.

    Attributes:
        ended: The trial whose reading was ended with the server.
    """

    def __init__(
        self,
        studies: Studies,
        place: Binding,
        tokens: Tokens,
        measure: Measure | None = None,
        end: Callable[[], None] | None = None,
    ) -> None:
        self.studies, self.place, self.tokens, self.measure, self._end = studies, place, tokens, measure, end
        self.ended: int | None = None
        self.socket = place.listen()
        self.port = self.socket.getsockname()[1]
        self._uvicorn = uvicorn.Server(self._config())

    def address(self, token: str) -> str:
        """Return the address to open in a browser."""
        host = socket.gethostname() if self.place.host in ANYWHERE else self.place.host
        return f"http://{f'[{host}]' if ':' in host else host}:{self.port}/?token={token}"

    def run(self) -> None:
        """Serve until an interrupt."""
        only = None if self.studies.only is None else self.studies.station(self.studies.only)
        automatic = None if self.measure is None or only is None else Automatic(only, self.measure, self._end)
        watch = Watch(self.studies)
        watch.start()
        if automatic is not None:
            automatic.start()
        try:
            self._uvicorn.run(sockets=[self.socket])
        finally:
            self.socket.close()
            watch.stop()
            if automatic is not None:
                automatic.stop()
                self.ended = automatic.ended

    def _config(self) -> uvicorn.Config:
        app: ASGIApp = application(self.studies, lambda: self._uvicorn.should_exit)
        anywhere = self.place.host in ANYWHERE
        guard = Guard(app, self.tokens, f"equipoise-{self.port}", self.place.allowed, addresses=anywhere)
        return uvicorn.Config(
            guard,
            http=PatientProtocol,
            ws="none",
            lifespan="off",
            loop="asyncio",
            log_level="error",
            access_log=False,
            proxy_headers=False,
            server_header=False,
            limit_concurrency=MOST_CONNECTIONS,
            h11_max_incomplete_event_size=MAX_HEAD,
            timeout_keep_alive=15,
            timeout_graceful_shutdown=3,
        )


def measuring(measure: Callable[[Any], float]) -> Measure:
    """Return a `Measure` made from a function that takes a setting and returns its reading."""
    return lambda trial: {"value": measure(trial.x)}


def serve(
    study: str | Path,
    measure: Callable[[Any], float] | None = None,
    *,
    place: Binding | None = None,
    tokens: Tokens | None = None,
    announce: Callable[[str], object] = print,
    means: Means = NOTHING,
) -> None:
    """Serve a study, or a folder of them, until Ctrl-C; optionally measure with a function.

    Args:
        study: The log, or a folder.
        measure: Takes a setting and returns its reading.
        place: The address to listen on; by default reachable from this machine only.
        tokens: The tokens and their roles; new ones by default.
        announce: Called with the address to open.
        means: Further means, such as a function that sets the machine.
    """
    studies = Studies(Path(study), machine=measure is not None, means=means)
    known = Tokens.fresh() if tokens is None else tokens
    server = Server(studies, place or Binding(), known, None if measure is None else measuring(measure))
    announce(server.address(known.operator))
    server.run()
