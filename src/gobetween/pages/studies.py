"""The list of studies: for each its condition, the answer so far, what it has used, what is overdue; sorted and searched."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from markupsafe import Markup

from gobetween.core.alarm.alarm import alarms_of, broken
from gobetween.pages import svg
from gobetween.study.learner.learner import Learner
from gobetween.study.study import Study
from gobetween.words.numbers import ago, exact, percent
from gobetween.words.study_page import chips


@dataclass(frozen=True)
class StudyRow:
    """A study in the list."""

    name: str
    title: str
    state: str
    chips: Sequence[tuple[str, str]]
    answer: str
    answers: int
    used: float | None  # share of the budget
    spent: str
    picture: Markup
    overdue: int
    last: float | None
    ago: str
    slug: str = ""
    archived: bool = False


STATES = ("archived", "running", "paused", "sure", "budget used", "under review", "needs attention", "unreadable")
ORDERS: dict[str, tuple[str, Callable[[StudyRow], Any]]] = {
    "title": ("Study", lambda row: row.title.casefold()),
    "state": ("State", lambda row: -STATES.index(row.state)),
    "answers": ("Answers", lambda row: -row.answers),
    "spent": ("Spent", lambda row: -(row.used or 0.0)),
    "overdue": ("Overdue", lambda row: -row.overdue),
    "activity": ("Last activity", lambda row: -(row.last or 0.0)),
}


def study_list(rows: Sequence[StudyRow], search: str, by: str) -> list[StudyRow]:
    """Those whose name or title holds all words of a search."""
    wanted = search.casefold().split()
    found = (row for row in rows if all(word in f"{row.name} {row.title}".casefold() for word in wanted))
    return sorted(found, key=lambda row: (ORDERS[by][1](row), row.name))


def study_row(study: Study) -> StudyRow:
    """What a list says of a study; no forecast, which takes long."""
    state, now, seq = study.look()
    last = next((event["at"] for event in list(study.events(max(0, seq - 1), 1))), None)
    learner, spec = state.learner, state.spec
    alarms = alarms_of(replace(learner.state.facts(detectable=False), hasty=True))
    phase, (queries, cost) = state.phase(broken(alarms) is not None), state.spent
    shown, words = chips(phase, seq, alarms), _words(learner, phase)
    shares = [used / most for used, most in ((queries, spec.max_queries), (cost, spec.max_cost)) if most]
    used = max(shares, default=None)
    tone, share = "warn" if (used or 0.0) > 0.9 else "", percent(min(1.0, used or 0.0))
    picture = Markup() if used is None else svg.bar(used, f"{share} of the budget", tone)
    spent = exact(cost) if spec.max_cost is None else f"{exact(cost)} of {exact(spec.max_cost)}"
    if spec.max_cost is None and spec.max_queries is not None:
        spent = f"{queries:,} of {spec.max_queries:,}"
    told = int(learner.state.seen.N_ea.sum())
    return StudyRow(
        study.name, spec.title or study.name, phase, shown, words, told, used, spent, picture, len(state.late()), last,
        "–" if last is None else ago(max(0.0, now - last)), archived=state.archived,
    )  # fmt: skip


def _words(learner: Learner, phase: str) -> str:
    """The answer so far."""
    if phase == "needs attention":
        return "none"
    if not learner.counted:
        return "too early"
    if phase == "under review" and len(learner.answer) == 1:
        return f"{learner.arms[learner.evidence().leader]} leads"
    answer = ", ".join(learner.answer)
    return answer if phase == "sure" else f"{answer} leads"


def unreadable_row(name: str, why: str) -> StudyRow:
    """A study that cannot be read, and why."""
    return StudyRow(name, name, "unreadable", [("Unreadable", "bad")], why, 0, None, "", Markup(), 0, None, "–")
