"""Simulated runs as a table, one row for each risk."""

from collections.abc import Sequence

from gobetween.core.problem.problem import Problem
from gobetween.export import numbered
from gobetween.pages.blocks import Block, Grid, Text
from gobetween.simulation.guess_worth import GuessWorth
from gobetween.simulation.summary import Summary, summary_table
from gobetween.words.verdict import family_words, guess_words


def summary_grid(rows: Sequence[Summary], priced: bool) -> Grid:
    """Queries or cost, how often wrong, and the lower bound."""
    return Grid(*summary_table(rows, priced))


def rewards_text(problem: Problem) -> Text:
    """What the runs take rewards for, with its scale."""
    return Text(f"Rewards: {family_words(problem.family)}")


def budget_texts(rows: Sequence[Summary]) -> list[Text]:
    """How sure one may be to be sure before the budget is used up."""
    return [
        Text(
            f"At {row.delta:g}, {row.decided:.1%} of runs were decided within the budget "
            f"(95% interval {row.decided_low:.1%} to {row.decided_high:.1%})."
        )
        for row in rows
        if row.decided is not None
    ]


def guess_texts(worth: Sequence[GuessWorth]) -> list[Text]:
    """What the guess of the file is worth, if the means are as it says and if they are not."""
    return [Text(guess_words(one)) for one in worth]


def summary_blocks(rows: Sequence[Summary], priced: bool) -> list[Block]:
    """The table, and what must be known to read it."""
    late = [
        Text(
            f"At {row.delta:g}, {numbered(row.censored, 'run')} had not stopped and "
            + ("counts as long as it lasted." if row.censored == 1 else "count as long as they lasted.")
        )
        for row in rows
        if row.censored
    ]
    return [
        summary_grid(rows, priced),
        Text("± and ≤: 95% intervals, of wrong answers exact (Clopper–Pearson).", "note"),
        *late,
        *budget_texts(rows),
    ]
