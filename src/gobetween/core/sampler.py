"""A sampling rule at work: what compiled code sees of it. Ours share one kind of sampler, told apart by a number, because every
further type would compile the whole step anew; only those that track have their own, as the solver is half of what there is to
compile. A rule of one's own brings its type with it.
"""

import math
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from gobetween.core.certificate import Point, forget, new_point
from gobetween.core.family import Family
from gobetween.core.game import COLD, INEXACT, OPTIMAL, Workspace, keep_up, new_workspace, solve
from gobetween.core.geometry import needless_mediators
from gobetween.core.jit import by_type, inlined, leaf, part, uniform
from gobetween.core.narrow import Narrow, add_to_narrow, new_narrow
from gobetween.core.policies import are_known, may_pull
from gobetween.core.pursuit import PRIOR, add_gains, expected_pulls, highest, hopes, scarcest, stranger, unseen_gains
from gobetween.core.question import Question, gather
from gobetween.core.questions import BestArm
from gobetween.core.rule import SamplingRule, View, choose, compiled_form, first_memory, observe, remember
from gobetween.core.state import State, seen_all
from gobetween.core.tracking import exploration_floor, forced, furthest_behind, least_asked, project
from gobetween.core.types import Bools, Floats, Ints
from gobetween.errors import ProblemError

Source = np.random.Generator | float
"""Random numbers: a generator, or the one number that a rule of ours may need."""
C_TRACKING, D_TRACKING, FIXED, RANDOM, CYCLIC, PURSUIT = 0, 1, 2, 3, 4, 5


class Sampler(NamedTuple):
    """One of our rules at work on K arms and E mediators; n of these are members, the others were pruned."""

    kind: int
    tol: float
    members: Ints  # [n] the mediators that may be asked
    unknown: Bools  # [n] is the policy estimated?
    may: Bools  # [K, n] where it is: the arms that may be pulled
    sizes: Floats  # [n] how many these are
    costs: Floats  # [n]
    R: Floats  # [K, n] rates; estimated along the way where unknown
    target: Floats  # [n] Σω (C), fixed shares, or scratch
    omega: Floats  # [n] the latest shares of queries
    point: Point
    workspace: Workspace
    arms: Floats  # [3, K] scratch of pursuit: pulls, evidence against each rival, what a pull of each is worth
    most: Floats  # [1] the most evidence that pursuit has seen
    question: Question
    mask: Bools  # [K] the answer that pursuit asks for
    little: Narrow  # how little bounded rewards vary, for pursuit

    def next_mediator(self, family: Family, state: State, t: int, available: Bools, rng: Source) -> int:
        """The mediator to ask at time t (queries issued before); −1 when no member is available."""
        return chosen(family, self, state, t, available, rng)

    def learn(self, family: Family, state: State, t: int, e: int, a: int, reward: float) -> None:
        """Mediator e has answered."""
        estimate(self, state, e)
        if self.little.share > 0.0 and a < self.mask.shape[0]:
            add_to_narrow(self.little, a, reward)

    def restart(self) -> None:
        """Forget everything learnt, for a new run."""
        forget_rates(self)

    def reestimate(self, state: State, e: int) -> None:
        """Answers of mediator e were counted or changed all at once."""
        estimate(self, state, e)

    def replan(self, family: Family, state: State) -> None:
        """Shares to follow, from what was counted all at once: only trackers plan."""

    def shares(self) -> Floats | None:
        """[n] the shares of queries that are followed now; None where none are."""
        return None if self.kind == PURSUIT else self.omega

    def T_upper(self) -> float:
        """T̂* in units of cost, at the latest estimates; ∞ while it is not known."""
        return float(self.point.bounds[1])

    def saved(self) -> dict[str, Any]:
        """All that was learnt, JSON-safe."""
        return {
            "target": self.target.tolist(),
            "omega": self.omega.tolist(),
            "R": self.R.tolist(),
            "point": {name: getattr(self.point, name).tolist() for name in ("omega", "q", "odds")},
            "bounds": [repr(float(x)) for x in self.point.bounds],
            "most": float(self.most[0]),
            **({"mask": self.mask.tolist()} if self.mask.any() else {}),
            **({"little": self.little.sums.tolist()} if self.little.share > 0.0 else {}),
        }

    def restore(self, data: dict[str, Any]) -> None:
        """Take up what `saved` wrote."""
        self.target[:], self.omega[:], self.R[:] = data["target"], data["omega"], data["R"]
        for name, values in data["point"].items():
            getattr(self.point, name)[:] = values
        self.point.bounds[:] = [float(x) for x in data["bounds"]]
        self.most[0] = data.get("most", 0.0)
        self.mask[:] = data.get("mask", False)
        if self.little.share > 0.0:
            self.little.sums[:] = data.get("little", 0.0)  # an earlier version kept none


class Tracker(Sampler):
    """A rule at work that follows ω*, by the solver."""

    __slots__ = ()

    def next_mediator(self, family: Family, state: State, t: int, available: Bools, rng: Source) -> int:
        """The mediator to ask at time t (queries issued before); −1 when no member is available."""
        return tracked(family, self, state, t, available)

    def replan(self, family: Family, state: State) -> None:
        """Shares to follow, from what was counted all at once."""
        refresh(family, self, state)


class OwnSampler(NamedTuple):
    """Someone's own rule at work."""

    rule: Any  # its parameters and functions
    members: Ints  # [E] all mediators
    policies: Floats  # [E, K] declared, or estimated along the way
    declared: Bools  # [E]
    costs: Floats  # [E]
    first: Floats  # the memory that a run begins with
    memory: Floats

    def next_mediator(self, family: Family, state: State, t: int, available: Bools, rng: np.random.Generator) -> int:
        """What the rule says."""
        return choose(self.rule, view_of(self, family, state, t), available, rng)

    def learn(self, family: Family, state: State, t: int, e: int, a: int, reward: float) -> None:
        """Mediator e has answered; the rule is told."""
        if not self.declared[e]:
            estimate_policy(self.policies, state, e)
        observe(self.rule, view_of(self, family, state, t), e, a, reward)

    def restart(self) -> None:
        """Forget everything learnt, for a new run."""
        remember(self.memory, self.first)
        for e in range(self.declared.shape[0]):
            if not self.declared[e]:
                self.policies[e, :] = 0.0

    def reestimate(self, state: State, e: int) -> None:
        """Answers of mediator e were counted or changed all at once; the rule is not told of each."""
        if not self.declared[e]:
            estimate_policy(self.policies, state, e)

    def replan(self, family: Family, state: State) -> None:
        """Only the rule plans."""

    def shares(self) -> Floats | None:
        """Only the rule knows."""
        return None

    def T_upper(self) -> float:
        """Not computed."""
        return math.inf

    def saved(self) -> dict[str, Any]:
        """What the rule remembers, and policies as estimated, JSON-safe."""
        return {"memory": [repr(float(x)) for x in self.memory.ravel()], "estimated": self.policies.tolist()}

    def restore(self, data: dict[str, Any]) -> None:
        """Take up what `saved` wrote."""
        self.memory[:] = np.array([float(x) for x in data["memory"]]).reshape(self.memory.shape)
        self.policies[:] = data["estimated"]


AnySampler = Sampler | OwnSampler


def source_of(sampler: AnySampler, rng: np.random.Generator) -> Source:
    """The random numbers of the next choice."""
    if isinstance(sampler, OwnSampler):
        return rng
    return rng.random() if sampler.kind == RANDOM else 0.0


@by_type("int64", inline=True)
def next_mediator(sampler: AnySampler, family: Family, state: State, t: int, available: Bools, rng: Any) -> int:
    """Whom the rule asks at time t (queries issued before); −1 when it can ask nobody."""
    return sampler.next_mediator(family, state, t, available, rng)


@by_type("none", inline=True)
def learn(sampler: AnySampler, family: Family, state: State, t: int, e: int, a: int, reward: float) -> None:
    """Mediator e answered: arm a paid a reward, or nothing (a = K)."""
    sampler.learn(family, state, t, e, a, reward)


def new_sampler(
    kind: int,
    policies: Floats,
    known: Bools,
    costs: Floats,
    members: Ints | None = None,
    target: Floats | None = None,
    tol: float = 1e-3,
) -> Sampler:
    """Set one of our rules to work on policies [E, K], of which what is known may be looked at, and supports."""
    E, K = policies.shape
    members = np.arange(E) if members is None else members
    n = len(members)
    R = np.ascontiguousarray((np.where(known[:, None], policies, 0.0) / costs[:, None])[members].T)
    may = np.ascontiguousarray(may_pull(policies)[members].T)
    tracks = kind in (C_TRACKING, D_TRACKING)
    return (Tracker if tracks else Sampler)(
        kind,
        tol,
        members.astype(np.int64),
        ~known[members],
        may,
        may.sum(axis=0).astype(np.float64),
        costs[members],
        R,
        np.zeros(n) if target is None else target,
        np.full(n, 1.0 / n),
        new_point(K, n),
        new_workspace(K, n) if tracks else new_workspace(1, 1),
        np.zeros((3, K)),
        np.zeros(1),
        BestArm(),
        np.zeros(K, np.bool_),
        new_narrow(0, 0.0, 0.0, 1.0),
    )


def new_own_sampler(rule: SamplingRule, policies: Floats, declared: Bools, costs: Floats) -> OwnSampler:
    """Set someone's own rule to work."""
    E, K = policies.shape
    first = first_memory(rule, rule.memory(K, E))
    believed = np.where(declared[:, None], policies, 0.0)
    return OwnSampler(compiled_form(rule), np.arange(E), believed, declared.copy(), costs.copy(), first, first.copy())


def kept_members(policies: Floats, declared: Bools, costs: Floats) -> Ints:
    """The mediators that pruning leaves; whoever is not declared must have a support."""
    if np.isnan(policies).all(axis=1).any() or not declared[are_known(policies)].all():
        raise ProblemError(
            "prune=True needs the policy of every mediator, or its support: declare them all, or say prune=False"
        )
    return _kept(policies.tobytes(), policies.shape, costs.tobytes())


@lru_cache(maxsize=32)  # every thread and every process sets the same rule to work
def _kept(policies: bytes, shape: tuple[int, int], costs: bytes) -> Ints:
    needless = needless_mediators(np.frombuffer(policies).reshape(shape), np.frombuffer(costs))
    return np.setdiff1d(np.arange(shape[0]), needless).astype(np.int64)


@leaf
def forget_rates(sampler: Sampler) -> None:
    """Forget everything learnt, for a new run."""
    forget(sampler.point)
    sampler.most[0] = 0.0
    sampler.mask[:] = False
    sampler.little.sums[:] = 0.0
    if sampler.kind != FIXED:
        sampler.target[:] = 0.0
    for i in range(sampler.members.shape[0]):
        if sampler.unknown[i]:
            for a in range(sampler.R.shape[0]):
                sampler.R[a, i] = 0.0


@part
def estimate(sampler: Sampler, state: State, e: int) -> None:
    """Refresh the rates of a mediator that has just answered, if they are unknown: π̂_e(a) = N_ea/Σ_a N_ea, silence included.

    Pursuit, once every arm has been seen, adds PRIOR to each arm that the mediator may pull (Krichevsky–Trofimov): it follows
    estimates at once, and after few answers 0 is no good one.
    """
    prior = PRIOR if sampler.kind == PURSUIT and seen_all(state.tally.N_a) else 0.0
    for i in range(sampler.members.shape[0]):
        if sampler.members[i] == e and sampler.unknown[i]:
            K = sampler.R.shape[0]
            answers = 0
            for a in range(K + 1):
                answers += state.N_ea[e, a]
            total = (max(answers, 1) + sampler.sizes[i] * prior) * sampler.costs[i]
            for a in range(K):
                sampler.R[a, i] = (state.N_ea[e, a] + (prior if sampler.may[a, i] else 0.0)) / total


@leaf
def estimate_policy(policies: Floats, state: State, e: int) -> None:
    """π̂_e(a) = N_ea/Σ_a N_ea, silence included."""
    K = policies.shape[1]
    answers = 0
    for a in range(K + 1):
        answers += state.N_ea[e, a]
    for a in range(K):
        policies[e, a] = state.N_ea[e, a] / answers if answers else 0.0


@inlined  # not a leaf: arrays that a leaf returns are not counted as references
def view_of(own: OwnSampler, family: Family, state: State, t: int) -> View:
    """What someone's own rule sees."""
    tally = state.tally
    return View(
        family, t, state.N_e, state.N_ea, tally.N_a, tally.S_a, tally.mu_hat, own.policies, own.declared, own.costs, own.memory
    )


@inlined
def refresh(family: Family, sampler: Sampler, state: State) -> None:
    """Write to omega the shares of queries to follow now: ω*(μ̂, π̂) ∝ ρ/c, uniform before it can be computed or in a tie."""
    n = sampler.members.shape[0]
    answers = 0
    for a in range(state.tally.N_a.shape[0]):
        answers += state.tally.N_a[a]
    status, tol = -1, max(sampler.tol, 1.0 / math.sqrt(answers + 1.0))
    if seen_all(state.tally.N_a):
        status = keep_up(family, state.tally.mu_hat, sampler.R, tol, sampler.point, sampler.workspace)[0]
        if status == INEXACT:
            status = solve(family, state.tally.mu_hat, sampler.R, tol, COLD, sampler.point, sampler.workspace)[0]
    known = status in (OPTIMAL, INEXACT)
    total = 0.0
    for i in range(n):
        sampler.omega[i] = sampler.point.omega[i] / sampler.costs[i] if known else 1.0
        total += sampler.omega[i]
    for i in range(n):
        sampler.omega[i] /= total


@inlined
def chosen(family: Family, sampler: Sampler, state: State, t: int, available: Bools, rng: Source) -> int:
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
    return pursued(family, sampler, state, t, available)


@inlined
def tracked(family: Family, sampler: Sampler, state: State, t: int, available: Bools) -> int:
    """The mediator that is furthest behind what ω* asks for; −1 when no member is available."""
    n = sampler.members.shape[0]
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


@part
def pursued(family: Family, sampler: Sampler, state: State, t: int, available: Bools) -> int:
    """Whom pursuit asks: for arms that were not seen, mediators who are not known, arms seldom seen, then against rivals."""
    members, R, costs, N_e, scores = sampler.members, sampler.R, sampler.costs, state.N_e, sampler.omega
    pulls, gains = sampler.arms[0], sampler.arms[2]
    if not seen_all(state.tally.N_a):
        unseen_gains(state.tally.N_a, N_e, R, members, costs, gains)
        add_gains(gains, R, scores)
        hopes(gains, sampler.unknown, sampler.may, sampler.sizes, N_e, members, costs, scores)
        e = highest(scores, members, available, N_e)
        if e >= 0:
            return e
    e = stranger(sampler.unknown, members, available, N_e, t)
    if e >= 0:
        return e
    expected_pulls(state, R, members, costs, t, pulls)
    a = scarcest(pulls, R, costs, members, available, t)
    if a >= 0:
        gains[:] = 0.0
        gains[a] = 1.0
    else:
        evidence = sampler.arms[1]
        gather(sampler.question, family, state.tally, pulls, sampler.little, evidence, sampler.mask, sampler.most, gains)
    add_gains(gains, R, scores)
    e = highest(scores, members, available, N_e)
    return e if e >= 0 else least_asked(N_e, members, available)


@leaf
def pick(members: Ints, available: Bools, rng: Source) -> int:
    """A member drawn uniformly from those available; −1 when none is."""
    free = 0
    for i in range(members.shape[0]):
        free += available[members[i]]
    if free == 0:
        return -1
    skip = int(uniform(rng) * free)
    for i in range(members.shape[0]):
        if available[members[i]]:
            if skip == 0:
                return int(members[i])
            skip -= 1
    return -1
