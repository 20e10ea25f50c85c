"""How evidence is written down."""

import time
from pathlib import Path

DOCS = Path(__file__).parent.parent / "docs"
START = time.perf_counter()


def write(name: str, title: str, *lines: str) -> None:
    """Write a page of docs/ and say how long the work took."""
    head = [f"# Validity: {title}", "", "Written by `make validity` with fixed seeds; it fails if any bound is violated.", ""]
    (DOCS / name).write_text("\n".join([*head, *lines, ""]), encoding="utf-8")
    print(f"docs/{name} written in {time.perf_counter() - START:.0f} s")
