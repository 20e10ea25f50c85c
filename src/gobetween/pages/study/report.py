"""The report of a study: its page as it stands, and below it all that was recorded about how it was reached."""

from collections.abc import Sequence

from gobetween.export import numbered, shortened
from gobetween.pages import svg
from gobetween.pages.blocks import Block, Grid, Picture, Section
from gobetween.pages.charts import other
from gobetween.pages.study.history import History, history, lines
from gobetween.pages.study.page import StudyPage, study_page
from gobetween.pages.study.rows import rewards_of
from gobetween.pages.study.status import arms, mediator_grid, pending
from gobetween.study.spec.spec import StudySpec
from gobetween.study.status.status import Status
from gobetween.study.study import Study
from gobetween.words.events import event_line
from gobetween.words.numbers import amount, moment

LAST = 200  # events that are listed
OPEN = 200  # open queries that are listed


def report(study: Study, utc: bool = False) -> tuple[str, list[Section], StudyPage]:
    """Title, what stands under the page of the study, and that page."""
    view = study.view(LAST, lambda state, events: history(events, state.trail, state.spec.wait_for))
    status, state, past, log = view.status, view.state, view.past, [[event_line(event, utc)] for event in view.events]
    open_title = numbered(len(status.pending), "open query", "open queries")
    parts = [
        Section("Queries over time", over_time(past, utc)),
        Section("Arms in numbers", arms(status, rewards_of(state.spec.design.family))),
        Section("Mediators in numbers", [mediators(status, state.spec, state.learner.queries)]),
        Section(open_title, pending(status, utc, OPEN) if status.pending else [], folded=len(status.pending) > 20),
        Section("About this study", [Grid((), _about(status) + _dates(status, past, view.created, utc))]),
        Section(
            f"The last {numbered(len(log), 'event')}" if len(log) != 1 else "The only event",
            [Grid(["event"], log)] if log else [],
            True,
        ),
    ]
    return status.title or f"Study {status.name}", [part for part in parts if part.blocks], study_page(view, utc)


def mediators(status: Status, spec: StudySpec, queries: Sequence[int]) -> Grid:
    """The status's table, with what each costs and how to reach it."""
    grid = mediator_grid(status)
    header, rows = [*grid.header], [list(row) for row in grid.rows]
    if any(cost != 1.0 for cost in spec.cast.costs):
        header += ["cost of a query", "cost so far"]
        rows = [[*row, amount(c), amount(c * n)] for row, c, n in zip(rows, spec.cast.costs, queries, strict=True)]
    if any(spec.contacts):
        header, rows = [*header, "contact"], [[*row, contact] for row, contact in zip(rows, spec.contacts, strict=True)]
    return Grid(header, rows, words=("contact",))


def _about(status: Status) -> list[tuple[str, str]]:
    log = status.from_log
    answers = f"{status.counted:,} counted, {status.told:,} told"
    found = [("State", status.state), ("Answers", answers), ("Budget", _budget(status))]
    return found if log is None else [*found, ("Began from", f"{numbered(log['rows'], 'row')} of {shortened(log['files'])}")]


def _budget(status: Status) -> str:
    most = status.queries if status.max_queries is None else status.max_queries
    queries = ("" if status.max_queries is None else f"{status.queries:,} of ") + numbered(most, "query", "queries")
    cost = f"cost {amount(status.cost)}" + ("" if status.max_cost is None else f" of {amount(status.max_cost)}")
    return f"{queries}, {cost} used" + ("; no limit" if status.max_queries is None and status.max_cost is None else "")


def _dates(status: Status, past: History, made: float | None, utc: bool) -> list[tuple[str, str]]:
    stopped = None if status.verdict is None else status.verdict["at"]
    dates = {"Made": made, "First event": past.first, "Last event": past.last, "Stopped": stopped, "This page": status.at}
    return [(name, moment(at, utc)) for name, at in dates.items() if at is not None]


def over_time(past: History, utc: bool) -> list[Block]:
    """Queries so far to each mediator, by date."""
    if past.first is None or past.last is None or not past.last > past.first or not past.asked:
        return []
    first, whole = past.first, past.last - past.first
    series = lines(past)
    marks = [mark for mark in svg.ticks(0.0, max(counts[-1] for _, counts in series.values()), 4) if mark == int(mark)]
    drawn = [
        ([((at - first) / whole, n / marks[-1]) for at, n in zip(times, counts, strict=True)], other(i))
        for i, (times, counts) in enumerate(series.values())
    ]
    dates = [(share, moment(first + share * whole, utc)[:16]) for share in (0.0, 1.0) if first < 1e11]
    words = "; ".join(f"{name}: {counts[-1]:,}" for name, (_, counts) in series.items())
    figure = svg.chart(drawn, dates, [(mark / marks[-1], f"{mark:,.0f}") for mark in marks[1:]], f"Queries by now: {words}")
    return [
        Picture(
            "queries-time",
            svg.keys([(name, other(i)) for i, name in enumerate(series)]) + figure,
            "Queries to each mediator so far, with answers that came unrequested.",
        )
    ]
