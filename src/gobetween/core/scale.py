"""Scale: do rewards spread more than the declared σ (`spread.py`), or more than the mean says, where a family's does
(`excess.py`)?
"""

import math

import numpy as np

from gobetween.core.alarm import LEVEL, Alarm, Facts, alarm_of
from gobetween.core.excess import POISSON, log_excess_evidence, watches
from gobetween.core.family import Family
from gobetween.core.spread import is_kept, log_spread_evidence, scale_of, squares
from gobetween.core.types import Floats, Ints


def scale(facts: Facts) -> list[Alarm]:
    """Do rewards spread more than is declared?"""
    sigma = scale_of(facts.family)
    if sigma is None or facts.spread is None or not is_kept(facts.spread, facts.family):
        return []
    N_a = facts.N_ea[:, : len(facts.arms)].sum(axis=0)
    return excess_alarms(facts.family, N_a, facts.spread) if watches(facts.family) else scale_alarms(sigma, N_a, facts.spread)


def scale_alarms(sigma: float, N_a: Ints, spread: Floats, level: float = LEVEL) -> list[Alarm]:
    """Is a declared σ contradicted by the second moments [3, K] of N_a rewards?"""
    if not N_a.sum():
        return []
    SS = squares(spread, N_a)
    found = sigma * math.sqrt(SS.sum() / max(1, N_a.sum() - (N_a > 0).sum()))
    clause = f"rewards spread more than sigma = {sigma:g} says"
    meaning = f"they spread by about {found:.3g}, all evidence is overstated, and the guarantee does not hold"
    return [alarm_of("scale", f"sigma = {sigma:g}", log_spread_evidence(N_a, SS), math.log(1.0 / level), clause, meaning)]


def excess_alarms(family: Family, N_a: Ints, spread: Floats, level: float = LEVEL) -> list[Alarm]:
    """Is what a family says of rewards with a mean contradicted by second moments and sums [3 or more, K] of N_a rewards?"""
    if not N_a.sum():
        return []
    means = spread[4] / np.maximum(1, N_a)
    expected = math.fsum((n - 1) * family.variance(mean) for n, mean in zip(N_a.tolist(), means.tolist(), strict=True) if n > 1)
    found = squares(spread, N_a).sum() / expected if expected > 0.0 else 1.0
    said = ", ".join(f"{name} = {value:g}" for name, value in family.parameters().items())
    clause = f"rewards vary more than {_called(family)}{f' with {said}' if said else ''} do"
    times = "their mean" if family == POISSON else "what their mean says"
    meaning = f"their variance is about {found:,.2f} times {times}, all evidence is overstated, and the guarantee does not hold"
    log_e = log_excess_evidence(N_a, spread[3:], family)
    return [alarm_of("scale", said or family.name, log_e, math.log(1.0 / level), clause, meaning)]


def _called(family: Family) -> str:
    """What rewards of a family are called, where their mean says how much they vary."""
    return {"poisson": "Poisson counts", "exponential": "exponential times", "gamma": "gamma rewards"}.get(
        family.name, f"{family.name.replace('-', ' ')} counts"
    )


def count_alarms(N_a: Ints, spread: Floats, level: float = LEVEL) -> list[Alarm]:
    """Is "the variance of a count is its mean" contradicted by the second moments and sums [3 or more, K] of N_a counts?"""
    return excess_alarms(POISSON, N_a, spread, level)
