"""What a learner is made of, checked once: names, policies, costs, family, rules and risk."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import cast

import numpy as np
from numpy.typing import ArrayLike

from gobetween.core.asked import BEST
from gobetween.core.bound import binary_kl
from gobetween.core.family import Family, is_number
from gobetween.core.problem import check_costs, check_names, check_policy
from gobetween.core.question import Question
from gobetween.core.registry import as_family, as_question, as_sampling, as_stopping
from gobetween.core.rule import SamplingRule, StoppingRule
from gobetween.core.types import Bools, Floats
from gobetween.errors import ProblemError

ORDERS = ("issue", "arrival")
Mediators = int | Mapping[str, ArrayLike | None] | ArrayLike


@dataclass(frozen=True)
class Setup:
    """A learner that has not asked anything."""

    arms: tuple[str, ...]
    mediators: tuple[str, ...]
    policies: Floats
    """[E, K]; rows of zeros where they are not known."""
    declared: Bools
    """[E] which of them are."""
    costs: Floats
    """[E]"""
    family: Family
    delta: float
    sampling: SamplingRule
    stopping: StoppingRule
    seed: int
    silent: bool
    order: str
    question: Question = BEST


def new_setup(
    arms: int | Sequence[str],
    mediators: Mediators,
    family: Family | str,
    delta: float,
    costs: ArrayLike | None,
    sampling: SamplingRule | str,
    stopping: StoppingRule | str,
    seed: int,
    silent: bool,
    order: str,
    question: Question | str = BEST,
) -> Setup:
    """Check the arguments of a learner."""
    rule = as_sampling(sampling)
    if not rule.live:
        raise ProblemError(
            f"sampling = {sampling!r}: a live learner cannot use it, it knows what only a simulation does; choose Pursuit()"
        )
    if order not in ORDERS:
        raise ProblemError(f"order = {order!r}: choose 'issue' or 'arrival'")
    if not (is_number(seed) and seed == int(seed) and seed >= 0):
        raise ProblemError(f"seed = {seed!r}: must be a whole number, 0 or more")
    binary_kl(delta)
    K = arms if isinstance(arms, int) else len(tuple(arms))
    if K < 2:
        raise ProblemError(f"a learner needs at least two arms, not {K}")
    names = check_names(None if isinstance(arms, int) else arms, K, "arm")
    who, policies = parse_mediators(mediators, names, silent)
    declared: Bools = np.logical_not(np.isnan(policies).any(axis=1))
    return Setup(
        arms=names,
        mediators=who,
        policies=np.where(declared[:, None], policies, 0.0),
        declared=declared,
        costs=np.ones(len(who)) if costs is None else check_costs(costs, who),
        family=as_family(family),
        delta=float(delta),
        sampling=rule,
        stopping=as_stopping(stopping),
        seed=seed,
        silent=silent,
        order=order,
        question=as_question(question),
    )


def parse_mediators(given: Mediators, arms: tuple[str, ...], silent: bool) -> tuple[tuple[str, ...], Floats]:
    """Names and policies [E, K]; rows of NaN where a policy is not known."""
    K = len(arms)
    if isinstance(given, int):
        if given < 1:
            raise ProblemError("a learner needs at least one mediator")
        return check_names(None, given, "mediator"), np.full((given, K), np.nan)
    rows = list(given.values() if isinstance(given, Mapping) else cast(Sequence[ArrayLike | None], given))
    names = check_names(list(given) if isinstance(given, Mapping) else None, len(rows), "mediator")
    if not rows:
        raise ProblemError("a learner needs at least one mediator")
    policies = np.full((len(rows), K), np.nan)
    for e, row in enumerate(rows):
        if row is not None:
            values = np.asarray(row, dtype=np.float64)
            if values.shape != (K,):
                raise ProblemError(f"the policy of mediator {names[e]!r} needs {K} probabilities, one for each arm")
            check_policy(values, e, arms, names[e], silent)
            policies[e] = values
    return names, policies
