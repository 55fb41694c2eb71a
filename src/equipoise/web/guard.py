"""The guard: requests that are refused before any page sees them.

threat                                    defense
another site's page posts a form          SameSite=Strict cookie; Origin and Sec-Fetch-Site of every change
another site's name leads here            Host must be on the list (DNS rebinding)
another site shows us in a frame          frame-ancestors 'none'
text of a study is run as script          Content-Security-Policy without inline script; templates escape
somebody guesses tokens                   192 bits; failures wait in one queue, which is short
endless or slow bodies                    limits on size and time
"""

import asyncio
import ipaddress
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from http.cookies import CookieError, SimpleCookie
from typing import Any
from urllib.parse import parse_qs, urlsplit

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from equipoise.web.tokens import Role, Tokens

MAX_BODY = 2**16
"""Bytes a form may have."""

BODY_SECONDS = 10.0
"""Seconds within which a form must have arrived."""

FAILURE_SECONDS = 1.0
"""Seconds of delay for a wrong token; the delays run one after the other."""

MOST_WAITING = 20
"""Maximum number of wrong tokens that wait; further requests are rejected at once."""

LOOPBACK = ("localhost", "127.0.0.1", "[::1]")

POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; media-src 'self'; connect-src 'self'; "
    "form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
JUDGING = re.compile(r"/(study/[^/]+/judge(/[^/]+/(now|events|exhibit/[0-9]{1,9}/[AB])?)?)?")
"""The addresses that a judge may request."""

HEADERS = {
    "content-security-policy": POLICY,
    "x-frame-options": "DENY",
    "x-content-type-options": "nosniff",
    "referrer-policy": "same-origin",  # with no-referrer, our own forms would send Origin: null
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "permissions-policy": "camera=(), microphone=(), geolocation=()",
}
DOOR = """<!doctype html><html lang="en"><head><meta charset="utf-8"><title>Equipoise</title>{head}
<meta name="viewport" content="width=device-width"><link rel="icon" href="/static/icon.svg">
<link rel="stylesheet" href="/static/page.css"></head>
<body class="card"><main><h1>Equipoise</h1>{body}</main></body></html>"""
FORM = """<p>Open the address that <code>equipoise serve</code> has printed, or enter its token.</p>
<form method="post" action="/enter"><label for="token">Token</label>
<input id="token" name="token" type="password" autocomplete="off" autofocus> <button>Enter</button></form>"""


@dataclass(eq=False)
class Guard:
    """An ASGI middleware that admits requests with a token for this page, and refuses all others.

    Attributes:
        app: The guarded application.
        tokens: The tokens and their roles.
        cookie: Name of the cookie; browsers do not tell the ports of a host apart.
        hosts: Allowed host names of the server.
        addresses: Whether any numeric address is allowed, since no foreign name leads to one.
    """

    app: ASGIApp
    tokens: Tokens
    cookie: str = "equipoise"
    hosts: Sequence[str] = LOOPBACK
    addresses: bool = False
    _waiting: int = 0
    _queue: asyncio.Lock = field(default_factory=asyncio.Lock)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, or refuse it."""
        if scope["type"] == "lifespan":
            await self.app(scope, receive, send)
        elif scope["type"] == "http":
            answer = await self._answer(scope, receive)
            await answer(scope, receive if scope["method"] != "POST" else _replay(scope), _dressed(send))

    async def _answer(self, scope: Scope, receive: Receive) -> ASGIApp:
        """Return the responder: the app, or a refusal."""
        headers, path = Headers(scope=scope), scope["path"]
        if not self._called_rightly(headers):
            return _plain(421, "This server has another name: see `equipoise serve --allow-host`.")
        if scope["method"] not in ("GET", "HEAD", "POST"):
            return _plain(405, "Only GET, HEAD and POST are known here.")
        if scope["method"] == "POST":
            if not _from_here(scope, headers):
                return _plain(403, "A change must come from this page: the request names another origin, or none.")
            body = await _body(headers, receive)
            if isinstance(body, Response):
                return body
            scope["equipoise.body"] = body
        if path.startswith("/static/"):
            return self.app
        if path == "/enter" or (path == "/" and b"token=" in scope["query_string"]):
            return await self._entering(scope)
        return self._known(scope, headers)

    def _known(self, scope: Scope, headers: Headers) -> ASGIApp:
        """Return the app for a request with a cookie; a watcher changes nothing."""
        role = self.tokens.role_of_cookie(_cookie(headers, self.cookie))
        if role is None:
            return _door(401, FORM)
        if scope["method"] == "POST" and role == "watcher":
            return _plain(403, "This token is for watching only.")
        if role == "judge" and JUDGING.fullmatch(scope["path"]) is None:
            return _plain(403, "This token is for judging: it opens only the page of a judge.")
        scope["equipoise.role"] = role
        return self.app

    async def _entering(self, scope: Scope) -> ASGIApp:
        """Exchange a token for a cookie; through our own page, since a link from elsewhere sends no strict cookie."""
        given = scope.get("equipoise.body", scope["query_string"])
        token = parse_qs(given.decode("latin-1")).get("token", [""])[0].strip()
        role = self.tokens.role(token)
        if role is None:
            return await self._slowly(bool(token))
        answer = _door(200, '<p><a href="/">Go on</a></p>', '<meta http-equiv="refresh" content="0;url=/">')
        answer.set_cookie(self.cookie, self.tokens.cookie(role), httponly=True, samesite="strict")
        return answer

    async def _slowly(self, guessed: bool) -> Response:
        """Refuse a wrong token after a delay; the delays run one after the other."""
        if not guessed:
            return _door(401, FORM)
        if self._waiting >= MOST_WAITING:
            return _plain(429, "Too many wrong tokens: try again later.", {"retry-after": "30"})
        self._waiting += 1
        try:
            async with self._queue:
                await asyncio.sleep(FAILURE_SECONDS)
        finally:
            self._waiting -= 1
        return _door(401, "<p>This token is unknown.</p>" + FORM)

    def _called_rightly(self, headers: Headers) -> bool:
        """Return whether the Host header is an allowed name; any port is allowed, since a tunnel changes it."""
        given = headers.getlist("host")
        name = _name(given[0]) if len(given) == 1 else None
        if name is None:
            return False
        return name in self.hosts or (self.addresses and _is_address(name))


def _name(host: str) -> str | None:
    """Return the name in a Host header, without the port; `None` if it is invalid."""
    try:
        parts = urlsplit(f"//{host}")
        port, name = parts.port, parts.hostname
    except ValueError:
        return None
    if name is None or parts.netloc != host or parts.username is not None or parts.path or port == 0:
        return None
    return f"[{name}]" if ":" in name else name


def _is_address(name: str) -> bool:
    try:
        ipaddress.ip_address(name.strip("[]"))
    except ValueError:
        return False
    return True


def _from_here(scope: Scope, headers: Headers) -> bool:
    """Return whether a change comes from our own page, according to all headers that the browser sends."""
    origins, sites = headers.getlist("origin"), headers.getlist("sec-fetch-site")
    ours = f"{scope['scheme']}://{headers['host']}"
    said = [*(origin == ours for origin in origins), *(site == "same-origin" for site in sites)]
    return bool(said) and all(said)


async def _body(headers: Headers, receive: Receive) -> bytes | Response:
    """Return the body of a form, or refuse a body that is missing, too long or too slow."""
    kind = headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind != "application/x-www-form-urlencoded":
        return _plain(415, "A change must be a form.")
    length = headers.get("content-length", "0")
    if re.fullmatch(r"[0-9]{1,9}", length) is None or int(length) > MAX_BODY:
        return _plain(413, f"A form may have {MAX_BODY} bytes.")
    try:
        return await asyncio.wait_for(_collected(receive), BODY_SECONDS)
    except TimeoutError:
        return _plain(408, "The form did not come in time.", {"connection": "close"})
    except ValueError:
        return _plain(413, f"A form may have {MAX_BODY} bytes.", {"connection": "close"})


async def _collected(receive: Receive) -> bytes:
    found: bytes = b""
    while True:
        message = await receive()
        found += message.get("body", b"")
        if len(found) > MAX_BODY:
            raise ValueError("too long")
        if message["type"] == "http.disconnect" or not message.get("more_body"):
            return found


def _replay(scope: Scope) -> Receive:
    """Return a receiver that gives a page the body that was already read."""

    async def receive() -> Message:
        return {"type": "http.request", "body": scope.get("equipoise.body", b""), "more_body": False}

    return receive


def _dressed(send: Send) -> Send:
    """Return a sender that adds the headers of every response."""

    async def dressed(message: Message) -> None:
        if message["type"] == "http.response.start":
            headers = MutableHeaders(scope=message)
            for name, value in HEADERS.items():
                headers[name] = value
            headers.setdefault("cache-control", "no-store")
        await send(message)

    return dressed


def _cookie(headers: Headers, name: str) -> str:
    try:
        found: Any = SimpleCookie(headers.get("cookie", "")).get(name)
    except CookieError:
        return ""
    return "" if found is None else str(found.value)


def _plain(status: int, text: str, headers: dict[str, str] | None = None) -> Response:
    return Response(text + "\n", status, headers, media_type="text/plain")


def _door(status: int, body: str, head: str = "") -> Response:
    return Response(DOOR.format(body=body, head=head), status, media_type="text/html")


def may_change(scope: Scope) -> bool:
    """Return whether the sender of a request may change the study; the guard keeps judges to their own pages."""
    role: Role | None = scope.get("equipoise.role")
    return role in ("operator", "judge")


def may_only_judge(scope: Scope) -> bool:
    """Return whether the sender of a request may only judge."""
    return scope.get("equipoise.role") == "judge"
