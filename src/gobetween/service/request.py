"""A request as routes see it: the study, who asks, the verb that is wanted; and how they answer."""

import asyncio
import json
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from inspect import getdoc
from typing import Annotated, Any, TypeVar

from fastapi import APIRouter, Depends, Request
from fastapi.routing import APIRoute
from pydantic import ValidationError
from starlette.concurrency import run_in_threadpool
from starlette.responses import Response

from gobetween.errors import ProblemError, spelled
from gobetween.export import json_safe
from gobetween.files.fields import show
from gobetween.service.access import Who
from gobetween.service.errors import ForbiddenError
from gobetween.service.models import Body
from gobetween.service.studies import ServedStudy, Studies
from gobetween.service.threads import WAITING, crowded
from gobetween.study.commands.command_queue import QueuedCommand
from gobetween.study.commands.commands import Command
from gobetween.study.commands.verb import Verb
from gobetween.study.find_study import add_study
from gobetween.study.spec.checks import check_text
from gobetween.study.spec.spec import StudySpec
from gobetween.study.study import Study

T = TypeVar("T")
V = TypeVar("V", bound=Verb[Any])
LONGEST_KEY, LONGEST_ACTOR = 400, 200  # characters
KEY = ("Idempotency-Key", "Makes the request safe to repeat.", LONGEST_KEY)
ACTOR = ("X-Actor", "Who does this, where not the token's owner.", LONGEST_ACTOR)


@dataclass(frozen=True)
class StudyRequest:
    """A study that is served, opened for whoever asks."""

    served: ServedStudy
    study: Study

    async def run(self, command: Command[T]) -> T:
        """What a command gives, without a thread that waits for it."""
        loop = asyncio.get_running_loop()
        if self.served.queue.waiting >= WAITING:
            raise crowded()
        job = QueuedCommand(command, self.study.actor, _waker(loop), loop.create_future())
        self.served.queue.submit(job)
        await job.future
        return job.result()


def studies_of(request: Request) -> Studies:
    """The studies of this server."""
    studies: Studies = request.app.state.studies
    return studies


def who_of(request: Request) -> Who:
    """Whom the guard has let in."""
    who: Who = request.state.who
    return who


def make_study(request: Request, name: str, spec: StudySpec) -> ServedStudy:
    """A new study, for administrators of the store where they are made."""
    store = studies_of(request).makes
    if store is None or who_of(request).store not in (None, store):
        raise ForbiddenError("this server creates no studies: its operator must name a store for them")
    if spec.notify is not None and spec.notify.command:
        raise ForbiddenError("notify.command: commands cannot be set over HTTP; write it into a study file on the server")
    studies_of(request).check_new(name)
    add_study(store, name, spec)
    studies_of(request).all()
    made = studies_of(request).named(store, name)
    assert made is not None
    return made


def header_of(request: Request, header: tuple[str, str, int]) -> str | None:
    """What a header says, if it is there."""
    name, _, longest = header
    found = request.headers.get(name)
    check_text(name, found, longest)
    return found


async def study_request(request: Request, study: str) -> StudyRequest:
    """On a study, by its name in addresses, for whoever the guard has let in."""
    studies, who = studies_of(request), who_of(request)
    served = studies.known(study)
    if served is None:
        served = await run_in_threadpool(studies.find, study)
    who.check(served)
    return StudyRequest(served, served.study(header_of(request, ACTOR) or who.label))


StudyDep = Annotated[StudyRequest, Depends(study_request)]


def verb_route(
    router: APIRouter, path: str, tag: str, verb: type[V], body: type[Body], act: Callable[[Request, V], Awaitable[Response]]
) -> None:
    """A route for a verb, described by its fields. What is sent is read here, as FastAPI would take as long as all else."""

    async def route(request: Request) -> Response:
        return await act(request, verb(**await _values(request, body), key=header_of(request, KEY)))

    on_study = (
        [_parameter("path", "study", "Its name in addresses."), _parameter("header", *ACTOR)] if "{study}" in path else []
    )
    described: dict[str, Any] = {"parameters": [*on_study, _parameter("header", *KEY)]}
    if body.model_fields:
        described["requestBody"] = {"required": True, "content": {"application/json": {"schema": body.model_json_schema()}}}
    route.__name__ = verb.word.replace("-", "_")
    about: dict[str, Any] = {"tags": [tag], "description": getdoc(verb), "openapi_extra": described}
    router.add_api_route(path, route, methods=["POST"], route_class_override=VerbRoute, **about)


class VerbRoute(APIRoute):
    """A route that has read its request itself, so that FastAPI has nothing left to do for it."""

    def get_route_handler(self) -> Callable[[Request], Any]:
        """The function as it is."""
        return self.endpoint


def _parameter(place: str, name: str, words: str, longest: int | None = None) -> dict[str, Any]:
    kind = {"type": "string"} | ({} if longest is None else {"maxLength": longest})
    return {"in": place, "name": name, "description": words, "required": place == "path", "schema": kind}


async def _values(request: Request, body: type[Body]) -> dict[str, Any]:
    """The arguments that were sent."""
    sent = await request.body()
    if not body.model_fields and not sent:
        return {}
    if not sent:
        raise ProblemError("the body is missing: send it")
    if not request.headers.get("content-type", "").lower().startswith("application/json"):
        raise ProblemError(NO_OBJECT)
    try:
        return vars(body.model_validate_json(sent))
    except ValidationError as error:
        raise mistake(error.errors(include_url=False)) from None


NO_OBJECT = "the body must be a JSON object: send one, with Content-Type: application/json"


def mistake(found: Sequence[Any], skip: int = 0) -> ProblemError:
    """Where the first mistake is, and what should be there; `skip` parts of its place say that it is in the body."""
    first, where = found[0], found[0]["loc"][skip:]
    name = spelled(tuple(part for part in where if isinstance(part, (int, str))))
    if first["type"] == "missing":
        return ProblemError(f"{name or 'the body'} is missing: send it")
    if first["type"] == "json_invalid" or not name or isinstance(where[0], int):
        return ProblemError(NO_OBJECT)
    words = str(first["msg"]).removeprefix("Input ")
    return ProblemError(f"{name} = {show(first.get('input'))}: {words[:1].lower()}{words[1:]}")


@cache
def _waker(loop: asyncio.AbstractEventLoop) -> Callable[[list[QueuedCommand[Any]]], None]:
    """Wakes a loop, once for many."""

    def wake(batch: list[QueuedCommand[Any]]) -> None:
        for job in batch:
            if not job.future.done():  # whoever waited may have gone
                job.future.set_result(None)

    def on_done(batch: list[QueuedCommand[Any]]) -> None:
        with suppress(RuntimeError):  # the loop has ended
            loop.call_soon_threadsafe(wake, batch)

    return on_done


class Json(Response):
    """An object, with `format` first; numbers that JSON does not know are null."""

    media_type = "application/json"

    def render(self, content: Any) -> bytes:
        """As the command line prints it."""
        return json.dumps(json_safe({"format": 1, **content}), ensure_ascii=False, allow_nan=False).encode()
