"""A server at work: where it listens, what it prints, how it ends."""

import logging
import socket
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from urllib.parse import urlsplit

import uvicorn

from gobetween.errors import Fix, GoBetweenError, StudyError
from gobetween.service.access import Access
from gobetween.service.app import make_app
from gobetween.service.guard import Address
from gobetween.service.limits import BoundedProtocol, keep_alive
from gobetween.service.studies import Studies, Unreadable, attempt
from gobetween.study.delivery import POLL, Deliverer
from gobetween.study.server_address import announced

LOOPBACK = ("127.0.0.1", "localhost", "::1")
SWITCH = 0.0005  # seconds after which a thread that computes lets another go on


def serve(
    studies: Studies,
    host: str,
    port: int,
    public_url: str | None,
    say: Callable[[str, str], None],
    commands: bool = False,
    lan: bool = False,
) -> None:
    """Listen until someone stops it; `say` is told the address and the link for the administrator.

    commands: may it run those that study files name? lan: shall phones and computers of the same network reach it?
    """
    if host not in LOOPBACK and public_url is None and not lan:
        raise StudyError(f"{host}: others can reach this address", fix=Fix("public-url"))
    origin, found = None if public_url is None else origin_of(public_url), lan_address() if lan else ""
    sock = listening("0.0.0.0" if lan else host, port)
    try:
        if lan:
            origin = origin or f"http://{found}:{sock.getsockname()[1]}"
        server, access = server_of(studies, sock, origin)
        base = origin or f"http://{'localhost' if host == '::1' else host}:{sock.getsockname()[1]}"
        say(base, f"{base}/enter#{access.first}")
        sys.setswitchinterval(SWITCH)
        with delivering(studies, commands), announced(list(studies.stores.values()), base):
            server.run(sockets=[sock])
    finally:
        sock.close()
        studies.close()


def server_of(studies: Studies, sock: socket.socket, origin: str | None = None) -> tuple[uvicorn.Server, Access]:
    """What listens at a socket, and who may use it."""
    access = Access(studies)
    app = make_app(studies, access, address_of(int(sock.getsockname()[1]), origin))[1]
    config = uvicorn.Config(
        app, http=BoundedProtocol, log_level="warning", access_log=False, server_header=False, lifespan="off"
    )
    config.timeout_graceful_shutdown = 2
    return uvicorn.Server(config), access


def lan_address() -> str:
    """The address of this machine in its own network; nothing is sent to find it."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        try:
            probe.connect(("192.0.2.1", 9))  # an address for examples: it only says which way out would be taken
            found = str(probe.getsockname()[0])
        except OSError:
            found = ""
    if not found or found.startswith(("127.", "0.")):
        raise StudyError("this machine is in no network: connect it first")
    return found


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
    return Address(frozenset(local if origin is None else local | {origin}), origin)


def listening(host: str, port: int) -> socket.socket:
    """A socket that waits for connections."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    sock = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)  # named, for asyncio to send without delay
    try:
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        keep_alive(sock)
        sock.bind((host, port))
        sock.listen(512)
        return sock
    except OSError as error:
        sock.close()
        raise StudyError(f"{host}:{port}: cannot listen there ({error.strerror}): choose another port or host") from None


log = logging.getLogger("gobetween")


@contextmanager
def delivering(studies: Studies, commands: bool = False) -> Iterator[None]:
    """In a thread, as long as this lasts."""
    over = threading.Event()
    thread = threading.Thread(target=_rounds, args=(studies, Deliverer(commands), over), daemon=True, name="reminders")
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join(POLL)


def _rounds(studies: Studies, deliverer: Deliverer, over: threading.Event) -> None:
    said = set[str]()
    while not over.wait(POLL):
        try:
            served = studies.all()
        except GoBetweenError as error:  # a store that is away for a moment
            log.warning("messages: %s", error)
            continue
        for one in served:
            found = attempt(deliverer.round, one.study("server"))
            for why in (found.sentence,) if isinstance(found, Unreadable) else found.why:
                words = f"messages of {one.name!r}: {why}"
                if words not in said:  # once: the status tells how many wait
                    said.add(words)
                    log.warning(words)
