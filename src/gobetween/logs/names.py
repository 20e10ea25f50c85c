"""Names of arms and mediators: their order, those that look alike, and those that are none."""

import re
import unicodedata
from collections.abc import Iterable, Mapping, Sequence

#: What stands where a name is missing: a question, not a name, unless someone says that it is one.
NOTHING = frozenset(("", "-", "--", "—", "?", ".", "n/a", "na", "#n/a", "nan", "null", "none", "nil", "<na>", "undefined"))


def natural(name: str) -> tuple[tuple[int, int, str], ...]:
    """A key by which arm 2 comes before arm 10."""
    parts = (part.lstrip("0") if part[0] in "0123456789" else part for part in re.findall(r"[0-9]+|[^0-9]+", name))
    return (*((0, len(part), part) if part[:1] in "0123456789" else (1, 0, part) for part in parts), (-1, 0, name))


def is_nothing(name: str) -> bool:
    """Does a name say that there is none?"""
    return name.strip().casefold() in NOTHING


def folded(name: str) -> str:
    """The same for names that differ by case, spaces, Unicode form or as 1 and 1.0 do."""
    text = " ".join(unicodedata.normalize("NFKC", name).casefold().split())
    return re.sub(r"^([+-]?\d+)\.0+$", r"\1", text)


def spelled(values: Sequence[str], known: Sequence[str], renamed: Mapping[str, str], fold: bool) -> list[str]:
    """Names as they are to be counted: renamed, and folded into those that are known."""
    if fold:
        canonical = {folded(name): name for name in known}
        renamed = {folded(old): new for old, new in renamed.items()}
        found = (renamed.get(folded(value), value) for value in values)
        return [canonical.get(folded(value), folded(value)) for value in found]
    return [renamed.get(value, value) for value in values] if renamed else list(values)


def look_alikes(names: Iterable[str]) -> list[tuple[str, ...]]:
    """Groups of names that differ only as `folded` says."""
    groups: dict[str, list[str]] = {}
    for name in names:
        groups.setdefault(folded(name), []).append(name)
    return [tuple(sorted(group)) for group in groups.values() if len(group) > 1]
