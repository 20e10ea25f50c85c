"""Values from the outside and for it: plain numbers and lists; nouns with numbers, safe JSON, tables, data frames."""

import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from numbers import Real
from typing import Any, TypeGuard

from gobetween.errors import GoBetweenError

LONGEST = 100  # characters of a wrong name that are compared with the right ones
LIKE = 0.75  # of difflib, from 0 to 1
QUOTES = " \t\n\u00a0\"'“”„‟‘’‚‛«»‹›`´"  # around what was copied from a text
_QUANTITY = re.compile(
    r"[€$£¥ ]*(?=[-+]?[.,]?\d)(?P<whole>[-+]?\d[\d_ ]*)?(?P<point>[.,]\d+)?(?P<exponent>[eE][-+]?\d{1,3})? ?"
    r"(?:/ ?(?P<over>\d+)|(?P<unit>%|‰|percent|[€$£¥]|[A-Z]{3}))?"
)
_SHARES = {"%": "100", "percent": "100", "‰": "1000"}


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


def short(value: object) -> str:
    """A value for a message: as Python writes it, the end of it left out where it is long."""
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:57]}…"


def is_number(value: Any) -> bool:
    """A real number, of Python or of NumPy (which is not imported for that), and not True or False."""
    if isinstance(value, (int, float)):
        return not isinstance(value, bool)
    return isinstance(value, Real) and getattr(getattr(value, "dtype", None), "kind", "") in ("i", "u", "f")


def is_whole(value: Any) -> TypeGuard[int]:
    """A whole number, of Python or of NumPy, and not True or False."""
    return is_number(value) and hasattr(value, "__index__")


def as_list(values: Any) -> Any:
    """A list of plain Python values, also from an array or, in order, a set; what is none is left to be refused."""
    if isinstance(values, Set):
        return sorted(values, key=str)
    if hasattr(values, "tolist"):
        return values.tolist()
    return list(values) if isinstance(values, Iterable) and not isinstance(values, str) else values


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


def choose(given: object, names: Iterable[str], spell: Callable[[str], str] = repr, most: int = 10) -> str:
    """What to say instead of a name that is not known: the one that looks like it, and which there are; of many the nearest."""
    known = list(names)
    near = nearest(given, known, most)
    first = f"did you mean {spell(near[0])}? Choose" if near else "choose"
    shown = known if len(known) <= most else list(dict.fromkeys([*near, *known[:most]]))[:most]
    rest = f" and {len(known) - most:,} more" if len(known) > most else ""
    return f"{first} one of {', '.join(map(spell, shown))}{rest}" if known else "there is none"


def nearest(given: object, names: Sequence[str], most: int = 1) -> list[str]:
    """The names that look like what was given, the nearest first, whatever its case, hyphens and the quotes around it."""
    from difflib import get_close_matches

    plain = {_plain(name): name for name in reversed(names)}
    return [plain[name] for name in get_close_matches(_plain(str(given)[:LONGEST]), plain, most, LIKE)]


def _plain(name: str) -> str:
    return name.strip(QUOTES).lower().replace("_", "-").replace(" ", "-")


def meant_number(given: object) -> str:
    """What to write instead of 5%, 0,05, “0.05”, 1/20 or 4 EUR: "; write 0.05"; empty where that is not plain."""
    found = _QUANTITY.fullmatch(given[:LONGEST].strip(QUOTES).replace("−", "-")) if isinstance(given, str) else None
    if found is None:
        return ""
    parts = {"times": "1", "point": "0", **{key: text for key, text in found.groupdict().items() if text}}
    thousands = parts["point"].startswith(",") and len(parts["point"]) == 4 and parts.get("whole", "0").strip("+-0")
    over = float(parts.get("over", _SHARES.get(parts.get("unit", ""), "1")))
    if thousands or not over:
        return ""
    value = float(f"{parts.get('whole', '0')}.{parts['point'].lstrip('.,')}{parts.get('exponent', '')}".replace(" ", "")) / over
    return f"; write {value:.15g}" if math.isfinite(value) else ""


def html_table(title: str, header: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """A small table with a caption for `_repr_html_`; every string is shown as it is."""
    import html

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
