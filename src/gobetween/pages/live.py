"""The page of a study while it runs: what can be said from its state alone, however long its log is."""

from collections.abc import Sequence

from gobetween.export import numbered
from gobetween.pages.blocks import Block, Grid, Picture, Section, Text
from gobetween.pages.status import answer, arms, mediator_grid, notes, pending
from gobetween.pages.study import FAIR, pictures
from gobetween.pages.words import duration, moment
from gobetween.study.status import Status
from gobetween.study.study import View
from gobetween.study.transaction import StudyQuery

OPEN = 50  # open queries that are listed
DAY = 86400.0


def live_sections(view: View, overdue: Sequence[StudyQuery], utc: bool = False) -> dict[str, Section]:
    """By name, in order: the answer, then arms, mediators, what is overdue and what is open."""
    status, drawn = view.status, pictures(view.status, view.state.spec, view.state.trail)
    figures = {block.name: block for block in drawn if isinstance(block, Picture)}

    def figure(name: str) -> list[Block]:
        return [figures[name]] if name in figures else []

    return {
        "answer": Section("", [*answer(status), *pace(status, view.created), *notes(status)]),
        "evidence": Section("Evidence", figure("evidence")),
        "arms": Section("Arms", [*arms(status), *figure("estimates")]),
        "mediators": Section("Mediators", [mediator_grid(status), Text(FAIR, "note"), *figure("mediators")]),
        "overdue": Section("Overdue", late(overdue, status.at, utc)),
        "open": Section(numbered(len(status.pending), "open query", "open queries"), _open(status, utc)),
    }


def pace(status: Status, since: float | None) -> list[Block]:
    """How many days what is to go takes, if answers come as they have come so far."""
    if status.state == "stopped" or since is None or status.told < 2 or status.queries_to_go is None:
        return []
    days = max(status.at - since, 1.0) / DAY
    daily = status.told / days
    low, high = status.queries_range or (status.queries_to_go, status.queries_to_go)
    least = duration((low or 0.0) / daily * DAY)
    takes = f"at least {least}" if high is None else f"{least} to {duration(high / daily * DAY)}"
    rate = f"{daily:,.3g} answers a day" if daily < 1000 else f"{daily / 1440:,.3g} answers a minute"
    return [Text(f"At the pace so far ({rate}) that takes {takes}.")]


def late(overdue: Sequence[StudyQuery], now: float, utc: bool = False) -> list[Block]:
    """Queries whose lease has ended without an answer."""
    if not overdue:
        return [Text("Nothing is overdue.")]
    rows = [
        [str(query.id), query.mediator, query.contact, moment(query.until or now, utc), duration(max(0.0, now - query.asked))]
        for query in overdue[:OPEN]
    ]
    header = ("overdue query", "mediator", "contact", "lease ended", "age")
    more = [Text(f"and {len(overdue) - OPEN:,} more")] if len(overdue) > OPEN else []
    return [Grid(header, rows, words=("mediator", "contact")), *more]


def _open(status: Status, utc: bool) -> list[Block]:
    return pending(status, utc, OPEN) if status.pending else [Text("No query is open.")]
