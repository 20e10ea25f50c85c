"""Answers that never came: how many, and whether the verdict would stand with them at their worst."""

import math
from typing import TypedDict

import numpy as np

from gobetween.core.verdict.missing_answers import worst_answer
from gobetween.export import json_safe
from gobetween.study.journal.state import StudyState


class Missing(TypedDict):
    """Answers that expired or were cancelled, and the evidence if all had spoken against the arm that is named or leads."""

    answers: int
    statistic: float | None  # a lower bound, in nats; None where rewards have no worst value
    threshold: float
    stands: bool | None  # does the statistic reach the threshold nevertheless?
    supports: bool  # is that so only if those who owe answers never pull what they were declared never to?


def missing_of(state: StudyState) -> Missing | None:
    """None when no answer is missing."""
    owed = [one + other for one, other in zip(expired(state), cancelled(state), strict=True)]
    if not sum(owed):
        return None
    statistic, threshold = _worst(state, owed), _shared(state) - math.log(state.spec.design.delta)
    stands = None if statistic is None else statistic >= threshold
    shown = None if statistic is None else json_safe(max(0.0, statistic))
    supports = not bool(state.learner.state.reach()[np.array(owed) > 0].all())
    return Missing(answers=sum(owed), statistic=shown, threshold=threshold, stands=stands, supports=supports)


def _shared(state: StudyState) -> float:
    """The logarithm of the number of pairs that share the risk."""
    learner = state.learner.state
    return math.log(learner.design.question.ways(len(learner.cast.arms))) if learner.pairs is None else learner.pairs


def expired(state: StudyState) -> list[int]:
    """Of each mediator: leases that ended with no answer; the verdict has not waited for it."""
    if state.spec.wait_for == "answer":
        return [0] * len(state.spec.mediators)
    return [max(0, state.counts[name]["expired"] - state.counts[name]["late"]) for name in state.spec.mediators]


def cancelled(state: StudyState) -> list[int]:
    """The same of queries that were cancelled."""
    return [state.counts[name]["cancelled"] for name in state.spec.mediators]


def _worst(state: StudyState, owed: list[int]) -> float | None:
    """The least evidence for the answer that is named, or would be now."""
    learner = state.learner
    question, family, counted = learner.design.question, learner.design.family, learner.state.counted
    if learner.recommendation is None:
        return None
    waiting = len(learner.state.queries.waiting)
    late = [min(state.counts[name]["late"], waiting) for name in state.spec.mediators]  # told, but not counted yet
    answer = tuple(learner.arms.index(name) for name in learner.answer)
    return worst_answer(question, family, counted.tally, answer, np.add(owed, late), learner.state.reach())
