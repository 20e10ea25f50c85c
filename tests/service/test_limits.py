"""What a connection may bring and how long it may take: real sockets, and the memory of a real server."""

import json
import socket
import time
from collections.abc import Callable, Iterator
from contextlib import closing, suppress
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from service_faults import new_store, serving
from service_parts import Running, running, spec

import gobetween as gb
from gobetween.service import limits


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    path = str(tmp_path_factory.mktemp("limits") / "s.sqlite")
    gb.Study.create(path, spec()).close()
    with running(path) as made:
        yield made


def connected(base: str) -> socket.socket:
    place = urlsplit(base)
    made = socket.create_connection((place.hostname, place.port), timeout=30)
    made.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return made


def answer(sock: socket.socket) -> tuple[int, dict[str, Any]]:
    """All that comes until the end of the connection."""
    with closing(sock):
        whole = b""
        with suppress(ConnectionResetError):
            while part := sock.recv(65536):
                whole += part
    head, _, body = whole.partition(b"\r\n\r\n")
    return int(head.split()[1]), json.loads(body)


def ask(base: str, path: str = "/api/v1/health", headers: bytes = b"") -> tuple[int, dict[str, Any]]:
    sock = connected(base)
    host = urlsplit(base).netloc.encode()
    sock.sendall(b"GET " + path.encode() + b" HTTP/1.1\r\nHost: " + host + b"\r\nConnection: close\r\n" + headers + b"\r\n")
    return answer(sock)


CASES: dict[str, tuple[str, bytes, int, str]] = {
    "a long address": ("/x?" + "y" * limits.URL, b"", 414, "the address is longer than 8,192 bytes"),
    "a very long address": ("/" + "y" * 300_000, b"", 414, "the address is longer than 8,192 bytes"),
    "a long header": ("/", b"X-Long: " + b"y" * limits.HEAD + b"\r\n", 431, "the headers are larger than 32,768 bytes"),
    "many bytes": ("/", b"".join(b"X-%d: %s\r\n" % (i, b"y" * 1000) for i in range(40)), 431, "the headers are larger than"),
    "many headers": ("/", b"".join(b"X-%d: y\r\n" % i for i in range(101)), 431, "there are more than 100 headers"),
    "no HTTP": ("/", b"no colon\r\n", 400, "this is not HTTP/1.1"),
}


@pytest.mark.parametrize("case", CASES)
def test_what_is_too_large_is_refused_in_one_sentence(server: Running, case: str) -> None:
    path, headers, status, words = CASES[case]
    found, body = ask(server.base, path, headers)
    assert found == status
    assert body["error"]["sentence"].startswith(words)
    assert ask(server.base)[0] == 200


def test_what_just_fits_is_taken(server: Running) -> None:
    assert ask(server.base, "/api/v1/health?" + "y" * (limits.URL - 20))[0] == 200
    assert ask(server.base, headers=b"X-Long: " + b"y" * (limits.HEAD - 200) + b"\r\n")[0] == 200
    assert ask(server.base, headers=b"".join(b"X-%d: y\r\n" % i for i in range(90)))[0] == 200


def test_one_that_is_sent_byte_by_byte_and_several_at_once_are_understood(server: Running) -> None:
    host = urlsplit(server.base).netloc
    one = f"GET /api/v1/health HTTP/1.1\r\nHost: {host}\r\n\r\n".encode()
    with connected(server.base) as sock:
        for i in range(len(one)):
            sock.sendall(one[i : i + 1])
        sock.sendall(one * 3 + one.replace(b"\r\n\r\n", b"\r\nConnection: close\r\n\r\n"))
        whole = b""
        while part := sock.recv(65536):
            whole += part
    assert whole.count(b"HTTP/1.1 200") == 5


def begun(text: str) -> Callable[[Running], socket.socket]:
    def begin(server: Running) -> socket.socket:
        sock = connected(server.base)
        sock.sendall(text.format(host=urlsplit(server.base).netloc).encode())
        return sock

    return begin


SLOW = {
    "nothing": (begun(""), None),
    "empty lines": (begun("\r\n\r\n"), None),
    "half a head": (begun("GET /api/v1/health HTTP/1.1\r\nHost: {host}\r\nX-"), 408),
    "half a body": (begun("POST /enter HTTP/1.1\r\nHost: {host}\r\nOrigin: http://{host}\r\nContent-Length: 9\r\n\r\n{{"), 408),
}


@pytest.mark.parametrize("case", SLOW)
def test_what_does_not_come_is_not_waited_for(server: Running, case: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "SECONDS", 0.5)
    begin, status = SLOW[case]
    since = time.monotonic()
    sock = begin(server)
    if status is None:
        with sock:
            left = sock.recv(100)
            assert left == b"" or b" 408 " in left
    else:
        found, body = answer(sock)
        assert (found, body["error"]["sentence"]) == (408, "the request did not come within 0.5 s: send it at once")
    assert 0.4 < time.monotonic() - since < 20


def test_a_slow_head_has_one_time_for_all_of_it(server: Running, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "SECONDS", 0.6)
    with begun("GET / HTTP/1.1\r\n")(server) as sock:
        since = time.monotonic()
        with suppress(OSError):
            while time.monotonic() - since < 20:
                sock.sendall(b"X: y\r\n")
                sock.settimeout(0.1)
                with suppress(TimeoutError):
                    if sock.recv(12) == b"HTTP/1.1 408":
                        break
        assert time.monotonic() - since < 10


def test_whoever_does_not_read_is_cut_off(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "SECONDS", 0.5)
    path = str(tmp_path / "s.sqlite")
    with gb.Study.create(path, spec()) as study:
        from gobetween.study.journal.transaction import Transaction, state_of

        with study.store.writing(study.name) as record:
            tx = Transaction(record, state_of(record), "test")
            for _ in range(1500):
                tx.do("note", text="x" * 9_999)
            tx.keyed(0, "notes", "")
            tx.save()
    with running(path) as server:
        host = urlsplit(server.base).netloc
        line = f"GET /api/v1/studies/study/export.jsonl HTTP/1.1\r\nHost: {host}\r\nAuthorization: Bearer {server.access.first}\r\n\r\n"
        with socket.socket() as slow:
            slow.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            slow.connect((urlsplit(server.base).hostname, urlsplit(server.base).port))
            slow.settimeout(30)
            slow.sendall(line.encode())
            assert slow.recv(12) == b"HTTP/1.1 200"
            time.sleep(3)  # reads nothing
            got = 0
            with suppress(ConnectionResetError):
                while part := slow.recv(1 << 20):
                    got += len(part)
            assert got < 15_000_000
        with server.client() as client:  # whoever reads slowly, but reads, gets all of it
            whole = 0
            with client.stream("GET", "/api/v1/studies/study/export.jsonl") as answered:
                for block in answered.iter_bytes(1 << 21):
                    whole += len(block)
                    time.sleep(0.3)
            assert whole == int(answered.headers["content-length"]) > 15_000_000


def resident(pid: int) -> int:
    """Bytes of memory of a process."""
    return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * 4096


def test_a_huge_header_takes_no_memory_and_no_time_from_others(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GOBETWEEN_JIT", "off")
    where = str(tmp_path / "s.sqlite")
    token = new_store(where)
    with serving(where) as (one,):
        client = gb.Client(one.url, token, "study")
        client.status()
        assert one.process is not None
        before = resident(one.process.pid)
        for kind in (b"GET / HTTP/1.1\r\nX: ", b"GET /", b"POST /enter HTTP/1.1\r\nContent-Length: 99999999\r\n\r\n"):
            with connected(one.url) as sock, suppress(OSError):
                sock.sendall(kind)
                for _ in range(64):
                    sock.sendall(b"y" * (1 << 20))
            since = time.monotonic()
            client.status()
            assert time.monotonic() - since < 5
        assert resident(one.process.pid) - before < 16 << 20
