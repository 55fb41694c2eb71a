"""Changes, sent to every screen: server-sent events that contain only a version number."""

import asyncio
import time
from collections.abc import Callable
from contextlib import suppress

from starlette.concurrency import run_in_threadpool
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from equipoise.log import LogError
from equipoise.web.station import Station

LOOK_SECONDS = 0.25
"""Seconds between two checks for changes."""

QUIET_SECONDS = 15.0
"""Seconds without a change after which an event is sent anyway, so that the connection does not look dead."""

SEND_SECONDS = 10.0
"""Seconds within which a screen must accept an event."""

MOST_STREAMS = 100
"""Maximum number of connected screens."""


class Broadcast:
    """A sender of changes to screens.

    Args:
        ending: Whether the server is about to end.
    """

    def __init__(self, ending: Callable[[], bool]) -> None:
        self.ending = ending
        self.open = 0

    @property
    def full(self) -> bool:
        """True if the maximum number of screens is connected."""
        return self.open >= MOST_STREAMS

    def stream(self, station: Station, judge: str | None) -> Response:
        """Return a response that continues until the screen disconnects or stops reading, or the server ends."""
        return _Stream(self, station, judge)


class _Stream(Response):
    def __init__(self, broadcast: Broadcast, station: Station, judge: str | None) -> None:
        super().__init__()
        self._broadcast, self._station, self._judge = broadcast, station, judge

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        self._broadcast.open += 1
        gone = asyncio.create_task(_gone(receive))
        try:
            headers = [(b"content-type", b"text/event-stream"), (b"x-accel-buffering", b"no")]
            await send({"type": "http.response.start", "status": 200, "headers": headers})
            with suppress(LogError):  # a missing log: the next request of the screen reports it
                await self._tell(send, gone)
            await send({"type": "http.response.body", "body": b"", "more_body": False})
        finally:
            gone.cancel()
            self._broadcast.open -= 1

    async def _tell(self, send: Send, gone: "asyncio.Task[None]") -> None:
        station, told, last = self._station, dict[str, str](), 0.0
        seen: object = None
        while not gone.done() and not self._broadcast.ending():
            key = await run_in_threadpool(lambda: (station.edition, *station.beside_log))
            text = ""
            if key != seen:
                seen, found = key, await run_in_threadpool(self._versions)
                text = "".join(f"event: {k}\ndata: {v}\n\n" for k, v in found.items() if told.get(k) != v)
                told = found
            if not text and time.monotonic() - last > QUIET_SECONDS:
                text = ": still here\n\n"
            if text:
                last = time.monotonic()
                message = {"type": "http.response.body", "body": text.encode(), "more_body": True}
                await asyncio.wait_for(send(message), SEND_SECONDS)
            await asyncio.sleep(LOOK_SECONDS)

    def _versions(self) -> dict[str, str]:
        """Return the versions of both parts of the screen, without computing the second part."""
        return {"now": self._station.now(self._judge).version, "known": self._station.edition}


async def _gone(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass
