"""Simulated runs as a table, one row for each risk."""

from collections.abc import Sequence

from gobetween.pages.blocks import Block, Grid, Text
from gobetween.simulation.summary import Summary


def summary_grid(rows: Sequence[Summary], priced: bool) -> Grid:
    """Queries or cost, how often wrong, and the lower bound."""
    header = ("delta", "queries", "cost" if priced else "10–90%", "wrong ≤", "bound", "ratio")
    return Grid(header, [_cells(row, priced) for row in rows])


def _cells(row: Summary, priced: bool) -> list[str]:
    low, _, high = row.quantiles
    return [
        f"{row.delta:g}",
        f"{row.mean:,.0f} ± {row.half_width:,.0f}",
        f"{row.cost:,.0f} ± {row.cost_half_width:,.0f}" if priced else f"{low:,.0f}–{high:,.0f}",
        f"{row.wrong:.1%} ≤ {row.wrong_high:.1%}",
        f"{row.bound:,.0f}" if row.bound >= 1000 else f"{row.bound:,.1f}",
        f"{row.ratio:.2f}" if row.ratio else "",
    ]


def summary_blocks(rows: Sequence[Summary], priced: bool) -> list[Block]:
    """The table, and what must be known to read it."""
    late = [
        Text(f"At {row.delta:g}, {row.censored} runs had not stopped and count as long as they lasted.")
        for row in rows
        if row.censored
    ]
    return [
        summary_grid(rows, priced),
        Text("± and ≤: 95% intervals, of wrong answers exact (Clopper–Pearson).", "note"),
        *late,
    ]
