"""Logs in batches of columns: CSV, JSON lines and Parquet files, tables in memory, or batches that someone else makes.

Files are read by Arrow; where it stumbles, a slow reader goes on from the row that was reached and says what is wrong with
which row.
"""

import csv
import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import islice
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from gobetween.core.types import Floats, Ints
from gobetween.errors import LogError
from gobetween.logs.counts import BadRow

BLOCK = 1 << 22  # bytes that are read at a time
SLOW = 20_000  # rows of a batch of the slow reader
HEAD = 10_000  # lines of JSON that are looked at for keys
LONGEST = 50  # lines that one row of CSV may span
ONE = "the log"  # the mediator of a log that names none


@dataclass(frozen=True)
class Columns:
    """Which columns hold what; `mediator` None: the log has one mediator."""

    mediator: str | None = "mediator"
    arm: str = "arm"
    reward: str = "reward"
    order: str | None = None

    @property
    def wanted(self) -> list[str]:
        """All that are named."""
        return [name for name in (self.mediator, self.arm, self.reward, self.order) if name is not None]


@dataclass(frozen=True)
class Names:
    """A column of names: codes into values; −1 where there is none."""

    values: list[str]
    codes: Ints


@dataclass(frozen=True)
class Batch:
    """Some rows of a log."""

    source: str
    first: int
    """Number of the first row, from 1."""
    mediators: Names
    arms: Names
    rewards: Floats
    """NaN where it is missing or no number."""
    order: "Floats | list[str] | None"
    """Numbers, times as numbers, or texts, such as dates, which are compared as texts."""
    numbers: Ints | None = None
    """Row numbers, where rows in between were bad; else they follow `first`."""
    bad: tuple[BadRow, ...] = ()


def batches(source: Any, columns: Columns, *, explicit: bool, threads: bool = True) -> Iterator[Batch]:
    """The batches of a file, a table or an iterable of tables."""
    if isinstance(source, (str, PathLike)):
        yield from _file(Path(source), columns, explicit, threads)
    elif isinstance(source, Mapping) or hasattr(source, "column_names") or hasattr(source, "columns"):
        yield from _table(source, columns, explicit, "table", 1)
    elif isinstance(source, Iterable):
        first = 1
        for part in source:
            for batch in _table(part, columns, explicit, "batches", first):
                yield batch
                first += len(batch.rewards)
    else:
        raise LogError(f"a log is a path, a table or an iterable of tables, not {type(source).__name__}")


def _arrow() -> Any:
    try:
        import pyarrow
    except ImportError:
        raise LogError("reading logs needs pyarrow: pip install 'gobetween[logs]'") from None
    return pyarrow


def _file(path: Path, columns: Columns, explicit: bool, threads: bool) -> Iterator[Batch]:
    if not path.is_file():
        raise LogError(f"{path}: no such file")
    kind = path.suffix.lower()
    readers = {".csv": _csv, ".tsv": _csv, ".jsonl": _jsonl, ".ndjson": _jsonl, ".parquet": _parquet, ".pq": _parquet}
    if kind not in readers:
        raise LogError(f"{path}: is not known as a log by its name: .csv, .tsv, .jsonl or .parquet")
    arrow = _arrow()
    if path.stat().st_size == 0:
        yield _nothing(str(path), "the file is empty")
        return
    done = 0
    try:
        for table in readers[kind](arrow, path, columns, explicit, threads):
            for batch in _table(table, columns, explicit, str(path), done + 1):
                yield batch
                done += len(batch.rewards)
        if done == 0:
            yield _nothing(str(path), "the file holds no rows")
    except (arrow.ArrowInvalid, arrow.ArrowTypeError, UnicodeDecodeError) as error:
        if kind in (".parquet", ".pq"):
            raise LogError(f"{path}: is not a Parquet file that can be read ({_line(error)})") from None
        yield from _slowly(path, kind, columns, explicit, done)
    except OSError as error:
        raise LogError(f"{path}: cannot be read ({_line(error)})") from None


def _line(error: BaseException) -> str:
    return " ".join(str(error).split())[:200]


def _csv(arrow: Any, path: Path, columns: Columns, explicit: bool, threads: bool) -> Iterator[Any]:
    from pyarrow import csv as reader

    with path.open(encoding="utf-8-sig", errors="replace", newline="") as stream:
        header = next(csv.reader(stream, delimiter=_delimiter(path)), [])
    found = checked(columns, header, explicit, str(path))
    name = arrow.dictionary(arrow.int32(), arrow.string())
    types = {found.arm: name, found.reward: arrow.float64()} | ({found.mediator: name} if found.mediator else {})
    options = reader.ConvertOptions(column_types=types, include_columns=found.wanted, strings_can_be_null=False)
    with reader.open_csv(
        path,
        read_options=reader.ReadOptions(block_size=BLOCK, use_threads=threads),
        parse_options=reader.ParseOptions(delimiter=_delimiter(path)),
        convert_options=options,
    ) as stream:
        yield from stream


def _delimiter(path: Path) -> str:
    return "\t" if path.suffix.lower() == ".tsv" else ","


def _jsonl(arrow: Any, path: Path, columns: Columns, explicit: bool, threads: bool) -> Iterator[Any]:
    from pyarrow import json as reader

    with path.open("rb") as start:
        if start.read(3) == b"\xef\xbb\xbf":
            raise arrow.ArrowInvalid("a byte order mark")
    found = checked(columns, _json_keys(path), explicit, str(path))
    fields = [(found.arm, arrow.string()), (found.reward, arrow.float64())]
    fields += [(found.mediator, arrow.string())] if found.mediator else []
    with reader.open_json(
        path,
        read_options=reader.ReadOptions(block_size=BLOCK, use_threads=threads),
        parse_options=reader.ParseOptions(
            explicit_schema=arrow.schema(fields), unexpected_field_behavior="infer" if found.order else "ignore"
        ),
    ) as stream:
        yield from stream


def _json_keys(path: Path) -> list[str]:
    """Keys of the first rows: a row may lack some."""
    keys: dict[str, None] = {}
    with path.open(encoding="utf-8-sig", errors="replace") as stream:
        for line in islice(stream, HEAD):
            try:
                row = json.loads(line)
            except ValueError:
                continue
            keys |= dict.fromkeys(row) if isinstance(row, dict) else {}
    return list(keys)


def _parquet(arrow: Any, path: Path, columns: Columns, explicit: bool, threads: bool) -> Iterator[Any]:
    from pyarrow import parquet as reader

    with reader.ParquetFile(path, memory_map=False) as file:
        found = checked(columns, file.schema_arrow.names, explicit, str(path))
        names = [name for name in (found.arm, found.mediator) if name is not None]
    with reader.ParquetFile(path, read_dictionary=names) as file:
        yield from file.iter_batches(batch_size=1 << 18, columns=found.wanted, use_threads=threads)


def checked(columns: Columns, header: Iterable[str], explicit: bool, source: str) -> Columns:
    """The columns that are really there; a log without a column for mediators has one mediator, unless one was asked for."""
    present = list(header)
    mediator = columns.mediator
    if mediator is not None and mediator not in present and not explicit:
        mediator = None
    found = Columns(mediator, columns.arm, columns.reward, columns.order)
    for name in found.wanted:
        if present.count(name) > 1:
            raise LogError(f"{source}: has {present.count(name)} columns named {name!r}: rename one")
        if name not in present:
            there = ", ".join(map(repr, present[:20])) or "none"
            raise LogError(f"{source}: has no column {name!r} (it has {there}): name columns with --mediator, --arm, --reward")
    return found


def _table(table: Any, columns: Columns, explicit: bool, source: str, first: int) -> Iterator[Batch]:
    """A table of any kind: a mapping from column to values, Arrow, pandas, polars."""
    header = table if isinstance(table, Mapping) else getattr(table, "column_names", None) or _schema_names(table)
    found = checked(columns, header, explicit, source)

    arrow = _arrow()

    def column(name: str) -> Any:
        return table.column(name) if isinstance(table, (arrow.Table, arrow.RecordBatch)) else table[name]

    try:
        rewards = _numbers(column(found.reward))
        one = Names([ONE], np.zeros(len(rewards), np.int64))
        mediators = one if found.mediator is None else _names(column(found.mediator))
        arms = _names(column(found.arm))
        order = None if found.order is None else _order(column(found.order))
    except (TypeError, ValueError, KeyError, arrow.ArrowException) as error:
        raise LogError(f"{source}: is not a table of columns with names and numbers ({_line(error)})") from None
    if not len(rewards) == len(mediators.codes) == len(arms.codes):
        raise LogError(f"{source}: its columns differ in length")
    yield Batch(source, first, mediators, arms, rewards, order)


def _schema_names(table: Any) -> list[str]:
    """Names of columns: of an Arrow batch its schema's, of pandas and polars its own."""
    names = getattr(getattr(table, "schema", None), "names", None)
    return list(names) if isinstance(names, list) else [str(name) for name in table.columns]


def _numbers(column: Any) -> Floats:
    """Values as floats, NaN where there is none."""
    arrow = _arrow()
    array = column if isinstance(column, (arrow.Array, arrow.ChunkedArray)) else arrow.array(_plain(column), from_pandas=True)
    try:
        array = array.cast(arrow.float64())
    except (arrow.ArrowInvalid, arrow.ArrowNotImplementedError):
        return np.array([_number(value) for value in array.to_pylist()], dtype=np.float64)
    found: Floats = array.to_numpy(zero_copy_only=False) if isinstance(array, arrow.Array) else array.to_numpy()
    return found


def _order(column: Any) -> "Floats | list[str]":
    """Numbers and times as numbers; anything else as text."""
    arrow = _arrow()
    array = column if isinstance(column, (arrow.Array, arrow.ChunkedArray)) else arrow.array(_plain(column), from_pandas=True)
    kind = array.type
    if arrow.types.is_temporal(kind):
        array = array.cast(arrow.int32()) if kind.bit_width == 32 else array
        array = array.cast(arrow.int64())
    elif not (arrow.types.is_integer(kind) or arrow.types.is_floating(kind)):
        return order_values([("" if value is None else str(value)) for value in array.to_pylist()])
    return _numbers(array)


def order_values(texts: list[str]) -> "Floats | list[str]":
    """Texts that are numbers, as far as there are any, as numbers; missing ones are NaN or empty."""
    values = [_number(text) for text in texts]
    words = any(value != value and text for value, text in zip(values, texts, strict=True))
    return texts if words else np.array(values, np.float64)


def _names(column: Any) -> Names:
    arrow = _arrow()
    array = column if isinstance(column, (arrow.Array, arrow.ChunkedArray)) else arrow.array(_texts(column), arrow.string())
    if isinstance(array, arrow.ChunkedArray):
        array = array.combine_chunks()
    if not isinstance(array, arrow.DictionaryArray):
        array = array.cast(arrow.string()).dictionary_encode()
    values = ["" if value is None else str(value) for value in array.dictionary.to_pylist()]
    codes: Ints = array.indices.fill_null(-1).to_numpy(zero_copy_only=False).astype(np.int64)
    return Names(values, codes)


def _plain(column: Any) -> Any:
    return column.to_numpy() if hasattr(column, "to_numpy") else list(column)


def _texts(column: Any) -> list[str | None]:
    values = column.to_list() if hasattr(column, "to_list") else list(column)
    return [None if _is_missing(value) else str(value) for value in values]


def _is_missing(value: Any) -> bool:
    return value is None or (isinstance(value, float) and value != value) or type(value).__name__ in ("NAType", "NaTType")


def _number(value: Any) -> float:
    try:
        if isinstance(value, str) and value.strip().lower() in ("true", "false"):
            return float(value.strip().lower() == "true")
        return float("nan") if value is None or (isinstance(value, str) and "_" in value) else float(value)
    except (TypeError, ValueError, OverflowError):
        return float("nan")


def _nothing(source: str, reason: str) -> Batch:
    empty = Names([], np.zeros(0, np.int64))
    return Batch(source, 1, empty, empty, np.zeros(0), None, bad=(BadRow(source, 0, reason),))


def _slowly(path: Path, kind: str, columns: Columns, explicit: bool, done: int) -> Iterator[Batch]:
    """Row by row, from the first that Arrow had not delivered; bad rows are named."""
    rows = _csv_rows(path) if kind in (".csv", ".tsv") else _json_rows(path)
    header, rest = next(rows)[1], islice(rows, done, None)
    found = checked(columns, header, explicit, str(path))
    while chunk := list(islice(rest, SLOW)):
        good = [(number, row) for number, row in chunk if isinstance(row, dict)]
        bad = tuple(BadRow(str(path), number, str(row)) for number, row in chunk if not isinstance(row, dict))
        numbers = np.array([number for number, _ in good], np.int64)
        table = {name: [_cell(row.get(name)) for _, row in good] for name in found.wanted}
        rewards = np.array([_number(value) for value in table[found.reward]], np.float64)
        codes = np.zeros(len(good), np.int64)
        yield Batch(
            str(path),
            chunk[0][0],
            Names([ONE], codes) if found.mediator is None else _names(table[found.mediator]),
            _names(table[found.arm]),
            rewards,
            None if found.order is None else order_values(["" if v is None else str(v) for v in table[found.order]]),
            numbers,
            bad,
        )


def _cell(value: Any) -> Any:
    return value if value is None or isinstance(value, (str, int, float)) else json.dumps(value)


def _csv_rows(path: Path) -> Iterator[tuple[int, Any]]:
    """First the header, then (row number, dict), or (row number, what is wrong)."""
    with path.open(encoding="utf-8-sig", errors="replace", newline="") as stream:
        lines = csv.reader(stream, delimiter=_delimiter(path))
        header = next(lines, [])
        yield 0, header
        number, before = 0, lines.line_num
        while True:
            try:
                cells = next(lines)
            except StopIteration:
                return
            except csv.Error as error:
                number += 1
                yield number, f"cannot be read ({_line(error)})"
                continue
            span, before = lines.line_num - before, lines.line_num
            if not cells:
                continue
            number += 1
            if span > LONGEST:
                first = lines.line_num - span + 1
                raise LogError(f"{path}: lines {first} to {lines.line_num} read as one row: a quote seems to be left open")
            if any("\ufffd" in cell for cell in cells):
                yield number, "holds characters that are not UTF-8"
            elif len(cells) != len(header):
                yield number, f"has {len(cells)} cells, the header {len(header)}"
            else:
                yield number, dict(zip(header, cells, strict=True))


def _json_rows(path: Path) -> Iterator[tuple[int, Any]]:
    yield 0, _json_keys(path)
    with path.open(encoding="utf-8-sig", errors="replace") as stream:
        number = 0
        for line in stream:
            if not line.strip():
                continue
            number += 1
            try:
                row = json.loads(line)
            except ValueError:
                yield number, "is not JSON"
                continue
            if "\ufffd" in line:
                yield number, "holds characters that are not UTF-8"
                continue
            yield number, row if isinstance(row, dict) else "is not a JSON object"
