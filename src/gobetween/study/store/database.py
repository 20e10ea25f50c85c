"""SQLite and PostgreSQL through SQLAlchemy Core: one schema, one transaction for each command."""

import json
import os
import weakref
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, Engine, create_engine, event, func, inspect, select, text, update
from sqlalchemy.engine import URL, make_url
from sqlalchemy.exc import ArgumentError, DBAPIError, IntegrityError, NoSuchModuleError, SQLAlchemyError
from sqlalchemy.pool import NullPool

from gobetween.errors import StoreError, StudyError
from gobetween.study.record import QueryRow
from gobetween.study.store.tables import SCHEMA, events, queries, schema, studies

PAGE = 1000  # rows that are fetched at a time
BUSY = 120.0  # seconds that a writer waits for its turn
OWN = ("seq", "at", "actor", "kind", "query", "key", "part")  # fields of an event with a column of their own


class DatabaseRecord:
    """One study inside a transaction."""

    def __init__(self, connection: Connection, row: Any, now: float) -> None:
        self._connection, self._id, self.now = connection, row.id, now
        self.spec, self.about = json.loads(row.spec), json.loads(row.about)
        self.snapshot: Mapping[str, Any] | None = None if row.snapshot is None else json.loads(row.snapshot)
        self.seq = int(row.seq)

    def query(self, number: int) -> QueryRow | None:
        where = (queries.c.study == self._id) & (queries.c.query == number)
        found = self._connection.execute(select(queries).where(where)).first()
        return None if found is None else _query_row(found)

    def by_key(self, key: str) -> list[dict[str, Any]]:
        where = (events.c.study == self._id) & (events.c.key == key)
        return [_event(row) for row in self._connection.execute(select(events).where(where).order_by(events.c.part))]

    def events(self, after: int = 0, limit: int | None = None) -> Iterator[dict[str, Any]]:
        while limit is None or limit > 0:
            size = PAGE if limit is None else min(PAGE, limit)
            wanted = select(events).where(events.c.study == self._id, events.c.seq > after).order_by(events.c.seq).limit(size)
            page = [_event(row) for row in self._connection.execute(wanted)]
            yield from page
            if len(page) < size:
                return
            after, limit = page[-1]["seq"], None if limit is None else limit - size

    def rows(self) -> Iterator[QueryRow]:
        last = -1
        while True:
            wanted = select(queries).where(queries.c.study == self._id, queries.c.query > last).order_by(queries.c.query)
            page = [_query_row(row) for row in self._connection.execute(wanted.limit(PAGE))]
            yield from page
            if len(page) < PAGE:
                return
            last = page[-1].query

    def write(self, recorded: Sequence[Mapping[str, Any]], rows: Sequence[QueryRow], snapshot: Mapping[str, Any]) -> None:
        self._connection.execute(events.insert(), [_columns(self._id, one) for one in recorded])
        if rows:
            self._connection.execute(_upsert(self._connection), [row.__dict__ | {"study": self._id} for row in rows])
        self.snapshot, self.seq = snapshot, self.seq + len(recorded)
        change = update(studies).where(studies.c.id == self._id)
        self._connection.execute(change.values(snapshot=_json(snapshot), seq=self.seq))

    def respecify(self, spec: Mapping[str, Any]) -> None:
        self._connection.execute(update(studies).where(studies.c.id == self._id).values(spec=_json(spec)))


class Database:
    """A store in a database. `clock` replaces the database's own, for tests."""

    def __init__(self, engine: Engine, shown: str, clock: Callable[[], float] | None = None) -> None:
        self._engine, self._shown, self._clock = engine, shown, clock
        self._lite = engine.dialect.name == "sqlite"
        weakref.finalize(self, engine.dispose)  # connections are closed even if nobody says close

    @classmethod
    def open(cls, where: str, *, create: bool = False, clock: Callable[[], float] | None = None) -> "Database":
        """Open the store at a path or URL; `create` makes it if there is none, and brings an old one up to date."""
        engine, shown = _engine(where, create)
        store = cls(engine, shown, clock)
        with store._telling():
            if create:
                from gobetween.study.store.migrate import upgrade

                upgrade(engine)
            store._check_schema()
        return store

    def _check_schema(self) -> None:
        with self._engine.connect() as connection:
            if not inspect(connection).has_table("gobetween_schema"):
                raise StoreError(f"{self._shown}: holds no studies of gobetween; gobetween init makes one")
            found = connection.execute(select(schema.c.version)).scalar()
        if found != SCHEMA:
            fix = "gobetween doctor --migrate brings it up to date" if (found or 0) < SCHEMA else "use a newer gobetween"
            raise StoreError(f"{self._shown}: has schema {found}, this version uses {SCHEMA}: {fix}")

    def create(self, name: str, spec: Mapping[str, Any], about: Mapping[str, Any]) -> None:
        values = {"name": name, "spec": _json(spec), "about": _json(about), "snapshot": None, "seq": 0}
        with self._telling(), self._engine.begin() as connection:
            try:
                connection.execute(studies.insert(), values)
            except IntegrityError:
                raise StudyError(f"{self._shown} already has a study {name!r}: gobetween status shows it") from None

    def names(self) -> list[str]:
        with self._telling(), self._view() as connection:
            return [str(name) for name in connection.execute(select(studies.c.name).order_by(studies.c.name)).scalars()]

    @contextmanager
    def writing(self, name: str) -> Iterator[DatabaseRecord]:
        with self._telling(), self._engine.begin() as connection:
            wanted = select(studies).where(studies.c.name == name)
            yield self._record(connection, wanted if self._lite else wanted.with_for_update(), name)

    @contextmanager
    def reading(self, name: str) -> Iterator[DatabaseRecord]:
        with self._telling(), self._view() as connection:
            yield self._record(connection, select(studies).where(studies.c.name == name), name)

    def _record(self, connection: Connection, wanted: Any, name: str) -> DatabaseRecord:
        row = connection.execute(wanted).first()
        if row is None:
            raise StudyError(f"{self._shown} has no study {name!r}")
        return DatabaseRecord(connection, row, self._now(connection))

    def _now(self, connection: Connection) -> float:
        if self._clock is not None:
            return self._clock()
        if self._lite:
            return float(connection.execute(text("SELECT (julianday('now') - 2440587.5) * 86400.0")).scalar_one())
        return float(connection.execute(select(func.extract("epoch", func.clock_timestamp()))).scalar_one())

    @contextmanager
    def _view(self) -> Iterator[Connection]:
        """A consistent view that blocks nobody."""
        level = {"isolation_level": "REPEATABLE READ"} if not self._lite else {"gobetween_read": True}
        with self._engine.connect().execution_options(**level) as connection, connection.begin():
            yield connection

    @contextmanager
    def _telling(self) -> Iterator[None]:
        """What goes wrong in the database is one sentence; a lost connection may be tried again."""
        try:
            yield
        except DBAPIError as error:
            reason = " ".join(str(error.orig).split())
            told = StoreError(f"{self._shown}: {_words(reason)}")
            told.passing = _is_passing(error, reason)
            raise told from None
        except SQLAlchemyError as error:
            raise StoreError(f"{self._shown}: {' '.join(str(error).split())}") from None

    def check(self) -> list[str]:
        with self._telling(), self._view() as connection:
            if not self._lite:
                return []
            found = [str(line) for line in connection.execute(text("PRAGMA integrity_check")).scalars()]
            return [] if found == ["ok"] else found

    def close(self) -> None:
        self._engine.dispose()


def _engine(where: str, create: bool) -> tuple[Engine, str]:
    if "://" not in where:
        path = Path(where)
        if path.is_dir():
            raise StoreError(f"{path}: is a folder, not a store")
        if not path.absolute().parent.is_dir():
            raise StoreError(f"{path}: its folder does not exist")
        if not create and not path.is_file():
            raise StoreError(f"{path}: there is no such store; gobetween init makes one")
        return _lite(path), str(path)
    try:
        url = make_url(where)
    except (ArgumentError, ValueError):
        raise StoreError("the URL of the store cannot be read: write postgresql://user@host/database") from None
    if url.get_backend_name() != "postgresql":
        raise StoreError(f"{url.drivername}: only postgresql:// URLs and paths of SQLite files are understood")
    if url.password is not None or "password" in url.query:
        raise StoreError("the URL of the store holds a password: leave it out and set PGPASSWORD in the environment")
    return _postgres(url), url.render_as_string(hide_password=True)


def _lite(path: Path) -> Engine:
    engine = create_engine(URL.create("sqlite", database=str(path)), connect_args={"timeout": BUSY}, poolclass=NullPool)

    @event.listens_for(engine, "connect")
    def connect(connection: Any, _: Any) -> None:
        connection.isolation_level = None  # transactions are ours
        connection.execute("PRAGMA journal_mode=WAL")
        connection.execute("PRAGMA synchronous=FULL")
        connection.execute("PRAGMA foreign_keys=ON")

    @event.listens_for(engine, "begin")
    def begin(connection: Connection) -> None:
        reading = connection.get_execution_options().get("gobetween_read")
        connection.exec_driver_sql("BEGIN" if reading else "BEGIN IMMEDIATE")

    return engine


def _postgres(url: URL) -> Engine:
    password = os.environ.get("PGPASSWORD")
    full = url.set(drivername="postgresql+psycopg", password=password) if password else url.set(drivername="postgresql+psycopg")
    try:
        return create_engine(full, pool_pre_ping=True, connect_args={"connect_timeout": 5})
    except (ImportError, NoSuchModuleError):
        raise StoreError("PostgreSQL needs psycopg: pip install 'gobetween[postgres]'") from None


def _upsert(connection: Connection) -> Any:
    from sqlalchemy.dialects import postgresql, sqlite

    made: Any = (sqlite if connection.dialect.name == "sqlite" else postgresql).insert(queries)
    names = ("mediator", "status", "slot", "arm", "reward", "worker")
    return made.on_conflict_do_update(index_elements=["study", "query"], set_={name: made.excluded[name] for name in names})


def _columns(study: int, one: Mapping[str, Any]) -> dict[str, Any]:
    payload = {key: value for key, value in one.items() if key not in OWN}
    return {"study": study, "payload": _json(payload), **{key: one.get(key) for key in OWN}}


def _event(row: Any) -> dict[str, Any]:
    own = {key: row._mapping[key] for key in OWN}
    if own["query"] is None:
        del own["query"]
    payload: dict[str, Any] = json.loads(row.payload)
    return own | payload


def _query_row(row: Any) -> QueryRow:
    return QueryRow(row.query, row.mediator, row.status, row.slot, row.arm, row.reward, row.worker)


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, allow_nan=False)


def _is_passing(error: DBAPIError, reason: str) -> bool:
    """May the same work a moment later? A lost connection, a database that is starting or stopping, a deadlock."""
    signs = ("connection", "shutting down", "starting up", "recovery", "terminat", "deadlock", "serialize")
    return error.connection_invalidated or any(sign in reason for sign in signs)


def _words(reason: str) -> str:
    if "full" in reason or "disk I/O" in reason or "No space" in reason:
        return f"cannot be written ({reason}): nothing was recorded; make room and try again"
    if "readonly" in reason or "read-only" in reason:
        return f"cannot be written ({reason}): nothing was recorded"
    if "not a database" in reason or "malformed" in reason:
        return f"is not a store of gobetween ({reason})"
    return f"cannot be used ({reason})"
