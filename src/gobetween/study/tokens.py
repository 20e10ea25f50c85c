"""Who may do what: random tokens, of which a store keeps a digest only.

An administrator's token is for all studies of a store, a mediator's for its own inbox in one of them. A token reads
gb_ID_SECRET: the id finds the row, the secret of 256 random bits proves it, so that a plain digest is enough.

A browser gets a secret of its own for an administrator's token, gs_ID.NUMBER_SECRET: a session, which ends with its token.
"""

import hashlib
import hmac
import re
import secrets
from collections.abc import Sequence
from dataclasses import replace

from gobetween.errors import Fix, StudyError
from gobetween.export import choose
from gobetween.study.journal.record import TokenRow, TokenStore
from gobetween.study.spec.checks import check_text
from gobetween.study.study import Study

FORM = re.compile(r"gb_([0-9a-f]{12})_([0-9A-Za-z_-]{43})")
SESSION = re.compile(r"gs_([0-9a-f]{12}\.[0-9a-f]{12})_([0-9A-Za-z_-]{43})")
LONGEST = 3650.0  # days
STAY = 7 * 86400.0  # seconds that a session lasts


def drawn() -> tuple[str, str, str]:
    """A new token: the token, its id and its digest."""
    number, secret = secrets.token_hex(6), secrets.token_urlsafe(32)
    return f"gb_{number}_{secret}", number, digest(secret)


def digest(secret: str) -> str:
    """What is kept of a secret."""
    return hashlib.sha256(secret.encode()).hexdigest()


def parts(token: str, form: re.Pattern[str] = FORM) -> tuple[str, str] | None:
    """Id and digest of a token, or of a session; None where it is none."""
    found = form.fullmatch(token)
    return None if found is None else (found[1], digest(found[2]))


def proven(store: TokenStore, number: str, held: str) -> TokenRow | None:
    """The row of a token, or of a session whose token is valid, too, if this is its digest and it is valid now."""
    row = _valid(store, number)
    token = number.partition(".")[0]
    if row is None or not hmac.compare_digest(row.digest, held) or (token != number and _valid(store, token) is None):
        return None
    return row


def _valid(store: TokenStore, number: str) -> TokenRow | None:
    now = store.now()
    valid = (row for row in store.tokens(number) if row.revoked is None and (row.expires is None or now < row.expires))
    return next(valid, None)


def new_session(store: TokenStore, token: str, label: str) -> str:
    """Log in a browser for an administrator's token, known by its id."""
    number, secret, now = f"{token}.{secrets.token_hex(6)}", secrets.token_urlsafe(32), store.now()
    store.keep_token(TokenRow(number, None, None, label, digest(secret), now, now + STAY))
    return f"gs_{number}_{secret}"


def listed(store: TokenStore) -> list[TokenRow]:
    """The tokens of a store, without sessions."""
    return [row for row in store.tokens() if "." not in row.id]


def new_token(study: Study, mediator: str | None, days: float | None, label: str = "") -> tuple[str, TokenRow]:
    """Make one for a mediator's inbox, or (None) for the administrator of the study's store; the token is shown once."""
    check_text("label", label, 200)
    if days is not None and not 0.0 < days <= LONGEST:
        raise StudyError(f"days = {days:g}: a token is valid for more than 0 and at most {LONGEST:,.0f} days")
    place = None if mediator is None else _place(study, mediator)
    token, number, held = drawn()
    now = study.store.now()
    expires = None if days is None else now + 86400.0 * days
    name = label or mediator or "admin"
    row = TokenRow(number, None if mediator is None else study.name, place, name, held, now, expires)
    study.store.keep_token(row)
    return token, row


def _place(study: Study, mediator: str) -> int:
    names: Sequence[str] = study.spec.mediators
    if mediator not in names:
        raise StudyError(f"mediator {mediator!r} is not known: {choose(mediator, names)}")
    return names.index(mediator)


def revoke(store: TokenStore, number: str) -> TokenRow:
    """Make a token invalid for ever."""
    found = store.tokens(number)
    if not found:
        raise StudyError(f"there is no token {number!r}", fix=Fix("tokens"))
    if found[0].revoked is not None:
        return found[0]
    row = replace(found[0], revoked=store.now())
    store.keep_token(row)
    return row
