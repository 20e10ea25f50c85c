"""Where the rows of a log come from: files, tables in memory, or tables that someone else makes.

Files are read by Arrow; where it stumbles, a slow reader goes on from the row that was reached and says what is wrong with
which row.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from os import PathLike
from pathlib import Path
from typing import Any, Protocol

from gobetween.errors import LogError
from gobetween.files.paths import path_of
from gobetween.logs.arrow import csv_tables, json_tables, library, parquet_tables, table_batch
from gobetween.logs.batch import Batch, Columns, no_rows, short
from gobetween.logs.rows import row_batches


class Frame(Protocol):
    """A data frame of pandas or polars, a table or a record batch of Arrow."""

    @property
    def columns(self) -> Iterable[object]:
        """Its columns."""


Table = Mapping[str, object] | Frame
"""A dict of columns, or a data frame."""
Source = str | PathLike[str] | Table | Iterable[Table]
"""A path, a table, or tables one after another."""

READERS: dict[str, Callable[[Path, Columns, bool], Iterator[Any]]] = {
    ".csv": csv_tables,
    ".tsv": csv_tables,
    ".jsonl": json_tables,
    ".ndjson": json_tables,
    ".parquet": parquet_tables,
    ".pq": parquet_tables,
}


def check_sources(sources: Sequence[Source]) -> tuple[str, ...]:
    """What they are called; there must be one, and no file twice."""
    if not sources:
        raise LogError("name at least one log")
    paths = [path_of(source).resolve() for source in sources if isinstance(source, (str, PathLike))]
    for path in paths:
        if paths.count(path) > 1:
            raise LogError(f"{path} is named twice: its rows would count twice")
    return tuple(_called(source) for source in sources)


def _called(source: Source) -> str:
    return str(source) if isinstance(source, (str, PathLike)) else "table" if _is_table(source) else "batches"


def _is_table(source: object) -> bool:
    return isinstance(source, Mapping) or hasattr(source, "columns") or hasattr(source, "column_names")


def batches(source: Source, columns: Columns, *, threads: bool = True) -> Iterator[Batch]:
    """The batches of a file, a table or an iterable of tables."""
    if isinstance(source, (str, PathLike)):
        yield from _file_batches(path_of(source), columns, threads)
    elif _is_table(source):
        yield table_batch(source, columns, _called(source), 1)
    elif isinstance(source, Iterable):
        yield from _numbered(source, columns, _called(source))
    else:
        raise LogError(f"a log is a path, a table or an iterable of tables, not {type(source).__name__}")


def _numbered(tables: Iterable[Any], columns: Columns, source: str) -> Iterator[Batch]:
    """Tables of one source as batches, which know the numbers of their rows."""
    done = 0
    for table in tables:
        batch = table_batch(table, columns, source, done + 1)
        done += len(batch.rewards)
        yield batch


def _file_batches(path: Path, columns: Columns, threads: bool) -> Iterator[Batch]:
    if not path.is_file():
        raise LogError(f"{path}: no such file")
    kind, arrow = path.suffix.lower(), library()
    if kind not in READERS:
        raise LogError(f"{path}: is not known as a log by its name: .csv, .tsv, .jsonl or .parquet")
    if path.stat().st_size == 0:
        yield no_rows(str(path), "the file is empty")
        return
    done = 0
    try:
        for batch in _numbered(READERS[kind](path, columns, threads), columns, str(path)):
            done += len(batch.rewards)
            yield batch
        if not done:
            yield no_rows(str(path), "the file holds no rows")
    except (arrow.ArrowException, UnicodeDecodeError) as error:
        if READERS[kind] is parquet_tables:
            raise LogError(f"{path}: is not a Parquet file that can be read ({short(error)})") from None
        yield from row_batches(path, columns, done)
    except OSError as error:
        raise LogError(f"{path}: cannot be read ({short(error)})") from None
