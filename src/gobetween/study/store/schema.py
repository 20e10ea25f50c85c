"""The schema of a store: tables are made, checked, or brought up to date with Alembic."""

from pathlib import Path
from typing import Any

from sqlalchemy import Connection, inspect, select

from gobetween.errors import Fix, StoreError
from gobetween.study.store.failures import damaged
from gobetween.study.store.tables import SCHEMA, metadata, schema

MIGRATIONS = Path(__file__).parent / "migrations"
VERSION = select(schema.c.version_num).limit(1)


def make_or_upgrade(connection: Connection, place: str) -> None:
    """Make the tables if there are none, upgrade older ones; in the caller's transaction, so that it can be run again."""
    if not inspect(connection).has_table(schema.name):
        metadata.create_all(connection, checkfirst=False)
        connection.execute(schema.insert(), {"version_num": f"{SCHEMA:04}"})
    elif _number(found := connection.execute(VERSION).scalar(), place) < SCHEMA:
        _upgrade(connection)
    else:
        refuse_other(found, place)


def _upgrade(connection: Connection) -> None:
    from alembic import command
    from alembic.config import Config

    config = Config()
    config.set_main_option("script_location", str(MIGRATIONS))
    config.attributes["connection"] = connection
    command.upgrade(config, "head")


def check_schema(connection: Connection, place: str) -> None:
    """Refuse a database without our tables, or with those of another schema."""
    if not inspect(connection).has_table(schema.name):
        raise StoreError(f"{place}: holds no studies of gobetween", fix=Fix("create"))
    refuse_other(connection.execute(VERSION).scalar(), place)


def refuse_other(found: Any, place: str) -> None:
    """Refuse a schema that this version does not use."""
    number = _number(found, place)
    words = f"{place}: has schema {number}, this version uses {SCHEMA}"
    if number < SCHEMA:
        raise StoreError(words, fix=Fix("migrate"))
    if number > SCHEMA:
        raise StoreError(f"{words}: use a newer gobetween")


def _number(found: Any, place: str) -> int:
    """Of a schema, which Alembic keeps as text."""
    if not str(found).isdecimal() or int(found) < 1:
        raise damaged(place, f"its schema is {found!r}")
    return int(found)
