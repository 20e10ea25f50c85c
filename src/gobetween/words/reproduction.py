"""What the reproduction says: how far it agrees with the paper, what our rules save, and how to read its tables."""

from collections.abc import Sequence

from gobetween.export import numbered
from gobetween.paper.reproduction import ReproducedColumn, TableCell
from gobetween.words.numbers import chance, percent

TITLE = "Pure Exploration under Mediators' Feedback, reproduced"
NOTES = {
    "table1": "z is the difference over its standard error: if the paper's printed ± are right, and if its 100 runs are right. "
    "Both cannot be: one run deviates by hundreds of queries, so that the mean of 100 runs is known to ± 35 (TaS) up to "
    "± 180 (Uniform), and the printed ± are 4 to 12 times smaller.",
    "table2": "The paper names 13 risks and prints 12 rows; 1e-12 is ours alone. Its ± fit its 1,000 runs. It ran each δ "
    "separately, so that its columns rise unevenly or fall; ours come from one path for all δ.",
}
LINE = (
    " A straight line through the paper's other cells of that column misses 1e-6 and 1e-9 by 4.3 and 3.9 of its own standard "
    "errors."
)
OURS = (
    "The same sampling and the same random numbers, stopped by the e-process, which is proven (docs/stopping.md). Pursuit with "
    "it is our default; beside it stands the paper's rule on the same problem."
)
TIMES = "Dots: means. Bands: 80% of the runs, and the middle half. Marks: the lower bound on the mean."
RATIO = "As δ falls, mean queries over ln(1/δ) fall toward T*, the limit for any rule."
EVIDENCE = "A rule stops when its line reaches the dashed one."
ASKED = "Bars: shares of queries by the time the paper's rule stopped. Marks: what the lower bound calls for."
PULLED = "Bars: shares of pulls. Marks: what the optimal mediators would induce."
ESTIMATES = (
    "The intervals hold for all arms and all times together with probability 90%; marks are the true means. They are wider "
    "than what the stopping rule needs: it compares two arms at a time."
)
PRICE = "1 means that acting through mediators costs nothing; at the right edge stand the paper's own policies."


def compared(found: Sequence[ReproducedColumn]) -> list[TableCell]:
    """The cells beside which the paper prints a number."""
    return [cell for part in found for cell in part.cells if part.rule == "paper" and cell.z_stated is not None]


def far(cells: Sequence[TableCell]) -> list[TableCell]:
    """Those over 3 standard errors off."""
    return [cell for cell in cells if abs(cell.z_stated or 0.0) > 3.0]


def headline(found: Sequence[ReproducedColumn]) -> str:
    """How many cells agree."""
    cells = compared(found)
    return f"{len(cells) - len(far(cells)):,} of {numbered(len(cells), 'cell')} agree with the paper within 3 standard errors"


def texts(found: Sequence[ReproducedColumn], seed: int, seconds: float) -> list[str]:
    """What was run."""
    runs = {part.table.title.split(":")[0]: part.cells[0].runs for part in found}
    counts = " and ".join(f"{name} with {numbered(count, 'run')} of each column" for name, count in runs.items())
    return [f"{counts}, seed {seed}, in {seconds:.1f} s of computing. The paper reports up to a day on 100 CPUs."]


def saved_words(theirs: TableCell, ours: TableCell) -> tuple[str, str, str]:
    """What our rules save in a cell: name, value and note of a tile."""
    saved = percent(round(1.0 - ours.mean / theirs.mean, 2))
    return f"{ours.column} saves", saved, f"of the queries of the paper's rule, for a risk of {chance(ours.delta)}"


def far_off(found: Sequence[ReproducedColumn], table: str) -> str:
    """Cells that lie over 3 standard errors off, in words; empty if none does."""
    cells = far([cell for part in found if part.table.name == table for cell in part.cells])
    if not cells:
        return ""
    names = ", ".join(f"{cell.column} at {cell.delta:g}" for cell in cells)
    own = {("table2", "TaS-MF-k", 1e-6), ("table2", "TaS-MF-k", 1e-9)}
    line = LINE if {(cell.table, cell.column, cell.delta) for cell in cells} <= own else ""
    return f" Over 3 standard errors off: {names}.{line}"
