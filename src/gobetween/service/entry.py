"""The door: a personal link becomes a cookie. Looking at the link consumes nothing, so that previews do no harm."""

import hashlib
import hmac
from functools import cache
from pathlib import Path
from typing import Annotated
from urllib.parse import parse_qsl

from fastapi import APIRouter, Depends, Request
from starlette.responses import HTMLResponse, RedirectResponse, Response

from gobetween.pages.html import LIBRARY, drawing_script
from gobetween.pages.look import STYLE
from gobetween.service.access import Access
from gobetween.service.call import Json
from gobetween.service.guard import ADMIN_COOKIE, INBOX, INBOX_COOKIE, REFUSED, Address, token_in
from gobetween.service.models import Entry
from gobetween.service.page import framed
from gobetween.service.refusals import ForbiddenError, NotFoundError, TokenError

STATIC = Path(__file__).parent / "static"
KINDS = {".js": "text/javascript", ".css": "text/css"}
LONGEST = 400 * 86400  # seconds that browsers keep a cookie
router = APIRouter(include_in_schema=False)


@router.get("/enter")
def door() -> HTMLResponse:
    """The page that a link opens."""
    body = (
        '<h1>gobetween</h1><p id="said" role="status">One moment …</p>'
        "<noscript><p>This link needs JavaScript, once: it carries a secret that only your browser may see.</p></noscript>"
    )
    return HTMLResponse(framed("gobetween", body, ["enter.js"]))


@router.post("/enter")
def enter(request: Request, body: Entry) -> Response:
    """Exchange a token for a cookie."""
    access: Access = request.app.state.access
    who = access.who(body.token)
    if who is None:
        access.failed(request.client.host if request.client else "")
        raise TokenError(REFUSED)
    to = "/" if who.admin else f"{INBOX}{who.id}"
    answer = Json({"to": to})
    _set_cookie(answer, request, to, body.token, None if who.admin else LONGEST)
    return answer


def _set_cookie(answer: Response, request: Request, path: str, token: str, seconds: int | None) -> None:
    address: Address = request.app.state.address
    name = ADMIN_COOKIE if path == "/" else INBOX_COOKIE
    answer.set_cookie(name, token, seconds, path=path, secure=address.secure, httponly=True, samesite="strict")


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
        raise ForbiddenError("this form is not of a page of yours: open the page anew and try again")
    return fields


Form = Annotated[dict[str, str], Depends(form_of)]


@router.post("/leave")
def leave(request: Request, form: Form) -> Response:
    """Forget the cookie of an administrator."""
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
    """By name: what lies in the folder; the style begins with that of reports."""
    from plotly.offline import get_plotlyjs

    held = {path.name: path.read_bytes() for path in STATIC.iterdir() if path.suffix in KINDS}
    style, library = STYLE.encode() + held["style.css"], str(get_plotlyjs()).encode()
    return held | {"style.css": style, LIBRARY: library, "figures.js": drawing_script(f"/static/{LIBRARY}").encode()}
