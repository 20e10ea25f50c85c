"""Commands as values, and those about queries: ask, tell, correct, cancel (the others: course.py).

A command is checked when it is made; what it does inside a transaction is its `work`, and nothing happens until that is done.
"""

import hashlib
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Generic, TypeVar
from uuid import uuid4

from gobetween.core.family import is_number
from gobetween.errors import ConflictError, Fix, GoBetweenError, ProblemError, StudyError, spelled
from gobetween.study.checks import LONGEST_KEY, as_float, check_some_text, check_text
from gobetween.study.events import Event, marks_of
from gobetween.study.transaction import Receipt, StudyQuery, Transaction, shown, verdict_in, why_nothing

T = TypeVar("T")
SOON, LAST = 600.0, 50  # an unasked answer is compared with those of so many seconds and events before


@dataclass(frozen=True)
class Command(Generic[T]):
    """What is wanted, the work itself, and what to answer when its events are there already (as its own, or another's)."""

    name: str
    arguments: Mapping[str, Any]
    work: Callable[[Transaction], T]
    again: Callable[[Transaction, list[Event], bool], T]
    joins: bool = False
    """Does it read nothing of the record but keys and rows of queries? Then several may share a transaction."""
    about: int | None = None
    """The query whose row it reads, so that the rows of several commands can be read at once."""

    @property
    def request(self) -> str:
        """A digest: the same key may only be used for the same again."""
        wanted = json.dumps([self.name, self.arguments], sort_keys=True, default=str)
        return hashlib.sha256(wanted.encode()).hexdigest()[:32]

    def run(self, tx: Transaction, key: str, known: bool, drawn: bool) -> T:
        """Do it under a key, or say what was done under it. `known`: may it be? `drawn`: then it was by this very command."""
        if before := tx.record.by_key(key) if known else []:
            if before[0].get("request") != self.request:
                raise ConflictError(f"key {key!r} was used before for something else: choose another")
            return self.again(tx, before, drawn)
        try:
            tx.catch_up()
            answer = self.work(tx)
        except ProblemError as error:
            raise StudyError(error.what, where=error.where, fix=error.fix) from None
        tx.keyed(0, key if tx.refused is None else f"auto-{uuid4()}", self.request)
        return answer


def rebuilt(tx: Transaction, events: list[Event], own: bool) -> Receipt:
    """The receipt of a command that was recorded before; its own if only the acknowledgement was lost."""
    asked = [event["query"] for event in events if event["kind"] == "asked"]
    queries = tuple(shown(tx.state, number, new=own) for number in asked if number in tx.state.open)
    return Receipt(own, events[0].get("query"), bool(events[0].get("late")), queries, verdict_in(events))


def ask(n: int | None, worker: str | None) -> Command[list[StudyQuery]]:
    """Issue queries, or find those that are open."""
    if n is not None and (not is_number(n) or not 1 <= n <= 10_000 or n != int(n)):
        raise StudyError(f"n = {n!r}: ask for 1 to 10,000 queries")
    if n is not None and worker is not None:
        raise StudyError("a worker holds one query at a time: leave out n")
    check_text("worker", worker)

    def work(tx: Transaction) -> list[StudyQuery]:
        state = tx.state
        flying = {number: query for number, query in state.open.items() if not query.expired}
        for number, query in flying.items():
            if worker is not None and query.worker == worker:
                return [shown(state, number, new=False)]
        free = [number for number, query in flying.items() if query.worker is None]
        present = [number for number in free if flying[number].mediator not in state.away]
        idle = state.stopped is not None or state.paused
        if worker is not None and present and not idle and state.spec.in_flight is not None:
            return [_take(tx, present[0], worker)]
        wanted = 1 if n is None else n
        if n is None and worker is None and state.spec.in_flight is not None:
            wanted = max(0, state.spec.in_flight - state.flying())
            if wanted == 0 and not idle:
                return [shown(state, number, new=False) for number in free]
        return _issue(tx, wanted, worker)

    def again(tx: Transaction, events: list[Event], own: bool) -> list[StudyQuery]:
        numbers = [event["query"] for event in events if event["kind"] in ("asked", "taken") and not event.get("top_up")]
        return [shown(tx.state, number, new=own) for number in numbers if number in tx.state.open]

    return Command("ask", {"n": n, "worker": worker}, work, again, joins=True)


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


def tell(
    query: StudyQuery | int | None,
    arm: str | None,
    reward: float | None,
    silent: bool,
    mediator: str | None,
    surprise: bool,
    another: bool = False,
) -> Command[Receipt]:
    """Record an answer; `another`: even if the same came unasked a moment ago."""
    number = query.id if isinstance(query, StudyQuery) else query
    if number is None and mediator is None:
        raise StudyError("name the query that is answered, or the mediator who answered unasked")
    reward = as_float(reward)
    answer = {"arm": arm, "reward": reward, "surprise": bool(surprise)}

    def work(tx: Transaction) -> Receipt:
        if number is None:
            if not another:
                _refuse_twin(tx, {"mediator": mediator} | ({} if silent else {"arm": arm, "reward": reward}))
            return _record(tx, {"mediator": mediator, "unasked": True}, answer, silent)
        row = tx.row(number)
        name = tx.mediator(row)
        if mediator is not None and mediator != name:
            raise StudyError(f"query {number} was for mediator {name!r}, not for {mediator!r}")
        if row.status in ("told", "silent"):
            before = tx.said(row)
            if before == (None if silent else {"arm": arm, "reward": reward}):
                return Receipt(recorded=False, query=number)
            words = "silence" if before is None else f"arm {before['arm']!r}, reward {before['reward']:g}"
            raise ConflictError(f"query {number} was answered before with {words}", fix=Fix("correct", str(number)))
        if row.status == "cancelled":
            raise StudyError(f"query {number} was cancelled: tell it as unasked if its answer is to count all the same")
        if row.status == "voided":
            raise StudyError(f"the answer to query {number} was taken out: tell it as unasked if it is to count all the same")
        return _record(tx, {"query": number, "mediator": name, "unasked": False}, answer, silent)

    request = {"query": number, "mediator": mediator if number is None else None, "silent": silent, **answer}
    return Command("tell", request, work, rebuilt, joins=number is not None, about=number)


def tell_all(rows: Sequence[Mapping[str, Any]], surprise: bool, another: bool, dry: bool) -> Command[list[Receipt]]:
    """Record many answers or none: rows with `where` they stand, a key and what `tell` takes; dry: only try."""
    told = [(row["where"], row["key"], _telling(row, surprise, another)) for row in rows]
    first: dict[str, str] = {}
    for where, key, _ in told:
        check_text(f"{where}: key", key, LONGEST_KEY)
        if key in first:
            raise StudyError(f"{where}: its key {key!r} is also that of {first[key]}")
        first[key] = where

    def work(tx: Transaction) -> list[Receipt]:
        done = [_one_of_many(tx, *row) for row in told]
        if dry:
            tx.events.clear()
        return done

    def again(tx: Transaction, events: list[Event], own: bool) -> list[Receipt]:
        return [Receipt(recorded=False, query=event.get("query")) for event in events]

    return Command("tell-all", {"rows": [dict(row) for row in rows]}, work, again)


def _telling(row: Mapping[str, Any], surprise: bool, another: bool) -> Command[Receipt]:
    with _at(row["where"]):
        answer = (row["arm"], row["reward"], row["silent"], row["mediator"])
        return tell(row["query"], *answer, surprise, another or row["own_key"])


def _one_of_many(tx: Transaction, where: str, key: str, command: Command[Receipt]) -> Receipt:
    with _at(where):
        if before := tx.record.by_key(key):
            if before[0].get("request") != command.request:
                raise ConflictError(f"key {key!r} was used before for something else: choose another")
            return command.again(tx, before, False)
        since = len(tx.events)
        receipt = command.work(tx)
        tx.keyed(since, key, command.request)
        return receipt


@contextmanager
def _at(where: str) -> Iterator[None]:
    """What is refused says where it stands."""
    try:
        yield
    except GoBetweenError as error:
        kind = type(error) if isinstance(error, StudyError) else StudyError
        raise kind(f"{where}: {spelled(error.where)} {error.what}".replace(":  ", ": "), fix=error.fix) from None


def _refuse_twin(tx: Transaction, answer: Event) -> None:
    """Refuse what came unasked in the same words a moment ago, and was not taken out since: is it a second answer?"""
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


def _record(tx: Transaction, about: Event, answer: Event, silent: bool) -> Receipt:
    _check_silence(silent, answer["arm"], answer["reward"])
    event = tx.do("silent", **about) if silent else tx.do("told", **about, **answer)
    return tx.receipt(event["query"], event["late"])


def _check_silence(silent: bool, arm: str | None, reward: float | None) -> None:
    if silent and (arm is not None or reward is not None):
        raise StudyError("silent means that no arm was pulled: leave out arm and reward")


def correct(
    query: StudyQuery | int,
    arm: str | None,
    reward: float | None,
    silent: bool,
    mediator: str | None,
    reason: str,
    surprise: bool,
) -> Command[Receipt]:
    """Replace an answer, or the mediator who gave it, or both."""
    number = query.id if isinstance(query, StudyQuery) else query
    check_some_text("reason", reason, "a correction needs a reason")
    reward = as_float(reward)

    def work(tx: Transaction) -> Receipt:
        row = tx.row(number)
        if row.status not in ("told", "silent"):
            raise StudyError(f"query {number} is {row.status}: there is no answer to correct")
        _check_silence(silent, arm, reward)
        stays = mediator is not None and not silent and arm is None and reward is None
        if not (silent or stays) and (arm is None or reward is None):
            raise StudyError("a correction needs the right arm and reward, or silent, or the right mediator")
        old, was = tx.said(row), tx.mediator(row)
        new, who = old if stays else None if silent else {"arm": arm, "reward": reward}, mediator or was
        if (old, was) == (new, who):
            return Receipt(recorded=False, query=number)
        about: Event = {"query": number, "mediator": who, "slot": row.slot}
        more = {"reason": reason, "surprise": bool(surprise)}
        if was != who:  # what the other one may pull is asked of the answer that stays
            whole = {"answer": old, "counts": marks_of(tx.record.events_of(number))}
            tx.do("moved", **about, was=was, **whole, **(more if old == new else more | {"surprise": True}))
        if old != new:
            tx.do("corrected", **about, old=old, new=new, **more)
        return tx.receipt(number)

    request = {"query": number, "arm": arm, "reward": reward, "silent": silent, "reason": reason}
    if mediator is not None:
        request["mediator"] = mediator
    return Command("correct", request, work, rebuilt)


def void(query: StudyQuery | int, reason: str) -> Command[Receipt]:
    """Take an answer out of the count."""
    number = query.id if isinstance(query, StudyQuery) else query
    check_some_text("reason", reason, "taking an answer out needs a reason")

    def work(tx: Transaction) -> Receipt:
        row = tx.row(number)
        if row.status == "voided":
            return Receipt(recorded=False, query=number)
        if number in tx.state.open:
            raise StudyError(f"query {number} is open: there is no answer to take out", fix=Fix("cancel", str(number)))
        if row.status not in ("told", "silent"):
            raise StudyError(f"query {number} is {row.status}: there is no answer to take out")
        tx.do("voided", query=number, mediator=tx.mediator(row), slot=row.slot, old=tx.said(row), reason=reason)
        return tx.receipt(number)

    return Command("void", {"query": number}, work, rebuilt)


def cancel(query: StudyQuery | int, reason: str) -> Command[Receipt]:
    """Withdraw an open query."""
    number = query.id if isinstance(query, StudyQuery) else query
    check_text("reason", reason)

    def work(tx: Transaction) -> Receipt:
        row = tx.row(number)
        if row.status == "cancelled":
            return Receipt(recorded=False, query=number)
        if number not in tx.state.open:
            raise StudyError(f"query {number} is {row.status}: only an open query can be cancelled")
        tx.do("cancelled", query=number, mediator=tx.mediator(row), reason=reason)
        return tx.receipt(number)

    return Command("cancel", {"query": number}, work, rebuilt)
