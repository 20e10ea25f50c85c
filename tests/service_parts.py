"""A real server on loopback, in a thread of this process, over a store of its own."""

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import httpx

import gobetween as gb
from gobetween.service.access import Access
from gobetween.service.run import listening, server_of
from gobetween.service.studies import Studies
from gobetween.study.tokens import new_token

ARMS = ["letter", "call"]


def spec(**changes: Any) -> gb.StudySpec:
    terms: dict[str, Any] = {"family": "bernoulli", "title": "Reminders", "delta": 0.05, "silent": True}
    return gb.StudySpec(ARMS, {"North": None, "South": [0.5, 0.5]}, **terms | changes)


@dataclass
class Running:
    base: str
    studies: Studies
    access: Access

    def client(self, token: str | None = None, **headers: str) -> httpx.Client:
        """Speaks as the administrator, with another token, or ("") with none."""
        said = self.access.first if token is None else token
        more = {"authorization": f"Bearer {said}"} if said else {}
        return httpx.Client(base_url=self.base, headers=more | headers, timeout=30)

    def cookie(self, token: str | None = None, host: str | None = None) -> str:
        """What a browser holds that has opened the link of an administrator."""
        about = {} if host is None else {"host": host}
        with self.client("", origin=self.base if host is None else f"https://{host}", **about) as client:
            done = client.post("/enter", json={"token": self.access.first if token is None else token})
            return str(done.headers["set-cookie"]).partition(";")[0]

    def token(self, mediator: str | None, days: float | None = None, study: str = "study") -> str:
        return new_token(self.studies.find(study).study("test"), mediator, days)[0]


@contextmanager
def running(*places: str, store: str | None = None, port: int = 0, origin: str | None = None) -> Iterator[Running]:
    studies, sock = Studies(places, store), listening("127.0.0.1", port)
    server, access = server_of(studies, sock, origin)
    thread = threading.Thread(target=server.run, kwargs={"sockets": [sock]})
    thread.start()
    try:
        deadline = time.monotonic() + 20
        while not server.started:
            assert thread.is_alive(), "the server did not start"
            assert time.monotonic() < deadline, "the server did not start in time"
            time.sleep(0.01)
        yield Running(f"http://127.0.0.1:{sock.getsockname()[1]}", studies, access)
    finally:
        server.should_exit = True
        thread.join(20)
        sock.close()
        studies.close()
        assert not thread.is_alive(), "the server did not end"
