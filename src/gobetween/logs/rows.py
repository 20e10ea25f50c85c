"""CSV and JSON lines row by row: slow, but it says what is wrong with which row."""

import csv
import json
import re
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np

from gobetween.errors import LogError
from gobetween.logs.batch import Batch, Columns, Names, number, order_values, short
from gobetween.logs.counts import BadRow

MOST = 20_000  # rows of a batch
HEAD = 10_000  # lines of JSON that are looked at for keys
LONGEST = 50  # lines that one row of CSV may span
LONE = re.compile("[\ud800-\udfff]")  # halves of a character, which JSON can spell and nobody can write
NOT_UTF8 = "holds characters that are not UTF-8"

Row = tuple[int, dict[str, Any] | str]
"""The number of a row, and its cells or what is wrong with it."""


def row_batches(path: Path, columns: Columns, done: int) -> Iterator[Batch]:
    """The batches of a file from the row after `done`; bad rows are named."""
    tabular = path.suffix.lower() in (".csv", ".tsv")
    found = columns.among(csv_header(path) if tabular else json_keys(path), str(path))
    rest = islice(_csv_rows(path) if tabular else _json_rows(path), done, None)
    while chunk := list(islice(rest, MOST)):
        yield _batch(str(path), chunk, found)


def _batch(source: str, chunk: list[Row], found: Columns) -> Batch:
    good = [(place, row) for place, row in chunk if isinstance(row, dict)]
    table = {name: [_cell(row.get(name)) for _, row in good] for name in found.wanted}
    return Batch(
        source,
        chunk[0][0],
        Names.one(len(good)) if found.mediator is None else Names.of(map(_text, table[found.mediator])),
        Names.of(map(_text, table[found.arm])),
        np.array([number(value) for value in table[found.reward]], np.float64),
        None if found.order is None else order_values(table[found.order]),
        np.array([place for place, _ in good], np.int64),
        tuple(BadRow(source, place, row) for place, row in chunk if isinstance(row, str)),
    )


def _cell(value: Any) -> str | float | None:
    return value if value is None or isinstance(value, (str, int, float)) else json.dumps(value)


def _text(cell: str | float | None) -> str | None:
    return None if cell is None or cell != cell else str(cell)


def delimiter(path: Path) -> str:
    """What stands between the cells of a file."""
    return "\t" if path.suffix.lower() == ".tsv" else ","


def csv_header(path: Path) -> list[str]:
    """Names of the columns."""
    with path.open(encoding="utf-8-sig", errors="replace", newline="") as stream:
        return next(csv.reader(stream, delimiter=delimiter(path)), [])


def json_keys(path: Path) -> list[str]:
    """Keys of the first rows: a row may lack some."""
    keys: dict[str, None] = {}
    with path.open(encoding="utf-8-sig", errors="replace") as stream:
        for line in islice(stream, HEAD):
            try:
                row = json.loads(line)
            except (ValueError, RecursionError):
                continue
            keys |= dict.fromkeys(row) if isinstance(row, dict) else {}
    return list(keys)


def _csv_rows(path: Path) -> Iterator[Row]:
    with path.open(encoding="utf-8-sig", errors="replace", newline="") as stream:
        lines = csv.reader(stream, delimiter=delimiter(path))
        header = next(lines, [])
        place, before = 0, lines.line_num
        while True:
            try:
                cells = next(lines)
            except StopIteration:
                return
            except csv.Error as error:
                place += 1
                yield place, f"cannot be read ({short(error)})"
                continue
            span, before = lines.line_num - before, lines.line_num
            if span > LONGEST:
                first = lines.line_num - span + 1
                raise LogError(f"{path}: lines {first} to {lines.line_num} read as one row: a quote seems to be left open")
            if cells:
                place += 1
                yield place, _csv_row(header, cells)


def _csv_row(header: list[str], cells: list[str]) -> dict[str, Any] | str:
    if any("\ufffd" in cell for cell in cells):
        return NOT_UTF8
    if len(cells) != len(header):
        return f"has {len(cells)} cells, the header {len(header)}"
    return dict(zip(header, cells, strict=True))


def _json_rows(path: Path) -> Iterator[Row]:
    with path.open(encoding="utf-8-sig", errors="replace") as stream:
        yield from enumerate((_json_row(line) for line in stream if line.strip()), 1)


def _json_row(line: str) -> dict[str, Any] | str:
    try:
        row = json.loads(line)
    except ValueError:
        return "is not JSON"
    except RecursionError:
        return "is nested too deeply"
    if "\ufffd" in line:
        return NOT_UTF8
    if not isinstance(row, dict):
        return "is not a JSON object"
    return NOT_UTF8 if any(isinstance(cell, str) and LONE.search(cell) for cell in row.values()) else row
