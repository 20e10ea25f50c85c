"""A live study: the learner behind a store that loses nothing. Commands make events; a transaction records them or nothing."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import Any, TypeVar

from gobetween.errors import StudyError
from gobetween.export import data_frame
from gobetween.logs.reading.counts import LogStats
from gobetween.study.commands.command_queue import CommandQueue, QueuedCommand, patiently
from gobetween.study.commands.commands import Command, command_of
from gobetween.study.commands.lifecycle import Absorb, Edit
from gobetween.study.commands.study_verbs import RenameStudy
from gobetween.study.commands.verb import Verb
from gobetween.study.commands.verbs import Commands
from gobetween.study.journal.events import Event
from gobetween.study.journal.receipts import Receipt, StudyQuery
from gobetween.study.journal.record import Store, present_spec
from gobetween.study.journal.state import StudyState
from gobetween.study.journal.transaction import Transaction, shown, state_now, state_of
from gobetween.study.query_export import ExportedQuery, exported
from gobetween.study.spec.changes import Changes, changes_to
from gobetween.study.spec.checks import check_number, check_text, user_name
from gobetween.study.spec.spec import StudySpec
from gobetween.study.status.status import Status, status_of

Place = str | PathLike[str]  # a study.toml, a SQLite file or the URL of a store
T = TypeVar("T")


@dataclass(frozen=True)
class StudyMoment:
    """A study at one moment, all from one read."""

    state: StudyState
    status: Status
    events: list[Event]  # the last of them
    created: float | None
    past: Any  # what was made of all events


class Study(Commands):
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
        self.queue: CommandQueue | None = None
        """Where commands wait with those of others in this process; without one each reads the state again."""
        self.unsaved: tuple[str, ...] = ()
        """Fields in which study.toml differs from the stored study, when it was opened only to look."""
        self.behind: tuple[str, ...] = ()
        """What commands have changed since, and a study.toml or spec does not say yet."""
        self.taken_over: Changes = {}
        """What the last `edit` changed, as field → (old, new); opening a changed study.toml is one."""

    @classmethod
    def open(cls, path_or_url: Place, name: str | None = None, *, actor: str | None = None) -> "Study":
        """Open a study by its study.toml, its SQLite file or the URL of its store; it must be there."""
        from gobetween.study.find_study import open_study

        return open_study(path_or_url, name, actor)

    @classmethod
    def create(
        cls, path_or_url: Place, spec: StudySpec | None = None, name: str | None = None, *, actor: str | None = None
    ) -> "Study":
        """Make a new study; a study.toml brings its own spec."""
        from gobetween.study.find_study import create_study

        return create_study(path_or_url, spec, name, actor)

    @classmethod
    def open_or_create(
        cls, path_or_url: Place, spec: StudySpec | None = None, name: str | None = None, *, actor: str | None = None
    ) -> "Study":
        """Open a study, or make it if there is none. A spec that has changed is taken over, or refused, as a study.toml is."""
        from gobetween.study.find_study import open_or_create_study

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

    def do(self, verb: Verb[T]) -> T:
        """Any verb, in one transaction. If the database goes away it is tried again: the key tells whether it was done."""
        return self.run(command_of(verb))

    def run(self, command: Command[T]) -> T:
        """The same, for a command whose work may be another than its verb's."""
        job = QueuedCommand(command, self.actor)
        answer = patiently(lambda again: self._try(job, again)) if self.queue is None else self.queue.run(job)
        if isinstance(command.verb, RenameStudy):
            self.name = command.verb.name
            if self.queue is not None:
                self.queue.name = self.name
        return answer

    def _try(self, job: QueuedCommand[T], again: bool) -> T:
        try:
            if job.command.verb.long and self._ahead(job, again):
                return job.result()
            with self.store.writing(self.name) as record:
                tx = Transaction(record, state_of(record), job.actor)
                job.value = job.command.run(tx, job.key, again or job.known)
                tx.save()
        except StudyError as error:
            if not job.was_done(again, error):
                raise
            return job.result()
        if tx.refused is not None:
            raise tx.refused
        return job.result()

    def _ahead(self, job: QueuedCommand[T], again: bool) -> bool:
        """Long work without the lock that others wait for; it is written if nobody has written meanwhile."""
        with self.store.reading(self.name) as seen:
            tx = Transaction(seen, state_of(seen), job.actor)
            job.value = job.command.run(tx, job.key, again or job.known)
            if tx.events:
                with self.store.writing(self.name) as record:
                    if (record.seq, record.spec) != (seen.seq, seen.spec):
                        return False
                    tx.record = record
                    tx.save()
        return True

    def tell_csv(
        self, path: str | PathLike[str], *, accept_surprise: bool = False, again: bool = False, dry_run: bool = False
    ) -> list[Receipt]:
        """Record the answers of a CSV file, all or none; its columns are of query, mediator, arm, reward, silent, key.

        The same file again is "already recorded", row by row. dry_run=True only tries, and changes nothing.
        """
        from gobetween.study.commands.answer_file import TellAll, read_answers

        return self.do(TellAll(read_answers(path, accept_surprise, again), dry_run))

    def absorb(self, stats: LogStats, files: Sequence[str], *, key: str | None = None) -> Receipt:
        """Begin from a log: its counts inform estimates and verdict, δ-correct over log and study together (docs/logs.md)."""
        return self.do(Absorb(stats, files, key=key))

    def edit(self, spec: StudySpec) -> Receipt:
        """Take over a changed spec: before the first event any, afterwards only what cannot touch the mathematics.

        `check` says beforehand what that would change; names change by `rename` only.
        """
        receipt, self.taken_over = self.do(Edit(spec))
        return receipt

    # views ------------------------------------------------------------------------------------------------------------

    def look(self) -> tuple[StudyState, float, int]:
        """The state by the store's clock, its time and the number of the last event."""
        with self.store.reading(self.name) as record:
            return state_now(record), record.now, record.seq

    def view(self, last: int, past: Callable[[StudyState, Iterator[Event]], Any] | None = None) -> StudyMoment:
        """State, status and the last so many events, all of one moment; `past` is shown the state and all events."""
        check_number("last", last)
        with self.store.reading(self.name) as record:
            state = state_now(record)
            events = list(record.events(max(0, record.seq - last))) if last else []
            found = None if past is None else past(state, record.events(0))
            undelivered = None if state.spec.notify is None else record.undelivered().words(record.now)
            status = status_of(self.name, state, record.now, record.seq, undelivered)
            return StudyMoment(state, status, events, record.about.get("created"), found)

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
        check_number("after", after)
        if limit is not None:
            check_number("limit", limit)
        return self._events(after, limit)

    def _events(self, after: int, limit: int | None) -> Iterator[Event]:
        with self.store.reading(self.name) as record:
            yield from record.events(after, limit)

    def lines(self) -> Iterator[str]:
        """Recorded events in order, each as a line of JSON: `events` for those who only write them down."""
        with self.store.reading(self.name) as record:
            yield from record.lines()

    def export(self) -> Iterator[ExportedQuery]:
        """One row for each query, in order: what was asked, when, and what happened to it."""
        with self.store.reading(self.name) as record:
            yield from exported(record)

    def to_frame(self) -> Any:
        """`export` as a data frame of pandas, or of polars where only that is installed."""
        rows = [dict(row) for row in self.export()]
        return data_frame({column: [row[column] for row in rows] for column in ExportedQuery.__annotations__})

    def report(self, folder: str | PathLike[str] = "study-report") -> Path:
        """Write a page with the answer, the figures and what was recorded; returns its path."""
        from gobetween.pages.html import write_report
        from gobetween.pages.study.report import report

        return write_report(Path(folder), *report(self))

    def doctor(self) -> list[str]:
        """Replay the log and compare it with the snapshot; complaints, none if all is well."""
        from gobetween.study.doctor import examine

        return examine(self.store, self.name)
