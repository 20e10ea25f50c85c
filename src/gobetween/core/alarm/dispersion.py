"""Scale: do rewards spread more than the declared σ, or more than the mean says, where a family's does?"""

import math
from dataclasses import dataclass

import numpy as np

from gobetween.core.alarm.alarm import LEVEL, Alarm, Details, Facts, alarm_of, check
from gobetween.core.ground.jit import Floats, Ints
from gobetween.core.reward.family import Family
from gobetween.core.reward.overdispersion import Overdispersion
from gobetween.core.reward.second_moments import is_kept, log_excess_evidence, log_spread_evidence, squares

LIMIT = math.log(1.0 / LEVEL)


@dataclass(frozen=True)
class SigmaDetails(Details):
    """The σ that was found."""

    found: float


@dataclass(frozen=True)
class OverdispersionDetails(Details):
    """The declared family, and how many times its variance was found."""

    family: Family
    times: float


@check(rank=1)
def scale(facts: Facts) -> list[Alarm]:
    """Do rewards spread more than is declared?"""
    family, spread = facts.family, facts.spread
    if spread is None or not is_kept(spread, family):
        return []
    N_a, sigma, excess = facts.N_ea[:, : len(facts.arms)].sum(axis=0), family.declared_sigma(), family.excess()
    if not N_a.any():
        return []
    if excess is not None:
        return excess_alarms(family, excess, N_a, spread)
    return [] if sigma is None else scale_alarms(sigma, N_a, spread)


def scale_alarms(sigma: float, N_a: Ints, spread: Floats) -> list[Alarm]:
    """Is a declared σ contradicted by the second moments [3, K] of N_a rewards?"""
    SS = squares(spread, N_a)
    found = sigma * math.sqrt(SS.sum() / max(1, N_a.sum() - (N_a > 0).sum()))
    log_e, details = log_spread_evidence(N_a, SS), SigmaDetails(found)
    return [alarm_of("scale", f"sigma = {sigma:g}", log_e, LIMIT, details)]


def excess_alarms(family: Family, excess: Overdispersion, N_a: Ints, spread: Floats) -> list[Alarm]:
    """Is what a family says of rewards with a mean contradicted by second moments and sums [5 or more, K] of N_a rewards?"""
    means = spread[4] / np.maximum(1, N_a)
    expected = math.fsum((n - 1) * family.variance(mean) for n, mean in zip(N_a.tolist(), means.tolist(), strict=True) if n > 1)
    found = squares(spread, N_a).sum() / expected if expected > 0.0 else 1.0
    said = ", ".join(f"{name} = {value:g}" for name, value in family.parameters().items())
    log_e, details = log_excess_evidence(N_a, spread[3:], excess), OverdispersionDetails(family, found)
    return [alarm_of("scale", said or family.name, log_e, LIMIT, details)]
