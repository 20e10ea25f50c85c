"""How a study stands, in blocks: for the terminal whole, for the report part by part."""

from collections.abc import Sequence
from typing import Any

from gobetween.core.alarm import Alarm
from gobetween.core.asked import BEST
from gobetween.core.visible import about
from gobetween.export import numbered, some
from gobetween.logs.report import LogReport
from gobetween.pages.blocks import Block, Grid, Section, Text
from gobetween.pages.words import duration, moment
from gobetween.study.sentences import in_play_words
from gobetween.study.status import Status

MOST_ALARMS = 5  # of a kind that are told
SHOWN = 20  # open queries that are listed
RARE = ("silent", "cancelled", "expired", "late", "unasked", "corrected", "voided")


def sections(status: Status, utc: bool = False) -> list[Section]:
    """Answer first, then how far, then arms, mediators and what is open."""
    tables = [Section("", arms(status)), Section("", [mediator_grid(status)])]
    if status.pending:
        tables.append(Section("", pending(status, utc)))
    last = tables.pop()
    return [Section("", answer(status)), *tables, Section("", [*last.blocks, *notes(status)])]


def alarms(found: Status | LogReport) -> list[Text]:
    """The alarms that were raised, of a study or of a log, but for the one that its first sentence tells; five of a kind."""
    raised = [alarm for alarm in found.alarms if alarm.raised and alarm is not found.broken]
    boxes = []
    for kind in dict.fromkeys(alarm.kind for alarm in raised):
        words = [alarm.words for alarm in raised if alarm.kind == kind]
        boxes += [Text(line, "alarm") for line in words[:MOST_ALARMS]]
        if len(words) > MOST_ALARMS:
            boxes.append(Text(f"{numbered(len(words) - MOST_ALARMS, 'more alarm')} of this kind ({kind}).", "alarm"))
    return boxes


def no_signs(found: Sequence[Alarm], unit: str = "answer") -> list[str]:
    """What was looked for and not found, and how large it would have had to be."""
    lines, kinds = [], {kind: [alarm for alarm in found if alarm.kind == kind] for kind in ("confounding", "policy", "drift")}
    if kinds["confounding"] and not any(alarm.raised for alarm in kinds["confounding"]):
        shown = _visible(kinds["confounding"], unit, "a difference of about {}", 1.0)
        words = f"No sign that an arm pays differently with different mediators ({shown})"
        lines.append(f"{words}; confounding common to all cannot be seen.")
    if kinds["policy"] and not any(alarm.raised for alarm in kinds["policy"]):
        shown = _visible(kinds["policy"], unit, "an arm's share off by about {} points", 100.0)
        lines.append(f"No sign that a mediator acts otherwise than by its declared policy ({shown}).")
    if kinds["drift"] and not any(alarm.raised for alarm in kinds["drift"]):
        shown = _visible(kinds["drift"], unit, "a change by about {}", 1.0)
        lines.append(f"No sign that an arm pays differently at different times ({shown}).")
    return lines


def _visible(found: Sequence[Alarm], unit: str, words: str, scale: float) -> str:
    """What would have shown, from the arm or mediator of which most is known to that of which least is."""
    sizes = sorted((scale * alarm.visible, alarm.subject) for alarm in found if alarm.visible is not None)
    few = [alarm.subject for alarm in found if alarm.visible is None]
    if not sizes:
        return f"there are too few {unit}s for any difference to show"
    texts = list(dict.fromkeys(about(size) for size, _ in (sizes[0], sizes[-1])))
    if len(texts) == 2:
        texts = [f"{text} ({subject!r})" for text, (_, subject) in zip(texts, (sizes[0], sizes[-1]), strict=True)]
    lack = f"; there are too few {unit}s for {some(few)}" if few else ""
    return f"{words.format(' to '.join(texts))} would have shown{lack}"


def answer(status: Status) -> list[Block]:
    """The answer so far, how far it is from being sure, what was spent."""
    lead = Text(status.sentence, "lead" if status.broken is None else "alarm")
    blocks: list[Block] = [*alarms(status), lead, Text(status.how_far)]
    if status.leader is not None:
        blocks.append(
            Text(
                f"p-value {status.p_value:.3g} against “{status.against}”; valid whenever one looks, and not the chance that "
                f"{'it is best' if status.question['name'] == BEST.name else 'the answer is right'}."
            )
        )
    if status.state != "stopped" and len(status.in_play) < len(status.arms):
        blocks.append(Text(in_play_words(status.in_play, len(status.arms), status.delta)))
    return [*blocks, Text(_spent(status))]


def _spent(status: Status) -> str:
    limits = [] if status.max_queries is None else [numbered(status.max_queries, "query", "queries")]
    limits += [] if status.max_cost is None else [f"cost {status.max_cost:,.6g}"]
    words = f"So far {numbered(status.queries, 'query', 'queries')}, cost {status.cost:,.6g}."
    if limits:
        words += f" The budget is {' and '.join(limits)}."
    if status.cost_to_go is not None and status.state != "stopped":
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
    could = [alarm for alarm in status.alarms if alarm.raised or alarm.visible is not None]  # a young study has shown nothing
    undelivered = [] if status.undelivered is None else [status.undelivered]
    return [*(Text(f"Note: {line}") for line in [*undelivered, *status.assumptions]), *(Text(line) for line in no_signs(could))]
