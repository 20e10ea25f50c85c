"""Names of arms and mediators: their order, those that look alike, and those that are none."""

import csv
import io
import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from gobetween.errors import GoBetweenError, LogError
from gobetween.files.paths import text_of
from gobetween.names import folded, skeleton

LARGEST = 32_000_000  # bytes of a file of names
#: What stands where a name is missing: a question, not a name, unless someone says that it is one.
NOTHING = frozenset(("", "-", "--", "—", "?", ".", "n/a", "na", "#n/a", "nan", "null", "none", "nil", "<na>", "undefined"))


def natural(name: str) -> tuple[tuple[int, int, str], ...]:
    """A key by which arm 2 comes before arm 10."""
    parts = (part.lstrip("0") if part[0] in "0123456789" else part for part in re.findall(r"[0-9]+|[^0-9]+", name))
    return (*((0, len(part), part) if part[:1] in "0123456789" else (1, 0, part) for part in parts), (-1, 0, name))


def is_nothing(name: str) -> bool:
    """Does a name say that there is none?"""
    return name.strip().casefold() in NOTHING


def known_spellings(values: Sequence[str], known: Sequence[str], renamed: Mapping[str, str], fold: bool) -> list[str]:
    """Names as they are to be counted: renamed, and folded into those that are known."""
    if fold:
        canonical = {folded(name): name for name in known}
        renamed = {folded(old): new for old, new in renamed.items()}
        found = (renamed.get(folded(value), value) for value in values)
        return [canonical.get(folded(value), folded(value)) for value in found]
    return [renamed.get(value, value) for value in values] if renamed else list(values)


def look_alikes(names: Iterable[str]) -> list[tuple[str, ...]]:
    """Groups of names that look alike, or differ only as `folded` says."""
    groups: dict[str, list[str]] = {}
    for name in names:
        groups.setdefault(folded(skeleton(name)), []).append(name)
    return [tuple(sorted(group)) for group in groups.values() if len(group) > 1]


def read_renames(texts: Sequence[str]) -> dict[str, str] | None:
    """Old names and new ones, from texts as old=new or from CSV files of two columns; None where there are none."""
    found: dict[str, str] = {}
    for text in texts:
        for old, new in _file_pairs(text) if "=" not in text or Path(text).is_file() else [_pair(text)]:
            if found.setdefault(old, new) != new:
                raise LogError(f"{old!r} is to be renamed to both {found[old]!r} and {new!r}: name it once")
    return found or None


def _pair(text: str) -> tuple[str, str]:
    old, _, new = text.partition("=")
    if not old or not new.strip():
        raise LogError(f"rename {text!r}: write old=new, or name a CSV file of old and new names")
    return old, new


def _file_pairs(path: str) -> list[tuple[str, str]]:
    try:
        text = text_of(path, LARGEST, "rename fewer names at once", LogError)
        rows = [row for row in csv.reader(io.StringIO(text, newline="")) if row]
    except (GoBetweenError, csv.Error) as error:
        raise LogError(f"rename {path!r}: is neither a pair old=new nor a readable CSV file ({error})") from None
    for place, row in enumerate(rows, 1):
        if len(row) != 2 or not row[1].strip():
            raise LogError(f"{path}: line {place} is not an old and a new name, with a comma between them")
    return [(old, new) for old, new in rows if (old, new) != ("old", "new")]
