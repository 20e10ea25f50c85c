"""The paper's tables beside our own: each cell with its error, the difference and what the difference means."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from gobetween.core.bound.lower_bound import lower_bound
from gobetween.core.stopping.rules import GLR, EProcess
from gobetween.errors import ProblemError
from gobetween.export import choose
from gobetween.paper.tables import TABLES, Column, Table
from gobetween.simulation.engine import simulate
from gobetween.simulation.runs import Runs

RUNS = {"table1": 2500, "table2": 2000}
"""Of each column: every cell of Table 1 gets a standard error of at most 1.5%; Table 2 twice the paper's runs."""


@dataclass(frozen=True)
class TableCell:
    """One cell: ours, the paper's, and z-scores of their difference."""

    table: str
    column: str
    rule: str  # "paper" (the paper's stopping rule) or "default" (ours)
    delta: float
    runs: int
    mean: float
    error: float  # standard error of our mean
    deviation: float  # standard deviation of one run
    wrong: int
    bound: float  # kl(δ, 1−δ) T*
    printed: float | None
    printed_half_width: float | None
    z_printed: float | None  # the difference over its standard error, if the paper's ± is right
    z_stated: float | None  # the same, if the paper's stated number of runs is right: its error is then deviation/√runs

    @property
    def half_width(self) -> float:
        """Of our 95% interval."""
        return 1.96 * self.error

    @property
    def difference(self) -> float | None:
        """Relative to the paper's number."""
        return None if self.printed is None else self.mean / self.printed - 1.0


@dataclass(frozen=True)
class ReproducedColumn:
    """A column under one stopping rule."""

    table: Table
    column: Column
    rule: str
    runs: Runs
    cells: tuple[TableCell, ...]


def reproduce(
    tables: Sequence[str] = tuple(TABLES), runs: int | None = None, seed: int = 0, progress: Callable[[int], None] | None = None
) -> list[ReproducedColumn]:
    """Run both experiments of the paper, or one, under the paper's stopping rule and under our default one."""
    check(tables, runs)
    found = []
    for table in (TABLES[name] for name in dict.fromkeys(tables)):
        for rule, stopping, columns in (("paper", GLR(), table.columns), ("default", EProcess(), table.again + table.ours)):
            for column in columns:
                count = runs or RUNS[table.name]
                result = simulate(column.problem, column.sampling, stopping, table.deltas, count, seed, progress=progress)
                found.append(_reproduced(table, column, rule, result))
    return found


def check(tables: Sequence[str], runs: int | None) -> None:
    """Refuse what cannot be reproduced."""
    for name in tables:
        if name not in TABLES:
            raise ProblemError(f"{name!r} is not a table of the paper: {choose(name, TABLES, str)}")
    if runs is not None and runs < 2:
        raise ProblemError(f"runs = {runs!r}: must be 2 or more, for an error needs at least two runs")


def count_runs(tables: Sequence[str], runs: int | None) -> int:
    """How many runs `reproduce` makes in all."""
    known = [TABLES[name] for name in dict.fromkeys(tables) if name in TABLES]
    return sum(len(table.columns + table.again + table.ours) * (runs or RUNS[table.name]) for table in known)


def _reproduced(table: Table, column: Column, rule: str, result: Runs) -> ReproducedColumn:
    bound = lower_bound(column.problem)
    cells = tuple(_cell(table, column, rule, result, d, bound.queries(delta)) for d, delta in enumerate(table.deltas))
    return ReproducedColumn(table, column, rule, result, cells)


def _cell(table: Table, column: Column, rule: str, result: Runs, d: int, bound: float) -> TableCell:
    tau, n = result.tau[:, d], len(result.tau)
    mean, deviation = float(tau.mean()), float(tau.std(ddof=1))
    error = deviation / math.sqrt(n)
    printed, half_width = (column.means[d], column.half_widths[d]) if rule == "paper" else (None, None)
    z_printed = z_stated = None
    if printed is not None and half_width is not None:
        z_printed = (mean - printed) / math.hypot(error, half_width / 1.96)
        z_stated = (mean - printed) / math.hypot(error, deviation / math.sqrt(table.runs))
    return TableCell(
        table=table.name,
        column=column.name,
        rule=rule,
        delta=table.deltas[d],
        runs=n,
        mean=mean,
        error=error,
        deviation=deviation,
        wrong=int((~result.correct[:, d]).sum()),
        bound=bound,
        printed=printed,
        printed_half_width=half_width,
        z_printed=z_printed,
        z_stated=z_stated,
    )
