"""Pages for administrators: the list of studies, a live page for each, its events, its report, and a few buttons."""

import html
from collections.abc import Sequence
from typing import Annotated

from fastapi import APIRouter, Query, Request
from starlette.concurrency import run_in_threadpool
from starlette.responses import HTMLResponse, RedirectResponse, Response, StreamingResponse

from gobetween.errors import StudyError
from gobetween.pages.blocks import Grid, Section
from gobetween.pages.html import section_html
from gobetween.pages.study import sections
from gobetween.pages.words import event_words
from gobetween.service import api
from gobetween.service.call import Called, home_of, who_of
from gobetween.service.entry import Form, proof_of
from gobetween.service.guard import POLICY, Address
from gobetween.service.home import Served
from gobetween.service.live import Watch
from gobetween.service.page import framed
from gobetween.study.tokens import new_token

PAGE = 100  # events of a page
DAYS = 90.0  # that a link is valid
DRAWN = {"content-security-policy": POLICY.replace("style-src 'self'", "style-src 'self' 'unsafe-inline'")}
router = APIRouter(include_in_schema=False)


def shown(title: str, body: str, scripts: Sequence[str] = (), status: int = 200) -> HTMLResponse:
    """A page for administrators; one with figures lets them be styled."""
    top = '<nav><a href="/">Studies</a></nav>'
    headers = DRAWN if "figures.js" in scripts else None
    return HTMLResponse(framed(title, f"{top}<h1>{html.escape(title)}</h1>{body}", scripts), status, headers)


@router.get("/")
def home(request: Request) -> HTMLResponse:
    """The studies."""
    store = who_of(request).store
    found = [api.summary(served) for served in home_of(request).studies() if store in (None, served.store)]
    rows = "".join(
        f'<li><a href="/studies/{html.escape(str(one["study"]))}">{html.escape(str(one["title"] or one["name"]))}</a> '
        f"<span class=soft>{html.escape(str(one['name']))}, {one['state']}, {one['events']:,} events</span></li>"
        for one in found
    )
    new = '<p><a href="/new">A new study, or what it would cost</a></p>'
    leave = f'<form method="post" action="/leave">{_proof(request)}<button>Leave</button></form>'
    empty = "<p>There is no study here yet.</p>"
    return shown("Studies", (f'<ul class="list">{rows}</ul>' if rows else empty) + new + leave)


@router.get("/studies/{study}")
async def dashboard(request: Request, call: Called) -> HTMLResponse:
    """A study, live."""
    page, at = await watch_of(request, call.served).page(), f"/studies/{call.served.slug}"
    spec = await run_in_threadpool(lambda: call.study.spec)
    title = spec.title or f"Study {call.served.name}"
    links = (("events", "events"), ("report", "report"), ("export.csv", "queries as CSV"), ("export.jsonl", "events as JSON"))
    listed = " · ".join(f'<a href="{at}/{path}">{words}</a>' for path, words in links)
    body = (
        f'<p class=soft role="status" id="connection">Connecting …</p>'
        f'<div id="live" data-live="{at}/live" data-parts="{at}/parts">{page.markup}</div>'
        f"<h2>Act</h2>{_buttons(request, call, spec.mediators)}<p>{listed}</p>"
    )
    return shown(title, body, ("plotly.min.js", "figures.js", "live.js"))


def _buttons(request: Request, call: Called, names: Sequence[str]) -> str:
    at = f"/studies/{call.served.slug}"
    buttons = "".join(
        f'<form method="post" action="{at}/{verb}">{_proof(request)}<button>{words}</button></form>'
        for verb, words in (("ask", "Ask the next query"), ("pause", "Pause"), ("resume", "Go on"))
    )
    options = "".join(f"<option>{html.escape(name)}</option>" for name in names)
    link = (
        f'<form method="post" action="{at}/link">{_proof(request)}<label>Personal link for '
        f'<select name="mediator">{options}</select></label> <button>Make it</button></form>'
    )
    return f'<div class="buttons">{buttons}</div>{link}'


def _proof(request: Request) -> str:
    return f'<input type="hidden" name="proof" value="{proof_of(request)}">'


def watch_of(request: Request, served: Served) -> Watch:
    """The one watch over a study."""
    held: dict[str, Watch] = request.app.state.watches
    return held.setdefault(served.slug, Watch(served))


@router.get("/studies/{study}/parts")
async def parts(request: Request, call: Called) -> HTMLResponse:
    """The parts that change."""
    watch = watch_of(request, call.served)
    page = watch.parts() or await watch.page()
    return HTMLResponse(page.markup, headers={"x-state": page.state})


@router.get("/studies/{study}/live")
async def live(request: Request, call: Called) -> StreamingResponse:
    """Says when something has changed."""
    changes = watch_of(request, call.served).changes(request.app.state.tally)
    return StreamingResponse(changes, media_type="text/event-stream")


@router.get("/studies/{study}/events")
def events(call: Called, before: Annotated[int | None, Query(ge=1, lt=2**62)] = None) -> HTMLResponse:
    """The log by pages, the latest first."""
    at, last = f"/studies/{call.served.slug}", call.study.look()[2]
    end = min(last, last if before is None else before - 1)
    start = max(0, end - PAGE)
    found = list(call.study.events(start, end - start))[::-1] if end > start else []
    grid = section_html(Section("", [Grid(["event"], [[event_words(event)] for event in found])]))
    older = f'<a href="{at}/events?before={start + 1}">Older</a>' if start else ""
    newer = f'<a href="{at}/events?before={end + PAGE + 1}">Newer</a>' if end < last else ""
    words = f"<p>Events {start + 1:,} to {end:,} of {last:,}.</p>" if found else "<p>Nothing has happened yet.</p>"
    pages = f'<p class="buttons">{newer} {older} <a href="{at}">Back to the study</a></p>'
    return shown("Events", words + (grid if found else "") + pages)


@router.get("/studies/{study}/report")
def report(call: Called) -> HTMLResponse:
    """The report, with all figures."""
    title, found = sections(call.study)
    return shown(title, "".join(map(section_html, found)), ("plotly.min.js", "figures.js"))


@router.get("/studies/{study}/export.csv")
def export_csv(call: Called) -> Response:
    """One row for each query."""
    return api.export_csv(call)


@router.get("/studies/{study}/export.jsonl")
def export_jsonl(call: Called) -> Response:
    """One event on a line."""
    return api.export_jsonl(call)


@router.post("/studies/{study}/ask")
def ask(call: Called, form: Form) -> Response:
    """Issue the next query."""
    call.study.ask()
    return _back(call)


@router.post("/studies/{study}/pause")
def pause(call: Called, form: Form) -> Response:
    """Issue no more."""
    call.study.pause()
    return _back(call)


@router.post("/studies/{study}/resume")
def resume(call: Called, form: Form) -> Response:
    """Go on."""
    call.study.resume()
    return _back(call)


@router.post("/studies/{study}/link")
def link(request: Request, call: Called, form: Form) -> Response:
    """A personal link for a mediator, shown once."""
    if not form.get("mediator"):
        raise StudyError("choose the mediator whose link it is")
    token, row = new_token(call.study, form["mediator"], DAYS)
    address: Address = request.app.state.address
    url = f"{address.base(request.headers['host'])}/enter#{token}"
    body = (
        f"<p>Pass this link on to {html.escape(form['mediator'])}; it is shown only now, and valid for {DAYS:.0f} days. "
        f"Whoever has it answers for {html.escape(form['mediator'])}.</p><p><code>{html.escape(url)}</code></p>"
        f"<p>Its number is {row.id}: whoever runs the server can revoke it.</p>"
        f'<p><a href="/studies/{call.served.slug}">Back to the study</a></p>'
    )
    return shown("A personal link", body)


def _back(call: Called) -> Response:
    return RedirectResponse(f"/studies/{call.served.slug}", 303)
