"""Where the commands of many threads queue up: the state of a study stays in memory between transactions, and commands that
wait at the same time share one.

The log is the truth. Before each transaction the state is brought up to date from the events that other processes have written
since; whatever goes wrong in one, it is read again before the next.
"""

import threading
import time
from collections import deque
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar, cast
from uuid import uuid4

from gobetween.errors import GoBetweenError, StoreError
from gobetween.study.commands.commands import Command
from gobetween.study.commands.verb import AUTO
from gobetween.study.journal.events import Event
from gobetween.study.journal.record import PATIENCE, QueryRow, Store, StudyRecord
from gobetween.study.journal.state import StudyState
from gobetween.study.journal.transaction import Transaction, is_number_of_query, state_of

T = TypeVar("T")
MOVING = ("rename-study", "delete")  # after these a study is not found by its name
MOST = 64  # commands of one transaction
LAG = 32  # events that others, who read the state from the store, may have to replay


@dataclass
class QueuedCommand(Generic[T]):
    """A command that waits for its turn, and what became of it."""

    command: Command[T]
    actor: str
    on_done: Callable[[list["QueuedCommand[Any]"]], None] | None = None
    """Called when it is done, once for all that share a transaction and this function."""
    future: Any = None  # who waits for it, if that is not a thread
    value: T | None = None
    error: BaseException | None = None
    done: bool = False
    key: str = field(init=False)
    known: bool = field(init=False)  # may the key have been used before?

    def __post_init__(self) -> None:
        given = self.command.verb.key
        self.key, self.known = given or f"{AUTO}{uuid4()}", given is not None

    def was_done(self, again: bool, error: GoBetweenError) -> bool:
        """Is a study not there any more under its name because this has been committed, before the connection was lost?"""
        return again and self.value is not None and error.missing and self.command.verb.word in MOVING

    def result(self) -> T:
        """Its answer, or what was wrong with it."""
        if self.error is not None:
            raise self.error
        return cast(T, self.value)


@dataclass(frozen=True)
class CachedState:
    """The state after an event, which its seal tells from that of any other log."""

    seq: int
    seal: str
    state: StudyState


class CommandQueue:
    """The commands of one study in one process."""

    def __init__(self, store: Store, name: str) -> None:
        self.store, self.name = store, name
        self._turn, self._waiting = threading.Lock(), deque[QueuedCommand[Any]]()
        self._cached: CachedState | None = None
        self._worker = ThreadPoolExecutor(1, thread_name_prefix=f"commands of {name}")

    def run(self, job: QueuedCommand[T]) -> T:
        """Wait for a turn; the one who has it runs the commands of others as well."""
        self._waiting.append(job)
        with self._turn:
            while not job.done:
                self._serve(self._next())
        return job.result()

    @property
    def waiting(self) -> int:
        """How many wait for their turn."""
        return len(self._waiting)

    def submit(self, job: QueuedCommand[Any]) -> None:
        """Take it and come back at once; `on_done` says when it is done."""
        self._waiting.append(job)
        self._worker.submit(self._drain)

    def _drain(self) -> None:
        with self._turn:
            while self._waiting:
                self._serve(self._next())

    def _next(self) -> list[QueuedCommand[Any]]:
        """Those that come first and can share a transaction; each key once, for the record does not know yet what they do."""
        batch, keys = [self._waiting.popleft()], set[str]()
        while batch[-1].command.joins and self._waiting and len(batch) < MOST:
            keys.add(batch[-1].key)
            if not self._waiting[0].command.joins or self._waiting[0].key in keys:
                break
            batch.append(self._waiting.popleft())
        return batch

    def _serve(self, batch: list[QueuedCommand[Any]]) -> None:
        """Do all of them; where one is refused nothing was written, and each is done by itself."""
        try:
            patiently(lambda again: self._together(batch, again))
        except BaseException as error:
            self._cached = None
            if isinstance(error, GoBetweenError) and batch[0].was_done(True, error):
                return _finish(batch)
            if len(batch) > 1 and isinstance(error, GoBetweenError) and not isinstance(error, StoreError):
                for one in batch:
                    self._serve([one])
                return None
            for one in batch:
                one.error = error
            _finish(batch)
            if not isinstance(error, Exception):
                raise

    def _together(self, batch: list[QueuedCommand[Any]], again: bool) -> None:
        with self.store.writing(self.name) as record:
            state = self._state(record)
            rows, events, known, caught_up = dict[int, QueryRow](), list[Event](), _rows_of(record, batch), False
            for one in batch:
                tx = Transaction(record, state, one.actor, rows=rows, known=known, caught_up=caught_up)
                one.value = one.command.run(tx, one.key, again or one.known)
                one.error, caught_up = tx.refused, tx.caught_up
                events += tx.events
            Transaction(record, state, "", events, rows, lag=LAG).save()
        if record.seq and all(one.command.verb.word != "tell-all" for one in batch):  # that may only have tried
            self._cached = CachedState(record.seq, record.seal(record.seq), state)
        _finish(batch)

    def _state(self, record: StudyRecord) -> StudyState:
        """As the log says; what is cached is used once, so that nothing half done is used again."""
        cached, self._cached = self._cached, None
        if cached is None or cached.seq > record.seq or record.seal(cached.seq) != cached.seal:
            return state_of(record)
        for event in record.events(cached.seq) if cached.seq < record.seq else ():
            cached.state.apply(event)
        return cached.state


def _rows_of(record: StudyRecord, batch: list[QueuedCommand[Any]]) -> dict[int, QueryRow | None]:
    """The rows that several commands are about, in one read."""
    numbers = {one.command.about for one in batch if is_number_of_query(one.command.about)}
    found = record.queries(sorted(numbers)) if len(numbers) > 1 else []
    return {row.query: row for row in found}


def _finish(batch: list[QueuedCommand[Any]]) -> None:
    for one in batch:
        one.done = True
    for on_done in {one.on_done for one in batch if one.on_done is not None}:
        on_done([one for one in batch if one.on_done == on_done])


def patiently(attempt: Callable[[bool], T]) -> T:
    """Try; if the database goes away say so and try again: the key tells whether it had been done."""
    again, deadline = False, time.monotonic() + PATIENCE
    while True:
        try:
            return attempt(again)
        except StoreError as error:
            if not error.passing or time.monotonic() > deadline:
                raise
            again = True
            time.sleep(0.05)
