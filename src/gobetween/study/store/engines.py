"""How a store is reached: the path of a SQLite file or the URL of a PostgreSQL database, as an engine of SQLAlchemy."""

import os
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, Engine, create_engine, event
from sqlalchemy.engine import URL, make_url
from sqlalchemy.exc import ArgumentError, NoSuchModuleError
from sqlalchemy.pool import NullPool

from gobetween.errors import Fix, StoreError, without_passwords

BUSY = 120.0  # seconds that a writer waits for its turn
READS = "gobetween_reads"  # execution option of a connection that only reads


def engine_of(where: str, create: bool) -> tuple[Engine, str]:
    """An engine, and the place for people to read, without a password."""
    if without_passwords(where) != where:
        raise StoreError("the URL of the store holds a password: leave it out and set PGPASSWORD in the environment")
    if "://" not in where:
        path = Path(where)
        if path.is_dir():
            raise StoreError(f"{path}: is a folder, not a store")
        if not path.absolute().parent.is_dir():
            raise StoreError(f"{path}: its folder does not exist")
        if not create and not path.is_file():
            raise StoreError(f"{path}: there is no such store", fix=Fix("create"))
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

    @event.listens_for(engine, "begin")
    def begin(connection: Connection) -> None:
        if connection.get_execution_options().get(READS):
            connection.exec_driver_sql("BEGIN")  # waits for nobody, so that it must not ask for anything that a writer holds
            return
        for pragma in ("journal_mode=WAL", "synchronous=FULL", "foreign_keys=ON"):
            connection.exec_driver_sql(f"PRAGMA {pragma}").close()
        connection.exec_driver_sql("BEGIN IMMEDIATE")

    return engine


def _postgres(url: URL) -> Engine:
    password = os.environ.get("PGPASSWORD")
    full = url.set(drivername="postgresql+psycopg", password=password) if password else url.set(drivername="postgresql+psycopg")
    try:
        return create_engine(full, pool_pre_ping=True, connect_args={"connect_timeout": 5})
    except (ImportError, NoSuchModuleError):
        raise StoreError("PostgreSQL needs psycopg: pip install 'gobetween[postgres]'") from None
