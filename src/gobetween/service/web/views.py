"""Pages for administrators: the list of studies, a live page for each, its events, its report, and what can be done."""

from dataclasses import replace as replaced
from functools import partial
from itertools import count
from typing import Annotated

from fastapi import APIRouter, Query, Request
from markupsafe import Markup
from starlette.responses import HTMLResponse, RedirectResponse, Response, StreamingResponse

from gobetween.errors import StudyError
from gobetween.pages.html import render
from gobetween.pages.studies import ORDERS, StudyRow, study_list, study_row, unreadable_row
from gobetween.pages.study.page import event_rows
from gobetween.pages.study.report import report as report_of
from gobetween.service import api
from gobetween.service.request import StudyDep, StudyRequest, studies_of, who_of
from gobetween.service.studies import ServedStudy, Unreadable, attempt
from gobetween.service.threads import WriterRoute
from gobetween.service.web.layout import page
from gobetween.service.web.live import Watch
from gobetween.service.web.login import Form, proof_of, stands

PAGE = 100  # events of a page
DRAWN = {"content-security-policy": "default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'"}
router = APIRouter(include_in_schema=False, route_class=WriterRoute)


def address(on: StudyRequest) -> str:
    """Where the pages of a study are."""
    return f"/studies/{on.served.slug}"


@router.get("/")
def home(request: Request, q: str = "", by: str = "activity", archived: bool = False) -> HTMLResponse:
    """The studies; those that are archived only where that is said."""
    store, makes = who_of(request).store, studies_of(request).makes
    rows = [_row(served) for served in studies_of(request).all() if store in (None, served.store)]
    rows = [row for row in rows if archived or not row.archived]
    found = study_list(rows, q, by if by in ORDERS else "activity")
    values = {"proof": proof_of(request), "rows": found, "q": q, "by": by, "orders": ORDERS, "all": len(rows)}
    values["makes"] = makes is not None and store in (None, makes)
    return page("studies.html", "Studies", values)


def _row(served: ServedStudy) -> StudyRow:
    found = attempt(study_row, served.study(""))
    row = unreadable_row(served.name, found.sentence) if isinstance(found, Unreadable) else found
    return replaced(row, slug=served.slug)


@router.get("/studies/{study}")
async def dashboard(request: Request, on: StudyDep) -> HTMLResponse:
    """A study, live."""
    shown = await watch_of(request, on.served).page()
    values = {"at": address(on), "parts": Markup(shown.markup), "proof": proof_of(request), "scripts": ["live.js"]}
    return page("study_live.html", shown.title, values)


def watch_of(request: Request, served: ServedStudy) -> Watch:
    """The one watch over a study."""
    held: dict[str, Watch] = request.app.state.watches
    return held.setdefault(served.slug, Watch(served))


@router.get("/studies/{study}/parts")
async def parts(request: Request, on: StudyDep) -> HTMLResponse:
    """The parts that change."""
    watch = watch_of(request, on.served)
    shown = watch.parts() or await watch.page()
    return HTMLResponse(shown.markup, headers={"x-state": shown.state})


@router.get("/studies/{study}/live")
async def live(request: Request, on: StudyDep) -> StreamingResponse:
    """Says when something has changed."""
    changes = watch_of(request, on.served).changes(request.app.state.tally, partial(stands, request))
    return StreamingResponse(changes, media_type="text/event-stream")


@router.get("/studies/{study}/events")
def events(on: StudyDep, before: Annotated[int | None, Query(ge=1, lt=2**62)] = None) -> HTMLResponse:
    """The log by pages, the latest first."""
    state, now, last = on.study.look()
    end = min(last, last if before is None else before - 1)
    start = max(0, end - PAGE)
    found = list(on.study.events(start, end - start))[::-1] if end > start else []
    rows, title = event_rows(found, state.spec, now), state.spec.title or f"Study {on.served.name}"
    values = {"at": address(on), "name": title, "rows": rows, "start": start, "end": end, "last": last, "page_size": PAGE}
    return page("events.html", "Events", values)


@router.get("/studies/{study}/report")
def report(on: StudyDep) -> HTMLResponse:
    """The report, to look at and to download."""
    title, sections, shown = report_of(on.study)
    return HTMLResponse(render(title, sections, page=shown, back=address(on)), headers=DRAWN)


@router.get("/studies/{study}/report.html")
def report_file(on: StudyDep) -> Response:
    """The report as one file."""
    title, sections, shown = report_of(on.study)
    text = render(title, sections, page=shown)
    return Response(text, media_type="text/html", headers=api.attached(f"{on.served.slug}-report.html"))


@router.get("/studies/{study}/export.csv")
async def export_csv(on: StudyDep) -> Response:
    """One row for each query."""
    return await api.export_csv(on)


@router.get("/studies/{study}/export.jsonl")
async def export_jsonl(on: StudyDep) -> Response:
    """One event on a line."""
    return await api.export_jsonl(on)


@router.post("/studies/{study}/ask")
def ask(on: StudyDep, form: Form) -> Response:
    """Issue the next query."""
    on.study.ask()
    return back_to(on)


@router.post("/studies/{study}/pause")
def pause(on: StudyDep, form: Form) -> Response:
    """Issue no more."""
    on.study.pause()
    return back_to(on)


@router.post("/studies/{study}/resume")
def resume(on: StudyDep, form: Form) -> Response:
    """Go on."""
    on.study.resume()
    return back_to(on)


@router.post("/studies/{study}/declare")
def declare(on: StudyDep, form: Form) -> Response:
    """Nothing is known any more of how a mediator chooses."""
    on.study.declare(form.get("value", ""))
    return back_to(on)


@router.post("/studies/{study}/cancel")
def cancel(on: StudyDep, form: Form) -> Response:
    """Withdraw a query."""
    number = form.get("value", "")
    on.study.cancel(int(number) if number.isdecimal() else -1)
    return back_to(on)


@router.post("/studies/{study}/succeed")
def succeed(on: StudyDep, form: Form) -> Response:
    """A mediator that has changed begins again under another name: what it does now is a policy of its own."""
    old, spec = form.get("value", ""), on.study.spec
    if old not in spec.mediators:
        raise StudyError(f"mediator {old!r} is not known")
    place = spec.mediators.index(old)
    new = next(name for i in count(2) if (name := f"{old} {i}") not in spec.mediators)
    on.study.add_mediator(new, cost=float(spec.cast.costs[place]), contact=spec.contacts[place])
    on.study.retire(old)
    return back_to(on)


def back_to(on: StudyRequest, where: str = "") -> Response:
    """The page of a study, or one under it."""
    return RedirectResponse(f"{address(on)}{where}", 303)
