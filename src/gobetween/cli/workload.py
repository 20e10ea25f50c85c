"""How much work lies before a command: with a little, plain Python is done before compiled code is even loaded."""

import csv
import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from itertools import islice
from pathlib import Path
from typing import Any

from gobetween.files.toml import read_toml

STEPS = 20_000  # of a solver, K·max(K, E)²
ROWS = 2_000  # of a log
ARMS = 8  # of a log: each takes as long as a thousand rows
SHORTEST = 4  # bytes of a row, at least


def small_problem(data: Mapping[str, Any]) -> bool:
    """Is the problem of a file small?"""
    K, E = (len(data[key]) if isinstance(data.get(key), list) else 1 for key in ("arms", "mediators"))
    return K * max(K, E) ** 2 <= STEPS


def small_study(path: Path) -> bool:
    """Is the study of a study.toml small, or every one of a SQLite file? Of other stores that is not known beforehand."""
    if path.suffix == ".toml":
        return path.is_file() and small_problem(read_toml(path))
    if not path.is_file():  # a pipe would be waited for
        return False
    import sqlite3

    try:
        with closing(sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True)) as store:
            return all(small_problem(json.loads(spec)) for (spec,) in store.execute("SELECT spec FROM studies"))
    except (sqlite3.Error, ValueError):  # whoever opens it will say so
        return False


def small_log(files: Sequence[str], arm: str) -> bool:
    """Have logs few rows and few arms? Files that are not read as text here may be long, whatever their size."""
    paths = [Path(file) for file in files]
    if not all(path.is_file() and path.suffix in (".csv", ".tsv") for path in paths):
        return False
    if sum(path.stat().st_size for path in paths) > 50 * SHORTEST * ROWS:
        return False
    try:
        found = [name for path in paths for name in _arms(path, arm)]
    except (OSError, csv.Error):  # whoever reads it will say so
        return False
    return len(found) < ROWS and len(set(found)) <= ARMS


def _arms(path: Path, arm: str) -> Iterator[str]:
    """The arm of each row, of the first ones of a long file."""
    with path.open(encoding="utf-8", errors="replace", newline="") as stream:
        for row in csv.DictReader(islice(stream, ROWS + 1), delimiter="\t" if path.suffix == ".tsv" else ","):
            yield str(row.get(arm))
