"""The two rules of a learner at work: the sampling rule plans whom to ask, the stopping rule decides when to stop asking."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from gobetween.core.alarm.contradiction import Claim
from gobetween.core.ground.jit import Bools, Floats, index
from gobetween.core.ground.tally import State
from gobetween.core.problem.cast import Cast
from gobetween.core.reward.family import Family
from gobetween.core.run.loops import choose, verdict
from gobetween.core.sampling.availability import among, follow, hand_back, plan_to_dict, restore_plan, time_of
from gobetween.core.stopping.stopper import AnyStopper
from gobetween.core.verdict.evidence_report import Evidence, weigh
from gobetween.errors import ProblemError
from gobetween.interrupts import held
from gobetween.study.learner.design import Design
from gobetween.study.learner.ledger import Ledger

NEVER = np.array([np.inf])  # a limit that no evidence reaches


class Planner:
    """A sampling rule at work on what was seen, and its plan around those who cannot be asked now."""

    def __init__(self, cast: Cast, design: Design, family: Family, seen: State, stopper: AnyStopper) -> None:
        self.cast, self.design, self.family, self.seen = cast, design, family, seen
        who = cast.policies, cast.declared, cast.costs
        self.sampler = design.sampling.sampler_for(design.question, *who, stopper.bernstein())  # the rule at work on everyone
        self.plan, self.present = self.sampler, np.ones(len(seen.N_e), np.bool_)
        """The rule at work on those present [E]: the sampler itself, unless a mediator that it needs is away."""
        self.rng = np.random.Generator(np.random.PCG64(np.random.SeedSequence(design.seed)))

    def choose(self, t: int, free: Bools) -> int:
        """Whom to ask after t queries, of those who are free [E]."""
        self._plan_for(free)
        now = index(time_of(self.plan, self.sampler, self.seen.N_e, t))
        with held():
            e = int(choose(self.family, self.plan, self.seen, now, free, self.plan.randomness(self.rng)))
        if e < 0:
            rule = type(self.design.sampling).__name__
            raise ProblemError(f"{rule}.choose named a mediator who cannot be asked: take an available one")
        self.seen.N_e[e] -= 1  # it is counted when it is asked
        return e

    @property
    def believed(self) -> Floats:
        """[E, K] declared policies, NaN where answers have refuted them."""
        refuted = self.sampler.refuted(len(self.cast.mediators))
        return np.where(refuted[:, None], np.nan, self.cast.policies)

    def _plan_for(self, present: Bools) -> None:
        if (present != self.present).any():
            hand_back(self.plan, self.sampler)
            self.plan = among(self.sampler, present, self.cast.policies, self.cast.costs, self.seen.N_e)
            self.present = present.copy()
        follow(self.plan, self.sampler, self.seen)

    def to_dict(self) -> dict[str, Any]:
        rng: Any = self.rng.bit_generator.state["state"]
        kept = {"sampler": self.sampler.to_dict(), "present": self.present, "plan": plan_to_dict(self.plan, self.sampler)}
        return kept | {"rng": {key: str(value) for key, value in rng.items()}}

    def restore(self, data: Mapping[str, Any]) -> None:
        rng: Any = self.rng.bit_generator.state
        self.rng.bit_generator.state = rng | {"state": {key: int(value) for key, value in data["rng"].items()}}
        self.sampler.restore(data["sampler"])
        self._plan_for(np.array(data["present"], np.bool_))
        if data["plan"] is not None:
            restore_plan(self.plan, data["plan"])


class Decision:
    """A stopping rule at work on what is counted, the answer that it has named, and what later answers may contradict."""

    def __init__(self, design: Design, counted: Ledger) -> None:
        self.design, self.counted, K = design, counted, len(counted.tally.N_a)
        self.stopper = design.stopping.stopper_for(design.question, K, design.family)
        self.constant = np.array([design.stopping.threshold_for(design.question, K, design.delta, design.family)])  # [1] c(δ)
        self.named: tuple[int, ...] | None = None  # the arms of the answer
        self.verdict: dict[str, float] | None = None  # the evidence when it was named: statistic, threshold, p_value, counted
        self.doubted = False  # was an answer corrected since, and has the evidence not been enough again?
        self.claim: Claim | None = None  # an answer that was certain, and what has spoken against it since

    def look(self, a: int, x: float) -> None:
        """Has the verdict been reached, now that arm a is counted, which paid x? The arm K stands for none."""
        family, tally, n, question = self.counted.family, self.counted.tally, self.counted.n, self.design.question
        settled = self.sure and self.claim is not None  # nothing that a look could find is news
        best, passed = verdict(family, self.stopper, tally, index(n), a, x, NEVER if settled else self.constant, 0)
        if passed and not self.sure:
            self._name(self.evidence())
        if self.claim is not None:
            self.claim = self.claim.seen(question, family, tally, n)
        elif passed:
            mask = np.zeros(len(tally.N_a), np.bool_)
            self.stopper.answer(int(best), mask)
            self.claim = Claim.of(question, tuple(np.flatnonzero(mask).tolist()), n)

    @property
    def sure(self) -> bool:
        """Is an answer named, and not in doubt?"""
        return self.named is not None and not self.doubted

    def _name(self, found: Evidence) -> None:
        """Name an answer, or the one in doubt again; another one waits for `reconsider`."""
        if self.named not in (None, found.answer):
            return
        self.named, self.doubted = found.answer, False
        numbers = {name: getattr(found, name) for name in ("statistic", "threshold", "p_value")}
        self.verdict = numbers | {"counted": self.counted.n}

    def go_on(self) -> None:
        """Look for the answer again, if it is in doubt."""
        if self.doubted:
            self.reconsider()

    def evidence(self) -> Evidence:
        """What the counted answers say about their leader, by the stopping rule."""
        design, one = self.design, self.counted
        return weigh(one.family, design.stopping, design.delta, one.tally, one.n, self.stopper, design.question)

    def give_up(self, *arms: int) -> None:
        """What the stopping rule remembers of the order of these arms' answers holds no more, nor does a claim."""
        self.claim, self.doubted = None, self.named is not None
        for a in arms:
            if a < len(self.counted.tally.N_a):
                self.stopper.corrected(a)

    def reconsider(self) -> bool:
        """Forget a verdict that the evidence no longer supports. Was it forgotten?"""
        found = self.evidence()
        if self.named is None or (found.answer == self.named and found.reached):
            return False
        self.named, self.verdict, self.doubted = None, None, False
        return True

    def to_dict(self) -> dict[str, Any]:
        named, claim = self.named and list(self.named), self.claim and self.claim.to_dict()
        kept = {"stopper": self.stopper.to_dict(), "named": named, "verdict": self.verdict, "claim": claim}
        return kept | {"doubted": self.doubted}

    def restore(self, data: Mapping[str, Any]) -> None:
        self.stopper.restore(data["stopper"])
        self.named = None if data["named"] is None else tuple(data["named"])
        self.verdict, self.doubted = data["verdict"], data["doubted"]
        self.claim = data["claim"] and Claim.restored(data["claim"])
