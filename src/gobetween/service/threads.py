"""Threads of their own for what may wait or take long, so that readers always have theirs: writers, exports, health."""

import asyncio
from collections.abc import Callable
from functools import partial, wraps
from typing import Any, ParamSpec, TypeVar

from anyio import CapacityLimiter, to_thread
from anyio.lowlevel import RunVar
from fastapi.routing import APIRoute

from gobetween.errors import GoBetweenError, StoreError
from gobetween.service.studies import Studies

T = TypeVar("T")
P = ParamSpec("P")
WAITING = 1000  # that wait for a thread of one kind; more are told to come back
ANSWER = 5.0  # seconds in which stores have to answer to be well


class Threads:
    """So many of one kind, in each event loop."""

    def __init__(self, kind: str, most: int) -> None:
        self._most, self._limiter = most, RunVar[CapacityLimiter](kind)

    async def run(self, work: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """What a function gives that waits, without anything else waiting for it."""
        limiter = self._limiter.get(None)
        if limiter is None:
            limiter = CapacityLimiter(self._most)
            self._limiter.set(limiter)
        if limiter.statistics().tasks_waiting >= WAITING:
            raise crowded()
        return await to_thread.run_sync(partial(work, *args, **kwargs), limiter=limiter)


WRITERS, EXPORTS, HEALTH = Threads("writers", 32), Threads("exports", 2), Threads("health", 1)


def crowded() -> StoreError:
    """Too many wait already."""
    failure = StoreError(f"more than {WAITING:,} requests wait here already: nothing was recorded; try again in a moment")
    failure.passing = True
    return failure


class WriterRoute(APIRoute):
    """A route whose POST waits for its store among writers."""

    def __init__(self, path: str, endpoint: Callable[..., Any], **options: Any) -> None:
        waits = "POST" in (options.get("methods") or ()) and not asyncio.iscoroutinefunction(endpoint)
        super().__init__(path, _among_writers(endpoint) if waits else endpoint, **options)


def _among_writers(endpoint: Callable[P, T]) -> Callable[P, Any]:
    @wraps(endpoint)
    async def waiting(*args: P.args, **kwargs: P.kwargs) -> T:
        return await WRITERS.run(endpoint, *args, **kwargs)

    return waiting


class HealthCheck:
    """One look at all stores at a time, however many ask; what takes too long is not well."""

    def __init__(self, studies: Studies) -> None:
        self._studies, self._looking = studies, None

    _looking: asyncio.Future[bool] | None

    async def well(self) -> bool:
        """Do all stores answer?"""
        looking = self._looking
        if looking is None or looking.done():
            looking = self._looking = asyncio.ensure_future(HEALTH.run(_answer, self._studies))
        done, _ = await asyncio.wait({looking}, timeout=ANSWER)
        return bool(done) and looking.result()


def _answer(studies: Studies) -> bool:
    try:
        for store in studies.stores.values():
            store.now()
    except GoBetweenError:
        return False
    return True
