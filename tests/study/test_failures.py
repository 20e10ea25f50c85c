"""A database's failures are told by their codes, whatever language it speaks."""

import pytest
from sqlalchemy.exc import OperationalError

from gobetween.study.store.failures import told


class PostgresError(Exception):
    def __init__(self, sqlstate: str | None, words: str = "irgendetwas\nging schief") -> None:
        super().__init__(words)
        self.sqlstate = sqlstate


class LiteError(Exception):
    def __init__(self, name: str) -> None:
        super().__init__("irgendetwas\nging schief")
        self.sqlite_errorname = name


@pytest.mark.parametrize(
    ("error", "words", "passing"),
    [
        (PostgresError(None), "cannot be used (irgendetwas ging schief)", True),  # no server was reached
        (PostgresError(None, 'FATAL: password authentication failed for user "me"'), "password authentication failed", False),
        (PostgresError(None, 'FATAL: database "x" does not exist'), "does not exist", False),
        (PostgresError("08006"), "cannot be used", True),
        (PostgresError("57P01"), "cannot be used", True),
        (PostgresError("57P03"), "cannot be used", True),
        (PostgresError("40P01"), "cannot be used", True),
        (PostgresError("40001"), "cannot be used", True),
        (PostgresError("42P01"), "cannot be used", False),
        (PostgresError("28P01"), "cannot be used", False),
        (PostgresError("53100"), "nothing was recorded; make room and try again", False),
        (PostgresError("25006"), "cannot be written (irgendetwas ging schief): nothing was recorded", False),
        (LiteError("SQLITE_FULL"), "nothing was recorded; make room and try again", False),
        (LiteError("SQLITE_IOERR_WRITE"), "nothing was recorded; make room and try again", False),
        (LiteError("SQLITE_READONLY_DIRECTORY"), "cannot be written", False),
        (LiteError("SQLITE_NOTADB"), "is not a store of gobetween", False),
        (LiteError("SQLITE_CORRUPT_INDEX"), "is damaged (irgendetwas ging schief)", False),
        (LiteError("SQLITE_BUSY"), "someone else is writing and does not come to an end (irgendetwas ging schief)", False),
        (PostgresError("55P03"), "someone else is writing", False),
        (PostgresError("57014"), "nothing was recorded; try again, or end that process", False),
        (RuntimeError("no code"), "cannot be used (no code)", False),
    ],
)
def test_codes(error: Exception, words: str, passing: bool) -> None:
    failure = told("here", OperationalError("SELECT 1", {}, error))
    assert str(failure).startswith("here: ")
    assert words in str(failure)
    assert "\n" not in str(failure)
    assert failure.passing == passing
