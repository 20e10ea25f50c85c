"""The list of studies: for each its condition, the answer so far, what it has used, what is overdue; sorted and searched."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from markupsafe import Markup

from gobetween.pages import svg
from gobetween.study.study import Study
from gobetween.words.numbers import ago, amount, percent
from gobetween.words.study_page import TONES


@dataclass(frozen=True)
class StudyRow:
    """A study in the list."""

    name: str
    title: str
    state: str
    tone: str
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
    phase, (queries, cost) = state.phase(), state.spent
    broken = phase == "needs attention"
    answer = ", ".join(learner.answer) if learner.counted and not broken else ""
    words = "none" if broken else "too early" if not answer else answer if phase == "sure" else f"{answer} leads"
    shares = [used / most for used, most in ((queries, spec.max_queries), (cost, spec.max_cost)) if most]
    used = max(shares, default=None)
    picture = (
        Markup() if used is None else svg.bar(used, f"{percent(min(1.0, used))} of the budget", "warn" if used > 0.9 else "")
    )
    spent = amount(cost) if spec.max_cost is None else f"{amount(cost)} of {amount(spec.max_cost)}"
    if spec.max_cost is None and spec.max_queries is not None:
        spent = f"{queries:,} of {spec.max_queries:,}"
    told = int(learner.state.seen.N_ea.sum())
    return StudyRow(
        study.name, spec.title or study.name, phase, TONES[phase], words, told, used, spent, picture, len(state.late()), last,
        "–" if last is None else ago(max(0.0, now - last)), archived=state.archived,
    )  # fmt: skip


def unreadable_row(name: str, why: str) -> StudyRow:
    """A study that cannot be read, and why."""
    return StudyRow(name, name, "unreadable", "bad", why, 0, None, "", Markup(), 0, None, "–")
