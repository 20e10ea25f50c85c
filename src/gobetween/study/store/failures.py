"""What a database's error codes mean: one sentence, and whether the same may work a moment later."""

from sqlalchemy.exc import DBAPIError

from gobetween.errors import StoreError

#: Codes of PostgreSQL that pass: it is stopping, crashed or starting; serialization, deadlock, too many connections.
PASSING = ("57P01", "57P02", "57P03", "40001", "40P01", "53300")
FULL = ("53100", "SQLITE_FULL", "SQLITE_IOERR")
READ_ONLY = ("25006", "SQLITE_READONLY")
FOREIGN = ("SQLITE_NOTADB", "SQLITE_CORRUPT")


def told(place: str, error: DBAPIError) -> StoreError:
    """What has gone wrong in a database, in one sentence."""
    reason = " ".join(str(error.orig).split())
    failure = StoreError(f"{place}: {_words(_code(error), reason)}")
    failure.passing = error.connection_invalidated or _passes(error)
    return failure


def _code(error: DBAPIError) -> str:
    """The code: five characters of SQLSTATE, or the name that SQLite gives it; empty when it says none."""
    return getattr(error.orig, "sqlstate", None) or getattr(error.orig, "sqlite_errorname", None) or ""


def _passes(error: DBAPIError) -> bool:
    """A connection that was lost or refused has no code of PostgreSQL: none was reached that could say one."""
    code = _code(error)
    if not hasattr(error.orig, "sqlstate"):
        return False
    return not code or code.startswith("08") or code in PASSING


def _words(code: str, reason: str) -> str:
    if code.startswith(FULL):
        return f"cannot be written ({reason}): nothing was recorded; make room and try again"
    if code.startswith(READ_ONLY):
        return f"cannot be written ({reason}): nothing was recorded"
    if code.startswith(FOREIGN):
        return f"is not a store of gobetween ({reason})"
    return f"cannot be used ({reason})"
