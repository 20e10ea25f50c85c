"""An experiment as a page: its cells in tables and figures, and its rules side by side."""

from collections.abc import Iterator
from typing import Any

from gobetween.export import numbered
from gobetween.pages.blocks import Grid, Picture, Section, Text
from gobetween.pages.figures import INK, MARKS, TONES, delta_words, dress, graph_objects, label, named_axis, stopping_times
from gobetween.simulation.comparison import Comparison
from gobetween.simulation.results import Results
from gobetween.simulation.runs import query_bounds
from gobetween.words.verdict import family_words

PAIRED = (
    "Differences and ratios are of pairs of runs that share random numbers; ±: 95% intervals, by Student's t. "
    "A difference's that holds 0, or a ratio's that holds 1, leaves open which rule needs less."
)


def rule_comparison(comparison: Comparison, title: str = "") -> Any:
    """Queries of each pair of rules over those of the baseline, with 95% intervals; left of 1 a rule needs fewer."""
    go = graph_objects()
    figure = go.Figure()
    several = len(comparison.problems) > 1
    names = {
        (row.problem, row.rules): f"{row.problem}: {row.rules}" if several else row.rules for row in comparison.differences
    }
    places = {key: i for i, key in enumerate(names)}
    deltas = list(dict.fromkeys(row.delta for row in comparison.differences))
    for i, delta in enumerate(deltas):
        rows = [row for row in comparison.differences if row.delta == delta]
        shift = 0.4 * ((i + 0.5) / len(deltas) - 0.5)
        tone = TONES[i % 6]
        figure.add_scatter(
            name=delta_words(delta), mode="markers", marker={"symbol": MARKS[i % 6], "size": 9, "color": tone},
            x=[row.queries.ratio for row in rows], y=[places[row.problem, row.rules] + shift for row in rows],
            error_x={"type": "data", "array": [row.queries.ratio_half_width for row in rows], "color": tone, "thickness": 2},
        )  # fmt: skip
    figure.add_scatter(
        name=f"baseline: {label(', '.join(comparison.baseline))}", mode="lines", x=[1.0, 1.0], y=[-0.5, len(names) - 0.5],
        line={"color": INK, "dash": "dot", "width": 2},
    )  # fmt: skip
    y, high = named_axis([label(name) for name in names.values()]), len(names) * max(2, len(deltas))
    return dress(figure, title, "queries, as a multiple of the baseline's", "sampling and stopping rule", y=y, rows=high)


def sections(results: Results) -> list[Section]:
    """The page of an experiment."""
    counts = [len(cell.numbers) for cell in results.cells]
    least, most = min(counts), max(counts)
    runs = numbered(most, "run") if least == most else f"{least:,} to {numbered(most, 'run')}"
    lead = Text(f"{numbered(len(counts), 'cell')}, {runs} of each, seed {results.seed}.", "lead")
    families = {cell.problem: family_words(cell.runs.played.family) for cell in results.cells}
    rewards = "; ".join(f"{name}: {words}" for name, words in families.items())
    comparison = results.compare()
    opening = Section("", [lead, Text(f"Rewards of {rewards}.")])
    return [opening, _summaries(results), *comparison_sections(comparison), *_ratios(comparison)]


def comparison_sections(comparison: Comparison) -> list[Section]:
    """The comparison in tables, one for each problem, for the terminal and the page."""
    if not comparison.differences:
        return []
    against = ", ".join(comparison.baseline)
    tables = [Section(f"{name}: against {against}", [Grid(*comparison.on(name).table())]) for name in comparison.problems]
    censored = sum(row.censored for row in comparison.differences)
    cut = f" In {numbered(censored, 'pair')} a run had not stopped: it counts as long as it lasted." if censored else ""
    return [*tables, Section("", [Text(PAIRED + cut, "note")])]


def _ratios(comparison: Comparison) -> Iterator[Section]:
    for i, problem in enumerate(comparison.problems):
        figure = rule_comparison(comparison.on(problem), f"Queries against the baseline's: {problem}")
        caption = "Left of the dotted line rules need fewer queries than the baseline; bars are 95% intervals."
        yield Section("", [Picture(f"ratios-{i + 1}", figure, caption)])


def _summaries(results: Results) -> Section:
    header, rows = results.table()
    note = Text("± and ≤: 95% intervals, of wrong answers exact (Clopper–Pearson).", "note")
    return Section("Every cell", [Grid(header, rows, words=("rules",)), note, *_times(results)])


def _times(results: Results) -> Iterator[Picture]:
    for i, problem in enumerate(dict.fromkeys(cell.problem for cell in results.cells)):
        runs = {cell.runs.rules: cell.runs for cell in results.cells if cell.problem == problem}
        first = next(iter(runs.values()))
        figure = stopping_times(runs, query_bounds(first.played, first.deltas), f"Stopping times: {problem}")
        caption = (
            "Boxes hold the middle half of the runs, whiskers reach from 10% to 90%; the bar is the lower bound on the mean."
        )
        yield Picture(f"times-{i + 1}", figure, caption)
