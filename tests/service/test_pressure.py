"""A server under pressure: slow readers, writers that wait, and what must go on all the same."""

import asyncio
from contextlib import ExitStack

import httpx
import pytest
from service_parts import Running, running, spec
from service_pressure import locked, readers_who_do_not_read, writers_who_wait

import gobetween as gb
from gobetween.service import threads


def test_readers_who_do_not_read_hold_nothing(where: str) -> None:
    readers_who_do_not_read(where, 32)


def test_writers_who_wait_keep_no_reader_waiting(where: str) -> None:
    writers_who_wait(where, 100)


def test_more_writers_than_can_wait_are_told_to_come_back(where: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gobetween.service.request.WAITING", 3)
    monkeypatch.setattr(threads, "WAITING", 3)
    gb.Study.create(where, spec()).close()
    with running(store=where) as server, ExitStack() as stack:
        stack.enter_context(locked(where))
        found = asyncio.run(_notes(server, stack))
        assert found.count(200) >= 4
        assert found.count(503) >= 4
        assert found.count(200) + found.count(503) == 12
        assert sum(event["kind"] == "note" for event in server.studies.find("study").study("x").events()) == found.count(200)


async def _notes(server: Running, stack: ExitStack) -> list[int]:
    about = {"authorization": f"Bearer {server.access.first}"}
    async with httpx.AsyncClient(base_url=server.base, headers=about, timeout=100) as client:
        writes = [asyncio.ensure_future(client.post("/api/v1/studies/study/note", json={"text": "x"})) for _ in range(12)]
        while sum(one.done() for one in writes) < 4:
            await asyncio.sleep(0.05)
        refused = next(one.result() for one in writes if one.done())
        assert refused.headers["retry-after"]
        assert "try again in a moment" in refused.json()["error"]["sentence"]
        stack.close()
        return [answer.status_code for answer in await asyncio.gather(*writes)]
