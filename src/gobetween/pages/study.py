"""The page of a study: all that its status has, figures, and what the reader must know about how it was reached."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from gobetween.core.evidence import ArmReport
from gobetween.export import numbered, shortened
from gobetween.files.rules import word
from gobetween.pages.blocks import Block, Grid, Picture, Section, Text
from gobetween.pages.figures import arm_shares, estimates, evidence_trail, mediator_shares, queries_over_time
from gobetween.pages.history import History, history, lines
from gobetween.pages.status import answer, arms, mediator_grid, notes, pending
from gobetween.pages.words import duration, event_words, moment, on_axis, zone
from gobetween.study.spec import StudySpec
from gobetween.study.status import Status
from gobetween.study.study import Study

LAST = 200  # events that are listed
OPEN = 200  # open queries that are listed
FAIR = (
    "Silence, cancelling, expiry, answers that came unasked and corrections must not depend on rewards: compare the mediators' "
    "shares."
)
Trail = Sequence[tuple[int, float, float]]


def sections(study: Study, utc: bool = False) -> tuple[str, list[Section]]:
    """Title and page."""
    view = study.view(LAST, lambda state, events: history(events, state.trail, state.spec.wait_for))
    status, state, past, log = view.status, view.state, view.past, [[event_words(event, utc)] for event in view.events]
    facts = _about(status, state.spec) + _dates(status, past, view.created, utc)
    parts = [
        Section("", [*answer(status), *notes(status)]),
        Section("Figures", [*_over_time(past, state.trail, utc), *pictures(status, state.spec, state.trail)]),
        Section("Arms", arms(status)),
        Section("Mediators", [_mediators(status, state.spec, state.learner.queries), Text(FAIR, "note")]),
        Section(_open_title(status), pending(status, utc, OPEN), folded=len(status.pending) > 20),
        Section("About this study", [Grid((), facts)]),
        Section(f"The last {numbered(len(log), 'event')}" if len(log) != 1 else "The only event", [Grid(["event"], log)], True),
    ]
    empty = {"Figures": not parts[1].blocks, _open_title(status): not status.pending, parts[-1].title: not log}
    return status.title or f"Study {status.name}", [part for part in parts if not empty.get(part.title)]


def _open_title(status: Status) -> str:
    return numbered(len(status.pending), "open query", "open queries")


def _mediators(status: Status, spec: StudySpec, queries: Sequence[int]) -> Grid:
    """The status's table, with what each costs and how to reach it."""
    grid = mediator_grid(status)
    header, rows = [*grid.header], [list(row) for row in grid.rows]
    if any(cost != 1.0 for cost in spec.costs):
        header += ["cost of a query", "cost so far"]
        rows = [[*row, f"{c:,.6g}", f"{c * n:,.6g}"] for row, c, n in zip(rows, spec.costs, queries, strict=True)]
    if any(spec.contacts):
        header, rows = [*header, "contact"], [[*row, contact] for row, contact in zip(rows, spec.contacts, strict=True)]
    return Grid(header, rows, words=("contact",))


def _about(status: Status, spec: StudySpec) -> list[tuple[str, str]]:
    """What the study is, and by which rules it goes."""
    lease = "no lease" if spec.lease is None else f"a lease of {duration(spec.lease)}"
    wait = "waits for each answer" if spec.wait_for == "answer" else "waits for an answer until its lease ends"
    log = status.from_log
    return [
        ("State", status.state),
        ("Rewards", status.family),
        ("Risk δ of a wrong answer", f"{status.delta:g}"),
        ("Sampling rule", word(spec.sampling)),
        ("Stopping rule", word(spec.stopping)),
        ("Queries", f"{lease}; the verdict {wait}" + (f"; {spec.in_flight:,} kept open" if spec.in_flight else "")),
        ("Evidence", f"{status.statistic:.2f} of {status.threshold:.2f} nats"),
        ("Answers", f"{status.counted:,} counted, {status.told:,} told"),
        ("Budget", _budget(status)),
        *([] if log is None else [("Began from", f"{numbered(log['rows'], 'row')} of {shortened(log['files'])}")]),
    ]


def _budget(status: Status) -> str:
    most = status.queries if status.max_queries is None else status.max_queries
    queries = ("" if status.max_queries is None else f"{status.queries:,} of ") + numbered(most, "query", "queries")
    cost = f"cost {status.cost:,.6g}" + ("" if status.max_cost is None else f" of {status.max_cost:,.6g}")
    return f"{queries}, {cost} used" + ("; no limit" if status.max_queries is None and status.max_cost is None else "")


def _dates(status: Status, past: History, made: float | None, utc: bool) -> list[tuple[str, str]]:
    stopped = None if status.verdict is None else status.verdict["at"]
    dates = {"Made": made, "First event": past.first, "Last event": past.last, "Stopped": stopped, "This page": status.at}
    return [(name, moment(at, utc)) for name, at in dates.items() if at is not None]


def _over_time(past: History, trail: Trail, utc: bool) -> list[Block]:
    """Evidence and queries by date, where the clock that the events carry can be shown as one."""
    dates: dict[float, str | None] = {}

    def shown(times: Sequence[float]) -> list[str]:
        dates.update((at, on_axis(at, utc)) for at in times if at not in dates)
        return [text for at in times if (text := dates[at])]

    ends = [at for at in (past.first, past.last) if at is not None]
    if len(shown(ends)) < 2:
        return []
    axis = f"time ({' / '.join(dict.fromkeys(zone(at, utc) for at in ends))})"
    pictures: list[Block] = []
    reached = shown(past.reached)
    if len(reached) == len(past.reached) > 0:
        points = [(at, z, limit) for at, (_, z, limit) in zip(reached, trail, strict=False)]
        figure = evidence_trail(points, "Evidence for the leader over time", axis, dates=True)
        pictures.append(Picture("evidence-time", figure, "When the evidence was reached."))
    asked: Mapping[str, Any] = {name: (shown(times), counts) for name, (times, counts) in lines(past).items()}
    if asked and all(len(times) == len(counts) for times, counts in asked.values()):
        figure = queries_over_time(asked, "Queries over time", axis)
        pictures.append(Picture("queries-time", figure, "Queries to each mediator so far, with answers that came unasked."))
    return pictures


def pictures(status: Status, spec: StudySpec, trail: Trail) -> list[Block]:
    """What there is to see so far."""
    target = [m["target"] or 0.0 for m in status.mediators]
    followed = any(m["target"] is not None for m in status.mediators)
    found: list[Block] = []
    if trail:
        figure = evidence_trail(trail, "Evidence for the leader")
        words = "The study stops when the line meets its threshold; after that it is history."
        found.append(Picture("evidence", figure, words))
    reports = [
        ArmReport(arm["arm"], arm["pulls"], arm["estimate"], _open(arm["low"], -1), _open(arm["high"], 1))
        for arm in status.arms
    ]
    if any(arm.estimate is not None for arm in reports):
        words = (
            f"Intervals hold for all arms at all times together with probability {1 - status.delta:g}; not the stopping rule."
        )
        found.append(Picture("estimates", estimates(reports, title="Estimated means"), words))
    if status.queries and followed:
        figure = mediator_shares(spec.mediators, [m["share"] for m in status.mediators], target, "Whom it asked")
        found.append(Picture("mediators", figure, "Shares of queries, and what the sampling rule follows now."))
    pulls = np.array([arm["pulls"] for arm in status.arms], float)
    policies = [row for row in spec.policies if row is not None and None not in row]
    if pulls.sum() and followed and len(policies) == len(spec.policies):
        left = [spec.arms.index(arm["arm"]) for arm in status.arms]
        planned = np.array(policies)[:, left].T @ np.array(target)
        figure = arm_shares([arm["arm"] for arm in status.arms], pulls / pulls.sum(), planned, "What they pulled")
        found.append(Picture("arms", figure, "Shares of pulls, and what the followed mediators would pull on average."))
    return found


def _open(end: float | None, side: int) -> float:
    return side * float("inf") if end is None else end
