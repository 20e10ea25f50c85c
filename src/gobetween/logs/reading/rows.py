"""CSV and JSON row by row: slow, but it says what is wrong with which row."""

import csv
import io
import json
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import islice
from typing import Any, TextIO

from gobetween.errors import LogError
from gobetween.files.cells import LONGEST_LINE, NumberFormat, lines_of, separator_in
from gobetween.logs.reading.batch import one_line
from gobetween.logs.reading.columns import MOST_COLUMNS, Columns
from gobetween.logs.reading.counts import NOT_UTF8, BadRow
from gobetween.logs.reading.files import LogFile

MOST = 20_000  # rows of a table
HEAD = 10_000  # rows of JSON that are looked at for keys
LONGEST = 50  # lines that one row of CSV may span
LONE = re.compile("[\ud800-\udfff]")  # halves of a character, which JSON can spell and nobody can write
BETWEEN = re.compile(r"[\s,]*")

Row = tuple[int, dict[str, Any] | str]  # the number of a row, and its cells or what is wrong with it


@dataclass(frozen=True)
class Chunk:
    """Some rows: the cells of the good ones by column, their numbers, and the bad ones."""

    cells: dict[str, list[Any]]
    numbers: list[int]
    bad: tuple[BadRow, ...]


def chunks(file: LogFile, columns: Columns, style: NumberFormat, done: int) -> Iterator[Chunk]:
    """The rows of a file after the first `done`; bad ones are named."""
    if file.kind == "csv":
        separator = delimiter(file, columns, style)
        header, rows = csv_header(file, separator), _csv_rows(file, separator)
    else:
        header, rows = json_keys(file, columns), _json_rows(file)
    found = columns.among([*header, *file.given], file.shown)
    own = [name for name in found.wanted if name not in file.given]
    rest = islice(rows, done, None)
    while chunk := list(islice(rest, MOST)):
        good = [(place, row) for place, row in chunk if isinstance(row, dict)]
        yield Chunk(
            {name: [_cell(row.get(name)) for _, row in good] for name in own},
            [place for place, _ in good],
            tuple(BadRow(file.shown, place, row) for place, row in chunk if isinstance(row, str)),
        )


def _cell(value: Any) -> str | float | bool | None:
    return value if value is None or isinstance(value, (str, int, float)) else json.dumps(value)


@contextmanager
def _text(file: LogFile, newline: str | None = None) -> Iterator[TextIO]:
    from gobetween.logs.reading.arrow import opened

    with opened(file) as stream, io.TextIOWrapper(stream, "utf-8-sig", errors="replace", newline=newline) as text:
        yield text


def delimiter(file: LogFile, columns: Columns, style: NumberFormat) -> str:
    """What stands between the cells of a file: as is said, or that which makes the first line name the column of rewards."""
    if style.separator is not None:
        return style.separator
    if file.path.name.lower().removesuffix(".gz").removesuffix(".zst").endswith(".tsv"):
        return "\t"
    with _text(file, "") as stream:
        line = next(lines_of(stream, file.shown, LogError), "")
    return separator_in(line, lambda header: columns.reward in header)


def csv_header(file: LogFile, separator: str) -> list[str]:
    """Names of the columns."""
    with _text(file, "") as stream:
        try:
            return next(csv.reader(lines_of(stream, file.shown, LogError), delimiter=separator), [])
        except csv.Error as error:
            raise LogError(f"{file.shown}: its first line cannot be read ({one_line(error)})") from None


def json_keys(file: LogFile, columns: Columns) -> list[str]:
    """Keys of the first rows, as many as are needed to find all columns: a row may lack some."""
    keys: dict[str, None] = {}
    needed = {columns.reward, *columns.mediator.split(","), *columns.arm.split(",")} - {*file.given}
    for _, row in islice(_json_rows(file), HEAD):
        keys |= dict.fromkeys(row) if isinstance(row, dict) else {}
        if needed <= keys.keys() or len(keys) > MOST_COLUMNS:
            break
    return list(keys)


def _csv_rows(file: LogFile, separator: str) -> Iterator[Row]:
    with _text(file, "") as stream:
        lines = csv.reader(lines_of(stream, file.shown, LogError), delimiter=separator)
        header = next(lines, [])
        place, before = 0, lines.line_num
        while True:
            try:
                cells = next(lines)
            except StopIteration:
                return
            except csv.Error as error:
                place += 1
                yield place, f"cannot be read ({one_line(error)})"
                continue
            span, before = lines.line_num - before, lines.line_num
            if span > LONGEST:
                first = lines.line_num - span + 1
                raise LogError(
                    f"{file.shown}: lines {first} to {lines.line_num} read as one row: a quote seems to be left open"
                )
            if cells:
                place += 1
                yield place, _csv_row(header, cells)


def _csv_row(header: list[str], cells: list[str]) -> dict[str, Any] | str:
    if any("\ufffd" in cell for cell in cells):
        return NOT_UTF8
    if len(cells) != len(header):
        return f"has {len(cells)} cells, the header {len(header)}"
    return dict(zip(header, cells, strict=True))


def _json_rows(file: LogFile) -> Iterator[Row]:
    """The rows of JSON lines, or of a list of objects."""
    with _text(file) as stream:
        if file.kind == "json" and is_list(file):
            yield from enumerate(_listed(stream), 1)
        else:
            yield from enumerate((_json_row(line) for line in lines_of(stream, file.shown, LogError) if line.strip()), 1)


def is_list(file: LogFile) -> bool:
    """Is a file of JSON a list, not one row on each line?"""
    with _text(file) as stream:
        return stream.read(1 << 10).lstrip()[:1] == "["


def _listed(stream: TextIO) -> Iterator[dict[str, Any] | str]:
    """The objects of a JSON list; what comes after something broken cannot be told apart."""
    decoder, text, more = json.JSONDecoder(), "", stream.read(1 << 20)
    place = BETWEEN.match(more).end() + 1  # type: ignore[union-attr]  # it matches everywhere; the bracket stands behind it
    while True:
        text, place = text[place:] + more if text else more[place:], 0
        while True:
            start = BETWEEN.match(text, place).end()  # type: ignore[union-attr]
            if text[start : start + 1] == "]":
                return
            try:
                row, place = decoder.raw_decode(text, start)
            except RecursionError:
                yield "is nested too deeply"
                return
            except ValueError:
                break
            yield _checked(row, text[start:place])
        more = stream.read(1 << 20)
        if not more or len(text) - place > LONGEST_LINE:
            yield "is not JSON" if not more else f"is longer than {LONGEST_LINE // 1_000_000} million characters"
            return


def _json_row(line: str) -> dict[str, Any] | str:
    try:
        return _checked(json.loads(line), line)
    except ValueError:
        return "is not JSON"
    except RecursionError:
        return "is nested too deeply"


def _checked(row: Any, text: str) -> dict[str, Any] | str:
    if "\ufffd" in text:
        return NOT_UTF8
    if not isinstance(row, dict):
        return "is not a JSON object"
    return NOT_UTF8 if any(isinstance(cell, str) and LONE.search(cell) for cell in row.values()) else row
