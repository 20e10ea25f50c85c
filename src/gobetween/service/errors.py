"""The one table from exceptions to answers: a status, and one sentence."""

from collections.abc import Mapping
from typing import Any

from gobetween.errors import Fix, GoBetweenError, StudyError
from gobetween.words.fixes import SERVICE

#: Exception → status; the nearest class counts.
STATUS: Mapping[str, int] = {
    "TokenError": 401,
    "ForbiddenError": 403,
    "NotFoundError": 404,
    "ConflictError": 409,
    "AlarmError": 409,
    "TooLargeError": 413,
    "TooOftenError": 429,
    "StoreError": 503,
    "GoBetweenError": 422,
}


class TokenError(GoBetweenError):
    """No token, or one that is not valid."""


class ForbiddenError(GoBetweenError):
    """A valid token, but not for this."""


class NotFoundError(GoBetweenError):
    """There is no such thing here."""


class TooLargeError(GoBetweenError):
    """More than is taken."""


class TooOftenError(GoBetweenError):
    """Too many tokens that are not valid."""


def status_of(error: GoBetweenError) -> int:
    """The status of an answer."""
    if error.missing and isinstance(error, StudyError):  # another has renamed or deleted the study
        return STATUS["NotFoundError"]
    return next(STATUS[kind.__name__] for kind in type(error).__mro__ if kind.__name__ in STATUS)


def sentence_of(error: GoBetweenError) -> str:
    """One sentence, for someone who speaks to the service."""
    return error.sentence(fixes=SERVICE)


def error_body(error: GoBetweenError) -> dict[str, Any]:
    """What is wrong, as data: enough to raise the same again elsewhere."""
    fix: Fix | None = error.fix
    return {
        "format": 1,
        "error": {
            "kind": type(error).__name__,
            "sentence": sentence_of(error),
            "what": error.what,
            "where": list(error.where),
            "fix": None if fix is None else {"name": fix.name, "about": fix.about},
        },
    }
