"""What a plan can say of mediators of whom only the support is known.

T* falls with what mediators offer. So whatever such a mediator's policy is, T* is at most what it is without it; and at least
what it is with a mediator for each arm of its support who pulls that arm alone, at the same cost: a policy is a mixture of
these, and the best mixture is a policy, so that no lower bound is higher.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from gobetween.core.bound import lower_bound, question_bound
from gobetween.core.geometry import Redundancy, find_redundant
from gobetween.core.problem import Problem, unreachable_arms
from gobetween.core.question import Question
from gobetween.core.types import Floats


@dataclass(frozen=True)
class SupportRange:
    """Between which numbers T* lies, whatever the policies of some mediators are within their supports."""

    mediators: tuple[int, ...]
    T_best: float
    """T* if they pull what suits best."""
    T_without: float
    """T* without them; ∞ where an arm is then never pulled."""


def support_range(problem: Problem, guessed: Sequence[int], question: Question | None = None) -> SupportRange | None:
    """The range of T*, where of the mediators `guessed` only which arms they pull is right; None where there are none."""
    if not guessed:
        return None
    others = [e for e in range(problem.E) if e not in guessed]
    single = [np.eye(problem.K)[problem.policies[e] > 0.0] for e in guessed]
    times, costs = [len(arms) for arms in single], problem.query_costs
    rows = np.vstack([problem.policies[others], *single])
    best = _bounds(problem, rows, np.append(costs[others], np.repeat(costs[list(guessed)], times)), question)[0]
    reached = bool(others) and not len(unreachable_arms(problem.policies[others]))
    without = _bounds(problem, problem.policies[others], costs[others], question)[1] if reached else math.inf
    return SupportRange(tuple(guessed), best, without)


def _bounds(problem: Problem, policies: Floats, costs: Floats, question: Question | None) -> tuple[float, float]:
    """T* from below and above, for these mediators instead."""
    other = Problem(problem.means, policies, family=problem.family, costs=costs, silent=problem.silent)
    found = lower_bound(other) if question is None else question_bound(other, question)
    return found.T_lower, found.T_upper


def surely_redundant(problem: Problem, guessed: Sequence[int]) -> tuple[Redundancy, ...]:
    """Mediators whose policy is known and that others of this kind make needless."""
    known = np.array([e for e in range(problem.E) if e not in guessed], dtype=np.int64)
    if not len(known):
        return ()
    found = []
    for item in find_redundant(problem.policies[known], problem.query_costs[known]):
        weights = np.zeros(problem.E)
        weights[known] = item.weights
        found.append(Redundancy(int(known[item.mediator]), item.reason, weights))
    return tuple(found)
