"""What a page is made of: values that the terminal, a report and a notebook each show in their own way."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

LONG = 24  # letters of a word that may be broken


@dataclass(frozen=True)
class Text:
    """A paragraph; kind is "", "lead", "note" or "alarm"."""

    words: str
    kind: str = ""


@dataclass(frozen=True)
class Grid:
    """A table of strings. The first column, those without a heading and those named in `words` are words, others numbers.

    Without a header it is a list of names and what they are.
    """

    header: Sequence[str]
    rows: Sequence[Sequence[str]]
    words: Sequence[str] = ()

    def look(self, i: int, cell: str) -> str:
        """The classes of a cell: words stand left, and a long word may be broken."""
        words = bool(not self.header or not self.header[i] or self.header[i] in self.words)
        return " ".join(["words"] * words + ["long"] * any(len(word) > LONG for word in cell.split()))

    def grouped(self) -> list[list[str]]:
        """The rows as they are shown: a row that begins like the one before leaves its first cell empty."""
        before = [None, *(row[0] for row in self.rows)]
        return [["" if row[0] == above else row[0], *row[1:]] for above, row in zip(before, self.rows, strict=False)]


@dataclass(frozen=True)
class Picture:
    """A drawing (SVG) or a Plotly figure, with a caption, a name for its file and a heading, unless the figure has one."""

    name: str
    figure: Any
    caption: str
    title: str = ""


Block = Text | Grid | Picture


@dataclass(frozen=True)
class Section:
    """A heading and what stands under it; on a page it may be folded until someone opens it."""

    title: str
    blocks: Sequence[Block]
    folded: bool = False
