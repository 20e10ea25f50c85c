"""Answers that never came: how many, whether the verdict would stand with them at their worst, and both in words."""

import math
from typing import TypedDict

import numpy as np

from gobetween.core.missing import can_impute, worst_answer
from gobetween.export import json_safe, numbered
from gobetween.study.events import words
from gobetween.study.state import StudyState


class Missing(TypedDict):
    """Answers that expired or were cancelled, and the evidence if all had spoken against the arm that is named or leads."""

    answers: int
    statistic: float | None
    """A lower bound, in nats; None where rewards have no worst value."""
    threshold: float
    stands: bool | None
    """Does the statistic reach the threshold all the same?"""


def missing_of(state: StudyState) -> Missing | None:
    """None when no answer is missing."""
    owed = _owed(state)
    if not sum(owed):
        return None
    statistic, threshold = _worst(state, owed), _shared(state) - math.log(state.spec.delta)
    stands = None if statistic is None else statistic >= threshold
    shown = None if statistic is None else json_safe(max(0.0, statistic))
    return Missing(answers=sum(owed), statistic=shown, threshold=threshold, stands=stands)


def _shared(state: StudyState) -> float:
    """The logarithm of the number of pairs that share the risk."""
    learner = state.learner
    return math.log(learner.setup.question.ways(len(learner.arms))) if learner.pairs is None else learner.pairs


def missing_condition(state: StudyState) -> str:
    """The missing answers where the guarantee rests on them, such as "the 12 answers that expired"; empty if none is."""
    number = sum(_owed(state))
    ends = [verb for verb, some in (("expired", _expired(state)), ("were cancelled", _cancelled(state))) if sum(some)]
    if number == 1:
        return f"the answer that {ends[0].replace('were', 'was')}"
    return f"the {number:,} answers that {' or '.join(ends)}" if number else ""


def missing_words(state: StudyState) -> list[str]:
    """Beside a verdict: would it stand with the missing answers at their worst?"""
    found = missing_of(state) if state.identified else None
    if found is None or found["statistic"] is None:
        return []
    one = found["answers"] == 1
    if found["stands"]:
        all_of_them = "the missing answer" if one else f"all {found['answers']:,} missing answers"
        return [f"Even if {all_of_them} had spoken against it, the verdict would stand."]
    at_worst = "the missing answer at its" if one else f"the {found['answers']:,} missing answers at their"
    evidence = f"{found['statistic']:.1f} of {found['threshold']:.1f} nats"
    return [f"With {at_worst} worst it would not stand yet: the evidence would be {evidence}."]


def jump_words(state: StudyState) -> list[str]:
    """That the clock has jumped, where it has."""
    return [
        f"The clock of the store has jumped {numbered(jump['times'], 'time')}; the last time {words(jump | {'kind': 'clock'})}."
        for jump in state.jumps
    ]


def _expired(state: StudyState) -> list[int]:
    """Of each mediator: leases that ended with no answer; the verdict has not waited for it."""
    if state.spec.wait_for == "answer":
        return [0] * len(state.spec.mediators)
    return [max(0, state.counts[name]["expired"] - state.counts[name]["late"]) for name in state.spec.mediators]


def _cancelled(state: StudyState) -> list[int]:
    return [state.counts[name]["cancelled"] for name in state.spec.mediators]


def _owed(state: StudyState) -> list[int]:
    return [one + other for one, other in zip(_expired(state), _cancelled(state), strict=True)]


def _worst(state: StudyState, owed: list[int]) -> float | None:
    """The least evidence for the answer that is named, or would be now."""
    learner = state.learner
    if not can_impute(learner.family) or learner.recommendation is None:
        return None
    late = [min(state.counts[name]["late"], learner.waiting) for name in state.spec.mediators]  # told, but not counted yet
    answer = tuple(learner.arms.index(name) for name in learner.answer)
    question, tally = learner.setup.question, learner.counted_tally
    return worst_answer(question, learner.family, tally, answer, np.add(owed, late), learner.reach())
