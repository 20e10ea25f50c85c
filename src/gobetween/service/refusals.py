"""The one table from exceptions to answers: a status, one sentence, and the fix in words of the service."""

from collections.abc import Mapping
from typing import Any

from gobetween import errors
from gobetween.errors import Fix, GoBetweenError

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
#: What can be done, in words of REST; the names are those of `errors.FIXES`.
FIXES: Mapping[str, str] = {
    "again": 'if it is another answer, send "again": true or an Idempotency-Key',
    "back": "POST back says that someone is back",
    "budget": "raise the budget in the study file, then POST resume goes on",
    "cancel": 'POST cancel with "query": {} withdraws it',
    "correct": 'POST correct with "query": {} changes that',
    "create": "whoever runs the server can make one",
    "join": "POST add-mediator takes in a new one",
    "migrate": "whoever runs the server must bring it up to date",
    "rename": "or, if only the name is new, POST rename says so",
    "restore": "whoever runs the server can bring back a backup",
    "resume": "POST resume goes on",
    "resume-anyway": "POST resume asks on all the same",
    "retire": "POST retire leaves it out from now on",
    "silent": "if this mediator sometimes answers nothing, the study must be made with silent",
    "status": "GET the study shows it",
    "surprise": 'correct this, or send "accept_surprise": true',
    "which-name": 'send "what": "arm" or "mediator"',
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
    return next(STATUS[kind.__name__] for kind in type(error).__mro__ if kind.__name__ in STATUS)


def sentence_of(error: GoBetweenError) -> str:
    """One sentence, for someone who speaks to the service."""
    return error.sentence(fixes={**errors.FIXES, **FIXES})


def body_of(error: GoBetweenError) -> dict[str, Any]:
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
