"""What every request passes first: Host, Origin, size, who it is; and what every answer carries.

Whatever is not said to be open here is for administrators: a route that nobody thought of is closed.
"""

import logging
from collections.abc import MutableMapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from starlette.concurrency import run_in_threadpool
from starlette.datastructures import Headers
from starlette.requests import cookie_parser
from starlette.responses import JSONResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from gobetween.errors import GoBetweenError
from gobetween.service.access import Access, Who
from gobetween.service.errors import ForbiddenError, TokenError, TooLargeError, error_body, sentence_of, status_of
from gobetween.service.web.layout import refusal_page

if TYPE_CHECKING:
    from gobetween.service.metrics import RequestCounts

log = logging.getLogger("gobetween")
API, INBOX_API, INBOX = "/api/", "/api/v1/inbox", "/inbox/"
OPEN = ("/api/v1/health", "/enter")
STATIC = "/static/"
SAFE = ("GET", "HEAD", "OPTIONS")
LARGEST = 256 * 1024  # bytes of a request
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
    "form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
HEADERS = {
    "content-security-policy": POLICY,
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "same-origin",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "permissions-policy": "camera=(), geolocation=(), microphone=()",
    "cache-control": "no-store",
}
RAW = [(name.encode(), value.encode()) for name, value in HEADERS.items()]
REFUSED = "the token is missing or not valid: open the link that you were given, or ask for a new one"


@dataclass(frozen=True)
class Address:
    """Under which names the server is known, and whether by TLS."""

    origins: frozenset[str]
    public: str | None = None
    """The one by which others reach it."""

    @cached_property
    def hosts(self) -> frozenset[str]:
        """What a Host header may say."""
        return frozenset(urlsplit(origin).netloc for origin in self.origins)

    def base(self, host: str) -> str:
        """The address for links: the public one, or that by which a request has reached it."""
        return self.public or next(origin for origin in self.origins if urlsplit(origin).netloc == host.lower())

    @property
    def secure(self) -> bool:
        """Is it reached by TLS only?"""
        return any(origin.startswith("https://") for origin in self.origins)


class Guard:
    """Around the whole application."""

    def __init__(self, app: ASGIApp, access: Access, address: Address, tally: "RequestCounts") -> None:
        self._app, self._access, self._address, self._tally = app, access, address, tally

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            if scope["type"] == "lifespan":
                await self._app(scope, receive, send)
            return
        send = self._sending(send)
        try:
            headers = Headers(scope=scope)
            self._check_origin(scope, headers)
            _check_size(headers)
            scope.setdefault("state", {})["who"] = await self._admitted(scope, headers)
            await self._app(scope, _bounded(receive, scope), send)
        except GoBetweenError as error:
            await refusal(error, scope["path"])(scope, receive, send)

    def _sending(self, send: Send) -> Send:
        """With the headers that every answer carries."""

        async def sending(message: MutableMapping[str, Any]) -> None:
            if message["type"] == "http.response.start":
                self._tally.answers[message["status"]] += 1
                held = list(message.get("headers", ()))
                names = {name for name, _ in held}
                message["headers"] = held + [header for header in RAW if header[0] not in names]
            await send(message)

        return sending

    def _check_origin(self, scope: Scope, headers: Headers) -> None:
        """Neither a name that somebody else points here, nor a page of somebody else."""
        if headers.get("host", "").lower() not in self._address.hosts:
            raise ForbiddenError("unknown host name: the operator of this server must start it with its public address")
        origin = headers.get("origin")
        if scope["method"] in SAFE:
            return
        if origin is not None and origin.lower() not in self._address.origins:
            raise ForbiddenError("cross-origin request refused")
        if origin is None and not scope["path"].startswith(API):
            raise ForbiddenError("the form has no Origin: use a browser, or the routes under /api")

    async def _admitted(self, scope: Scope, headers: Headers) -> Who | None:
        """Who it is, if whoever it is may go on."""
        path: str = scope["path"]
        if path in OPEN or path.startswith(STATIC):
            return None
        who = await self._who(token_in(path, headers), scope, session=in_session(path))
        if path == INBOX_API or path.startswith((f"{INBOX_API}/", INBOX)):
            if who.admin or (path.startswith(INBOX) and path.split("/")[2] != who.id):
                raise ForbiddenError("this is someone else's inbox")
        elif not who.admin:
            raise ForbiddenError("this is for administrators")
        return who

    async def _who(self, token: str, scope: Scope, session: bool) -> Who:
        who = self._access.at_once(token, session)
        if who is None and token:
            who = await run_in_threadpool(self._access.who, token, session)
        if who is None:
            if token:
                self._access.failed((scope.get("client") or ("",))[0])
            raise TokenError(REFUSED)
        return who


def token_in(path: str, headers: Headers) -> str:
    """The token of a request: programs have it in a header, browsers in a cookie, and neither where the other has it."""
    if path.startswith(API):
        kind, _, token = headers.get("authorization", "").partition(" ")
        return token.strip() if kind.lower() == "bearer" else ""
    return cookie_parser(headers.get("cookie", "")).get(cookie_name(path, headers["host"]), "")


def in_session(path: str) -> bool:
    """Is this for the browsers of administrators, which show a session in place of a token?"""
    return not path.startswith((API, INBOX))


def cookie_name(path: str, host: str) -> str:
    """With the port: browsers send cookies to every port of a machine."""
    port = host.rpartition(":")[2]
    return f"gobetween{'-inbox' if path.startswith(INBOX) else ''}{f'-{port}' if port.isdecimal() else ''}"


def refusal(error: GoBetweenError, path: str) -> Response:
    """One sentence, as JSON for programs and as a page for people."""
    status = status_of(error)
    more = {401: {"www-authenticate": "Bearer"}, 429: {"retry-after": "60"}, 503: {"retry-after": "1"}}.get(status, {})
    if path.startswith(API) or path in OPEN:
        return JSONResponse(error_body(error), status, more)
    inbox = path.startswith(INBOX)
    back = ("/".join(path.split("/")[:3]), "Back to the inbox") if inbox else ("/", "To the studies")
    return refusal_page(sentence_of(error), status, back, more)


def internal_error(method: str, path: str, error: Exception) -> Response:
    """Something that nobody thought of."""
    log.error("%s %s: %s: %s", method, path, type(error).__name__, error)
    answer = refusal(GoBetweenError("internal error; see the server log (this is a bug)"), path)
    answer.status_code = 500
    return answer


def too_large() -> TooLargeError:
    """Why a request is not read."""
    return TooLargeError(f"the request is larger than {LARGEST:,} bytes: send less at a time")


def _check_size(headers: Headers) -> None:
    length = headers.get("content-length", "0")
    if not length.isdecimal() or int(length) > LARGEST:
        raise too_large()


def _bounded(receive: Receive, scope: Scope) -> Receive:
    """One whose length nobody has said."""
    seen = 0

    async def bounded() -> Message:
        nonlocal seen
        message = await receive()
        seen += len(message.get("body", b""))
        if seen > LARGEST:
            scope["state"]["large"] = True  # whoever reads may hide what was raised
            raise too_large()
        return message

    return bounded
