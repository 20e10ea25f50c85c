"""Fields of nested dicts, checked one by one; every mistake is one sentence with the path of the key."""

import math
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from gobetween.errors import GoBetweenError, SpecError, Where, spelled
from gobetween.export import choose, meant_number
from gobetween.files.paths import is_writable_text
from gobetween.names import normal
from gobetween.words.fixes import FILE

#: What Problem calls it → the tables and their key in a file.
KEY_OF = {"means": ("arms", "mean"), "policies": ("mediators", "policy"), "costs": ("mediators", "cost")}


@contextmanager
def naming(source: str) -> Iterator[None]:
    """Mistakes found inside are told with their source, in the words of the file."""
    try:
        yield
    except GoBetweenError as error:
        place, fix = in_file(error.where), error.fix
        told = f"{source}: {place} {error.what}" if place else f"{source}: {error.what}"
        if fix is not None and fix.name in FILE:
            told, fix = f"{told}; {FILE[fix.name]}", None
        raise SpecError(told, fix=fix) from None


def in_file(where: Where) -> str:
    """Problem speaks of its arguments; the reader of a file knows its keys."""
    table, key = KEY_OF.get(str(where[0]), ("", "")) if len(where) > 1 else ("", "")
    return spelled((table, where[1], key, *where[2:]) if table else where)


def whole(data: Mapping[str, Any], key: str, least: int) -> int | None:
    """A whole number; None when the key is not there."""
    value = data.get(key)
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int) or not least <= value < 2**63:
        raise SpecError(f"{key} = {show(value)}: must be a whole number, {least} or more")
    return value


def show(value: Any) -> str:
    """A value for a message: short, and as TOML would spell it."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, int) and abs(value) > 10**30:
        return "a very large number"
    text = repr(value) if isinstance(value, (str, int, float, list, dict)) else str(value)
    return text if len(text) <= 60 else f"{text[:57]}…"


def unique_names(found: Sequence[Mapping[str, Any]], key: str) -> list[str]:
    """The names of tables, each in its composed form; they must differ."""
    first: dict[str, int] = {}
    for i, table in enumerate(found):
        name = normal(text(table.get("name", f"{key[:-1]} {i + 1}"), f"{key}[{i}].name"))
        if first.setdefault(name, i) < i:
            raise SpecError(f"{key}[{i}].name = {name!r} is also the name of {key}[{first[name]}]: names must differ")
    return list(first)


def tables(data: Mapping[str, Any], key: str) -> list[Mapping[str, Any]]:
    """The tables of a key, at least one."""
    value = data.get(key)
    if value is None or value == []:
        raise SpecError(f"{key} is missing: write one [[{key}]] for each")
    if not isinstance(value, list) or not value or not all(isinstance(item, Mapping) for item in value):
        raise SpecError(f"{key} must be a list of tables: write one [[{key}]] for each")
    return value


def only(table: Mapping[str, Any], known: Collection[str], prefix: str) -> None:
    """Refuse unknown keys."""
    for key in table:
        if key not in known:
            raise SpecError(f"{prefix}{key} is not a known key: {choose(key, known, str, 30)}")


def typed(value: Any, kind: Any, path: str, what: str) -> Any:
    """A value of the right kind."""
    if not isinstance(value, kind):
        raise SpecError(f"{path} = {show(value)}: must be {what}")
    return value


def text(value: Any, path: str) -> str:
    """A text that can be kept and shown."""
    found: str = typed(value, str, path, "a string")
    if not is_writable_text(found):
        raise SpecError(f"{path} = {show(found)}: must be a text without NUL or broken characters")
    return found


def number(value: Any, path: str) -> float:
    """A finite number."""
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise SpecError(f"{path} = {show(value)}: must be a number{meant_number(value)}")
    try:
        number = float(value)
    except OverflowError:
        number = math.inf
    if not math.isfinite(number):
        raise SpecError(f"{path} = {show(value)}: must be a finite number")
    return number
