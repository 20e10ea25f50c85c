"""Messages of the studies that are served, delivered beside the requests."""

import logging
import threading
from collections.abc import Iterator
from contextlib import contextmanager

from gobetween.errors import GoBetweenError
from gobetween.service.home import Home
from gobetween.study.outbox import POLL, Deliverer

log = logging.getLogger("gobetween")


@contextmanager
def delivering(home: Home, commands: bool = False) -> Iterator[None]:
    """In a thread, as long as this lasts."""
    over = threading.Event()
    thread = threading.Thread(target=_rounds, args=(home, Deliverer(commands), over), daemon=True, name="reminders")
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join(POLL)


def _rounds(home: Home, deliverer: Deliverer, over: threading.Event) -> None:
    said = set[str]()
    while not over.wait(POLL):
        try:
            for served in home.studies():
                found = deliverer.round(served.study("server"))
                for words in (f"messages of {served.name!r}: {why}" for why in found.why):
                    if words not in said:  # once: the status tells how many wait
                        said.add(words)
                        log.warning(words)
        except GoBetweenError as error:  # a store that is away for a moment
            log.warning("messages: %s", error)
        except Exception:  # a bug, which must not end all deliveries
            log.exception("messages cannot be delivered")
