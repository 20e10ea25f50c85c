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
from gobetween.service.home import Home
from gobetween.service.run import listening, server_of
from gobetween.study.tokens import new_token

ARMS = ["letter", "call"]


def spec(**changes: Any) -> gb.StudySpec:
    terms: dict[str, Any] = {"family": "bernoulli", "title": "Reminders", "delta": 0.05, "silent": True}
    return gb.StudySpec(ARMS, {"North": None, "South": [0.5, 0.5]}, **terms | changes)


@dataclass
class Running:
    base: str
    home: Home
    access: Access

    def client(self, token: str | None = None, **headers: str) -> httpx.Client:
        """Speaks as the administrator, with another token, or ("") with none."""
        said = self.access.first if token is None else token
        more = {"authorization": f"Bearer {said}"} if said else {}
        return httpx.Client(base_url=self.base, headers=more | headers, timeout=30)

    def token(self, mediator: str | None, days: float | None = None, study: str = "study") -> str:
        return new_token(self.home.find(study).study("test"), mediator, days)[0]


@contextmanager
def running(*places: str, store: str | None = None, port: int = 0, origin: str | None = None) -> Iterator[Running]:
    home, sock = Home(places, store), listening("127.0.0.1", port)
    server, access = server_of(home, sock, origin)
    thread = threading.Thread(target=server.run, kwargs={"sockets": [sock]})
    thread.start()
    try:
        deadline = time.monotonic() + 20
        while not server.started and time.monotonic() < deadline:
            time.sleep(0.01)
        yield Running(f"http://127.0.0.1:{sock.getsockname()[1]}", home, access)
    finally:
        server.should_exit = True
        thread.join(20)
        sock.close()
        home.close()
