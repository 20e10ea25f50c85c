"""A request as routes see it: the study, who asks, the idempotency key; and how they answer."""

import asyncio
import json
from collections.abc import Callable
from contextlib import suppress
from dataclasses import asdict, dataclass
from functools import cache
from typing import Annotated, Any, TypeVar, cast

from fastapi import Depends, Header, Request
from starlette.concurrency import run_in_threadpool
from starlette.responses import Response

from gobetween.export import json_safe
from gobetween.service.access import Who
from gobetween.service.home import Home, Served
from gobetween.study.checks import check_text
from gobetween.study.desk import Wanted
from gobetween.study.study import Study
from gobetween.study.transaction import Receipt, StudyQuery

T = TypeVar("T")


@dataclass(frozen=True)
class Call:
    """On which study, by whom, and under which key."""

    served: Served
    study: Study
    key: str | None


def home_of(request: Request) -> Home:
    """The studies of this server."""
    home: Home = request.app.state.home
    return home


def who_of(request: Request) -> Who:
    """Whom the guard has let in."""
    who: Who = request.state.who
    return who


LONGEST_KEY, LONGEST_ACTOR = 400, 200  # characters
DRAWN = "auto-"  # keys that a client draws for each command and tries again, of which its user knows nothing
Key = Annotated[str | None, Header(max_length=LONGEST_KEY, description="Makes the request safe to repeat.")]
Actor = Annotated[
    str | None, Header(alias="X-Actor", max_length=LONGEST_ACTOR, description="Who does this, where not the token's owner.")
]


async def call_of(request: Request, study: str, idempotency_key: Key = None, actor: Actor = None) -> Call:
    """What an administrator asks for; `study` is the name in the address."""
    home = home_of(request)
    served = home.known(study)
    if served is None:
        served = await run_in_threadpool(home.find, study)
    return call_for(served, who_of(request), idempotency_key, actor)


def call_for(served: Served, who: Who, key: str | None, actor: str | None) -> Call:
    """A call of somebody whom the guard has let in."""
    who.check(served)
    check_text("X-Actor", actor, LONGEST_ACTOR)
    made = served.study(actor or who.label)
    if key is None or not key.startswith(DRAWN):
        return Call(served, made, key)
    made.drawn = key
    return Call(served, made, None)


Called = Annotated[Call, Depends(call_of)]


class Noted(Study):
    """Writes down the command instead of carrying it out."""

    wanted: Wanted[Any] | None = None

    def _carry_out(self, wanted: Wanted[T]) -> T:
        self.wanted = wanted
        return cast(T, None)


async def soon(call: Call, act: Callable[[Study], T]) -> T:
    """What a command of a study gives, without a thread that waits for it: for what many want at once."""
    noted, loop = Noted(call.study.store, call.study.name, call.study.actor), asyncio.get_running_loop()
    noted.drawn = call.study.drawn
    act(noted)
    wanted: Wanted[T] | None = noted.wanted
    assert wanted is not None
    wanted.waiter, wanted.bell = loop.create_future(), _bell(loop)
    call.served.desk.later(wanted)
    await wanted.waiter
    if wanted.error is not None:
        raise wanted.error
    return cast(T, wanted.value)


@cache
def _bell(loop: asyncio.AbstractEventLoop) -> Callable[[list[Wanted[Any]]], None]:
    """Wakes a loop, once for many."""

    def wake(batch: list[Wanted[Any]]) -> None:
        for wanted in batch:
            if not wanted.waiter.done():  # whoever waited may have gone
                wanted.waiter.set_result(None)

    def ring(batch: list[Wanted[Any]]) -> None:
        with suppress(RuntimeError):  # the loop has ended
            loop.call_soon_threadsafe(wake, batch)

    return ring


class Json(Response):
    """An object, with `format` first; numbers that JSON does not know are null."""

    media_type = "application/json"

    def render(self, content: Any) -> bytes:
        """As the command line prints it."""
        return json.dumps(json_safe({"format": 1, **content}), ensure_ascii=False, allow_nan=False).encode()


def recorded(receipt: Receipt) -> Json:
    """What a command has brought about."""
    return Json(asdict(receipt))


def queries(asked: list[StudyQuery]) -> Json:
    """Queries, as the command line prints them."""
    return Json({"queries": [asdict(query) for query in asked]})
