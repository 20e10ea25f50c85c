"""One command of a study at work inside a transaction: makes events, lets them happen, writes them."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeGuard, cast
from uuid import uuid4

from gobetween.errors import AlarmError, Fix, ProblemError, StoreError, StudyError
from gobetween.export import numbered, some
from gobetween.study.journal.events import Event, row_after
from gobetween.study.journal.receipts import Receipt, StudyQuery, Verdict
from gobetween.study.journal.record import QueryRow, StudyRecord
from gobetween.study.journal.snapshot import snapshot_of, state_in
from gobetween.study.journal.state import StudyState
from gobetween.study.notify.messages import ANSWERS, messages_of
from gobetween.study.spec.spec import StudySpec

BACK, FORWARD = 60.0, 180 * 86400.0  # seconds by which the clock of a store may go without a word
PER_EVENT = 65536  # characters of a snapshot that each event since may cost


@dataclass
class Transaction:
    """One command at work inside a transaction."""

    record: StudyRecord
    state: StudyState
    actor: str
    events: list[Event] = field(default_factory=list)
    rows: dict[int, QueryRow] = field(default_factory=dict)  # rows that have changed
    refused: StudyError | None = None  # why nothing was asked, when something else had to be recorded
    lag: int = 1
    """Events after which a snapshot is written at the earliest: a process that keeps the state in memory seldom reads one."""
    caught_up: bool = False
    """Is what time has brought recorded? Once is enough for commands that share a transaction, for its clock stands still."""
    begun: int = 0
    """The place of the first event of this command, where several answers share a transaction."""
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

    def recorded_answer(self, row: QueryRow) -> dict[str, Any] | None:
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
        """Record what time has brought by the store's clock, before anything else happens; no one commands it."""
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
        if state.spec.in_flight is not None and not (state.paused or state.archived):
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
        asked, stopped = self.settle(), verdict_in(self.events[self.begun :])
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
        snapshot = snapshot_of(self.state) | {"seq": self.events[-1]["seq"]} if self._wants_snapshot() else None
        self.record.write(self.events, list(self.rows.values()), snapshot)
        if (notify := self.state.spec.notify) is not None:
            happened = list(worth_telling(self.events, self.state, "alarm" in notify.events))
            if found := messages_of(notify, happened, self.state.spec.title, self.record.now):
                self.record.post(found)

    def _wants_snapshot(self) -> bool:
        """A large snapshot is written now and then, so that all events together write no more than in proportion to them.

        What has changed the spec is always in it.
        """
        held = self.record.snapshot
        if held is None or any(event["kind"] in ("edited", "added", "declared") for event in self.events):
            return True
        behind = self.events[-1]["seq"] - held["seq"]
        return bool(behind >= self.lag and behind * PER_EVENT >= self.record.weight)


def is_number_of_query(number: Any) -> TypeGuard[int]:
    """Could a query have this number?"""
    return isinstance(number, int) and not isinstance(number, bool) and 0 <= number < 2**62


def worth_telling(events: Sequence[Event], state: StudyState, alarms: bool) -> Iterator[dict[str, Any]]:
    """What people may want to be told of what has happened."""
    from gobetween.words.alarms import remedies_of
    from gobetween.words.messages import message_words

    contacts = dict(zip(state.spec.mediators, state.spec.contacts, strict=True))
    for event in events:
        if event["kind"] in ("asked", "expired"):
            kind = "waiting" if event["kind"] == "asked" else "overdue"
            about = {"about": f"{kind}-{event['query']}", "event": kind, "sentence": message_words(event)}
            who = {"query": event["query"], "mediator": event["mediator"], "contact": contacts.get(event["mediator"], "")}
            yield about | who | {"until": event.get("until")}
        elif event["kind"] == "stopped":
            broken = alarm_words(state)
            verdict = {"verdict": event["verdict"], "arm": event["arm"] if broken is None else None}
            said = message_words(event, broken)
            yield {"about": f"stopped-{event['seq']}", "event": "stopped", "sentence": said, **verdict}
    if alarms and any(event["kind"] in ANSWERS for event in events):
        for alarm in state.learner.account(detectable=False).alarms:
            if alarm.raised:
                about = {"about": f"alarm-{alarm.kind}-{alarm.subject}", "event": "alarm", "sentence": alarm.words}
                what = {"alarm": alarm.kind, "subject": alarm.subject, "breaks": alarm.breaks}
                yield about | what | {"remedies": remedies_of(alarm)}


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
        state, last = state_in(record.snapshot), record.snapshot["seq"]
        for event in record.events(last) if last < record.seq else ():
            state.apply(event)
            last = event["seq"]
        if last != record.seq:
            raise StoreError(f"the study counts {record.seq} events, its log has {last}", fix=Fix("restore"))
        return state
    except (KeyError, IndexError, TypeError, AttributeError, ProblemError) as error:
        raise StoreError(f"the study cannot be read ({type(error).__name__}: {error})", fix=Fix("restore")) from None


def shown(state: StudyState, number: int, new: bool = True) -> StudyQuery:
    """An open or lost query for the one who asked."""
    query = state.open[number] if number in state.open else state.lost[number]
    contact = state.spec.contacts[state.spec.mediators.index(query.mediator)]
    return StudyQuery(number, query.mediator, contact, query.asked, query.until, query.worker, query.reissue_of, new)


def why_nothing(state: StudyState) -> StudyError | None:
    """Why nothing can be asked now; None when something can."""
    from gobetween.words.study import verdict_words

    if state.archived:
        return StudyError("the study is archived", fix=Fix("unarchive"))
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
        left = numbered(len(state.open), "open query", "open queries")
        return StudyError(f"the budget is used up; {left}", fix=Fix("budget"))
    if not state.askable:
        away = [name for name in state.away if name not in state.retired]
        verb = "is" if len(away) == 1 else "are"
        return StudyError(f"no mediator can be asked: {some(away)} {verb} away", fix=Fix("back"))
    return None


def alarm_words(state: StudyState) -> str | None:
    """What is wrong, where an alarm breaks the guarantee or a verdict is under review."""
    from gobetween.words.verdict import broken_words, headline

    alarm = state.learner.broken()
    if alarm is not None:
        return broken_words(alarm)
    return headline(state.learner.account(detectable=False)) if state.doubted else None


def verdict_in(events: list[Event]) -> Verdict | None:
    """The verdict, if it is among these events."""
    return next((cast(Verdict, event) for event in events if event["kind"] == "stopped"), None)
