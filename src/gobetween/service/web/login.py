"""The door: a personal link becomes a cookie. Looking at the link consumes nothing, so that previews do no harm."""

import hashlib
import hmac
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Annotated
from urllib.parse import parse_qsl

from fastapi import APIRouter, Depends, Request
from starlette.concurrency import run_in_threadpool
from starlette.responses import HTMLResponse, RedirectResponse, Response

from gobetween.errors import StoreError
from gobetween.pages.templates import asset
from gobetween.service.access import Access
from gobetween.service.errors import ForbiddenError, NotFoundError, TokenError
from gobetween.service.guard import INBOX, REFUSED, Address, cookie_name, token_in
from gobetween.service.models import LoginToken
from gobetween.service.request import Json, who_of
from gobetween.service.threads import WriterRoute
from gobetween.service.web.layout import page

STATIC = Path(__file__).parent / "static"
KINDS = {".js": "text/javascript", ".css": "text/css"}
LONGEST = 400 * 86400  # seconds that browsers keep a cookie
router = APIRouter(include_in_schema=False, route_class=WriterRoute)


@router.get("/enter")
def door() -> HTMLResponse:
    """The page that a link opens."""
    return page("enter.html", "gobetween", {"scripts": ["enter.js"], "width": "narrow"})


@router.post("/enter")
def enter(request: Request, body: LoginToken) -> Response:
    """Exchange a token for a cookie: an administrator's for a session."""
    access: Access = request.app.state.access
    who = access.who(body.token)
    if who is None:
        access.failed(request.client.host if request.client else "")
        raise TokenError(REFUSED)
    to = "/" if who.admin else f"{INBOX}{who.id}"
    answer = Json({"to": to})
    _set_cookie(answer, request, to, access.log_in(who) if who.admin else body.token, None if who.admin else LONGEST)
    return answer


def _set_cookie(answer: Response, request: Request, path: str, token: str, seconds: int | None) -> None:
    address: Address = request.app.state.address
    answer.set_cookie(
        cookie_name(path, request.headers["host"]),
        token,
        seconds,
        path=path,
        secure=address.secure,
        httponly=True,
        samesite="strict",
    )


async def stands(request: Request) -> bool:
    """Is this browser still logged in?"""
    access: Access = request.app.state.access
    secret = token_in(request.url.path, request.headers)
    with suppress(StoreError):  # one that is away for a moment ends no session
        return (access.at_once(secret, True) or await run_in_threadpool(access.who, secret, True)) is not None
    return True


def proof_of(request: Request) -> str:
    """What a form must carry: it shows that the page came from here, to whoever has the cookie."""
    token = token_in(request.url.path, request.headers)
    return hmac.new(token.encode(), b"form", hashlib.sha256).hexdigest()[:32]


async def form_of(request: Request) -> dict[str, str]:
    """The fields of a form that came from a page of this server."""
    try:
        fields = dict(parse_qsl((await request.body()).decode(), keep_blank_values=True, max_num_fields=500))
    except ValueError:
        raise ForbiddenError("the form cannot be read") from None
    if not hmac.compare_digest(fields.pop("proof", "").encode(), proof_of(request).encode()):
        raise ForbiddenError("this form has expired: reload the page")
    return fields


Form = Annotated[dict[str, str], Depends(form_of)]


@router.post("/leave")
def leave(request: Request, form: Form) -> Response:
    """End the session of an administrator."""
    access: Access = request.app.state.access
    access.log_out(who_of(request))
    answer = RedirectResponse("/enter", 303)
    _set_cookie(answer, request, "/", "", 0)
    return answer


@router.get("/static/{name}")
def static(name: str) -> Response:
    """Style and scripts."""
    kind = KINDS.get(Path(name).suffix)
    if kind is None or name not in files():
        raise NotFoundError("there is nothing at this address")
    return Response(files()[name], media_type=kind, headers={"cache-control": "max-age=3600"})


@cache
def files() -> dict[str, bytes]:
    """By name: the scripts, and the style sheet that reports share."""
    return {path.name: path.read_bytes() for path in STATIC.iterdir() if path.suffix in KINDS} | {
        "style.css": asset("style.css").encode()
    }
