"""SQLite and PostgreSQL through SQLAlchemy Core: one schema, one transaction for each command."""

import json
import os
import time
import weakref
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, Engine, bindparam, func, inspect, select, text, update
from sqlalchemy.exc import DBAPIError, IntegrityError, SQLAlchemyError

from gobetween.errors import Fix, StoreError, StudyError
from gobetween.study.notify import Message, Undelivered
from gobetween.study.record import PATIENCE, QueryRow, TokenRow
from gobetween.study.store import outbox
from gobetween.study.store.engines import READS, engine_of
from gobetween.study.store.failures import damaged, told
from gobetween.study.store.seals import STUDY, event_seal, query_seal, seal_of, study_seal
from gobetween.study.store.tables import SCHEMA, events, queries, schema, studies, tokens

PAGE = 1000  # rows that are fetched at a time
OWN = ("seq", "at", "actor", "kind", "query", "key", "part")  # fields of an event with a column of their own


class DatabaseRecord:
    """One study inside a transaction. Nothing is taken from it whose seal is not right."""

    def __init__(self, connection: Connection, row: Any, now: float, place: str) -> None:
        self._connection, self._id, self.now, self._place = connection, row.id, now, place
        self._row = {column: row._mapping[column] for column in STUDY}
        if row.seal != study_seal(self._row):
            raise damaged(place, f"study {row.name!r} is not as it was written")
        self._snapshot: Mapping[str, Any] | None = None  # read when someone wants it

    @property
    def spec(self) -> Mapping[str, Any]:
        return _object(self._row["spec"])

    @property
    def about(self) -> Mapping[str, Any]:
        return _object(self._row["about"])

    @property
    def snapshot(self) -> Mapping[str, Any] | None:
        if self._snapshot is None and self._row["snapshot"] is not None:
            self._snapshot = _object(self._row["snapshot"])
        return self._snapshot

    @property
    def seq(self) -> int:
        return int(self._row["seq"])

    def query(self, number: int) -> QueryRow | None:
        found = self._connection.execute(_QUERY, {"id": self._id, "number": number}).first()
        return None if found is None else self._query_row(found)

    def queries(self, numbers: Collection[int]) -> list[QueryRow]:
        found = self._connection.execute(_QUERIES, {"id": self._id, "numbers": list(numbers)}).all()
        return [self._query_row(row) for row in found]

    def answered(self, mediator: int, last: int) -> list[QueryRow]:
        where = (queries.c.study == self._id) & (queries.c.mediator == mediator) & queries.c.status.in_(("told", "silent"))
        found = self._connection.execute(select(queries).where(where).order_by(queries.c.query.desc()).limit(last))
        return [self._query_row(row) for row in found]

    def by_key(self, key: str) -> list[dict[str, Any]]:
        found = self._connection.execute(_BY_KEY, {"id": self._id, "used": key}).all()
        return list(self._events(found, self.seal(found[0].seq - 1))) if found else []

    def events_of(self, number: int) -> list[dict[str, Any]]:
        where = (events.c.study == self._id) & (events.c.query == number)
        found = self._connection.execute(select(events).where(where).order_by(events.c.seq)).all()
        return [event for row in found for event in self._events([row], self.seal(row.seq - 1))]

    def events(self, after: int = 0, limit: int | None = None) -> Iterator[dict[str, Any]]:
        return (_event(own, payload) for own, payload in self._read(after, limit))

    def lines(self) -> Iterator[str]:
        return (_line(own, payload) for own, payload in self._read(0, None))

    def _read(self, after: int, limit: int | None) -> Iterator[tuple[list[Any], str]]:
        seal = self.seal(after)
        while limit is None or limit > 0:
            size = PAGE if limit is None else min(PAGE, limit)
            wanted = select(events).where(events.c.study == self._id, events.c.seq > after).order_by(events.c.seq).limit(size)
            page = self._connection.execute(wanted).all()
            yield from self._sound(page, seal)
            if len(page) < size:
                return
            after, seal, limit = page[-1].seq, page[-1].seal, None if limit is None else limit - size

    def rows(self) -> Iterator[QueryRow]:
        last = -1
        while True:
            wanted = select(queries).where(queries.c.study == self._id, queries.c.query > last).order_by(queries.c.query)
            page = [self._query_row(row) for row in self._connection.execute(wanted.limit(PAGE))]
            yield from page
            if len(page) < PAGE:
                return
            last = page[-1].query

    @property
    def weight(self) -> int:
        return len(self._row["snapshot"] or "")

    def write(
        self, recorded: Sequence[Mapping[str, Any]], rows: Sequence[QueryRow], snapshot: Mapping[str, Any] | None
    ) -> None:
        head, sealed = self._row["head"], []
        for one in map(_columns, recorded):
            head = event_seal(head, one)
            sealed.append(one | {"study": self._id, "seal": head})
        self._connection.execute(_ADDED, sealed)
        if rows:
            changed = [_query_columns(row) | {"study": self._id} for row in rows]
            self._connection.execute(_upsert(self._connection.dialect.name), changed)
        changes: dict[str, Any] = {"seq": self.seq + len(recorded), "head": head}
        if snapshot is not None:
            self._snapshot = snapshot
            changes["snapshot"] = _json(snapshot)
        self._change(**changes)

    def post(self, messages: Sequence[Message]) -> None:
        outbox.post(self._connection, self._id, messages)

    def undelivered(self) -> Undelivered:
        return outbox.undelivered(self._connection, self._id)

    def respecify(self, spec: Mapping[str, Any]) -> None:
        self._change(spec=_json(spec))

    def _change(self, **values: Any) -> None:
        self._row |= values
        changes = {f"new_{name}": value for name, value in values.items()} | {"new_seal": study_seal(self._row)}
        self._connection.execute(_change_of(*values), changes | {"at": self._id})

    def seal(self, seq: int) -> str:
        """The seal of an event, to go on from; before the first and after the last there is none."""
        if not 0 < seq <= self.seq:
            return ""
        if seq == self.seq:
            return str(self._row["head"])
        wanted = select(events.c.seal).where(events.c.study == self._id, events.c.seq == seq)
        return str(self._connection.execute(wanted).scalar())

    def _events(self, found: Iterable[Any], seal: str) -> Iterator[dict[str, Any]]:
        return (_event(own, payload) for own, payload in self._sound(found, seal))

    def _sound(self, found: Iterable[Any], seal: str) -> Iterator[tuple[list[Any], str]]:
        """Values and payloads of events whose seals are right."""
        for _, *own, payload, held in found:  # in the order of the table's columns, which is that of the seal
            if held != seal_of(seal, *own, payload):
                raise damaged(self._place, f"event {own[0]} of study {self._row['name']!r} is not as it was written")
            seal = held
            yield own, payload

    def _query_row(self, row: Any) -> QueryRow:
        _, *values, held = row
        if held != seal_of(*values):
            raise damaged(self._place, f"query {row.query} of study {self._row['name']!r} is not as it was written")
        return QueryRow(*values)


class Database:
    """A store in a database. `clock` replaces the database's own, for tests."""

    def __init__(self, engine: Engine, place: str, clock: Callable[[], float] | None = None) -> None:
        self.place = place
        self._engine, self._clock, self._is_sound = engine, clock, False
        self._lite = engine.dialect.name == "sqlite"
        self.path = Path(place) if self._lite else None
        self._owner = [os.getpid()]
        weakref.finalize(self, _let_go, engine, self._owner)  # connections are closed even if nobody says close

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
            from gobetween.study.store.migrate import upgrade

            with store._telling(), store._connected() as connection, connection.begin():
                store._refuse_later(connection)
                upgrade(connection, store.place)
        return store

    def create(self, name: str, spec: Mapping[str, Any], about: Mapping[str, Any]) -> None:
        values = {"name": name, "spec": _json(spec), "about": _json(about), "snapshot": None, "seq": 0, "head": ""}
        with self.locking() as connection:
            self._refuse_later(connection)
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
            known = ", ".join(map(repr, _names(connection))) or "none"
            raise StudyError(f"{self.place} has no study {name!r} (it has: {known})", fix=Fix("create"))
        self._refuse_other(row.version)  # it may have been brought up to date since it was opened
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
        with self._telling(), self._connected() as connection, connection.begin():
            self._check_schema(connection)
            yield connection

    @contextmanager
    def viewing(self) -> Iterator[Connection]:
        """A consistent view that blocks nobody and waits for nobody."""
        level = {"isolation_level": "REPEATABLE READ"} if not self._lite else {READS: True}
        with self._telling(), self._connected().execution_options(**level) as connection, connection.begin():
            self._check_schema(connection)
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

    def _check_schema(self, connection: Connection) -> None:
        """In the first transaction: are these tables of ours?"""
        if self._is_sound:
            return
        if not inspect(connection).has_table(schema.name):
            raise StoreError(f"{self.place}: holds no studies of gobetween", fix=Fix("create"))
        self._refuse_other(connection.execute(select(schema.c.version)).scalar())
        self._is_sound = True

    def _refuse_later(self, connection: Connection) -> None:
        """Whoever makes or changes tables must not do so in those of a later version."""
        if inspect(connection).has_table(schema.name):
            found = connection.execute(select(schema.c.version)).scalar()
            self._refuse_other(max(found, SCHEMA) if isinstance(found, int) and found > 0 else found)

    def _refuse_other(self, found: Any) -> None:
        if not isinstance(found, int) or found < 1:
            raise damaged(self.place, f"its schema is {found!r}")
        words = f"{self.place}: has schema {found}, this version uses {SCHEMA}"
        if found < SCHEMA:
            raise StoreError(words, fix=Fix("migrate"))
        if found > SCHEMA:
            raise StoreError(f"{words}: use a newer gobetween")

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
    version = select(schema.c.version).limit(1).scalar_subquery().label("version")
    return select(studies, version).where(studies.c.name == bindparam("called"))


@cache
def _locked_study() -> Any:
    """The same with a lock of PostgreSQL, whose holder the server ends when it falls asleep."""
    from gobetween.study.store.postgres import ASLEEP

    awake = func.set_config("idle_in_transaction_session_timeout", f"{1000 * ASLEEP:.0f}", True).label("awake")
    return _study().add_columns(awake).with_for_update(of=studies)


def _names(connection: Connection) -> list[str]:
    return [str(name) for name in connection.execute(select(studies.c.name).order_by(studies.c.name)).scalars()]


@cache
def _upsert(dialect: str) -> Any:
    from sqlalchemy.dialects import postgresql, sqlite

    made: Any = (sqlite if dialect == "sqlite" else postgresql).insert(queries)
    names = ("mediator", "status", "slot", "arm", "reward", "worker", "seal")
    return made.on_conflict_do_update(index_elements=["study", "query"], set_={name: made.excluded[name] for name in names})


@cache
def _change_of(*names: str) -> Any:
    change = update(studies).where(studies.c.id == bindparam("at"))
    return change.values({name: bindparam(f"new_{name}") for name in (*names, "seal")})


_QUERY = select(queries).where(queries.c.study == bindparam("id"), queries.c.query == bindparam("number"))
_QUERIES = select(queries).where(queries.c.study == bindparam("id"), queries.c.query.in_(bindparam("numbers", expanding=True)))
_BY_KEY = select(events).where(events.c.study == bindparam("id"), events.c.key == bindparam("used")).order_by(events.c.part)
_ADDED = events.insert()
_NOW = text("SELECT (julianday('now') - 2440587.5) * 86400.0")


def _columns(one: Mapping[str, Any]) -> dict[str, Any]:
    payload = {key: value for key, value in one.items() if key not in OWN}
    return {key: one.get(key) for key in OWN} | {"at": float(one["at"]), "payload": _json(payload)}


def _query_columns(row: QueryRow) -> dict[str, Any]:
    columns = row.__dict__ | {"reward": None if row.reward is None else float(row.reward)}
    return columns | {"seal": query_seal(columns)}


def _event(values: Sequence[Any], payload: str) -> dict[str, Any]:
    event = dict(zip(OWN, values, strict=True))
    if event["query"] is None:
        del event["query"]
    event |= json.loads(payload)
    return event


def _line(values: Sequence[Any], payload: str) -> str:
    """The same as a line of JSON; its payload is one already."""
    seq, at, actor, kind, query, key, part = values  # as OWN names them; their seals say that they are what was written
    about = _TEXT(kind) if query is None else f'{_TEXT(kind)}, "query": {query}'
    own = f'{{"seq": {seq}, "at": {at!r}, "actor": {_TEXT(actor)}, "kind": {about}, "key": {_TEXT(key)}, "part": {part}'
    return f"{own}, {payload[1:]}" if payload != "{}" else own + "}"


def _json(value: Any) -> str:
    return _ENCODER.encode(value)


def _object(text: str) -> Mapping[str, Any]:
    found: Mapping[str, Any] = json.loads(text)
    return found


_ENCODER = json.JSONEncoder(ensure_ascii=False, allow_nan=False)
_TEXT: Callable[[str], str] = json.encoder.encode_basestring
