"""Files and tables through Arrow: fast, in constant memory."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from gobetween.core.types import Floats, Ints
from gobetween.errors import Fix, LogError
from gobetween.logs.batch import Batch, Columns, Names, Order, number, order_values, short
from gobetween.logs.rows import csv_header, delimiter, json_keys

BLOCK = 1 << 22  # bytes that are read at a time


def library() -> Any:
    """Arrow, which is loaded when it is needed."""
    try:
        import pyarrow
    except ImportError:
        raise LogError("reading logs needs pyarrow: pip install 'gobetween[logs]'") from None
    return pyarrow


def csv_tables(path: Path, columns: Columns, threads: bool) -> Iterator[Any]:
    """The tables of a CSV file, block by block."""
    from pyarrow import csv as reader

    arrow, found = library(), columns.among(csv_header(path), str(path))
    name = arrow.dictionary(arrow.int32(), arrow.string())
    types = {found.arm: name, found.reward: arrow.float64()} | ({found.mediator: name} if found.mediator else {})
    options = reader.ConvertOptions(column_types=types, include_columns=found.wanted, strings_can_be_null=False)
    with reader.open_csv(
        path,
        read_options=reader.ReadOptions(block_size=BLOCK, use_threads=threads),
        parse_options=reader.ParseOptions(delimiter=delimiter(path)),
        convert_options=options,
    ) as stream:
        yield from stream


def json_tables(path: Path, columns: Columns, threads: bool) -> Iterator[Any]:
    """The tables of a file of JSON lines, block by block."""
    from pyarrow import json as reader

    arrow = library()
    with path.open("rb") as start:
        if start.read(3) == b"\xef\xbb\xbf":
            raise arrow.ArrowInvalid("a byte order mark")
    found = columns.among(json_keys(path), str(path))
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


def parquet_tables(path: Path, columns: Columns, threads: bool) -> Iterator[Any]:
    """The tables of a Parquet file, block by block."""
    from pyarrow import parquet as reader

    with reader.ParquetFile(path, memory_map=False) as file:
        found = columns.among(file.schema_arrow.names, str(path))
        names = [name for name in (found.arm, found.mediator) if name is not None]
        for name in found.wanted:
            kind = file.schema_arrow.field(name).type
            if library().types.is_nested(kind):
                what = f"column {name!r} is of {short(kind)}"
                raise LogError(f"{path}: {what}: a log has plain columns, of names and numbers", fix=Fix("columns"))
    with reader.ParquetFile(path, read_dictionary=names) as file:
        yield from file.iter_batches(batch_size=1 << 18, columns=found.wanted, use_threads=threads)


def table_batch(table: Any, columns: Columns, source: str, first: int) -> Batch:
    """A table of any kind: a mapping from column to values, Arrow, pandas, polars."""
    found, arrow = columns.among(_header(table), source), library()

    def column(name: str) -> Any:
        return table.column(name) if isinstance(table, (arrow.Table, arrow.RecordBatch)) else table[name]

    try:
        rewards = _numbers(column(found.reward))
        mediators = Names.one(len(rewards)) if found.mediator is None else _names(column(found.mediator))
        arms = _names(column(found.arm))
        order = None if found.order is None else _order(column(found.order))
    except (TypeError, ValueError, KeyError, arrow.ArrowException) as error:
        raise LogError(f"{source}: is not a table of columns with names and numbers ({short(error)})") from None
    if not len(rewards) == len(mediators.codes) == len(arms.codes):
        raise LogError(f"{source}: its columns differ in length")
    return Batch(source, first, mediators, arms, rewards, order)


def _header(table: Any) -> list[str]:
    """Names of columns: of a mapping its keys, of a table of Arrow its own, of a batch its schema's, of frames `columns`."""
    if isinstance(table, Mapping):
        return list(table)
    own = getattr(table, "column_names", None) or getattr(getattr(table, "schema", None), "names", None)
    return [str(name) for name in (own if isinstance(own, (list, tuple)) else table.columns)]


def _array(column: Any) -> Any:
    """A column of any kind as one of Arrow."""
    arrow = library()
    if isinstance(column, (arrow.Array, arrow.ChunkedArray)):
        return column
    return arrow.array(column.to_numpy() if hasattr(column, "to_numpy") else list(column), from_pandas=True)


def _numbers(column: Any) -> Floats:
    """Values as floats, NaN where there is none."""
    arrow, array = library(), _array(column)
    try:
        array = array.cast(arrow.float64())
    except (arrow.ArrowInvalid, arrow.ArrowNotImplementedError):
        return np.array([number(value) for value in array.to_pylist()], dtype=np.float64)
    found: Floats = array.to_numpy(zero_copy_only=False) if isinstance(array, arrow.Array) else array.to_numpy()
    return found


def _order(column: Any) -> Order:
    """Numbers and times as numbers; anything else as text."""
    arrow, array = library(), _array(column)
    kind = array.type
    if arrow.types.is_temporal(kind):
        array = array.cast(arrow.int32()) if kind.bit_width == 32 else array
        array = array.cast(arrow.int64())
    elif not (arrow.types.is_integer(kind) or arrow.types.is_floating(kind)):
        return order_values(array.to_pylist())
    return _numbers(array)


def _names(column: Any) -> Names:
    arrow = library()
    array = column if isinstance(column, (arrow.Array, arrow.ChunkedArray)) else arrow.array(_texts(column), arrow.string())
    if isinstance(array, arrow.ChunkedArray):
        array = array.combine_chunks()
    if not isinstance(array, arrow.DictionaryArray):
        array = array.cast(arrow.string()).dictionary_encode()
    values = ["" if value is None else str(value) for value in array.dictionary.to_pylist()]
    codes: Ints = array.indices.fill_null(-1).to_numpy(zero_copy_only=False).astype(np.int64)
    return Names(values, codes)


def _texts(column: Any) -> list[str | None]:
    values = column.to_list() if hasattr(column, "to_list") else list(column)
    return [None if _is_missing(value) else str(value) for value in values]


def _is_missing(value: Any) -> bool:
    return value is None or (isinstance(value, float) and value != value) or type(value).__name__ in ("NAType", "NaTType")
