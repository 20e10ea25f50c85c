"""REST for administrators: each route is one command or one view of a study, with the same arguments and the same answers."""

import tempfile
import zipfile
from collections.abc import Callable, Iterable
from io import BytesIO
from pathlib import Path
from typing import Annotated, Any
from urllib.parse import quote

from fastapi import APIRouter, Query, Request
from starlette.responses import Response, StreamingResponse

from gobetween import __version__
from gobetween.errors import StoreError
from gobetween.pages.exports import csv_blocks
from gobetween.service import models
from gobetween.service.call import Called, Json, home_of, queries, recorded, soon, who_of
from gobetween.service.home import Served, reachable, slug_of
from gobetween.service.refusals import ForbiddenError
from gobetween.study.opening import add_study
from gobetween.study.spec import parse_study

router = APIRouter(prefix="/api/v1", responses=models.REFUSALS)
ONE = "/studies/{study}"
PAGE = 1000  # events of one answer, at most


def _content(kind: str) -> dict[int | str, dict[str, Any]]:
    """An answer that is no JSON, for the OpenAPI document."""
    return {200: {"content": {kind: {}}}}


@router.get("/health", tags=["server"])
def health(request: Request) -> Json:
    """Does the server run, and do its stores answer? For everyone."""
    if not reachable(home_of(request)):
        raise StoreError("a store does not answer")
    return Json({"status": "ok", "version": __version__})


@router.get("/studies", tags=["studies"])
def studies(request: Request) -> Json:
    """The studies that this token is for; `study` is the name in addresses."""
    store = who_of(request).store
    found = [served for served in home_of(request).studies() if store in (None, served.store)]
    return Json({"studies": [summary(served) for served in found]})


@router.post("/studies", tags=["studies"], status_code=201)
def create(request: Request, body: models.New) -> Json:
    """Make a study; `study` has the shape of a study.toml."""
    who, store = who_of(request), home_of(request).makes
    if store is None or who.store not in (None, store):
        raise ForbiddenError("this server makes no studies: whoever runs it must name a store for them")
    spec = parse_study(body.study, "study")
    if spec.notify is not None and spec.notify.command:
        raise ForbiddenError("notify.command: a command is not taken from afar; write it into a study file where it is to run")
    add_study(store, body.name, spec)
    return Json(summary(home_of(request).find(slug_of(body.name))), 201)


def summary(served: Served) -> dict[str, object]:
    """What a list says of a study."""
    state, _, seq = served.study("").look()
    how = "stopped" if state.stopped is not None else "paused" if state.paused else "running"
    return {"study": served.slug, "name": served.name, "title": state.spec.title, "state": how, "events": seq}


@router.get(ONE, tags=["looking"])
def status(call: Called) -> Json:
    """The answer so far, and how far the study is from being sure."""
    return Json(call.study.status().to_dict())


@router.get(f"{ONE}/spec", tags=["looking"])
def spec(call: Called) -> Json:
    """What the study is about."""
    return Json({"spec": call.study.spec.to_dict()})


@router.get(f"{ONE}/pending", tags=["looking"])
def pending(call: Called) -> Json:
    """Open queries, oldest first."""
    return queries(call.study.pending())


@router.get(f"{ONE}/overdue", tags=["looking"])
def overdue(call: Called) -> Json:
    """Queries whose lease has ended without an answer."""
    return queries(call.study.overdue())


@router.get(f"{ONE}/events", tags=["looking"])
def events(
    call: Called,
    after: Annotated[int, Query(ge=0, lt=2**62, description="Only events after this number.")] = 0,
    limit: Annotated[int, Query(ge=1, le=PAGE)] = 100,
) -> Json:
    """The log by pages: go on with `after` set to `next`."""
    found = list(call.study.events(after, limit))
    return Json({"events": found, "next": found[-1]["seq"] if found else after})


@router.get(f"{ONE}/export.csv", tags=["looking"], response_class=Response, responses=_content("text/csv"))
def export_csv(call: Called) -> Response:
    """One row for each query."""
    return _file((text for _, text in csv_blocks(call.study)), "text/csv", f"{call.served.slug}.csv")


@router.get(f"{ONE}/export.jsonl", tags=["looking"], response_class=Response, responses=_content("application/x-ndjson"))
def export_jsonl(call: Called) -> Response:
    """One event on a line."""
    return _file((f"{line}\n" for line in call.study.lines()), "application/x-ndjson", f"{call.served.slug}.jsonl")


@router.get(f"{ONE}/report.zip", tags=["looking"], response_class=Response, responses=_content("application/zip"))
def report(call: Called) -> Response:
    """A folder with a page: the answer, the figures and what was recorded."""
    packed = BytesIO()
    with tempfile.TemporaryDirectory() as folder, zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        call.study.report(folder)
        for path in sorted(path for path in Path(folder).rglob("*") if path.is_file()):
            archive.write(path, path.relative_to(folder))
    name = f"{call.served.slug}-report.zip"
    return Response(packed.getvalue(), media_type="application/zip", headers=_attached(name))


def _file(lines: Iterable[str], kind: str, name: str) -> Response:
    return StreamingResponse(lines, media_type=f"{kind}; charset=utf-8", headers=_attached(name))


def _attached(name: str) -> dict[str, str]:
    return {"content-disposition": f"attachment; filename*=UTF-8''{quote(name)}"}


@router.post(f"{ONE}/ask", tags=["asking"])
async def ask(call: Called, body: models.Ask) -> Json:
    """Whom to ask next."""
    return queries(await soon(call, lambda study: study.ask(**body.model_dump(), key=call.key)))


@router.post(f"{ONE}/tell", tags=["asking"])
async def tell(call: Called, body: models.Tell) -> Json:
    """Record an answer; the same again changes nothing."""
    return recorded(await soon(call, lambda study: study.tell(**body.model_dump(), key=call.key)))


#: Verb → its tag, what it takes (None: nothing) and what it does: each is the command of a study by that name.
COMMANDS: dict[str, tuple[str, type[models.Body] | None, str]] = {
    "correct": ("asking", models.Correct, "Replace an answer that was wrong, or the mediator who gave it."),
    "void": ("asking", models.Void, "Take an answer out of the count."),
    "cancel": ("asking", models.Cancel, "Withdraw an open query."),
    "away": ("course", models.Presence, "Ask a mediator no more until it is back."),
    "back": ("course", models.Presence, "A mediator can be asked again."),
    "add-mediator": ("course", models.Join, "Take in one mediator more."),
    "retire": ("course", models.Retire, "Ask a mediator no more, or leave an arm out of the question."),
    "rename": ("course", models.Rename, "Another name for an arm or a mediator."),
    "pause": ("course", None, "Issue no more queries for now."),
    "resume": ("course", None, "Go on after a pause or a verdict."),
    "note": ("course", models.Note, "Write something into the log."),
}


def _route(verb: str, taken: type[models.Body] | None) -> Callable[..., Json]:
    name = verb.replace("-", "_")

    def plain(call: Called) -> Json:
        return recorded(getattr(call.study, name)(key=call.key))

    def route(call: Called, body: Any) -> Json:
        return recorded(getattr(call.study, name)(**body.model_dump(), key=call.key))

    route.__annotations__["body"] = taken
    made = plain if taken is None else route
    made.__name__ = name
    return made


for verb, (tag, taken, words) in COMMANDS.items():
    router.add_api_route(f"{ONE}/{verb}", _route(verb, taken), methods=["POST"], tags=[tag], description=words)
