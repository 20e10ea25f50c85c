"""What a study asks of a store: one study's record, read or written in a transaction. Stores are in `gobetween.study.store`."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any, Protocol

from gobetween.study.notify.messages import Message, Undelivered

PATIENCE = 15.0  # seconds to wait for a database that went away, that is starting or that has no connection to spare


@dataclass(slots=True)
class Open:
    """A query that has not been answered."""

    mediator: str
    asked: float
    until: float | None
    worker: str | None
    reissue_of: int | None
    expired: bool = False


@dataclass(frozen=True)
class QueryRow:
    """All that is known of a query: what it takes to repeat, correct or refuse an answer. Mediator and arm by their place."""

    query: int
    mediator: int
    status: str  # open, told, silent, cancelled or expired
    slot: int | None
    arm: int | None
    reward: float | None
    worker: str | None


@dataclass(frozen=True)
class TokenRow:
    """What is kept of a token: all but the token."""

    id: str
    study: str | None  # none: the whole store, as its administrator
    mediator: int | None  # the place of the mediator whose inbox it opens, which a new name does not change
    label: str
    digest: str
    made: float
    expires: float | None
    revoked: float | None = None


class StudyRecord(Protocol):
    """One study inside a transaction; what is written is there wholly or not at all."""

    @property
    def now(self) -> float:
        """The store's clock, in seconds since 1970."""

    @property
    def name(self) -> str:
        """What the study is called."""

    @property
    def spec(self) -> Mapping[str, Any]:
        """As it was at the first event."""

    @property
    def about(self) -> Mapping[str, Any]:
        """Versions and when the study was made."""

    @property
    def snapshot(self) -> Mapping[str, Any] | None:
        """The state after the event `seq` that it names; None before the first."""

    @property
    def weight(self) -> int:
        """The size of the snapshot as it is stored."""

    @property
    def seq(self) -> int:
        """Number of the last event."""

    def seal(self, seq: int) -> str:
        """What tells the log up to an event from any other; "" where there is none."""

    def query(self, number: int) -> QueryRow | None:
        """A query by its number."""

    def queries(self, numbers: Collection[int]) -> list[QueryRow]:
        """Those of these queries that there are."""

    def answered(self, mediator: int, last: int) -> list[QueryRow]:
        """The last answered queries of a mediator, the latest first."""

    def by_key(self, key: str) -> list[dict[str, Any]]:
        """The events that were recorded under an idempotency key."""

    def events_of(self, number: int) -> list[dict[str, Any]]:
        """The events about a query, in order."""

    def events(self, after: int = 0, limit: int | None = None) -> Iterator[dict[str, Any]]:
        """Recorded events in order."""

    def lines(self) -> Iterator[str]:
        """All recorded events in order, each as a line of JSON."""

    def rows(self) -> Iterator[QueryRow]:
        """All queries in order."""

    def write(self, events: Sequence[Mapping[str, Any]], rows: Sequence[QueryRow], snapshot: Mapping[str, Any] | None) -> None:
        """Append events, upsert queries and replace the snapshot, if there is a new one."""

    def post(self, messages: Sequence[Message]) -> None:
        """Messages on their way, with what else is written; one that was written before is not written again."""

    def undelivered(self) -> Undelivered:
        """What has not reached its receivers."""

    def rename(self, name: str) -> None:
        """Another name, which no other study may have, nor one that looks like it."""

    def remove(self) -> str:
        """Take the study out of the store, when a backup of it is written; returns where that is."""

    def respecify(self, spec: Mapping[str, Any]) -> None:
        """Replace the spec of a study that has no events yet."""


class TokenStore(Protocol):
    """Holds tokens."""

    def now(self) -> float:
        """Its clock, in seconds since 1970."""

    def tokens(self, number: str | None = None) -> list[TokenRow]:
        """Who may do what, in the order in which they were made; or the one with that id."""

    def keep_token(self, row: TokenRow) -> None:
        """A new token, or one that has changed."""


class Store(TokenStore, Protocol):
    """Holds many named studies."""

    @property
    def place(self) -> str:
        """Where it is, for people; without a password."""

    def create(self, name: str, spec: Mapping[str, Any], about: Mapping[str, Any]) -> None:
        """A new study; refused when the name is taken."""

    def names(self) -> list[str]:
        """The studies in this store."""

    def writing(self, name: str) -> AbstractContextManager[StudyRecord]:
        """A transaction that locks the study."""

    def reading(self, name: str) -> AbstractContextManager[StudyRecord]:
        """A consistent view that blocks no one."""

    def claim(self, name: str, channels: Sequence[str], lease: float, most: int) -> list[Message]:
        """Take messages of a study that are due: for `lease` seconds no one else gets them."""

    def mark(
        self, name: str, message: Message, state: str, wait: float = 0.0, error: str = "", taken_back: bool = False
    ) -> None:
        """What became of a message: sent, waiting (tried again after `wait` seconds) or dead. taken_back: it was not tried."""

    def tidy(self, name: str, again: bool) -> None:
        """Forget messages that were sent long ago; again: those that were given up are tried again."""

    def check(self) -> list[str]:
        """Complaints of the database about itself."""

    def close(self) -> None:
        """Let go of connections."""


def present_spec(record: StudyRecord) -> Mapping[str, Any]:
    """The spec as it is now: edited, if events have edited it."""
    from gobetween.study.journal.snapshot import spec_in

    return record.spec if record.snapshot is None else spec_in(record.snapshot)
