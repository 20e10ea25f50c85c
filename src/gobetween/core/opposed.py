"""What speaks against an answer that was certain before: the strongest evidence that a pair of it is the other way round.

At a fixed truth a claim that is wrong, and evidence against one that is right, are events of the same family: some pair that is
wrong there reached its limit (docs/questions.md, Contradictions).
"""

import math

import numpy as np

from gobetween.core.convex import Look, least_between
from gobetween.core.eprocess import PRODUCT, log_evalue
from gobetween.core.family import Family, log_mixture
from gobetween.core.question import Question
from gobetween.core.questions import PROVEN, EpsilonBest, Threshold
from gobetween.core.state import Tally

Opposed = tuple[float, int, int]
"""Evidence, the arm i of the answer that it is about, and the rival b (i itself where a level decides)."""


def opposition(question: Question, family: Family, tally: Tally, answer: tuple[int, ...]) -> Opposed | None:
    """The evidence against an answer; None where estimates do not contradict it, or for a question without a proof."""
    if not isinstance(question, PROVEN) or not tally.N_a.all():
        return None
    if isinstance(question, Threshold):
        return _across(question, family, tally, answer)
    inside = np.isin(np.arange(len(tally.N_a)), answer)
    i = int(np.argmin(np.where(inside, tally.mu_hat, np.inf)))
    b = int(np.argmax(np.where(inside, -np.inf, tally.mu_hat)))
    eps = question.shift()
    if not tally.mu_hat[b] > tally.mu_hat[i] + eps:
        return None
    if isinstance(question, EpsilonBest):
        return (least_beyond(family, tally, b, i, eps), i, b) if family.sums_suffice else None
    return float(log_evalue(family, tally, PRODUCT, b, i, -math.inf)), i, b


def opposite_ways(question: Question, K: int) -> int:
    """How many pairs share the risk of what is said against an answer."""
    return K * (K - 1) if isinstance(question, EpsilonBest) else question.ways(K)


def opposite_words(question: Question, answer: tuple[int, ...], i: int, one: str, other: str) -> str:
    """What was certain instead, of the arm i called `one` and a rival."""
    if isinstance(question, Threshold):
        return f"the mean of {one} is certain to lie {'below' if i in answer else 'above'} {question.theta:g}"
    by = f" by more than {question.eps:g}" if isinstance(question, EpsilonBest) else ""
    return f"{other} is certain to be better than {one}{by}"


def _across(question: Threshold, family: Family, tally: Tally, answer: tuple[int, ...]) -> Opposed | None:
    """The arm that is on the other side of the level than was said, with most evidence."""
    found = [
        (float(question.log_e(family, tally, PRODUCT, a, a, -math.inf)), a, a)
        for a in range(len(tally.N_a))
        if (tally.mu_hat[a] > question.theta) != (a in answer)
    ]
    return max(found, default=None)


def least_beyond(family: Family, tally: Tally, b: int, i: int, eps: float) -> float:
    """The least ln M_b⁺(x) + ln M_i⁻(x − ε) over x, from below: evidence that b is better than i by more than ε, where
    coordinates are means. −∞ where it is not least between the estimates.
    """

    def look(x: float) -> Look:
        up, rise = log_mixture(family, float(tally.N_a[b]), float(tally.S_a[b]), x, 1.0)
        down, fall = log_mixture(family, float(tally.N_a[i]), float(tally.S_a[i]), x - eps, -1.0)
        return x, up + down, rise + fall

    left, right = look(float(tally.mu_hat[i]) + eps), look(float(tally.mu_hat[b]))
    if not left[2] < 0.0 < right[2]:
        return -math.inf
    return least_between(look, left, right)
