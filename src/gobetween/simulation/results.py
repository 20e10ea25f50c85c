"""The results of an experiment as one value: its cells with their runs, summaries, comparison, data frame."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from os import PathLike
from typing import Any

import numpy as np

from gobetween.core.ground.jit import Ints
from gobetween.core.problem.problem import Problem
from gobetween.errors import ResultsError
from gobetween.export import choose, data_frame, html_table
from gobetween.files.rules import parse_family
from gobetween.simulation.comparison import Comparison, Difference, paired
from gobetween.simulation.results_file import COLUMNS, ResultsFile
from gobetween.simulation.runs import Runs, query_bounds, take
from gobetween.simulation.summary import Summary, summary_table


@dataclass(frozen=True)
class CellRuns:
    """A combination of the grid with the runs that were made."""

    problem: str
    runs: Runs
    numbers: Ints  # [runs] which runs these are: all from 0 on, unless the work was interrupted

    @property
    def name(self) -> tuple[str, str, str]:
        """Problem, sampling rule, stopping rule."""
        return self.problem, self.runs.sampling, self.runs.stopping


@dataclass(frozen=True)
class Results:
    """What a results file holds; cells of which no run is finished are left out."""

    path: str
    title: str
    seed: int
    cells: tuple[CellRuns, ...]

    def __repr__(self) -> str:
        counts = sorted({len(cell.numbers) for cell in self.cells}) or [0]
        each = f"{counts[0]}" if len(counts) == 1 else f"{counts[0]} to {counts[-1]}"
        return f"Results({self.title!r}, {len(self.cells)} cells, {each} runs of each)"

    def _repr_html_(self) -> str:
        header, rows = self.table()
        return html_table(repr(self), header, rows)

    def runs(self, problem: str | None = None, sampling: str | None = None, stopping: str | None = None) -> Runs:
        """The runs of the one cell with these names; a name may be left out where it makes no difference."""
        wanted = (problem, sampling, stopping)
        found = [
            cell
            for cell in self.cells
            if all(want in (None, name) for want, name in zip(wanted, cell.name, strict=True))
        ]  # fmt: skip
        if len(found) != 1:
            choices = "; ".join(", ".join(cell.name) for cell in found or self.cells)
            raise ResultsError(f"{self.path}: {len(found)} cells have these names: name one of {choices}")
        return found[0].runs

    def within(self, *, queries: int | None = None, cost: float | None = None) -> "Results":
        """The same with a budget: summaries then say how many runs were decided within it."""
        cells = (replace(cell, runs=cell.runs.within(queries=queries, cost=cost)) for cell in self.cells)
        return replace(self, cells=tuple(cells))

    def summary(self) -> dict[tuple[str, str, str], list[Summary]]:
        """(problem, sampling, stopping) → one summary for each δ."""
        return {cell.name: cell.runs.summary() for cell in self.cells}

    def table(self) -> tuple[tuple[str, ...], list[tuple[str, ...]]]:
        """The summaries for people: header and rows."""
        priced = any(cell.runs.played.costs is not None for cell in self.cells)
        summaries = self.summary()
        header, _ = summary_table([row for found in summaries.values() for row in found], priced)
        rows = [
            (name[0], ", ".join(name[1:]), *row) for name, found in summaries.items() for row in summary_table(found, priced)[1]
        ]
        return ("problem", "rules", *header), rows

    def compare(self, baseline: tuple[str, str] | None = None) -> Comparison:
        """All rules against a baseline (sampling, stopping), by default the first; pairs of runs share random numbers."""
        rules = list(dict.fromkeys(cell.name[1:] for cell in self.cells))
        if not rules:
            raise ResultsError(f"{self.path}: no run is finished: run the experiment first")
        chosen = rules[0] if baseline is None else tuple(baseline)
        if chosen not in rules:
            said, known = ", ".join(chosen), [", ".join(pair) for pair in rules]
            raise ResultsError(f"{self.path}: no cell has the rules {said!r}: {choose(said, known)}")
        return Comparison((chosen[0], chosen[1]), tuple(self._differences(chosen)))

    def _differences(self, baseline: tuple[str, ...]) -> Iterator[Difference]:
        bases = {cell.problem: cell for cell in self.cells if cell.name[1:] == baseline}
        for cell in self.cells:
            base = bases.get(cell.problem)
            if base is None or base is cell:
                continue
            both, ours, theirs = np.intersect1d(cell.numbers, base.numbers, return_indices=True)
            if len(both):
                yield from paired(cell.problem, take(cell.runs, ours), take(base.runs, theirs))

    def plot(self) -> Any:
        """Distributions of τ of every cell, as a Matplotlib figure."""
        from gobetween.pages.figures import stopping_times
        from gobetween.pages.paper_figures import draw

        several = len({cell.problem for cell in self.cells}) > 1
        named = {f"{cell.problem}: {cell.runs.rules}" if several else cell.runs.rules: cell.runs for cell in self.cells}
        bounds = {
            name: least
            for name, runs in named.items()
            for least in query_bounds(runs.played, runs.deltas, runs.question).values()
        }
        return draw(stopping_times(named, bounds, self.title))

    def to_frame(self) -> Any:
        """One row for each cell, run and δ, as a data frame of pandas or polars; columns as in the export."""
        columns: dict[str, list[Any]] = {name: [] for name in COLUMNS}
        for cell in self.cells:
            found = cell.runs.columns()
            found["run"] = np.repeat(cell.numbers, len(cell.runs.deltas)).tolist()
            found |= {key: [name] * len(found["run"]) for key, name in zip(COLUMNS, cell.name, strict=False)}
            for name, values in columns.items():
                values += found[name]
        return data_frame(columns)


def load_results(path: str | PathLike[str]) -> Results:
    """Open a results file, finished or not: see `run_experiment`."""
    with ResultsFile.read(path) as file:
        experiment = json.loads(file.about("experiment"))
        deltas, problems = tuple(experiment["deltas"]), dict[str, Problem]()
        cells = []
        for i, cell in enumerate(experiment["cells"]):
            name = cell["problem"]
            if not file.chunks(i):
                continue
            if name not in problems:
                problems[name] = _problem(cell)
            numbers, runs = file.runs(i, deltas)
            named = replace(runs, problem=problems[name], sampling=cell["sampling"], stopping=cell["stopping"])
            cells.append(CellRuns(name, named, numbers))
    return Results(str(path), experiment["title"], experiment["seed"], tuple(cells))


def _problem(cell: Mapping[str, Any]) -> Problem:
    """The problem that `Cell.to_dict` described."""
    direct = cell["mediators"] == cell["arms"] and bool((np.eye(len(cell["arms"])) == np.array(cell["policies"])).all())
    return Problem(
        cell["means"],
        None if direct else cell["policies"],
        family=parse_family(cell["family"]),
        costs=cell["costs"],
        silent=cell["silent"],
        arms=cell["arms"],
        mediators=cell["mediators"],
    )
