"""Sampling rules: which mediator to ask next. Rules are small values; `Sampler` is what compiled code sees of them."""

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from gobetween.core.bound import lower_bound
from gobetween.core.certificate import Point, forget, new_point
from gobetween.core.families import Family
from gobetween.core.game import INEXACT, OPTIMAL, WARM, Space, new_space, solve
from gobetween.core.geometry import redundant_mediators
from gobetween.core.jit import jit, leaf
from gobetween.core.problem import Problem
from gobetween.core.state import State, seen_all
from gobetween.core.tracking import exploration_floor, furthest_behind, least_asked, project
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
    tol: relative gap up to which ω_t need not be optimal; the old ω is kept while its certificate holds.
    """

    tracking: str = "C"
    policies: str = "known"
    prune: bool = False
    start: str = "uniform"
    tol: float = 1e-2

    def __post_init__(self) -> None:
        _choice("tracking", self.tracking, ("C", "D"))
        _choice("policies", self.policies, ("known", "unknown"))
        _choice("start", self.start, ("uniform",))
        if not 0.0 < self.tol < 1.0:
            raise ProblemError(f"tol = {self.tol!r}: the relative gap is a number between 0 and 1, such as 1e-2")
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
    unknown: bool
    tol: float
    members: Ints  # [n] the mediators that may be asked
    costs: Floats  # [n]
    R: Floats  # [K, n] rates; estimated along the way when unknown
    target: Floats  # [n] Σω (C), fixed shares, or scratch
    omega: Floats  # [n] the latest shares of queries
    point: Point
    space: Space


def new_sampler(rule: Sampling, problem: Problem) -> Sampler:
    """Set a rule to work on a problem; of the means only Oracle knows."""
    gone = [item.mediator for item in redundant_mediators(problem)] if isinstance(rule, Tracking) and rule.prune else []
    members = np.setdiff1d(np.arange(problem.E), gone).astype(np.int64)
    n = len(members)
    costs = np.ones(n) if problem.costs is None else problem.costs[members]
    unknown = isinstance(rule, Tracking) and rule.policies == "unknown"
    R = np.zeros((problem.K, n)) if unknown else np.ascontiguousarray(problem.rates[:, members])
    target = np.zeros(n)
    if isinstance(rule, Tracking):
        kind = C_TRACKING if rule.tracking == "C" else D_TRACKING
    elif isinstance(rule, UniformSampling):
        kind = RANDOM if rule.order == "random" else CYCLIC
    else:
        kind, target = FIXED, _fixed(rule, problem)
    tol = rule.tol if isinstance(rule, Tracking) else 1e-2
    return Sampler(
        kind, unknown, tol, members, costs, R, target, np.full(n, 1.0 / n), new_point(problem.K, n), new_space(problem.K, n)
    )


def _fixed(rule: Static | Oracle, problem: Problem) -> Floats:
    if isinstance(rule, Oracle):
        return lower_bound(problem).omega
    if len(rule.omega) != problem.E:
        raise ProblemError(f"omega of Static has {len(rule.omega)} shares for {problem.E} mediators")
    return np.array(rule.omega)


def _choice(name: str, value: object, allowed: tuple[str, ...]) -> None:
    if value not in allowed:
        raise ProblemError(f"{name} = {value!r}: choose {' or '.join(map(repr, allowed))}")


@leaf
def restart(sampler: Sampler) -> None:
    """Forget everything learnt, for a new run."""
    forget(sampler.point)
    if sampler.kind != FIXED:
        sampler.target[:] = 0.0
    if sampler.unknown:
        sampler.R[:] = 0.0


@leaf
def estimate(sampler: Sampler, state: State, e: int) -> None:
    """Refresh the rates of a mediator that has just answered: π̂_e(a) = N_ea/Σ_a N_ea, silence included."""
    for i in range(sampler.members.shape[0]):
        if sampler.members[i] == e:
            K = sampler.R.shape[0]
            answers = 0
            for a in range(K + 1):
                answers += state.N_ea[e, a]
            for a in range(K):
                sampler.R[a, i] = state.N_ea[e, a] / (answers * sampler.costs[i])


@jit
def refresh(family: Family, sampler: Sampler, state: State) -> None:
    """Write to omega the shares of queries to follow now: ω*(μ̂, π̂) ∝ ρ/c, uniform before it can be computed or in a tie."""
    n = sampler.members.shape[0]
    status = -1
    if seen_all(state.tally.N_a):
        status = solve(family, state.tally.mu_hat, sampler.R, sampler.tol, WARM, sampler.point, sampler.space)[0]
    known = status == OPTIMAL or status == INEXACT
    total = 0.0
    for i in range(n):
        sampler.omega[i] = sampler.point.omega[i] / sampler.costs[i] if known else 1.0
        total += sampler.omega[i]
    for i in range(n):
        sampler.omega[i] /= total


@jit
def choose(
    family: Family, sampler: Sampler, state: State, t: int, available: Bools, rng: np.random.Generator
) -> int:
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
    e = least_asked(state.N_e, sampler.members, available)
    if e >= 0 and state.N_e[e] < math.sqrt(t) - 0.5 * n:
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
                return members[i]
            skip -= 1
    return -1
