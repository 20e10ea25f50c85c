"""Where the commands of many threads queue up: the state of a study stays in memory between transactions, and commands that
wait at the same time share one.

The log is the truth. Before each transaction the state is brought up to date from the events that other processes have written
since; whatever goes wrong in one, it is read anew before the next.
"""

import threading
import time
from collections import deque
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, Generic, TypeVar, cast

from gobetween.errors import GoBetweenError, StoreError
from gobetween.study.commands import Command
from gobetween.study.events import Event
from gobetween.study.record import PATIENCE, QueryRow, Store, StudyRecord
from gobetween.study.state import StudyState
from gobetween.study.transaction import Transaction, is_number_of_query, state_of

T = TypeVar("T")
MOST = 64  # commands of one transaction
LAG = 32  # events that others, who read the state from the store, may have to replay


@dataclass
class Wanted(Generic[T]):
    """A command that waits for its turn, and what became of it."""

    command: Command[T]
    key: str
    known: bool
    """May it have been used before?"""
    drawn: bool
    """Was it drawn for this command, so that it can have been used for it only?"""
    actor: str
    value: T | None = None
    error: BaseException | None = None
    done: bool = False
    bell: Callable[[list["Wanted[Any]"]], None] | None = None
    """Rung when it is done, once for all that share a transaction and this bell."""
    waiter: Any = None
    """Who waits for it, if that is not a thread."""


@dataclass(frozen=True)
class Kept:
    """The state after an event, which its seal tells from that of any other log."""

    seq: int
    seal: str
    state: StudyState


class Desk:
    """One study in one process."""

    def __init__(self, store: Store, name: str) -> None:
        self.store, self.name = store, name
        self._turn, self._waiting = threading.Lock(), deque[Wanted[Any]]()
        self._kept: Kept | None = None
        self._worker = ThreadPoolExecutor(1, thread_name_prefix=f"desk of {name}")

    def do(self, wanted: "Wanted[T]") -> T:
        """Wait for a turn; whoever has it does what others want as well."""
        self._waiting.append(wanted)
        with self._turn:
            while not wanted.done:
                self._serve(self._next())
        if wanted.error is not None:
            raise wanted.error
        return cast(T, wanted.value)

    def later(self, wanted: "Wanted[Any]") -> None:
        """Take it and come back at once; its bell says when it is done."""
        self._waiting.append(wanted)
        self._worker.submit(self._drain)

    def _drain(self) -> None:
        with self._turn:
            while self._waiting:
                self._serve(self._next())

    def _next(self) -> list[Wanted[Any]]:
        """Those that come first and can share a transaction; each key once, for the record does not know yet what they do."""
        batch, keys = [self._waiting.popleft()], set[str]()
        while batch[-1].command.joins and self._waiting and len(batch) < MOST:
            keys.add(batch[-1].key)
            if not self._waiting[0].command.joins or self._waiting[0].key in keys:
                break
            batch.append(self._waiting.popleft())
        return batch

    def _serve(self, batch: list[Wanted[Any]]) -> None:
        """Do all of them; where one is refused nothing was written, and each is done by itself."""
        try:
            patiently(lambda again: self._together(batch, again))
        except BaseException as error:
            self._kept = None
            if len(batch) > 1 and isinstance(error, GoBetweenError) and not isinstance(error, StoreError):
                for one in batch:
                    self._serve([one])
                return
            for one in batch:
                one.error = error
            _finish(batch)
            if not isinstance(error, Exception):
                raise

    def _together(self, batch: list[Wanted[Any]], again: bool) -> None:
        with self.store.writing(self.name) as record:
            state = self._state(record)
            rows, events, known, caught_up = dict[int, QueryRow](), list[Event](), _rows_of(record, batch), False
            for one in batch:
                tx = Transaction(record, state, one.actor, rows=rows, known=known, caught_up=caught_up)
                one.value = one.command.run(tx, one.key, again or one.known, one.drawn)
                one.error, caught_up = tx.refused, tx.caught_up
                events += tx.events
            Transaction(record, state, "", events, rows, lag=LAG).save()
        if record.seq and all(one.command.name != "tell-all" for one in batch):  # that may only have tried
            self._kept = Kept(record.seq, record.seal(record.seq), state)
        _finish(batch)

    def _state(self, record: StudyRecord) -> StudyState:
        """As the log says; what is kept is used once, so that nothing half done is used again."""
        kept, self._kept = self._kept, None
        if kept is None or kept.seq > record.seq or record.seal(kept.seq) != kept.seal:
            return state_of(record)
        for event in record.events(kept.seq) if kept.seq < record.seq else ():
            kept.state.apply(event)
        return kept.state


def _rows_of(record: StudyRecord, batch: list[Wanted[Any]]) -> dict[int, QueryRow | None]:
    """The rows that several commands are about, in one read."""
    numbers = {one.command.about for one in batch if is_number_of_query(one.command.about)}
    found = record.queries(sorted(numbers)) if len(numbers) > 1 else []
    return {row.query: row for row in found}


def _finish(batch: list[Wanted[Any]]) -> None:
    for one in batch:
        one.done = True
    for bell in {one.bell for one in batch if one.bell is not None}:
        bell([one for one in batch if one.bell == bell])


def patiently(attempt: Callable[[bool], T]) -> T:
    """Try; if the database goes away try again (which is said), and the key tells whether it had been done."""
    again, deadline = False, time.monotonic() + PATIENCE
    while True:
        try:
            return attempt(again)
        except StoreError as error:
            if not error.passing or time.monotonic() > deadline:
                raise
            again = True
            time.sleep(0.05)
