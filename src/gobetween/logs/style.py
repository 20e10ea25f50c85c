"""Cells as numbers, in the ways in which people write them."""

import re
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from gobetween.errors import LogError
from gobetween.logs.batch import Order

NAN = float("nan")
#: Words that are read as rewards.
WORDS = {"true": 1.0, "false": 0.0, "yes": 1.0, "no": 0.0, "y": 1.0, "n": 0.0, "t": 1.0, "f": 0.0}
SEPARATORS = {"tab": "\t", "comma": ",", "semicolon": ";", "pipe": "|", "space": " "}


@dataclass(frozen=True)
class Style:
    """How a file of text is written."""

    separator: str | None = None
    """Between cells; None: a comma, a semicolon, a tab or a bar, whichever its first line has."""
    decimal: str = "."
    thousands: str | None = None

    def __post_init__(self) -> None:
        if self.separator is not None and len(self.separator) != 1:
            raise LogError(f"separator {self.separator!r} must be one character, or one of {', '.join(SEPARATORS)}")
        for what, mark in (("decimal", self.decimal), ("thousands", self.thousands)):
            if mark is not None and (len(mark) != 1 or mark.isalnum() or mark in "+-"):
                raise LogError(f"{what} {mark!r} must be one character that is no digit or letter, such as a comma")
        if self.decimal in (self.thousands, self.separator):
            raise LogError(f"decimal {self.decimal!r} cannot also separate thousands or cells")

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


def separator_of(text: str | None) -> str | None:
    """A separator by its name."""
    return None if text is None else SEPARATORS.get(text, "\t" if text == "\\t" else text)


def _number(cell: object) -> float:
    try:
        return NAN if cell is None else float(cell)  # type: ignore[arg-type]  # what is no number is refused
    except (TypeError, ValueError, OverflowError):
        return NAN


def order_values(cells: Iterable[object], style: Style) -> Order:
    """Cells that are numbers, as far as there are any, as numbers; else all as texts."""
    texts = ["" if cell is None else str(cell) for cell in cells]
    values = style.numbers(texts)
    words = any(value != value and text for value, text in zip(values, texts, strict=True))
    return texts if words else np.array(values, np.float64)
