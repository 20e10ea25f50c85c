"""A mediator's own queries, and nothing else: never those of another, nor estimates, policies or other studies."""

from dataclasses import asdict, dataclass, replace
from typing import Annotated, Any, TypeVar

from fastapi import APIRouter, Depends, Request

from gobetween.errors import StudyError
from gobetween.service import models
from gobetween.service.access import Who
from gobetween.service.call import Json, Key, home_of, who_of
from gobetween.service.home import Home
from gobetween.service.refusals import ForbiddenError, NotFoundError
from gobetween.study import commands
from gobetween.study.commands import Command
from gobetween.study.study import Study
from gobetween.study.transaction import Receipt, Transaction, state_now

T = TypeVar("T")
LAST = 10  # answers that an inbox shows
router = APIRouter(prefix="/api/v1/inbox", tags=["inbox"], responses=models.REFUSALS)


@dataclass(frozen=True)
class Waiting:
    """A query that waits for its mediator."""

    query: int
    asked: float
    until: float | None


@dataclass(frozen=True)
class Given:
    """An answer that the mediator gave; no arm: it could not."""

    query: int
    arm: str | None
    reward: float | None


@dataclass(frozen=True)
class Inbox:
    """What a mediator sees."""

    title: str
    mediator: str
    arms: list[str]
    rewards: str
    """Which rewards there can be, in words."""
    choices: list[float]
    """The rewards there can be, where these are few."""
    silent: bool
    """May it answer that it could not?"""
    open: list[Waiting]
    given: list[Given]
    """The last ones, the latest first."""
    over: bool
    """Has the study stopped?"""
    now: float


def inbox_of(home: Home, who: Who) -> "Letterbox":
    """Where a mediator's queries and answers go."""
    served = None if who.store is None or who.study is None else home.named(who.store, who.study)
    if served is None or who.mediator is None:
        raise ForbiddenError("the study of this token is not served here")
    return Letterbox(served.study(who.label), who.mediator)


@dataclass(frozen=True)
class Letterbox:
    """One mediator of one study, known by its place."""

    study: Study
    place: int

    def look(self) -> Inbox:
        """All that it sees, of one moment."""
        with self.study.store.reading(self.study.name) as record:
            state = state_now(record)
            name, spec = state.spec.mediators[self.place], state.spec
            waiting = [Waiting(n, query.asked, query.until) for n, query in state.open.items() if query.mediator == name]
            rows = record.answered(self.place, LAST)
            given = [Given(row.query, None if row.arm is None else spec.arms[row.arm], row.reward) for row in rows]
            arms = [arm for arm in spec.arms if arm not in state.retired_arms]
            rewards, choices = spec.family.rewards, [0.0, 1.0] if spec.family.name == "bernoulli" else []
            over = state.stopped is not None
            return Inbox(spec.title, name, arms, rewards, choices, spec.silent, waiting, given, over, record.now)

    def tell(self, key: str | None, query: int, **answer: Any) -> Receipt:
        """Answer a query of its own."""
        args = (answer.get("arm"), answer.get("reward"), bool(answer.get("silent")))
        return self._do(commands.tell(query, *args, None, bool(answer.get("accept_surprise"))), query, key)

    def correct(self, key: str | None, query: int, reason: str, **answer: Any) -> Receipt:
        """Say what is right instead."""
        args = (answer.get("arm"), answer.get("reward"), bool(answer.get("silent")), None, reason)
        return self._do(commands.correct(query, *args, bool(answer.get("accept_surprise"))), query, key)

    def _do(self, command: Command[Receipt], query: int, key: str | None) -> Receipt:
        """Its own only: others it cannot tell from those that never were. Its keys are its own, too."""
        return self.study.do(_own(command, query, self.place), None if key is None else f"inbox-{self.place}-{key}")


def _own(command: Command[T], query: int, place: int) -> Command[T]:
    def work(tx: Transaction) -> T:
        try:
            own = tx.row(query).mediator == place
        except StudyError:  # never asked
            own = False
        if not own:
            raise NotFoundError(f"query {query} is not one of yours")
        return command.work(tx)

    return replace(command, work=work)


def _letterbox(request: Request) -> Letterbox:
    return inbox_of(home_of(request), who_of(request))


Own = Annotated[Letterbox, Depends(_letterbox)]


@router.get("")
def look(own: Own) -> Json:
    """Open queries, and the last answers."""
    return Json(asdict(own.look()))


@router.post("/tell")
def tell(own: Own, body: models.OwnTell, idempotency_key: Key = None) -> Json:
    """Answer a query of one's own."""
    return _brief(own.tell(idempotency_key, **body.model_dump()))


@router.post("/correct")
def correct(own: Own, body: models.OwnCorrect, idempotency_key: Key = None) -> Json:
    """Replace an answer of one's own that was wrong."""
    return _brief(own.correct(idempotency_key, **body.model_dump()))


def _brief(receipt: Receipt) -> Json:
    """What a mediator learns of it: neither whom else was asked, nor how the study stands."""
    return Json({"recorded": receipt.recorded, "query": receipt.query, "late": receipt.late})
