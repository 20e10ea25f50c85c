"""How a study stands, in blocks: for the terminal whole, for the report part by part."""

from typing import Any

from gobetween.export import numbered
from gobetween.files.rules import parse_question
from gobetween.pages.blocks import Block, Grid, Section, Text
from gobetween.study.status.status import Status
from gobetween.words.alarms import no_signs, raised_words
from gobetween.words.numbers import duration, moment
from gobetween.words.verdict import in_play_words

SHOWN = 20  # open queries that are listed
RARE = ("silent", "cancelled", "expired", "late", "unasked", "corrected", "voided")


def sections(status: Status, utc: bool = False) -> list[Section]:
    """Answer first, then how far, then arms, mediators and what is open."""
    tables = [Section("", arms(status)), Section("", [mediator_grid(status)])]
    if status.pending:
        tables.append(Section("", pending(status, utc)))
    last = tables.pop()
    return [Section("", answer(status)), *tables, Section("", [*last.blocks, *notes(status)])]


def answer(status: Status) -> list[Block]:
    """The answer so far, how far it is from being sure, what was spent."""
    lead = Text(status.sentence, "lead" if status.broken is None else "alarm")
    told = (Text(line, "alarm") for line in raised_words(status.alarms, status.broken))
    blocks: list[Block] = [*told, lead, Text(status.how_far)]
    if status.leader is not None:
        blocks.append(
            Text(
                f"p-value {status.p_value:.3g} against “{status.against}”; valid whenever one looks, and not the chance that "
                f"{'it is best' if parse_question(status.question, 'question').names_leader else 'the answer is right'}."
            )
        )
    if status.verdict is None and len(status.in_play) < len(status.arms):
        blocks.append(Text(in_play_words(status.in_play, len(status.arms), status.delta)))
    return [*blocks, Text(_spent(status))]


def _spent(status: Status) -> str:
    limits = [] if status.max_queries is None else [numbered(status.max_queries, "query", "queries")]
    limits += [] if status.max_cost is None else [f"cost {status.max_cost:,.6g}"]
    words = f"So far {numbered(status.queries, 'query', 'queries')}, cost {status.cost:,.6g}."
    if limits:
        words += f" The budget is {' and '.join(limits)}."
    if status.cost_to_go is not None and status.verdict is None:
        words += f" Expected cost to go: {status.cost_to_go:,.4g}."
    return words


def arms(status: Status) -> list[Block]:
    """Estimates, and what their intervals mean."""
    rows = []
    for arm in status.arms:
        estimate = "" if arm["estimate"] is None else f"{arm['estimate']:.4g}"
        low, high = ("…" if arm[end] is None else f"{arm[end]:.4g}" for end in ("low", "high"))
        rows.append([arm["arm"], f"{arm['pulls']:,}", estimate, f"{low} to {high}"])
    words = (
        f"Intervals hold for all arms at all times together with probability {1 - status.delta:g}. They are not the stopping "
        "rule, which compares two arms at a time and is sure earlier."
    )
    return [Grid(("arm", "pulls", "estimate", "interval"), rows), Text(words, "note")]


def mediator_grid(status: Status) -> Grid:
    """Whom it asked and what became of it; what never happened has no column."""
    table: list[dict[str, Any]] = [dict(row) for row in status.mediators]
    shown = ["asked", "told", *(key for key in RARE if any(row[key] for row in table))]
    rows = [
        [
            row["mediator"] + (" (retired)" if row["retired"] else " (away)" if row["away"] else ""),
            *(f"{row[key]:,}" for key in shown),
            f"{row['share']:.0%}",
            "" if row["target"] is None else f"{row['target']:.0%}",
        ]
        for row in table
    ]
    return Grid(("mediator", *shown, "share", "target"), rows)


def pending(status: Status, utc: bool = False, most: int = SHOWN) -> list[Block]:
    """The oldest open queries."""
    rows = []
    for row in status.pending[:most]:
        until = "never" if row["until"] is None else "ended" if row["expired"] else moment(row["until"], utc)
        rows.append([str(row["query"]), row["mediator"], duration(row["age"]), until])
    header = ("open query", "mediator", "age", "lease ends")
    grid, more = Grid(header, rows, words=("mediator",)), len(status.pending) - most
    return [grid, Text(f"and {more:,} more")] if more > 0 else [grid]


def notes(status: Status) -> list[Block]:
    """What must hold for the guarantee, and what speaks for it."""
    could = [
        alarm for alarm in status.alarms if alarm.raised or alarm.detectable is not None
    ]  # a young study has shown nothing
    undelivered = [] if status.undelivered is None else [status.undelivered]
    return [*(Text(f"Note: {line}") for line in [*undelivered, *status.assumptions]), *(Text(line) for line in no_signs(could))]
