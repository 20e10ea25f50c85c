"""An experiment as a page: what it found, its rules side by side, its cells in figures and tables."""

from collections.abc import Iterator

from gobetween.pages.blocks import Block, Card, Grid, Picture, Section, Text, Tile
from gobetween.pages.figures import rule_comparison, stopping_times
from gobetween.simulation.comparison import Comparison
from gobetween.simulation.results import Results
from gobetween.simulation.runs import query_bounds
from gobetween.words import experiment as words


def sections(results: Results) -> list[Section]:
    """The page of an experiment."""
    comparison = results.compare()
    tiles = [Tile(*tile) for tile in words.experiment_tiles(results, comparison)]
    card = Card(words.experiment_headline(results), words.experiment_texts(results), tiles)
    header, rows = results.table()
    cells: list[Block] = [Grid(header, rows, words=("rules",)), Text(words.EXACT, "note")]
    return [
        Section("", [card]),
        *_ratios(comparison),
        *_times(results),
        *comparison_sections(comparison),
        Section("Every cell", cells),
    ]


def comparison_sections(comparison: Comparison) -> list[Section]:
    """The comparison in tables, one for each problem, for the terminal and the page."""
    if not comparison.differences:
        return []
    against = ", ".join(comparison.baseline)
    tables = [Section(f"{name}: against {against}", [Grid(*comparison.on(name).table())]) for name in comparison.problems]
    return [*tables, Section("", [Text(words.paired_words(comparison.differences), "note")])]


def _ratios(comparison: Comparison) -> Iterator[Section]:
    for i, problem in enumerate(comparison.problems):
        figure = rule_comparison(comparison.on(problem), f"Queries against the baseline's: {problem}")
        yield Section("", [Picture(f"ratios-{i + 1}", figure, words.RATIOS)])


def _times(results: Results) -> Iterator[Section]:
    for i, problem in enumerate(dict.fromkeys(cell.problem for cell in results.cells)):
        runs = {cell.runs.rules: cell.runs for cell in results.cells if cell.problem == problem}
        first = next(iter(runs.values()))
        figure = stopping_times(runs, query_bounds(first.played, first.deltas), f"Stopping times: {problem}")
        yield Section("", [Picture(f"times-{i + 1}", figure, words.TIMES)])
