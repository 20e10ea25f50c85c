"""Answers from a CSV file: read and checked row by row before anything happens, then recorded, all or none."""

import csv
import hashlib
import io
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from os import PathLike

from gobetween.errors import GoBetweenError, StudyError, spelled
from gobetween.export import choose
from gobetween.files.cells import lines_of, separator_in
from gobetween.files.paths import content_of, text_in
from gobetween.study.commands.commands import command_of, work_of
from gobetween.study.commands.verb import Verb
from gobetween.study.commands.verbs import Tell
from gobetween.study.journal.events import Event
from gobetween.study.journal.receipts import Receipt
from gobetween.study.journal.transaction import Transaction
from gobetween.study.spec.checks import LONGEST_KEY, check_text, reward_of

COLUMNS = ("query", "mediator", "arm", "reward", "silent", "key")
LARGEST, MOST_ROWS = 32_000_000, 100_000  # bytes and rows of a file, which are recorded in one piece
YES, NO = ("1", "true", "yes", "x"), ("", "0", "false", "no")


@dataclass(frozen=True)
class AnswerRow:
    """An answer, where it stands in its file, and its key."""

    where: str
    key: str
    tell: Tell


@dataclass(frozen=True)
class TellAll(Verb[list[Receipt]]):
    """Record many answers, or none."""

    word = "tell-all"
    long = True
    rows: list[AnswerRow]
    dry: bool  # only try

    def _check(self) -> None:
        first: dict[str, str] = {}
        for row in self.rows:
            check_text(f"{row.where}: key", row.key, LONGEST_KEY)
            if row.key in first:
                raise StudyError(f"{row.where}: its key {row.key!r} is also that of {first[row.key]}")
            first[row.key] = row.where


def _told_again(tx: Transaction, events: list[Event], own: bool) -> list[Receipt]:
    return [Receipt(recorded=False, query=event.get("query")) for event in events]


@work_of(TellAll, _told_again)
def tell_all(verb: TellAll, tx: Transaction) -> list[Receipt]:
    """Row by row."""
    done = [_record(tx, row) for row in verb.rows]
    if verb.dry:
        tx.events.clear()
    return done


def _record(tx: Transaction, row: AnswerRow) -> Receipt:
    command = command_of(row.tell)
    with _at(row.where):
        if before := tx.record.by_key(row.key):
            return command.repeated(tx, row.key, before, own=False)
        since = len(tx.events)
        receipt = command.work(tx)
        tx.keyed(since, row.key, row.tell.digest)
        tx.begun = len(tx.events)
        return receipt


@contextmanager
def _at(where: str) -> Iterator[None]:
    """What is refused says where it stands."""
    try:
        yield
    except GoBetweenError as error:
        kind = type(error) if isinstance(error, StudyError) else StudyError
        raise kind(f"{where}: {spelled(error.where)} {error.what}".replace(":  ", ": "), fix=error.fix) from None


def read_answers(path: str | PathLike[str], accept_surprise: bool, again: bool) -> list[AnswerRow]:
    """The rows of a file.

    A row without a key of its own gets one from the file's content and its place: the same file twice is counted once.
    """
    content = content_of(path, LARGEST, "split it into several", StudyError)
    cells = list(_cells(path, text_in(content, str(path), StudyError)))
    if not cells:
        raise StudyError(f"{path}: is empty: its first line must name the columns, of {', '.join(COLUMNS)}")
    header, digest = _header(path, cells[0][1]), hashlib.sha256(content).hexdigest()[:32]
    return [_row(f"{path} row {n}", header, row, f"csv-{digest}-{n}", accept_surprise, again) for n, row in cells[1:]]


def _cells(path: str | PathLike[str], text: str) -> Iterator[tuple[int, list[str]]]:
    """The rows that are not empty, with their numbers; the first, 0, names the columns."""
    separator = separator_in(text.partition("\n")[0].strip(), lambda header: any(_word(cell) in COLUMNS for cell in header))
    lines = lines_of(io.StringIO(text, newline=""), str(path), StudyError)
    full = ((n, row) for n, row in enumerate(csv.reader(lines, delimiter=separator, strict=True)) if any(map(str.strip, row)))
    try:
        for found, row in enumerate(full):
            if found > MOST_ROWS:
                raise StudyError(f"{path}: has more than {MOST_ROWS:,} rows: split it into several")
            yield row
    except csv.Error as error:
        raise StudyError(f"{path}: is not CSV ({error})") from None


def _word(cell: str) -> str:
    return cell.strip().lower()


def _header(path: str | PathLike[str], cells: list[str]) -> list[str]:
    names = list(map(_word, cells))
    for name in names:
        if name not in COLUMNS:
            raise StudyError(f"{path}: column {name!r} is not known: {choose(name, COLUMNS, str)}")
        if names.count(name) > 1:
            raise StudyError(f"{path}: column {name!r} is there twice")
    return names


def _row(where: str, header: list[str], cells: list[str], key: str, accept_surprise: bool, again: bool) -> AnswerRow:
    """A row with a key of its own is another answer, even if the same came a moment ago."""
    if len(cells) != len(header):
        raise StudyError(f"{where}: has {len(cells)} cells, the first line {len(header)}")
    said = {name: cell.strip() or None for name, cell in zip(header, cells, strict=True)}
    silent, own = _flag(where, said.get("silent") or ""), said.get("key")
    with _at(where):
        told = Tell(
            _query(said.get("query")),
            arm=said.get("arm"),
            reward=reward_of(said.get("reward")),
            silent=silent,
            mediator=said.get("mediator"),
            accept_surprise=accept_surprise,
            again=again or own is not None,
        )
    return AnswerRow(where, own or key, told)


def _query(text: str | None) -> int | None:
    try:
        return None if text is None else int(text)
    except ValueError:
        raise StudyError(f"query {text!r} is not a whole number") from None


def _flag(where: str, text: str) -> bool:
    if text.lower() not in (*YES, *NO):
        raise StudyError(f"{where}: silent {text!r}: write yes or no")
    return text.lower() in YES
