"""Slow readers and waiting writers of a server, as many as there shall be, and what must go on all the same."""

import asyncio
import gc
import hashlib
import hmac
import socket
import sqlite3
import time
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager
from typing import Any
from urllib.parse import urlsplit

import httpx
from service_parts import Running, running, spec

import gobetween as gb
from gobetween.study.journal.transaction import Transaction, state_of

SOON = 10.0  # seconds, on a busy machine; what hangs takes thirty and more


@contextmanager
def locked(where: str) -> Iterator[None]:
    """Somebody else writes, and does not come to an end."""
    if "://" not in where:
        with closing(sqlite3.connect(where, isolation_level=None)) as other:
            other.execute("BEGIN IMMEDIATE")
            yield
            other.execute("ROLLBACK")
        return
    import psycopg

    with psycopg.connect(where) as held:
        held.execute("SELECT id FROM studies FOR UPDATE")
        yield
        held.rollback()


def goes_on(server: Running, *paths: str) -> None:
    """Readers and health are answered soon, as if there were nobody else."""
    with server.client() as client:
        for path in ("/api/v1/health", "/api/v1/studies", "/api/v1/studies/study", *paths):
            since = time.monotonic()
            assert client.get(path, timeout=SOON).status_code == 200
            assert time.monotonic() - since < SOON, path


def held_connections(server: Running) -> int:
    return sum(store._engine.pool.checkedout() for store in server.studies.stores.values())  # type: ignore[attr-defined]


def readers_who_do_not_read(where: str, clients: int) -> None:
    """They hold no connection to the store, and all others are answered."""
    with gb.Study.create(where, spec(in_flight=1)) as study, study.store.writing(study.name) as record:
        tx = Transaction(record, state_of(record), "test")
        for _ in range(800):
            tx.do("note", text="x" * 9_999)
        tx.keyed(0, "notes", "")
        tx.save()
    with running(store=where) as server, ExitStack() as stack:
        place = urlsplit(server.base)
        head = f"Host: {place.netloc}\r\nAuthorization: Bearer {server.access.first}\r\n\r\n"
        for i in range(clients):
            slow = stack.enter_context(socket.socket())
            slow.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            slow.settimeout(60)
            slow.connect((place.hostname, place.port))
            kind = ("jsonl", "csv")[i % 8 == 7]
            slow.sendall(f"GET /api/v1/studies/study/export.{kind} HTTP/1.1\r\n{head}".encode())
            assert slow.recv(12) == b"HTTP/1.1 200"  # it is on its way
        assert held_connections(server) == 0
        goes_on(server, "/api/v1/studies/study/export.jsonl")
        with server.client() as client:
            client.timeout = httpx.Timeout(SOON)
            number = client.post("/api/v1/studies/study/ask", json={}).json()["queries"][0]["id"]
            assert client.post("/api/v1/studies/study/tell", json={"query": number, "silent": True}).json()["recorded"]
        stack.close()
        goes_on(server)
        gc.collect()
        assert held_connections(server) == 0


async def many_writes(server: Running, count: int, cookie: str, token: str, numbers: list[int], over: Any) -> list[int]:
    """From pages and programs, all at once; `over` ends what they wait for."""
    limits = httpx.Limits(max_connections=None)
    secret, place = cookie.partition("=")[2], cookie.partition("=")[0]
    proof = hmac.new(secret.encode(), b"form", hashlib.sha256).hexdigest()[:32]
    number = secret.split("_")[1]
    async with httpx.AsyncClient(base_url=server.base, limits=limits, timeout=100) as client:
        said = {"origin": server.base, "cookie": f"{place}={secret}"}

        async def one(i: int) -> int:
            if i % 2:
                form = {"proof": proof, "query": str(numbers[i]), "silent": "yes"}
                return (await client.post(f"/inbox/{number}/tell", data=form, headers=said)).status_code
            about = {"authorization": f"Bearer {token}"}
            body = {"query": numbers[i], "silent": True}
            return (await client.post("/api/v1/inbox/tell", json=body, headers=about)).status_code

        writes = [asyncio.ensure_future(one(i)) for i in range(count)]
        await asyncio.sleep(0.5)
        while sum(not one.done() for one in writes) < count:
            raise AssertionError([one.result() for one in writes if one.done()])
        await asyncio.to_thread(goes_on, server, "/api/v1/studies/study/pending")
        box = {"authorization": f"Bearer {token}"}
        assert (await client.get("/api/v1/inbox", headers=box, timeout=SOON)).status_code == 200
        assert (await client.get(f"/inbox/{number}", headers=said, timeout=SOON)).status_code == 200
        over()
        return list(await asyncio.gather(*writes))


def writers_who_wait(where: str, count: int) -> None:
    """For a store that somebody holds: readers and health are answered meanwhile, and every write in the end."""
    with gb.Study.create(where, gb.StudySpec(["a", "b"], {"North": None}, family="bernoulli", silent=True)) as study:
        numbers = [query.id for query in study.ask(count)]
    with running(store=where) as server, ExitStack() as stack:
        token = server.token("North")
        with server.client("", origin=server.base) as client:
            cookie = client.post("/enter", json={"token": token}).headers["set-cookie"].partition(";")[0]
        stack.enter_context(locked(where))
        found = asyncio.run(many_writes(server, count, cookie, token, numbers, stack.close))
        assert set(found) == {200, 303}
        assert len(server.studies.find("study").study("x").pending()) == 0
