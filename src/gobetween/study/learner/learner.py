"""A live learner: ask, tell, cancel, in any order and with any number of queries open. The same step as the engine's."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, overload

import numpy as np
from numpy.typing import ArrayLike

from gobetween.core.alarm.alarm import Alarm, broken_by
from gobetween.core.evidence.guess import Guess
from gobetween.core.ground.jit import Bools, Floats
from gobetween.core.problem.cast import Cast, Mediators, Policy, new_cast
from gobetween.core.question.question import Question
from gobetween.core.question.questions import BEST
from gobetween.core.reward.families import DEFAULT
from gobetween.core.reward.family import Family
from gobetween.core.sampling.rules import Pursuit
from gobetween.core.sampling.sampling_rule import SamplingRule
from gobetween.core.stopping.rules import EProcess
from gobetween.core.stopping.stopping_rule import StoppingRule, as_stopping
from gobetween.core.verdict.evidence_report import Account, Evidence
from gobetween.errors import ProblemError
from gobetween.study.learner.collected import check_moments, counts_of, sums_of
from gobetween.study.learner.design import Design, new_design
from gobetween.study.learner.forecast import Forecast, forecast
from gobetween.study.learner.progress import Progress, arms_html, progress_of
from gobetween.study.learner.queries import Answer, Query, Reply, TellError, answer_of, place, replied
from gobetween.study.learner.resolution import Resolution, resolution_of
from gobetween.study.learner.roster import with_mediators, without_arm
from gobetween.study.learner.serialise import load, save
from gobetween.study.learner.state import LearnerState


class Learner:
    """Finds the best arm by asking mediators; see `ask`, `tell`, `cancel`, `done`, `recommendation`, `progress`.

    arms: names, or how many. mediators: a mapping from names to a policy (a set of arms when only those are known that it may
    pull, None when nothing is), a matrix of policies, or how many (all unknown). The verdict counts the resolved prefix of the
    queries in the order in which they were issued, which keeps the guarantee even when bad news travels slower
    (docs/stopping.md, Delays). order="arrival" counts answers as they come: it stops earlier, and is valid only if delays do
    not depend on rewards. question: what is asked about the arms, the best one unless said otherwise; `answer` names a set of
    arms. guess: what somebody expects of the arms, which saves queries if it is about right and is safe if it is not.

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
        guess: Guess | None = None,
    ) -> None:
        cast = new_cast(arms, mediators, costs, silent).within_reach().checked()
        rule = as_stopping(stopping).guessing(guess)
        self.state = LearnerState.begin(cast, new_design(family, question, delta, sampling, rule, seed, order))

    @classmethod
    def of(cls, state: LearnerState) -> "Learner":
        """The learner that knows this."""
        made = cls.__new__(cls)
        made.state = state
        return made

    @overload
    def ask(self, n: None = None, *, available: Iterable[str] | None = None, go_on: bool = False) -> Query: ...

    @overload
    def ask(self, n: int, *, available: Iterable[str] | None = None, go_on: bool = False) -> list[Query]: ...

    def ask(self, n: int | None = None, *, available: Iterable[str] | None = None, go_on: bool = False) -> Query | list[Query]:
        """The next query, or a list of n; `available` restricts to mediators that can be asked now.

        The rule plans for these, as if there were no others. Refuses once the learner is done, unless go_on=True.
        """
        self.state.decision.go_on()
        if self.done and not go_on:
            raise ProblemError(f"the answer is {self.recommendation!r}: nothing more to ask (pass go_on=True to keep asking)")
        free = self._free(available)
        if not free.any():
            raise ProblemError("no mediator that may be asked is available: name at least one in `available`, or leave it out")
        if n is not None and n < 1:
            raise ProblemError(f"n = {n}: ask for at least one query")
        found = [Query(number, self.mediators[e]) for number, e in (self.state.ask(free) for _ in range(n or 1))]
        return found[0] if n is None else found

    def asked(self, mediator: str, available: Iterable[str] | None = None) -> str:
        """Note a query that a record says was issued to a mediator, as after `ask`; returns whom the rule would have asked."""
        _, chosen = self.state.ask(self._free(available), place(mediator, self.mediators, "mediator"))
        return self.mediators[chosen]

    def _free(self, available: Iterable[str] | None) -> Bools:
        named = {place(name, self.mediators, "mediator") for name in available or ()}
        return np.array([available is None or e in named for e in range(len(self.mediators))])

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
        policy never pulls (accept_surprise=True records it anyway).
        """
        if query is None and mediator is None:
            raise TellError("name the query that is answered, or the mediator who answered without being asked")
        number, e = (None, place(mediator, self.mediators, "mediator")) if query is None else self.state.queries.find(query)
        if mediator is not None and mediator != self.mediators[e]:
            raise TellError(f"query {number} was for mediator {self.mediators[e]!r}, not for {mediator!r}")
        self.state.tell(number, answer_of(self.cast, self.design.family, e, arm, reward, silent, accept_surprise))

    def cancel(self, query: Query | int) -> None:
        """Withdraw an open query; it counts for nothing.

        Why must not depend on its reward, nor on answers to later queries: use a rule fixed beforehand, such as a timeout.
        """
        self.state.cancel(self.state.queries.find(query)[0])

    def absorb(self, N_ea: ArrayLike, S_a: ArrayLike, *, spread: Floats | None = None, silent: ArrayLike | None = None) -> None:
        """Count what was collected before: answers [E, K] of each mediator and sums [K] of each arm's rewards.

        They inform estimates and verdict, but are not queries of this learner. Only before the first query. spread: second
        moments [3, K], needed where σ is not known. silent: how often each mediator answered nothing [E]; that is not counted.
        """
        E, K = len(self.mediators), len(self.arms)
        counts = counts_of(N_ea, "N_ea", (E, K), "answers of each mediator about each arm")
        none = counts_of(np.zeros(E) if silent is None else silent, "silent", (E,), "a number for each mediator")
        sums = sums_of(S_a, counts.sum(axis=0), self.cast, self.design.family)
        moments = None if spread is None else check_moments(spread, K)
        self.state.absorb(np.column_stack([counts, none]), sums, None, moments, None, ())

    def correct(self, number: int, mediator: str, old: Reply, new: Reply, *, accept_surprise: bool = False) -> None:
        """Replace an answer that was told by another; None is silence.

        A verdict is under review then: `done` is False until the evidence is enough for it again, or `ask` goes on to find one.
        The guarantee assumes that corrections are not chosen by their reward.
        """
        self._replace(number, self._answer(mediator, old), self._answer(mediator, new, accept_surprise))

    def void(self, number: int, mediator: str, old: Reply) -> None:
        """Take an answer out of the count, as if its query had been cancelled; None is silence. For a verdict see `correct`.

        The guarantee assumes that answers are not taken out because of their reward.
        """
        self._replace(number, self._answer(mediator, old), None)

    def move(self, number: int, mediator: str, to: str, answer: Reply, *, accept_surprise: bool = False) -> None:
        """An answer that was told for a mediator was another's: its query and its pull are counted there."""
        self._replace(number, self._answer(mediator, answer), self._answer(to, answer, accept_surprise))

    def _replace(self, number: int, old: Answer, new: Answer | None) -> None:
        self.state.replace(self.state.queries.answered(number, old, self.state.told.N_ea), old, new)

    def _answer(self, mediator: str, reply: Reply, accept_surprise: bool = True) -> Answer:
        return replied(self.cast, self.design.family, mediator, reply, accept_surprise)

    def with_mediator(self, name: str, policy: Policy = None, cost: float = 1.0) -> "Learner":
        """The learner with one mediator more, and all that was asked and told; the verdict holds as before."""
        return self.of(with_mediators(self.state, self.cast.joined(name, policy, cost)))

    def declaring(self, name: str, policy: Policy) -> "Learner":
        """The learner with another policy declared of a mediator; all that was asked and told stays, the verdict as well."""
        return self.of(with_mediators(self.state, self.cast.declaring(name, policy)))

    def without_arm(self, name: str) -> "Learner":
        """The learner of the arms that remain, with all that was asked and told: what one pulls of the arm left out is silence.

        Its verdict goes by AllPairs, so that an arm may be left out for any reason.
        """
        return self.of(without_arm(self.state, name))

    @property
    def cast(self) -> Cast:
        """Arms, mediators, policies and costs."""
        return self.state.cast

    @property
    def design(self) -> Design:
        """Family, question, risk, rules, seed and order."""
        return self.state.design

    @property
    def arms(self) -> tuple[str, ...]:
        """Their names."""
        return self.state.cast.arms

    @property
    def mediators(self) -> tuple[str, ...]:
        """Their names."""
        return self.state.cast.mediators

    @property
    def done(self) -> bool:
        """Has the verdict been reached? It stays, whatever is told later; corrections put it under review."""
        return self.state.decision.sure

    @property
    def verdict(self) -> dict[str, float] | None:
        """The evidence at the moment when the verdict was reached: statistic, threshold, p_value, counted."""
        return self.state.decision.verdict

    @property
    def recommendation(self) -> str | None:
        """The arm named by the verdict; before it, the leader so far, without a guarantee (None while nothing is known).

        Where the answer is a set of arms: their names, with commas.
        """
        return ", ".join(self.answer) if self.done or self.state.counted.tally.N_a.any() else None

    @property
    def answer(self) -> tuple[str, ...]:
        """The arms named by the verdict; before it those that would be named now, without a guarantee."""
        return self.state.answer

    @property
    def pending(self) -> tuple[Query, ...]:
        """Open queries, oldest first."""
        return tuple(Query(number, self.mediators[e]) for number, e in self.state.queries.open.items())

    @property
    def issued(self) -> int:
        """How many numbers have been given to queries and to answers that were not asked for."""
        return self.state.queries.issued

    @property
    def queries(self) -> tuple[int, ...]:
        """Queries of each mediator, open ones included, cancelled ones not."""
        return tuple(self.state.queries.N_e.tolist())

    @property
    def counted(self) -> int:
        """Answers that the verdict counts."""
        return self.state.counted.n

    def evidence(self) -> Evidence:
        """What the counted answers say about their leader, by the stopping rule."""
        return self.state.decision.evidence()

    def account(self, detectable: bool = True) -> Account:
        """What the counted answers come to, with all alarms; these look at all answers that were told.

        With detectable=False those that are not raised do not say how large a difference is detectable, which takes longer.
        """
        return self.state.account(detectable)

    def broken(self) -> Alarm | None:
        """The first alarm that breaks the guarantee: that of `account`, without all else."""
        return broken_by(self.state.facts())

    @property
    def progress(self) -> Progress:
        """How far the learner is, in numbers."""
        return progress_of(self.state)

    def forecast(self) -> Forecast | None:
        """Queries to go with their 80% range: the learner played on in worlds that its answers leave possible.

        None where that cannot be said, or not within a second.
        """
        return forecast(self.state)

    def resolution(self, more: int | None = None) -> Resolution | None:
        """Which difference the answers so far can tell, and twice as many; None where that cannot be said.

        more: so many answers that may still come; `near` names two arms that they will not tell apart.
        """
        return resolution_of(self.state, more)

    def plot(self) -> Any:
        """Estimates of the arms with their intervals, as a Matplotlib figure."""
        from gobetween.pages.figures import estimates
        from gobetween.pages.paper_figures import draw

        return draw(estimates(self.progress.arms, title=self.progress.headline))

    def to_dict(self) -> dict[str, Any]:
        """Everything, JSON-safe: a learner made from it asks exactly what this one would have asked."""
        return save(self.state)

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> "Learner":
        """The learner that `to_dict` described."""
        return cls.of(load(data))

    def __repr__(self) -> str:
        answer = f"the answer is {self.recommendation!r}" if self.done else f"leader {self.recommendation!r}, not sure yet"
        if self.state.decision.doubted:
            answer = f"the answer was {self.recommendation!r}, under review"
        if self.broken() is not None:
            answer = "an assumption does not hold, see progress.alarms"
        return f"Learner({len(self.arms)} arms, {len(self.mediators)} mediators, {self.counted} answers counted: {answer})"

    def _repr_html_(self) -> str:
        return arms_html(self.state, repr(self))
