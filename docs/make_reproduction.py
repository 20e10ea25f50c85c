"""Writes the tables of docs/reproduction.md, between its marks, from `reproduce(seed=0)`: python docs/make_reproduction.py.

A test fails when the page is stale.
"""

from collections.abc import Sequence
from pathlib import Path

from gobetween.pages.blocks import Grid
from gobetween.pages.reproduction import agreement, gain
from gobetween.paper.reproduction import ReproducedColumn, reproduce

PAGE = Path(__file__).parent / "reproduction.md"


def markdown(grid: Grid) -> str:
    """A table as Markdown has it."""
    lines = ["| " + " | ".join(cells) + " |" for cells in (grid.header, *grid.rows)]
    return "\n".join([lines[0], "|" + "---|" * len(grid.header), *lines[1:]])


def filled(text: str, found: Sequence[ReproducedColumn]) -> str:
    """The page with each table as it was found, between `<!-- agreement table1 -->` and `<!-- end -->` and the like."""
    for what in (agreement, gain):
        for table in ("table1", "table2"):
            begin, end = f"<!-- {what.__name__} {table} -->\n", "\n<!-- end -->"
            before, _, rest = text.partition(begin)
            _, _, after = rest.partition(end)
            text = f"{before}{begin}{markdown(what(found, table))}{end}{after}"
    return text


if __name__ == "__main__":
    columns = reproduce(seed=0)
    PAGE.write_text(filled(PAGE.read_text(encoding="utf-8"), columns), encoding="utf-8")
