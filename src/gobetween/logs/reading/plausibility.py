"""Columns that were taken for the names of arms or mediators by mistake: ids, times and dates."""

import re

from gobetween.errors import Fix, LogError
from gobetween.logs.reading.counts import LogStats
from gobetween.logs.reading.options import LogOptions

FEWEST, MOST = 20, 0.9  # rows of a log in which so many names for each row are those of an id
_DATE = re.compile(r"(\d{4}[-/.]\d{1,2}[-/.]\d{1,2}|\d{1,2}[-/.]\d{1,2}[-/.]\d{2,4})([T ]\d{1,2}:\d\d.*)?")


def check_plausible(stats: LogStats, options: LogOptions) -> None:
    """Refuse dates, and names of which nearly every row has one of its own; those that are declared are right."""
    sides = (
        ("arm", stats.arms, options.counted_arms, options.columns.arm),
        ("mediator", stats.mediators, options.known_mediators, options.columns.mediator),
    )
    for what, names, declared, column in sides:
        if declared:
            continue
        if len(names) > 1 and all(map(_DATE.fullmatch, names)):
            raise _mistaken(column, f"holds dates, such as {names[0]!r}, for {what}s", what)
        if options.ordered and stats.rows >= FEWEST and len(names) >= MOST * stats.rows:
            words = f"holds {len(names):,} {what}s in {stats.rows:,} rows, as many as an id or a time would"
            raise _mistaken(column, words, what)


def _mistaken(column: str, words: str, what: str) -> LogError:
    return LogError(f"column {column!r} {words}: declare them if they are {what}s", fix=Fix("columns"))
