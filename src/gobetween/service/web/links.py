"""Personal links of a study's mediators: made, shown with a QR code, renewed and revoked; a reload makes none."""

import time
from collections import OrderedDict
from dataclasses import dataclass

from fastapi import APIRouter, Request
from markupsafe import Markup
from starlette.responses import HTMLResponse, Response

from gobetween.errors import StudyError
from gobetween.service.guard import Address
from gobetween.service.request import StudyDep, StudyRequest
from gobetween.service.threads import WriterRoute
from gobetween.service.web.layout import page
from gobetween.service.web.login import Form, proof_of
from gobetween.service.web.views import address, back_to
from gobetween.study.journal.record import TokenRow
from gobetween.study.tokens import new_token, revoke
from gobetween.words.numbers import moment

router = APIRouter(include_in_schema=False, route_class=WriterRoute)
DAYS = 90.0  # that a link is valid
SHOWN, MOST = 900.0, 1000  # seconds that a new link can be looked at again; links that are held for that
Held = OrderedDict[str, tuple[float, str]]


@dataclass(frozen=True)
class Link:
    """A mediator's link: since when and until when it is valid, and itself while it is new."""

    mediator: str
    id: str = ""
    note: str = "no link yet"
    url: str = ""
    code: str = ""


@router.get("/studies/{study}/links")
def links(request: Request, on: StudyDep) -> HTMLResponse:
    """One row for each mediator."""
    rows = _valid(on)
    shown = [_link(request, name, rows.get(i)) for i, name in enumerate(on.study.spec.mediators)]
    title = on.study.spec.title or f"Study {on.served.name}"
    values = {
        "at": address(on),
        "links": shown,
        "proof": proof_of(request),
        "name": title,
        "days": f"{DAYS:.0f}",
        "alone": request.app.state.address.public is None,
        "base": base_of(request),
        "scripts": ["copy.js"],
    }
    return page("links.html", "Personal links", values)


@router.post("/studies/{study}/links/make")
def make(request: Request, on: StudyDep, form: Form) -> Response:
    """A new link for one mediator, or for all that have none; the one before is valid no more."""
    rows, names, wanted = _valid(on), on.study.spec.mediators, form.get("value", "")
    if wanted and wanted not in names:
        raise StudyError(f"mediator {wanted!r} is not known")
    for i, name in enumerate(names):
        if name == wanted or (not wanted and i not in rows):
            token, row = new_token(on.study, name, DAYS)
            _hold(request, row.id, token)
            if i in rows:
                revoke(on.served.store, rows[i].id)
    return back_to(on, "/links")


@router.post("/studies/{study}/links/revoke")
def take_back(on: StudyDep, form: Form) -> Response:
    """A link that is valid no more."""
    if any(row.id == form.get("value") for row in _valid(on).values()):
        revoke(on.served.store, form["value"])
    return back_to(on, "/links")


def base_of(request: Request) -> str:
    """Where links lead."""
    where: Address = request.app.state.address
    return where.base(request.headers["host"])


def _valid(on: StudyRequest) -> dict[int, TokenRow]:
    """The latest link of each mediator, by its place, that is valid."""
    store, now = on.served.store, on.served.store.now()
    rows = (row for row in store.tokens() if row.study == on.served.name and row.mediator is not None)
    return {
        row.mediator: row
        for row in rows
        if row.mediator is not None and row.revoked is None and (row.expires is None or now < row.expires)
    }


def _held(request: Request) -> Held:
    state = request.app.state
    if not hasattr(state, "new_links"):
        state.new_links = OrderedDict()
    held: Held = state.new_links
    while held and (len(held) > MOST or time.monotonic() - next(iter(held.values()))[0] > SHOWN):
        held.popitem(last=False)
    return held


def _hold(request: Request, number: str, token: str) -> None:
    _held(request)[number] = (time.monotonic(), token)


def _link(request: Request, mediator: str, row: TokenRow | None) -> Link:
    if row is None:
        return Link(mediator)
    until = "without end" if row.expires is None else f"until {moment(row.expires)[:10]}"
    note, found = f"valid {until}, made {moment(row.made)[:16]}", _held(request).get(row.id)
    if found is None:
        return Link(mediator, row.id, f"{note}. Renew it to see a link again")
    url = f"{base_of(request)}/enter#{found[1]}"
    return Link(mediator, row.id, note, url, code_of(url))


def code_of(url: str) -> Markup:
    """A QR code as a drawing."""
    import segno

    return Markup(segno.make(url, error="l").svg_inline(svgclass="qr", lineclass=None, omitsize=True, border=2))
