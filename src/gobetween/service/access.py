"""Who is it? A token, from a header or a cookie, or the session of a browser, and what it is for."""

import threading
import time
from collections import OrderedDict
from dataclasses import dataclass
from typing import Any

from gobetween.errors import StoreError
from gobetween.service.errors import ForbiddenError, TooOftenError
from gobetween.service.studies import ServedStudy, Studies
from gobetween.study.journal.record import Store, TokenRow
from gobetween.study.tokens import FORM, SESSION, drawn, new_session, parts, proven, revoke

FRESH = 0.5  # seconds that a valid token is not looked up again
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

    def check(self, served: ServedStudy) -> None:
        """An administrator of another store knows nothing of this study."""
        if not self.admin or self.store not in (None, served.store):
            raise ForbiddenError(f"this token is not for study {served.slug!r}")


class OwnTokens:
    """The first token and its sessions: valid as long as the server runs."""

    def __init__(self) -> None:
        self._rows: dict[str, TokenRow] = {}
        self.now = time.time

    def tokens(self, number: str | None = None) -> list[TokenRow]:
        return [row for row in tuple(self._rows.values()) if number in (None, row.id)]

    def keep_token(self, row: TokenRow) -> None:
        self._rows[row.id] = row


class Access:
    """The tokens of all stores, and the one that was drawn when the server started."""

    def __init__(self, studies: Studies) -> None:
        self._studies = studies
        self._own = OwnTokens()
        self.first, number, held = drawn()
        self._own.keep_token(TokenRow(number, None, None, "admin", held, self._own.now(), None))
        self._fresh: OrderedDict[tuple[str, str], tuple[float, Who]] = OrderedDict()
        self._failed: OrderedDict[str, list[float]] = OrderedDict()
        self._lock, self._turns = threading.Lock(), [threading.Lock() for _ in range(TURNS)]

    def at_once(self, token: str, session: bool = False) -> Who | None:
        """Whose token or session it is, where that is known without a look into a store."""
        found = parts(token, SESSION if session else FORM)
        if found is None:
            return None
        with self._lock:
            since, known = self._fresh.get(found, (0.0, None))
        return known if time.monotonic() - since < FRESH else None

    def who(self, token: str, session: bool = False) -> Who | None:
        """Whose token or session it is; None where it is not valid."""
        known, found = self.at_once(token, session), parts(token, SESSION if session else FORM)
        if known is not None or found is None:
            return known
        with self._turns[hash(found) % TURNS]:  # of many that come with the same token one looks it up
            return self.at_once(token, session) or self._looked_up(*found)

    def _looked_up(self, number: str, held: str) -> Who | None:
        """In the store where it was found before, then in the others; one that is away takes nothing from them."""
        with self._lock:
            before = self._fresh.get((number, held))
        away: StoreError | None = None
        stores = (None, *self._studies.stores.values())  # none: the server's own tokens
        for store in sorted(stores, key=lambda one: before is None or before[1].store is not one):
            try:
                row = proven(store or self._own, number, held)
            except StoreError as error:
                away = error
                continue
            if row is not None:
                who = Who(row.id, row.label, store, row.study, row.mediator, row.expires)
                with self._lock:
                    self._fresh[number, held] = (time.monotonic(), who)
                    _forget(self._fresh)
                return who
        if away is not None:
            raise away
        with self._lock:
            self._fresh.pop((number, held), None)
        return None

    def log_in(self, who: Who) -> str:
        """A session for whoever has shown an administrator's token."""
        return new_session(who.store or self._own, who.id, who.label)

    def log_out(self, who: Who) -> None:
        """Its session is worthless from now on."""
        revoke(who.store or self._own, who.id)
        with self._lock:
            for key in [key for key in self._fresh if key[0] == who.id]:
                del self._fresh[key]

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


def _forget(held: OrderedDict[Any, Any]) -> None:
    while len(held) > MOST:
        held.popitem(last=False)
