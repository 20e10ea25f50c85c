"""What a page is made of: values that the terminal, a report and a notebook each show in their own way."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

LONG = 24  # letters of a word that may be broken
COLUMNS, CARDS = 6, 12  # columns that half a page holds, rows that a phone shows as cards


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

    @property
    def kind(self) -> str:
        """How it is shown on a phone: as facts, as a card for each row, or to be scrolled where there are many."""
        return "facts" if not self.header else "cards" if len(self.rows) <= CARDS else "many"

    def look(self, i: int, cell: str) -> str:
        """The classes of a cell: words stand left, and a long word may be broken."""
        words = bool(not self.header or not self.header[i] or self.header[i] in self.words)
        return " ".join(["words"] * words + ["long"] * any(len(word) > LONG for word in cell.split()))

    def grouped(self) -> list[list[str]]:
        """The rows as they are shown: a row that begins like the one before leaves its first cell empty."""
        before = [None, *(row[0] for row in self.rows)]
        return [["" if row[0] == above else row[0], *row[1:]] for above, row in zip(before, self.rows, strict=False)]


@dataclass(frozen=True)
class Tile:
    """A number to see first, with its name and what to know about it."""

    key: str
    value: str
    note: str
    tone: str = ""
    picture: str = ""
    colour: int | None = None


@dataclass(frozen=True)
class Card:
    """What a page opens with: the answer, what it means, and up to four tiles; tone is good, warn, bad or empty."""

    headline: str
    texts: Sequence[str]
    tiles: Sequence[Tile] = ()
    tone: str = ""

    def plain(self) -> list["Block"]:
        """The same where there are no tiles: in a terminal."""
        facts = [(tile.key, f"{tile.value} ({tile.note})" if tile.note else tile.value) for tile in self.tiles]
        kind = "alarm" if self.tone == "bad" else "lead"
        return [Text(self.headline, kind), *map(Text, self.texts), *([Grid((), facts)] if facts else [])]


@dataclass(frozen=True)
class Picture:
    """A drawing (SVG) or a chart, with a caption, a name to find it by and a heading, unless the chart has one."""

    name: str
    figure: Any
    caption: str
    title: str = ""


Block = Text | Grid | Picture | Card


@dataclass(frozen=True)
class Section:
    """A heading and what stands under it; on a page it may be folded until someone opens it."""

    title: str
    blocks: Sequence[Block]
    folded: bool = False

    @property
    def wide(self) -> bool:
        """Does it hold a table that needs the whole width of a page?"""
        return any(isinstance(block, Grid) and len(block.header) > COLUMNS for block in self.blocks)
