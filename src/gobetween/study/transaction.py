"""One command of a study at work inside a transaction: makes events, lets them happen, writes them."""

import getpass
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from gobetween.core.families import is_number
from gobetween.errors import StudyError
from gobetween.study.record import QueryRow, StudyRecord
from gobetween.study.spec import StudySpec
from gobetween.study.state import Event, StudyState

LONGEST, LONGEST_KEY = 10_000, 500  # characters of a note or reason, and of a key


@dataclass(frozen=True)
class StudyQuery:
    """A question to a mediator; answer with `tell(query.id, arm=…, reward=…)`."""

    id: int
    mediator: str
    contact: str
    asked: float
    until: float | None
    """When the lease ends; None: never."""
    worker: str | None
    reissue_of: int | None
    new: bool = True
    """False when it had been asked before."""


@dataclass(frozen=True)
class Receipt:
    """What a command has recorded."""

    recorded: bool
    """False when the same had been recorded before."""
    query: int | None = None
    late: bool = False
    asked: tuple[StudyQuery, ...] = ()
    """Queries issued in the same transaction, to keep in_flight of them open."""
    stopped: Mapping[str, Any] | None = None
    """The verdict, if this command brought it."""


@dataclass
class Transaction:
    """One command at work inside a transaction."""

    record: StudyRecord
    state: StudyState
    actor: str
    events: list[Event] = field(default_factory=list)
    rows: dict[int, QueryRow] = field(default_factory=dict)
    refused: str = ""
    """Why nothing was asked, when something else had to be recorded."""

    def do(self, kind: str, **fields: Any) -> Event:
        """Make an event and let it happen."""
        event: Event = {"kind": kind, "at": self.record.now, "actor": self.actor, **fields}
        self.state.apply(event)
        self.events.append(event)
        return event

    def row(self, number: int) -> QueryRow:
        """A query that was issued in this study."""
        if isinstance(number, bool) or not isinstance(number, int):
            raise StudyError(f"query {number!r}: queries are known by whole numbers")
        found = self.rows.get(number) or (self.record.query(number) if 0 <= number < 2**62 else None)
        if found is None:
            raise StudyError(f"query {number} was never asked in this study")
        return found

    def keep(self, number: int, **changes: Any) -> None:
        """Note what has become of a query."""
        old = self.rows.get(number) or self.record.query(number)
        base = old.__dict__ if old else dict.fromkeys(QueryRow.__dataclass_fields__) | {"query": number}
        self.rows[number] = QueryRow(**(base | changes))

    def mediator(self, row: QueryRow) -> str:
        """Its name."""
        return self.state.spec.mediators[row.mediator]

    def said(self, row: QueryRow) -> dict[str, Any] | None:
        """The answer that was recorded; None is silence."""
        return None if row.arm is None else {"arm": self.state.spec.arms[row.arm], "reward": row.reward}

    def ask_one(self, worker: str | None, top_up: bool = False) -> StudyQuery:
        """Issue one query."""
        lease = self.state.spec.lease
        event = self.do("asked", until=None if lease is None else self.record.now + lease, worker=worker, top_up=top_up)
        self.keep(event["query"], mediator=self.state.spec.mediators.index(event["mediator"]), status="open", worker=worker)
        return self.shown(event["query"])

    def shown(self, number: int, new: bool = True) -> StudyQuery:
        """An open query for the one who asked."""
        state, query = self.state, self.state.open[number]
        contact = state.spec.contacts[state.spec.mediators.index(query.mediator)]
        return StudyQuery(number, query.mediator, contact, query.asked, query.until, query.worker, query.reissue_of, new)

    def expire(self) -> None:
        """End the leases that have run out, by the store's clock."""
        for number, query in list(self.state.open.items()):
            if query.until is not None and query.until <= self.record.now and not query.expired:
                self.do("expired", query=number, mediator=query.mediator)
                self.keep(number, status="expired")

    def conclude(self) -> None:
        """Has the rule reached its verdict? It also supersedes that of a budget."""
        state = self.state
        if state.learner.done and not state.identified:
            self.stop("identified")

    def settle(self) -> tuple[StudyQuery, ...]:
        """After any change: has the study stopped? If not, keep in_flight queries open."""
        self.conclude()
        state, asked = self.state, []
        if state.spec.in_flight is not None and not state.paused:
            while state.stopped is None and state.flying() < state.spec.in_flight and state.askable:
                asked.append(self.ask_one(None, top_up=True))
        if state.stopped is None and not state.affordable and not state.open:
            self.stop("identified" if state.identified else "budget")
        return tuple(asked)

    def stop(self, verdict: str) -> None:
        """Record a verdict, with what supported it at that moment."""
        learner = self.state.learner
        evidence: Mapping[str, Any] | None = learner.verdict
        if verdict == "budget" or evidence is None:
            progress = learner.progress
            evidence = {name: getattr(progress, name) for name in ("statistic", "threshold", "p_value", "counted")}
        self.do("stopped", verdict=verdict, arm=learner.recommendation, **evidence)

    def save(self, key: str, request: str) -> None:
        """Write all of it; a command that changed nothing writes nothing."""
        if not self.events:
            return
        for i, event in enumerate(self.events):
            event |= {"seq": self.record.seq + 1 + i, "key": key, "part": i}
        self.events[0]["request"] = request
        self.record.write(self.events, list(self.rows.values()), self.state.to_dict())


def state_of(record: StudyRecord) -> StudyState:
    """The state of a study, from its snapshot or, before the first event, from its spec."""
    return StudyState(StudySpec.from_dict(record.spec)) if record.snapshot is None else StudyState.from_dict(record.snapshot)


def why_nothing(state: StudyState) -> str:
    """Why nothing can be asked now; empty when something can."""
    if state.stopped is not None and state.stopped["verdict"] == "budget" and state.affordable:
        return "the study has stopped, but its budget allows more now: gobetween resume goes on"
    if state.stopped is not None:
        return f"the study has stopped ({verdict_words(state.stopped)}): gobetween resume asks on all the same"
    if state.paused:
        return "the study is paused: gobetween resume goes on"
    if not state.affordable:
        return f"the budget is used up; {len(state.open)} answers are still out"
    if not state.askable:
        return f"nobody can be asked: {', '.join(map(repr, state.away))} are away (gobetween back NAME)"
    return ""


def verdict_words(stopped: Mapping[str, Any]) -> str:
    """A verdict in words."""
    if stopped["verdict"] == "identified":
        return f"the answer is {stopped['arm']!r}"
    if stopped["arm"] is None:
        return "the budget is used up, and nothing is known"
    certain = "" if stopped["p_value"] < 1.0 else " (nothing speaks for it yet)"
    return f"the budget is used up; {stopped['arm']!r} leads, p-value {stopped['p_value']:.3g}{certain}"


def verdict_of(tx: Transaction) -> Mapping[str, Any] | None:
    """The verdict, if this command brought it."""
    return next((event for event in tx.events if event["kind"] == "stopped"), None)


def as_float(reward: Any) -> Any:
    """Numbers as floats, so that 1 and 1.0 are the same answer; the family refuses what is no number."""
    if not (is_number(reward) or isinstance(reward, (bool, np.bool_))):
        return reward
    if abs(reward) >= 1e300:
        return math.inf if reward > 0 else -math.inf
    return float(reward)


def is_renaming(old: Sequence[str], new: Sequence[str]) -> bool:
    """Names change place by place: as many as before, and none moves to another place."""
    return len(old) == len(new) and not any(name in old and old[i] != name for i, name in enumerate(new))


def rebuilt(events: Sequence[Event], tx: Transaction, own: bool) -> Receipt:
    """The receipt of a command that was recorded before; its own if only the acknowledgement was lost."""
    first, asked = events[0], [event["query"] for event in events if event["kind"] == "asked"]
    return Receipt(
        own,
        first.get("query"),
        bool(first.get("late")),
        tuple(tx.shown(number, new=own) for number in asked if number in tx.state.open),
        next((event for event in events if event["kind"] == "stopped"), None),
    )


def short(value: Any) -> str:
    """A value for a message."""
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:57]}…"


def check_text(what: str, value: Any, longest: int = LONGEST) -> None:
    """Refuse what is no text, too long, or cannot be written down."""
    if value is None:
        return
    try:
        good = isinstance(value, str) and len(value) <= longest and "\x00" not in value and value.encode() is not None
    except UnicodeEncodeError:
        good = False
    if not good:
        raise StudyError(f"{what}: must be a text of at most {longest} characters, without NUL or broken characters")


def user_name() -> str:
    """Who runs this."""
    try:
        return getpass.getuser()
    except (KeyError, OSError):
        return "unknown"
