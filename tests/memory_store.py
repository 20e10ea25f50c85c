"""A store in memory: the plainest implementation, for tests."""

import copy
import json
import threading
import time
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

from gobetween.errors import Fix, StudyError
from gobetween.export import choose
from gobetween.study.journal.record import QueryRow, TokenRow
from gobetween.study.notify.messages import Message, Undelivered
from gobetween.study.spec.checks import check_new_name


@dataclass
class StoredMessage:
    """A message, and what became of it."""

    message: Message
    due: float
    state: str = "waiting"
    error: str = ""


class MemoryRecord:
    """One study: lists and dicts."""

    def __init__(self, name: str, spec: Mapping[str, Any], about: Mapping[str, Any]) -> None:
        self.spec, self.about = copy.deepcopy(dict(spec)), dict(about)
        self.snapshot: Mapping[str, Any] | None = None
        self.weight = 0
        self.now, self.seq = 0.0, 0
        self._events: list[dict[str, Any]] = []
        self._rows: dict[int, QueryRow] = {}
        self.name, self.removed = name, False
        self.others: tuple[str, ...] = ()
        self.outbox: dict[tuple[str, str, str], StoredMessage] = {}

    def seal(self, seq: int) -> str:
        return str(seq)

    def query(self, number: int) -> QueryRow | None:
        return self._rows.get(number)

    def queries(self, numbers: Collection[int]) -> list[QueryRow]:
        return [self._rows[number] for number in numbers if number in self._rows]

    def answered(self, mediator: int, last: int) -> list[QueryRow]:
        found = [row for row in self._rows.values() if row.mediator == mediator and row.status in ("told", "silent")]
        return sorted(found, key=lambda row: -row.query)[:last]

    def by_key(self, key: str) -> list[dict[str, Any]]:
        return [copy.deepcopy(event) for event in self._events if event["key"] == key]

    def events_of(self, number: int) -> list[dict[str, Any]]:
        return [copy.deepcopy(event) for event in self._events if event.get("query") == number]

    def events(self, after: int = 0, limit: int | None = None) -> Iterator[dict[str, Any]]:
        yield from copy.deepcopy(self._events[after : None if limit is None else after + limit])

    def lines(self) -> Iterator[str]:
        yield from (json.dumps(event, ensure_ascii=False) for event in self._events)

    def rows(self) -> Iterator[QueryRow]:
        yield from (self._rows[number] for number in sorted(self._rows))

    def write(self, events: Sequence[Mapping[str, Any]], rows: Sequence[QueryRow], snapshot: Mapping[str, Any] | None) -> None:
        self._events += [copy.deepcopy(dict(event)) for event in events]
        self._rows |= {row.query: row for row in rows}
        self.snapshot, self.seq = copy.deepcopy(snapshot or self.snapshot), len(self._events)

    def post(self, messages: Sequence[Message]) -> None:
        for one in messages:
            self.outbox.setdefault((one.about, one.channel, one.address), StoredMessage(one, one.made))

    def undelivered(self) -> Undelivered:
        held = {state: [one for one in self.outbox.values() if one.state == state] for state in ("waiting", "dead")}
        since = min((one.message.made for one in held["waiting"]), default=None)
        last = max(held["dead"], key=lambda one: one.due, default=None)
        return Undelivered(len(held["waiting"]), since, len(held["dead"]), "" if last is None else last.error)

    def rename(self, name: str) -> None:
        if name in self.others:
            raise StudyError(f"there is already a study {name!r}", fix=Fix("status"))
        check_new_name(name, self.others, Memory.place)
        self.name = name

    def remove(self) -> str:
        self.removed = True
        return ""

    def respecify(self, spec: Mapping[str, Any]) -> None:
        self.spec = copy.deepcopy(dict(spec))


class Memory:
    """Studies that live as long as the process."""

    place = "memory"

    def __init__(self, clock: Callable[[], float] = time.time) -> None:
        self._studies: dict[str, MemoryRecord] = {}
        self._tokens: dict[str, TokenRow] = {}
        self._lock, self._clock = threading.RLock(), clock

    def create(self, name: str, spec: Mapping[str, Any], about: Mapping[str, Any]) -> None:
        if name in self._studies:
            raise StudyError(f"{self.place} already has a study {name!r}", fix=Fix("status"))
        check_new_name(name, self.names(), self.place)
        self._studies[name] = MemoryRecord(name, spec, about)

    def names(self) -> list[str]:
        return sorted(self._studies)

    @contextmanager
    def writing(self, name: str) -> Iterator[MemoryRecord]:
        with self._lock:
            record = self._copy(name)
            record.others = tuple(one for one in self._studies if one != name)
            yield record
            del self._studies[name]
            if not record.removed:
                self._studies[record.name] = record

    @contextmanager
    def reading(self, name: str) -> Iterator[MemoryRecord]:
        with self._lock:
            record = self._copy(name)
        yield record

    def _copy(self, name: str) -> MemoryRecord:
        if name not in self._studies:
            raise StudyError(f"{self.place} has no study {name!r}: {choose(name, self.names())}", fix=Fix("create"))
        record = copy.deepcopy(self._studies[name])
        record.now = self._clock()
        return record

    def now(self) -> float:
        return self._clock()

    def tokens(self, number: str | None = None) -> list[TokenRow]:
        return [row for row in self._tokens.values() if number in (None, row.id)]

    def keep_token(self, row: TokenRow) -> None:
        self._tokens[row.id] = row

    def claim(self, name: str, channels: Sequence[str], lease: float, most: int) -> list[Message]:
        with self._lock:
            now, held = self._clock(), self._studies[name].outbox
            found = [one for one in held.values() if one.state == "waiting" and one.due <= now]
            taken = sorted((one for one in found if one.message.channel in channels), key=lambda one: one.due)[:most]
            for one in taken:
                one.due, one.message = now + lease, replace(one.message, attempts=one.message.attempts + 1)
            return [one.message for one in taken]

    def mark(
        self, name: str, message: Message, state: str, wait: float = 0.0, error: str = "", taken_back: bool = False
    ) -> None:
        with self._lock:
            one = self._studies[name].outbox[message.about, message.channel, message.address]
            if state == "sent" or (one.message.attempts == message.attempts and one.state == "waiting"):
                one.state, one.due, one.error = state, self._clock() + wait, error
                one.message = replace(message, attempts=message.attempts - taken_back)

    def tidy(self, name: str, again: bool) -> None:
        with self._lock:
            for one in self._studies[name].outbox.values():
                if again and one.state == "dead":
                    one.state, one.due, one.message = "waiting", self._clock(), replace(one.message, attempts=0)

    def check(self) -> list[str]:
        return []

    def close(self) -> None:
        pass
