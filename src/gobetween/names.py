"""Names of arms and mediators: one form for each text, and no two that people cannot tell apart."""

import re
import unicodedata
from collections.abc import Iterable, Sequence
from typing import Any

from gobetween.errors import ProblemError

#: Letters of other scripts and signs that look like ones of ASCII, and those.
_TWINS = str.maketrans(
    "АВЕЅІЈКМНОРСТУХЗаеіјорсухѕһԁԛԝѵӏΑΒΕΖΗΙΚΜΝΟΡΤΥΧονιαρ‐‑‒–—−ʼ’‘ı",
    "ABESIJKMHOPCTYX3aeijopcyxshdqwvlABEZHIKMNOPTYXovıap------'''i",
)
_STYLES = "".join(map(chr, range(0xFE00, 0xFE10)))  # of the character before, such as an emoji
_BLANKS = "\u034f\u115f\u1160\u3164"  # letters without a shape
_JOINERS = "\u200c\u200d"  # within words of some scripts, and within emoji
LONGEST = 500  # characters of a name


def normal(name: str) -> str:
    """The composed form of a text: é is one character however it was typed."""
    return name if name.isascii() else unicodedata.normalize("NFC", name)


def folded(name: str) -> str:
    """The same for names that differ by case, spaces, Unicode form or as 1 and 1.0 do."""
    text = " ".join(unicodedata.normalize("NFKC", name).casefold().split())
    return re.sub(r"^([+-]?\d+)\.0+$", r"\1", text)


def as_declared(given: Iterable[Any], names: Sequence[str]) -> list[Any]:
    """Names as they were declared, in whatever Unicode form they are given; others stay as they are."""
    known = {normal(name): name for name in names}
    return [known.get(normal(name), name) if isinstance(name, str) else name for name in given]


def skeleton(name: str) -> str:
    """The same for names that look alike: whatever their script, width and spaces, and what cannot be seen in them."""
    if name.isascii():
        return " ".join(name.split())
    seen = "".join(c for c in unicodedata.normalize("NFKD", name) if not _is_hidden(c) or c.isspace())
    return " ".join(unicodedata.normalize("NFC", seen.translate(_TWINS)).split())


def alike(names: Iterable[str]) -> list[tuple[str, ...]]:
    """Groups of different names that look alike."""
    groups: dict[str, list[str]] = {}
    for name in dict.fromkeys(names):
        groups.setdefault(skeleton(name), []).append(name)
    return [tuple(group) for group in groups.values() if len(group) > 1]


def hidden_in(name: str) -> str:
    """The first character of a name that cannot be seen; empty where there is none."""
    if name.isascii() and name.isprintable():
        return ""
    shown = (c in _STYLES or (c in _JOINERS and _joins(name[i - 1 : i], name[i + 1 : i + 2])) for i, c in enumerate(name))
    return next((c for c, fine in zip(name, shown, strict=True) if _is_hidden(c) and not fine), "")


def check_look(names: Sequence[str], what: str, new: str | None = None) -> None:
    """Refuse a name that is too long or has what cannot be seen, and two that look alike; new: only in this one."""
    for i, name in enumerate(names):
        if new in (None, name) and len(name) > LONGEST:
            raise ProblemError(f"{what}s[{i}] = {name[:40]!a}… has {len(name):,} characters: a name has at most {LONGEST}")
        if new in (None, name) and (c := hidden_in(name)):
            raise ProblemError(f"{what}s[{i}] = {name!a} holds {code_point(c)}, which cannot be seen: leave it out")
    for one, other, *_ in (group for group in alike(names) if new is None or new in group):
        i, j = names.index(one), names.index(other)
        told = f"{one!r} ({code_points(one, other)}) and {other!r} ({code_points(other, one)})"
        raise ProblemError(f"{what}s[{i}] and {what}s[{j}] look alike: {told}: change one of them")


def code_points(name: str, other: str) -> str:
    """Where a name differs from another that looks the same: those of its characters that the other has not."""
    own = [c for c in name if c not in other] or [c for c in name if c.isspace()] or list(name[:1])
    return ", ".join(dict.fromkeys(map(code_point, own)))


def code_point(c: str) -> str:
    """U+0430 CYRILLIC SMALL LETTER A."""
    return f"U+{ord(c):04X} {unicodedata.name(c, '')}".rstrip()


def _is_hidden(c: str) -> bool:
    return unicodedata.category(c) in ("Cc", "Cf", "Zl", "Zp") or c in _BLANKS or c in _STYLES


def _joins(before: str, after: str) -> bool:
    """Does a joiner between these mean something?"""
    return bool(before and after) and not before.isascii() and not after.isascii()
