"""How a store is reached: the path of a SQLite file or the URL of a PostgreSQL database, as an engine of SQLAlchemy."""

import os
import time
import warnings
from contextlib import suppress
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, Engine, create_engine, event
from sqlalchemy.engine import URL, make_url
from sqlalchemy.exc import ArgumentError, NoSuchModuleError
from sqlalchemy.pool import NullPool, QueuePool

from gobetween.errors import Fix, StoreError, without_passwords
from gobetween.files.paths import check_file

BUSY = 120.0  # seconds that a writer waits for its turn in a SQLite file
POOL: dict[str, Any] = {"poolclass": QueuePool, "pool_size": 16, "max_overflow": -1}  # threads bound it: none waits for others
READS = "gobetween_reads"  # execution option of a connection that only reads


def engine_of(where: str, create: bool, pooled: bool = False) -> tuple[Engine, str]:
    """An engine, and the place for people to read, without a password. pooled: connections to a file stay open."""
    if without_passwords(where) != where:
        raise StoreError("the URL of the store holds a password: leave it out and set PGPASSWORD in the environment")
    if "://" not in where:
        path = Path(where)
        if path.is_dir():
            raise StoreError(f"{path}: is a folder, not a store")
        if not path.absolute().parent.is_dir():
            raise StoreError(f"{path}: its folder does not exist")
        if path.exists():
            check_file(path, StoreError)
        if not create and not path.is_file():
            raise StoreError(f"{path}: there is no such store", fix=Fix("create"))
        if create:
            make_private(path)
        _warn_of_a_lost_log(path)
        return _lite(path, pooled), str(path)
    try:
        url = make_url(where)
    except (ArgumentError, ValueError):
        raise StoreError("the URL of the store cannot be read: write postgresql://user@host/database") from None
    if url.get_backend_name() != "postgresql":
        raise StoreError(f"{url.drivername}: only postgresql:// URLs and paths of SQLite files are understood")
    if url.password is not None or "password" in url.query:
        raise StoreError("the URL of the store holds a password: leave it out and set PGPASSWORD in the environment")
    return _postgres(url), url.render_as_string(hide_password=True)


def make_private(path: Path) -> None:
    """An empty file that only its owner reads, for it will hold contacts; SQLite makes -wal and -shm alike.

    One that is there stays closed: to close it here would end the locks that SQLite has on it.
    """
    with suppress(OSError):  # what is wrong SQLite says
        os.close(os.open(path, os.O_CREAT | os.O_EXCL, 0o600))


def _warn_of_a_lost_log(path: Path) -> None:
    """SQLite takes -wal and -shm away together: one without the other was copied or removed by hand.

    The -wal goes first, by a moment. When both are missing it cannot be told whether there was one.
    """
    wal, shm = path.with_name(f"{path.name}-wal"), path.with_name(f"{path.name}-shm")
    for _ in range(3):
        if not path.is_file() or wal.exists() or not shm.exists():
            return
        time.sleep(0.05)
    words = f"{path}: its file {wal.name} is missing, though {shm.name} is there: what was recorded last may be lost"
    warnings.warn(words, stacklevel=2)


class OpenFiles:
    """The files behind open connections to SQLite, which would go on writing into one that has no name any more."""

    def __init__(self, path: Path) -> None:
        self._path, self._wal = path, path.with_name(f"{path.name}-wal")
        self._file = _identity(path)
        self._logs: dict[tuple[int, int], tuple[int, int] | None] = {}
        """The -wal of each connection that has written: as long as one is open, SQLite takes it away from nobody."""

    def wrote(self, connection: Any) -> None:
        """It has its -wal open from now on; so has no child of this process."""
        self._logs.setdefault((os.getpid(), id(connection)), _identity(self._wal))

    def closed(self, connection: Any) -> None:
        """It holds nothing any more."""
        self._logs.pop((os.getpid(), id(connection)), None)

    def check(self) -> None:
        """Are they still where they were?"""
        file, logs = _identity(self._path), {log for (pid, _), log in list(self._logs.items()) if pid == os.getpid()}
        self._file = self._file or file
        if file != self._file or (logs and logs != {_identity(self._wal)}):
            words = "was removed or replaced while it was in use, or its -wal was: bring it back, then start again"
            raise StoreError(f"{self._path}: {words}")


def _identity(path: Path) -> tuple[int, int] | None:
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_dev, found.st_ino


def _lite(path: Path, pooled: bool) -> Engine:
    url, how = URL.create("sqlite", database=str(path)), POOL if pooled else {"poolclass": NullPool}
    engine = create_engine(url, connect_args={"timeout": BUSY, "check_same_thread": False}, **how)
    files = OpenFiles(path)

    @event.listens_for(engine, "do_connect")
    def before(*_: Any) -> None:
        files.check()  # or SQLite would make an empty one

    @event.listens_for(engine, "close")
    def close(connection: Any, _: Any) -> None:
        files.closed(connection)

    @event.listens_for(engine, "connect")
    def connect(connection: Any, _: Any) -> None:
        connection.isolation_level = None  # transactions are ours

    @event.listens_for(engine, "begin")
    def begin(connection: Connection) -> None:
        files.check()
        if connection.get_execution_options().get(READS):
            connection.exec_driver_sql("BEGIN")  # waits for no one, so that it must not ask for anything that a writer holds
            return
        for pragma in ("journal_mode=WAL", "synchronous=FULL", "foreign_keys=ON"):
            connection.exec_driver_sql(f"PRAGMA {pragma}").close()
        connection.exec_driver_sql("BEGIN IMMEDIATE")
        files.wrote(connection.connection.dbapi_connection)
        files.check()

    return engine


def _postgres(url: URL) -> Engine:
    password = os.environ.get("PGPASSWORD")
    full = url.set(drivername="postgresql+psycopg", password=password) if password else url.set(drivername="postgresql+psycopg")
    try:
        from gobetween.study.store.postgres import Connection as Bounded
        from gobetween.study.store.postgres import bounds

        given = " ".join(url.normalized_query.get("options", ()))
        engine = create_engine(full, pool_pre_ping=True, connect_args=bounds(given), **POOL)
    except (ImportError, NoSuchModuleError):
        raise StoreError("PostgreSQL needs psycopg: pip install 'gobetween[postgres]'") from None

    @event.listens_for(engine, "do_connect")
    def connect(dialect: Any, record: Any, arguments: Any, options: Any) -> Any:
        return Bounded.connect(*arguments, **options)

    return engine
