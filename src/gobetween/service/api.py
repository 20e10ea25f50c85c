"""REST for administrators: each route is one command or one view of a study, with the same arguments and the same answers."""

import tempfile
import zipfile
from collections.abc import AsyncIterator, Iterable
from io import BytesIO
from pathlib import Path
from typing import IO, Annotated, Any
from urllib.parse import quote

from fastapi import APIRouter, Query, Request
from starlette.concurrency import run_in_threadpool
from starlette.responses import Response, StreamingResponse
from starlette.types import Receive, Scope, Send

from gobetween import __version__
from gobetween.errors import StoreError
from gobetween.service import models
from gobetween.service.request import Json, StudyDep, make_study, studies_of, study_request, verb_route, who_of
from gobetween.service.studies import ServedStudy, Unreadable, attempt
from gobetween.service.threads import EXPORTS, HealthCheck, WriterRoute
from gobetween.study.commands.command_queue import MOVING
from gobetween.study.commands.commands import command_of
from gobetween.study.commands.study_verbs import STUDY
from gobetween.study.commands.verb import Verb
from gobetween.study.commands.verbs import ASKING, LIFECYCLE, Ask
from gobetween.study.query_export import csv_blocks
from gobetween.study.spec.spec import parse_study
from gobetween.study.study import Study

router = APIRouter(prefix="/api/v1", responses=models.REFUSALS, route_class=WriterRoute)
ONE = "/studies/{study}"
PAGE = 1000  # events of one answer, at most


async def _act(request: Request, verb: Verb[Any]) -> Json:
    """Any verb."""
    on = await study_request(request, request.path_params["study"])
    if verb.word in MOVING:
        studies_of(request).check_movable(on.served)
    answer = await on.run(command_of(verb))
    if verb.word in MOVING:
        await run_in_threadpool(studies_of(request).all)
    return Json(verb.to_json(answer))


# The first routes are found soonest: these are what programs want most.
for tag, verbs in (("asking", ASKING), ("lifecycle", LIFECYCLE), ("studies", STUDY)):
    for verb in verbs:
        verb_route(router, f"{ONE}/{verb.word}", tag, verb, models.body_of(verb), _act)


def _content(kind: str) -> dict[int | str, dict[str, Any]]:
    """An answer that is no JSON, for the OpenAPI document."""
    return {200: {"content": {kind: {}}}}


@router.get("/health", tags=["server"])
async def health(request: Request) -> Json:
    """Does the server run, and do its stores answer? For everyone."""
    check: HealthCheck = request.app.state.health
    if not await check.well():
        raise StoreError("a store does not answer")
    return Json({"status": "ok", "version": __version__})


@router.get("/studies", tags=["studies"])
def studies(request: Request, archived: bool = False) -> Json:
    """The studies that this token is for; `study` is the name in addresses. Those that are archived only where that is said."""
    return Json({"studies": listed(request, archived)})


def listed(request: Request, archived: bool = False) -> list[dict[str, Any]]:
    """What a list says of the studies that this token is for."""
    store = who_of(request).store
    found = [summary(served) for served in studies_of(request).all() if store in (None, served.store)]
    return [one for one in found if archived or not one["archived"]]


@router.post("/studies", tags=["studies"], status_code=201)
def create(request: Request, body: models.NewStudy) -> Json:
    """Make a study; `study` has the shape of a study.toml."""
    return Json(summary(make_study(request, body.name, parse_study(body.study, "study"))), 201)


def summary(served: ServedStudy) -> dict[str, Any]:
    """What a list says of a study; of one that cannot be read why."""
    found = attempt(Study.look, served.study(""))
    if isinstance(found, Unreadable):
        broken = {"title": "", "state": "unreadable", "archived": False, "events": 0, "error": found.sentence}
        return {"study": served.slug, "name": served.name, **broken}
    state, _, seq = found
    about = {"title": state.spec.title, "state": state.phase(), "archived": state.archived, "events": seq}
    return {"study": served.slug, "name": served.name, **about}


@router.get(ONE, tags=["looking"])
def status(on: StudyDep) -> Json:
    """The answer so far, and how far the study is from being sure."""
    return Json(on.study.status().to_dict())


@router.get(f"{ONE}/spec", tags=["looking"])
def spec(on: StudyDep) -> Json:
    """What the study is about."""
    return Json({"spec": on.study.spec.to_dict()})


@router.get(f"{ONE}/pending", tags=["looking"])
def pending(on: StudyDep) -> Json:
    """Open queries, oldest first."""
    return Json(Ask().to_json(on.study.pending()))


@router.get(f"{ONE}/overdue", tags=["looking"])
def overdue(on: StudyDep) -> Json:
    """Queries whose lease has ended without an answer."""
    return Json(Ask().to_json(on.study.overdue()))


@router.get(f"{ONE}/events", tags=["looking"])
def events(
    on: StudyDep,
    after: Annotated[int, Query(ge=0, lt=2**62, description="Only events after this number.")] = 0,
    limit: Annotated[int, Query(ge=1, le=PAGE)] = 100,
) -> Json:
    """The log by pages: go on with `after` set to `next`."""
    found = list(on.study.events(after, limit))
    return Json({"events": found, "next": found[-1]["seq"] if found else after})


@router.get(f"{ONE}/export.csv", tags=["looking"], response_class=Response, responses=_content("text/csv"))
async def export_csv(on: StudyDep) -> Response:
    """One row for each query."""
    return await _file((text for _, text in csv_blocks(on.study.export())), "text/csv", f"{on.served.slug}.csv")


@router.get(f"{ONE}/export.jsonl", tags=["looking"], response_class=Response, responses=_content("application/x-ndjson"))
async def export_jsonl(on: StudyDep) -> Response:
    """One event on a line."""
    return await _file((f"{line}\n" for line in on.study.lines()), "application/x-ndjson", f"{on.served.slug}.jsonl")


@router.get(f"{ONE}/report.zip", tags=["looking"], response_class=Response, responses=_content("application/zip"))
async def report(on: StudyDep) -> Response:
    """A folder with a page: the answer, the figures and what was recorded."""
    name = f"{on.served.slug}-report.zip"
    return Response(await EXPORTS.run(_packed, on.study), media_type="application/zip", headers=attached(name))


def _packed(study: Study) -> bytes:
    packed = BytesIO()
    with tempfile.TemporaryDirectory() as folder, zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        study.report(folder)
        for path in sorted(path for path in Path(folder).rglob("*") if path.is_file()):
            archive.write(path, path.relative_to(folder))
    return packed.getvalue()


async def _file(lines: Iterable[str], kind: str, name: str) -> Response:
    """Written down before it is sent: nobody who reads slowly holds a connection to the store."""
    return Spooled(await EXPORTS.run(_spooled, lines), f"{kind}; charset=utf-8", name)


def _spooled(lines: Iterable[str]) -> IO[bytes]:
    held: IO[bytes] = tempfile.SpooledTemporaryFile(1 << 20)  # of bytes in memory  # noqa: SIM115
    try:
        for line in lines:
            held.write(line.encode())
        return held
    except OSError as error:
        held.close()
        raise StoreError(f"the export cannot be written down ({error.strerror})") from None


class Spooled(StreamingResponse):
    """A temporary file, which is gone once it was sent or nobody wants it any more."""

    def __init__(self, held: IO[bytes], kind: str, name: str) -> None:
        self._held, length = held, held.tell()
        super().__init__(self._blocks(), media_type=kind, headers={**attached(name), "content-length": str(length)})

    async def _blocks(self) -> AsyncIterator[bytes]:
        self._held.seek(0)
        while block := self._held.read(1 << 16):
            yield block

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            await super().__call__(scope, receive, send)
        finally:
            self._held.close()


def attached(name: str) -> dict[str, str]:
    """A header that says: keep this as a file."""
    return {"content-disposition": f"attachment; filename*=UTF-8''{quote(name)}"}
