"""How a study stands, in numbers and in words; docs/live.md has the shape of its `to_dict`."""

import math
from dataclasses import asdict, dataclass
from typing import Any, TypedDict, cast

from gobetween.export import html_table, json_safe
from gobetween.study.events import Counts, Verdict
from gobetween.study.progress import Progress
from gobetween.study.state import StudyState
from gobetween.study.transaction import verdict_words


class ArmStatus(TypedDict):
    """An arm with the ends of its confidence sequence; None where there is no end."""

    arm: str
    pulls: int
    estimate: float | None
    low: float | None
    high: float | None


class MediatorStatus(Counts):
    """A mediator: what is counted for it, its share of the queries and what the sampling rule follows now."""

    mediator: str
    contact: str
    away: bool
    share: float
    target: float


class PendingStatus(TypedDict):
    """An open query, and for how many seconds it has been open."""

    query: int
    mediator: str
    worker: str | None
    age: float
    until: float | None
    expired: bool
    reissue_of: int | None


class FromLog(TypedDict):
    """What a study began from."""

    files: list[str]
    rows: int


@dataclass(frozen=True, repr=False)
class Status:
    """A study at one moment."""

    name: str
    title: str
    state: str
    """running, paused or stopped."""
    sentence: str
    """The answer so far."""
    how_far: str
    """How far from stopping, and what that means."""
    verdict: Verdict | None
    leader: str | None
    statistic: float
    threshold: float
    p_value: float
    delta: float
    counted: int
    told: int
    waiting_for: int | None
    """The query that the verdict waits for, while later answers are there already."""
    queries_to_go: float | None
    cost_to_go: float | None
    queries: int
    cost: float
    max_queries: int | None
    max_cost: float | None
    arms: list[ArmStatus]
    mediators: list[MediatorStatus]
    pending: list[PendingStatus]
    assumptions: list[str]
    """What must hold for the guarantee, where this study gives reason to say so."""
    from_log: FromLog | None
    """Files and rows that the study began from."""
    events: int
    at: float

    def to_dict(self) -> dict[str, Any]:
        """JSON-safe."""
        return {"format": 1, **asdict(self)}

    def __repr__(self) -> str:
        return f"<Status of {self.name!r} ({self.state}): {self.sentence}>"

    def _repr_html_(self) -> str:
        rows = [(a["arm"], a["pulls"], *(_digits(x) for x in (a["estimate"], a["low"], a["high"]))) for a in self.arms]
        header = ("arm", "pulls", "estimate", "low", "high")
        return html_table(f"{self.title or self.name} ({self.state}): {self.sentence}", header, rows)


def status_of(name: str, state: StudyState, now: float, seq: int) -> Status:
    """Read a state."""
    spec, progress = state.spec, state.learner.progress
    queries, cost = state.spent
    to_go: float | None = json_safe(progress.queries_to_go)
    per_query = sum(progress.target.get(m, 0.0) * c for m, c in zip(spec.mediators, spec.costs, strict=True))
    return Status(
        name=name,
        title=spec.title,
        state="stopped" if state.stopped is not None else "paused" if state.paused else "running",
        sentence=_sentence(state, progress),
        how_far=_how_far(state, progress),
        verdict=None if state.stopped is None else cast(Verdict, dict(state.stopped)),
        leader=progress.leader,
        statistic=progress.statistic,
        threshold=progress.threshold,
        p_value=progress.p_value,
        delta=spec.delta,
        counted=progress.counted,
        told=progress.told,
        waiting_for=None if progress.waiting_for is None else progress.waiting_for.id,
        queries_to_go=to_go,
        cost_to_go=None if to_go is None else to_go * per_query,
        queries=queries,
        cost=cost,
        max_queries=spec.max_queries,
        max_cost=spec.max_cost,
        arms=[cast(ArmStatus, json_safe(asdict(arm))) for arm in progress.arms],
        mediators=[_mediator(state, progress, e) for e in range(len(spec.mediators))],
        pending=_pending(state, now),
        assumptions=_assumptions(state, progress),
        from_log=None if state.absorbed is None else FromLog(files=state.absorbed["files"], rows=state.absorbed["rows"]),
        events=seq,
        at=now,
    )


def _mediator(state: StudyState, progress: Progress, e: int) -> MediatorStatus:
    name = state.spec.mediators[e]
    row = {
        "mediator": name,
        "contact": state.spec.contacts[e],
        "away": name in state.away,
        **state.counts[name],
        "share": progress.shares[name],
        "target": progress.target.get(name, 0.0),
    }
    return cast(MediatorStatus, row)


def _pending(state: StudyState, now: float) -> list[PendingStatus]:
    return [
        PendingStatus(
            query=number,
            mediator=query.mediator,
            worker=query.worker,
            age=max(0.0, now - query.asked),
            until=query.until,
            expired=query.expired,
            reissue_of=query.reissue_of,
        )
        for number, query in state.open.items()
    ]


def _sentence(state: StudyState, progress: Progress) -> str:
    if state.stopped is not None and state.stopped["verdict"] == "identified":
        return f"The best arm is {state.stopped['arm']!r}; this is wrong with probability at most {state.spec.delta:g}."
    if state.stopped is None and state.identified:
        return f"The best arm was found to be {state.learner.recommendation!r}; the study was reopened and goes on."
    if state.stopped is not None:
        return f"{verdict_words(state.stopped)[:1].upper()}{verdict_words(state.stopped)[1:]}."
    if progress.leader is None:
        return "Nothing is known yet: no answer has been counted."
    return f"{progress.leader!r} leads after {progress.counted} counted answers; the study is not sure yet."


def _how_far(state: StudyState, progress: Progress) -> str:
    if state.stopped is not None:
        return "The study has stopped; further answers are kept, but do not change the verdict."
    odds = f"{math.exp(min(progress.threshold, 50.0)):,.0f} to 1"
    now = f"{math.exp(min(progress.statistic, 50.0)):,.1f} to 1"
    words = (
        f"It stops when the evidence against every rival reaches {progress.threshold:.2f} nats ({odds}); "
        f"now it is {progress.statistic:.2f} ({now})."
    )
    if math.isfinite(progress.queries_to_go):
        words += f" At the present estimates about {math.ceil(progress.queries_to_go):,} more queries are to be expected."
    elif progress.leader is not None:
        words += " How many queries that takes cannot be said yet: some arm has not been seen, or the best are tied."
    return words


def _assumptions(state: StudyState, progress: Progress) -> list[str]:
    """What the reader must be told."""
    log = state.absorbed
    total = {key: sum(counts[key] for counts in state.counts.values()) for key in next(iter(state.counts.values()))}
    found = []
    if log is not None:
        found.append(
            f"{log['rows']:,} of the counted answers came from a log ({', '.join(log['files'])}): the guarantee holds for log "
            "and study together if the log is complete, its rows were not chosen by reward, and its arms are the same as now."
        )
    if progress.waiting_for is not None:
        query = state.open[progress.waiting_for.id]
        found.append(
            f"The verdict waits for query {progress.waiting_for.id} ({query.mediator}); later answers are there already. "
            "Cancel it only for reasons that have nothing to do with rewards, its own or later ones."
        )
    missing = [f"{total[key]} {key}" for key in ("cancelled", "expired", "silent", "unasked", "late") if total[key]]
    if missing:
        found.append(
            f"Of the queries, {', '.join(missing)}: the guarantee assumes that this did not depend on rewards (the mediators' "
            "shares are shown)."
        )
    if state.shaken:
        found.append("An answer was corrected after the verdict, which stays as recorded until the study is resumed.")
    if total["corrected"]:
        found.append(
            f"Corrected answers: {total['corrected']}. The guarantee assumes that corrections are not chosen by their reward."
        )
    return found


def _digits(x: float | None) -> str:
    return "" if x is None else f"{x:.4g}"
