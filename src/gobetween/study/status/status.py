"""How a study stands, in numbers and in words; docs/live.md has the shape of its `to_dict`."""

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from typing import Any, TypedDict, cast

from gobetween.core.alarm.alarm import Alarm, broken
from gobetween.core.verdict.evidence_report import ERRORS, FAR, NearTie
from gobetween.export import html_table, json_safe
from gobetween.files.rules import parse_question
from gobetween.study.journal.events import Counts
from gobetween.study.journal.receipts import Verdict
from gobetween.study.journal.state import Phase, StudyState
from gobetween.study.learner.progress import Progress
from gobetween.study.learner.resolution import Resolution, resolution_of
from gobetween.study.status.missing_answers import Missing, missing_of


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
    retired: bool
    share: float
    target: float | None  # none where the rule does not say


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
    state: Phase
    """running, paused, sure, under review, budget used, needs attention or archived; docs/live.md says when."""
    sentence: str
    """The answer so far."""
    how_far: str
    """How far from stopping, and what that means."""
    verdict: Verdict | None
    leader: str | None
    question: dict[str, Any]
    """What is asked about the arms, by name with its parameters."""
    answer: list[str]
    """The arms that answer it, or would now."""
    against: str
    """What the p-value speaks against."""
    statistic: float
    threshold: float
    p_value: float
    delta: float
    family: str
    """With its parameters, for people; `parameters` has them by name."""
    parameters: dict[str, Any]
    alarms: list[Alarm]
    """What was checked about the world, raised or not, the worst first."""
    counted: int
    told: int
    waiting_for: int | None
    """The query that the verdict waits for, while later answers are there already."""
    queries_to_go: float | None
    """As `queries_range`, or roughly where that is not known; None where neither is known."""
    queries_range: list[float | None] | None
    """80% range, see `Learner.forecast`; the higher end may be open (None)."""
    cost_to_go: float | None
    in_play: list[str]
    """The arms that can still be best, at risk δ."""
    resolution: Resolution | None
    """Which difference the answers so far can tell, and twice as many; two arms that will not be told apart."""
    queries: int
    cost: float
    max_queries: int | None
    max_cost: float | None
    arms: list[ArmStatus]
    """Those that the question is about."""
    retired_arms: list[str]
    mediators: list[MediatorStatus]
    pending: list[PendingStatus]
    assumptions: list[str]
    """What must hold for the guarantee, where this study gives reason to say so."""
    missing: Missing | None
    """Answers that expired or were cancelled, and the evidence with them at their worst."""
    from_log: FromLog | None
    """Files and rows that the study began from."""
    events: int
    at: float
    undelivered: str | None = None
    """What is wrong with messages that the study file wants to be sent."""

    def to_dict(self) -> dict[str, Any]:
        """JSON-safe."""
        from gobetween.words.alarms import alarms_to_dict

        return {"format": 1, **asdict(self), "alarms": json_safe(alarms_to_dict(self.alarms))}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> "Status":
        """What `to_dict` described; keys of later versions are left out."""
        held = {field.name: data[field.name] for field in fields(cls)}
        infinite = {name: math.inf if held[name] is None else held[name] for name in ("statistic", "threshold")}
        alarms = [Alarm.from_dict(one) for one in held["alarms"]]
        ahead = held["resolution"]
        if ahead is not None:
            ahead = Resolution(**ahead | {"near": None if ahead["near"] is None else NearTie(**ahead["near"])})
        return cls(**held | infinite | {"alarms": alarms, "resolution": ahead})

    @property
    def broken(self) -> Alarm | None:
        """The first alarm that breaks the guarantee: then there is no recommendation."""
        return broken(tuple(self.alarms))

    @property
    def names_leader(self) -> bool:
        """Is the answer always the leader alone? Otherwise it is a set of arms."""
        return parse_question(self.question, "question").names_leader

    @property
    def unsafe(self) -> bool:
        """Is a verdict under review, or does an alarm break the guarantee? Commands end with exit status 3 then."""
        return self.state in ("under review", "needs attention")

    def __repr__(self) -> str:
        return f"<Status of {self.name!r} ({self.state}): {self.sentence}>"

    def _repr_html_(self) -> str:
        rows = [(a["arm"], a["pulls"], *(_digits(x) for x in (a["estimate"], a["low"], a["high"]))) for a in self.arms]
        header = ("arm", "pulls", "estimate", "low", "high")
        return html_table(f"{self.title or self.name} ({self.state}): {self.sentence}", header, rows)


def ahead_of(state: StudyState, to_go: float | None) -> tuple[int | None, float]:
    """How many more answers may come before one has to think again, and by how many standard errors estimates may be off.

    What the budget leaves, at the least cost; a study without one is looked at when it needs FAR times what it has.
    """
    spec, (queries, cost), counted = state.spec, state.spent, state.learner.counted
    if state.stopped is not None:
        return counted, ERRORS
    limits = [] if spec.max_queries is None else [float(spec.max_queries - queries)]
    if spec.max_cost is not None:
        limits.append((spec.max_cost - cost) / float(min(spec.cast.costs)))
    if limits:
        return max(0, math.floor(min(limits))) + len(state.open), ERRORS
    return (FAR * counted, 0.0) if to_go is not None and to_go > FAR * counted else (None, 0.0)


def status_of(name: str, state: StudyState, now: float, seq: int, undelivered: str | None = None) -> Status:
    """Read a state."""
    from gobetween.words import study as words
    from gobetween.words.verdict import against, family_words

    spec, progress = state.spec, state.learner.progress
    queries, cost = state.spent
    ahead = state.learner.forecast() if progress.queries_to_go > 0.0 else None
    to_go: float | None = json_safe(progress.queries_to_go if ahead is None else ahead.median)
    shares = progress.target or progress.shares
    per_query = sum(shares.get(m, 0.0) * c for m, c in zip(spec.mediators, spec.cast.costs.tolist(), strict=True))
    cost_to_go = None if to_go is None else to_go * per_query
    resolution, missing = resolution_of(state.learner.state, *ahead_of(state, to_go)), missing_of(state)
    return Status(
        name=name,
        title=spec.title,
        state=state.phase(progress.account.broken is not None),
        sentence=words.sentence(state, progress),
        how_far=words.how_far(state, progress, ahead, resolution, cost_to_go),
        verdict=None if state.stopped is None else cast(Verdict, dict(state.stopped)),
        leader=progress.leader,
        question=spec.design.question.to_dict(),
        answer=list(state.learner.answer),
        against=against(spec.design.question, state.learner.answer[0] if state.sure else progress.leader),
        statistic=progress.statistic,
        threshold=progress.threshold,
        p_value=progress.p_value,
        delta=spec.design.delta,
        family=family_words(spec.design.family),
        parameters=spec.design.family.to_dict(),
        alarms=list(progress.alarms),
        counted=progress.counted,
        told=progress.told,
        waiting_for=None if progress.waiting_for is None else progress.waiting_for.id,
        queries_to_go=to_go,
        queries_range=None if ahead is None else json_safe([ahead.low, ahead.high]),
        cost_to_go=cost_to_go,
        in_play=list(progress.in_play),
        resolution=resolution,
        queries=queries,
        cost=cost,
        max_queries=spec.max_queries,
        max_cost=spec.max_cost,
        arms=[cast(ArmStatus, json_safe(asdict(arm))) for arm in progress.arms],
        retired_arms=list(state.retired_arms),
        mediators=[_mediator(state, progress, e) for e in range(len(spec.mediators))],
        pending=_pending(state, now),
        assumptions=words.assumptions(state, progress, missing),
        missing=missing,
        from_log=None if state.absorbed is None else FromLog(files=state.absorbed["files"], rows=state.absorbed["rows"]),
        events=seq,
        at=now,
        undelivered=undelivered,
    )


def _mediator(state: StudyState, progress: Progress, e: int) -> MediatorStatus:
    name = state.spec.mediators[e]
    row = {
        "mediator": name,
        "contact": state.spec.contacts[e],
        "away": name in state.away,
        "retired": name in state.retired,
        **state.counts[name],
        "share": progress.shares[name],
        "target": progress.target.get(name, 0.0) if progress.target else None,
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


def _digits(x: float | None) -> str:
    return "" if x is None else f"{x:.4g}"
