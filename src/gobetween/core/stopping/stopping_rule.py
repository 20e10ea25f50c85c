"""The contract of a stopping rule: what one's own rule must say, and all that it is shown. Ours are in `rules.py`."""

import math
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

import numpy as np

from gobetween.core.ground.jit import Floats, Ints, by_type
from gobetween.core.ground.registry import contract, resolve
from gobetween.core.ground.value import NotDefinedError, Rule
from gobetween.core.question.question import Question
from gobetween.core.reward.family import Family
from gobetween.errors import ProblemError

if TYPE_CHECKING:
    from gobetween.core.evidence.guess import Guess
    from gobetween.core.stopping.question_stopper import QuestionStopper
    from gobetween.core.stopping.stopper import AnyStopper


class StoppingView(NamedTuple):
    """What a stopping rule sees: the answers that the verdict counts."""

    family: Family
    t: int  # answers counted so far
    leader: int  # the first arm with the highest estimate
    N_a: Ints  # [K]
    S_a: Floats  # [K]
    mu_hat: Floats  # [K]
    memory: Floats  # the rule's own


@contract("stopping")
class StoppingRule(Rule):
    """When the leader may be named. Define `statistic` and `threshold`; `memory` and `observe` if it needs more than counts.

    >>> from dataclasses import dataclass
    >>> @dataclass(frozen=True)
    ... class After(gb.StoppingRule):
    ...     answers: int
    ...     def threshold(self, K, delta, family):
    ...         return self.answers
    ...     def statistic(self, view):
    ...         return view.t
    >>> gb.simulate(gb.Problem([1.0, 0.0], family=gb.Gaussian(1.0)), stopping=After(50), runs=1).tau.tolist()
    [[50]]
    """

    guesses: ClassVar[bool] = False
    """Does it take a guess of the means?"""
    needs: ClassVar[tuple[str, ...]] = ("statistic", "threshold")
    functions: ClassVar[tuple[str, ...]] = ("statistic", "threshold", "memory", "observe")

    def threshold(self, K: int, delta: float, family: Family) -> float:
        """The rule stops as soon as its statistic reaches this; it must not fall when δ does."""
        raise NotDefinedError

    def statistic(self, view: StoppingView) -> float:
        """The evidence for the leader, once every arm has been seen."""
        raise NotDefinedError

    def memory(self, K: int) -> Floats:
        """An array of floats of any shape, for the rule to write to; each run begins with it as it is here."""
        return np.zeros(0)

    def observe(self, view: StoppingView, a: int, reward: float) -> None:
        """One more counted answer: arm a paid a reward."""

    def at_work(self, K: int, family: Family) -> "AnyStopper":
        """The rule set to work."""
        from gobetween.core.stopping.stopper import new_own_stopper

        return new_own_stopper(self, K)

    def question_stopper(self, question: Question, K: int, family: Family) -> "QuestionStopper":
        """The rule set to work on another question than the best arm."""
        raise ProblemError(f"{type(self).__name__} is proven for the best arm alone: for {question.name} choose EProcess()")

    def stopper_for(self, question: Question, K: int, family: Family) -> "AnyStopper":
        """The rule set to work on a question."""
        if question.names_leader:
            return self.at_work(K, family)
        question.check(K, family)
        return self.question_stopper(question, K, family)

    def threshold_for(self, question: Question, K: int, delta: float, family: Family) -> float:
        """What the statistic of that stopper must reach."""
        return self.threshold(K, delta, family) if question.names_leader else math.log(question.ways(K)) - math.log(delta)

    def guessing(self, guess: "Guess | None") -> "StoppingRule":
        """The rule with a guess of the means."""
        if guess is None:
            return self
        raise ProblemError(f"{type(self).__name__} knows nothing of guesses: choose EProcess()")

    def shared_pairs(self, K: int) -> float | None:
        """The logarithm of the number of pairs of arms that share the risk, where these are not those of K arms."""
        return None

    def without_arm(self, K: int) -> "StoppingRule":
        """The rule once one of K arms is left out, for whatever reason."""
        from gobetween.core.stopping.rules import AllPairs

        return AllPairs(K)


def as_stopping(value: StoppingRule | str) -> StoppingRule:
    """A stopping rule, or the one that a word such as "e-process" stands for."""
    rule: StoppingRule = resolve("stopping", value)
    return rule


@by_type("float64")
def statistic(rule: Any, view: StoppingView) -> float:
    """The statistic of a stopping rule of one's own."""
    return float(rule.statistic(view))
