"""The application: routes behind the guard, and refusals in one sentence."""

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.responses import Response
from starlette.types import ASGIApp

from gobetween import __version__
from gobetween.errors import GoBetweenError, ProblemError
from gobetween.service import api, inbox, metrics
from gobetween.service.access import Access
from gobetween.service.errors import NotFoundError
from gobetween.service.guard import Address, Guard, internal_error, refusal, too_large
from gobetween.service.request import mistake
from gobetween.service.studies import Studies
from gobetween.service.threads import HealthCheck
from gobetween.service.web import forms, inbox_page, links, login, views

ROUTERS = (api.router, inbox.router, login.router, views.router, links.router, inbox_page.router, forms.router, metrics.router)
ABOUT = (
    "Live studies of gobetween. Every write is one transaction: it is recorded wholly, or refused in one sentence with a "
    "status of 4xx, and then nothing has changed. An Idempotency-Key makes it safe to repeat."
)


def make_app(studies: Studies, access: Access, address: Address) -> tuple[FastAPI, ASGIApp]:
    """The routes, and the same behind the guard."""
    app = FastAPI(
        title="gobetween",
        version=__version__,
        description=ABOUT,
        openapi_url="/api/v1/openapi.json",
        docs_url=None,
        redoc_url=None,
    )
    app.state.health = HealthCheck(studies)
    app.state.studies, app.state.access, app.state.address, app.state.watches = studies, access, address, {}
    for router in ROUTERS:
        app.router.routes.extend(router.routes)  # include_router would look each up twice
    app.add_exception_handler(GoBetweenError, _refused)
    app.add_exception_handler(RequestValidationError, _unreadable)
    app.add_exception_handler(HTTPException, _elsewhere)
    app.add_exception_handler(Exception, _broken)
    app.state.tally = tally = metrics.RequestCounts()
    return app, Guard(app, access, address, tally)


async def _refused(request: Request, error: Exception) -> Response:
    assert isinstance(error, GoBetweenError)
    return refusal(error, request.url.path)


async def _unreadable(request: Request, error: Exception) -> Response:
    assert isinstance(error, RequestValidationError)
    return refusal(mistake(error.errors(), skip=1), request.url.path)


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
    return internal_error(request.method, request.url.path, error)
