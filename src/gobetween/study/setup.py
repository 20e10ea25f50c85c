"""What a learner is made of, checked once: names, policies, costs, family, rules and risk."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import cast

import numpy as np
from numpy.typing import ArrayLike

from gobetween.core.asked import BEST
from gobetween.core.bound import binary_kl
from gobetween.core.family import Family, is_number
from gobetween.core.policies import Policy, are_known, never_pulled, policy_row
from gobetween.core.problem import check_costs, check_names, nobody_pulls
from gobetween.core.question import Question
from gobetween.core.registry import as_family, as_question, as_sampling, as_stopping
from gobetween.core.rule import SamplingRule, StoppingRule
from gobetween.core.types import Bools, Floats
from gobetween.errors import ProblemError

ORDERS = ("issue", "arrival")
Mediators = int | Mapping[str, Policy] | Sequence[Policy] | ArrayLike


@dataclass(frozen=True)
class Setup:
    """A learner that has not asked anything."""

    arms: tuple[str, ...]
    mediators: tuple[str, ...]
    policies: Floats
    """[E, K]; NaN where a probability is not known: of all arms, or of those of a declared support, and 0 of the others."""
    declared: Bools
    """[E] which rows are known."""
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
    order: str = "issue",
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
    return Setup(
        arms=names,
        mediators=who,
        policies=policies,
        declared=are_known(policies),
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


def within_reach(setup: Setup) -> Setup:
    """The same, unless there are arms that nobody ever pulls: no learner of them could end."""
    missing = never_pulled(setup.policies)
    if missing:
        raise nobody_pulls([setup.arms[a] for a in missing])
    return setup


def parse_mediators(given: Mediators, arms: tuple[str, ...], silent: bool) -> tuple[tuple[str, ...], Floats]:
    """Names and policies [E, K]; NaN where a probability is not known."""
    if isinstance(given, int):
        if given < 1:
            raise ProblemError("a learner needs at least one mediator")
        return check_names(None, given, "mediator"), np.full((given, len(arms)), np.nan)
    rows = list(given.values() if isinstance(given, Mapping) else cast(Sequence[Policy], given))
    names = check_names(list(given) if isinstance(given, Mapping) else None, len(rows), "mediator")
    if not rows:
        raise ProblemError("a learner needs at least one mediator")
    return names, np.array([policy_row(row, e, arms, names[e], silent) for e, row in enumerate(rows)])
