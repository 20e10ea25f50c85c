"""What a connection may bring and how long it may take before it is a request: limits as nginx has them.

uvicorn bounds nothing of this; what comes after the head of a request is bounded by guard.py.
"""

import json
import socket
from asyncio import BaseTransport, TimerHandle
from typing import Any, ClassVar

from uvicorn.protocols.http.httptools_impl import STATUS_LINE, HttpToolsProtocol

from gobetween.service.errors import TooLargeError, error_body
from gobetween.service.guard import LARGEST

URL, HEADERS, HEAD = 8192, 100, 32768  # bytes of an address, headers, bytes of both with their names
SECONDS = 60.0  # for the whole head; and without a byte of the body, or without one that is read of an answer
LINGER = 2.0  # seconds in which whoever was refused may read why
CONNECTIONS = 800  # at the same time: files can be open besides, where 1,024 may be
ALIVE = {"SO_KEEPALIVE": 1, "TCP_KEEPIDLE": 60, "TCP_KEEPINTVL": 10, "TCP_KEEPCNT": 6}  # whoever is silently gone is noticed


def keep_alive(sock: socket.socket) -> None:
    """Let the system ask whether those who said nothing for long are there; connections have it from their listener."""
    for name, value in ALIVE.items():
        if hasattr(socket, name):
            level = socket.SOL_SOCKET if name.startswith("SO_") else socket.IPPROTO_TCP
            sock.setsockopt(level, getattr(socket, name), value)


class BoundedProtocol(HttpToolsProtocol):
    """One connection: head, body, answer, and again."""

    _in_head, _head, _body = True, 0, 0
    _messages: int = 0
    _refused: bool = False
    _timer: TimerHandle | None = None
    _stalled: TimerHandle | None = None
    _later: ClassVar[tuple[str, ...]] = ("_timer", "_stalled")

    def connection_made(self, transport: BaseTransport) -> None:
        """A new one; it has so long to say what it wants."""
        self.url, self.headers = b"", []
        super().connection_made(transport)  # type: ignore[arg-type]
        if len(self.connections) > CONNECTIONS:
            self._refuse(503, f"more than {CONNECTIONS} connections are open here: try again in a moment")
        else:
            self._timer = self.loop.call_later(SECONDS, self._too_slow)

    def connection_lost(self, exc: Exception | None) -> None:
        """Nothing is waited for any more."""
        for name in self._later:
            self._cancel(name)
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Bytes, which are counted as long as they are not known to be something else than a head."""
        if self._refused:
            return
        messages, in_head = self._messages, self._in_head
        super().data_received(data)
        if self._in_head and in_head and messages == self._messages:
            self._head += len(data)
            if (wrong := self._excess(self._head)) is not None:
                self._refuse(*wrong)
        if self._refused:
            return
        if not self._in_head:  # a body may take as long as it likes while it goes on
            self._cancel("_timer")
        if self._timer is None and (not self._in_head or self._head):
            self._timer = self.loop.call_later(SECONDS, self._too_slow)

    def _excess(self, head: int) -> tuple[int, str] | None:
        if len(self.url) > URL:
            return 414, f"the address is longer than {URL:,} bytes: send what is long in the body"
        if head > HEAD:
            return 431, f"the headers are larger than {HEAD:,} bytes: send fewer"
        if len(self.headers) > HEADERS:
            return 431, f"there are more than {HEADERS} headers: send fewer"
        return None

    def on_headers_complete(self) -> None:
        """A head is whole; is it one that is taken?"""
        self._in_head, self._head, self._body = False, 0, 0
        wrong = self._excess(len(self.url) + sum(len(name) + len(value) + 4 for name, value in self.headers))
        if wrong is None:
            super().on_headers_complete()
        else:
            self._refuse(*wrong)

    def on_body(self, body: bytes) -> None:
        """More of a body; whoever goes on sending after the answer that it is too large is cut off."""
        self._body += len(body)
        if self._body > 2 * LARGEST:
            self._cut()
        if not self._refused:
            super().on_body(body)

    def on_message_complete(self) -> None:
        """A request is whole; the next one may come."""
        self._in_head, self._messages = True, self._messages + 1
        if not self._refused:
            self._cancel("_timer")
            super().on_message_complete()

    def _too_slow(self) -> None:
        self._timer = None
        if self._in_head and not self._head:
            self.transport.close()  # has said nothing at all
        else:
            self._refuse(408, f"the request did not come within {SECONDS:g} s: send it at once")

    def send_400_response(self, msg: str) -> None:
        """What is no HTTP."""
        if not self._refused:
            self._refuse(400, "this is not HTTP/1.1: send a request as it says")

    def _refuse(self, status: int, sentence: str) -> None:
        """One sentence, and the end of the connection; where an answer has begun only that."""
        cycle: Any = self.cycle
        if cycle is not None and not cycle.response_complete:
            started, cycle.disconnected = cycle.response_started, True
            cycle.message_event.set()
            if started:
                return self._cut()
        if not self._refused:
            text = json.dumps(error_body(TooLargeError(sentence))).encode()
            lines = (
                b"content-type: application/json",
                b"content-length: %d" % len(text),
                b"connection: close",
                b"retry-after: 1",
            )
            self.transport.write(STATUS_LINE[status] + b"\r\n".join((*lines, b"", text)))
        return self._cut()

    def _cut(self) -> None:
        """What comes from now on is thrown away, for a while, so that what was answered can be read."""
        if not self._refused:
            self._refused = True
            self._cancel("_timer")
            if self.transport.can_write_eof():
                self.transport.write_eof()
            self._timer = self.loop.call_later(LINGER, self.transport.abort)

    def pause_writing(self) -> None:
        """Whoever has asked does not read; how long?"""
        super().pause_writing()
        self._watch(self.transport.get_write_buffer_size())

    def resume_writing(self) -> None:
        """It has read."""
        self._cancel("_stalled")
        super().resume_writing()

    def _watch(self, left: int) -> None:
        self._cancel("_stalled")
        self._stalled = self.loop.call_later(SECONDS, self._stall, left)

    def _stall(self, before: int) -> None:
        left = self.transport.get_write_buffer_size()
        if left < before:
            self._watch(left)
        elif left:
            self.transport.abort()

    def on_response_complete(self) -> None:
        """All is said; is it read, too?"""
        super().on_response_complete()
        if self._stalled is None and (left := self.transport.get_write_buffer_size()):
            self._watch(left)

    def _cancel(self, name: str) -> None:
        held: Any = getattr(self, name)
        if held is not None:
            held.cancel()
            setattr(self, name, None)
