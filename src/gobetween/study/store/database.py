"""SQLite and PostgreSQL through SQLAlchemy Core: one schema, one transaction for each command."""

import os
import threading
import time
import weakref
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, Engine, bindparam, func, select, text
from sqlalchemy.exc import DBAPIError, IntegrityError, SQLAlchemyError

from gobetween.errors import Fix, StoreError, StudyError
from gobetween.export import choose
from gobetween.study.journal.record import PATIENCE, TokenRow
from gobetween.study.notify.messages import Message
from gobetween.study.spec.checks import check_new_name
from gobetween.study.store import outbox
from gobetween.study.store.checksums import study_seal
from gobetween.study.store.database_record import DatabaseRecord, to_json
from gobetween.study.store.engines import READS, engine_of
from gobetween.study.store.failures import damaged, told
from gobetween.study.store.schema import VERSION, check_schema, make_or_upgrade, refuse_other
from gobetween.study.store.tables import studies, tokens

WRITERS = 32  # that hold a connection of this process while they wait for a lock


class Database:
    """A store in a database. `clock` replaces the database's own, for tests."""

    def __init__(self, engine: Engine, place: str, clock: Callable[[], float] | None = None) -> None:
        self.place = place
        self._engine, self._clock, self._is_sound = engine, clock, False
        self._turns = threading.BoundedSemaphore(WRITERS)
        self._lite = engine.dialect.name == "sqlite"
        self.path = Path(place) if self._lite else None
        self._owner = [os.getpid()]
        weakref.finalize(self, _let_go, engine, self._owner)  # connections are closed even without close()

    @classmethod
    def open(
        cls, where: str, *, create: bool = False, clock: Callable[[], float] | None = None, pooled: bool = False
    ) -> "Database":
        """The store at a path or URL; `create` makes it if there is none, and brings an old one up to date.

        pooled: connections to a SQLite file stay open, for a process that serves many.

        Whether there are studies is seen in the first transaction.
        """
        store = cls(*engine_of(where, create, pooled), clock)
        if create:
            with store._telling(), store._connected() as connection, connection.begin():
                make_or_upgrade(connection, store.place)
        return store

    def create(self, name: str, spec: Mapping[str, Any], about: Mapping[str, Any]) -> None:
        values = {"name": name, "spec": to_json(spec), "about": to_json(about), "snapshot": None, "seq": 0, "head": ""}
        with self.locking() as connection:
            check_schema(connection, self.place)  # it may have been brought up to date since it was opened
            check_new_name(name, _names(connection), self.place)
            try:
                connection.execute(studies.insert(), values | {"seal": study_seal(values)})
            except IntegrityError:
                raise StudyError(f"{self.place} already has a study {name!r}", fix=Fix("status")) from None

    def names(self) -> list[str]:
        with self.viewing() as connection:
            return _names(connection)

    @contextmanager
    def writing(self, name: str) -> Iterator[DatabaseRecord]:
        with self.locking() as connection:
            yield self._record(connection, _study() if self._lite else _locked_study(), name)

    @contextmanager
    def reading(self, name: str) -> Iterator[DatabaseRecord]:
        with self.viewing() as connection:
            yield self._record(connection, _study(), name)

    def _record(self, connection: Connection, wanted: Any, name: str) -> DatabaseRecord:
        row = connection.execute(wanted, {"called": name}).first()
        if row is None:
            known = _names(connection)
            fix = Fix("other-study", known[0]) if len(known) == 1 else Fix("create")
            raise StudyError(f"{self.place} has no study {name!r}: {choose(name, known)}", fix=fix)
        refuse_other(row.version, self.place)  # it may have been brought up to date since it was opened
        return DatabaseRecord(connection, row, self._now(connection), self.place)

    def _now(self, connection: Connection) -> float:
        if self._clock is not None:
            return self._clock()
        if self._lite:
            return float(connection.execute(_NOW).scalar_one())
        return float(connection.execute(select(func.extract("epoch", func.clock_timestamp()))).scalar_one())

    @contextmanager
    def locking(self) -> Iterator[Connection]:
        """A transaction that writes."""
        with self._telling(), self._turns, self._connected() as connection, connection.begin():
            self._check(connection)
            yield connection

    @contextmanager
    def viewing(self) -> Iterator[Connection]:
        """A consistent view that blocks no one and waits for no one."""
        level = {"isolation_level": "REPEATABLE READ"} if not self._lite else {READS: True}
        with self._telling(), self._connected().execution_options(**level) as connection, connection.begin():
            self._check(connection)
            yield connection

    def _connected(self) -> Connection:
        """A connection of this process; a server that is starting, or has none to spare, is waited for."""
        if self._owner != [os.getpid()]:
            self._engine.dispose(close=False)
            self._owner[:] = [os.getpid()]
        deadline = time.monotonic() + PATIENCE
        while True:
            try:
                return self._engine.connect()
            except DBAPIError as error:
                failure = told(self.place, error)
                if not failure.passing or time.monotonic() > deadline:
                    raise failure from None
                time.sleep(0.1)

    def _check(self, connection: Connection) -> None:
        """In the first transaction: are these tables of ours?"""
        if not self._is_sound:
            check_schema(connection, self.place)
            self._is_sound = True

    @contextmanager
    def _telling(self) -> Iterator[None]:
        """What goes wrong in the database is one sentence; a lost connection may be tried again."""
        try:
            yield
        except DBAPIError as error:
            raise told(self.place, error) from None
        except SQLAlchemyError as error:
            raise StoreError(f"{self.place}: {' '.join(str(error).split())}") from None
        except (UnicodeDecodeError, OverflowError) as error:  # in what the database gives back
            raise damaged(self.place, str(error)) from None

    def now(self) -> float:
        with self.viewing() as connection:
            return self._now(connection)

    def tokens(self, number: str | None = None) -> list[TokenRow]:
        wanted = select(tokens, studies.c.name).outerjoin(studies, studies.c.id == tokens.c.study).order_by(tokens.c.made)
        with self.viewing() as connection:
            found = connection.execute(wanted if number is None else wanted.where(tokens.c.id == number)).mappings().all()
        return [TokenRow(**{key: row[key] for key in TokenRow.__annotations__} | {"study": row["name"]}) for row in found]

    def keep_token(self, row: TokenRow) -> None:
        with self.locking() as connection:
            study = connection.execute(select(studies.c.id).where(studies.c.name == row.study)).scalar()
            ended = tokens.c.id.contains(".") & (tokens.c.expires < row.made)  # sessions, which nobody looks at afterwards
            connection.execute(tokens.delete().where(ended))
            connection.execute(tokens.delete().where(tokens.c.id == row.id))
            connection.execute(tokens.insert(), row.__dict__ | {"study": study})

    def claim(self, name: str, channels: Sequence[str], lease: float, most: int) -> list[Message]:
        with self.viewing() as connection:
            if not outbox.is_due(connection, self._place_of(connection, name), channels, self._now(connection)):
                return []
        with self.locking() as connection:
            now = self._now(connection)
            return outbox.claim(connection, self._place_of(connection, name), channels, now, now + lease, most)

    def mark(
        self, name: str, message: Message, state: str, wait: float = 0.0, error: str = "", taken_back: bool = False
    ) -> None:
        with self.locking() as connection:
            study, due = self._place_of(connection, name), self._now(connection) + wait
            outbox.mark(connection, study, message, state, due, error, message.attempts - taken_back)

    def tidy(self, name: str, again: bool) -> None:
        with self.locking() as connection:
            outbox.tidy(connection, self._place_of(connection, name), self._now(connection), again)

    def _place_of(self, connection: Connection, name: str) -> int:
        found: int = connection.execute(select(studies.c.id).where(studies.c.name == name)).scalar_one()
        return found

    def check(self) -> list[str]:
        if not self._lite:
            return []
        with self.viewing() as connection:
            found = [str(line) for line in connection.execute(text("PRAGMA integrity_check")).scalars()]
            lines = [line for part in found for line in part.splitlines() if not line.startswith("***")]
            return [] if lines == ["ok"] else lines

    def outside(self, statement: str, *values: str) -> None:
        """A statement for SQLite, outside of any transaction."""
        raw = self._engine.raw_connection()
        try:
            raw.cursor().execute(statement, values)
        except self._engine.dialect.loaded_dbapi.Error as error:
            raise told(self.place, DBAPIError(statement, values, error)) from None
        finally:
            raw.close()

    def close(self) -> None:
        _let_go(self._engine, self._owner)


def _let_go(engine: Engine, owner: list[int]) -> None:
    """Close connections; those of a process that was forked are its parent's, and only forgotten."""
    engine.dispose(close=owner == [os.getpid()])


@cache
def _study() -> Any:
    """A study's row by name, with the version of the tables."""
    version = VERSION.scalar_subquery().label("version")
    return select(studies, version).where(studies.c.name == bindparam("called"))


@cache
def _locked_study() -> Any:
    """The same with a lock of PostgreSQL, whose holder the server ends when it falls asleep."""
    from gobetween.study.store.postgres import ASLEEP

    awake = func.set_config("idle_in_transaction_session_timeout", f"{1000 * ASLEEP:.0f}", True).label("awake")
    return _study().add_columns(awake).with_for_update(of=studies)


def _names(connection: Connection) -> list[str]:
    return [str(name) for name in connection.execute(select(studies.c.name).order_by(studies.c.name)).scalars()]


_NOW = text("SELECT (julianday('now') - 2440587.5) * 86400.0")
