"""All that a learner knows: what it was told, what of that is counted, whom it has asked, and its two rules at work.

Saving, changing who is there, alarms and forecasts act on this value. Mediators and arms are places here, not names.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from gobetween.core.alarm.alarm import Facts
from gobetween.core.alarm.contradiction import Claim
from gobetween.core.alarm.drift import Checkpoint, split_after
from gobetween.core.ground.jit import Bools, Floats, Ints, index
from gobetween.core.ground.tally import State
from gobetween.core.problem.cast import Cast, check_names
from gobetween.core.run.loops import observe
from gobetween.core.verdict.evidence_report import Account, account, likeliest
from gobetween.errors import Fix, ProblemError
from gobetween.study.learner.checkpoints import Checkpoints
from gobetween.study.learner.design import Design
from gobetween.study.learner.ledger import Ledger, new_ledgers
from gobetween.study.learner.queries import Answer, Queries
from gobetween.study.learner.rules import Decision, Planner


class LearnerState:
    """A learner at one moment."""

    def __init__(
        self, cast: Cast, design: Design, told: Ledger, counted: Ledger, queries: Queries, checkpoints: Checkpoints
    ) -> None:
        assert told.N_ea is not None  # of what was told all is kept
        self.cast, self.design, self.queries, self.checkpoints = cast, design, queries, checkpoints
        self.told, self.counted = told, counted
        self.seen = State(told.N_ea, queries.N_e, told.tally)  # what sampling rules look at
        self.decision = Decision(design, counted)
        self.planner = Planner(cast, design, told.family, self.seen, self.decision.stopper)

    @classmethod
    def begin(cls, cast: Cast, design: Design) -> "LearnerState":
        """Nothing asked, nothing told."""
        K, E, in_order = len(cast.arms), len(cast.mediators), design.order == "issue"
        ledgers, queries = new_ledgers(design.family, K, E), Queries(in_order, np.zeros(E, np.int64))
        return cls(cast, design, *ledgers, queries, Checkpoints())

    def ask(self, free: Bools, fact: int | None = None) -> tuple[int, int]:
        """Issue a query to the mediator that the rule chooses of those free [E], unless a record says who was asked.

        Returns its number, and whom the rule chose.
        """
        chosen = self.planner.choose(self.queries.issued, free)
        e = chosen if fact is None else fact
        number = self.queries.issue(e)
        self.queries.open[number] = e
        return number, chosen

    def tell(self, number: int | None, answer: Answer) -> None:
        """An answer to an open query, or to none."""
        if number is None:
            number = self.queries.issue(answer.e)
        else:
            del self.queries.open[number]
        observe(self.told.family, self.planner.sampler, self.seen, index(self.queries.issued), *answer)
        self.told.sum_up(answer)
        self._resolve(number, answer)

    def cancel(self, number: int) -> None:
        """Withdraw an open query."""
        self.queries.N_e[self.queries.open.pop(number)] -= 1
        self._resolve(number, None)

    def _resolve(self, number: int, answer: Answer | None) -> None:
        """Count what can be counted now, looking for the verdict after each answer."""
        for each, ready in self.queries.resolve(number, answer):
            self.counted.add(ready)
            self.checkpoints.follow(each, self.counted)
            self.decision.look(ready.a, ready.x)

    def replace(self, number: int, old: Answer, new: Answer | None) -> None:
        """An answer that was told was another one, perhaps of another mediator; None: it counts for nothing."""
        self.told.replace(old, new)
        self.queries.N_e[old.e] -= 1
        if new is not None:
            self.queries.N_e[new.e] += 1
        for e in {old.e, old.e if new is None else new.e}:
            self.planner.sampler.reestimate(self.seen, e)
        if number in self.queries.waiting:
            self.queries.waiting[number] = new
            return
        self.counted.replace(old, new)
        if not self.queries.in_order:
            self.checkpoints.kept = []  # it is not known at which of them it had been counted
        self.checkpoints.replace(number, old, new)
        if new is None or new[1:] != old[1:]:
            self.decision.give_up(old.a, old.a if new is None else new.a)
            self.decision.look(len(self.cast.arms), 0.0)

    def absorb(
        self,
        N_ea: Ints,
        S_a: Floats,
        S_ea: Floats | None,
        spread: Floats | None,
        claim: Claim | None,
        kept: Sequence[Checkpoint],
    ) -> None:
        """Count what was collected before: answers [E, K + 1], the last column silence, sums, and what alarms look at.

        Where mediators may be silent their policies are not watched for changes: when they were so before is not known.
        """
        if self.queries.issued:
            raise ProblemError("what was collected before must be counted before the first query")
        self.check_unguessed()
        for ledger in (self.told, self.counted):
            ledger.absorb(N_ea, S_a, S_ea, spread)
        self.decision.claim = claim
        self.checkpoints.kept, self.checkpoints.j = list(kept), split_after(self.counted.n)
        if self.counted.N_ea is None or self.cast.silent or any(one.N_ea is None for one in kept):
            self.forget_policies()
        for e in np.flatnonzero(self.seen.N_ea.sum(axis=1)):
            self.planner.sampler.reestimate(self.seen, int(e))
        self.planner.sampler.replan(self.told.family, self.seen)
        self.decision.look(len(self.cast.arms), 0.0)

    def check_unguessed(self) -> None:
        """Refuse to count rows that a guess of the means may have been made from: it would count them twice."""
        if getattr(self.design.stopping, "guess", None) is not None:
            raise ProblemError("the guess may follow these rows", fix=Fix("as-guess"))

    def forget_policies(self) -> None:
        """Watch no more whether mediators choose the same all the time."""
        self.counted.N_ea = None
        self.checkpoints.forget_policies()

    def rename(self, what: str, names: Sequence[str]) -> None:
        """Give the "arms" or the "mediators" new names, place by place; the rules at work know places alone."""
        new: Any = {what: check_names(names, len(getattr(self.cast, what)), what.removesuffix("s"))}
        self.cast = replace(self.cast, **new)

    @property
    def answer(self) -> tuple[str, ...]:
        """The arms named by the verdict; before it those that would be named now."""
        arms = self.cast.arms
        if self.decision.named is not None:
            return tuple(arms[a] for a in self.decision.named)
        if not self.counted.tally.N_a.any():
            return ()
        mask = likeliest(self.design.question, self.counted.tally)
        return tuple(name for name, named in zip(arms, mask, strict=True) if named)

    @property
    def pairs(self) -> float | None:
        """The logarithm of the number of pairs of arms that share the risk, once an arm was left out."""
        return self.design.stopping.shared_pairs(len(self.cast.arms))

    def reach(self) -> Bools:
        """The arms that each mediator may pull [E, K]: those seen or declared; all if nothing is, or is refuted."""
        return np.asarray((self.seen.N_ea[:, :-1] > 0) | (self.planner.believed != 0.0))

    def account(self, detectable: bool) -> Account:
        """What the counted answers come to, with all alarms."""
        counted = self.counted.n if self.counted.tally.N_a.any() else 0
        decision, facts = self.decision, self.facts(detectable)
        return account(facts, decision.evidence(), counted, decision.named, self.design.question, decision.doubted)

    def facts(self, detectable: bool = True) -> Facts:
        """What alarms look at."""
        cast, design, N_ea = self.cast, self.design, self.seen.N_ea
        return Facts(
            family=design.family,
            arms=cast.arms,
            mediators=cast.mediators,
            N_ea=N_ea if cast.silent else N_ea[:, :-1],
            declared=[None if np.isnan(row).all() else row.tolist() for row in cast.policies],
            delta=design.delta,
            S_ea=self.told.S_ea,
            spread=self.told.spread,
            claim=self.decision.claim,
            question=design.question,
            trajectory=self.checkpoints.trajectory(self.counted, cast.silent),
            detectable=detectable,
        )
