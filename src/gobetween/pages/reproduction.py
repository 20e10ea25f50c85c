"""The reproduction as tables and figures, for the terminal, the page and the CSV file alike."""

import csv
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

from gobetween.core.bound.geometry import price_of_mediation
from gobetween.core.bound.lower_bound import lower_bound
from gobetween.core.problem.problem import Problem
from gobetween.errors import ResultsError
from gobetween.export import numbered
from gobetween.files.output import replacing
from gobetween.pages.blocks import Grid, Picture, Section, Text
from gobetween.paper.reproduction import ReproducedColumn
from gobetween.paper.tables import EXPERIMENT_1

TITLE = "Pure Exploration under Mediators' Feedback, reproduced"
AGREEMENT = ("column", "δ", "ours ± 95%", "paper ±", "differs", "z (±)", "z (runs)", "bound")
GAIN = ("column", "δ", "paper's rule", "ours ± 95%", "saved", "wrong", "bound", "ratio")
NOTES = {
    "table1": "z is the difference over its standard error: if the paper's printed ± are right, and if its 100 runs are right. "
    "Both cannot be: one run deviates by hundreds of queries, so that the mean of 100 runs is known to ± 35 (TaS) up to "
    "± 180 (Uniform), and the printed ± are 4 to 12 times smaller.",
    "table2": "The paper names 13 risks and prints 12 rows; 1e-12 is ours alone. Its ± fit its 1,000 runs. It ran each δ "
    "separately, so that its columns rise unevenly or fall; ours come from one path for all δ.",
}


def far_off(found: Sequence[ReproducedColumn], table: str) -> str:
    """Cells that lie over 3 standard errors off, in words; empty if none does."""
    cells = [cell for part in found if part.table.name == table for cell in part.cells if abs(cell.z_stated or 0.0) > 3.0]
    if not cells:
        return ""
    names = ", ".join(f"{cell.column} at {cell.delta:g}" for cell in cells)
    own = {("table2", "TaS-MF-k", 1e-6), ("table2", "TaS-MF-k", 1e-9)}
    words = f" Over 3 standard errors off: {names}."
    if {(cell.table, cell.column, cell.delta) for cell in cells} <= own:
        words += (
            " A straight line through the paper's other cells of that column misses 1e-6 and 1e-9 by 4.3 and 3.9 of its own "
            "standard errors."
        )
    return words


def _plus_minus(mean: float, half_width: float) -> str:
    return f"{mean:,.0f} ± {half_width:.0f}" if half_width >= 10 else f"{mean:,.0f} ± {half_width:.1f}"


def agreement(found: Sequence[ReproducedColumn], table: str) -> Grid:
    """Each cell beside the paper's."""
    cells = [cell for part in found if part.table.name == table and part.rule == "paper" for cell in part.cells]
    rows = [
        (
            cell.column, f"{cell.delta:g}", _plus_minus(cell.mean, cell.half_width),
            "not printed" if cell.printed is None else _plus_minus(cell.printed, cell.printed_half_width or 0.0),
            "" if cell.difference is None else f"{cell.difference:+.1%}",
            "" if cell.z_printed is None else f"{cell.z_printed:+.1f}",
            "" if cell.z_stated is None else f"{cell.z_stated:+.1f}",
            f"{cell.bound:,.1f}",
        )
        for cell in cells
    ]  # fmt: skip
    return Grid(AGREEMENT, rows)


def gain(found: Sequence[ReproducedColumn], table: str) -> Grid:
    """What our stopping rule saves against the paper's on the same paths, and our sampling rule beside the paper's."""
    parts = {(part.column.name, part.rule): part for part in found if part.table.name == table}
    rows = [
        (
            ours.column, f"{ours.delta:g}", f"{theirs.mean:,.0f}", _plus_minus(ours.mean, ours.half_width),
            f"{1.0 - ours.mean / theirs.mean:.0%}", f"{ours.wrong / ours.runs:.2%}", f"{ours.bound:,.1f}",
            f"{ours.mean / ours.bound:.2f}",
        )
        for (name, rule), part in parts.items()
        if rule == "default"
        for theirs, ours in zip(parts[part.column.beside or name, "paper"].cells, part.cells, strict=True)
    ]  # fmt: skip
    return Grid(GAIN, rows)


def sections(found: Sequence[ReproducedColumn], seed: int, seconds: float) -> list[Section]:
    """The page."""
    runs = {part.table.title.split(":")[0]: part.cells[0].runs for part in found}
    counts = " and ".join(f"{name} with {numbered(count, 'run')} of each column" for name, count in runs.items())
    words = f"{counts}, seed {seed}, in {seconds:.1f} s of computing. The paper reports up to a day on 100 CPUs."
    opening = Text(words, "lead")
    parts = [Section("", [opening])]
    for table in dict.fromkeys(part.table.name for part in found):
        title = next(part.table.title for part in found if part.table.name == table)
        parts.append(
            Section(f"{title}: the paper's rule", [agreement(found, table), Text(NOTES[table] + far_off(found, table), "note")])
        )
        words = (
            "The same sampling and the same random numbers, stopped by the e-process, which is proven (docs/stopping.md). "
            "Pursuit with it is our default; beside it stands the paper's rule on the same problem."
        )
        parts.append(Section(f"{title}: our default rules", [Text(words), gain(found, table), *_distributions(found, table)]))
    parts.append(Section("Along one run", _one_run(seed)))
    parts.append(Section("The price of mediation", [_price()]))
    return parts


def _distributions(found: Sequence[ReproducedColumn], table: str) -> list[Picture]:
    from gobetween.pages.figures import ratio_to_bound, stopping_times

    parts = [part for part in found if part.table.name == table and part.column.name == "TaS-MF-k"]
    names = {"paper": "paper's rule", "default": "e-process"}
    bounds = {"": [cell.bound for cell in parts[0].cells]}
    curves = {
        f"{part.column.name}, {names[part.rule]}": (part.table.deltas, [cell.mean for cell in part.cells])
        for part in found
        if part.table.name == table and (part.column.name.startswith("TaS-MF") or part.column.beside)
    }
    T_star = lower_bound(parts[0].column.problem).T_star
    return [
        Picture(
            f"{table}-times",
            stopping_times({names[part.rule]: part.runs for part in parts}, bounds, "Stopping times of TaS-MF-k"),
            "Boxes hold the middle half of the runs, whiskers reach from 10% to 90%, the dashed line is the mean; the black "
            "bar is the lower bound on the mean.",
        ),
        Picture(
            f"{table}-ratio",
            ratio_to_bound(curves, T_star, "Queries for each nat of certainty"),
            "As δ falls, mean queries over ln(1/δ) fall toward T*, the limit for any rule.",
        ),
    ]


def _one_run(seed: int) -> list[Picture]:
    from gobetween.pages.figures import arm_shares, estimates, evidence, mediator_shares
    from gobetween.paper.trace import follow

    problem = EXPERIMENT_1
    trace, bound = follow(problem, delta=0.1, seed=seed), lower_bound(problem)
    return [
        Picture(
            "evidence", evidence(trace, "Evidence in the first run, δ = 0.1"), "A rule stops when its line meets its threshold."
        ),
        Picture(
            "mediator-shares",
            mediator_shares(problem.mediators, trace.N_e / trace.N_e.sum(), bound.omega, "Mediators asked"),
            "Shares of queries by the time the paper's rule stopped, and those that the lower bound calls for.",
        ),
        Picture(
            "arm-shares",
            arm_shares(problem.arms, trace.N_a / trace.N_a.sum(), problem.policies.T @ bound.omega, "What they pulled"),
            "Shares of pulls, and those that the optimal mediators would induce.",
        ),
        Picture(
            "estimates",
            estimates(trace.arms, problem.means.tolist(), "Estimates when the paper's rule stopped"),
            "The intervals hold for all arms and all times together with probability 0.9. They are wider than what the "
            "stopping rule needs: it compares two arms at a time.",
        ),
    ]


def _price() -> Picture:
    from gobetween.pages.figures import mediation_price

    mixing, seconds = np.linspace(0.0, 0.95, 20), np.linspace(0.75, 1.4, 14)
    ratios = [
        [
            price_of_mediation(
                Problem([1.5, second, 0.7, 0.5], (1.0 - x) * np.eye(4) + x * EXPERIMENT_1.policies, family=EXPERIMENT_1.family)
            ).ratio
            for x in mixing
        ]
        for second in seconds
    ]  # fmt: skip
    figure = mediation_price(
        mixing.tolist(), seconds.tolist(), ratios, "share of the paper's policies mixed into direct control",
        "mean of arm 2 (the best has 1.5)", "T* with mediators over T* with direct control",
    )  # fmt: skip
    return Picture(
        "price", figure, "1 means that acting through mediators costs nothing; at the right edge stand the paper's own."
    )


def write_csv(found: Sequence[ReproducedColumn], path: Path) -> None:
    """Every cell with all its numbers."""
    rows: list[dict[str, Any]] = [asdict(cell) for part in found for cell in part.cells]
    try:
        with replacing(path) as part, part.open("w", encoding="utf-8", newline="") as stream:
            writer = csv.DictWriter(stream, rows[0], lineterminator="\n")
            writer.writeheader()
            writer.writerows(rows)
    except OSError as error:
        raise ResultsError(f"{path}: cannot be written ({error.strerror})") from None
