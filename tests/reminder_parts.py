"""Receivers of messages on loopback: an HTTP server that fails, hangs and comes back, and a real mail server."""

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from email import message_from_bytes
from email.message import Message as Mail
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


class Hook:
    """Answers with `status`; 0: not at all, until it is released."""

    def __init__(self) -> None:
        self.status, self.released = 204, threading.Event()
        self.got: list[tuple[dict[str, str], bytes]] = []
        self.url = ""

    @property
    def bodies(self) -> list[dict[str, Any]]:
        return [json.loads(body) for _, body in self.got]


@contextmanager
def hook() -> Iterator[Hook]:
    made = Hook()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["content-length"]))
            made.got.append(({name.lower(): value for name, value in self.headers.items()}, body))
            if made.status == 0:
                made.released.wait(20)
                return
            self.send_response(made.status)
            self.send_header("location", "/elsewhere")
            self.end_headers()

        def log_message(self, *_: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, args=(0.02,))
    thread.start()
    made.url = f"http://127.0.0.1:{server.server_port}/hook?key=topsecret"
    try:
        yield made
    finally:
        made.released.set()
        server.shutdown()
        thread.join()
        server.server_close()


class Post:
    """A mail server's letters: to whom, and what. `refuse`: what it says instead of taking one."""

    def __init__(self) -> None:
        self.got: list[tuple[list[str], Mail]] = []
        self.refuse = ""
        self.url = ""

    async def handle_DATA(self, server: Any, session: Any, envelope: Any) -> str:
        if self.refuse:
            return self.refuse
        self.got.append((envelope.rcpt_tos, message_from_bytes(envelope.content)))
        return "250 taken"


@contextmanager
def post_office() -> Iterator[Post]:
    from aiosmtpd.controller import Controller

    made = Post()

    def check(server: Any, session: Any, envelope: Any, mechanism: str, data: Any) -> Any:
        from aiosmtpd.smtp import AuthResult

        return AuthResult(success=(data.login, data.password) == (b"us@er", b"pass:word"), handled=False)

    controller = Controller(made, hostname="127.0.0.1", port=0, authenticator=check, auth_require_tls=False)
    controller.port = _free()
    controller.start()
    made.url = f"smtp://us%40er:pass%3Aword@127.0.0.1:{controller.port}"
    try:
        yield made
    finally:
        controller.stop()


def _free() -> int:
    import socket

    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
