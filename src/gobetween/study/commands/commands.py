"""Commands: verbs with their work inside a transaction; and the work of those about queries (the others: lifecycle.py).

A verb is checked when it is made; nothing happens until its work is done.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Generic, TypeVar
from uuid import uuid4

from gobetween.errors import ConflictError, Fix, ProblemError, StudyError
from gobetween.names import as_declared
from gobetween.study.commands.verb import AUTO, Verb
from gobetween.study.commands.verbs import Ask, Cancel, Correct, Tell, Void
from gobetween.study.journal.events import Event, marks_of
from gobetween.study.journal.receipts import Receipt, StudyQuery
from gobetween.study.journal.transaction import Transaction, shown, verdict_in, why_nothing
from gobetween.study.spec.spec import StudySpec

T = TypeVar("T")
V = TypeVar("V", bound=Verb[Any])
Work = Callable[[V, Transaction], T]
Again = Callable[[Transaction, list[Event], bool], T]
"""The answer of a command whose events are there already: as its own, or another's."""
NAMES = ("arm", "mediator", "name", "old", "new")  # arguments of verbs that are names of arms and mediators
SOON, LAST = 600.0, 50  # an unasked answer is compared with those of so many seconds and events before


@dataclass(frozen=True)
class Command(Generic[T]):
    """What is wanted, the work itself, and what to answer when its events are there already."""

    verb: Verb[T]
    work: Callable[[Transaction], T]
    again: Again[T]

    @property
    def about(self) -> int | None:
        """The query whose row it reads, so that the rows of several commands can be read at once."""
        return self.verb.number if isinstance(self.verb, Tell) else None

    @property
    def joins(self) -> bool:
        """Does it read nothing of the record but keys and rows of queries? Then several may share a transaction."""
        return self.about is not None or isinstance(self.verb, Ask)

    def run(self, tx: Transaction, key: str, known: bool) -> T:
        """Do it under a key or, where the key may be known, say what was done under it."""
        if before := tx.record.by_key(key) if known else []:
            return self.repeated(tx, key, before, own=not self.verb.keyed)
        try:
            tx.catch_up()
            answer = self.work(tx)
        except ProblemError as error:
            raise StudyError(error.what, where=error.where, fix=error.fix) from None
        tx.keyed(0, key if tx.refused is None else f"{AUTO}{uuid4()}", self.verb.digest)
        return answer

    def repeated(self, tx: Transaction, key: str, before: list[Event], own: bool) -> T:
        """The answer where its key was used before; own: by this very command, whose acknowledgement was lost."""
        if before[0].get("request") != self.verb.digest:
            raise ConflictError(f"key {key!r} was used before for something else: choose another")
        return self.again(tx, before, own)


def rebuilt(tx: Transaction, events: list[Event], own: bool) -> Receipt:
    """The receipt of a command that was recorded before; its own if only the acknowledgement was lost."""
    asked = [event["query"] for event in events if event["kind"] == "asked"]
    queries = tuple(shown(tx.state, number, new=own) for number in asked if number in tx.state.open)
    return Receipt(own, events[0].get("query"), bool(events[0].get("late")), queries, verdict_in(events))


_WORK: dict[type[Verb[Any]], tuple[Work[Any, Any], Again[Any]]] = {}


def work_of(verb: type[V], again: Again[Any] = rebuilt) -> Callable[[Work[V, T]], Work[V, T]]:
    """Makes a function the work of a verb."""

    def keep(work: Work[V, T]) -> Work[V, T]:
        _WORK[verb] = (work, again)
        return work

    return keep


def command_of(verb: Verb[T]) -> Command[T]:
    """A verb with its work."""
    work, again = _WORK[type(verb)]
    return Command(verb, lambda tx: work(_as_declared(verb, tx.state.spec), tx), again)


def _as_declared(verb: V, spec: StudySpec) -> V:
    """The verb with names of arms and mediators as the study has them, in whatever Unicode form they are given."""
    given = {name: value for name in NAMES if isinstance(value := getattr(verb, name, None), str) and not value.isascii()}
    if not given:
        return verb
    found = as_declared(given.values(), (*spec.arms, *spec.mediators))
    return replace(verb, **dict(zip(given, found, strict=True)))


def _asked_again(tx: Transaction, events: list[Event], own: bool) -> list[StudyQuery]:
    numbers = [event["query"] for event in events if event["kind"] in ("asked", "taken") and not event.get("top_up")]
    return [shown(tx.state, number, new=own) for number in numbers if number in tx.state.open]


@work_of(Ask, _asked_again)
def ask(verb: Ask, tx: Transaction) -> list[StudyQuery]:
    """Issue queries, or find those that are open."""
    state, worker = tx.state, verb.worker
    flying = {number: query for number, query in state.open.items() if not query.expired}
    for number, query in flying.items():
        if worker is not None and query.worker == worker:
            return [shown(state, number, new=False)]
    free = [number for number, query in flying.items() if query.worker is None]
    present = [number for number in free if flying[number].mediator not in state.away]
    idle = state.stopped is not None or state.paused or state.archived
    if worker is not None and present and not idle and state.spec.in_flight is not None:
        return [_take(tx, present[0], worker)]
    wanted = 1 if verb.n is None else verb.n
    if verb.n is None and worker is None and state.spec.in_flight is not None:
        wanted = max(0, state.spec.in_flight - state.flying())
        if wanted == 0 and not idle:
            return [shown(state, number, new=False) for number in free]
    return _issue(tx, wanted, worker)


def _take(tx: Transaction, number: int, worker: str) -> StudyQuery:
    tx.do("taken", query=number, mediator=tx.state.open[number].mediator, worker=worker, until=tx.until())
    return shown(tx.state, number)


def _issue(tx: Transaction, wanted: int, worker: str | None) -> list[StudyQuery]:
    asked: list[StudyQuery] = []
    reason = why_nothing(tx.state)
    while len(asked) < wanted and reason is None:
        asked.append(tx.ask_one(worker))
        reason = why_nothing(tx.state)
    tx.settle()
    tx.refused = None if asked else why_nothing(tx.state) or reason
    return asked


@work_of(Tell)
def tell(verb: Tell, tx: Transaction) -> Receipt:
    """Record an answer."""
    number, said = verb.number, _answer(verb)
    if number is None:
        if not (verb.again or verb.keyed):
            _refuse_twin(tx, {"mediator": verb.mediator} | (said or {}))
        return _record(tx, verb, {"mediator": verb.mediator, "unasked": True})
    row = tx.row(number)
    name = tx.mediator(row)
    if verb.mediator is not None and verb.mediator != name:
        raise StudyError(f"query {number} was for mediator {name!r}, not for {verb.mediator!r}")
    if row.status in ("told", "silent"):
        before = tx.recorded_answer(row)
        if before == said:
            return Receipt(recorded=False, query=number)
        words = "silence" if before is None else f"arm {before['arm']!r}, reward {before['reward']:g}"
        raise ConflictError(f"query {number} was answered before with {words}", fix=Fix("correct", str(number)))
    if row.status == "cancelled":
        raise StudyError(f"query {number} was cancelled: tell the answer without a query number if it should count")
    if row.status == "voided":
        raise StudyError(f"the answer to query {number} was taken out: tell it without a query number if it should count")
    return _record(tx, verb, {"query": number, "mediator": name, "unasked": False})


def _answer(verb: Tell | Correct) -> dict[str, Any] | None:
    """What is said of it; None is silence."""
    return None if verb.silent else {"arm": verb.arm, "reward": verb.reward}


def _refuse_twin(tx: Transaction, answer: Event) -> None:
    """Refuse an answer not asked for that was given in the same words a moment ago and not taken out since."""
    last = list(tx.record.events(max(0, tx.record.seq - LAST)))
    gone = {event["query"] for event in last if event["kind"] in ("voided", "corrected", "moved")}
    for event in reversed(last):
        age = tx.record.now - event["at"]
        if age > SOON or not event.get("unasked") or event["query"] in gone:
            continue
        if {key: event[key] for key in ("mediator", "arm", "reward") if key in event} == answer:
            said = "silent" if "arm" not in answer else f"arm {answer['arm']!r}, reward {answer['reward']:g}"
            number, ago = event["query"], f"{max(0.0, age):.0f} s ago"
            raise ConflictError(f"{answer['mediator']!r} said the same {ago} (query {number}, {said})", fix=Fix("again"))


def _record(tx: Transaction, verb: Tell, about: Event) -> Receipt:
    _check_silence(verb)
    answer = {"arm": verb.arm, "reward": verb.reward, "surprise": bool(verb.accept_surprise)}
    event = tx.do("silent", **about) if verb.silent else tx.do("told", **about, **answer)
    return tx.receipt(event["query"], event["late"])


def _check_silence(verb: Tell | Correct) -> None:
    if verb.silent and (verb.arm is not None or verb.reward is not None):
        raise StudyError("silent means that no arm was pulled: leave out arm and reward")


@work_of(Correct)
def correct(verb: Correct, tx: Transaction) -> Receipt:
    """Replace an answer, or the mediator who gave it, or both."""
    number, row = verb.number, tx.row(verb.number)
    if row.status not in ("told", "silent"):
        raise StudyError(f"query {number} is {row.status}: there is no answer to correct")
    _check_silence(verb)
    stays = verb.mediator is not None and not verb.silent and verb.arm is None and verb.reward is None
    if not (verb.silent or stays) and (verb.arm is None or verb.reward is None):
        raise StudyError("a correction needs the right arm and reward, or silent, or the right mediator")
    old, was = tx.recorded_answer(row), tx.mediator(row)
    new, who = old if stays else _answer(verb), verb.mediator or was
    if (old, was) == (new, who):
        return Receipt(recorded=False, query=number)
    about: Event = {"query": number, "mediator": who, "slot": row.slot}
    more = {"reason": verb.reason, "surprise": bool(verb.accept_surprise)}
    if was != who:  # what the other one may pull is asked of the answer that stays
        whole = {"answer": old, "counts": marks_of(tx.record.events_of(number))}
        tx.do("moved", **about, was=was, **whole, **(more if old == new else more | {"surprise": True}))
    if old != new:
        tx.do("corrected", **about, old=old, new=new, **more)
    return tx.receipt(number)


@work_of(Void)
def void(verb: Void, tx: Transaction) -> Receipt:
    """Take an answer out of the count."""
    number, row = verb.number, tx.row(verb.number)
    if row.status == "voided":
        return Receipt(recorded=False, query=number)
    if number in tx.state.open:
        raise StudyError(f"query {number} is open: there is no answer to take out", fix=Fix("cancel", str(number)))
    if row.status not in ("told", "silent"):
        raise StudyError(f"query {number} is {row.status}: there is no answer to take out")
    tx.do("voided", query=number, mediator=tx.mediator(row), slot=row.slot, old=tx.recorded_answer(row), reason=verb.reason)
    return tx.receipt(number)


@work_of(Cancel)
def cancel(verb: Cancel, tx: Transaction) -> Receipt:
    """Withdraw an open query."""
    number, row = verb.number, tx.row(verb.number)
    if row.status == "cancelled":
        return Receipt(recorded=False, query=number)
    if number not in tx.state.open:
        raise StudyError(f"query {number} is {row.status}: only an open query can be cancelled")
    tx.do("cancelled", query=number, mediator=tx.mediator(row), reason=verb.reason)
    return tx.receipt(number)
