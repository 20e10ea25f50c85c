"""Who is it? A token, from a header or a cookie, and what it is for."""

import hmac
import threading
import time
from collections import OrderedDict
from dataclasses import dataclass
from typing import Any

from gobetween.service.home import Home, Served
from gobetween.service.refusals import ForbiddenError, TooOftenError
from gobetween.study.record import Store, TokenRow
from gobetween.study.tokens import drawn, parts, proves

FRESH = 1.0  # seconds that a valid token is not looked up again
FAILURES, WINDOW = 20, 60.0  # so many tokens that are not valid are answered as such, of an address in so many seconds
TURNS = 64  # tokens that are looked up at the same time
MOST = 10_000  # addresses and tokens that are remembered


@dataclass(frozen=True)
class Who:
    """An administrator, of all stores or of one, or a mediator."""

    id: str
    label: str
    store: Store | None = None
    study: str | None = None
    mediator: int | None = None
    expires: float | None = None

    @property
    def admin(self) -> bool:
        """May it do everything?"""
        return self.study is None

    def check(self, served: Served) -> None:
        """An administrator of another store knows nothing of this study."""
        if not self.admin or self.store not in (None, served.store):
            raise ForbiddenError(f"this token is not for study {served.slug!r}")


class Access:
    """The tokens of all stores, and the one that was drawn when the server started."""

    def __init__(self, home: Home) -> None:
        self._home = home
        self.first, self._id, self._digest = drawn()
        """Valid as long as the server runs; it is in no store."""
        self._fresh: OrderedDict[tuple[str, str], tuple[float, Who]] = OrderedDict()
        self._failed: OrderedDict[str, list[float]] = OrderedDict()
        self._lock, self._turns = threading.Lock(), [threading.Lock() for _ in range(TURNS)]

    def at_once(self, token: str) -> Who | None:
        """Whose token it is, where that is known without a look into a store."""
        found = parts(token)
        if found is None:
            return None
        if found[0] == self._id:
            return Who(self._id, "admin") if hmac.compare_digest(found[1], self._digest) else None
        with self._lock:
            since, known = self._fresh.get(found, (0.0, None))
        return known if time.monotonic() - since < FRESH else None

    def who(self, token: str) -> Who | None:
        """Whose token it is; None where it is not valid."""
        known, found = self.at_once(token), parts(token)
        if known is not None or found is None:
            return known
        with self._turns[hash(found) % TURNS]:  # of many that come with the same token one looks it up
            return self.at_once(token) or self._looked_up(*found)

    def _looked_up(self, number: str, held: str) -> Who | None:
        for store in self._home.stores.values():
            for row in store.tokens(number):
                if proves(row, held, store.now()):
                    who = _who(row, store)
                    with self._lock:
                        self._fresh[number, held] = (time.monotonic(), who)
                        _forget(self._fresh)
                    return who
        with self._lock:
            self._fresh.pop((number, held), None)
        return None

    def failed(self, address: str) -> None:
        """A token from there was not valid; one that is valid is never refused, however many others were not."""
        now = time.monotonic()
        with self._lock:
            times = [at for at in self._failed.pop(address, []) if now - at < WINDOW]
            self._failed[address] = [*times, now][-FAILURES - 1 :]
            _forget(self._failed)
            often = len(self._failed[address]) > FAILURES
        if often:
            raise TooOftenError("too many tokens that are not valid came from your address: wait a minute")


def _who(row: TokenRow, store: Store) -> Who:
    return Who(row.id, row.label, store, row.study, row.mediator, row.expires)


def _forget(held: OrderedDict[Any, Any]) -> None:
    while len(held) > MOST:
        held.popitem(last=False)
