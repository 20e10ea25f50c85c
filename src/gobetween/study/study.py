"""A live study: the learner behind a store that loses nothing. Commands make events; a transaction records them or nothing."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import Any, TypedDict, TypeVar, cast
from uuid import uuid4

from gobetween.core.policies import Policy
from gobetween.errors import StudyError
from gobetween.export import data_frame
from gobetween.logs.counts import LogStats
from gobetween.study import commands, course
from gobetween.study.checks import LONGEST_KEY, check_text, user_name
from gobetween.study.commands import Command
from gobetween.study.desk import Desk, Wanted, patiently
from gobetween.study.edits import Changes, changes_to
from gobetween.study.events import Event
from gobetween.study.record import Store, present_spec
from gobetween.study.spec import StudySpec, as_list
from gobetween.study.state import StudyState
from gobetween.study.status import Status, status_of
from gobetween.study.transaction import Receipt, StudyQuery, Transaction, shown, state_now, state_of

Place = str | PathLike[str]
"""A study.toml, a SQLite file or the URL of a store."""
T = TypeVar("T")


@dataclass(frozen=True)
class View:
    """A study at one moment, all from one read."""

    state: StudyState
    status: Status
    events: list[Event]
    """The last of them."""
    created: float | None
    past: Any
    """What was made of all events."""


class Exported(TypedDict):
    """A query and what became of it."""

    query: int
    mediator: str
    status: str
    """open, told, silent, cancelled, expired or voided."""
    arm: str | None
    reward: float | None
    slot: int | None
    """Its place in the order in which answers are counted."""
    worker: str | None


class Study:
    """A live study in a store. Every method is one transaction: it is recorded wholly, or it raises and changes nothing.

    `key` makes a command safe to repeat: the second time it is not done again. `actor` says who does it.

    >>> from tempfile import TemporaryDirectory
    >>> spec = gb.StudySpec(["letter", "call"], {"North": [0.8, 0.2], "South": None}, family="bernoulli")
    >>> with TemporaryDirectory() as folder, gb.Study.create(f"{folder}/study.sqlite", spec) as study:
    ...     (query,) = study.ask()
    ...     receipt = study.tell(query, arm="letter", reward=1)
    ...     print(receipt.recorded, study.status().leader)
    True letter
    """

    def __init__(self, store: Store, name: str, actor: str | None = None) -> None:
        check_text("actor", actor)
        self.store, self.name, self.actor = store, name, actor or user_name()
        self.desk: Desk | None = None
        """Where commands queue up with those of others in this process; without one each reads the state anew."""
        self.drawn: str | None = None
        """A key that somebody else has drawn for the one command to come, who may try it again."""
        self.unsaved: tuple[str, ...] = ()
        """Fields in which study.toml differs from the stored study, when it was opened only to look."""
        self.taken_over: Changes = {}
        """What the last `edit` changed, as field → (old, new); opening a changed study.toml is one."""

    @classmethod
    def open(cls, path_or_url: Place, name: str | None = None, *, actor: str | None = None) -> "Study":
        """Open a study by its study.toml, its SQLite file or the URL of its store; it must be there."""
        from gobetween.study.opening import open_study

        return open_study(path_or_url, name, actor)

    @classmethod
    def create(
        cls, path_or_url: Place, spec: StudySpec | None = None, name: str | None = None, *, actor: str | None = None
    ) -> "Study":
        """Make a new study; a study.toml brings its own spec."""
        from gobetween.study.opening import create_study

        return create_study(path_or_url, spec, name, actor)

    @classmethod
    def open_or_create(
        cls, path_or_url: Place, spec: StudySpec | None = None, name: str | None = None, *, actor: str | None = None
    ) -> "Study":
        """Open a study, or make it if there is none. A spec that has changed is taken over, or refused, as a study.toml is."""
        from gobetween.study.opening import open_or_create_study

        return open_or_create_study(path_or_url, spec, name, actor)

    def close(self) -> None:
        """Let go of the store's connections."""
        self.store.close()

    def __enter__(self) -> "Study":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<Study {self.name!r} in {self.store.place}>"

    def _repr_html_(self) -> str:
        return self.status()._repr_html_()

    # commands ---------------------------------------------------------------------------------------------------------

    def ask(self, n: int | None = None, *, worker: str | None = None, key: str | None = None) -> list[StudyQuery]:
        """Whom to ask next. Queries whose lease has run out are issued anew.

        n: that many new queries. Without it one, or, with in_flight, as many as are missing (if none is, those that are open).
        worker: one query for a worker that names itself; if it holds an open one, that one again.
        """
        return self.do(commands.ask(n, worker), key)

    def tell(
        self,
        query: StudyQuery | int | None = None,
        *,
        arm: str | None = None,
        reward: float | None = None,
        silent: bool = False,
        mediator: str | None = None,
        accept_surprise: bool = False,
        again: bool = False,
        key: str | None = None,
    ) -> Receipt:
        """Record an answer: arm and reward, or silent=True. Without a query, name the mediator who answered unasked.

        The same answer again is "already recorded"; another answer to the same query is refused: see `correct`. An unasked
        answer that is the same as one of the last ten minutes needs again=True or a key, lest one is counted twice.
        """
        another = again or key is not None
        return self.do(commands.tell(query, arm, reward, silent, mediator, accept_surprise, another), key)

    def tell_csv(
        self, path: str | PathLike[str], *, accept_surprise: bool = False, again: bool = False, dry_run: bool = False
    ) -> list[Receipt]:
        """Record the answers of a CSV file, all or none; its columns are of query, mediator, arm, reward, silent, key.

        The same file again is "already recorded", row by row. dry_run=True only tries, and changes nothing.
        """
        from gobetween.study.answer_file import read_answers

        return self.do(commands.tell_all(read_answers(path), accept_surprise, again, dry_run), None)

    def correct(
        self,
        query: StudyQuery | int,
        *,
        arm: str | None = None,
        reward: float | None = None,
        silent: bool = False,
        mediator: str | None = None,
        reason: str,
        accept_surprise: bool = False,
        key: str | None = None,
    ) -> Receipt:
        """Replace an answer that was wrong, or name the mediator who really gave it (alone: the answer stays).

        The guarantee assumes that corrections are not chosen by their reward.
        """
        return self.do(commands.correct(query, arm, reward, silent, mediator, reason, accept_surprise), key)

    def void(self, query: StudyQuery | int, *, reason: str, key: str | None = None) -> Receipt:
        """Take an answer out of the count, as if its query had been cancelled; it stays in the log.

        The guarantee assumes that answers are not taken out because of their reward, and status says so.
        """
        return self.do(commands.void(query, reason), key)

    def cancel(self, query: StudyQuery | int, *, reason: str = "", key: str | None = None) -> Receipt:
        """Withdraw an open query. Why must not depend on its reward, nor on answers to later queries."""
        return self.do(commands.cancel(query, reason), key)

    def away(self, mediator: str, *, key: str | None = None) -> Receipt:
        """Ask a mediator no more until it is back; its open queries stay open."""
        return self.do(course.presence("away", mediator), key)

    def back(self, mediator: str, *, key: str | None = None) -> Receipt:
        """A mediator can be asked again."""
        return self.do(course.presence("available", mediator), key)

    def add_mediator(
        self,
        mediator: str,
        *,
        policy: Policy = None,
        cost: float = 1.0,
        contact: str = "",
        key: str | None = None,
    ) -> Receipt:
        """Take in one mediator more, also after the study has begun. The guarantee is as before: it holds whoever is asked.

        policy: a list in the order of the arms or a mapping from arms; a set of arms where only these are known, that it may
        pull; None where nothing is.
        """
        row = policy if policy is None or isinstance(policy, Mapping) else as_list(policy)
        return self.do(course.add_mediator(mediator, row, cost, contact), key)

    def retire(self, name: str, *, what: str = "mediator", key: str | None = None) -> Receipt:
        """Ask a mediator no more, for good, its open queries stay open; or what="arm": leave an arm out of the question.

        The answer is then the best of the arms that remain, for whatever reason one was retired; it says nothing of that arm.
        """
        return self.do(course.retire(name, what), key)

    def pause(self, *, key: str | None = None) -> Receipt:
        """Issue no more queries until `resume`; answers are still taken."""
        return self.do(course.pause(), key)

    def resume(self, *, key: str | None = None) -> Receipt:
        """Go on after a pause, or after the study has stopped (its verdict stays in the record)."""
        return self.do(course.resume(), key)

    def absorb(self, stats: LogStats, files: Sequence[str], *, key: str | None = None) -> Receipt:
        """Begin from a log: its counts inform estimates and verdict, δ-correct over log and study together (docs/logs.md)."""
        return self.do(course.absorb(stats, files), key)

    def note(self, text: str, *, key: str | None = None) -> Receipt:
        """Write something into the log."""
        return self.do(course.note(text), key)

    def edit(self, spec: StudySpec) -> Receipt:
        """Take over a changed spec: before the first event any, afterwards only what cannot touch the mathematics.

        `check` says beforehand what that would change; names change by `rename` only.
        """
        receipt, self.taken_over = self.do(course.edit(spec), None)
        return receipt

    def rename(self, old: str, new: str, *, what: str | None = None, key: str | None = None) -> Receipt:
        """Another name for an arm or a mediator, which stays the same; what="arm" or "mediator" where both have the old one."""
        return self.do(course.rename(old, new, what), key)

    # views ------------------------------------------------------------------------------------------------------------

    def look(self) -> tuple[StudyState, float, int]:
        """The state by the store's clock, its time and the number of the last event."""
        with self.store.reading(self.name) as record:
            return state_now(record), record.now, record.seq

    def view(self, last: int, past: Callable[[StudyState, Iterator[Event]], Any] | None = None) -> View:
        """State, status and the last so many events, all of one moment; `past` is shown the state and all events."""
        with self.store.reading(self.name) as record:
            state = state_now(record)
            events = list(record.events(max(0, record.seq - last))) if last else []
            found = None if past is None else past(state, record.events(0))
            undelivered = None if state.spec.notify is None else record.undelivered().words(record.now)
            status = status_of(self.name, state, record.now, record.seq, undelivered)
            return View(state, status, events, record.about.get("created"), found)

    @property
    def spec(self) -> StudySpec:
        """The spec as it is now."""
        with self.store.reading(self.name) as record:
            return StudySpec.from_dict(present_spec(record))

    def check(self, spec: StudySpec) -> dict[str, tuple[Any, Any]]:
        """What `edit` would change, as field → (old, new), or its refusal; nothing happens."""
        with self.store.reading(self.name) as record:
            return changes_to(present_spec(record), spec, begun=record.seq > 0)

    def status(self) -> Status:
        """How the study stands."""
        return self.view(0).status

    def undelivered(self) -> str | None:
        """What is wrong with messages that the study file wants to be sent, in one sentence; None if nothing is."""
        with self.store.reading(self.name) as record:
            return record.undelivered().words(record.now)

    def pending(self) -> list[StudyQuery]:
        """Open queries, oldest first."""
        state, _, _ = self.look()
        return [shown(state, number, new=False) for number in state.open]

    def overdue(self) -> list[StudyQuery]:
        """Queries whose lease has ended, oldest first, and for which neither they nor any instead of them were answered."""
        state, _, _ = self.look()
        return [shown(state, number, new=False) for number in state.late()]

    def events(self, after: int = 0, limit: int | None = None) -> Iterator[Event]:
        """Recorded events in order."""
        with self.store.reading(self.name) as record:
            yield from record.events(after, limit)

    def lines(self) -> Iterator[str]:
        """Recorded events in order, each as a line of JSON: `events` for those who only write them down."""
        with self.store.reading(self.name) as record:
            yield from record.lines()

    def export(self) -> Iterator[Exported]:
        """One row for each query, in order: what was asked and what became of it."""
        with self.store.reading(self.name) as record:
            spec = StudySpec.from_dict(present_spec(record))
            for row in record.rows():
                arm = None if row.arm is None else spec.arms[row.arm]
                yield cast(Exported, row.__dict__ | {"mediator": spec.mediators[row.mediator], "arm": arm})

    def to_frame(self) -> Any:
        """`export` as a data frame of pandas, or of polars where only that is installed."""
        rows = [dict(row) for row in self.export()]
        return data_frame({column: [row[column] for row in rows] for column in Exported.__annotations__})

    def report(self, folder: str | PathLike[str] = "study-report") -> Path:
        """Write a page with the answer, the figures and what was recorded; returns its path."""
        from gobetween.pages.html import write_report
        from gobetween.pages.study import sections

        return write_report(Path(folder), *sections(self))

    def doctor(self) -> list[str]:
        """Replay the log and compare it with the snapshot; complaints, none if all is well."""
        from gobetween.study.doctor import examine

        return examine(self.store, self.name)

    def do(self, command: Command[T], key: str | None) -> T:
        """Any command, in one transaction. If the database goes away it is tried again: the key tells whether it was done."""
        check_text("key", key, LONGEST_KEY)
        if key == "":
            raise StudyError("key: must not be empty")
        own, known = key or self.drawn or f"auto-{uuid4()}", (key or self.drawn) is not None
        return self._carry_out(Wanted(command, own, known, key is None, self.actor))

    def _carry_out(self, wanted: Wanted[T]) -> T:
        if self.desk is not None:
            return self.desk.do(wanted)
        return patiently(lambda again: self._try(wanted, again))

    def _try(self, wanted: Wanted[T], again: bool) -> T:
        with self.store.writing(self.name) as record:
            tx = Transaction(record, state_of(record), wanted.actor)
            answer = wanted.command.run(tx, wanted.key, again or wanted.known, wanted.drawn)
            tx.save()
        if tx.refused is not None:
            raise tx.refused
        return answer
