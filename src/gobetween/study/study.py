"""A live study: the learner behind a store that loses nothing. Commands make events; a transaction records them or nothing."""

import hashlib
import json
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from os import PathLike
from typing import Any, TypeVar
from uuid import uuid4

from gobetween import __version__
from gobetween.core.families import is_number
from gobetween.errors import ConflictError, ProblemError, StoreError, StudyError
from gobetween.study.record import Store
from gobetween.study.spec import EDITABLE, StudySpec, differences
from gobetween.study.state import Event, StudyState
from gobetween.study.transaction import (
    LONGEST_KEY,
    Receipt,
    StudyQuery,
    Transaction,
    as_float,
    check_text,
    is_renaming,
    rebuilt,
    short,
    state_of,
    user_name,
    verdict_of,
    why_nothing,
)

T = TypeVar("T")
PATIENCE = 5.0  # seconds to wait for a database that went away


class Study:
    """A live study in a store. Every method is one transaction: it is recorded wholly, or it raises and changes nothing.

    `key` makes a command safe to repeat: the second time it is not done again. `actor` says who does it.
    """

    def __init__(self, store: Store, name: str, actor: str | None = None) -> None:
        check_text("actor", actor)
        self.store, self.name, self.actor = store, name, actor or user_name()
        self.unsaved: tuple[str, ...] = ()
        """Fields in which study.toml differs from the stored study, when it was opened only to look."""

    @classmethod
    def open(cls, path_or_url: str | PathLike[str], name: str | None = None, *, actor: str | None = None) -> "Study":
        """Open a study by its study.toml, its SQLite file or the URL of its store; it must be there."""
        from gobetween.study.opening import open_study

        return open_study(path_or_url, name, actor)

    @classmethod
    def create(
        cls,
        path_or_url: str | PathLike[str],
        spec: StudySpec | None = None,
        name: str | None = None,
        *,
        actor: str | None = None,
    ) -> "Study":
        """Make a new study; a study.toml brings its own spec."""
        from gobetween.study.opening import create_study

        return create_study(path_or_url, spec, name, actor)

    def close(self) -> None:
        """Let go of the store's connections."""
        self.store.close()

    def __enter__(self) -> "Study":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    # commands ---------------------------------------------------------------------------------------------------------

    def ask(self, n: int | None = None, *, worker: str | None = None, key: str | None = None) -> list[StudyQuery]:
        """Whom to ask next. Leases that have run out end here, and their queries are issued anew.

        n: that many new queries. Without it one, or, with in_flight, as many as are missing (if none is, those that are open).
        worker: one query for a worker that names itself; if it holds an open one, that one again.
        """
        if n is not None and (not is_number(n) or n != int(n) or not 1 <= n <= 10_000):
            raise StudyError(f"n = {n!r}: ask for 1 to 10,000 queries")
        if n is not None and worker is not None:
            raise StudyError("a worker holds one query at a time: leave out n")
        check_text("worker", worker)

        def work(tx: Transaction) -> list[StudyQuery]:
            tx.expire()
            tx.conclude()
            flying = {number: query for number, query in tx.state.open.items() if not query.expired}
            for number, query in flying.items():
                if worker is not None and query.worker == worker:
                    return [tx.shown(number, new=False)]
            free = [number for number, query in flying.items() if query.worker is None]
            present = [number for number in free if flying[number].mediator not in tx.state.away]
            idle = tx.state.stopped is not None or tx.state.paused
            if worker is not None and present and not idle and tx.state.spec.in_flight is not None:
                return [self._take(tx, present[0], worker)]
            wanted = 1 if n is None else n
            if n is None and worker is None and tx.state.spec.in_flight is not None:
                wanted = max(0, tx.state.spec.in_flight - tx.state.flying())
                if wanted == 0 and not idle:
                    return [tx.shown(number, new=False) for number in free]
            asked: list[StudyQuery] = []
            reason = why_nothing(tx.state)
            while len(asked) < wanted and not reason:
                asked.append(tx.ask_one(worker))
                reason = why_nothing(tx.state)
            tx.settle()
            tx.refused = "" if asked else why_nothing(tx.state) or reason
            return asked

        def again(events: Sequence[Event], tx: Transaction, own: bool) -> list[StudyQuery]:
            numbers = [event["query"] for event in events if event["kind"] in ("asked", "taken") and not event.get("top_up")]
            return [tx.shown(number, new=own) for number in numbers if number in tx.state.open]

        return self._do("ask", {"n": n, "worker": worker}, key, work, again)

    @staticmethod
    def _take(tx: Transaction, number: int, worker: str) -> StudyQuery:
        lease = tx.state.spec.lease
        until = None if lease is None else tx.record.now + lease
        tx.do("taken", query=number, mediator=tx.state.open[number].mediator, worker=worker, until=until)
        tx.keep(number, worker=worker)
        return tx.shown(number)

    def tell(
        self,
        query: "StudyQuery | int | None" = None,
        *,
        arm: str | None = None,
        reward: float | None = None,
        silent: bool = False,
        mediator: str | None = None,
        accept_surprise: bool = False,
        key: str | None = None,
    ) -> Receipt:
        """Record an answer: arm and reward, or silent=True. Without a query, name the mediator who answered unasked.

        The same answer again is "already recorded"; another answer to the same query is refused: see `correct`.
        """
        number = query.id if isinstance(query, StudyQuery) else query
        if number is None and mediator is None:
            raise StudyError("name the query that is answered, or the mediator who answered unasked")
        reward = as_float(reward)
        answer = {"arm": arm, "reward": reward, "surprise": bool(accept_surprise)}

        def work(tx: Transaction) -> Receipt:
            if number is None:
                return self._record(tx, {"mediator": mediator, "unasked": True}, answer, silent)
            row = tx.row(number)
            if mediator is not None and mediator != tx.mediator(row):
                raise StudyError(f"query {number} was for mediator {tx.mediator(row)!r}, not for {mediator!r}")
            if row.status in ("told", "silent"):
                before = tx.said(row)
                if before == (None if silent else {"arm": arm, "reward": reward}):
                    return Receipt(recorded=False, query=number)
                words = "silence" if before is None else f"arm {before['arm']!r}, reward {before['reward']:g}"
                raise ConflictError(f"query {number} was answered before with {words}: gobetween correct {number} changes that")
            if row.status == "cancelled":
                raise StudyError(f"query {number} was cancelled: tell it as unasked if its answer is to count all the same")
            return self._record(tx, {"query": number, "mediator": tx.mediator(row), "unasked": False}, answer, silent)

        request = {"query": number, "mediator": mediator if number is None else None, "silent": silent, **answer}
        return self._do("tell", request, key, work, rebuilt)

    @staticmethod
    def _record(tx: Transaction, about: Event, answer: Event, silent: bool) -> Receipt:
        if silent:
            if answer["arm"] is not None or answer["reward"] is not None:
                raise StudyError("silent means that no arm was pulled: leave out arm and reward")
            event = tx.do("silent", **about)
        else:
            event = tx.do("told", **about, **answer)
        spec, arm = tx.state.spec, event.get("arm")
        tx.keep(
            event["query"], mediator=spec.mediators.index(event["mediator"]), status=event["kind"], slot=event["slot"],
            arm=None if arm is None else spec.arms.index(arm), reward=event.get("reward"),
        )  # fmt: skip
        asked = tx.settle()
        return Receipt(True, event["query"], event["late"], asked, verdict_of(tx))

    def correct(
        self,
        query: "StudyQuery | int",
        *,
        arm: str | None = None,
        reward: float | None = None,
        silent: bool = False,
        reason: str,
        accept_surprise: bool = False,
        key: str | None = None,
    ) -> Receipt:
        """Replace an answer that was wrong. The guarantee assumes that corrections are not chosen by their reward."""
        number = query.id if isinstance(query, StudyQuery) else query
        check_text("reason", reason)
        if not reason or not reason.strip():
            raise StudyError("a correction needs a reason")
        reward = as_float(reward)

        def work(tx: Transaction) -> Receipt:
            row = tx.row(number)
            if row.status not in ("told", "silent"):
                raise StudyError(f"query {number} is {row.status}: there is no answer to correct")
            if silent and (arm is not None or reward is not None):
                raise StudyError("silent means that no arm was pulled: leave out arm and reward")
            if not silent and (arm is None or reward is None):
                raise StudyError("a correction needs the right arm and reward, or silent")
            old, new = tx.said(row), None if silent else {"arm": arm, "reward": reward}
            if old == new:
                return Receipt(recorded=False, query=number)
            tx.do(
                "corrected", query=number, mediator=tx.mediator(row), slot=row.slot, old=old, new=new, reason=reason,
                surprise=bool(accept_surprise),
            )  # fmt: skip
            place = None if arm is None else tx.state.spec.arms.index(arm)
            tx.keep(number, status="silent" if silent else "told", arm=place, reward=reward)
            return Receipt(True, number, asked=tx.settle(), stopped=verdict_of(tx))

        request = {"query": number, "arm": arm, "reward": reward, "silent": silent, "reason": reason}
        return self._do("correct", request, key, work, rebuilt)

    def cancel(self, query: "StudyQuery | int", *, reason: str = "", key: str | None = None) -> Receipt:
        """Withdraw an open query. Why must not depend on its reward, nor on answers to later queries."""
        number = query.id if isinstance(query, StudyQuery) else query
        check_text("reason", reason)

        def work(tx: Transaction) -> Receipt:
            row = tx.row(number)
            if row.status == "cancelled":
                return Receipt(recorded=False, query=number)
            if number not in tx.state.open:
                raise StudyError(f"query {number} is {row.status}: only an open query can be cancelled")
            tx.do("cancelled", query=number, mediator=tx.mediator(row), reason=reason)
            tx.keep(number, status="cancelled")
            return Receipt(True, number, asked=tx.settle(), stopped=verdict_of(tx))

        return self._do("cancel", {"query": number}, key, work, rebuilt)

    def away(self, mediator: str, *, key: str | None = None) -> Receipt:
        """Ask a mediator no more until it is back; its open queries stay open."""
        return self._presence("away", mediator, key)

    def back(self, mediator: str, *, key: str | None = None) -> Receipt:
        """A mediator can be asked again."""
        return self._presence("available", mediator, key)

    def _presence(self, kind: str, mediator: str, key: str | None) -> Receipt:
        def work(tx: Transaction) -> Receipt:
            if mediator not in tx.state.spec.mediators:
                names = ", ".join(map(repr, tx.state.spec.mediators))
                raise StudyError(f"mediator {mediator!r} is not known: choose one of {names}")
            if (mediator in tx.state.away) == (kind == "away"):
                return Receipt(recorded=False)
            tx.do(kind, mediator=mediator)
            return Receipt(True, asked=tx.settle(), stopped=verdict_of(tx))

        return self._do(kind, {"mediator": mediator}, key, work, rebuilt)

    def pause(self, *, key: str | None = None) -> Receipt:
        """Issue no more queries until `resume`; answers are still taken."""

        def work(tx: Transaction) -> Receipt:
            if tx.state.paused:
                return Receipt(recorded=False)
            tx.do("paused")
            return Receipt(True)

        return self._do("pause", {}, key, work, rebuilt)

    def resume(self, *, key: str | None = None) -> Receipt:
        """Go on after a pause, or after the study has stopped (its verdict stays in the record)."""

        def work(tx: Transaction) -> Receipt:
            if tx.state.stopped is None and not tx.state.paused:
                return Receipt(recorded=False)
            if tx.state.stopped is not None:
                if not tx.state.affordable:
                    raise StudyError("the budget is used up: raise budget in the study file first")
                tx.do("reopened")
            if tx.state.paused:
                tx.do("resumed")
            return Receipt(True, asked=tx.settle(), stopped=verdict_of(tx))

        return self._do("resume", {}, key, work, rebuilt)

    def absorb(self, stats: Any, files: Sequence[str], *, key: str | None = None) -> Receipt:
        """Begin from a log: its counts inform estimates and verdict, δ-correct over log and study together (docs/logs.md)."""

        def work(tx: Transaction) -> Receipt:
            spec = tx.state.spec
            if tx.record.seq:
                raise StudyError("a study begins from a log before anything else has happened")
            N_ea, S_ea = stats.aligned(spec.arms, spec.mediators)
            for e, row in enumerate(spec.policies):
                for a in range(len(spec.arms)) if row is not None else ():
                    if row is not None and row[a] == 0.0 and N_ea[e, a]:
                        words = f"the log has {spec.mediators[e]!r} pull {spec.arms[a]!r}, which its declared policy never does"
                        raise StudyError(words)
            tx.do("absorbed", files=list(files), N_ea=N_ea.tolist(), S_ea=S_ea.tolist())
            return Receipt(True, asked=tx.settle(), stopped=verdict_of(tx))

        return self._do("absorb", {"files": list(files)}, key, work, rebuilt)

    def note(self, text: str, *, key: str | None = None) -> Receipt:
        """Write something into the log."""
        check_text("note", text)
        if not text or not text.strip():
            raise StudyError("a note needs some text")

        def work(tx: Transaction) -> Receipt:
            tx.do("note", text=text)
            return Receipt(True)

        return self._do("note", {"text": text}, key, work, rebuilt)

    def edit(self, spec: StudySpec) -> Receipt:
        """Take over a changed spec: before the first event any, afterwards only what cannot touch the mathematics."""

        def work(tx: Transaction) -> Receipt:
            changes = differences(tx.state.spec, spec)
            if not changes:
                return Receipt(recorded=False)
            if tx.record.seq == 0:
                tx.record.respecify(spec.to_dict())
                return Receipt(True)
            for name, (old, new) in changes.items():
                if name not in EDITABLE or (name in ("arms", "mediators") and not is_renaming(old, new)):
                    raise StudyError(f"{name} cannot change, the study has begun: it is {short(old)}, not {short(new)}")
            for name, (old, new) in changes.items():
                tx.do("edited", field=name, old=old, new=new)
            tx.conclude()
            return Receipt(True, stopped=verdict_of(tx))

        return self._do("edit", spec.to_dict(), None, work, rebuilt)

    # views ------------------------------------------------------------------------------------------------------------

    def look(self) -> tuple[StudyState, float, int]:
        """The state now, the store's time and the number of the last event."""
        with self.store.reading(self.name) as record:
            return state_of(record), record.now, record.seq

    @property
    def spec(self) -> StudySpec:
        """The spec as it is now."""
        with self.store.reading(self.name) as record:
            return StudySpec.from_dict(record.spec if record.snapshot is None else record.snapshot["spec"])

    def status(self) -> Any:
        """How the study stands: a `Status`."""
        from gobetween.study.status import status_of

        return status_of(self.name, *self.look())

    def pending(self) -> list[StudyQuery]:
        """Open queries, oldest first."""
        with self.store.reading(self.name) as record:
            tx = Transaction(record, state_of(record), self.actor)
            return [tx.shown(number, new=False) for number in tx.state.open]

    def events(self, after: int = 0, limit: int | None = None) -> Iterator[Event]:
        """Recorded events in order."""
        with self.store.reading(self.name) as record:
            yield from record.events(after, limit)

    def export(self) -> Iterator[dict[str, Any]]:
        """One row for each query, in order: what was asked and what became of it."""
        with self.store.reading(self.name) as record:
            spec = state_of(record).spec
            for row in record.rows():
                arm = None if row.arm is None else spec.arms[row.arm]
                yield dict(row.__dict__) | {"mediator": spec.mediators[row.mediator], "arm": arm}

    def doctor(self) -> list[str]:
        """Replay the log and compare it with the snapshot; complaints, none if all is well."""
        from gobetween.study.doctor import examine

        return examine(self.store, self.name)

    def _do(
        self,
        command: str,
        arguments: Mapping[str, Any],
        key: str | None,
        work: Callable[[Transaction], T],
        again: Callable[[Sequence[Event], Transaction, bool], T],
    ) -> T:
        """One transaction; if the database goes away it is tried again, and the key tells whether it had been done."""
        check_text("key", key, LONGEST_KEY)
        if key == "":
            raise StudyError("key: must not be empty")
        request = hashlib.sha256(json.dumps([command, arguments], sort_keys=True, default=str).encode()).hexdigest()[:32]
        own, deadline = key or f"auto-{uuid4()}", time.monotonic() + PATIENCE
        while True:
            try:
                with self.store.writing(self.name) as record:
                    tx = Transaction(record, state_of(record), self.actor)
                    if before := record.by_key(own):
                        if before[0].get("request") != request:
                            raise ConflictError(f"key {own!r} was used before for something else: choose another")
                        return again(before, tx, key is None)
                    try:
                        answer = work(tx)
                    except ProblemError as error:
                        raise StudyError(str(error)) from None
                    tx.save(f"auto-{uuid4()}" if tx.refused else own, request)
                if tx.refused:
                    raise StudyError(tx.refused)
                return answer
            except StoreError as error:
                if not error.passing or time.monotonic() > deadline:
                    raise
                time.sleep(0.05)


def about_now(at: float) -> dict[str, Any]:
    """What is noted when a study is made."""
    return {"version": __version__, "rules": 1, "created": at}
