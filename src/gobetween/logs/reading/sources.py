"""Where the rows of a log come from: files, tables in memory, or tables that someone else makes.

Files are read by Arrow, as names and numbers; where it stumbles, as texts from the row that was reached; and where it stumbles
again a slow reader goes on, which says what is wrong with which row.
"""

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from os import PathLike
from typing import Any, Protocol

import numpy as np

from gobetween.errors import LogError
from gobetween.files.cells import undecodable
from gobetween.files.paths import check_file
from gobetween.logs.reading.arrow import READERS, library
from gobetween.logs.reading.batch import Batch, no_rows, one_line
from gobetween.logs.reading.files import LogFile, decoded, log_files, suffix_within
from gobetween.logs.reading.options import LogOptions
from gobetween.logs.reading.rows import chunks
from gobetween.logs.reading.tables import TablePart, header_of, known_table, part_batch, tables_of


class Frame(Protocol):
    """A data frame of pandas or polars, a table or a record batch of Arrow, a relation of DuckDB."""

    @property
    def columns(self) -> Iterable[object]:
        """Its columns."""


class Stream(Protocol):
    """Anything with the stream interface of Arrow."""

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        """A capsule."""


Table = Mapping[str, object] | Frame | Stream  # a dict of columns, or a data frame
Source = str | PathLike[str] | Table | Iterable[str] | Iterable[PathLike[str]] | Iterable[Table]
"""A path, a pattern, a folder, a table, paths, or tables one after another."""


def check_sources(sources: Sequence[Source]) -> tuple[str, ...]:
    """What they are called; there must be one."""
    if not sources:
        raise LogError("name at least one log")
    return tuple(_called(source) for source in sources)


def each_source(sources: Sequence[Source]) -> list[Any]:
    """Every file and every table; no file twice."""
    check_sources(sources)
    library()  # said before anything is compiled
    found: list[Any] = []
    for source in sources:
        paths = _paths(source)
        found += [source] if paths is None else [file for path in paths for file in log_files(path)]
    files = [source.path.resolve() for source in found if isinstance(source, LogFile)]
    for path in {path for path in files if files.count(path) > 1} if len(set(files)) < len(files) else ():
        raise LogError(f"{path} is named twice: its rows would count twice")
    return found


def _paths(source: Source) -> Sequence[str | PathLike[str]] | None:
    """The paths that a source is; None if it is none."""
    if isinstance(source, (str, PathLike)):
        return [source]
    if isinstance(source, (list, tuple)) and source and all(isinstance(one, (str, PathLike)) for one in source):
        return [one for one in source if isinstance(one, (str, PathLike))]
    return None


def _called(source: Source) -> str:
    paths = _paths(source)
    if paths is not None:
        return ", ".join(map(str, paths))
    return "table" if _is_table(source) else "batches"


def _is_table(source: object) -> bool:
    kinds = "collect_batches", "scanner", "__arrow_c_stream__", "column_names", "columns"
    return isinstance(source, Mapping) or any(hasattr(source, kind) for kind in kinds)


def batches(source: Source | LogFile, options: LogOptions, *, threads: bool = True) -> Iterator[Batch]:
    """The batches of a file, a table or an iterable of tables."""
    if isinstance(source, LogFile):
        for part in _file_parts(source, options, threads):
            yield part if isinstance(part, Batch) else _batch(part, [*part.table.schema.names, *source.given], options)
    elif (paths := _paths(source)) is not None:
        for file in (file for path in paths for file in log_files(path)):
            yield from batches(file, options, threads=threads)
    elif _is_table(source):
        yield from _table_batches([source], options, "table")
    elif isinstance(source, Iterable):
        yield from _table_batches(source, options, "batches")
    else:
        raise LogError(f"a log is a path, a table or an iterable of tables, not {type(source).__name__}")


def _batch(part: TablePart, header: Sequence[str], options: LogOptions) -> Batch:
    return part_batch(part, options.columns.among(header, part.source), options.style, options.filter)


def _table_batches(tables: Iterable[Any], options: LogOptions, source: str) -> Iterator[Batch]:
    """Tables of one source as batches, which know the numbers of their rows."""
    arrow, done = library(), 0
    for table in map(known_table, tables):
        if isinstance(table, (str, PathLike)):
            raise LogError(f"{os.fspath(table)}: is a path among tables: name paths one by one, or in a list")
        try:
            found = options.columns.among(header_of(table), source)
            for one in tables_of(table, found.wanted):
                yield part_batch(TablePart(one, source, done + 1), found, options.style, options.filter)
                done += one.num_rows
        except (TypeError, ValueError, KeyError, AttributeError, arrow.ArrowException) as error:
            if isinstance(error, LogError):
                raise
            raise LogError(f"{source}: is not a table of columns with names and numbers ({one_line(error)})") from None


def _file_parts(file: LogFile, options: LogOptions, threads: bool) -> Iterator[TablePart | Batch]:
    """The tables of a file, and what cannot be read of it."""
    arrow, done = library(), 0
    if check_file(file.path, LogError).st_size == 0:
        yield no_rows(file.shown, "the file is empty")
        return
    try:
        file = decoded(file, options.encoding)
        for texts in (False, True):
            passed = 0
            try:
                for table in READERS[file.kind](file, options.columns, options.style, threads, texts):
                    fresh = table.slice(max(0, done - passed))
                    passed += table.num_rows
                    if fresh.num_rows:
                        done += fresh.num_rows
                        yield TablePart(fresh, file.shown, done - fresh.num_rows + 1, file.given)
                break
            except (arrow.ArrowException, UnicodeDecodeError) as error:
                if file.kind in ("parquet", "arrow"):
                    raise _unreadable(file, error) from None
        else:
            for part in _slow_parts(file, options, done):
                done += len(part.numbers if part.numbers is not None else ()) + len(part.bad)
                yield part
        if not done:
            yield no_rows(file.shown, "the file holds no rows")
    except UnicodeError:
        raise undecodable(file.shown, file.encoding, LogError) from None
    except OSError as error:
        raise LogError(f"{file.shown}: cannot be read ({one_line(error)})") from None


def _unreadable(file: LogFile, error: Exception) -> LogError:
    """Of a file that is not what its name says."""
    kind = {"parquet": "Parquet file", "arrow": "file of Arrow"}[file.kind]
    known = suffix_within(file.path)
    fix = "write it again, or name another file" if known in ("", file.path.suffix) else f"it looks like {known}: call it so"
    return LogError(f"{file.shown}: is not a {kind} that can be read ({one_line(error)}); {fix}")


def _slow_parts(file: LogFile, options: LogOptions, done: int) -> Iterator[TablePart]:
    """The rest of a file after the rows that are done."""
    arrow = library()
    others = set(options.columns.others)
    for chunk in chunks(file, options.columns, options.style, done):
        columns = {name: _texts(cells, name in others) for name, cells in chunk.cells.items()}
        first = min([*chunk.numbers[:1], *(row.row for row in chunk.bad[:1])])
        yield TablePart(arrow.table(columns), file.shown, first, file.given, np.array(chunk.numbers, np.int64), chunk.bad)


def _texts(cells: list[Any], typed: bool) -> Any:
    """Cells as texts; those that a filter looks at as numbers, where all are."""
    arrow = library()
    texts = arrow.array([None if cell is None or cell != cell else str(cell) for cell in cells], arrow.string())
    for kind in (arrow.int64(), arrow.float64()) if typed else ():
        try:
            return texts.cast(kind)
        except arrow.ArrowInvalid:
            continue
    return texts
