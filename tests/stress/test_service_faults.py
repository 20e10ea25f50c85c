"""The service at full size: killed servers, many clients, a long log, many open pages."""

import json
import os
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx
import pytest
from service_faults import kill_servers, new_store, serving
from service_load import Load, load, open_pages
from service_pressure import readers_who_do_not_read, writers_who_wait

import gobetween as gb

sys.path.insert(0, str(Path(__file__).parent.parent.parent / "benchmarks"))
Report = Callable[[str, float, str], None]
CLIENTS = 32
NAMES = {"sqlite": "SQLite", "postgres": "PostgreSQL (without fsync, as tests run it)"}


@pytest.fixture(autouse=True)
def patient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gobetween.study.client.PATIENCE", 120.0)  # a server that was killed takes a while on a busy machine


def kind(where: str) -> str:
    return NAMES["postgres" if where.startswith("postgresql") else "sqlite"]


def test_killed_servers(where: str, report: Report) -> None:
    since = time.perf_counter()
    told = kill_servers(where, CLIENTS, 1500, kills=50)
    assert told == CLIENTS * 1500
    words = f"all {told:,} acknowledged tells there exactly once, every query asked of one client, every later read by anyone shows them, doctor clean"
    report(f"kill -9 of 50 servers under {CLIENTS} clients × 1,500 tells, {kind(where)}", since, words)


def test_two_killed_servers(postgres: Any, report: Report) -> None:
    since = time.perf_counter()
    told = kill_servers(postgres.database(), CLIENTS, 1500, kills=50, servers=2)
    assert told == CLIENTS * 1500
    words = f"all {told:,} acknowledged tells there exactly once, every query asked of one client, every later read by anyone shows them, doctor clean"
    report(f"kill -9 of 50 servers, two over one PostgreSQL, under {CLIENTS} clients × 1,500 tells", since, words)


def cpu(process: Any) -> float:
    """Seconds of processor time that a process has had."""
    fields = Path(f"/proc/{process.pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def test_how_fast(where: str, report: Report) -> None:
    since, token = time.perf_counter(), new_store(where)
    with serving(where) as (server,):
        load([server.url], token, 1, 50)
        one, before = load([server.url], token, 1, 200), cpu(server.process)
        many = load([server.url], token, CLIENTS, 200)
        spent = cpu(server.process) - before
    words = (
        f"{many.rate:,.0f} tells/s and as many asks; {1e3 * spent / many.told:.2f} ms of processor time for both, the clients took "
        f"{1e3 * many.own / many.told:.2f} ms; ask p50 {many.p50(many.asks):.1f} ms, tell {many.p50(many.tells):.1f} ms; "
        f"one client: ask p50 {one.p50(one.asks):.1f} ms, tell {one.p50(one.tells):.1f} ms; "
        f"load of the machine {os.getloadavg()[0]:.1f}"
    )
    report(f"{CLIENTS} clients × 200 ask + tell by HTTP, {kind(where)}", since, words)
    assert many.told == CLIENTS * 200


def test_400_readers_who_do_not_read(where: str, report: Report) -> None:
    since = time.perf_counter()
    readers_who_do_not_read(where, 400)
    words = "no connection of the store held by them; health, lists, an export, ask and tell answered meanwhile and afterwards"
    report(f"400 clients that do not read an export of 8 MB, {kind(where)}", since, words)


def test_500_writers_who_wait(where: str, report: Report) -> None:
    since = time.perf_counter()
    writers_who_wait(where, 500)
    words = "health, lists, status and inbox answered meanwhile, and every write in the end"
    report(f"500 writes from pages and programs while somebody holds the store, {kind(where)}", since, words)


def test_a_million_events(tmp_path: Path, report: Report) -> None:
    from study import grow

    since = time.perf_counter()
    where = str(tmp_path / "study.sqlite")
    token = new_store(where)
    with gb.Study.open(where) as study:
        for query in study.ask(40):
            study.tell(query, arm="c" if query.mediator != "w" else "b", reward=query.id % 2)
    grow(tmp_path, 1_000_000)
    with serving(where) as (server,), httpx.Client(base_url=server.url, timeout=60) as client:
        client.headers["origin"] = server.url
        client.post("/enter", json={"token": token}).raise_for_status()
        bearer = {"authorization": f"Bearer {token}"}
        found = []
        for path, headers in (("/api/v1/studies/study", bearer), ("/studies/study", {}), ("/studies/study/events", {})):
            times = []
            for _ in range(40):
                began = time.perf_counter()
                client.get(path, headers=headers).raise_for_status()
                times.append(1e3 * (time.perf_counter() - began))
            found.append(f"{sorted(times)[37]:.0f} ms")
    words = "p95 of status {}, of the live page {}, of a page of events {}".format(*found)
    report(
        "status and pages of a study with 1,000,000 events, SQLite",
        since,
        f"{words}; load of the machine {os.getloadavg()[0]:.1f}",
    )


def test_many_open_pages(tmp_path: Path, report: Report) -> None:
    since, where = time.perf_counter(), str(tmp_path / "s.sqlite")
    token = new_store(where)
    with serving(where) as (server,):
        load([server.url], token, 8, 20)
        without, pages, spent = list[Load](), list[Load](), [cpu(server.process)]
        without.append(load([server.url], token, 8, 300))
        spent.append(cpu(server.process))
        with open_pages(server.url, token, 200) as changes:
            time.sleep(5)
            spent.append(cpu(server.process))
            pages += [load([server.url], token, 8, 300) for _ in range(2)]
            spent.append(cpu(server.process))
        without.append(load([server.url], token, 8, 300))
        spent.append(cpu(server.process))
    assert changes[0] >= 200
    before, after = (sum(one.told for one in found) / sum(one.seconds for one in found) for found in (without, pages))
    own = (spent[1] - spent[0] + spent[4] - spent[3], spent[3] - spent[2])
    work = "{:.2f} ms of the server's processor time for both without, {:.2f} with them".format(*(1e3 * s / 4800 for s in own))
    words = f"{before:,.0f} tells/s (and as many asks) without, {after:,.0f} with them, whose readers ran on the same two cores"
    report("8 clients while 200 live pages are open", since, f"{words}; {work}; load of the machine {os.getloadavg()[0]:.1f}")


def test_random_requests_never_break_a_server(tmp_path: Path, report: Report) -> None:
    """Any JSON at any route: a sentence with 4xx, or an answer; never 5xx."""
    import random

    since, where, rng = time.perf_counter(), str(tmp_path / "s.sqlite"), random.Random(1)
    token = new_store(where)
    values: list[Any] = [
        None,
        True,
        -1,
        0,
        1,
        2**63,
        10**40,
        0.5,
        1e308,
        "",
        "a",
        "w",
        "x" * 20_000,
        "\x00",
        "ü\u202e",
        [],
        {},
        ["a"],
        {"a": 1},
    ]
    counts: dict[int, int] = {}
    with (
        serving(where) as (server,),
        httpx.Client(base_url=server.url, timeout=60, headers={"authorization": f"Bearer {token}"}) as client,
    ):
        document = client.get("/api/v1/openapi.json").json()
        routes = [(method, path) for path, methods in document["paths"].items() for method in methods]
        shapes = document["components"]["schemas"]
        names = sorted({name for shape in shapes.values() for name in shape.get("properties", {})})
        for _ in range(5000):
            method, path = rng.choice(routes)
            body = {rng.choice(names): rng.choice(values) for _ in range(rng.randrange(5))}
            wanted = next(
                (shape for shape in shapes.values() if shape.get("title", "").lower() == path.rsplit("/", 1)[1]), None
            )
            if wanted and rng.random() < 0.7:
                body = {name: rng.choice(values) for name in wanted["properties"] if rng.random() < 0.7}
            at = path.replace("{study}", rng.choice(["study", "study", "none", "%2e%2e", "a b"]))
            query = (
                {"after": rng.choice(["0", "-1", "x", str(2**70)]), "limit": rng.choice(["1", "0", "x"])}
                if method == "get"
                else None
            )
            sent = json.dumps(body) if rng.random() < 0.9 else rng.choice(["", "{", "[1]", "NaN", '"x"'])
            answer = client.request(
                method.upper(), at, params=query, content=sent, headers={"content-type": "application/json"}
            )
            counts[answer.status_code // 100] = counts.get(answer.status_code // 100, 0) + 1
            assert answer.status_code < 500, (method, at, sent, answer.text)
    with gb.Study.open(where, "study") as study:
        assert study.doctor() == []
    words = f"{counts.get(2, 0):,} answered, {counts.get(4, 0):,} refused in one sentence, 0 of 5xx; doctor clean"
    report("5,000 random requests at all routes of the OpenAPI document", since, words)
