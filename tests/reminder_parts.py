"""Receivers of messages on loopback: an HTTP server that fails, hangs and comes back, and a real mail server."""

import json
import ssl
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from email import message_from_bytes
from email.message import Message as Mail
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
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


def certificate(folder: Path, name: str = "IP:127.0.0.1") -> Path:
    """A file with a key and its certificate, which it has signed itself, for a name."""
    made, parts = folder / "certificate.pem", [folder / "key", folder / "signed"]
    command = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=test"]
    command += ["-addext", f"subjectAltName={name}", "-keyout", str(parts[0]), "-out", str(parts[1])]
    subprocess.run(command, check=True, capture_output=True)
    made.write_text("".join(part.read_text() for part in parts))
    return made


def _context(file: Path) -> ssl.SSLContext:
    made = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    made.load_cert_chain(file)
    return made


@contextmanager
def hook(tls: Path | None = None) -> Iterator[Hook]:
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
    if tls is not None:
        server.socket = _context(tls).wrap_socket(server.socket, server_side=True)
    thread = threading.Thread(target=server.serve_forever, args=(0.02,))
    thread.start()
    made.url = f"http{'s' if tls else ''}://127.0.0.1:{server.server_port}/hook?key=topsecret"
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
        self.passwords: list[bytes] = []

    async def handle_DATA(self, server: Any, session: Any, envelope: Any) -> str:
        if self.refuse:
            return self.refuse
        self.got.append((envelope.rcpt_tos, message_from_bytes(envelope.content)))
        return "250 taken"


@contextmanager
def post_office(tls: Path | None = None, scheme: str = "smtp") -> Iterator[Post]:
    from aiosmtpd.controller import Controller

    made = Post()

    def check(server: Any, session: Any, envelope: Any, mechanism: str, data: Any) -> Any:
        from aiosmtpd.smtp import AuthResult

        made.passwords.append(data.password)
        return AuthResult(success=(data.login, data.password) == (b"us@er", b"pass:word"), handled=False)

    options: dict[str, Any] = {} if tls is None else {"ssl_context" if scheme == "smtps" else "tls_context": _context(tls)}
    controller = Controller(made, hostname="127.0.0.1", port=0, authenticator=check, auth_require_tls=False, **options)
    controller.port = _free()
    controller.start()
    made.url = f"{scheme}://us%40er:pass%3Aword@127.0.0.1:{controller.port}"
    try:
        yield made
    finally:
        controller.stop()


def _free() -> int:
    import socket

    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
