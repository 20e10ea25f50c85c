"""The file that an experiment writes: SQLite, one row for each run and δ, added block by block."""

import json
import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from gobetween import __version__
from gobetween.core.ground.jit import Ints
from gobetween.errors import Fix, ResultsError
from gobetween.files.paths import check_file, path_of
from gobetween.simulation.engine import CHUNK
from gobetween.simulation.runs import Runs

FORMAT = 2
SCHEMA = """
CREATE TABLE about (key TEXT PRIMARY KEY, value TEXT NOT NULL);
CREATE TABLE cells (cell INTEGER PRIMARY KEY, problem TEXT NOT NULL, sampling TEXT NOT NULL, stopping TEXT NOT NULL);
CREATE TABLE chunks (cell INTEGER, chunk INTEGER, runs INTEGER NOT NULL, PRIMARY KEY (cell, chunk)) WITHOUT ROWID;
CREATE TABLE rows (
  cell INTEGER, run INTEGER, delta REAL, tau INTEGER NOT NULL, correct INTEGER NOT NULL, censored INTEGER NOT NULL,
  N_e TEXT NOT NULL, N_a TEXT NOT NULL, PRIMARY KEY (cell, run, delta)
) WITHOUT ROWID;
"""
OTHER = Fix("other-file")
COLUMNS = ("problem", "sampling", "stopping", "run", "delta", "tau", "correct", "censored", "N_e", "N_a")


class ResultsFile:
    """An open results file. Made by `ResultsFile.open` (to add to it) or `ResultsFile.read`."""

    def __init__(self, path: Path, database: sqlite3.Connection) -> None:
        self.path, self._database = path, database

    @classmethod
    @contextmanager
    def open(cls, path: str | PathLike[str], experiment: Mapping[str, Any], runs: int) -> "Iterator[ResultsFile]":
        """Open for the runs of an experiment; make the file if there is none. Another experiment's file is refused."""
        with _database(path_of(path), "rwc") as database:
            results = cls(Path(path), database)
            results._begin(experiment, runs)
            yield results

    @classmethod
    @contextmanager
    def read(cls, path: str | PathLike[str]) -> "Iterator[ResultsFile]":
        """Open to read; the file must be there."""
        check_file(path_of(path), ResultsError)
        with _database(Path(path), "ro") as database:
            results = cls(Path(path), database)
            results._check_format()
            yield results

    def _begin(self, experiment: Mapping[str, Any], runs: int) -> None:
        wanted = json.dumps(experiment, sort_keys=True)
        with self._writing() as database:
            if not database.execute("SELECT 1 FROM sqlite_master").fetchone():
                for statement in SCHEMA.split(";"):
                    database.execute(statement)
                about = {"format": str(FORMAT), "version": __version__, "experiment": wanted, "runs": str(runs)}
                database.executemany("INSERT INTO about VALUES (?, ?)", about.items())
                cells = [(i, c["problem"], c["sampling"], c["stopping"]) for i, c in enumerate(experiment["cells"])]
                database.executemany("INSERT INTO cells VALUES (?, ?, ?, ?)", cells)
                return
            self._check_format()
            self._check_same(experiment)
            if runs < int(self.about("runs")):
                begun = self.about("runs")
                raise ResultsError(f"{self.path}: was begun for {begun} runs of each cell, more than {runs}", fix=OTHER)
            database.execute("UPDATE about SET value = ? WHERE key = 'runs'", (str(runs),))

    def _check_format(self) -> None:
        try:
            found = self.about("format")
        except (sqlite3.OperationalError, KeyError):
            raise ResultsError(f"{self.path}: is not a results file of gobetween", fix=OTHER) from None
        if found != str(FORMAT):
            raise ResultsError(f"{self.path}: has format {found}, this version reads format {FORMAT}")

    def _check_same(self, experiment: Mapping[str, Any]) -> None:
        if self.about("version") != __version__:
            raise ResultsError(f"{self.path}: was made by gobetween {self.about('version')}, this is {__version__}", fix=OTHER)
        held = json.loads(self.about("experiment"))
        for key, value in experiment.items():
            if json.loads(json.dumps(value)) != held.get(key):
                raise ResultsError(f"{self.path}: holds results of another experiment ({key} differs)", fix=OTHER)

    def about(self, key: str) -> str:
        """A fact about the whole: format, version, experiment, runs."""
        found = self._database.execute("SELECT value FROM about WHERE key = ?", (key,)).fetchone()
        if found is None:
            raise KeyError(key)
        return str(found[0])

    def chunks(self, cell: int) -> dict[int, int]:
        """Chunk → how many of its runs are here."""
        return dict(self._database.execute("SELECT chunk, runs FROM chunks WHERE cell = ?", (cell,)))

    def add(self, cell: int, block: range, found: Runs) -> None:
        """Keep a block of runs: all of it or, if that fails, nothing."""
        tau, correct, censored, N_e, N_a = (
            part.tolist() for part in (found.tau, found.correct, found.censored, found.N_e, found.N_a)
        )
        rows = [
            (cell, run, delta, tau[i][d], correct[i][d], censored[i][d], str(N_e[i][d]), str(N_a[i][d]))  # str of ints is JSON
            for i, run in enumerate(block)
            for d, delta in enumerate(found.deltas)
        ]
        chunks = [(cell, first // CHUNK, min(CHUNK, block.stop - first)) for first in range(block.start, block.stop, CHUNK)]
        with self._writing() as database:
            database.executemany("INSERT OR REPLACE INTO rows VALUES (?, ?, ?, ?, ?, ?, ?, ?)", rows)
            database.executemany("INSERT OR REPLACE INTO chunks VALUES (?, ?, ?)", chunks)

    @contextmanager
    def _writing(self) -> Iterator[sqlite3.Connection]:
        self._database.execute("BEGIN IMMEDIATE")
        try:
            yield self._database
        except BaseException:
            self._database.rollback()
            raise
        self._database.commit()

    def rows(self) -> Iterator[tuple[Any, ...]]:
        """All rows in the order of cells, runs and risks, as in COLUMNS."""
        yield from self._database.execute(
            "SELECT problem, sampling, stopping, run, delta, tau, correct, censored, N_e, N_a FROM rows JOIN cells USING (cell)"
            " ORDER BY cell, run, delta DESC"
        )

    def columns(self) -> dict[str, list[Any]]:
        """The same by name, with flags and counts as values."""
        read: dict[str, Any] = {"correct": bool, "censored": bool, "N_e": json.loads, "N_a": json.loads}
        rows = list(self.rows())
        return {name: [read[name](row[i]) if name in read else row[i] for row in rows] for i, name in enumerate(COLUMNS)}

    def runs(self, cell: int, deltas: tuple[float, ...]) -> tuple[Ints, Runs]:
        """The runs of a cell, at least one, with their numbers: all from 0 on, unless the work was interrupted."""
        query = "SELECT tau, correct, censored, N_e, N_a, run FROM rows WHERE cell = ? AND delta = ? ORDER BY run"
        parts = [self._database.execute(query, (cell, delta)).fetchall() for delta in deltas]

        def column(i: int, kind: Any) -> Any:
            read = json.loads if i in (3, 4) else kind
            return np.stack([np.array([read(row[i]) for row in part], kind) for part in parts], axis=1)

        numbers, whole = column(5, np.int64)[:, 0], np.int64
        found = (column(i, kind) for i, kind in enumerate((whole, np.bool_, np.bool_, whole, whole)))
        return numbers, Runs(deltas, *found)


@contextmanager
def _database(path: Path, mode: str) -> Iterator[sqlite3.Connection]:
    """A connection whose failures are one sentence."""
    if path.is_dir() or not path.absolute().parent.is_dir():
        raise ResultsError(f"{path}: {'is a folder' if path.is_dir() else 'its folder does not exist'}")
    if path.exists():
        check_file(path, ResultsError)
    try:
        database = sqlite3.connect(f"{path.absolute().as_uri()}?mode={mode}", uri=True, isolation_level=None, timeout=60)
        try:
            yield database
        finally:
            database.close()
    except sqlite3.DatabaseError as error:
        raise ResultsError(f"{path}: {_reason(error)}") from None


def _reason(error: sqlite3.DatabaseError) -> str:
    """What happened, by SQLite's name for it."""
    name = getattr(error, "sqlite_errorname", "")
    if name in ("SQLITE_NOTADB", "SQLITE_CORRUPT"):
        return "is not a results file of gobetween"
    if name.startswith(("SQLITE_FULL", "SQLITE_IOERR")):
        return f"cannot be written ({error}): make room and run the same again, what was finished is kept"
    return f"cannot be used ({error})"
