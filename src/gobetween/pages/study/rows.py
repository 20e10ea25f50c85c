"""Arms and mediators of a study as rows with a picture each."""

from collections.abc import Callable, Mapping
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


def arm_rows(status: Status, palette: Mapping[str, int], text: Callable[[float], str]) -> tuple[list[Row], Markup]:
    """The best first, with their intervals on one axis."""
    ends = [end for arm in status.arms for end in (arm["low"], arm["high"], arm["estimate"]) if end is not None]
    seen = [arm["estimate"] for arm in status.arms if arm["estimate"] is not None]
    if not seen:
        return [
            Row(arm["arm"], "not tried yet", "–", "", Markup(), colour=palette[arm["arm"]]) for arm in status.arms
        ], Markup()
    marks = svg.ticks(min(ends), max(ends))
    least, most = marks[0], marks[-1]

    def scale(value: float) -> float:
        return (value - least) / (most - least)

    ranked = sorted(status.arms, key=lambda arm: (arm["estimate"] is None, -(arm["estimate"] or 0.0)))
    return [_arm(arm, status, palette[arm["arm"]], scale, text) for arm in ranked], svg.axis(marks, scale, text)


def _arm(arm: ArmStatus, status: Status, colour: int, scale: Callable[[float], float], text: Callable[[float], str]) -> Row:
    name, estimate, low, high = arm["arm"], arm["estimate"], arm["low"], arm["high"]
    out, lead = name not in status.in_play, name in status.answer and status.broken is None
    place = "leading" if lead else "ruled out" if out else "still possible"
    if status.question["name"] != "best-arm":
        place = "in the answer" if lead else ""
    tried = f"{arm['pulls']:,} {'try' if arm['pulls'] == 1 else 'tries'}"
    if estimate is None:
        return Row(
            name, "not tried yet", "–", "", svg.interval(0.0, None, 1.0, colour, True, f"{name}: not tried yet"), "", colour
        )
    range_ = f"{'…' if low is None else text(low)} to {'…' if high is None else text(high)}"
    picture = svg.interval(
        0.0 if low is None else scale(low), scale(estimate), 1.0 if high is None else scale(high), colour, out,
        f"{name}: {text(estimate)}, between {range_}",
    )  # fmt: skip
    kind = "lead" if lead else "out" if out and not lead else ""
    return Row(name, " · ".join(part for part in (tried, place) if part), text(estimate), range_, picture, kind, colour)


def mediator_rows(view: StudyMoment) -> list[Row]:
    """Those asked most first: share against plan, the last answer, what is overdue."""
    status = view.status
    last = {event["mediator"]: event["at"] for event in view.events if event["kind"] in ("told", "silent")}
    late = [query.mediator for query in overdue(view)]
    most = max([0.01, *(max(m["share"], m["target"] or 0.0) for m in status.mediators)])
    ranked = sorted(status.mediators, key=lambda m: -max(m["share"], 0.5 * (m["target"] or 0.0)))
    return [_mediator(m, most, last.get(m["mediator"]), late.count(m["mediator"]), status.at) for m in ranked]


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
    return Row(m["mediator"], " · ".join(notes), f"{m['share']:.0%}", plan or "", picture, "out" if m["away"] else "")
