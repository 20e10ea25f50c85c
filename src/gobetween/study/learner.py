"""A live learner: ask, tell, cancel, in any order and with any number of queries open. The same step as the engine's."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, overload

import numpy as np
from numpy.typing import ArrayLike

from gobetween.core.absence import among, follow, hand_back, time_of
from gobetween.core.alarm import Alarm, Facts
from gobetween.core.alarms import broken_by
from gobetween.core.asked import BEST, sampler_for, stopper_for, threshold_for
from gobetween.core.claimed import Claimed
from gobetween.core.drift import Moment
from gobetween.core.evidence import Evidence, likeliest, weigh
from gobetween.core.exact import add_exactly, replace_answer
from gobetween.core.families import DEFAULT
from gobetween.core.family import Family
from gobetween.core.jit import index
from gobetween.core.learnt import absorb_moments
from gobetween.core.policies import Policy
from gobetween.core.problem import check_names
from gobetween.core.question import Question
from gobetween.core.rule import SamplingRule, StoppingRule
from gobetween.core.sampler import source_of
from gobetween.core.sampling import Pursuit
from gobetween.core.state import Tally, count, fill, new_state, new_tally
from gobetween.core.step import choose, observe, verdict
from gobetween.core.stopping import AllPairs, EProcess
from gobetween.core.types import Bools, Floats
from gobetween.core.voice import Account, account
from gobetween.errors import ProblemError
from gobetween.study.answers import Answer, TellError, coded, place
from gobetween.study.forecast import Forecast, forecast
from gobetween.study.outlook import Outlook, outlook_of
from gobetween.study.progress import Progress, Query, arms_html, progress_of
from gobetween.study.recast import joined, without_arm
from gobetween.study.setup import Mediators, Setup, new_setup, within_reach
from gobetween.study.watched import new_watched

NEVER = np.array([np.inf])
"""A limit that no evidence reaches."""


class Learner:
    """Finds the best arm by asking mediators; see `ask`, `tell`, `cancel`, `done`, `recommendation`, `progress`.

    arms: names, or how many. mediators: a mapping from names to a policy (a set of arms when only those are known that it may
    pull, None when nothing is), a matrix of policies, or how many (all unknown). The verdict counts the resolved prefix of the
    queries in the order in which they were issued, which keeps the guarantee even when bad news travels slower
    (docs/stopping.md, Delays). order="arrival" counts answers as they come: it stops earlier, and is valid only if delays do
    not depend on rewards. question: what is asked about the arms, the best one unless said otherwise; `answer` names a set of
    arms.

    >>> learner = gb.Learner(["letter", "call"], {"North": [0.8, 0.2], "South": None}, family="bernoulli")
    >>> query = learner.ask()
    >>> learner.tell(query, arm="letter", reward=1)
    >>> learner.done, learner.recommendation
    (False, 'letter')
    """

    def __init__(
        self,
        arms: int | Sequence[str],
        mediators: Mediators,
        *,
        family: Family | str = DEFAULT,
        delta: float = 0.05,
        costs: ArrayLike | None = None,
        sampling: SamplingRule | str = Pursuit(),  # noqa: B008 - an immutable value
        stopping: StoppingRule | str = EProcess(),  # noqa: B008 - an immutable value
        seed: int = 0,
        silent: bool = False,
        order: str = "issue",
        question: Question | str = BEST,
    ) -> None:
        setup = new_setup(arms, mediators, family, delta, costs, sampling, stopping, seed, silent, order, question)
        self._begin(within_reach(setup))

    @classmethod
    def begun(cls, setup: Setup) -> "Learner":
        """A learner that has not asked anything, of what was checked before."""
        made = cls.__new__(cls)
        made._begin(setup)
        return made

    def _begin(self, setup: Setup) -> None:
        K, E = len(setup.arms), len(setup.mediators)
        self.setup, self.arms, self.mediators, self.costs = setup, setup.arms, setup.mediators, setup.costs
        self.family, self.delta, self.sampling, self.stopping = setup.family, setup.delta, setup.sampling, setup.stopping
        self._stopper = stopper = stopper_for(setup.question, setup.stopping, K, setup.family)
        self._sampler = sampler_for(setup.question, setup.sampling, setup.policies, setup.declared, setup.costs, stopper)
        self._plan, self._present = self._sampler, np.ones(E, np.bool_)
        self._constant = np.array([threshold_for(setup.question, setup.stopping, K, setup.delta, setup.family)])
        self._state, self._counted = new_state(K, E), new_tally(K)
        self.families = setup.family.at_work(K), setup.family.at_work(K)
        """The family at work on the answers that were told, and on those that are counted."""
        self._rng = np.random.Generator(np.random.PCG64(np.random.SeedSequence(setup.seed)))
        self._asked = self._count = self._issued = self._next = 0
        self._open: dict[int, int] = {}
        self._resolved: dict[int, tuple[int, float] | None] = {}
        self._named: tuple[int, ...] | None = None
        self._verdict: dict[str, float] | None = None
        self._exact: tuple[list[list[float]], list[list[float]]] = ([[] for _ in range(K)], [[] for _ in range(K)])
        self._watched = new_watched(setup.family, K, E, setup.order)

    @overload
    def ask(self, n: None = None, *, available: Iterable[str] | None = None, go_on: bool = False) -> Query: ...

    @overload
    def ask(self, n: int, *, available: Iterable[str] | None = None, go_on: bool = False) -> list[Query]: ...

    def ask(self, n: int | None = None, *, available: Iterable[str] | None = None, go_on: bool = False) -> Query | list[Query]:
        """The next query, or a list of n; `available` restricts to mediators that can be asked now.

        The rule plans for these, as if there were no others. Refuses once the learner is done, unless go_on=True.
        """
        if self.done and not go_on:
            raise ProblemError(f"the answer is {self.recommendation!r}: nothing more to ask (go_on=True asks all the same)")
        free = self._free(available)
        if not free.any():
            raise ProblemError("no mediator that may be asked is available: name at least one in `available`, or leave it out")
        if n is None:
            return self._ask(free)
        if n < 1:
            raise ProblemError(f"n = {n}: ask for at least one query")
        return [self._ask(free) for _ in range(n)]

    def asked(self, mediator: str, available: Iterable[str] | None = None, *, around: bool = True) -> str:
        """Take note of a query that was issued to a mediator; returns whom the rule would have asked.

        For replaying a record: what was asked is a fact, and everything else goes on as after `ask`. around=False: as versions
        did that planned for everyone, whoever was away.
        """
        e = place(mediator, self.mediators, "mediator")
        return self._issue(self._free(available), e, around)

    def _free(self, available: Iterable[str] | None) -> Bools:
        free = np.ones(len(self.mediators), np.bool_)
        if available is not None:
            free[:] = False
            for name in available:
                free[place(name, self.mediators, "mediator")] = True
        return free

    def _ask(self, free: Bools) -> Query:
        name = self._issue(free, None)
        return Query(self._issued - 1, name)

    def _issue(self, free: Bools, fact: int | None, around: bool = True) -> str:
        self._plan_for(free if around else np.ones_like(free))
        t = index(time_of(self._plan, self._sampler, self._state.N_e, self._asked))
        chosen = int(choose(self.families[0], self._plan, self._state, t, free, source_of(self._plan, self._rng)))
        if chosen < 0:
            rule = type(self.setup.sampling).__name__
            raise ProblemError(f"{rule}.choose named a mediator who cannot be asked: take an available one")
        e = chosen if fact is None else fact
        self._state.N_e[chosen] -= 1
        self._state.N_e[e] += 1
        self._asked += 1
        self._open[self._issued] = e
        self._issued += 1
        return self.mediators[chosen]

    def _plan_for(self, present: Bools) -> None:
        """Have the plan be one for those present."""
        if (present != self._present).any():
            setup = self.setup
            hand_back(self._plan, self._sampler)
            self._plan = among(self._sampler, present, setup.policies, setup.costs, self._state.N_e)
            self._present = present.copy()
        follow(self._plan, self._sampler, self._state)

    @property
    def around(self) -> bool:
        """Was the latest query planned around somebody who could not be asked?"""
        return self._plan is not self._sampler

    def tell(
        self,
        query: Query | int | None = None,
        *,
        arm: str | None = None,
        reward: float | None = None,
        mediator: str | None = None,
        silent: bool = False,
        accept_surprise: bool = False,
    ) -> None:
        """Record an answer: the arm that was pulled and its reward, or silent=True. Without a query, name the mediator.

        Bad answers raise and change nothing: unknown names, impossible rewards, a query told twice, an arm that the declared
        policy never pulls (accept_surprise=True records it all the same).
        """
        if query is None and mediator is None:
            raise TellError("name the query that is answered, or the mediator who answered unasked")
        e = place(mediator, self.mediators, "mediator") if query is None else self._mediator_of(query, mediator)
        a, x = self._answer(e, arm, reward, silent, accept_surprise)
        if query is None:
            number = self._issued
            self._issued += 1
            self._asked += 1
            self._state.N_e[e] += 1
        else:
            number = query.id if isinstance(query, Query) else query
            del self._open[number]
        observe(self.families[0], self._sampler, self._state, index(self._asked), e, a, x)
        if a < len(self.arms):
            add_exactly(self._exact[0][a], x)
        self._watched.told(self.setup.family, e, a, x)
        if self._watched.moments is not None:
            self._watched.moments.waiting[number] = e
        self._resolve(number, (a, x))

    def cancel(self, query: Query | int) -> None:
        """Withdraw an open query; it counts for nothing.

        Why must not depend on its reward, nor on answers to later queries: use a rule fixed beforehand, such as a timeout.
        """
        e = self._mediator_of(query, None)
        number = query.id if isinstance(query, Query) else query
        del self._open[number]
        self._state.N_e[e] -= 1
        self._resolve(number, None)

    def absorb(
        self,
        N_ea: ArrayLike,
        S_a: ArrayLike,
        *,
        S_ea: Floats | None = None,
        spread: Floats | None = None,
        claimed: Claimed | None = None,
        moments: Sequence[Moment] = (),
        silent: ArrayLike | None = None,
    ) -> None:
        """Count what was collected before: answers [E, K] of each mediator and sums [K] of each arm's rewards.

        They inform estimates and verdict, but are not queries of this learner. Only before the first query. Alarms also look at
        the sums of each mediator, the second moments, and the claim and the counts found on the way, where they are given.
        silent: how often each mediator answered nothing [E]; these are no counted answers.
        """
        if self._issued:
            raise ProblemError("what was collected before must be counted before the first query")
        counts, sums = np.asarray(N_ea, dtype=np.int64), np.asarray(S_a, dtype=np.float64)
        self._state.N_ea[:, :-1] += counts
        self._state.N_ea[:, -1] += np.zeros(len(self.mediators), np.int64) if silent is None else np.asarray(silent, np.int64)
        for tally in (self._state.tally, self._counted):
            fill(tally, tally.N_a + counts.sum(axis=0), tally.S_a + sums)
        for exact in self._exact:
            for a, total in enumerate(sums.tolist()):
                add_exactly(exact[a], total)
        for family in self.families:
            absorb_moments(family, counts.sum(axis=0), spread)
        self._count += int(counts.sum())
        self._watched.absorbed(counts.sum(axis=0), S_ea, spread, claimed)
        if self._watched.moments is not None:
            self._watched.moments.absorbed(counts, moments, self.setup.silent)
        for e in np.flatnonzero(self._state.N_ea.sum(axis=1)):
            self._sampler.reestimate(self._state, int(e))
        self._sampler.replan(self.families[0], self._state)
        self._look((len(self.arms), 0.0))

    def correct(
        self,
        number: int,
        mediator: str,
        old: tuple[str, float] | None,
        new: tuple[str, float] | None,
        *,
        accept_surprise: bool = False,
    ) -> None:
        """Replace an answer that was told by another; None is silence. A verdict that was reached stays.

        The guarantee assumes that corrections are not chosen by their reward.
        """
        e = place(mediator, self.mediators, "mediator")
        before, after = self._coded(e, old, True), self._coded(e, new, accept_surprise)
        self._state.N_ea[e, before[0]] -= 1
        self._state.N_ea[e, after[0]] += 1
        replace_answer(self._state.tally, self._exact[0], before, after)
        self._recount(0, before, after)
        for (a, x), step in ((before, -1), (after, 1)):
            self._watched.told(self.setup.family, e, a, x, step)
        self._sampler.reestimate(self._state, e)
        if number in self._resolved:
            self._resolved[number] = after
            return
        replace_answer(self._counted, self._exact[1], before, after)
        self._recount(1, before, after)
        if self._watched.moments is not None:
            self._watched.moments.replaced(number, e, before, after)
        self._give_up(before[0], after[0])
        self._look((len(self.arms), 0.0))

    def void(self, number: int, mediator: str, old: tuple[str, float] | None) -> None:
        """Take an answer out of the count, as if its query had been cancelled; None is silence. A verdict stays.

        The guarantee assumes that answers are not taken out because of their reward.
        """
        e, nothing = place(mediator, self.mediators, "mediator"), (len(self.arms), 0.0)
        outcome = self._coded(e, old, True)
        self._state.N_ea[e, outcome[0]] -= 1
        self._state.N_e[e] -= 1
        replace_answer(self._state.tally, self._exact[0], outcome, nothing)
        self._recount(0, outcome, nothing)
        self._watched.told(self.setup.family, e, *outcome, -1)
        self._sampler.reestimate(self._state, e)
        if number in self._resolved:
            self._resolved[number] = None
            return
        replace_answer(self._counted, self._exact[1], outcome, nothing)
        self._recount(1, outcome, nothing)
        if self._watched.moments is not None:
            self._watched.moments.replaced(number, e, outcome)
        self._give_up(outcome[0])
        self._count -= 1
        self._look(nothing)

    def _recount(self, which: int, before: Answer, after: Answer) -> None:
        """What the family has learnt, with one answer for another."""
        for (a, x), step in ((before, -1.0), (after, 1.0)):
            if a < len(self.arms):
                self.families[which].count_reward(a, x, step)

    def _give_up(self, *arms: int) -> None:
        """What the stopping rule remembers of the order of these arms' answers holds no more, nor does a claim."""
        self._watched.claimed = None
        for a in arms:
            if a < len(self.arms):
                self._stopper.corrected(a)

    def move(
        self,
        mediator: str,
        to: str,
        answer: tuple[str, float] | None,
        *,
        accept_surprise: bool = False,
        number: int | None = None,
    ) -> None:
        """An answer that was told for a mediator was another's: its query and its pull are counted there.

        Without its number policies are no longer watched for changes on the way.
        """
        e, other = place(mediator, self.mediators, "mediator"), place(to, self.mediators, "mediator")
        a, x = self._coded(other, answer, accept_surprise)
        for who, step in ((e, -1), (other, 1)):
            self._state.N_ea[who, a] += step
            self._state.N_e[who] += step
            self._watched.told(self.setup.family, who, a, x, step)
            self._sampler.reestimate(self._state, who)
        if self._watched.moments is not None:
            self._watched.moments.moved(number, e, other, a)

    def _mediator_of(self, query: Query | int, mediator: str | None) -> int:
        number = query.id if isinstance(query, Query) else query
        if number not in self._open:
            known = 0 <= number < self._issued
            raise TellError(f"query {number!r} {'has already been answered or cancelled' if known else 'was never asked'}")
        e = self._open[number]
        if mediator is not None and mediator != self.mediators[e]:
            raise TellError(f"query {number} was for mediator {self.mediators[e]!r}, not for {mediator!r}")
        return e

    def _answer(self, e: int, arm: str | None, reward: float | None, silent: bool, accept: bool) -> Answer:
        return coded(self.setup, self.arms, self.mediators, e, arm, reward, silent, accept)

    def _coded(self, e: int, answer: tuple[str, float] | None, accept: bool) -> Answer:
        arm, reward = answer or (None, None)
        return self._answer(e, arm, reward, answer is None, accept)

    def _resolve(self, number: int, outcome: tuple[int, float] | None) -> None:
        """Count what can be counted now, looking for the verdict after each answer."""
        if self.setup.order == "arrival":
            self._count_one(number, outcome)
            return
        self._resolved[number] = outcome
        while self._next in self._resolved:
            self._count_one(self._next, self._resolved.pop(self._next))
            self._next += 1

    def _count_one(self, number: int, outcome: tuple[int, float] | None) -> None:
        moments = self._watched.moments
        if outcome is None:
            if moments is not None:
                moments.waiting.pop(number, None)  # it was told, and taken out again
            return
        a, x = outcome
        if a < len(self.arms):
            count(self._counted, a, x)
            self.families[1].count_reward(a, x, 1.0)
            add_exactly(self._exact[1][a], x)
        self._count += 1
        if moments is not None:
            moments.counted(number, a, self._count, self._counted)
        self._look(outcome)

    def _look(self, answer: tuple[int, float]) -> None:
        """Has the verdict been reached, now that this answer is counted? The arm K stands for none."""
        counted, family = self._counted, self.families[1]
        settled = self._named is not None and self._watched.claimed is not None  # nothing that a look could find is news
        constant = NEVER if settled else self._constant
        best, passed = verdict(family, self._stopper, counted, index(self._count), *answer, constant, 0)
        if passed and self._named is None:
            found = self.evidence()
            self._named = found.answer
            numbers = {"statistic": found.statistic, "threshold": found.threshold, "p_value": found.p_value}
            self._verdict = {**numbers, "counted": self._count}
        certain = self._certain(int(best)) if passed else None
        self._watched.looked(self.setup.question, family, counted, self._count, certain)

    def _certain(self, best: int) -> tuple[int, ...]:
        """The answer that was just found."""
        mask = np.zeros(len(self.arms), np.bool_)
        self._stopper.answer(best, mask)
        return tuple(np.flatnonzero(mask).tolist())

    @property
    def done(self) -> bool:
        """Has the verdict been reached? It stays, whatever is told later."""
        return self._named is not None

    @property
    def verdict(self) -> dict[str, float] | None:
        """The evidence at the moment when the verdict was reached: statistic, threshold, p_value, counted."""
        return self._verdict

    def reconsider(self) -> bool:
        """After corrections: if the evidence no longer supports the verdict, forget it. Was it forgotten?"""
        found = self.evidence()
        if self._named is None or (found.answer == self._named and found.reached):
            return False
        self._named = self._verdict = None
        return True

    @property
    def recommendation(self) -> str | None:
        """The arm named by the verdict; before it, the leader so far, without a guarantee (None while nothing is known).

        Where the answer is a set of arms: their names, with commas.
        """
        return ", ".join(self.answer) if self._named is not None or self._counted.N_a.any() else None

    @property
    def answer(self) -> tuple[str, ...]:
        """The arms named by the verdict; before it those that would be named now, without a guarantee."""
        if self._named is not None:
            return tuple(self.arms[a] for a in self._named)
        if not self._counted.N_a.any():
            return ()
        mask = likeliest(self.setup.question, self._counted)
        return tuple(name for name, named in zip(self.arms, mask, strict=True) if named)

    @property
    def pending(self) -> tuple[Query, ...]:
        """Open queries, oldest first."""
        return tuple(Query(number, self.mediators[e]) for number, e in self._open.items())

    @property
    def issued(self) -> int:
        """How many numbers have been given to queries and to answers that came unasked."""
        return self._issued

    @property
    def queries(self) -> tuple[int, ...]:
        """Queries of each mediator, open ones included, cancelled ones not."""
        return tuple(int(n) for n in self._state.N_e)

    @property
    def members(self) -> tuple[str, ...]:
        """The mediators that the rule may ask: all, unless some were pruned."""
        return tuple(self.mediators[int(e)] for e in self._sampler.members)

    def rename(self, what: str, names: Sequence[str]) -> None:
        """Give the "arms" or the "mediators" new names, place by place."""
        old = self.arms if what == "arms" else self.mediators
        if len(names) != len(old):
            raise ProblemError(f"{what}: {len(names)} names for {len(old)}")
        setattr(self, what, check_names(names, len(old), what.removesuffix("s")))

    @property
    def counted(self) -> int:
        """Answers that the verdict counts."""
        return self._count

    @property
    def counted_tally(self) -> Tally:
        """Pulls and sums of the answers that the verdict counts."""
        return self._counted

    @property
    def waiting(self) -> int:
        """Answers that are not counted yet, because an earlier query is open."""
        return len(self._resolved)

    def reach(self) -> Bools:
        """The arms that each mediator may pull [E, K]: those declared or seen, all where nothing is declared."""
        return np.asarray((self._state.N_ea[:, :-1] > 0) | (self.setup.policies != 0.0))

    def evidence(self) -> Evidence:
        """What the counted answers say about their leader, by the stopping rule."""
        setup = self.setup
        return weigh(self.families[1], setup.stopping, setup.delta, self._counted, self._count, self._stopper, setup.question)

    def account(self, visible: bool = True) -> Account:
        """What the counted answers come to, with all alarms; these look at all answers that were told.

        With visible=False those that are not raised do not say how large a difference would have shown, which takes longer.
        """
        counted = self._count if self._counted.N_a.any() else 0
        return account(self._facts(visible), self.evidence(), counted, self._named, self.setup.question)

    def broken(self) -> Alarm | None:
        """The first alarm that breaks the guarantee: that of `account`, without all else."""
        return broken_by(self._facts())

    def _facts(self, visible: bool = True) -> Facts:
        watched, setup = self._watched, self.setup
        return Facts(
            family=setup.family,
            arms=self.arms,
            mediators=self.mediators,
            N_ea=self._state.N_ea if setup.silent else self._state.N_ea[:, :-1],
            declared=[None if np.isnan(row).all() else row.tolist() for row in setup.policies],
            delta=setup.delta,
            S_ea=watched.S_ea,
            spread=watched.spread,
            claimed=watched.claimed,
            question=setup.question,
            course=None if watched.moments is None else watched.moments.course(self._counted, setup.silent),
            visible=visible,
        )

    @property
    def progress(self) -> Progress:
        """How far the learner is, in numbers."""
        return progress_of(self)

    def forecast(self) -> Forecast | None:
        """Queries to go with a range that holds 8 times of 10: the learner played on in worlds that its answers leave possible.

        None where that cannot be said, or not within a second.
        """
        return forecast(self)

    @property
    def pairs(self) -> float | None:
        """The logarithm of the number of pairs of arms that share the risk, once an arm was left out."""
        return self.stopping.pairs(len(self.arms)) if isinstance(self.stopping, AllPairs) else None

    def with_mediator(self, name: str, policy: Policy = None, cost: float = 1.0) -> "Learner":
        """The learner with one mediator more, and all that was asked and told; the verdict holds as before."""
        return joined(self, name, policy, cost)

    def without_arm(self, name: str) -> "Learner":
        """The learner of the arms that remain, with all that was asked and told: what one pulls of the arm left out is silence.

        Its verdict goes by AllPairs, so that an arm may be left out for any reason.
        """
        return without_arm(self, name)

    def outlook(self, more: int | None = None) -> Outlook | None:
        """Which difference the answers so far can tell, and twice as many; None where that cannot be said.

        more: so many answers that may still come; `near` names two arms that they will not tell apart.
        """
        return outlook_of(self, more)

    def to_dict(self) -> dict[str, Any]:
        """Everything, JSON-safe: a learner made from it asks exactly what this one would have asked."""
        from gobetween.study.saved import save

        return save(self)

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> "Learner":
        """The learner that `to_dict` described."""
        from gobetween.study.saved import load

        return load(data)

    def __repr__(self) -> str:
        answer = f"the answer is {self.recommendation!r}" if self.done else f"leader {self.recommendation!r}, not sure yet"
        if self.broken() is not None:
            answer = "an assumption does not hold, see progress.alarms"
        return f"Learner({len(self.arms)} arms, {len(self.mediators)} mediators, {self.counted} answers counted: {answer})"

    def _repr_html_(self) -> str:
        return arms_html(self)
