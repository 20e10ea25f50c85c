"""Sampling rules: which mediator to ask next. Rules are small values; `Sampler` is what compiled code sees of them."""

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from gobetween.core.bound import lower_bound
from gobetween.core.certificate import Point, forget, new_point
from gobetween.core.families import Family
from gobetween.core.game import COLD, INEXACT, OPTIMAL, Space, keep_up, new_space, solve
from gobetween.core.geometry import find_redundant
from gobetween.core.jit import inlined, leaf
from gobetween.core.problem import Problem
from gobetween.core.state import State, seen_all
from gobetween.core.tracking import exploration_floor, forced, furthest_behind, least_asked, project
from gobetween.core.types import Bools, Floats, Ints
from gobetween.errors import ProblemError

C_TRACKING, D_TRACKING, FIXED, RANDOM, CYCLIC = 0, 1, 2, 3, 4


@dataclass(frozen=True)
class Tracking:
    """Track-and-Stop on mediators: follow ω*(μ̂, π) or ω*(μ̂, π̂).

    tracking: "C" follows Σ_s ω_s, each ω_s projected on {ω ≥ ε_s}; "D" follows t·ω_t and asks the least asked mediator while
    it has fewer than √t − E/2 queries. "D" loses its guarantee when ω* is a set.
    policies: "known" uses declared policies, "unknown" ignores them and uses π̂ = N_ea/N_e.
    prune: leave out mediators that are not needed (known policies only).
    start: "uniform": until every arm has been seen all mediators get equal shares.
    tol: ω_t is optimal up to a relative gap of max(tol, 1/√n) after n rewards, more would chase noise; the old ω is kept while
    its certificate says so.
    """

    tracking: str = "C"
    policies: str = "known"
    prune: bool = False
    start: str = "uniform"
    tol: float = 1e-3

    def __post_init__(self) -> None:
        _choice("tracking", self.tracking, ("C", "D"))
        _choice("policies", self.policies, ("known", "unknown"))
        _choice("start", self.start, ("uniform",))
        if not 0.0 < self.tol < 1.0:
            raise ProblemError(f"tol = {self.tol!r}: the relative gap is a number between 0 and 1, such as 1e-3")
        if self.prune and self.policies == "unknown":
            raise ProblemError("prune=True needs known policies: with policies='unknown' nobody can be left out")


@dataclass(frozen=True)
class UniformSampling:
    """Ask mediators uniformly: order "random" draws one each time, "cyclic" goes round."""

    order: str = "random"

    def __post_init__(self) -> None:
        _choice("order", self.order, ("random", "cyclic"))


@dataclass(frozen=True)
class Static:
    """Follow fixed shares of queries."""

    omega: tuple[float, ...]

    def __init__(self, omega: ArrayLike) -> None:
        shares = np.asarray(omega, dtype=np.float64)
        if shares.ndim != 1 or not np.isfinite(shares).all() or (shares < 0).any() or abs(shares.sum() - 1.0) > 1e-9:
            raise ProblemError("omega of Static must be non-negative shares of queries that sum to 1")
        object.__setattr__(self, "omega", tuple(float(x) for x in shares))


@dataclass(frozen=True)
class Oracle:
    """Follow the true ω*, which only a simulation knows."""


Sampling = Tracking | UniformSampling | Static | Oracle


class Sampler(NamedTuple):
    """A rule at work on K arms and E mediators; n of these are members, the others were pruned."""

    kind: int
    tol: float
    members: Ints  # [n] the mediators that may be asked
    unknown: Bools  # [n] is the policy estimated?
    costs: Floats  # [n]
    R: Floats  # [K, n] rates; estimated along the way where unknown
    target: Floats  # [n] Σω (C), fixed shares, or scratch
    omega: Floats  # [n] the latest shares of queries
    point: Point
    space: Space


def kept_members(rule: Sampling, policies: Floats, declared: Bools, costs: Floats) -> Ints:
    """The mediators that the rule may ask: all, or those that pruning leaves."""
    members = np.arange(len(policies))
    if isinstance(rule, Tracking) and rule.prune:
        if not declared.all():
            raise ProblemError("prune=True needs the policy of every mediator: declare them all, or say prune=False")
        members = np.setdiff1d(members, [item.mediator for item in find_redundant(policies, costs)])
    return members.astype(np.int64)


def new_sampler(
    rule: Tracking | UniformSampling | Static,
    policies: Floats,
    declared: Bools,
    costs: Floats,
    members: Ints | None = None,
) -> Sampler:
    """Set a rule to work on policies [E, K], of which only the declared ones may be looked at. Members: as given, or found."""
    E, K = policies.shape
    if members is None:
        members = kept_members(rule, policies, declared, costs)
    known = declared if not (isinstance(rule, Tracking) and rule.policies == "unknown") else np.zeros(E, np.bool_)
    n = len(members)
    R = np.ascontiguousarray((np.where(known[:, None], policies, 0.0) / costs[:, None])[members].T)
    kind, target = _kind(rule), np.zeros(n)
    if isinstance(rule, Static):
        if len(rule.omega) != E:
            raise ProblemError(f"omega of Static has {len(rule.omega)} shares for {E} mediators")
        target[:] = rule.omega
    tol = rule.tol if isinstance(rule, Tracking) else 1e-3
    return Sampler(
        kind,
        tol,
        members,
        ~known[members],
        costs[members],
        R,
        target,
        np.full(n, 1.0 / n),
        new_point(K, n),
        new_space(K, n),
    )


def _kind(rule: Tracking | UniformSampling | Static) -> int:
    if isinstance(rule, Tracking):
        return C_TRACKING if rule.tracking == "C" else D_TRACKING
    if isinstance(rule, UniformSampling):
        return RANDOM if rule.order == "random" else CYCLIC
    return FIXED


def resolve(rule: Sampling, problem: Problem) -> Tracking | UniformSampling | Static:
    """Tell Oracle what only a simulation knows."""
    return Static(lower_bound(problem).omega) if isinstance(rule, Oracle) else rule


def _choice(name: str, value: object, allowed: tuple[str, ...]) -> None:
    if value not in allowed:
        raise ProblemError(f"{name} = {value!r}: choose {' or '.join(map(repr, allowed))}")


@leaf
def restart(sampler: Sampler) -> None:
    """Forget everything learnt, for a new run."""
    forget(sampler.point)
    if sampler.kind != FIXED:
        sampler.target[:] = 0.0
    for i in range(sampler.members.shape[0]):
        if sampler.unknown[i]:
            for a in range(sampler.R.shape[0]):
                sampler.R[a, i] = 0.0


@leaf
def estimate(sampler: Sampler, state: State, e: int) -> None:
    """Refresh the rates of a mediator that has just answered, if they are unknown: π̂_e(a) = N_ea/Σ_a N_ea, silence included."""
    for i in range(sampler.members.shape[0]):
        if sampler.members[i] == e and sampler.unknown[i]:
            K = sampler.R.shape[0]
            answers = 0
            for a in range(K + 1):
                answers += state.N_ea[e, a]
            for a in range(K):
                sampler.R[a, i] = state.N_ea[e, a] / (answers * sampler.costs[i])


@inlined
def refresh(family: Family, sampler: Sampler, state: State) -> None:
    """Write to omega the shares of queries to follow now: ω*(μ̂, π̂) ∝ ρ/c, uniform before it can be computed or in a tie."""
    n = sampler.members.shape[0]
    answers = 0
    for a in range(state.tally.N_a.shape[0]):
        answers += state.tally.N_a[a]
    status, tol = -1, max(sampler.tol, 1.0 / math.sqrt(answers + 1.0))
    if seen_all(state.tally.N_a):
        status = keep_up(family, state.tally.mu_hat, sampler.R, tol, sampler.point, sampler.space)[0]
        if status == INEXACT:
            status = solve(family, state.tally.mu_hat, sampler.R, tol, COLD, sampler.point, sampler.space)[0]
    known = status in (OPTIMAL, INEXACT)
    total = 0.0
    for i in range(n):
        sampler.omega[i] = sampler.point.omega[i] / sampler.costs[i] if known else 1.0
        total += sampler.omega[i]
    for i in range(n):
        sampler.omega[i] /= total


@inlined
def choose(family: Family, sampler: Sampler, state: State, t: int, available: Bools, rng: np.random.Generator) -> int:
    """The mediator to ask at time t (queries issued before); −1 when no member is available."""
    n = sampler.members.shape[0]
    if sampler.kind == RANDOM:
        return pick(sampler.members, available, rng)
    if sampler.kind == CYCLIC:
        return least_asked(state.N_e, sampler.members, available)
    if sampler.kind == FIXED:
        for i in range(n):
            sampler.omega[i] = sampler.target[i] * (t + 1)
        return furthest_behind(sampler.omega, state.N_e, sampler.members, available)
    refresh(family, sampler, state)
    if sampler.kind == C_TRACKING:
        project(sampler.omega, exploration_floor(n, t))
        for i in range(n):
            sampler.target[i] += sampler.omega[i]
        return furthest_behind(sampler.target, state.N_e, sampler.members, available)
    e = forced(state.N_e, sampler.members, available, t)
    if e >= 0:
        return e
    for i in range(n):
        sampler.target[i] = t * sampler.omega[i]
    return furthest_behind(sampler.target, state.N_e, sampler.members, available)


@leaf
def pick(members: Ints, available: Bools, rng: np.random.Generator) -> int:
    """A member drawn uniformly from those available; −1 when none is."""
    free = 0
    for i in range(members.shape[0]):
        free += available[members[i]]
    if free == 0:
        return -1
    skip = int(rng.random() * free)
    for i in range(members.shape[0]):
        if available[members[i]]:
            if skip == 0:
                return int(members[i])
            skip -= 1
    return -1
