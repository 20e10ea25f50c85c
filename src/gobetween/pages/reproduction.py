"""The reproduction as tables and figures, for the terminal, the page and the CSV file alike."""

import csv
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

from gobetween.core.bound.geometry import price_of_mediation
from gobetween.core.bound.lower_bound import lower_bound
from gobetween.core.problem.problem import Problem
from gobetween.errors import ResultsError
from gobetween.files.output import replacing
from gobetween.pages import figures
from gobetween.pages.blocks import Block, Card, Grid, Picture, Section, Text, Tile
from gobetween.paper.reproduction import ReproducedColumn, TableCell
from gobetween.paper.tables import EXPERIMENT_1
from gobetween.paper.trace import follow
from gobetween.words import reproduction as words
from gobetween.words.numbers import chance, percent

AGREEMENT = ("column", "δ", "ours ± 95%", "paper ±", "differs", "z (±)", "z (runs)", "bound")
GAIN = ("column", "δ", "paper's rule", "ours ± 95%", "saved", "wrong", "bound", "ratio")


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
    rows = [
        (
            ours.column, f"{ours.delta:g}", f"{theirs.mean:,.0f}", _plus_minus(ours.mean, ours.half_width),
            f"{1.0 - ours.mean / theirs.mean:.0%}", f"{ours.wrong / ours.runs:.2%}", f"{ours.bound:,.1f}",
            f"{ours.mean / ours.bound:.2f}",
        )
        for theirs, ours in _beside(found, table)
    ]  # fmt: skip
    return Grid(GAIN, rows)


def sections(found: Sequence[ReproducedColumn], seed: int, seconds: float) -> list[Section]:
    """The page."""
    parts = [Section("", [_card(found, seed, seconds)])]
    for table in dict.fromkeys(part.table.name for part in found):
        title = next(part.table.title for part in found if part.table.name == table)
        note = Text(words.NOTES[table] + words.far_off(found, table), "note")
        parts.append(Section(f"{title}: the paper's rule", [agreement(found, table), note]))
        ours: list[Block] = [Text(words.OURS), gain(found, table), *_distributions(found, table)]
        parts.append(Section(f"{title}: our default rules", ours))
    parts.append(Section("Along one run", _one_run(seed)))
    parts.append(Section("The price of mediation", [_price()]))
    return parts


def _card(found: Sequence[ReproducedColumn], seed: int, seconds: float) -> Card:
    pairs = list(_beside(found))
    wrong = max((ours for _, ours in pairs), key=lambda cell: cell.wrong / cell.runs / cell.delta, default=None)
    tiles = [Tile("Cells beside the paper's", f"{len(words.compared(found)):,}", "each with its standard error")]
    if wrong is not None:
        default = [pair for pair in pairs if pair[0].column != pair[1].column and pair[1].delta == 0.1]
        tiles.append(Tile(*words.saved_words(*(default or pairs)[0])))
        note = f"the most beside its risk of {chance(wrong.delta)}, by our default rules"
        tiles.append(Tile("Wrong answers", percent(wrong.wrong / wrong.runs), note))
    tiles.append(Tile("Computing", f"{seconds:.0f} s", "the paper reports up to a day on 100 CPUs"))
    return Card(words.headline(found), words.texts(found, seed, seconds), tiles)


def _beside(found: Sequence[ReproducedColumn], table: str = "") -> Iterator[tuple[TableCell, TableCell]]:
    """The paper's rule and ours on the same paths, or on the same problem."""
    parts = {(part.table.name, part.column.name, part.rule): part for part in found if table in ("", part.table.name)}
    for (own, name, rule), part in parts.items():
        if rule == "default":
            yield from zip(parts[own, part.column.beside or name, "paper"].cells, part.cells, strict=True)


def _distributions(found: Sequence[ReproducedColumn], table: str) -> list[Picture]:
    parts = [part for part in found if part.table.name == table and part.column.name == "TaS-MF-k"]
    names = {"paper": "paper's rule", "default": "e-process"}
    bounds = {"": [cell.bound for cell in parts[0].cells]}
    curves = {
        f"{part.column.name}, {names[part.rule]}": (part.table.deltas, [cell.mean for cell in part.cells])
        for part in found
        if part.table.name == table and (part.column.name.startswith("TaS-MF") or part.column.beside)
    }
    T_star = lower_bound(parts[0].column.problem).T_star
    times = figures.stopping_times({names[part.rule]: part.runs for part in parts}, bounds, "Stopping times of TaS-MF-k")
    ratio = figures.ratio_to_bound(curves, T_star, "Queries for each nat of certainty")
    return [Picture(f"{table}-times", times, words.TIMES), Picture(f"{table}-ratio", ratio, words.RATIO)]


def _one_run(seed: int) -> list[Picture]:
    problem = EXPERIMENT_1
    trace, bound = follow(problem, delta=0.1, seed=seed), lower_bound(problem)
    asked, pulled = trace.N_e / trace.N_e.sum(), trace.N_a / trace.N_a.sum()
    best = problem.policies.T @ bound.omega
    means = figures.estimates(trace.arms, problem.means.tolist(), "Estimates when the paper's rule stopped")
    return [
        Picture("evidence", figures.evidence(trace, "Evidence in the first run, δ = 10%"), words.EVIDENCE),
        Picture(
            "mediator-shares", figures.mediator_shares(problem.mediators, asked, bound.omega, "Mediators asked"), words.ASKED
        ),
        Picture("arm-shares", figures.arm_shares(problem.arms, pulled, best, "What they pulled"), words.PULLED),
        Picture("estimates", means, words.ESTIMATES),
    ]


def _price() -> Picture:
    mixing = np.linspace(0.0, 0.95, 20).tolist()
    curves = {
        f"second arm {second}, best 1.5": [
            price_of_mediation(
                Problem([1.5, second, 0.7, 0.5], (1.0 - x) * np.eye(4) + x * EXPERIMENT_1.policies, family=EXPERIMENT_1.family)
            ).ratio
            for x in mixing
        ]
        for second in (0.75, 1.0, 1.2, 1.4)
    }
    figure = figures.mediation_price(mixing, curves, "share of the paper's policies mixed into direct control")
    return Picture("price", figure, words.PRICE)


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
