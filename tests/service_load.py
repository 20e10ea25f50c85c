"""Many clients from one thread, with as little work for each request as can be: what is measured is the server."""

import asyncio
import json
import random
import time
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


async def _client(url: str, token: str, number: int, tells: int, ready: list[int], found: Load) -> None:
    line, rng = await wire(url, token), random.Random(number)
    if ready:
        queries = ready
    for _ in range(tells):
        since = time.perf_counter()
        if ready:
            one: Any = {"id": queries.pop(), "mediator": ""}
        else:
            (one,) = (await line.post("ask", {}))["queries"]
            found.asks.append(time.perf_counter() - since)
        policy = POLICIES.get(one["mediator"], [0, 0.1, 0.8, 0.1])
        since = time.perf_counter()
        answer = {"query": one["id"], "arm": rng.choices(ARMS, policy)[0], "reward": float(rng.random() < 0.5)}
        if not one["mediator"]:
            answer["arm"] = "b" if answer["arm"] == "d" else answer["arm"]
        assert (await line.post("tell", answer))["recorded"]
        found.tells.append(time.perf_counter() - since)
        found.told += 1
    line.close()


def load(urls: list[str], token: str, clients: int, tells: int) -> Load:
    """Every client asks and tells so many times."""
    found = Load()

    async def run() -> None:
        since, own = time.perf_counter(), time.process_time()
        await asyncio.gather(*(_client(urls[i % len(urls)], token, i, tells, [], found) for i in range(clients)))
        found.seconds, found.own = time.perf_counter() - since, time.process_time() - own

    asyncio.run(run())
    return found
