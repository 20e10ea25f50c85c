"""Pages keep themselves up to date for as long as somebody looks, also when everybody has left in between."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from service_parts import spec

import gobetween as gb
from gobetween.service.metrics import RequestCounts
from gobetween.service.studies import Studies
from gobetween.service.web import live
from gobetween.service.web.live import Watch

LONG = 20.0  # seconds in which anything must have happened


async def allowed() -> bool:
    return True


async def change(stream: AsyncIterator[str]) -> int:
    """The number of the event that the next change tells."""
    async for said in stream:
        if said.startswith("event: change"):
            return int(said.split("data: ")[1])
    raise AssertionError("the stream has ended")


async def until(happened: Callable[[], bool]) -> None:
    while not happened():
        await asyncio.sleep(0.01)


async def looked_on(studies: Studies, rounds: int) -> None:
    served, tally = studies.find("study"), RequestCounts()
    watch, study = Watch(served), served.study("test")
    for turn in range(rounds):
        streams: list[Any] = [watch.changes(tally, allowed) for _ in range(turn + 1)]
        assert [await anext(stream) for stream in streams] == ["retry: 2000\n\n"] * len(streams)
        assert tally.live == len(streams)
        waiting = [asyncio.create_task(change(stream)) for stream in streams]
        if turn == 0:
            assert await asyncio.gather(*waiting) == [0]  # the first look renders
            waiting = [asyncio.create_task(change(stream)) for stream in streams]
        await asyncio.sleep(0)  # all wait
        receipt = await asyncio.to_thread(study.note, f"note {turn}")
        assert receipt.recorded
        told = await asyncio.gather(*waiting)
        assert set(told) <= {turn, turn + 1}
        while max(told) < turn + 1:  # what was on its way came first
            told = [await change(streams[0])]
        parts = watch.parts()
        assert parts is not None
        assert parts.seq == turn + 1
        for stream in streams:
            await stream.aclose()
        assert tally.live == 0
        await until(lambda: watch._task is None)


def test_whoever_comes_when_all_had_left_is_told_of_changes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(live, "LOOK", 0.02)
    monkeypatch.setattr(live, "REST", 0.02)
    monkeypatch.setattr(live, "EACH", 0.0)
    path = str(tmp_path / "s.sqlite")
    gb.Study.create(path, spec(), "study").close()
    with closing(Studies((), path)) as studies:
        asyncio.run(asyncio.wait_for(looked_on(studies, 3), LONG))


async def pages(studies: Studies) -> list[int]:
    served = studies.find("study")
    watch, study = Watch(served), served.study("test")
    found = [(await watch.page()).seq]
    for text in ("one", "two"):
        await asyncio.to_thread(study.note, text)
        found.append((await watch.page()).seq)
    return found


def test_a_page_shows_what_was_recorded_just_before(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever answers and comes back to the page finds the answer there, however soon after another look."""
    monkeypatch.setattr(live, "LOOK", LONG)
    path = str(tmp_path / "s.sqlite")
    gb.Study.create(path, spec(), "study").close()
    with closing(Studies((), path)) as studies:
        assert asyncio.run(asyncio.wait_for(pages(studies), LONG)) == [0, 1, 2]
