"""A sampling rule at work: what compiled code sees of it. Ours share one kind of sampler, told apart by a number, because every
further type would compile the whole step again; only those that track have their own, as the solver is half of what there is to
compile. A rule of one's own brings its type with it.
"""

import math
from typing import Any, NamedTuple

import numpy as np

from gobetween.core.bound.certificate import Point, forget, new_point
from gobetween.core.bound.game import COLD, INEXACT, OPTIMAL, Workspace, keep_up, new_workspace, solve
from gobetween.core.evidence.empirical_bernstein import BernsteinSums, add_to_bernstein, new_bernstein
from gobetween.core.evidence.policy_evidence import is_looked_at, is_refuted, refuted_at, with_silence
from gobetween.core.ground.jit import Bools, Floats, Ints, Randomness, by_type, inlined, leaf, part
from gobetween.core.ground.tally import State, seen_all
from gobetween.core.problem.cast import may_pull
from gobetween.core.question.question import Question
from gobetween.core.question.questions import BestArm
from gobetween.core.reward.family import Family
from gobetween.core.sampling.pursuit import PRIOR, pursue
from gobetween.core.sampling.sampling_rule import ALL, OwnSampler, refuted_to_dict
from gobetween.core.sampling.tracking import (
    box_to_ask,
    exploration_floor,
    forced,
    furthest_behind,
    least_asked,
    project,
    random_member,
)

C_TRACKING, D_TRACKING, FIXED, RANDOM, CYCLIC, PURSUIT, BOXES = 0, 1, 2, 3, 4, 5, 6


class Sampler(NamedTuple):
    """One of our rules at work on K arms and E mediators; n of these are members, the others were pruned."""

    kind: int
    tol: float
    members: Ints  # [n] the mediators that may be asked
    unknown: Bools  # [n] is the policy estimated? Also once answers have refuted it
    said: Floats  # [n, K + 1] the declared policy, silence included; NaN where there is none to be followed
    limit: float  # of the evidence that refutes one
    may: Bools  # [K, n] where it is estimated: the arms that may be pulled
    sizes: Floats  # [n] how many these are
    costs: Floats  # [n]
    R: Floats  # [K, n] rates; estimated along the way where unknown
    target: Floats  # [n] Σω (C, boxes), fixed shares, or scratch
    omega: Floats  # [n] the latest shares of queries
    point: Point
    workspace: Workspace
    arms: Floats  # [3, K] scratch of pursuit: pulls, evidence against each rival, what a pull of each is worth
    most: Floats  # [1] the most evidence that pursuit has seen; the turns that tracking of boxes has given
    question: Question
    mask: Bools  # [K] the answer that pursuit asks for
    bernstein: BernsteinSums  # how little bounded rewards vary, for pursuit

    def asking(self, question: Question, bernstein: BernsteinSums | None) -> "Sampler":
        """The same on a question; pursuit weighs how little rewards vary, if the stopping rule does."""
        if bernstein is None or self.kind != PURSUIT:
            return self._replace(question=question)
        return self._replace(question=question, bernstein=bernstein._replace(sums=np.zeros_like(bernstein.sums)))

    def randomness(self, rng: np.random.Generator) -> Randomness:
        """The random numbers of the next choice."""
        return rng.random() if self.kind == RANDOM else 0.0

    def planner(self) -> "Sampler | None":
        """Itself, if it plans shares for those who are there; None if it looks who is available, as pursuit does."""
        return None if self.kind == PURSUIT else self

    def next_mediator(self, family: Family, state: State, t: int, available: Bools, rng: Randomness) -> int:
        """The mediator to ask at time t (queries issued before); −1 when no member is available."""
        return choose_by_kind(family, self, state, t, available, rng)

    def learn(self, family: Family, state: State, t: int, e: int, a: int, reward: float) -> None:
        """Mediator e has answered."""
        estimate(self, state, e, a)
        if self.bernstein.share > 0.0 and a < self.mask.shape[0]:
            add_to_bernstein(self.bernstein, a, reward)

    def restart(self) -> None:
        """Forget everything learnt, for a new run."""
        forget_rates(self)

    def reestimate(self, state: State, e: int) -> None:
        """Answers of mediator e were counted or changed all at once: a policy is refuted if it is by all that remains."""
        estimate(self, state, e, ALL)

    def refuted(self, E: int) -> Bools:
        """[E] the mediators who have refuted what was declared of them."""
        found = np.zeros(E, np.bool_)
        found[self.members] = self.unknown & ~np.isnan(self.said[:, 0])
        return found

    def replan(self, family: Family, state: State) -> None:
        """Shares to follow, from what was counted all at once: only trackers plan."""

    def planned(self, present: Bools, family: Family, state: State) -> "Sampler":
        """A sampler that knows the best shares at the estimates: itself, or for pursuit one for those present [E]."""
        if self.kind != PURSUIT or not self.question.names_leader or not present.any():
            return self
        E, members = len(present), self.members[present[self.members]]
        shown = new_sampler(C_TRACKING, np.zeros((E, len(self.R))), np.ones(E, np.bool_), np.ones(E), members)
        shown.R[:], shown.costs[:] = self.R[:, members], self.costs[members]
        refresh(family, shown, state)
        return shown

    def take_over(self, before: dict[str, Any], members: Ints, left: list[int], N_e: Ints) -> None:
        """Go on from what a sampler with other members has saved; of its arms those at `left` are here. Queries: N_e [E]."""
        self.most[0] = before["most"]
        if self.bernstein.share > 0.0:
            self.bernstein.sums[:] = np.asarray(before["bernstein"])[:, left]
        if self.kind != FIXED:
            whole = N_e.astype(np.float64)
            whole[members] = before["target"]
            self.target[:] = whole[self.members]

    def shares(self) -> Floats | None:
        """[n] the shares of queries that are followed now; None where none are."""
        return None if self.kind == PURSUIT else self.omega

    def T_upper(self) -> float:
        """T̂* in units of cost, at the latest estimates; ∞ while it is not known."""
        return float(self.point.bounds[1])

    def to_dict(self) -> dict[str, Any]:
        """All that was learnt, with rates as a matrix."""
        return {
            "target": self.target.tolist(),
            "omega": self.omega.tolist(),
            "R": self.R,
            "point": {name: getattr(self.point, name).tolist() for name in ("omega", "q", "odds")},
            "bounds": [repr(float(x)) for x in self.point.bounds],
            "most": float(self.most[0]),
            "mask": self.mask,
            "bernstein": self.bernstein.sums,
        } | refuted_to_dict(self.unknown & ~np.isnan(self.said[:, 0]))

    def restore(self, data: dict[str, Any]) -> None:
        self.target[:], self.omega[:], self.R[:] = data["target"], data["omega"], data["R"]
        for name, values in data["point"].items():
            getattr(self.point, name)[:] = values
        self.point.bounds[:] = [float(x) for x in data["bounds"]]
        self.most[0], self.mask[:], self.bernstein.sums[:] = data["most"], data["mask"], data["bernstein"]
        self.unknown[:] = np.isnan(self.said[:, 0]) | np.array(data.get("refuted", False))


class Tracker(Sampler):
    """A rule at work that follows ω*, by the solver."""

    __slots__ = ()

    def next_mediator(self, family: Family, state: State, t: int, available: Bools, rng: Randomness) -> int:
        return track(family, self, state, t, available)

    def replan(self, family: Family, state: State) -> None:
        refresh(family, self, state)


AnySampler = Sampler | OwnSampler


@by_type("int64", inline=True)
def next_mediator(sampler: AnySampler, family: Family, state: State, t: int, available: Bools, rng: Any) -> int:
    """Whom the rule asks at time t (queries issued before); −1 when it can ask none."""
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
    tracks = kind in (C_TRACKING, D_TRACKING, BOXES)
    return (Tracker if tracks else Sampler)(
        kind,
        tol,
        members.astype(np.int64),
        ~known[members],
        with_silence(np.where(known[:, None], policies, np.nan))[members],
        refuted_at(policies),
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
        new_bernstein(0, 0.0, 0.0, 1.0),
    )


@leaf
def forget_rates(sampler: Sampler) -> None:
    """Forget everything learnt, for a new run."""
    forget(sampler.point)
    sampler.most[0] = 0.0
    sampler.mask[:] = False
    sampler.bernstein.sums[:] = 0.0
    if sampler.kind != FIXED:
        sampler.target[:] = 0.0
    for i in range(sampler.members.shape[0]):
        if sampler.unknown[i]:
            believe(sampler, i)


@part
def believe(sampler: Sampler, i: int) -> None:
    """Believe what is declared of the i-th member, and nothing else."""
    sampler.unknown[i] = math.isnan(sampler.said[i, 0])
    for a in range(sampler.R.shape[0]):
        sampler.R[a, i] = 0.0 if sampler.unknown[i] else sampler.said[i, a] / sampler.costs[i]


@part
def estimate(sampler: Sampler, state: State, e: int, last: int) -> None:
    """Refresh the rates of a mediator that has just answered, if they are unknown: π̂_e(a) = N_ea/Σ_a N_ea, silence included.
    They are once the answers refute what was declared. `last`: the arm of the last answer, or ALL: only if those that there are
    now do so.

    Pursuit, once every arm has been seen, adds PRIOR to each arm that the mediator may pull (Krichevsky–Trofimov): it follows
    estimates at once, and after few answers 0 is no good one.
    """
    prior = PRIOR if sampler.kind == PURSUIT and seen_all(state.tally.N_a) else 0.0
    for i in range(sampler.members.shape[0]):
        if sampler.members[i] != e:
            continue
        if last == ALL and sampler.unknown[i]:
            believe(sampler, i)
        if not sampler.unknown[i] and (last == ALL or is_looked_at(state.N_ea[e, last])):
            sampler.unknown[i] = is_refuted(state.N_ea[e], sampler.said[i], sampler.limit)
        if sampler.unknown[i]:
            K = sampler.R.shape[0]
            answers = 0
            for a in range(K + 1):
                answers += state.N_ea[e, a]
            total = (max(answers, 1) + sampler.sizes[i] * prior) * sampler.costs[i]
            for a in range(K):
                sampler.R[a, i] = (state.N_ea[e, a] + (prior if sampler.may[a, i] else 0.0)) / total


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
def choose_by_kind(family: Family, sampler: Sampler, state: State, t: int, available: Bools, rng: Randomness) -> int:
    """The mediator to ask at time t (queries issued before); −1 when no member is available."""
    n = sampler.members.shape[0]
    if sampler.kind == RANDOM:
        return random_member(sampler.members, available, rng)
    if sampler.kind == CYCLIC:
        return least_asked(state.N_e, sampler.members, available)
    if sampler.kind == FIXED:
        for i in range(n):
            sampler.omega[i] = sampler.target[i] * (t + 1)
        return furthest_behind(sampler.omega, state.N_e, sampler.members, available)
    return pursue(family, sampler, state, t, available)


@inlined
def track(family: Family, sampler: Sampler, state: State, t: int, available: Bools) -> int:
    """The mediator that is furthest behind what ω* asks for; −1 when no member is available."""
    n = sampler.members.shape[0]
    refresh(family, sampler, state)
    if sampler.kind == D_TRACKING:
        e = forced(state.N_e, sampler.members, available, t)
        if e >= 0:
            return e
        for i in range(n):
            sampler.target[i] = t * sampler.omega[i]
        return furthest_behind(sampler.target, state.N_e, sampler.members, available)
    if sampler.kind == C_TRACKING:
        project(sampler.omega, exploration_floor(n, t))
    for i in range(n):
        sampler.target[i] += sampler.omega[i]
    if sampler.kind == BOXES:
        return box_to_ask(state.tally.N_a, t, sampler.most, sampler.target, state.N_e, sampler.members, available)
    return furthest_behind(sampler.target, state.N_e, sampler.members, available)
