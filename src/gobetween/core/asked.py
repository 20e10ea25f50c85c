"""Rules set to work on a question. For the best arm they are what they always were; others need rules that know of pairs."""

import math

import numpy as np

from gobetween.core.family import Family
from gobetween.core.question import Question
from gobetween.core.questions import BestArm
from gobetween.core.rule import SamplingRule, StoppingRule
from gobetween.core.sampler import PURSUIT, AnySampler, Sampler
from gobetween.core.stopper import AnyStopper, Stopper
from gobetween.core.stopping import EProcess
from gobetween.core.types import Bools, Floats
from gobetween.errors import ProblemError

BEST = BestArm()


def sampler_for(
    question: Question,
    rule: SamplingRule,
    policies: Floats,
    declared: Bools,
    costs: Floats,
    stopper: AnyStopper | None = None,
) -> AnySampler:
    """A sampling rule at work on policies [E, K], asking for what answers the question; if the stopping rule weighs how little
    rewards vary, so does pursuit.
    """
    made = rule.at_work(policies, declared, costs)
    if isinstance(made, Sampler) and made.kind == PURSUIT and isinstance(stopper, Stopper):
        narrow = stopper.ranks.pairing.narrow
        made = made._replace(little=narrow._replace(sums=np.zeros_like(narrow.sums)))
    if question == BEST:
        return made
    if not (rule.any_question and isinstance(made, Sampler)):
        raise ProblemError(f"{type(rule).__name__} asks for the best arm: for {question.name} choose Pursuit()")
    return made._replace(question=question)


def stopper_for(question: Question, rule: StoppingRule, K: int, family: Family) -> AnyStopper:
    """A stopping rule at work on a question."""
    if question == BEST:
        return rule.at_work(K, family)
    question.check(K, family)
    return _knowing(question, rule).examiner(question, K, family)


def threshold_for(question: Question, rule: StoppingRule, K: int, delta: float, family: Family) -> float:
    """What the rule's statistic must reach."""
    if question == BEST:
        return rule.threshold(K, delta, family)
    _knowing(question, rule)
    return math.log(question.ways(K)) - math.log(delta)


def _knowing(question: Question, rule: StoppingRule) -> EProcess:
    if not isinstance(rule, EProcess):
        raise ProblemError(f"{type(rule).__name__} is proven for the best arm alone: for {question.name} choose EProcess()")
    return rule
