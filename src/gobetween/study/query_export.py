"""The queries of a study as a table: what was asked, when, and what happened to it; as rows and as CSV."""

import csv
from array import array
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from io import StringIO
from itertools import islice
from math import isnan, nan
from typing import Any, TypedDict, cast

from gobetween.study.journal.record import StudyRecord, present_spec
from gobetween.study.spec.spec import StudySpec


class ExportedQuery(TypedDict):
    """A query and what happened to it; docs/live.md says what each column means."""

    query: int
    mediator: str
    status: str  # open, told, silent, cancelled, expired or voided
    arm: str | None
    reward: float | None
    slot: int | None  # its place in the order in which answers are counted
    worker: str | None
    asked_at: float | None  # seconds since 1970; None: nobody asked for it
    answered_at: float | None
    cost: float
    contact: str
    reason: str | None


COLUMNS = tuple(ExportedQuery.__annotations__)
TIMES = ("asked_at", "answered_at")
BLOCK = 1000
REASONED = ("corrected", "moved", "voided", "cancelled")


def exported(record: StudyRecord) -> Iterator[ExportedQuery]:
    """One row for each query, in order."""
    spec = StudySpec.from_dict(present_spec(record))
    asked, answered, reasons = _history(record)
    for row in record.rows():
        more = {
            "mediator": spec.mediators[row.mediator],
            "arm": None if row.arm is None else spec.arms[row.arm],
            "asked_at": _at(asked, row.query),
            "answered_at": _at(answered, row.query),
            "cost": float(spec.cast.costs[row.mediator]),
            "contact": spec.contacts[row.mediator],
            "reason": reasons.get(row.query),
        }
        yield cast(ExportedQuery, row.__dict__ | more)


def _history(record: StudyRecord) -> tuple["array[float]", "array[float]", dict[int, str]]:
    """When each query was asked and answered (NaN: it was not), and why it was last changed."""
    asked, answered, reasons = array("d"), array("d"), dict[int, str]()
    for event in record.events():
        kind = event["kind"]
        if kind == "asked":
            _put(asked, event["query"], event["at"])
        elif kind in ("told", "silent"):
            _put(answered, event["query"], event["at"])
        elif kind in REASONED and event["reason"]:
            reasons[event["query"]] = event["reason"]
    return asked, answered, reasons


def _put(times: "array[float]", number: int, at: float) -> None:
    times.extend([nan] * (number + 1 - len(times)))
    times[number] = at


def _at(times: "array[float]", number: int) -> float | None:
    return None if number >= len(times) or isnan(times[number]) else times[number]


def csv_blocks(rows: Iterator[ExportedQuery]) -> Iterator[tuple[int, str]]:
    """How many rows, and their text; the header comes first, with none."""
    yield 0, f"{','.join(COLUMNS)}\n"
    while block := [_cells(row) for row in islice(rows, BLOCK)]:
        stream = StringIO()
        csv.writer(stream, lineterminator="\n").writerows(block)
        yield len(block), stream.getvalue()


def _cells(row: ExportedQuery) -> Sequence[Any]:
    cells: dict[str, Any] = {**row}
    return [stamp(cells[name]) if name in TIMES else csv_safe(cells[name]) for name in COLUMNS]


def stamp(at: Any) -> str:
    """A time for a spreadsheet: UTC, to the second."""
    try:
        return "" if at is None else f"{datetime.fromtimestamp(at, UTC):%Y-%m-%dT%H:%M:%SZ}"
    except (OverflowError, OSError, ValueError):  # a clock that was far off
        return f"{at:.0f}"


def csv_safe(value: Any) -> Any:
    """Text that begins like a formula gets an apostrophe in front."""
    return f"'{value}" if isinstance(value, str) and value[:1] in ("=", "+", "-", "@", "\t", "\r") else value
