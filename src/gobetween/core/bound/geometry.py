"""The geometry of mediators: what acting through them costs, and which of them are not needed.

What a plan can say of mediators of whom only the support is known.

T* falls with what mediators offer. So whatever such a mediator's policy is, T* is at most what it is without it; and at least
what it is with a mediator for each arm of its support who pulls that arm alone, at the same cost: a policy is a mixture of
these, and the best mixture is a policy, so that no lower bound is higher.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from gobetween.core.bound.lower_bound import bound_for, lower_bound
from gobetween.core.ground.jit import Bools, Floats, Ints
from gobetween.core.problem.cast import are_known, unreachable_arms
from gobetween.core.problem.problem import Problem
from gobetween.core.question.question import Question
from gobetween.core.question.questions import BEST
from gobetween.errors import ProblemError

TOLERANCE = 1e-9


@dataclass(frozen=True)
class MediationPrice:
    """T*(μ, π)/T*(μ): how many times more queries it takes to act through mediators than to pull arms directly."""

    ratio: float
    """T*(μ, π)/T*(μ) ≥ 1; NaN in a tie, where both are infinite."""
    lower: float
    upper: float
    """Certified bounds on the ratio."""
    is_free: bool
    """Proposition 1: the price is 1 exactly when the best direct allocation is a mixture of the policies."""
    distance: float
    """Euclidean distance of that allocation to the policies' convex hull."""
    direct_weights: Floats
    """[K] ω*(μ, π̄): the best direct allocation."""


def price_of_mediation(problem: Problem, tol: float = 1e-9) -> MediationPrice:
    """The price of mediation, counted in queries (costs are set aside: direct pulls have none), with Proposition 1's test."""
    mediated = Problem(problem.means, problem.policies, family=problem.family, silent=problem.silent)
    ours, direct = lower_bound(mediated, tol), lower_bound(Problem(problem.means, family=problem.family), tol)
    if direct.status == "tie":
        return MediationPrice(np.nan, np.nan, np.nan, False, np.nan, direct.omega)
    distance = hull_distance(problem.policies, direct.omega)
    upper = max(1.0, ours.T_upper / direct.T_lower)
    return MediationPrice(
        ratio=max(1.0, ours.T_star / direct.T_star),
        lower=max(1.0, ours.T_lower / direct.T_upper),
        upper=upper,
        is_free=distance <= 1e-7 and upper <= 1.0 + 1e-6,
        distance=distance,
        direct_weights=direct.omega,
    )


def hull_distance(policies: Floats, target: Floats) -> float:
    """Distance of a point to the convex hull of the rows, by non-negative least squares with the sum as one more equation."""
    from scipy.optimize import nnls

    weight = 1e3  # of the equation Σα = 1
    rows = np.vstack([policies.T, weight * np.ones(len(policies))])
    alpha, _ = nnls(rows, np.append(target, weight))
    return float(np.linalg.norm(policies.T @ alpha - target))


@dataclass(frozen=True)
class Redundancy:
    """A mediator that is not needed: others, mixed with these weights, pull every arm at least as often for no more cost."""

    mediator: int
    reason: str
    """"duplicate" (one other with the same policy), "mixture" (of several) or "dominated" (others give more, or cost less)."""
    weights: Floats
    """[E] the mixture α ≥ 0 with πᵀα ≥ π_e and cᵀα ≤ c_e."""


def redundant_mediators(problem: Problem) -> tuple[Redundancy, ...]:
    """Mediators whose removal leaves T* unchanged, in order; of twins the first stays.

    Tested one at a time from the last to the first, against those that remain, so that they may all be removed together.
    """
    return find_redundant(problem.policies, problem.query_costs)


def find_redundant(policies: Floats, costs: Floats) -> tuple[Redundancy, ...]:
    """`redundant_mediators` for policies and costs alone: means do not matter."""
    remaining = np.ones(len(policies), dtype=bool)
    found: list[tuple[int, Floats]] = []
    for e in np.flatnonzero(~_surely_needed(policies, costs))[::-1].tolist():
        remaining[e] = False
        alpha = _cheapest_substitute(policies, costs, e, remaining)
        if alpha is None:
            remaining[e] = True
        else:
            found.append((e, alpha))
    return tuple(_redundancy(policies, costs, e, alpha, remaining) for e, alpha in reversed(found))


def _surely_needed(policies: Floats, costs: Floats) -> Bools:
    """[E] the mediators that need no linear program: worth more than any other where pulls are worth what each
    itself pulls of an arm. A substitute α would be worth Σ α_f π_f·v ≥ π_e·v at a cost Σ α_f c_f ≤ c_e.
    """
    most = policies.max(axis=0)
    pulls = policies / np.where(most > 0.0, most, 1.0)
    worths = (pulls / costs[:, None]) @ pulls.T  # [f, e] of a unit of cost spent on f, where e sets the prices
    own = np.diag(worths).copy()
    np.fill_diagonal(worths, 0.0)
    return np.asarray(own > (1.0 + 2.0 * TOLERANCE) * worths.max(axis=0))


def needless_mediators(policies: Floats, costs: Floats) -> list[int]:
    """The mediators (rows) that pruning leaves out: those that `find_redundant` finds among the known, and of those with a
    declared support, NaN, who are not needed whatever their policy is. That is so if others who are known pull each arm of the
    support as surely for no more cost: a policy is a mixture of these.
    """
    known = np.flatnonzero(are_known(policies))
    found = [int(known[item.mediator]) for item in find_redundant(policies[known], costs[known])] if len(known) else []
    left = [int(e) for e in known if e not in found]
    for e in np.flatnonzero(~are_known(policies)).tolist():
        arms = np.flatnonzero(np.isnan(policies[e]))
        rows, prices = (
            np.vstack([policies[left], np.eye(policies.shape[1])[arms]]),
            np.append(costs[left], [costs[e]] * len(arms)),
        )
        allowed = np.arange(len(rows)) < len(left)
        if all(_cheapest_substitute(rows, prices, i, allowed) is not None for i in range(len(left), len(rows))):
            found.append(e)
    return found


def needed_mediators(policies: Floats, declared: Bools, costs: Floats) -> Ints:
    """The mediators that pruning leaves; those that are not declared must have a support."""
    if np.isnan(policies).all(axis=1).any() or not declared[are_known(policies)].all():
        raise ProblemError(
            "prune=True needs the policy of every mediator, or its support: declare them all, or pass prune=False"
        )
    return _needed(policies.tobytes(), policies.shape, costs.tobytes())


@lru_cache(maxsize=32)  # every thread and every process sets the same rule to work
def _needed(policies: bytes, shape: tuple[int, int], costs: bytes) -> Ints:
    needless = needless_mediators(np.frombuffer(policies).reshape(shape), np.frombuffer(costs))
    return np.setdiff1d(np.arange(shape[0]), needless).astype(np.int64)


def _redundancy(policies: Floats, costs: Floats, e: int, alpha: Floats, remaining: Bools) -> Redundancy:
    """With a substitute among those that remain in the end; there is one, because a substitute's substitute is one."""
    if (alpha[~remaining] > 0.0).any():
        final = _cheapest_substitute(policies, costs, e, remaining)
        alpha = alpha if final is None else final
    return Redundancy(e, _reason(policies, costs, e, alpha), alpha)


def _cheapest_substitute(policies: Floats, costs: Floats, e: int, allowed: Bools) -> Floats | None:
    """Min cᵀα s.t. πᵀα ≥ π_e over the allowed mediators, if that costs no more than c_e; None otherwise.

    Arms are scaled by their best mediator, so that rare arms count as much as common ones, and the solution is scaled up to be
    exactly feasible: a wrong "redundant" could make an arm unreachable, a wrong "needed" costs nothing.
    """
    from scipy.optimize import linprog

    members = np.flatnonzero(allowed)
    needed = np.flatnonzero(policies[e] > 0.0)
    offered = policies[np.ix_(members, needed)].T
    alpha = np.zeros(len(policies))
    if not len(needed):
        return alpha
    if not len(members) or (offered.max(axis=1) <= 0.0).any():
        return None
    scale = policies[e, needed]
    options = {"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10}
    result = linprog(costs[members] / costs[e], A_ub=-offered / scale[:, None], b_ub=-np.ones(len(needed)), options=options)
    if not result.success:
        return None
    solution = np.where(result.x > 1e-12 * result.x.max(), result.x, 0.0)
    covered = (offered @ solution / scale).min()
    if not covered > 0.0:
        return None
    alpha[members] = solution / min(covered, 1.0)
    return alpha if costs @ alpha <= costs[e] * (1.0 + TOLERANCE) else None


def _reason(policies: Floats, costs: Floats, e: int, alpha: Floats) -> str:
    exact = np.allclose(policies.T @ alpha, policies[e], rtol=1e-7, atol=1e-12)
    if not exact or costs @ alpha < costs[e] * (1.0 - 1e-7):
        return "dominated"
    return "duplicate" if np.count_nonzero(alpha > 1e-9) == 1 and abs(alpha.max() - 1.0) < 1e-7 else "mixture"


@dataclass(frozen=True)
class SupportRange:
    """Between which numbers T* lies, whatever the policies of some mediators are; the support of one may be all arms."""

    mediators: tuple[int, ...]
    T_best: float  # T* if they pull what suits best
    T_without: float  # T* without them; ∞ where an arm is then never pulled


def support_range(problem: Problem, guessed: Sequence[int], question: Question = BEST) -> SupportRange | None:
    """The range of T*, where of the mediators `guessed` only which arms they pull is right; None where there are none."""
    if not guessed:
        return None
    others, those, costs = [e for e in range(problem.E) if e not in guessed], list(guessed), problem.query_costs
    cheapest = np.where(problem.policies[those] > 0.0, costs[those, None], np.inf).min(axis=0)  # [K] who pull one arm each
    may = np.isfinite(cheapest)
    rows = np.vstack([problem.policies[others], np.eye(problem.K)[may]])
    best = _bounds(problem, rows, np.append(costs[others], cheapest[may]), question)[0]
    reached = bool(others) and not len(unreachable_arms(problem.policies[others]))
    without = _bounds(problem, problem.policies[others], costs[others], question)[1] if reached else math.inf
    return SupportRange(tuple(guessed), best, without)


def _bounds(problem: Problem, policies: Floats, costs: Floats, question: Question) -> tuple[float, float]:
    """T* from below and above, for these mediators instead."""
    other = Problem(problem.means, policies, family=problem.family, costs=costs, silent=problem.silent)
    found = bound_for(other, question)
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
