"""Cells of text files: lines of bounded length, what separates cells, and cells as numbers, as people write them."""

import csv
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import TextIO

from gobetween.errors import Fix, GoBetweenError, LogError

NAN = float("nan")
#: Words that are read as rewards.
WORDS = {"true": 1.0, "false": 0.0, "yes": 1.0, "no": 0.0, "y": 1.0, "n": 0.0, "t": 1.0, "f": 0.0}
SEPARATORS = {"tab": "\t", "comma": ",", "semicolon": ";", "pipe": "|", "space": " "}
LONGEST_LINE = 1 << 22  # characters


@dataclass(frozen=True)
class NumberFormat:
    """How a file of text is written."""

    separator: str | None = None  # between cells; None: a comma, a semicolon, a tab or a bar, whichever its first line has
    decimal: str = "."
    thousands: str | None = None
    encoding: str | None = None  # None: UTF-8, or what a byte order mark says

    def __post_init__(self) -> None:
        if self.separator is not None and len(self.separator) != 1:
            raise LogError(f"separator {self.separator!r} must be one character, or one of {', '.join(SEPARATORS)}")
        for what, mark in (("decimal", self.decimal), ("thousands", self.thousands)):
            if mark is not None and (len(mark) != 1 or mark.isalnum() or mark in "+-"):
                raise LogError(f"{what} {mark!r} must be one character that is no digit or letter, such as a comma")
        if self.decimal in (self.thousands, self.separator):
            raise LogError(f"decimal {self.decimal!r} cannot also separate thousands or cells")
        check_encoding(self.encoding)

    @property
    def plain(self) -> bool:
        """Are numbers written as in a program, but for the decimal sign?"""
        return self.thousands is None

    def number(self, cell: object) -> float:
        """A cell as a number, or as one of the words; NaN where it is none."""
        if not isinstance(cell, str):
            return _number(cell)
        text = cell.strip()
        if text.lower() in WORDS:
            return WORDS[text.lower()]
        if self.thousands is not None:
            whole = text.split(self.decimal)[0]
            if not re.fullmatch(rf"[+-]?\d{{1,3}}({re.escape(self.thousands)}\d{{3}})*|[+-]?\d*", whole):
                return NAN
            text = text.replace(self.thousands, "")
        if self.decimal != ".":
            text = text.replace(".", "?").replace(self.decimal, ".")
        return NAN if "_" in text else _number(text)

    def numbers(self, cells: Iterable[object]) -> list[float]:
        """Cells as numbers."""
        return [self.number(cell) for cell in cells]


def check_encoding(name: str | None) -> None:
    """Refuse what is no encoding of text."""
    try:
        "a".encode(name or "utf-8")
    except (LookupError, ValueError):
        raise LogError(f"encoding {name!r} is not known: say one such as latin-1, windows-1252 or utf-16-le") from None


def separator_of(text: str | None) -> str | None:
    """A separator by its name."""
    return None if text is None else SEPARATORS.get(text, "\t" if text == "\\t" else text)


def separator_in(line: str, fits: Callable[[list[str]], bool]) -> str:
    """What separates the cells of a first line: the first mark with which it fits."""
    return next((mark for mark in ",;\t|" if fits(cells_of(line, mark))), ",")


def cells_of(line: str, separator: str) -> list[str]:
    """The cells of one line; none where there are no cells that could be."""
    try:
        return next(csv.reader([line], delimiter=separator), [])
    except csv.Error:  # such as one of 131,072 characters and more
        return []


def lines_of(stream: TextIO, shown: str, kind: type[GoBetweenError]) -> Iterator[str]:
    """The lines of a text, none of which fills the memory."""
    for number in range(1, 1 << 62):
        line = stream.readline(LONGEST_LINE + 1)
        if len(line) > LONGEST_LINE:
            most = f"{LONGEST_LINE // 1_000_000} million characters"
            raise kind(f"{shown}: line {number} is longer than {most}: write one row on each line")
        if not line:
            return
        yield line


def undecodable(shown: str, encoding: str | None, kind: type[GoBetweenError]) -> GoBetweenError:
    """Of a text that is not what it was said to be in."""
    return kind(f"{shown}: is not in {encoding or 'UTF-8'}", fix=Fix("encoding", "latin-1"))


def _number(cell: object) -> float:
    try:
        return NAN if cell is None else float(cell)  # type: ignore[arg-type]  # what is not a number is refused
    except (TypeError, ValueError, OverflowError):
        return NAN
