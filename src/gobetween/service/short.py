"""A short way for what programs do most, asking and telling, past the layers that other requests need.

It does what `api.ask` and `api.tell` do with a request that is in order; any other is left to them, as it came, to be refused
in their words.
"""

import json
import re
from collections.abc import Mapping
from typing import Any

from pydantic import ValidationError
from starlette.datastructures import Headers
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from gobetween.errors import GoBetweenError
from gobetween.service import models
from gobetween.service.call import LONGEST_ACTOR, LONGEST_KEY, call_for, queries, recorded, soon
from gobetween.service.guard import broken
from gobetween.service.home import Home

PATH = re.compile(r"/api/v1/studies/([^/]+)/(ask|tell)")


class ShortWay:
    """In front of the application, behind the guard."""

    def __init__(self, app: ASGIApp, home: Home) -> None:
        self._app, self._home = app, home

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        found = PATH.fullmatch(scope["path"]) if scope["type"] == "http" and scope["method"] == "POST" else None
        if found is None:
            await self._app(scope, receive, send)
            return
        body, last = await _whole(receive)
        try:
            answer = await self._answer(scope, found[1], found[2], body) if last["type"] == "http.request" else None
        except GoBetweenError:
            raise
        except Exception as error:
            answer = broken("POST", scope["path"], error)
        if answer is None:
            await self._app(scope, _again(body, last, receive), send)
        else:
            await answer(scope, receive, send)

    async def _answer(self, scope: Scope, slug: str, what: str, body: bytes) -> Response | None:
        """None where something is not in order, or has to be looked up first."""
        served, headers, values = self._home.known(slug), Headers(scope=scope), _values(what, body)
        key, actor = headers.get("idempotency-key"), headers.get("x-actor")
        plain = headers.get("content-type", "").startswith("application/json")
        if served is None or values is None or not plain or len(key or "") > LONGEST_KEY or len(actor or "") > LONGEST_ACTOR:
            return None
        call = call_for(served, scope["state"]["who"], key, actor)
        if what == "ask":
            return queries(await soon(call, lambda study: study.ask(**values, key=call.key)))
        return recorded(await soon(call, lambda study: study.tell(**values, key=call.key)))


def _values(what: str, body: bytes) -> Mapping[str, Any] | None:
    try:
        return (models.Ask if what == "ask" else models.Tell).model_validate(json.loads(body)).model_dump()
    except (ValidationError, ValueError, RecursionError):
        return None


async def _whole(receive: Receive) -> tuple[bytes, Message]:
    """The body, and the message that ended it."""
    parts = list[bytes]()
    while True:
        message = await receive()
        parts.append(message.get("body", b""))
        if not message.get("more_body", False):
            return b"".join(parts), message


def _again(body: bytes, last: Message, receive: Receive) -> Receive:
    """What was read, once more; then what comes after it."""
    held: list[Message] = [{**last, "body": body} if last["type"] == "http.request" else last]

    async def again() -> Message:
        return held.pop() if held else await receive()

    return again
