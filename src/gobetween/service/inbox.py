"""A mediator's own queries, and nothing else: never those of another, nor estimates, policies or other studies."""

from dataclasses import asdict, dataclass, replace
from typing import Annotated, TypeVar

from fastapi import APIRouter, Depends, Request

from gobetween.errors import StudyError
from gobetween.service import models
from gobetween.service.access import Who
from gobetween.service.errors import ForbiddenError, NotFoundError
from gobetween.service.request import Json, StudyRequest, studies_of, verb_route, who_of
from gobetween.service.studies import ServedStudy, Studies
from gobetween.study.commands.commands import Command, command_of
from gobetween.study.commands.verbs import Correct, Tell
from gobetween.study.journal.receipts import Receipt
from gobetween.study.journal.transaction import Transaction, state_now
from gobetween.study.study import Study
from gobetween.words.messages import inbox_words

T = TypeVar("T")
LAST = 10  # answers that an inbox shows
router = APIRouter(prefix="/api/v1/inbox", tags=["inbox"], responses=models.REFUSALS)


@dataclass(frozen=True)
class WaitingQuery:
    """A query that waits for its mediator."""

    query: int
    asked: float
    until: float | None


@dataclass(frozen=True)
class GivenAnswer:
    """An answer that the mediator gave; no arm: it could not."""

    query: int
    arm: str | None
    reward: float | None


@dataclass(frozen=True)
class Inbox:
    """What a mediator sees."""

    title: str
    question: str  # what it is asked to do
    option: str  # what stands over the arms
    outcome: str  # and over the result
    yes: str  # what stands for the rewards 1 and 0, where these are all there can be
    no: str
    mediator: str
    arms: list[str]
    rewards: str  # which rewards there can be, in words
    choices: list[float]  # the rewards there can be, where these are few
    silent: bool  # may it answer that it could not?
    open: list[WaitingQuery]
    given: list[GivenAnswer]  # the last ones, the latest first
    over: bool  # has the study stopped?
    now: float


def inbox_of(studies: Studies, who: Who) -> "MediatorInbox":
    """Where a mediator's queries and answers go."""
    served = None if who.store is None or who.study is None else studies.named(who.store, who.study)
    if served is None or who.mediator is None:
        raise ForbiddenError("the study of this token is not served here")
    return MediatorInbox(served, served.study(who.label), who.mediator)


@dataclass(frozen=True)
class MediatorInbox:
    """One mediator of one study, known by its place."""

    served: ServedStudy
    study: Study
    place: int

    def look(self) -> Inbox:
        """All that it sees, of one moment."""
        with self.study.store.reading(self.study.name) as record:
            state = state_now(record)
            name, spec = state.spec.mediators[self.place], state.spec
            waiting = [WaitingQuery(n, query.asked, query.until) for n, query in state.open.items() if query.mediator == name]
            rows = record.answered(self.place, LAST)
            given = [GivenAnswer(row.query, None if row.arm is None else spec.arms[row.arm], row.reward) for row in rows]
            arms = [arm for arm in spec.arms if arm not in state.retired_arms]
            rewards, choices = spec.design.family.rewards, list(spec.design.family.choices)
            over = state.stopped is not None
            asked = inbox_words(spec.inbox, bool(choices))
            return Inbox(spec.title, *asked, name, arms, rewards, choices, spec.cast.silent, waiting, given, over, record.now)

    def command(self, verb: Tell | Correct) -> Command[Receipt]:
        """About a query of its own: others it cannot tell from those that never were. Its keys are its own, too."""
        key = None if verb.key is None else f"inbox-{self.place}-{verb.key}"
        return _own(command_of(replace(verb, key=key)), verb.number, self.place)


def _own(command: Command[T], query: int | None, place: int) -> Command[T]:
    def work(tx: Transaction) -> T:
        try:
            own = query is not None and tx.row(query).mediator == place
        except StudyError:  # never asked
            own = False
        if not own:
            raise NotFoundError(f"query {query} is not one of yours")
        return command.work(tx)

    return replace(command, work=work)


def _inbox_of(request: Request) -> MediatorInbox:
    return inbox_of(studies_of(request), who_of(request))


@router.get("")
def look(own: Annotated[MediatorInbox, Depends(_inbox_of)]) -> Json:
    """Open queries, and the last answers."""
    return Json(asdict(own.look()))


async def _act(request: Request, verb: Tell | Correct) -> Json:
    """What a mediator learns of it: neither whom else was asked, nor how the study stands."""
    own = _inbox_of(request)
    receipt = await StudyRequest(own.served, own.study).run(own.command(verb))
    return Json({"recorded": receipt.recorded, "query": receipt.query, "late": receipt.late})


ALONE = ("mediator", "again")  # what only those say who answer for others
OWN: tuple[type[Tell] | type[Correct], ...] = (Tell, Correct)
for verb in OWN:
    verb_route(router, f"/{verb.word}", "inbox", verb, models.body_of(verb, without=ALONE, required=("query",)), _act)
