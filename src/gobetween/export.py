"""Values for the outside: numbers with their nouns, safe for JSON, as a table that a notebook shows, as a data frame."""

import html
import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from gobetween.errors import GoBetweenError


def json_safe(value: Any) -> Any:
    """The same in what JSON knows: infinite and undefined numbers are None, tuples and arrays are lists."""
    if hasattr(value, "tolist"):
        value = value.tolist()
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, Mapping):
        return {key: json_safe(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [json_safe(item) for item in value]
    return value


def numbered(n: int, one: str, many: str | None = None) -> str:
    """A number with its noun: 1 query, 2,000 queries."""
    return f"{n:,} {one if n == 1 else many or f'{one}s'}"


def listed(names: Sequence[str]) -> str:
    """'a', 'b' and 'c'; nothing of none."""
    *first, last = map(repr, names or [""])
    return f"{', '.join(first)} and {last}" if first else last if names else ""


def some(names: Sequence[str], most: int = 10) -> str:
    """The first of many names, and how many more there are."""
    return shortened([repr(name) for name in names], most) if len(names) > most else listed(names)


def shortened(words: Sequence[str], most: int = 10) -> str:
    """Words with commas; of many the first, and how many more there are."""
    return ", ".join(words[:most]) + (f" and {len(words) - most:,} more" if len(words) > most else "")


def choices(given: object, names: Sequence[str], most: int = 10) -> str:
    """The names there are instead of the one that was given; of many those that look most like it."""
    if len(names) <= most:
        return ", ".join(map(repr, names))
    from difflib import get_close_matches

    return some(get_close_matches(str(given), names, most, 0.0) + [""] * (len(names) - most), most)


def html_table(title: str, header: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """A small table with a caption for `_repr_html_`; every string is shown as it is."""
    head = "".join(f"<th>{html.escape(name)}</th>" for name in header)
    body = "".join("<tr>" + "".join(f"<td>{html.escape(str(cell))}</td>" for cell in row) + "</tr>" for row in rows)
    return f"<table><caption>{html.escape(title)}</caption><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def data_frame(columns: Mapping[str, Sequence[Any]]) -> Any:
    """Columns as a pandas DataFrame, or as one of polars where only that is installed."""
    try:
        import pandas
    except ImportError:
        try:
            import polars
        except ImportError:
            raise GoBetweenError("a data frame needs pandas or polars: pip install pandas") from None
        return polars.DataFrame(columns)
    return pandas.DataFrame(columns)
