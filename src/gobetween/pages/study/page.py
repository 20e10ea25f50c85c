"""The page of a study as values: chip, headline, tiles, rows and checks, all from one moment; `study.html` shows them."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from markupsafe import Markup

from gobetween.core.alarm.alarm import Alarm
from gobetween.export import numbered
from gobetween.files.rules import word
from gobetween.pages import svg
from gobetween.pages.blocks import Tile
from gobetween.pages.study.rows import arm_rows, mediator_rows, overdue, rewards_of
from gobetween.pages.svg import Row
from gobetween.study.journal.events import Event
from gobetween.study.journal.transaction import why_nothing
from gobetween.study.spec.spec import StudySpec
from gobetween.study.status.status import Status
from gobetween.study.study import StudyMoment
from gobetween.words import remedies
from gobetween.words import study_page as words
from gobetween.words.alarms import CHECKS, Remedy, kind_of
from gobetween.words.events import event_words, result_words
from gobetween.words.numbers import ago, amount, certainty, chance, duration, moment, percent
from gobetween.words.study import reach_words

DAY, SHOWN, EVENTS = 86400.0, 7, 100  # events that are shown, and that are looked through for the last answer of each mediator


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
class EventRow:
    """Something that has happened: its number, by whom, what, how long ago and exactly when, and the colour of its arm."""

    number: int
    actor: str
    words: str
    ago: str
    at: str
    colour: int | None


@dataclass(frozen=True)
class StudyPage:
    """All that a page shows."""

    title: str
    name: str
    chips: Sequence[tuple[str, str]]
    tone: str
    headline: str
    texts: Sequence[str]
    remedies: Sequence[Remedy]
    actions: Sequence[Action]
    progress: tuple[str, Markup] | None
    tiles: Sequence[Tile]
    arms: Sequence[Row]
    axis: Markup
    intervals: str
    mediators: Sequence[Row]
    checks: Sequence[CheckRow]
    evidence: tuple[str, Markup] | None
    activity: Sequence[EventRow]
    events: int
    pending: Sequence[tuple[str, str]]
    notes: Sequence[str]
    facts: Sequence[tuple[str, str]]
    state: str


def study_page(view: StudyMoment, utc: bool = False) -> StudyPage:
    """Read a study at one moment."""
    status, state = view.status, view.state
    palette = {name: i for i, name in enumerate(state.spec.arms)}
    text, told = rewards_of(state.spec.design.family), state.learner.state.seen.N_ea.sum(axis=0).tolist()
    title, texts = words.headline(status, text)
    rows, axis = arm_rows(status, palette, text, dict(zip(state.learner.arms, told, strict=False)))
    tone, found = words.TONES[status.state], remedies.remedies(status, state.paused)
    mild = any(alarm.raised for alarm in status.alarms) or (words.short_of(status) or ("", "", False))[2]
    return StudyPage(
        title=status.title or f"Study {status.name}",
        name=status.name,
        chips=words.chips(status.state, status.events, status.alarms),
        tone="warn" if tone != "bad" and mild else tone or "none",
        headline=title,
        texts=texts,
        remedies=found,
        actions=[one for one in _actions(view) if one.verb not in {remedy.verb for remedy in found}],
        progress=_progress(status),
        tiles=tiles(view, palette),
        arms=rows,
        axis=axis,
        intervals=words.INTERVALS.format(certainty(status.delta)),
        mediators=mediator_rows(view),
        checks=checks(view),
        evidence=evidence(view),
        activity=event_rows(view.events[::-1][:SHOWN], state.spec, status.at, utc),
        events=status.events,
        pending=[(f"query {row['query']}, {row['mediator']}", _lease(row, utc)) for row in status.pending[:50]],
        notes=[*([] if status.undelivered is None else [status.undelivered]), *status.assumptions],
        facts=facts(view, utc),
        state=status.state,
    )


def event_rows(events: Sequence[Event], spec: StudySpec, now: float, utc: bool = False) -> list[EventRow]:
    """What has happened, in the order given."""
    palette, result = {name: i for i, name in enumerate(spec.arms)}, result_words(spec.design.family.choices)
    return [
        EventRow(
            event["seq"], event["actor"], event_words(event, result), ago(max(0.0, now - event["at"])),
            moment(event["at"], utc), palette.get(event.get("arm") or ""),
        )
        for event in events
    ]  # fmt: skip


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
    """Answers so far of those that are expected, with the range in which the study ends; a range without an end fades away."""
    if not status.told or status.state in ("sure", "needs attention") or status.queries_to_go is None:
        return None
    told, go = float(status.told), max(1.0, status.queries_to_go)
    low, high = status.queries_range or (None, None)
    most = told + (go if low is None else min(math.inf if high is None else high, 2.0 * max(go, low)))
    cut = low is not None and (high is None or told + high > most)
    spread = None if low is None else ((told + low) / most, 1.0 if high is None or cut else (told + high) / most)
    text = words.progress(status)
    return text, svg.bar(told / most, text, spread=spread, mark=(told + go) / most, cut=cut)


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
    short = words.short_of(status) is not None
    picture = svg.bar(used, f"{percent(min(1.0, used))} of the budget", "warn" if short or used > 0.9 else "")
    by, range_ = words.sure_by(status, _days(view))
    return [
        _leader(status, palette, rewards_of(view.state.spec.design.family) is percent),
        Tile("Took" if status.state == "sure" else "Sure after", by, range_),
        Tile("Spent", cost, f"{rest}, more than the budget" if short else rest, picture=picture if used else Markup()),
        Tile("Waiting for answers", value, note, "warn" if late else ""),
    ]


def _leader(status: Status, palette: Mapping[str, int], points: bool) -> Tile:
    if status.broken is not None:
        return Tile("Recommended", "none", "until this is explained", "bad")
    if status.leader is None:
        return Tile("Leading", "nothing yet", "no answer has been counted")
    if status.state == "sure":
        name = ", ".join(status.answer)
        return Tile(
            "Recommended", name, f"at most {chance(status.delta)} risk of being wrong", "good", colour=palette.get(name)
        )
    doubted, best = status.state == "under review", status.names_leader
    name = status.leader if doubted and best else ", ".join(status.answer) or status.leader
    evidence = percent(min(1.0, max(0.0, status.statistic / status.threshold))) if status.threshold > 0.0 else "0%"
    notes = [_ahead(status, name, points), f"{evidence} of the evidence needed"]
    return Tile("Leading now" if doubted else "Leading", name, " · ".join(notes), colour=palette.get(name))


def _ahead(status: Status, name: str, points: bool) -> str:
    """How far it is ahead of the best of the others, in percentage points where rewards are chances."""
    means = {arm["arm"]: arm["estimate"] for arm in status.arms if arm["estimate"] is not None}
    own = means.pop(name, None)
    if own is None or not means or not status.names_leader:
        return f"after {numbered(status.counted, 'answer')}"
    rival = max(means, key=lambda arm: means[arm])
    gap = own - means[rival]
    by = f"{amount(float(f'{100.0 * abs(gap):.2g}'))} points" if points else amount(abs(gap))
    return f"level with {rival}" if gap == 0.0 else f"{by} {'ahead of' if gap > 0.0 else 'behind'} {rival}"


def _days(view: StudyMoment) -> tuple[float, float | None] | None:
    """Seconds until the study is sure, if answers come as they have come so far."""
    status = view.status
    if view.created is None or status.told < 2 or status.queries_to_go is None:
        return None
    each = max(status.at - view.created, 1.0) / status.told
    low, high = status.queries_range or (status.queries_to_go, status.queries_to_go)
    return (low or 0.0) * each, None if high is None else high * each


def checks(view: StudyMoment) -> list[CheckRow]:
    """What was looked at, with the worst first of each."""
    status, found = view.status, list[CheckRow]()
    for name, check in CHECKS.items():
        alarms = [alarm for alarm in status.alarms if kind_of(alarm).check == name]
        if alarms or check.limit:
            told = [alarm.words for alarm in _first(alarms)]
            found.append(CheckRow(*words.check(check, alarms), told))
    found.append(CheckRow(*words.missing(status)))
    if reach := reach_words(view.state):
        found.append(CheckRow("warn", "Some arms cannot be reached now", "", reach))
    return found


def _first(alarms: Sequence[Alarm], most: int = 5) -> list[Alarm]:
    raised = [alarm for alarm in alarms if alarm.raised]
    return (raised or [alarm for alarm in alarms if alarm.detectable is not None])[:most]


def evidence(view: StudyMoment) -> tuple[str, Markup] | None:
    """Evidence as a share of what is needed; the line ends where the study became sure."""
    status, stopped = view.status, view.status.verdict
    end = (status.counted, status.statistic, status.threshold)
    if stopped is not None and status.state == "sure":
        end = (stopped["counted"], stopped["statistic"], stopped["threshold"])
    trail = [*(point for point in view.state.trail if point[0] < end[0]), end]
    if len(trail) < 2 or not all(limit > 0.0 for _, _, limit in trail):
        return None
    shares = [max(0.0, z / limit) for _, z, limit in trail]
    top, last = 1.18 * max(1.0, *shares), trail[-1][0]
    points = [(0.0, 0.0), *((n / last, share / top) for (n, _, _), share in zip(trail, shares, strict=True))]
    marks = [(n / last, f"{n:,.0f}") for n in svg.ticks(0, last, 4) if n <= 0.8 * last and n == int(n)]
    marks.append((1.0, numbered(last, "answer")))
    have = percent(min(1.0, shares[-1]))
    text = f"{have} of the evidence needed after {numbered(last, 'answer')}"
    if shares[-1] >= 1.0:
        text = f"Enough evidence after {numbered(last, 'answer')}"
    goal = (1.0 / top, f"sure ({certainty(status.delta)})")
    return text, svg.chart([(points, "accent")], marks, [(0.0, ""), (0.5 / top, "50%")], text, goal, points[-1])


def facts(view: StudyMoment, utc: bool) -> list[tuple[str, str]]:
    """By which rules the study goes."""
    status, spec = view.status, view.state.spec
    stop = "no" if status.leader is None else f"{amount(status.p_value)} against “{status.against}”"
    return [
        ("Risk of a wrong answer", f"at most {chance(status.delta)}, however often you look"),
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
