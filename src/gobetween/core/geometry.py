"""The geometry of mediators: what acting through them costs, and which of them are not needed."""

from dataclasses import dataclass

import numpy as np

from gobetween.core.bound import lower_bound
from gobetween.core.jit import counted
from gobetween.core.policies import are_known
from gobetween.core.problem import Problem
from gobetween.core.types import Bools, Floats

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


@counted(lambda policies, costs: 0.5 * policies.shape[1] * max(policies.shape) ** 2)
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
    """[E] the mediators whom no linear program need be asked about: worth more than any other where pulls are worth what each
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
