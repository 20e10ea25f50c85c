"""How evidence is written down."""

import time
from collections.abc import Iterable
from pathlib import Path

from gobetween.simulation.summary import exact_interval

DOCS = Path(__file__).parent.parent / "docs"
AT_MOST = "at most (95 %, exact)"
START = time.perf_counter()


def table(*head: str) -> list[str]:
    """The lines of a table without rows."""
    return [_row(head), "|" + "---|" * len(head)]


def add(lines: list[str], *cells: object) -> None:
    """A further row, printed as it comes: counts with commas, numbers in a list as they are."""
    lines.append(_row(map(_cell, cells)))
    print(lines[-1], flush=True)


def at_most(wrong: int, runs: int, limit: float, *what: object) -> str:
    """The upper end of the exact 95 % interval of a share, which must not be above the limit."""
    high = exact_interval(wrong, runs)[1]
    assert high <= limit, (wrong, runs, *what)
    return f"{high:.2%}"


def _row(cells: Iterable[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _cell(value: object) -> str:
    if isinstance(value, int):
        return f"{value:,}"
    return value if isinstance(value, str) else ", ".join(f"{x:g}" for x in value)  # type: ignore[attr-defined]


def write(name: str, title: str, *lines: str) -> None:
    """Write a page of docs/ and say how long the work took."""
    head = [f"# Validity: {title}", "", "Written by `make validity` with fixed seeds; it fails if any bound is violated.", ""]
    (DOCS / name).write_text("\n".join([*head, *lines, ""]), encoding="utf-8")
    print(f"docs/{name} written in {time.perf_counter() - START:.0f} s")
