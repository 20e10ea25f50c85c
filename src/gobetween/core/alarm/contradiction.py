"""Contradiction: an answer that was certain, and the opposite that was certain at another time.

One of them reached its limit falsely, which has probability at most δ (2δ with `EpsilonBest`): that is the level of this alarm.

An answer that could be named, and what has spoken against it since.

What speaks against an answer that was certain before: the strongest evidence that a pair of it is the other way round.

At a fixed truth a claim that is wrong, and evidence against one that is right, are events of the same family: some pair that is
wrong there reached its limit (docs/questions.md, Contradictions).
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from gobetween.core.alarm.alarm import Alarm, Details, Facts, alarm_of, check
from gobetween.core.evidence.eprocess import PRODUCT, Tangent, least_between, log_evalue
from gobetween.core.ground.tally import Tally
from gobetween.core.question.question import Question
from gobetween.core.reward.family import Family, log_mixture


@dataclass(frozen=True)
class ContradictionDetails(Details):
    """An answer that was certain, and what was certain at another time."""

    question: Question
    answer: tuple[str, ...]
    since: int  # after so many answers the answer was certain, and after so many the opposite
    at: int
    rival: str | None  # the arm that is better than the subject of the alarm


@check(rank=2)
def contradiction(facts: Facts) -> list[Alarm]:
    """Was an answer certain, and the opposite at another time?"""
    claim, question = facts.claim, facts.question
    if claim is None or not question.proven:
        return []
    rival = None if claim.rival < 0 else facts.arms[claim.rival]
    answer = tuple(facts.arms[a] for a in claim.named)
    details = ContradictionDetails(question, answer, claim.since, claim.at, rival, unit=facts.unit)
    limit = math.log(question.opposite_ways(len(facts.arms))) - math.log(facts.delta)
    return [alarm_of("contradiction", facts.arms[claim.arm], claim.log_e, limit, details)]


@dataclass(frozen=True)
class Claim:
    """An answer that could be named, and the strongest evidence since that it is wrong."""

    arm: int  # the one that was named or, of several, the one that the evidence is about
    since: int  # answers counted when it could be named
    rival: int = -1  # the arm that is better; the arm itself where a level decides. −1: there was no evidence against it.
    at: int = 0
    log_e: float = 0.0
    answer: tuple[int, ...] | None = None  # the arms that could be named, where the question is not which is the best

    @classmethod
    def of(cls, question: Question, answer: tuple[int, ...], since: int) -> "Claim":
        """An answer that can be named now."""
        return cls(answer[0] if answer else 0, since, answer=None if question.names_leader else answer)

    @property
    def named(self) -> tuple[int, ...]:
        """The arms that could be named."""
        return (self.arm,) if self.answer is None else self.answer

    def placed(self, places: Sequence[int]) -> "Claim":
        """The same where arm i stands at places[i]."""
        answer = None if self.answer is None else tuple(sorted(places[a] for a in self.answer))
        return replace(self, arm=places[self.arm], rival=places[self.rival] if self.rival >= 0 else -1, answer=answer)

    def seen(self, question: Question, family: Family, tally: Tally, t: int) -> "Claim":
        """The same after t answers: do they contradict it?"""
        found = opposition(question, family, tally, self.named) if t > self.since else None
        if found is None or not found[0] > self.log_e:
            return self
        return replace(self, arm=found[1], rival=found[2], at=t, log_e=found[0])

    def to_dict(self) -> list[Any]:
        kept = [self.arm, self.since, self.rival, self.at, self.log_e]
        return kept if self.answer is None else [*kept, list(self.answer)]

    @classmethod
    def restored(cls, values: Sequence[Any]) -> "Claim":
        *kept, answer = values if len(values) > 5 else (*values, None)
        return replace(cls(*kept), answer=None if answer is None else tuple(answer))


Opposed = tuple[float, int, int]
"""Evidence, the arm i of the answer that it is about, and the rival b (i itself where a level decides)."""


def opposition(question: Question, family: Family, tally: Tally, answer: tuple[int, ...]) -> Opposed | None:
    """The evidence against an answer; None where estimates do not contradict it, or for a question without a proof."""
    if not question.proven or not tally.N_a.all():
        return None
    if question.level() is not None:
        return _across(question, family, tally, answer)
    inside = np.isin(np.arange(len(tally.N_a)), answer)
    i = int(np.argmin(np.where(inside, tally.mu_hat, np.inf)))
    b = int(np.argmax(np.where(inside, -np.inf, tally.mu_hat)))
    eps = question.shift()
    if not tally.mu_hat[b] > tally.mu_hat[i] + eps:
        return None
    if eps > 0.0:
        return (least_beyond(family, tally, b, i, eps), i, b) if family.sums_suffice else None
    return float(log_evalue(family, tally, PRODUCT, b, i, -math.inf)), i, b


def _across(question: Question, family: Family, tally: Tally, answer: tuple[int, ...]) -> Opposed | None:
    """The arm that is on the other side of the level than was said, with most evidence."""
    found = [
        (float(question.log_e(family, tally, PRODUCT, a, a, -math.inf)), a, a)
        for a in range(len(tally.N_a))
        if (tally.mu_hat[a] > question.level()) != (a in answer)
    ]
    return max(found, default=None)


def least_beyond(family: Family, tally: Tally, b: int, i: int, eps: float) -> float:
    """The least ln M_b⁺(x) + ln M_i⁻(x − ε) over x, from below: evidence that b is better than i by more than ε, where
    coordinates are means. −∞ where it is not least between the estimates.
    """

    def tangent_at(x: float) -> Tangent:
        up, rise = log_mixture(family, float(tally.N_a[b]), float(tally.S_a[b]), x, 1.0)
        down, fall = log_mixture(family, float(tally.N_a[i]), float(tally.S_a[i]), x - eps, -1.0)
        return x, up + down, rise + fall

    left, right = tangent_at(float(tally.mu_hat[i]) + eps), tangent_at(float(tally.mu_hat[b]))
    if not left[2] < 0.0 < right[2]:
        return -math.inf
    return least_between(tangent_at, left, right)
