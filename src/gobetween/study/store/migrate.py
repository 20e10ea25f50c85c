"""Bring a database up to date with Alembic; imported only when a store is made or migrated."""

from collections.abc import Callable
from pathlib import Path

from alembic import command
from alembic.config import Config
from alembic.util.exc import CommandError
from sqlalchemy import Connection, Engine

from gobetween.errors import Fix, StoreError


def upgrade(engine: Engine, place: str, check: Callable[[Connection], None]) -> None:
    """From whatever there is, nothing included, to the present tables; in one transaction, so that it can be run again.

    `check` refuses what must not be touched.
    """
    config = Config()
    config.set_main_option("script_location", str(Path(__file__).parent / "migrations"))
    with engine.begin() as connection:
        check(connection)
        config.attributes["connection"] = connection
        try:
            command.upgrade(config, "head")
        except CommandError as error:
            raise StoreError(f"{place}: cannot be brought up to date ({error})", fix=Fix("restore")) from None
