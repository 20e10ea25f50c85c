"""What a database's error codes mean: one sentence, and whether the same may work a moment later."""

from sqlalchemy.exc import DBAPIError

from gobetween.errors import Fix, StoreError

#: Codes of PostgreSQL that pass: it is stopping, crashed or starting; serialization, deadlock, too many connections.
PASSING = ("57P01", "57P02", "57P03", "40001", "40P01", "53300")
FULL = ("53100", "SQLITE_FULL", "SQLITE_IOERR")
READ_ONLY = ("25006", "SQLITE_READONLY")
FOREIGN = ("SQLITE_NOTADB",)
BROKEN = ("SQLITE_CORRUPT", "XX001", "XX002")
#: What PostgreSQL says to whom it does not let in: its driver has no code for that. In other languages it is tried again.
REFUSED = ("password authentication failed", "no pg_hba.conf entry", "does not exist")
HELD = ("55P03", "57014", "SQLITE_BUSY", "SQLITE_LOCKED")
LONGEST = 200  # characters of what a database says of an error


def told(place: str, error: DBAPIError) -> StoreError:
    """What has gone wrong in a database, in one sentence."""
    reason, code = " ".join(str(error.orig).split())[:LONGEST], _code(error)
    if code.startswith(BROKEN) or "Could not decode to UTF-8" in reason:  # for which Python's sqlite3 has no code
        return damaged(place, reason)
    failure = StoreError(f"{place}: {_words(code, reason)}")
    failure.passing = error.connection_invalidated or _passes(error)
    return failure


def damaged(place: str, why: str) -> StoreError:
    """Something in a store is not as it was written."""
    return StoreError(f"{place}: is damaged ({why})", fix=Fix("restore"))


def _code(error: DBAPIError) -> str:
    """The code: five characters of SQLSTATE, or the name that SQLite gives it; empty when it says none."""
    return getattr(error.orig, "sqlstate", None) or getattr(error.orig, "sqlite_errorname", None) or ""


def _passes(error: DBAPIError) -> bool:
    """A connection that was lost or refused has no code of PostgreSQL: none was reached that could say one."""
    code = _code(error)
    if not hasattr(error.orig, "sqlstate") or (not code and any(words in str(error.orig) for words in REFUSED)):
        return False
    return not code or code.startswith("08") or code in PASSING


def _words(code: str, reason: str) -> str:
    if code.startswith(FULL):
        return f"cannot be written ({reason}): nothing was recorded; make room and try again"
    if code.startswith(READ_ONLY):
        return f"cannot be written ({reason}): nothing was recorded"
    if code.startswith(HELD):
        held = f"someone else is writing and does not come to an end ({reason})"
        return f"{held}: nothing was recorded; try again, or end that process"
    if code.startswith(FOREIGN):
        return f"is not a store of gobetween ({reason}): name a study.toml, the SQLite file of a store or its URL"
    return f"cannot be used ({reason})"
