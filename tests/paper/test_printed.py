"""The numbers of the paper are those that it prints."""

import csv
import math
import re
from pathlib import Path

import numpy as np
import pytest
from records import MISSING

from gobetween.paper.reproduction import _cell
from gobetween.paper.tables import TABLE_1, TABLES
from gobetween.simulation.runs import Runs

FOLDER = Path(__file__).parent.parent
PAPER = FOLDER.parent.parent / "shared" / "paper"
Cell = tuple[float, float]
Printed = dict[tuple[str, float, str], Cell]


def kept() -> Printed:
    """Mean and half-width of each printed cell, by table, risk and column, as copied from the paper's text."""
    with (FOLDER / "fixtures" / "printed.csv").open(encoding="utf-8") as stream:
        rows = list(csv.DictReader(stream))
    return {(row["table"], float(row["delta"]), row["column"]): (float(row["mean"]), float(row["half_width"])) for row in rows}


def from_text(text: str) -> Printed:
    """The same from the paper's LaTeX: its two tables, in their order."""
    found: Printed = {}
    bodies = re.findall(r"\\begin\{tabular\}(.*?)\\end\{tabular\}", text, re.DOTALL)
    for name, body in zip(TABLES, (b for b in bodies if r"\pm" in b), strict=True):
        columns = [column.removesuffix(" Sampling") for column in re.findall(r"\\textbf\{(.*?)\}", body)]
        for delta, rest in re.findall(r"\$\\delta=([\d.]+)\$(.*?)\\\\", body):
            cells = re.findall(r"\$([\d.]+) \\pm ([\d.]+) ?\$", rest)
            for column, (mean, half_width) in zip(columns, cells, strict=True):
                found[name, float(delta), column] = (float(mean), float(half_width))
    return found


def test_every_printed_cell() -> None:
    ours: Printed = {}
    for name, table in TABLES.items():
        for column in table.columns:
            for delta, mean, half_width in zip(table.deltas, column.means, column.half_widths, strict=True):
                assert (mean is None) == (half_width is None)
                if mean is not None and half_width is not None:
                    ours[name, delta, column.name] = (mean, half_width)
    assert len(ours) == 4 * 4 + 12 * 2
    assert ours == kept()


def test_the_copy_is_the_papers() -> None:
    """Where the paper's text lies beside the project."""
    texts = sorted(PAPER.glob("*.txt"))
    if not texts:
        pytest.skip(MISSING + "the paper's text")
    assert from_text(texts[0].read_text(encoding="utf-8")) == kept()


def test_a_cell_is_held_against_the_paper_by_its_own_runs_and_errors() -> None:
    """400 runs of ours; the paper says of itself that it made 100, and prints a half width."""
    tau = np.random.default_rng(0).integers(700, 1300, (400, len(TABLE_1.deltas)))
    flags, counts = np.ones(tau.shape, np.bool_), np.zeros((*tau.shape, 4), np.int64)
    runs = Runs(TABLE_1.deltas, tau, flags, ~flags, counts, counts)
    column, d = TABLE_1.columns[1], 1
    cell = _cell(TABLE_1, column, "paper", runs, d, 100.0)
    off, deviation = float(tau[:, d].mean()) - 990.27, float(tau[:, d].std(ddof=1))
    assert cell.error == pytest.approx(deviation / 20)
    assert cell.z_stated == pytest.approx(off / math.hypot(deviation / 20, deviation / 10))
    assert cell.z_printed == pytest.approx(off / math.hypot(deviation / 20, 14.11 / 1.96))
    assert _cell(TABLE_1, column, "default", runs, d, 100.0).z_stated is None
