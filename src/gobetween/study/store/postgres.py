"""Connections to PostgreSQL that never wait for ever: neither for a lock, nor for a server that has stopped answering.

The bounds are set in the server, for it must also end the transaction of a client that has fallen asleep, and here, for a
server that is stopped cannot end anything.
"""

import time
from collections.abc import Generator
from typing import Any

import psycopg

TURN = 60.0  # seconds that a statement waits for a lock
SILENCE = 90.0  # seconds that a statement may take at all
ASLEEP = 60.0  # seconds that a writer may do nothing


class Connection(psycopg.Connection[Any]):
    """Gives up when the server says nothing for too long."""

    def wait(self, gen: Any, *arguments: Any, **options: Any) -> Any:
        """As psycopg waits, with an end."""
        return super().wait(self._until(gen, time.monotonic() + SILENCE), *arguments, **options)

    def _until(self, gen: Any, deadline: float) -> Generator[Any, Any, Any]:
        try:
            wanted = next(gen)
            while True:
                ready = yield wanted
                if not ready and time.monotonic() > deadline:
                    gen.close()
                    self.pgconn.finish()
                    raise psycopg.OperationalError(f"the server has not answered for {SILENCE:g} s")
                wanted = gen.send(ready)
        except StopIteration as end:
            return end.value


def bounds(options: str = "") -> dict[str, Any]:
    """How to connect; `options` are those of the URL, which prevail."""
    ours = f"-c lock_timeout={1000 * TURN:.0f} -c statement_timeout={1000 * SILENCE:.0f}"
    alive = {"keepalives": 1, "keepalives_idle": 10, "keepalives_interval": 5, "keepalives_count": 3}
    return {"connect_timeout": 5, "options": f"{ours} {options}".strip(), **alive}
