"""The application: routes behind the guard, and refusals in one sentence."""

from collections.abc import Sequence
from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.responses import Response
from starlette.types import ASGIApp

from gobetween import __version__
from gobetween.errors import GoBetweenError, ProblemError, spelled
from gobetween.files.fields import show
from gobetween.service import api, entry, forms, inbox, letters, metrics, views
from gobetween.service.access import Access
from gobetween.service.guard import Address, Guard, broken, refusal, too_large
from gobetween.service.home import Home
from gobetween.service.refusals import NotFoundError
from gobetween.service.short import ShortWay

ROUTERS = (api.router, inbox.router, entry.router, views.router, letters.router, forms.router, metrics.router)
ABOUT = (
    "Live studies of gobetween. Every write is one transaction: it is recorded wholly, or refused in one sentence with a "
    "status of 4xx, and then nothing has changed. An Idempotency-Key makes it safe to repeat."
)


def make_app(home: Home, access: Access, address: Address) -> tuple[FastAPI, ASGIApp]:
    """The routes, and the same behind the guard."""
    app = FastAPI(
        title="gobetween",
        version=__version__,
        description=ABOUT,
        openapi_url="/api/v1/openapi.json",
        docs_url=None,
        redoc_url=None,
    )
    app.state.home, app.state.access, app.state.address, app.state.watches = home, access, address, {}
    for router in ROUTERS:
        app.include_router(router)
    app.add_exception_handler(GoBetweenError, _refused)
    app.add_exception_handler(RequestValidationError, _unreadable)
    app.add_exception_handler(HTTPException, _elsewhere)
    app.add_exception_handler(Exception, _broken)
    app.state.tally = tally = metrics.Tally()
    return app, Guard(ShortWay(app, home), access, address, tally)


async def _refused(request: Request, error: Exception) -> Response:
    assert isinstance(error, GoBetweenError)
    return refusal(error, request.url.path)


async def _unreadable(request: Request, error: Exception) -> Response:
    assert isinstance(error, RequestValidationError)
    return refusal(ProblemError(_first(error.errors())), request.url.path)


def _first(found: Sequence[Any]) -> str:
    """Where the first mistake is, and what should be there."""
    first = found[0]
    name = spelled(tuple(part for part in first["loc"][1:] if isinstance(part, (int, str))))
    if first["type"] == "missing":
        return f"{name or 'the body'} is missing: send it"
    if first["type"] == "json_invalid" or not name or isinstance(first["loc"][1], int):
        return "the body must be a JSON object: send one, with Content-Type: application/json"
    words = str(first["msg"]).removeprefix("Input ")
    return f"{name} = {show(first.get('input'))}: {words[:1].lower()}{words[1:]}"


async def _elsewhere(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    if error.status_code == 405:
        answer = refusal(NotFoundError(f"{request.method} is not for this address"), request.url.path)
        answer.status_code = 405
        answer.headers.update(error.headers or {})
        return answer
    if error.status_code == 400:
        large = getattr(request.state, "large", False)
        return refusal(too_large() if large else ProblemError("the body cannot be read: send JSON"), request.url.path)
    return refusal(NotFoundError("there is nothing at this address"), request.url.path)


async def _broken(request: Request, error: Exception) -> Response:
    return broken(request.method, request.url.path, error)
