"""The contract of a sampling rule: what one's own rule must say and all that it is shown, and one's own rule at work. Ours are
in `rules.py`, at work in `sampler.py`.
"""

import math
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

import numpy as np

from gobetween.core.evidence.empirical_bernstein import BernsteinSums
from gobetween.core.evidence.policy_evidence import is_looked_at, is_refuted, refuted_at, with_silence
from gobetween.core.ground.jit import Bools, Floats, Ints, by_type, inlined, leaf
from gobetween.core.ground.registry import contract, resolve
from gobetween.core.ground.tally import State
from gobetween.core.ground.value import NotDefinedError, Rule, compiled_form, first_memory, observe, remember
from gobetween.core.problem.problem import Problem
from gobetween.core.question.question import Question
from gobetween.core.reward.family import Family
from gobetween.errors import ProblemError

if TYPE_CHECKING:
    from gobetween.core.sampling.sampler import AnySampler

ALL = -1  # in place of the arm of an answer: several were counted or changed at once


class SamplingView(NamedTuple):
    """What a sampling rule sees; it must change nothing but its memory."""

    family: Family
    t: int  # queries issued so far, pending ones included
    N_e: Ints  # [E] of each mediator
    N_ea: Ints  # [E, K+1] answers of each mediator by arm; the last column counts silence
    N_a: Ints  # [K] pulls of each arm
    S_a: Floats  # [K] sums of their rewards
    mu_hat: Floats  # [K] S_a/N_a; 0 for arms never seen
    policies: Floats  # [E, K] the problem as believed: declared policies, or estimates N_ea/Σ_a N_ea (0 before any answer)
    declared: Bools  # [E] which of them were declared, and are not refuted by answers
    costs: Floats  # [E] of a query; 1 where there are none
    memory: Floats  # the rule's own, as `memory` made it at the start of the run


@contract("sampling")
class SamplingRule(Rule):
    """Which mediator to ask next. Define `choose`; `memory` and `observe` if the rule remembers more than the counts.

    >>> from dataclasses import dataclass
    >>> @dataclass(frozen=True)
    ... class Last(gb.SamplingRule):
    ...     def choose(self, view, available, rng):
    ...         return available.nonzero()[0][-1]
    >>> gb.Learner(2, {"North": [0.5, 0.5], "South": [0.2, 0.8]}, sampling=Last()).ask().mediator
    'South'
    """

    needs: ClassVar[tuple[str, ...]] = ("choose",)
    functions: ClassVar[tuple[str, ...]] = ("choose", "memory", "observe")
    live: ClassVar[bool] = True
    """Can a learner use it? Not if it knows what only a simulation does."""
    any_question: ClassVar[bool] = False
    """Does it serve every question, not the best arm alone?"""
    draws: ClassVar[bool] = True
    """Does it draw random numbers?"""

    def choose(self, view: SamplingView, available: Bools, rng: np.random.Generator) -> int:
        """The mediator to ask now, one of those available [E]; `rng` is the rule's own stream."""
        raise NotDefinedError

    def memory(self, K: int, E: int) -> Floats:
        """An array of floats of any shape, for the rule to write to; each run begins with it as it is here."""
        return np.zeros(0)

    def observe(self, view: SamplingView, e: int, a: int, reward: float) -> None:
        """Mediator e answered: arm a paid a reward, or nothing was pulled (a = K)."""

    def told(self, problem: Problem) -> "SamplingRule":
        """The rule once it knows the true problem, which only a simulation can tell it: by default the same."""
        return self

    def at_work(self, policies: Floats, declared: Bools, costs: Floats) -> "AnySampler":
        """The rule set to work on policies [E, K], of which only the declared ones may be looked at."""
        return new_own_sampler(self, policies, declared, costs)

    def sampler_for(
        self, question: Question, policies: Floats, declared: Bools, costs: Floats, bernstein: BernsteinSums | None = None
    ) -> "AnySampler":
        """The rule set to work on a question; `bernstein` says how little rewards vary, where the stopping rule weighs it."""
        if not (question.names_leader or self.any_question):
            raise ProblemError(f"{type(self).__name__} asks for the best arm: for {question.name} choose Pursuit()")
        return self.at_work(policies, declared, costs).asking(question, bernstein)


def as_sampling(value: SamplingRule | str) -> SamplingRule:
    """A sampling rule, or the one that a word such as "tracking" stands for."""
    rule: SamplingRule = resolve("sampling", value)
    return rule


@by_type("int64")
def choose(rule: Any, view: SamplingView, available: Bools, rng: np.random.Generator) -> int:
    """What a sampling rule of one's own chooses."""
    return int(rule.choose(view, available, rng))


class OwnSampler(NamedTuple):
    """Someone's own rule at work; `Sampler` says what each method is for. Only the rule knows what it asks for and plans."""

    rule: Any  # its parameters and functions
    members: Ints  # [E] all mediators
    policies: Floats  # [E, K] declared, or estimated along the way
    declared: Bools  # [E] whose policy is declared, and not refuted
    said: Floats  # [E, K + 1] the declared policy, silence included; NaN where there is none
    limit: float  # of the evidence that refutes one
    costs: Floats  # [E]
    first: Floats  # the memory that a run begins with
    memory: Floats

    def asking(self, question: Question, bernstein: BernsteinSums | None) -> "OwnSampler":
        return self

    def randomness(self, rng: np.random.Generator) -> np.random.Generator:
        return rng

    def planner(self) -> None:
        """A rule of one's own looks who is available."""

    def next_mediator(self, family: Family, state: State, t: int, available: Bools, rng: np.random.Generator) -> int:
        return choose(self.rule, view_of(self, family, state, t), available, rng)

    def learn(self, family: Family, state: State, t: int, e: int, a: int, reward: float) -> None:
        estimate_policy(self, state, e, a)
        observe(self.rule, view_of(self, family, state, t), e, a, reward)

    def restart(self) -> None:
        remember(self.memory, self.first)
        for e in range(self.declared.shape[0]):
            trust(self, e)

    def reestimate(self, state: State, e: int) -> None:
        estimate_policy(self, state, e, ALL)

    def refuted(self, E: int) -> Bools:
        return np.asarray(~self.declared & ~np.isnan(self.said[:, 0]))

    def replan(self, family: Family, state: State) -> None:
        """Only the rule plans."""

    def planned(self, present: Bools, family: Family, state: State) -> "OwnSampler":
        return self

    def take_over(self, before: dict[str, Any], members: Ints, left: list[int], N_e: Ints) -> None:
        if len(before["memory"]) != self.memory.size:
            rule = type(self.rule).__name__
            raise ProblemError(f"{rule} cannot go on with another cast: its memory is made for the cast it had")
        self.memory[:] = np.array([float(x) for x in before["memory"]]).reshape(self.memory.shape)

    def shares(self) -> Floats | None:
        return None

    def T_upper(self) -> float:
        return math.inf

    def to_dict(self) -> dict[str, Any]:
        kept = {"memory": [repr(float(x)) for x in self.memory.ravel()], "estimated": self.policies}
        return kept | refuted_to_dict(self.refuted(len(self.declared)))

    def restore(self, data: dict[str, Any]) -> None:
        self.memory[:] = np.array([float(x) for x in data["memory"]]).reshape(self.memory.shape)
        self.policies[:] = data["estimated"]
        self.declared[:] = ~np.isnan(self.said[:, 0]) & ~np.array(data.get("refuted", False))


def new_own_sampler(rule: SamplingRule, policies: Floats, declared: Bools, costs: Floats) -> OwnSampler:
    """Set someone's own rule to work."""
    E, K = policies.shape
    first = first_memory(rule, rule.memory(K, E))
    believed = np.where(declared[:, None], policies, 0.0)
    said, limit = with_silence(np.where(declared[:, None], policies, np.nan)), refuted_at(policies)
    form, who = compiled_form(rule), np.arange(E)
    return OwnSampler(form, who, believed, declared.copy(), said, limit, costs.copy(), first, first.copy())


def refuted_to_dict(refuted: Bools) -> dict[str, Any]:
    """What is kept of refuted policies: nothing where there are none."""
    return {"refuted": refuted.tolist()} if refuted.any() else {}


@leaf
def trust(own: OwnSampler, e: int) -> None:
    """Believe what is declared of a mediator, and nothing else."""
    own.declared[e] = not math.isnan(own.said[e, 0])
    for a in range(own.policies.shape[1]):
        own.policies[e, a] = own.said[e, a] if own.declared[e] else 0.0


@leaf
def estimate_policy(own: OwnSampler, state: State, e: int, last: int) -> None:
    """π̂_e(a) = N_ea/Σ_a N_ea, silence included, of a policy that is not declared or that answers refute. `last`: the arm of the
    last answer, or ALL: only if those that there are now do so.
    """
    K = own.policies.shape[1]
    answers = 0
    for a in range(K + 1):
        answers += state.N_ea[e, a]
    if last == ALL:
        trust(own, e)
    if own.declared[e] and (last == ALL or is_looked_at(state.N_ea[e, last])):
        own.declared[e] = not is_refuted(state.N_ea[e], own.said[e], own.limit)
    for a in range(K if not own.declared[e] else 0):
        own.policies[e, a] = state.N_ea[e, a] / answers if answers else 0.0


@inlined  # not a leaf: arrays that a leaf returns are not counted as references
def view_of(own: OwnSampler, family: Family, state: State, t: int) -> SamplingView:
    """What someone's own rule sees."""
    tally = state.tally
    return SamplingView(
        family, t, state.N_e, state.N_ea, tally.N_a, tally.S_a, tally.mu_hat, own.policies, own.declared, own.costs, own.memory
    )
