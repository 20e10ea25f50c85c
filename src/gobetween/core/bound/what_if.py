"""What would change the cost of an experiment: a mediator less, a new one, other costs, other gaps, a tolerance.

The adversary's strategy (q, x) of the lower bound prices arms: a pull of arm a is worth

    v_a = T* q_a d(μ_a, x_a),      v_1 = T* Σ_a q_a d(μ_1, x_a)                                  # in the unit of T*

and a query of a mediator with policy p is worth Σ_a p_a v_a: its cost where the plan asks it, at most its cost elsewhere. The
same (q, x) bounds T* with a new mediator of cost c from below: it can divide T* by a factor only if Σ_a p_a v_a ≥ factor · c.

Which new policy lowers T* most is one more game of the same kind: p enters as σp with σ ≥ 0, and σp runs over all v ≥ 0. So the
best mediator is found by adding K of them that pull one arm each, and mixing those as the solution does.
"""

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from gobetween.core.bound.lower_bound import LowerBound, lower_bound, question_bound
from gobetween.core.ground.jit import Floats
from gobetween.core.problem.cast import unreachable_arms
from gobetween.core.problem.problem import Problem
from gobetween.core.question.questions import EpsilonBest
from gobetween.errors import ProblemError

#: How much farther from the best all other means are moved.
GAPS = (0.5, 0.75, 1.0, 1.5, 2.0)
#: Tolerances, as parts of the smallest gap to the best arm; solved for so many arms by so many mediators at most.
TOLERANCES, MOST_ENTRIES = (0.25, 0.5, 1.0, 2.0), 400
FINEST = 1e-9  # probabilities below it are rounding


@dataclass(frozen=True)
class Worth:
    """What a mediator is worth."""

    mediator: int
    T_without: float  # T* without it; ∞ where an arm is then never pulled
    query: float  # Σ_a π_e(a) v_a: its cost where the plan asks it; elsewhere it would be asked only at a cost below this
    T_half: float  # T* if a query of it cost half as much; NaN where the plan does not ask it
    T_twice: float  # T* if it cost twice as much


@dataclass(frozen=True)
class Newcomer:
    """A new mediator: its policy, the cost of a query, and T* with it."""

    policy: Floats  # [K]
    cost: float
    T_star: float


@dataclass(frozen=True)
class WhatIf:
    """Answers to what-if questions about a problem."""

    pull_worths: Floats
    """[K] v: what a pull of each arm is worth, in the unit of T*."""
    worths: tuple[Worth, ...]
    """Each mediator; none where arms are pulled directly."""
    best: Newcomer | None
    """The new mediator that lowers T* most, at the cost of an average query; None where none lowers it."""
    halving: Newcomer | None
    """One that halves T*: at that cost, as near to what is pulled already as will do, or the best one at a lower cost."""
    gaps: tuple[tuple[float, float], ...]
    """Factors of all gaps to the best arm with T*; NaN where a mean would leave the family."""
    tolerances: tuple[tuple[float, float], ...] = ()
    """Each ε with T* where an arm at most ε below the best will do; none where that is not offered, or the problem is large."""


def what_if(bound: LowerBound) -> WhatIf:
    """What-if questions about a problem whose lower bound is known.

    >>> made = gb.what_if(gb.lower_bound(gb.Problem([1.0, 0.0], [[0.9, 0.1], [0.6, 0.4]], family=gb.Gaussian(1.0))))
    >>> [round(worth.T_without, 3) for worth in made.worths], round(made.best.T_star, 3)
    ([8.333, 22.222], 8.0)
    """
    problem = bound.problem
    if bound.status == "tie":
        return WhatIf(np.zeros(problem.K), (), None, None, ())
    worth = pull_worths(bound)
    gaps = tuple((factor, bound.T_star if factor == 1.0 else _with_gaps(problem, factor)) for factor in GAPS)
    tolerances = tuple(_with_tolerances(problem))
    if problem.direct:
        return WhatIf(worth, (), None, None, gaps, tolerances)
    best = best_newcomer(bound)
    useful = best.T_star < bound.T_star * (1.0 - 1e-6)
    worths = tuple(_worth(bound, e, float(problem.policies[e] @ worth)) for e in range(problem.E))
    return WhatIf(worth, worths, best if useful else None, halving_newcomer(bound, best), gaps, tolerances)


def pull_worths(bound: LowerBound) -> Floats:
    """[K] v: what a pull of each arm is worth by the published strategy of the adversary."""
    problem, best, worth = bound.problem, bound.leader, np.zeros(bound.problem.K)
    mu, family = [float(mean) for mean in problem.means], problem.family
    for a in np.flatnonzero(bound.rival_weights):
        rest = 1.0 / (1.0 + float(bound.rival_odds[a]))
        step = float(bound.rival_odds[a]) * rest
        worth[best] += bound.rival_weights[a] * family.divergence(mu[best], mu[a], rest, step)
        worth[a] += bound.rival_weights[a] * family.divergence(mu[a], mu[best], step, rest)
    return np.asarray(bound.T_star * worth)


def best_newcomer(bound: LowerBound, cost: float | None = None) -> Newcomer:
    """The policy that lowers T* most, for a new mediator of this cost; by default what a query of the plan costs on average.

    T* is that of the problem with this one mediator more, solved again.
    """
    problem, cost = bound.problem, float(bound.problem.query_costs @ bound.omega) if cost is None else cost
    all_arms = lower_bound(_joined(problem, np.eye(problem.K), cost))
    shares = all_arms.omega[problem.E :]
    shares = np.where(shares > FINEST * shares.sum(), shares, 0.0)
    if not shares.sum() > 0.0:
        return Newcomer(bound.arm_weights, cost, bound.T_star)
    policy = shares / shares.sum()
    return Newcomer(policy, cost, min(bound.T_star, lower_bound(_joined(problem, policy[None, :], cost)).T_star))


def halving_newcomer(bound: LowerBound, best: Newcomer, goal: float = 0.5) -> Newcomer | None:
    """A new mediator with which T* is `goal` times what it is.

    At the cost of `best`, s·(its policy) + (1 − s)·(what the plan pulls) with the least s: T* falls as s grows, for what the
    plan pulls can be had already at that cost. Where even s = 1 does not do, the best policy at the highest cost that will do.
    """
    wanted, pulled = goal * bound.T_star, bound.arm_weights

    def mixed(s: float) -> Newcomer:
        policy = s * best.policy + (1.0 - s) * pulled
        return Newcomer(policy, best.cost, lower_bound(_joined(bound.problem, policy[None, :], best.cost)).T_star)

    if best.T_star <= wanted:
        return _least(mixed, 0.0, 1.0, wanted)
    directly = lower_bound(Problem(bound.problem.means, family=bound.problem.family)).T_star
    cheap = min(best.cost, wanted / directly) * (1.0 - 1e-6)
    return _least(lambda x: best_newcomer(bound, best.cost * (cheap / best.cost) ** x), 0.0, 1.0, wanted)


def _least(made: Callable[[float], Newcomer], low: float, high: float, wanted: float) -> Newcomer | None:
    """The newcomer of the least x in [low, high] with T* ≤ wanted, where T* falls in x and made(high) will do."""
    from scipy.optimize import brentq

    try:
        x = brentq(lambda x: math.log(made(x).T_star / wanted), low, high, xtol=1e-10, rtol=1e-10)
        return made(min(high, float(x)))
    except (ValueError, ProblemError):  # no sign changes in double precision: it cannot be computed
        return None


def _worth(bound: LowerBound, e: int, query: float) -> Worth:
    problem, asked = bound.problem, bound.omega[e] > 0.0
    if not asked:
        return Worth(e, bound.T_star, query, math.nan, bound.T_star)
    return Worth(e, _without(problem, e), query, _at_cost(problem, e, 0.5), _at_cost(problem, e, 2.0))


def _without(problem: Problem, e: int) -> float:
    others = [other for other in range(problem.E) if other != e]
    if not others or len(unreachable_arms(problem.policies[others])):
        return math.inf
    costs = None if problem.costs is None else problem.costs[others]
    fewer = Problem(problem.means, problem.policies[others], family=problem.family, costs=costs, silent=problem.silent)
    return lower_bound(fewer).T_star


def _at_cost(problem: Problem, e: int, factor: float) -> float:
    costs = problem.query_costs.copy()
    costs[e] *= factor
    changed = Problem(problem.means, problem.policies, family=problem.family, costs=costs, silent=problem.silent)
    return lower_bound(changed).T_star


def _with_gaps(problem: Problem, factor: float) -> float:
    """T* with all gaps to the best mean so many times as wide; NaN where that cannot be."""
    best = problem.means.max()
    means = best - factor * (best - problem.means)
    if not all(problem.family.has_mean(float(mean)) for mean in means):
        return math.nan
    try:
        other = Problem(means, problem.policies, family=problem.family, costs=problem.costs, silent=problem.silent)
        return lower_bound(other).T_star
    except ProblemError:  # too wide or too narrow for double precision
        return math.nan


def _with_tolerances(problem: Problem) -> Iterator[tuple[float, float]]:
    """Each ε with T* when an arm at most ε below the best will do; T* is from above, to three digits."""
    first, second = np.sort(problem.means)[::-1][:2]
    if problem.K * problem.E > MOST_ENTRIES:
        return
    for part in TOLERANCES:
        question = EpsilonBest(part * float(first - second))
        try:
            yield question.eps, question_bound(problem, question, tol=1e-3).T_upper
        except ProblemError:  # not for this family, or every arm is that close
            return


def _joined(problem: Problem, policies: Floats, cost: float) -> Problem:
    """With more mediators, all of this cost."""
    costs = np.append(problem.query_costs, np.full(len(policies), cost))
    return Problem(
        problem.means, np.vstack([problem.policies, policies]), family=problem.family, costs=costs, silent=problem.silent
    )
