"""Arms and mediators of a study as rows with a picture each."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from markupsafe import Markup

from gobetween.pages import svg
from gobetween.pages.svg import Row
from gobetween.study.status.status import ArmStatus, MediatorStatus, Status
from gobetween.study.study import StudyMoment
from gobetween.words.numbers import ago, amount, percent


def rewards_of(family: Any) -> Callable[[float], str]:
    """How a mean reward is written: a chance as percent."""
    return percent if tuple(family.choices) == (0.0, 1.0) else amount


def overdue(view: StudyMoment) -> list[Any]:
    """Queries whose lease has ended without an answer, the oldest first."""
    return [{**view.state.open, **view.state.lost}[number] for number in view.state.late()]


def arm_rows(
    status: Status, palette: Mapping[str, int], text: Callable[[float], str], told: Mapping[str, int]
) -> tuple[list[Row], Markup]:
    """The best first, with their intervals on one axis; `told`: the answers about each, counted or not."""
    ends = [end for arm in status.arms for end in (arm["low"], arm["high"], arm["estimate"]) if end is not None]
    seen = [arm["estimate"] for arm in status.arms if arm["estimate"] is not None]
    if not seen:
        return [
            Row(arm["arm"], _tries(arm, told), "–", "", Markup(), colour=palette[arm["arm"]]) for arm in status.arms
        ], Markup()
    marks = svg.ticks(min(ends), max(ends))
    least, most = marks[0], marks[-1]

    def scale(value: float) -> float:
        return (value - least) / (most - least)

    ranked = sorted(status.arms, key=lambda arm: (arm["estimate"] is None, -(arm["estimate"] or 0.0)))
    rows = [_arm(arm, status, palette[arm["arm"]], scale, text, _tries(arm, told)) for arm in ranked]
    return rows, svg.axis(marks, scale, text)


def _tries(arm: ArmStatus, told: Mapping[str, int]) -> str:
    """How often it was tried; where answers wait for others before them, how many are counted."""
    counted, known = arm["pulls"], told.get(arm["arm"], 0)
    if known > counted + max(5, counted // 10):
        return f"{counted:,} of {known:,} tries counted"
    return f"{counted:,} {'try' if counted == 1 else 'tries'}" if counted else "not tried yet"


def _arm(
    arm: ArmStatus, status: Status, colour: int, scale: Callable[[float], float], text: Callable[[float], str], tried: str
) -> Row:
    name, estimate, low, high = arm["arm"], arm["estimate"], arm["low"], arm["high"]
    out, lead, place = _place(name, status)
    if estimate is None:
        return Row(name, tried, "–", "", svg.interval(0.0, None, 1.0, colour, True, f"{name}: {tried}"), "", colour)
    range_ = f"{'…' if low is None else text(low)} to {'…' if high is None else text(high)}"
    picture = svg.interval(
        0.0 if low is None else scale(low), scale(estimate), 1.0 if high is None else scale(high), colour, out,
        f"{name}: {text(estimate)}, between {range_}",
    )  # fmt: skip
    kind = "lead" if lead else "out" if out else ""
    return Row(name, " · ".join(part for part in (tried, place) if part), text(estimate), range_, picture, kind, colour)


def _place(name: str, status: Status) -> tuple[bool, bool, str]:
    """Is it ruled out, does it stand first, and what is said of that?"""
    best, doubted = status.names_leader, status.state == "under review"
    lead = (name == status.leader if best and doubted else name in status.answer) and status.broken is None
    out = name not in status.in_play and not lead
    if not best:
        return out, lead, "in the answer" if lead else ""
    first = "recommended" if status.state == "sure" else "leading"
    place = first if lead else "ruled out" if out else "still possible"
    return out, lead, f"{place} · was recommended" if doubted and name in status.answer else place


def mediator_rows(view: StudyMoment) -> list[Row]:
    """Those asked most first: share against plan, the last answer, what is overdue."""
    status = view.status
    last = view.state.last
    if last is None:
        last = {event["mediator"]: event["at"] for event in view.events if event["kind"] in ("told", "silent")}
    place = {name: i for i, name in enumerate(view.state.spec.mediators)}
    late = [query.mediator for query in overdue(view)]
    most = max([0.01, *(max(m["share"], m["target"] or 0.0) for m in status.mediators)])
    ranked = sorted(status.mediators, key=lambda m: -max(m["share"], 0.5 * (m["target"] or 0.0)))
    rows = [_mediator(m, most, last.get(m["mediator"]), late.count(m["mediator"]), status.at) for m in ranked]
    return [replace(row, link=f"links#m{place[row.name]}") for row in rows]


def _mediator(m: MediatorStatus, most: float, last: float | None, late: int, now: float) -> Row:
    notes = ["retired" if m["retired"] else "away"] if m["away"] else []
    notes += [f"{late:,} overdue"] if late else []
    answers = m["told"] + m["silent"]
    notes.append(
        "not asked so far" if not m["asked"] and not answers else f"{answers:,} {'answer' if answers == 1 else 'answers'}"
    )
    notes += [f"last {ago(max(0.0, now - last))}"] if last is not None else []
    plan = None if m["target"] is None else f"plan {m['target']:.0%}"
    words_ = f"{m['mediator']}: {m['share']:.0%} of queries" + ("" if plan is None else f", {plan}")
    picture = svg.share(m["share"], m["target"], most, words_)
    kind = "out" if m["away"] else "late" if late else ""
    return Row(m["mediator"], " · ".join(notes), f"{m['share']:.0%}", plan or "", picture, kind)
