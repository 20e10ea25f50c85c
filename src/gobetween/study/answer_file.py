"""Answers from a CSV file: read and checked row by row, before anything happens."""

import csv
import hashlib
from collections.abc import Mapping
from os import PathLike
from typing import Any

from gobetween.errors import StudyError
from gobetween.files.paths import path_of

COLUMNS = ("query", "mediator", "arm", "reward", "silent", "key")
YES, NO = ("1", "true", "yes", "x"), ("", "0", "false", "no")


def read_answers(path: str | PathLike[str]) -> list[dict[str, Any]]:
    """One dict for each row, with the fields that `Study.tell` takes.

    A row without a key of its own gets one from the file's content and its place: the same file twice is counted once.
    """
    try:
        content = path_of(path).read_bytes()
        lines = content.decode("utf-8-sig").splitlines(keepends=True)
        rows = list(csv.reader(lines, strict=True))
    except OSError as error:
        raise StudyError(f"{path}: cannot be read ({error.strerror or error})") from None
    except UnicodeDecodeError:
        raise StudyError(f"{path}: is not UTF-8: save it as CSV in UTF-8") from None
    except csv.Error as error:
        raise StudyError(f"{path}: is not CSV ({error})") from None
    if not rows:
        raise StudyError(f"{path}: is empty: its first line must name the columns, of {', '.join(COLUMNS)}")
    header, digest = _header(path, rows[0]), hashlib.sha256(content).hexdigest()[:32]
    return [_row(path, n, header, row, digest) for n, row in enumerate(rows[1:], start=1) if any(map(str.strip, row))]


def _header(path: str | PathLike[str], cells: list[str]) -> list[str]:
    names = [cell.strip().lower() for cell in cells]
    for name in names:
        if name not in COLUMNS:
            raise StudyError(f"{path}: column {name!r} is not known: choose from {', '.join(COLUMNS)}")
        if names.count(name) > 1:
            raise StudyError(f"{path}: column {name!r} is there twice")
    return names


def _row(path: str | PathLike[str], n: int, header: list[str], cells: list[str], digest: str) -> dict[str, Any]:
    where = f"{path} row {n}"
    if len(cells) != len(header):
        raise StudyError(f"{where}: has {len(cells)} cells, the first line {len(header)}")
    said = {name: cell.strip() or None for name, cell in zip(header, cells, strict=True)}
    query, reward = (_number(where, said, name, kind) for name, kind in (("query", int), ("reward", float)))
    return {
        "where": where,
        "query": query,
        "mediator": said.get("mediator"),
        "arm": said.get("arm"),
        "reward": reward,
        "silent": _flag(where, said.get("silent") or ""),
        "own_key": said.get("key") is not None,
        "key": said.get("key") or f"csv-{digest}-{n}",
    }


def _number(where: str, said: Mapping[str, str | None], name: str, kind: Any) -> Any:
    text = said.get(name)
    try:
        return None if text is None else kind(text)
    except ValueError:
        raise StudyError(f"{where}: {name} {text!r} is not a {'whole number' if kind is int else 'number'}") from None


def _flag(where: str, text: str) -> bool:
    if text.lower() not in (*YES, *NO):
        raise StudyError(f"{where}: silent {text!r}: write yes or no")
    return text.lower() in YES
