"""Tables of any kind as batches: names as codes, rewards as numbers, rows that are not asked for left out."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from gobetween.core.ground.jit import Floats, Ints
from gobetween.errors import LogError
from gobetween.files.cells import WORDS, NumberFormat
from gobetween.logs.reading.arrow import MISSING, check_plain, library
from gobetween.logs.reading.batch import Batch, Names, Order, one_line
from gobetween.logs.reading.columns import FoundColumns
from gobetween.logs.reading.counts import BadRow
from gobetween.logs.reading.filters import Filter
from gobetween.names import normal

BETWEEN = " / "  # names from several columns

PER_SECOND = {"s": 1.0, "ms": 1e3, "us": 1e6, "ns": 1e9}


@dataclass(frozen=True)
class TablePart:
    """A table of Arrow that is a part of a source."""

    table: Any
    source: str
    first: int  # number of its first row
    given: Mapping[str, str] = field(default_factory=dict)  # columns with one value
    numbers: Ints | None = None
    bad: tuple[BadRow, ...] = ()


def part_batch(part: TablePart, found: FoundColumns, style: NumberFormat, where: Filter | None) -> Batch:
    """A part as a batch."""
    arrow, table = library(), part.table
    try:
        for name in set(found.wanted) & set(part.given) - set(table.schema.names):
            table = table.append_column(name, _constant(part.given[name], table.num_rows))
        check_plain(table.schema, found.wanted, part.source)
        table, numbers = (table, part.numbers) if where is None else _kept(table, part, where)
        rewards, said, words = _rewards(table.column(found.reward), style)
        weights, propensities = (
            None if name is None else _rewards(table.column(name), style)[0] for name in (found.count, found.propensity)
        )
        return Batch(
            part.source,
            part.first,
            Names.one(len(rewards)) if not found.mediator else _joined([table.column(name) for name in found.mediator]),
            _joined([table.column(name) for name in found.arm]),
            rewards,
            None if found.order is None else _order(table.column(found.order), style),
            numbers,
            part.bad,
            said,
            words,
            weights,
            None if found.id is None else _names(table.column(found.id)),
            propensities,
            part.table.num_rows - table.num_rows,
        )
    except (TypeError, ValueError, KeyError, arrow.ArrowException) as error:
        if isinstance(error, LogError):
            raise
        raise LogError(f"{part.source}: is not a table of columns with names and numbers ({one_line(error)})") from None


def _constant(text: str, rows: int) -> Any:
    """One value in every row: a whole number, or a name."""
    arrow = library()
    if text.isascii() and text.isdigit() and (text == "0" or text[0] != "0"):
        return arrow.repeat(arrow.scalar(int(text), arrow.int64()), rows)
    return arrow.repeat(arrow.scalar(None if text == "__HIVE_DEFAULT_PARTITION__" else text, arrow.string()), rows)


def _kept(table: Any, part: TablePart, where: Filter) -> tuple[Any, Ints]:
    """The rows that are asked for, and their numbers."""
    mask = where.mask(table, part.source)
    numbers: Ints = np.arange(part.first, part.first + table.num_rows) if part.numbers is None else part.numbers
    return table.filter(library().array(mask)), numbers[mask]


def _flat(column: Any) -> Any:
    """A column in one piece."""
    return column.combine_chunks() if isinstance(column, library().ChunkedArray) else column


def _encoded(column: Any) -> Any:
    """A column of texts as codes."""
    arrow, array = library(), _flat(column)
    if isinstance(array, arrow.DictionaryArray):
        return array
    texts = (arrow.types.is_string, arrow.types.is_large_string, arrow.types.is_string_view)
    return (array if any(is_text(array.type) for is_text in texts) else array.cast(arrow.string())).dictionary_encode()


def _names(column: Any) -> Names:
    array = _encoded(column)
    values = ["" if value is None else normal(str(value)) for value in array.dictionary.to_pylist()]
    indices = array.indices
    if indices.null_count:
        indices = indices.cast(library().int64()).fill_null(-1)
    return Names(values, _values(indices))


def _joined(columns: list[Any]) -> Names:
    """Names from one column, or from several as one."""
    first, *rest = map(_names, columns)
    for names in rest:
        both = first.codes.astype(np.int64) * len(names.values) + names.codes
        both[(first.codes < 0) | (names.codes < 0)] = -1
        used, codes = np.unique(both, return_inverse=True)
        pairs = [divmod(int(code), max(1, len(names.values))) for code in used if code >= 0]
        values = [f"{first.values[i]}{BETWEEN}{names.values[j]}" for i, j in pairs]
        first = Names(values, codes - int(len(used) > 0 and used[0] < 0))
    return first


def _rewards(column: Any, style: NumberFormat) -> tuple[Floats, dict[int, str], frozenset[str]]:
    """Values as floats, NaN where there is none; what stands in rows that are no numbers; words that were read as numbers."""
    arrow, array = library(), _flat(column)
    kind = array.type
    if arrow.types.is_boolean(kind):
        return _floats(array.cast(arrow.int8())), {}, frozenset(("true", "false"))
    if not (arrow.types.is_dictionary(kind) or arrow.types.is_null(kind)):
        try:
            if arrow.types.is_integer(kind) or arrow.types.is_floating(kind) or arrow.types.is_decimal(kind):
                return _floats(array), {}, frozenset()
        except arrow.ArrowException:  # digits that a float cannot hold
            return np.array([float(value) if value is not None else np.nan for value in array.to_pylist()]), {}, frozenset()
    names = _names(array)
    numbers = np.array([*style.numbers(names.values), np.nan])
    odd = [bool(np.isnan(x)) and not is_missing(text) for x, text in zip(numbers, names.values, strict=False)]
    where = np.flatnonzero(names.of_rows(odd)) if any(odd) else np.zeros(0, np.int64)
    words = frozenset(text.strip().lower() for text in names.values if text.strip().lower() in WORDS)
    return numbers[names.codes], {int(i): str(names.text(int(i))) for i in where}, words


def is_missing(text: str) -> bool:
    """Does a cell say that there is no number?"""
    return text.strip().casefold() in _MISSING


_MISSING = frozenset(text.casefold() for text in MISSING)


def _floats(array: Any) -> Floats:
    found: Floats = _values(array.cast(library().float64()))
    return found


def _values(array: Any) -> Any:
    """As an array of NumPy; where nothing is missing without `to_numpy`, which imports all of pandas where it is installed."""
    return array.to_numpy(zero_copy_only=False) if array.null_count else np.from_dlpack(array)


def _order(column: Any, style: NumberFormat) -> Order:
    """Numbers, and times in seconds, whatever unit a file has them in; anything else as text."""
    arrow, array = library(), _flat(column)
    kind, per_second = array.type, 1.0
    if arrow.types.is_temporal(kind):
        per_second = 1.0 / 86400 if arrow.types.is_date32(kind) else PER_SECOND[getattr(kind, "unit", "ms")]
        array = array.cast(arrow.int32() if kind.bit_width == 32 else arrow.int64())
    elif not (arrow.types.is_integer(kind) or arrow.types.is_floating(kind)):
        return _order_of_texts(array.to_pylist(), style)
    return _floats(array.cast(arrow.float64(), safe=False)) / per_second  # rounding keeps the order


def _order_of_texts(cells: list[Any], style: NumberFormat) -> Order:
    """Cells that are numbers, as far as there are any, as numbers; else all as texts."""
    texts = ["" if cell is None else str(cell) for cell in cells]
    values = style.numbers(texts)
    words = any(value != value and text for value, text in zip(values, texts, strict=True))
    return texts if words else np.array(values, np.float64)


def tables_of(source: Any, wanted: list[str]) -> Iterator[Any]:
    """A frame, a relation, a data set or a stream as tables of Arrow with these columns."""
    arrow = library()
    if hasattr(source, "collect_batches"):  # a lazy frame of polars
        for frame in source.select(wanted).collect_batches(maintain_order=True):
            yield from arrow.RecordBatchReader.from_stream(frame)
    elif hasattr(source, "scanner"):  # a data set of Arrow
        yield from source.scanner(columns=wanted).to_reader()
    elif hasattr(source, "__arrow_c_stream__") and type(source).__module__.split(".")[0] != "pandas":
        yield from arrow.RecordBatchReader.from_stream(source)
    else:
        yield arrow.table({name: _array(_column(source, name)) for name in wanted})


def _column(table: Any, name: str) -> Any:
    return table.column(name) if isinstance(table, library().RecordBatch) else table[name]


def _array(column: Any) -> Any:
    """A column of any kind as one of Arrow; as texts, where its values are of several kinds."""
    arrow = library()
    if isinstance(column, (arrow.Array, arrow.ChunkedArray)):
        return column
    values = column.to_list() if hasattr(column, "to_list") else list(column)
    values = [None if _is_missing(value) else value for value in values]
    try:
        return arrow.array(values)
    except (arrow.ArrowInvalid, arrow.ArrowTypeError, OverflowError):
        if any(isinstance(value, (list, dict, set, tuple)) for value in values):
            raise
        return arrow.array([None if value is None else str(value) for value in values], arrow.string())


def _is_missing(value: Any) -> bool:
    return value is None or (isinstance(value, float) and value != value) or type(value).__name__ in ("NAType", "NaTType")


def known_table(table: Any) -> Any:
    """The table itself, or a reader of one that can do no more than be streamed."""
    named = any(hasattr(table, name) for name in ("collect_schema", "column_names", "schema", "columns"))
    return table if named or not hasattr(table, "__arrow_c_stream__") else library().RecordBatchReader.from_stream(table)


def header_of(table: Any) -> list[str]:
    """Names of columns: of a mapping its keys, of a lazy frame its schema's, of tables their own."""
    if isinstance(table, Mapping):
        return list(table)
    if hasattr(table, "collect_schema"):
        return list(table.collect_schema().names())
    own = getattr(table, "column_names", None) or getattr(getattr(table, "schema", None), "names", None)
    return [str(name) for name in (own if isinstance(own, (list, tuple)) else table.columns)]
