"""One command of a study at work inside a transaction: makes events, lets them happen, writes them."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeGuard, cast
from uuid import uuid4

from gobetween.core.voice import broken_words
from gobetween.errors import AlarmError, Fix, StoreError, StudyError
from gobetween.export import numbered, some
from gobetween.study.events import Event, Verdict, row_after
from gobetween.study.notify import ANSWERS, messages_of, overdue, waits
from gobetween.study.record import QueryRow, StudyRecord
from gobetween.study.spec import StudySpec
from gobetween.study.state import PRESENT, StudyState

BACK, FORWARD = 60.0, 180 * 86400.0  # seconds by which the clock of a store may go without a word
PER_EVENT = 65536  # characters of a snapshot that each event since may cost


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
    stopped: Verdict | None = None
    """The verdict, if this command brought it."""
    stood: str | None = None
    """The verdict, identified or budget, that had ended the study before and stays."""
    alarm: str | None = None
    """What is wrong, where an alarm breaks the guarantee of a verdict, or of what a log says."""


@dataclass
class Transaction:
    """One command at work inside a transaction."""

    record: StudyRecord
    state: StudyState
    actor: str
    events: list[Event] = field(default_factory=list)
    rows: dict[int, QueryRow] = field(default_factory=dict)
    """Rows that have changed."""
    refused: StudyError | None = None
    """Why nothing was asked, when something else had to be recorded."""
    lag: int = 1
    """Events after which a snapshot is written at the earliest: whoever keeps the state in memory seldom reads one."""
    caught_up: bool = False
    """Is what time has brought recorded? Once is enough for commands that share a transaction, for its clock stands still."""
    known: dict[int, QueryRow | None] = field(default_factory=dict)
    """Rows as they were before this transaction, as far as they were read."""

    def do(self, kind: str, **fields: Any) -> Event:
        """Make an event and let it happen."""
        event: Event = {"kind": kind, "at": self.record.now, "actor": self.actor, **fields}
        known = self.state.learner.issued
        self.state.apply(event)
        self.events.append(event)
        number, spec = event.get("query"), self.state.spec
        if number is not None:
            old = self._row(number) if number < known else None  # a number that was given just now has no row yet
            row = row_after(event, old, spec.arms, spec.mediators)
            if row is not None and row != old:
                self.rows[number] = row
        return event

    def _row(self, number: int) -> QueryRow | None:
        if number not in self.rows and number not in self.known:
            self.known[number] = self.record.query(number)
        return self.rows.get(number) or self.known.get(number)

    def row(self, number: int) -> QueryRow:
        """A query that was issued in this study."""
        if isinstance(number, bool) or not isinstance(number, int):
            raise StudyError(f"query {number!r}: queries are known by whole numbers")
        found = self._row(number) if is_number_of_query(number) else None
        if found is None:
            raise StudyError(f"query {number} was never asked in this study")
        return found

    def mediator(self, row: QueryRow) -> str:
        """Its name."""
        return self.state.spec.mediators[row.mediator]

    def said(self, row: QueryRow) -> dict[str, Any] | None:
        """The answer that was recorded; None is silence."""
        return None if row.arm is None else {"arm": self.state.spec.arms[row.arm], "reward": row.reward}

    def until(self) -> float | None:
        """When a lease ends that begins now; None: never."""
        lease = self.state.spec.lease
        return None if lease is None else self.record.now + lease

    def ask_one(self, worker: str | None, top_up: bool = False) -> StudyQuery:
        """Issue one query."""
        event = self.do("asked", until=self.until(), worker=worker, top_up=top_up)
        return shown(self.state, event["query"])

    def catch_up(self) -> None:
        """Record what time has brought by the store's clock, before anything else happens; it is nobody's command."""
        if self.caught_up:
            return
        self.caught_up = True
        for kind, fields in due(self.state, self.record.now):
            self.do(kind, **fields)
        self.keyed(0, f"auto-{uuid4()}", "")

    def conclude(self) -> None:
        """Has the rule reached its verdict? It also supersedes that of a budget."""
        if self.state.learner.done and not self.state.identified:
            self.stop("identified")

    def settle(self) -> tuple[StudyQuery, ...]:
        """After any change: has the study stopped? If not, keep in_flight queries open."""
        self.conclude()
        state, asked = self.state, list[StudyQuery]()
        if state.spec.in_flight is not None and not state.paused:
            lack = state.spec.in_flight - state.flying()
            while state.stopped is None and len(asked) < lack and state.askable:
                asked.append(self.ask_one(None, top_up=True))
        if state.stopped is None and not state.affordable and not state.open:
            self.stop("identified" if state.identified else "budget")
        return tuple(asked)

    def stop(self, verdict: str) -> None:
        """Record a verdict, with what supported it at that moment."""
        self.do("stopped", **_verdict(self.state, verdict))

    def receipt(self, query: int | None = None, late: bool = False) -> Receipt:
        """Settle, and say what this command has brought about."""
        asked, stopped = self.settle(), verdict_in(self.events)
        stood = self.state.stopped["verdict"] if self.state.stopped is not None and stopped is None else None
        alarm = None if self.state.stopped is None else alarm_words(self.state)
        return Receipt(True, query, late, asked, stopped, stood, alarm)

    def keyed(self, since: int, key: str, request: str) -> None:
        """Events from that place on that have no key are those of one command, maybe one of many in this transaction."""
        for part, event in enumerate(event for event in self.events[since:] if "key" not in event):
            event |= {"key": key, "part": part} | ({} if part else {"request": request})

    def save(self) -> None:
        """Write all of it; a command that changed nothing writes nothing."""
        if not self.events:
            return
        for i, event in enumerate(self.events, start=self.record.seq + 1):
            event["seq"] = i
        snapshot = self.state.to_dict() | {"seq": self.events[-1]["seq"]} if self._wants_snapshot() else None
        self.record.write(self.events, list(self.rows.values()), snapshot)
        if (notify := self.state.spec.notify) is not None:
            happened = list(worth_telling(self.events, self.state, "alarm" in notify.events))
            if found := messages_of(notify, happened, self.state.spec.title, self.record.now):
                self.record.post(found)

    def _wants_snapshot(self) -> bool:
        """A large snapshot is written now and then, so that all events together write no more than in proportion to them.

        What has changed the spec is always in it, and what an earlier version has kept is written anew.
        """
        held = self.record.snapshot
        if held is None or held.get("format") not in PRESENT:
            return True
        if any(event["kind"] in ("edited", "added") for event in self.events):
            return True
        behind = self.events[-1]["seq"] - held.get("seq", self.record.seq)
        return bool(behind >= self.lag and behind * PER_EVENT >= self.record.weight)


def is_number_of_query(number: Any) -> TypeGuard[int]:
    """Could a query have this number?"""
    return isinstance(number, int) and not isinstance(number, bool) and 0 <= number < 2**62


def worth_telling(events: Sequence[Event], state: StudyState, alarms: bool) -> Iterator[dict[str, Any]]:
    """What people may want to be told of what has happened."""
    spec = state.spec
    contacts = dict(zip(spec.mediators, spec.contacts, strict=True))
    for event in events:
        if event["kind"] in ("asked", "expired"):
            words, who = (waits if event["kind"] == "asked" else overdue), event["mediator"]
            yield words(event["query"], who, contacts.get(who, ""), event.get("until"))
        elif event["kind"] == "stopped":
            broken = alarm_words(state)
            said = f"The study has stopped: {verdict_words(event)}." if broken is None else f"The study has stopped. {broken}"
            verdict = {"verdict": event["verdict"], "arm": event["arm"] if broken is None else None}
            yield {"about": f"stopped-{event['seq']}", "event": "stopped", "sentence": said, **verdict}
    if alarms and any(event["kind"] in ANSWERS for event in events):
        for alarm in state.learner.account(visible=False).alarms:
            if alarm.raised:
                about = {"about": f"alarm-{alarm.kind}-{alarm.subject}", "event": "alarm", "sentence": alarm.words}
                yield about | {"alarm": alarm.kind, "subject": alarm.subject, "breaks": alarm.breaks}


def due(state: StudyState, now: float) -> Iterator[tuple[str, dict[str, Any]]]:
    """What time has brought: events of a clock that has jumped, of leases that have run out, of the verdict that this brings.

    A clock that has jumped leaves no lease that does not end. Each event has to happen before the next is made.
    """
    before = state.clock
    if before and not before - BACK <= now <= before + FORWARD:
        yield "clock", {"before": before}
    for number, query in list(state.open.items()):
        if query.until is not None and query.until <= now and not query.expired:
            yield "expired", {"query": number, "mediator": query.mediator}
    if state.learner.done and not state.identified:
        yield "stopped", _verdict(state, "identified")


def state_now(record: StudyRecord) -> StudyState:
    """The state as it is by the store's clock: what the next command will record has happened."""
    state = state_of(record)
    for kind, fields in due(state, record.now):
        state.apply({"kind": kind, "at": record.now, "actor": "", **fields})
    return state


def _verdict(state: StudyState, verdict: str) -> dict[str, Any]:
    """What is recorded of a verdict."""
    evidence: Mapping[str, Any] | None = state.learner.verdict
    if verdict == "budget" or evidence is None:
        progress = state.learner.progress
        evidence = {name: getattr(progress, name) for name in ("statistic", "threshold", "p_value", "counted")}
    return {"verdict": verdict, "arm": state.learner.recommendation, **evidence}


def state_of(record: StudyRecord) -> StudyState:
    """The state of a study, from its snapshot and the events since or, before the first event, from its spec."""
    try:
        if record.snapshot is None:
            return StudyState(StudySpec.from_dict(record.spec))
        state = StudyState.from_dict(record.snapshot)
        last = seq = record.snapshot.get("seq", record.seq) if record.snapshot["format"] in PRESENT else record.seq
        for event in record.events(seq) if seq < record.seq else ():
            state.apply(event)
            last = event["seq"]
        if last != record.seq:
            raise StoreError(f"the study counts {record.seq} events, its log has {last}", fix=Fix("restore"))
        return state
    except (KeyError, IndexError, TypeError, AttributeError) as error:
        raise StoreError(f"the study cannot be read ({type(error).__name__}: {error})", fix=Fix("restore")) from None


def shown(state: StudyState, number: int, new: bool = True) -> StudyQuery:
    """An open or lost query for the one who asked."""
    query = state.open[number] if number in state.open else state.lost[number]
    contact = state.spec.contacts[state.spec.mediators.index(query.mediator)]
    return StudyQuery(number, query.mediator, contact, query.asked, query.until, query.worker, query.reissue_of, new)


def why_nothing(state: StudyState) -> StudyError | None:
    """Why nothing can be asked now; None when something can."""
    if state.stopped is not None and state.stopped["verdict"] == "budget" and state.affordable:
        return StudyError("the study has stopped, but its budget allows more now", fix=Fix("resume"))
    if state.stopped is not None:
        way, alarm = Fix("resume-anyway" if state.affordable else "budget"), alarm_words(state)
        if alarm is not None:
            return AlarmError(f"the study has stopped. {alarm.removesuffix('.')}", fix=way)
        return StudyError(f"the study has stopped ({verdict_words(state.stopped)})", fix=way)
    if state.paused:
        return StudyError("the study is paused", fix=Fix("resume"))
    if not state.affordable:
        out = numbered(len(state.open), "answer is", "answers are")
        return StudyError(f"the budget is used up; {out} still out", fix=Fix("budget"))
    if not state.askable:
        away = [name for name in state.away if name not in state.retired]
        verb = "is" if len(away) == 1 else "are"
        return StudyError(f"nobody can be asked: {some(away)} {verb} away", fix=Fix("back"))
    return None


def alarm_words(state: StudyState) -> str | None:
    """What is wrong, where an alarm breaks the guarantee."""
    alarm = state.learner.broken()
    return None if alarm is None else broken_words(alarm)


def verdict_words(stopped: Mapping[str, Any]) -> str:
    """A verdict in words."""
    if stopped["verdict"] == "identified":
        return f"the answer is {stopped['arm']!r}"
    if stopped["arm"] is None:
        return "the budget is used up, and nothing is known"
    certain = "" if stopped["p_value"] < 1.0 else " (nothing speaks for it yet)"
    return f"the budget is used up; {stopped['arm']!r} leads, p-value {stopped['p_value']:.3g}{certain}"


def verdict_in(events: list[Event]) -> Verdict | None:
    """The verdict, if it is among these events."""
    return next((cast(Verdict, event) for event in events if event["kind"] == "stopped"), None)
