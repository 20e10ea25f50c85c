"""The page of a study as values: chip, headline, tiles, rows and checks, all from one moment; `study.html` shows them."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from markupsafe import Markup

from gobetween.core.alarm.alarm import Alarm
from gobetween.files.rules import word
from gobetween.pages import svg
from gobetween.pages.study.rows import arm_rows, mediator_rows, overdue, rewards_of
from gobetween.pages.svg import Row
from gobetween.study.journal.transaction import why_nothing
from gobetween.study.status.status import Status
from gobetween.study.study import StudyMoment
from gobetween.words import remedies
from gobetween.words import study_page as words
from gobetween.words.events import event_words
from gobetween.words.numbers import ago, amount, duration, moment, percent, rough
from gobetween.words.study import reach_words

DAY, SHOWN, EVENTS = 86400.0, 7, 100  # events that are shown, and that are looked through for the last answer of each mediator


@dataclass(frozen=True)
class Tile:
    """One of the four."""

    key: str
    value: str
    note: str
    tone: str = ""
    picture: str = ""
    colour: int | None = None


@dataclass(frozen=True)
class Action:
    """A button that posts to a study, or a link."""

    words: str
    verb: str
    value: str = ""
    main: bool = False
    link: bool = False


@dataclass(frozen=True)
class CheckRow:
    """What was looked at; `told`: all that is to be said of it."""

    tone: str
    title: str
    note: str
    told: Sequence[str] = ()
    mark: str = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "mark", {"good": "✓", "warn": "!", "bad": "×"}.get(self.tone, "–"))


@dataclass(frozen=True)
class StudyPage:
    """All that a page shows."""

    title: str
    name: str
    chip: tuple[str, str]
    tone: str
    headline: str
    texts: Sequence[str]
    remedies: Sequence[remedies.Remedy]
    actions: Sequence[Action]
    progress: tuple[str, Markup] | None
    tiles: Sequence[Tile]
    arms: Sequence[Row]
    axis: Markup
    intervals: str
    mediators: Sequence[Row]
    checks: Sequence[CheckRow]
    evidence: tuple[str, Markup] | None
    activity: Sequence[tuple[str, str, int | None]]
    events: int
    pending: Sequence[tuple[str, str]]
    notes: Sequence[str]
    facts: Sequence[tuple[str, str]]
    state: str


def study_page(view: StudyMoment, utc: bool = False) -> StudyPage:
    """Read a study at one moment."""
    status, state = view.status, view.state
    title, texts = words.headline(status)
    palette = {name: i for i, name in enumerate(state.spec.arms)}
    rows, axis = arm_rows(status, palette, rewards_of(state.spec.design.family))
    tone = words.TONES[status.state]
    return StudyPage(
        title=status.title or f"Study {status.name}",
        name=status.name,
        chip=(status.state.capitalize(), tone),
        tone="warn" if tone != "bad" and any(alarm.raised for alarm in status.alarms) else tone or "none",
        headline=title,
        texts=texts,
        remedies=remedies.remedies(status),
        actions=_actions(view),
        progress=_progress(status),
        tiles=tiles(view, palette),
        arms=rows,
        axis=axis,
        intervals=words.INTERVALS.format(percent(1.0 - status.delta)),
        mediators=mediator_rows(view),
        checks=checks(view),
        evidence=evidence(view),
        activity=[
            (event_words(event), ago(max(0.0, status.at - event["at"])), palette.get(event.get("arm", "")))
            for event in view.events[::-1][:SHOWN]
        ],
        events=status.events,
        pending=[(f"query {row['query']}, {row['mediator']}", _lease(row, utc)) for row in status.pending[:50]],
        notes=[*([] if status.undelivered is None else [status.undelivered]), *status.assumptions],
        facts=facts(view, utc),
        state=status.state,
    )


def _lease(row: Mapping[str, Any], utc: bool) -> str:
    until = row["until"]
    ends = (
        "no lease"
        if until is None
        else f"overdue since {moment(until, utc)}"
        if row["expired"]
        else f"due {moment(until, utc)}"
    )
    return f"open for {duration(row['age'])}, {ends}"


def _progress(status: Status) -> tuple[str, Markup] | None:
    """Answers so far of those that are expected, with the range in which the study ends."""
    if not status.told or status.state in ("sure", "needs attention") or status.queries_to_go is None:
        return None
    told, go = float(status.told), max(1.0, status.queries_to_go)
    low, high = status.queries_range or (None, None)
    most = told + min(high if high is not None else math.inf, 2.0 * max(go, low or 0.0))  # a wide range goes on to the right
    spread = None if low is None else ((told + low) / most, 1.0 if high is None else (told + high) / most)
    text = words.progress(status)
    return text, svg.bar(told / most, text, spread=spread)


def tiles(view: StudyMoment, palette: Mapping[str, int]) -> list[Tile]:
    """Leader or answer, sure by, spent, waiting."""
    status = view.status
    late = [(q.mediator, max(0.0, status.at - (q.until or status.at))) for q in overdue(view)]
    value, note = words.waiting(status, late)
    cost, rest = words.spent(status)
    used = 0.0
    if status.max_cost:
        used = status.cost / status.max_cost
    if status.max_queries:
        used = max(used, status.queries / status.max_queries)
    picture = svg.bar(used, f"{percent(min(1.0, used))} of the budget", "warn" if used > 0.9 else "") if used else Markup()
    by, range_ = words.sure_by(status, _days(view))
    return [
        _leader(status, palette),
        Tile("Took" if status.state == "sure" else "Sure after", by, range_),
        Tile("Spent", cost, rest, picture=picture),
        Tile("Waiting for answers", value, note, "warn" if late else ""),
    ]


def _leader(status: Status, palette: Mapping[str, int]) -> Tile:
    if status.broken is not None:
        return Tile("Recommended", "none", "until this is explained", "bad")
    if status.leader is None:
        return Tile("Leading", "nothing yet", "no answer has been counted")
    key = "Recommended" if status.state == "sure" else "Was recommended" if status.state == "under review" else "Leading"
    name = ", ".join(status.answer) or status.leader
    tone, colour = "good" if status.state == "sure" else "", palette.get(name)
    note = f"wrong with probability {percent(status.delta)} at most" if status.state == "sure" else _ahead(status)
    return Tile(key, name, note, tone, colour=colour)


def _ahead(status: Status) -> str:
    ranked = sorted((arm for arm in status.arms if arm["estimate"] is not None), key=lambda arm: -(arm["estimate"] or 0.0))
    if len(ranked) < 2 or status.question["name"] != "best-arm":
        return f"after {status.counted:,} answers"
    gap = (ranked[0]["estimate"] or 0.0) - (ranked[1]["estimate"] or 0.0)
    by = f"{amount(float(f'{100.0 * gap:.2g}'))} points" if status.family == "bernoulli" else amount(gap)
    return f"level with {ranked[1]['arm']}" if gap == 0.0 else f"{by} ahead of {ranked[1]['arm']}"


def _days(view: StudyMoment) -> tuple[float, float | None] | None:
    """Seconds until the study is sure, if answers come as they have come so far."""
    status = view.status
    if view.created is None or status.told < 2 or status.queries_to_go is None:
        return None
    each = max(status.at - view.created, 1.0) / status.told
    low, high = status.queries_range or (status.queries_to_go, status.queries_to_go)
    return (low or 0.0) * each, None if high is None else high * each


def checks(view: StudyMoment) -> list[CheckRow]:
    """What was looked at, the worst first within each."""
    status, found = view.status, list[CheckRow]()
    for name, (kinds, *_) in words.CHECKS.items():
        alarms = [alarm for alarm in status.alarms if alarm.kind in kinds]
        if alarms or name in words.LIMITS:
            told = [alarm.words for alarm in _first(alarms)]
            found.append(CheckRow(*words.check(name, alarms), told))
    found.append(CheckRow(*words.missing(status)))
    if reach := reach_words(view.state):
        found.append(CheckRow("warn", "Some arms cannot be reached now", "", reach))
    return found


def _first(alarms: Sequence[Alarm], most: int = 5) -> list[Alarm]:
    raised = [alarm for alarm in alarms if alarm.raised]
    return (raised or [alarm for alarm in alarms if alarm.detectable is not None])[:most]


def evidence(view: StudyMoment) -> tuple[str, Markup] | None:
    """Evidence as a share of what is needed; the line ends where the study stopped."""
    status, stopped = view.status, view.status.verdict
    end = (status.counted, status.statistic, status.threshold)
    if stopped is not None and stopped["verdict"] == "identified":
        end = (stopped["counted"], stopped["statistic"], stopped["threshold"])
    trail = [*(point for point in view.state.trail if point[0] < end[0]), end]
    if len(trail) < 3 or not end[0] or not max(z for _, z, _ in trail) > 0.0 or not all(limit > 0.0 for _, _, limit in trail):
        return None
    shares = [max(0.0, z / limit) for _, z, limit in trail]
    top, last = 1.18 * max(1.0, *shares), trail[-1][0]
    points = [(0.0, 0.0), *((n / last, share / top) for (n, _, _), share in zip(trail, shares, strict=True))]
    marks = [(n / last, f"{rough(n):,}") for n in svg.ticks(0, last, 4) if n <= 0.93 * last] + [(1.0, f"{last:,} answers")]
    text = f"After {last:,} answers there is {percent(min(1.0, shares[-1]))} of the evidence that is needed."
    goal = (1.0 / top, f"sure ({percent(1.0 - status.delta)})")
    return text, svg.chart([(points, "accent")], marks, [(0.0, ""), (0.5 / top, "50%")], text, goal, points[-1])


def facts(view: StudyMoment, utc: bool) -> list[tuple[str, str]]:
    """By which rules the study goes."""
    status, spec = view.status, view.state.spec
    stop = "no" if status.leader is None else f"{amount(status.p_value)} against “{status.against}”"
    return [
        ("Risk of a wrong answer", f"{percent(status.delta)} at most, however often you look"),
        ("Rewards", status.family),
        ("p-value", stop),
        ("Evidence", f"{status.statistic:.2f} of {status.threshold:.2f} nats"),
        ("Rules", f"{word(spec.design.sampling)}, {word(spec.design.stopping)}"),
        ("Lease", "none" if spec.lease is None else duration(spec.lease)),
        ("This page", moment(status.at, utc)),
    ]


def _actions(view: StudyMoment) -> list[Action]:
    """What can be done now, and nothing else."""
    state, found = view.state, list[Action]()
    if state.stopped is None and why_nothing(state) is None and (state.spec.in_flight or 10**9) > state.flying():
        found.append(Action("Ask the next query", "ask", main=True))
    if state.paused and state.stopped is None:
        found.append(Action("Resume", "resume", main=True))
    elif state.stopped is None:
        found.append(Action("Pause", "pause"))
    if state.stopped is not None and state.affordable:
        again = "Reopen" if view.status.state == "sure" else "Go on"
        found.append(Action(again, "resume", main=state.doubted))
    return [*found, Action("Links", "links", link=True), Action("Report", "report", link=True)]
