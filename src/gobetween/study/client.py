"""A study on a server, as if it were here: the methods, answers and exceptions of `Study`, by HTTP."""

import http.client
import json
import ssl
import threading
import time
import weakref
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, TypeVar
from urllib.parse import quote, urlsplit
from uuid import uuid4

from gobetween import errors
from gobetween.errors import Fix, GoBetweenError, StoreError, StudyError
from gobetween.export import some
from gobetween.study.commands.study_verbs import RenameStudy
from gobetween.study.commands.verb import AUTO, Verb
from gobetween.study.commands.verbs import Commands
from gobetween.study.journal.events import Event
from gobetween.study.journal.receipts import StudyQuery
from gobetween.study.journal.record import PATIENCE
from gobetween.study.spec.checks import check_number

if TYPE_CHECKING:
    from gobetween.study.spec.spec import StudySpec
    from gobetween.study.status.status import Status

T = TypeVar("T")
PAGE = 1000  # events of one answer
BROKEN = (OSError, http.client.HTTPException)
AWAY = (502, 503, 504)  # what a proxy says while the server behind it is away


class Client(Commands):
    """A study that `gobetween serve` serves; `study` names it in addresses, where there are several.

    A command that is interrupted is tried again for 15 seconds under a key of its own, so that it is done once.

    >>> gb.Client("http://127.0.0.1:8177", "gb_0123456789ab_…", "trial")
    <Client of 'trial' at http://127.0.0.1:8177>
    """

    def __init__(
        self, url: str, token: str, study: str | None = None, *, actor: str | None = None, timeout: float = 100.0
    ) -> None:
        parts = urlsplit(url)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise StudyError(f"url = {url!r}: write the address of a server, such as http://127.0.0.1:8177")
        self.url, self._token, self._named, self._actor, self._timeout = url.rstrip("/"), token.strip(), study, actor, timeout
        self._local, self._open = threading.local(), list[http.client.HTTPConnection]()
        weakref.finalize(self, _let_go, self._open)  # connections are closed even without close()

    def __repr__(self) -> str:
        return f"<Client of {self._named!r} at {self.url}>"

    def __enter__(self) -> "Client":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Let go of all connections; each thread that goes on opens a new one."""
        _let_go(self._open)

    def studies(self, archived: bool = False) -> list[dict[str, Any]]:
        """The studies that the token is for; those that are archived only where that is said."""
        return list(self._get(f"/api/v1/studies{'?archived=true' if archived else ''}")["studies"])

    @property
    def study(self) -> str:
        """The name in addresses; the only study of the server where none was said."""
        if self._named is None:
            found = [str(one["study"]) for one in self.studies()]
            if len(found) != 1:
                raise StudyError(f"{self.url} serves {len(found)} studies: name one of {some(found)}")
            self._named = found[0]
        return self._named

    # commands ---------------------------------------------------------------------------------------------------------

    def do(self, verb: Verb[T]) -> T:
        """Any verb, by HTTP; under a key, so that it is done once however often it is tried."""
        try:
            sent = json.dumps(verb.arguments(), allow_nan=False)
        except (TypeError, ValueError) as error:
            raise StudyError(f"{verb.word}: cannot be sent as JSON ({error})") from None
        headers = {"Idempotency-Key": _header("key", verb.key or f"{AUTO}{uuid4()}")}
        done = self._patiently("POST", f"/api/v1/studies/{quote(self.study)}/{verb.word}", sent, headers)
        if isinstance(verb, RenameStudy):
            self._named = next(str(one["study"]) for one in self.studies(archived=True) if one["name"] == verb.name)
        return verb.from_json(done)

    # views ------------------------------------------------------------------------------------------------------------

    @property
    def spec(self) -> "StudySpec":
        """What the study is about."""
        from gobetween.study.spec.spec import StudySpec

        return StudySpec.from_dict(self._look("/spec")["spec"])

    def status(self) -> "Status":
        """How the study stands."""
        from gobetween.study.status.status import Status

        return Status.from_dict(self._look(""))

    def pending(self) -> list[StudyQuery]:
        """Open queries, oldest first."""
        return _queries(self._look("/pending"))

    def overdue(self) -> list[StudyQuery]:
        """Queries whose lease has ended without an answer."""
        return _queries(self._look("/overdue"))

    def events(self, after: int = 0, limit: int | None = None) -> Iterator[Event]:
        """Recorded events in order."""
        check_number("after", after)
        if limit is not None:
            check_number("limit", limit)
        return self._events(after, limit)

    def _events(self, after: int, limit: int | None) -> Iterator[Event]:
        while limit is None or limit > 0:
            size = PAGE if limit is None else min(PAGE, limit)
            page = self._look(f"/events?after={after}&limit={size}")
            yield from page["events"]
            if len(page["events"]) < size:
                return
            after, limit = page["next"], None if limit is None else limit - size

    # how --------------------------------------------------------------------------------------------------------------

    def _look(self, rest: str) -> dict[str, Any]:
        return self._get(f"/api/v1/studies/{quote(self.study)}{rest}")

    def _get(self, path: str) -> dict[str, Any]:
        return self._patiently("GET", path, None, {})

    def _patiently(self, method: str, path: str, body: str | None, headers: Mapping[str, str]) -> dict[str, Any]:
        """Try again while the server does not answer, or its store does not."""
        deadline, pause = time.monotonic() + PATIENCE, 0.05
        while True:
            try:
                return self._once(method, path, body, headers)
            except StoreError as error:
                if not error.passing or time.monotonic() > deadline:
                    raise
            time.sleep(pause)
            pause = min(1.0, 2 * pause)

    def _once(self, method: str, path: str, body: str | None, headers: Mapping[str, str]) -> dict[str, Any]:
        said = {"Authorization": f"Bearer {_header('token', self._token)}", "Content-Type": "application/json", **headers}
        if self._actor is not None:
            said["X-Actor"] = _header("actor", self._actor)
        connection = self._connection()
        try:
            connection.request(method, path, body, said)
            answer = connection.getresponse()
            status, text = answer.status, answer.read()
        except BROKEN as error:
            connection.close()  # the next request opens a new one
            failure = StoreError(f"{self.url}: does not answer ({type(error).__name__}: {error})")
            failure.passing = not isinstance(error, (ssl.SSLError, TimeoutError))
            raise failure from None
        try:
            found: dict[str, Any] = json.loads(text)
        except ValueError:
            failure = StoreError(f"{self.url}: answered {status}, and not as a server of gobetween does")
            failure.passing = status in AWAY
            raise failure from None
        if status >= 400:
            raise _error(found, status)
        return found

    def _connection(self) -> http.client.HTTPConnection:
        held: http.client.HTTPConnection | None = getattr(self._local, "connection", None)
        if held is None:
            parts = urlsplit(self.url)
            kind = http.client.HTTPSConnection if parts.scheme == "https" else http.client.HTTPConnection
            held = self._local.connection = kind(parts.hostname or "", parts.port, timeout=self._timeout)
            self._open.append(held)
        return held


def _let_go(connections: list[http.client.HTTPConnection]) -> None:
    for connection in connections:
        connection.close()


def _header(what: str, text: str) -> str:
    if not text.isascii() or not text.isprintable():
        raise StudyError(f"{what}: must be of printable ASCII characters to be sent")
    return text


def _queries(found: Mapping[str, Any]) -> list[StudyQuery]:
    return [StudyQuery(**query) for query in found["queries"]]


def _error(found: Mapping[str, Any], status: int) -> GoBetweenError:
    """What the server raised; what only a server knows is a StudyError here."""
    told = found.get("error") if isinstance(found, dict) else None
    if not isinstance(told, Mapping):
        return StoreError(f"the server answered {status}, and not as one of gobetween does")
    kind = getattr(errors, str(told.get("kind")), StudyError)
    if not (isinstance(kind, type) and issubclass(kind, StudyError | StoreError)):
        kind = StudyError
    fix = None if told.get("fix") is None else Fix(**told["fix"])
    made: GoBetweenError = kind(str(told.get("what")), where=tuple(told.get("where", ())), fix=fix)
    if isinstance(made, StoreError):
        made.passing = status == 503
    return made
