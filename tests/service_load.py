"""Many clients from one thread, with as little work for each request as can be: what is measured is the server."""

import asyncio
import json
import random
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

from service_faults import ARMS, POLICIES


@dataclass
class Load:
    """What clients saw, and what they cost themselves."""

    seconds: float = 0.0
    own: float = 0.0
    """Seconds of processor time that the clients took."""
    told: int = 0
    asks: list[float] = field(default_factory=list)
    tells: list[float] = field(default_factory=list)

    @property
    def rate(self) -> float:
        """Tells in a second, with as many asks."""
        return self.told / self.seconds

    def p50(self, times: list[float]) -> float:
        """In milliseconds."""
        return 1e3 * sorted(times)[len(times) // 2]


class Wire:
    """One connection that is kept; speaks just enough HTTP."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, head: str) -> None:
        self._reader, self._writer, self._head = reader, writer, head

    async def post(self, what: str, body: dict[str, Any]) -> Any:
        data = json.dumps(body)
        self._writer.write(f"POST {self._head.format(what)}Content-Length: {len(data)}\r\n\r\n{data}".encode())
        head = (await self._reader.readuntil(b"\r\n\r\n")).decode("latin-1")
        length = int(head.lower().split("content-length: ")[1].split("\r\n")[0])
        answer = await self._reader.readexactly(length)
        assert head.startswith("HTTP/1.1 200"), (head, answer)
        return json.loads(answer)

    def close(self) -> None:
        self._writer.close()


async def wire(url: str, token: str) -> Wire:
    place = urlsplit(url)
    reader, writer = await asyncio.open_connection(place.hostname, place.port)
    lines = f"Host: {place.netloc}\r\nAuthorization: Bearer {token}\r\nContent-Type: application/json\r\n"
    return Wire(reader, writer, f"/api/v1/studies/study/{{}} HTTP/1.1\r\n{lines}")


async def _client(url: str, token: str, number: int, tells: int, found: Load) -> None:
    line, rng = await wire(url, token), random.Random(number)
    for _ in range(tells):
        since = time.perf_counter()
        (query,) = (await line.post("ask", {}))["queries"]
        found.asks.append(time.perf_counter() - since)
        arm = rng.choices(ARMS, POLICIES[query["mediator"]])[0]
        since = time.perf_counter()
        assert (await line.post("tell", {"query": query["id"], "arm": arm, "reward": float(rng.random() < 0.5)}))["recorded"]
        found.tells.append(time.perf_counter() - since)
        found.told += 1
    line.close()


def load(urls: list[str], token: str, clients: int, tells: int) -> Load:
    """Every client asks and tells so many times."""
    found = Load()

    async def run() -> None:
        since, own = time.perf_counter(), time.process_time()
        await asyncio.gather(*(_client(urls[i % len(urls)], token, i, tells, found) for i in range(clients)))
        found.seconds, found.own = time.perf_counter() - since, time.process_time() - own
        await asyncio.sleep(0.05)  # until all connections are closed

    asyncio.run(run())
    return found


async def _cookie(url: str, token: str) -> str:
    """What a browser holds that has opened the link of an administrator."""
    place, body = urlsplit(url), json.dumps({"token": token})
    reader, writer = await asyncio.open_connection(place.hostname, place.port)
    lines = f"Host: {place.netloc}\r\nOrigin: http://{place.netloc}\r\nContent-Type: application/json\r\n"
    writer.write(f"POST /enter HTTP/1.1\r\n{lines}Content-Length: {len(body)}\r\n\r\n{body}".encode())
    head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
    writer.close()
    return head.split("set-cookie: ")[1].split(";")[0]


async def _page(url: str, cookie: str, changes: list[int]) -> None:
    """A page that is open: hears of changes, and then gets its parts, as the script of the page does."""
    place = urlsplit(url)
    head = f"HTTP/1.1\r\nHost: {place.netloc}\r\nCookie: {cookie}\r\n\r\n"
    live, feed = await asyncio.open_connection(place.hostname, place.port)
    parts, ask = await asyncio.open_connection(place.hostname, place.port)
    try:
        feed.write(f"GET /studies/study/live {head}".encode())
        while True:
            if (await live.readline()).startswith(b"event: change"):
                changes[0] += 1
                ask.write(f"GET /studies/study/parts {head}".encode())
                said = (await parts.readuntil(b"\r\n\r\n")).decode("latin-1")
                await parts.readexactly(int(said.lower().split("content-length: ")[1].split("\r\n")[0]))
    finally:
        feed.close()
        ask.close()


@contextmanager
def open_pages(url: str, token: str, pages: int) -> Iterator[list[int]]:
    """So many pages look on; yields how many changes they were told of."""
    changes, loop = [0], asyncio.new_event_loop()
    tasks: list[asyncio.Task[None]] = []

    async def run() -> None:
        cookie = await _cookie(url, token)
        tasks.extend(asyncio.create_task(_page(url, cookie, changes)) for _ in range(pages))
        await asyncio.gather(*tasks, return_exceptions=True)
        await asyncio.sleep(0.1)  # until all connections are closed

    thread = threading.Thread(target=lambda: loop.run_until_complete(run()))
    thread.start()
    try:
        yield changes
    finally:
        loop.call_soon_threadsafe(lambda: [task.cancel() for task in tasks])
        thread.join()
        loop.close()
