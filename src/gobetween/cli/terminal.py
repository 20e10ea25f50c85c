"""The terminal: the console, pages and tables on it, the bar, JSON, and where to write."""

import json
import os
import shutil
import sys
import textwrap
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, TextIO

import click

from gobetween.errors import ResultsError
from gobetween.export import json_safe
from gobetween.files.output import check_output, replacing
from gobetween.pages.blocks import Block, Card, Grid, Picture, Section, Text

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

NARROWEST = 20
UNBOUNDED = 100_000
LINES, PIPE_WIDTH = 24, 80  # of the first screen


def printable(text: str) -> str:
    """Text that is safe to show in a terminal: control characters are spelled out."""
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)


def page() -> "Console":
    """Where to print: names are shown as they are; what no one watches, such as a pipe, has room for everything."""
    from rich.console import Console

    console = Console(highlight=False, markup=False, emoji=False, soft_wrap=True)
    if not console.is_terminal:
        console.width = UNBOUNDED
    return console


def wrapped(text: str, stream: TextIO) -> str:
    """Broken at words where someone watches a terminal, whole elsewhere."""
    if not stream.isatty():
        return text
    width = max(shutil.get_terminal_size().columns, NARROWEST)
    return "\n".join(textwrap.fill(line, width, break_long_words=False, break_on_hyphens=False) for line in text.split("\n"))


def show_page(title: str, sections: Sequence[Section], *, ruled: bool = False) -> None:
    """Print a page: title, headings, texts and tables; pictures are for reports."""
    console, first = page(), True
    if title:
        console.print(printable(title), style="bold")
    for section in sections:
        blocks = [block for block in section.blocks if not isinstance(block, Picture)]
        if not blocks:
            continue
        if section.title or not first:
            console.print()
        if section.title:
            console.print(printable(section.title), style="bold")
        for block in blocks:
            _show_block(console, block, ruled)
        first = False


def show_screen(title: str, sections: Sequence[Section], more: str, *, ruled: bool = False) -> None:
    """Print as much of a page as fits a screen; `more` says which command shows the rest."""
    width = page().width
    shown = fitted(sections, LINES - 2 - bool(title), PIPE_WIDTH if width == UNBOUNDED else width, ruled)
    show_page(title, shown, ruled=ruled)
    click.echo(f"\n{more}")


def fitted(sections: Sequence[Section], lines: int, width: int, ruled: bool = False) -> list[Section]:
    """The first section, and of the others what fits so many lines: a table that does not loses its last rows."""
    shown, left = list[Section](), lines
    for section in sections:
        left -= bool(shown) + bool(section.title)
        blocks: list[Block] = []
        for block in section.blocks:
            high = height(block, width, ruled)
            if shown and high > left:
                over = high - left + 1
                if isinstance(block, Grid) and block.header and 0 < over < len(block.rows):
                    rest = Text(f"and {over:,} more")
                    blocks += [Grid(block.header, block.rows[:-over], block.words), rest]
                left = 0
                break
            blocks.append(block)
            left -= high
        if blocks:
            shown.append(Section(section.title, blocks))
        if left <= 0:
            break
    return shown


def height(block: Block, width: int, ruled: bool = False) -> int:
    """How many lines of a terminal it takes."""
    if isinstance(block, Text):
        return len(_folded(block.words, width))
    if isinstance(block, Picture):
        return 0
    if isinstance(block, Card):
        return sum(height(part, width, ruled) for part in block.plain())
    if block.header:
        whole = Grid(block.header, [*block.rows, [name.replace(" ", "_") for name in block.header]])  # headings on one line
        heads = 1 + ruled + 2 * (narrowest(whole, ruled) > width)
        return heads + len(block.rows) if narrowest(block, ruled) <= width else sum(len(row) + 1 for row in block.rows)
    return len(facts(block, width))


def facts(grid: Grid, width: int) -> list[str]:
    """A list of names and what they are; what is longer than a line goes on under itself."""
    widest = max(len(row[0]) for row in grid.rows)
    lines = [printable(f"{name:<{widest}}  {fact}") for name, fact in grid.rows]
    return [part for line in lines for part in _folded(line, width, " " * (widest + 2))]


def _folded(text: str, width: int, indent: str = "") -> list[str]:
    return textwrap.wrap(text, width, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False) or [""]


def _show_block(console: "Console", block: Block, ruled: bool) -> None:
    if isinstance(block, Card):
        for part in block.plain():
            _show_block(console, part, ruled)
    elif isinstance(block, Text):
        words = f"ALARM: {block.words}" if block.kind == "alarm" else block.words
        console.print(printable(words), style="dim" if block.kind == "note" else None, soft_wrap=not console.is_terminal)
    elif isinstance(block, Grid) and block.header and narrowest(block, ruled) > console.width:
        for record in records(block):
            console.print(record)
    elif isinstance(block, Grid) and block.header:
        console.print(grid_table(block, ruled))
    elif isinstance(block, Grid):
        for line in facts(block, console.width):
            console.print(line)


def narrowest(grid: Grid, ruled: bool) -> int:
    """The least width of a table: cells whole, headings folded at words."""
    from rich.cells import cell_len

    columns = zip(*([printable(cell) for cell in row] for row in grid.rows), strict=True)
    cells = [max(map(cell_len, column)) for column in columns] or [0] * len(grid.header)
    heads = [max((cell_len(word) for word in printable(name).split()), default=0) for name in grid.header]
    return sum(max(pair) for pair in zip(cells, heads, strict=True)) + (3 if ruled else 2) * (len(heads) - 1)


def records(grid: Grid) -> list[str]:
    """A table that is too wide, row by row: each cell under its heading's name."""
    rows = [list(zip(grid.header, row, strict=True)) for row in grid.rows]
    return ["\n".join([*(printable(f"{name}: {cell}" if name else cell) for name, cell in row if cell), ""]) for row in rows]


def grid_table(grid: Grid, ruled: bool = False) -> "Table":
    """A grid as a table: numbers stand right, names and remarks left; no cell is ever folded or cut, only headings are."""
    from rich.box import HEAVY_HEAD
    from rich.cells import cell_len
    from rich.table import Table

    look = {"box": HEAVY_HEAD, "pad_edge": False} if ruled else {"box": None, "padding": (0, 2, 0, 0), "pad_edge": False}
    table = Table(show_edge=False, **look)
    rows = [[printable(cell) for cell in row] for row in grid.grouped()]
    for i, name in enumerate(grid.header):
        widest = max((cell_len(row[i]) for row in rows), default=0)
        number = i and name and name not in grid.words
        table.add_column(printable(name), justify="right" if number else "left", min_width=widest)
    for row in rows:
        table.add_row(*row)
    return table


def show(value: object, as_json: bool, *lines: str) -> None:
    """Print one JSON object, or lines for people."""
    if as_json:
        print_json(value)
    else:
        for line in lines:
            click.echo(wrapped("\n".join(printable(part) for part in line.split("\n")), sys.stdout))


def print_json(value: object) -> None:
    """Print one JSON object; letters are spelled out only where the terminal has none for them."""
    plain = (getattr(sys.stdout, "encoding", None) or "utf-8").lower().replace("-", "") != "utf8"
    click.echo(json.dumps(json_safe(value), indent=2, allow_nan=False, ensure_ascii=plain))


def json_line(value: object) -> str:
    """One JSON object on one line."""
    return _ENCODER.encode(value)


_ENCODER = json.JSONEncoder(ensure_ascii=False, allow_nan=False)


def check_target(path: str | None, option: str, *inputs: str) -> None:
    """Before any work: refuse to write in the place of what is read."""
    if path and path != "-":
        check_output(path, inputs, option)


@contextmanager
def target(path: str, option: str = "", mode: int | None = None) -> Iterator[TextIO]:
    """Where to write: a file, there once it is whole, or standard output for `-`; what cannot be written is told by name."""
    if path == "-":
        yield sys.stdout
        return
    check_output(path, (), option)
    try:
        with replacing(path, mode) as part, open(part, "w", encoding="utf-8", newline="", opener=_opened) as stream:
            yield stream
    except OSError as error:
        raise ResultsError(f"{option} {path}: cannot be written ({error.strerror or error})".lstrip()) from None


def _opened(path: str, flags: int) -> int:
    """A file to write to; a pipe that nobody reads from is refused instead of waited for."""
    number = os.open(path, flags | getattr(os, "O_NONBLOCK", 0), 0o600)
    os.set_blocking(number, True)
    return number
