"""Reading files, before anything heavy is imported."""

import json
import re
import tomllib
from functools import lru_cache
from os import PathLike
from pathlib import Path
from typing import Any

from gobetween.errors import Fix, SpecError
from gobetween.export import meant_number
from gobetween.files.paths import LOGS, PACKED, WORKBOOKS, text_of

LARGEST = 32_000_000  # bytes: more than 1,000 mediators with policies over 1,000 arms
DEEPEST = 50  # tables inside tables
#: A key of more parts than any file has; reading it would take time that grows with their square.
_PART = r"""(?:"(?:[^"\\\n]|\\.)*+"|'[^'\n]*+'|[\w-]++)"""
_LONG_KEY = re.compile(rf"(?<![\w\"'-]){_PART}(?:[ \t]*+\.[ \t]*+{_PART}){{{DEEPEST}}}")
#: A line, or a few, that give a key a long list of numbers.
_NUMBERS = re.compile(r"^([\w-]++[ \t]*+=[ \t]*+)(\[[-+.0-9eE,\s]{1000,}+\])[ \t]*+$", re.MULTILINE)
_NUMBER = re.compile(r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?")
CURLY = "“”„‟‘’‚‛«»"  # quotes that word processors put in place of " and '
_MARK = "\ue000"  # stands for a list that was read apart
_MARKS = (_MARK, "\\u", "\\U")  # how a text may have it already


def read_toml(path: str | PathLike[str]) -> dict[str, Any]:
    """The file as nested dicts, which are not to be changed; syntax errors say the line."""
    try:
        text = text_of(path, LARGEST, "a file that people write is smaller")
        return _parsed(str(path), text.replace("\r\n", "\n").replace("\r", "\n"))
    except SpecError as error:
        raise _of_another_kind(Path(path), error) from None


def _of_another_kind(path: Path, error: SpecError) -> SpecError:
    """What is said instead of a file that is not TOML by its name either."""
    suffix = path.suffix.lower()
    if (suffix in LOGS or suffix in PACKED) and "such file" not in error.what:
        return SpecError(f"{path}: is a log by its name, and not TOML", fix=Fix("log", str(path)))
    if suffix in WORKBOOKS:
        return SpecError(f"{path}: is a workbook, and not TOML: save what it holds as text")
    return error


@lru_cache(maxsize=1)  # a command looks at its file before it reads it
def _parsed(path: str, text: str) -> dict[str, Any]:
    lists: list[list[Any]] = []
    if not any(mark in text for mark in (*_MARKS, '"""', "'''")):
        try:
            short = _NUMBERS.sub(lambda found: _read_apart(found, lists), text)
            return {key: _filled(value, lists) for key, value in _loaded(path, short).items()}
        except (SpecError, ValueError):  # what is wrong is said of the text as it stands
            pass
    return _loaded(path, text)


def _loaded(path: str, text: str) -> dict[str, Any]:
    deep = SpecError(f"{path}: holds a number that is too long or tables that are nested too deeply")
    if _LONG_KEY.search(text):
        raise deep
    try:
        data = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise SpecError(f"{path}: not valid TOML: {error}{_meant(text, str(error))}") from None
    except (ValueError, RecursionError):
        raise deep from None
    if _is_deep(data):
        raise deep
    return data


def _read_apart(found: re.Match[str], lists: list[list[Any]]) -> str:
    """Numbers are the same in JSON, whose parser reads them thirty times as fast."""
    lists.append(json.loads(found[2]))
    return f'{found[1]}"{_MARK}{len(lists) - 1}"'


def _filled(value: Any, lists: list[list[Any]]) -> Any:
    """The same with each list in its place."""
    if isinstance(value, str) and value.startswith(_MARK):
        return lists[int(value[1:])]
    if isinstance(value, dict):
        return {key: _filled(item, lists) for key, item in value.items()}
    return [_filled(item, lists) for item in value] if isinstance(value, list) else value


def _meant(text: str, message: str) -> str:
    """What is said beside an error of TOML's where its line has quotes of a word processor, or a number such as 5%."""
    found = re.search(r"at line (\d+)", message)
    line = text.split("\n")[int(found[1]) - 1] if found else ""
    marks = [mark for mark in line if mark in CURLY]
    if marks:
        return f": its typographic quote {marks[0]} is none of TOML's: write \" instead"
    if "overwrite" in message:
        return ": it is there twice, leave out one of the two"
    value = line.partition("=")[2].partition("#")[0].strip()
    parts = map(str.strip, value.strip("[]").split(",")) if value.startswith("[") else [value]
    return next((meant for part in parts if not _NUMBER.fullmatch(part) and (meant := meant_number(part))), "")


def _is_deep(data: dict[str, Any]) -> bool:
    """Are there more than DEEPEST tables and lists inside each other?"""
    level: list[Any] = [data]
    for _ in range(DEEPEST):
        parts = (item for value in level for item in (value.values() if isinstance(value, dict) else value))
        level = [item for item in parts if isinstance(item, (dict, list))]
        if not level:
            return False
    return True
