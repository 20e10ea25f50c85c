"""Bring a database up to date with Alembic; imported only when a store is made or migrated."""

from pathlib import Path

from alembic import command
from alembic.config import Config
from alembic.util.exc import CommandError
from sqlalchemy import Connection

from gobetween.errors import Fix, StoreError


def upgrade(connection: Connection, place: str) -> None:
    """From whatever there is, nothing included, to the present tables; in a transaction, so that it can be run again."""
    config = Config()
    config.set_main_option("script_location", str(Path(__file__).parent / "migrations"))
    config.attributes["connection"] = connection
    try:
        command.upgrade(config, "head")
    except CommandError as error:
        raise StoreError(f"{place}: cannot be brought up to date ({error})", fix=Fix("restore")) from None
