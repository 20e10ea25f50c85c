"""Files through Arrow, table by table: fast, in constant memory."""

from collections.abc import Callable, Iterator
from typing import Any

from gobetween.errors import Fix, LogError
from gobetween.files.cells import NumberFormat
from gobetween.logs.reading.batch import one_line
from gobetween.logs.reading.columns import Columns, FoundColumns
from gobetween.logs.reading.files import LogFile
from gobetween.logs.reading.rows import csv_header, delimiter, json_keys

BLOCK = 1 << 22  # bytes that are read at a time
ROWS = 1 << 18  # rows of a table
#: What stands where a number is missing.
MISSING = ("", "NA", "N/A", "n/a", "#N/A", "null", "NULL", "None", "nan", "NaN", "-nan", "-NaN", "-")


def library() -> Any:
    """Arrow, which is loaded when it is needed."""
    try:
        import pyarrow
    except ImportError:
        raise LogError("reading logs needs pyarrow: pip install 'gobetween[logs]'") from None
    return pyarrow


def opened(file: LogFile) -> Any:
    """The bytes of a file, unpacked; those of text in UTF-8."""
    size = BLOCK if file.packing else None
    stream = library().input_stream(str(file.path), compression=file.packing, buffer_size=size)
    return stream if file.encoding is None else library().transcoding_input_stream(stream, file.encoding, "utf-8")


def csv_tables(file: LogFile, columns: Columns, style: NumberFormat, threads: bool, texts: bool) -> Iterator[Any]:
    """The tables of a CSV file; rewards and other numbers as texts if so asked."""
    from pyarrow import csv as reader

    arrow, separator = library(), delimiter(file, columns, style)
    found = columns.among([*csv_header(file, separator), *file.given], file.shown)
    name, amount = arrow.dictionary(arrow.int32(), arrow.string()), arrow.float64()
    as_text = texts or not style.plain
    types = {column: name for column in (found.reward, found.count, found.propensity) if column and as_text}
    types |= {column: amount for column in (found.reward, found.count, found.propensity) if column and not as_text}
    types |= {column: name for column in found.names} | ({found.id: arrow.string()} if found.id else {})
    types |= {found.order: arrow.string()} if found.order and texts else {}
    options = reader.ConvertOptions(
        column_types=types,
        include_columns=_own(found, file),
        strings_can_be_null=False,
        null_values=MISSING,
        decimal_point=style.decimal,
    )
    with (
        opened(file) as stream,
        reader.open_csv(
            stream,
            read_options=reader.ReadOptions(block_size=BLOCK, use_threads=threads),
            parse_options=reader.ParseOptions(delimiter=separator),
            convert_options=options,
        ) as tables,
    ):
        yield from tables


def json_tables(file: LogFile, columns: Columns, style: NumberFormat, threads: bool, texts: bool) -> Iterator[Any]:
    """The tables of a file of JSON lines; with columns of the kinds that it has if `texts`, else of names and numbers."""
    from pyarrow import json as reader

    arrow = library()
    with opened(file) as start:
        first = bytes(start.read(64))
    if first.startswith(b"\xef\xbb\xbf") or (file.kind == "json" and first.lstrip()[:1] == b"["):
        raise arrow.ArrowInvalid("a byte order mark, or a list: these are for the slow reader")
    found = columns.among([*json_keys(file, columns), *file.given], file.shown)
    own = _own(found, file)
    kinds = {found.reward: arrow.float64()} | {name: arrow.string() for name in found.names}
    schema = None if texts else arrow.schema([(name, kinds[name]) for name in own if name in kinds])
    options = reader.ParseOptions(
        explicit_schema=schema, unexpected_field_behavior="infer" if texts or set(own) - set(kinds) else "ignore"
    )
    read = reader.ReadOptions(block_size=BLOCK, use_threads=threads)
    with opened(file) as stream, reader.open_json(stream, read_options=read, parse_options=options) as tables:
        for table in tables:
            yield _with_all(table, own)


def parquet_tables(file: LogFile, columns: Columns, style: NumberFormat, threads: bool, texts: bool) -> Iterator[Any]:
    """The tables of a Parquet file."""
    from pyarrow import parquet as reader

    with reader.ParquetFile(file.path) as start:
        found = columns.among([*start.schema_arrow.names, *file.given], file.shown)
        check_plain(start.schema_arrow, _own(found, file), file.shown)
    own = [name for name in found.names if name not in file.given]
    with reader.ParquetFile(file.path, read_dictionary=own) as parts:
        yield from parts.iter_batches(batch_size=ROWS, columns=_own(found, file), use_threads=threads)


def arrow_tables(file: LogFile, columns: Columns, style: NumberFormat, threads: bool, texts: bool) -> Iterator[Any]:
    """The tables of a file of Arrow: Feather, or a stream."""
    arrow = library()
    with arrow.memory_map(str(file.path)) as stream:
        start = bytes(stream.read(6))
        stream.seek(0)
        parts = arrow.ipc.open_file(stream) if start == b"ARROW1" else arrow.ipc.open_stream(stream)
        found = columns.among([*parts.schema.names, *file.given], file.shown)
        check_plain(parts.schema, _own(found, file), file.shown)
        tables = (parts.get_batch(i) for i in range(parts.num_record_batches)) if start == b"ARROW1" else parts
        for table in tables:
            yield table.select(_own(found, file))


READERS: dict[str, Callable[[LogFile, Columns, NumberFormat, bool, bool], Iterator[Any]]] = {
    "csv": csv_tables,
    "lines": json_tables,
    "json": json_tables,
    "parquet": parquet_tables,
    "arrow": arrow_tables,
}


def check_plain(schema: Any, names: list[str], source: str) -> None:
    """Refuse columns of lists and structures."""
    for name in names:
        kind = schema.field(name).type
        if library().types.is_nested(kind):
            what = f"column {name!r} is of {one_line(kind)}"
            raise LogError(f"{source}: {what}: a log has plain columns, of names and numbers", fix=Fix("columns"))


def _own(found: FoundColumns, file: LogFile) -> list[str]:
    """The columns that stand in the file itself."""
    return [name for name in found.wanted if name not in file.given]


def _with_all(table: Any, names: list[str]) -> Any:
    """The table with these columns, empty where it has none."""
    for name in names:
        if name not in table.schema.names:
            table = table.append_column(name, library().nulls(table.num_rows))
    return table.select(names)
