"""Live pages: one watch for each study that somebody looks at, however many look; a page is rendered once for all of them."""

import asyncio
import logging
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass

from starlette.concurrency import run_in_threadpool

from gobetween.errors import GoBetweenError
from gobetween.pages.study.page import EVENTS, study_page
from gobetween.pages.templates import filled
from gobetween.service.metrics import RequestCounts
from gobetween.service.studies import ServedStudy

log = logging.getLogger("gobetween")
EACH = 0.02  # seconds between changes for each page that is open: every one of them comes for its parts
LONGEST = 6.0  # seconds that a page is left as it is, however long rendering takes
CHECK = 0.4  # seconds after which who looks is asked for again
LOOK, REST, STALE, ALIVE = 0.5, 2.0, 60.0, 15.0  # seconds between looks, changes, renderings of the same, signs of life


@dataclass(frozen=True)
class RenderedPage:
    """The parts of a page, after an event."""

    seq: int
    at: float
    markup: str
    state: str
    title: str


class Watch:
    """One study: looks at its log while someone is there, and wakes them when it has grown."""

    def __init__(self, served: ServedStudy) -> None:
        self.served = served
        self._rendered: RenderedPage | None = None
        self._changed = asyncio.Condition()
        self._there = 0
        self._task: asyncio.Task[None] | None = None

    async def page(self) -> RenderedPage:
        """The page as it is now."""
        seq, held = await run_in_threadpool(_seq, self.served), self._rendered
        if held is None or held.seq != seq or time.monotonic() - held.at > LOOK:
            self._rendered = held = await run_in_threadpool(render, self.served)
        return held

    def parts(self) -> RenderedPage | None:
        """What was rendered last, for those who were woken."""
        return self._rendered

    async def changes(self, tally: RequestCounts, stands: Callable[[], Awaitable[bool]]) -> AsyncIterator[str]:
        """Server-sent events: the number of the last event, whenever there are new ones, for as long as who looks may look."""
        self._there += 1
        tally.live += 1
        if self._task is None:
            self._task = asyncio.create_task(self._look())
        try:
            yield "retry: 2000\n\n"
            said = time.monotonic()
            while await stands():
                try:
                    async with self._changed:
                        await asyncio.wait_for(self._changed.wait(), CHECK)
                    yield f"event: change\ndata: {self._rendered.seq if self._rendered else 0}\n\n"
                except TimeoutError:
                    if time.monotonic() - said < ALIVE:
                        continue
                    yield ": still here\n\n"
                said = time.monotonic()
        finally:
            self._there -= 1
            tally.live -= 1

    async def _look(self) -> None:
        """While someone is there."""
        while self._there:
            rest = LOOK
            try:
                seq, held = await run_in_threadpool(_seq, self.served), self._rendered
                if held is None or held.seq != seq or time.monotonic() - held.at > STALE:
                    since = time.monotonic()
                    self._rendered = await run_in_threadpool(render, self.served)
                    took = time.monotonic() - since
                    rest = min(LONGEST, max(REST, EACH * self._there, 10 * took))  # a tenth of the time, but for the first
                    async with self._changed:
                        self._changed.notify_all()
            except GoBetweenError:  # the store is away for a moment
                rest = REST
            except Exception:  # a bug, which must not leave pages behind for good
                log.exception("the page of %s cannot be rendered", self.served.name)
                rest = ALIVE
            await asyncio.sleep(rest)
        self._task = None


def _seq(served: ServedStudy) -> int:
    with served.store.reading(served.name) as record:
        return record.seq


def render(served: ServedStudy) -> RenderedPage:
    """All parts of a page, each under its name."""
    page = study_page(served.study("").view(EVENTS))
    return RenderedPage(
        page.events, time.monotonic(), filled("study.html", page=page, at=f"/studies/{served.slug}"), page.state, page.title
    )
