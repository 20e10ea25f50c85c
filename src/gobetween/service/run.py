"""A server at work: where it listens, what it prints, how it ends."""

import socket
import sys
from collections.abc import Callable
from urllib.parse import urlsplit

import uvicorn

from gobetween.errors import Fix, StudyError
from gobetween.service.access import Access
from gobetween.service.app import make_app
from gobetween.service.guard import Address
from gobetween.service.home import Home
from gobetween.service.reminders import delivering

LOOPBACK = ("127.0.0.1", "localhost", "::1")
SWITCH = 0.0005  # seconds after which a thread that computes lets another go on


def serve(
    home: Home, host: str, port: int, public_url: str | None, say: Callable[[str, str], None], commands: bool = False
) -> None:
    """Listen until someone stops it; `say` is told the address and the link for the administrator.

    commands: may it run those that study files name?
    """
    if host not in LOOPBACK and public_url is None:
        raise StudyError(f"{host}: others can reach that, and nobody has said by which name they do", fix=Fix("public-url"))
    origin = None if public_url is None else origin_of(public_url)
    sock = listening(host, port)
    try:
        server, access = server_of(home, sock, origin)
        base = origin or f"http://{'localhost' if host == '::1' else host}:{sock.getsockname()[1]}"
        say(base, f"{base}/enter#{access.first}")
        sys.setswitchinterval(SWITCH)
        with delivering(home, commands):
            server.run(sockets=[sock])
    finally:
        sock.close()
        home.close()


def server_of(home: Home, sock: socket.socket, origin: str | None = None) -> tuple[uvicorn.Server, Access]:
    """What listens at a socket, and who may use it."""
    access = Access(home)
    app = make_app(home, access, address_of(int(sock.getsockname()[1]), origin))[1]
    config = uvicorn.Config(app, log_level="warning", access_log=False, server_header=False, lifespan="off")
    config.timeout_graceful_shutdown = 2
    return uvicorn.Server(config), access


def origin_of(url: str) -> str:
    """Scheme and name of an address, as browsers say them."""
    found = urlsplit(url)
    if found.scheme not in ("http", "https") or not found.hostname or found.path not in ("", "/") or found.query or "@" in url:
        raise StudyError(f"public address {url!r}: write scheme and name only, such as https://studies.example.org")
    return f"{found.scheme}://{found.netloc.lower()}"


def address_of(port: int, origin: str | None) -> Address:
    """The names of this machine, and the one by which others know it."""
    end = "" if port == 80 else f":{port}"
    local = {f"http://{name}{end}" for name in ("127.0.0.1", "localhost", "[::1]")}
    return Address(frozenset(local if origin is None else local | {origin}))


def listening(host: str, port: int) -> socket.socket:
    """A socket that waits for connections."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    sock = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)  # named, for asyncio to send without delay
    try:
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        sock.bind((host, port))
        sock.listen(512)
        return sock
    except OSError as error:
        sock.close()
        raise StudyError(f"{host}:{port}: cannot listen there ({error.strerror}): choose another port or host") from None
