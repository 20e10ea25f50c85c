"""Confounding: does an arm pay the same with every mediator?

inf over a common mean m of ∏_e M_e(m), with M_e a two-sided mixture of likelihood ratios of mediator e's rewards. It breaks the
guarantee; confounding that all mediators share cannot be seen.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from gobetween.core.alarm.alarm import LEVEL, Alarm, Details, Facts, alarm_of, check, least_detectable, most_different
from gobetween.core.evidence.means import least_total, merged_samples, total_at
from gobetween.core.ground.jit import Floats, Ints
from gobetween.core.reward.family import Family, coordinate


@dataclass(frozen=True)
class ConfoundingDetails(Details):
    """An arm, and the mediator that stands out or, where none does, has most to compare."""

    mediator: str = ""
    other: str | None = None  # the only other one who pulled the arm
    mean: float = 0.0  # with the mediator, and with the others
    rest: float = 0.0


@check(rank=4)
def confounding(facts: Facts) -> list[Alarm]:
    """Does every arm pay the same with every mediator?"""
    if facts.S_ea is None or not facts.family.sums_suffice:
        return []
    N_ea, S_ea, places = facts.N_ea[:, : len(facts.arms)], facts.S_ea, {name: a for a, name in enumerate(facts.arms)}
    found = confounding_alarms(facts.arms, facts.family, N_ea, S_ea, hasty=facts.hasty)
    columns = [(N_ea[:, places[alarm.subject]], S_ea[:, places[alarm.subject]]) for alarm in found]
    return [_with_difference(alarm, facts, *column) for alarm, column in zip(found, columns, strict=True)]


def confounding_alarms(
    names: Sequence[str], family: Family, N_ea: Ints, S_ea: Floats, level: float = LEVEL, hasty: bool = False
) -> list[Alarm]:
    """Does an arm's mean differ between mediators? One check for each arm that several mediators pulled; hasty: only
    where the likelihood ratio would suffice for an alarm.
    """
    limit = math.log(len(names) / level)
    found = []
    for a in np.flatnonzero((N_ea > 0).sum(axis=0) >= 2).tolist():
        name, pulled = names[a], N_ea[:, a] > 0
        n, S = N_ea[pulled, a], S_ea[pulled, a]
        if not (hasty and most_difference(family, n, S) < limit):
            log_e = log_difference(family, n, S, limit)
            found.append(alarm_of("confounding", name, log_e, limit, ConfoundingDetails()))
    return found


def _with_difference(alarm: Alarm, facts: Facts, n: Ints, S: Floats) -> Alarm:
    """How much a mediator differs from the others or, of an alarm that was not raised, would have had to."""
    pulled, detectable, mean, rest = np.flatnonzero(n), None, 0.0, 0.0
    if alarm.raised:
        one, mean, rest = most_different(facts.family, n[pulled], S[pulled])
    elif facts.detectable:
        one, detectable = visible_difference(facts.family, n[pulled], S[pulled], alarm.limit)
    else:
        return alarm
    other = facts.mediators[pulled[1 - one]] if len(pulled) == 2 else None
    details = ConfoundingDetails(facts.mediators[pulled[one]], other, mean, rest, unit=facts.unit, looked=not alarm.raised)
    return replace(alarm, detectable=detectable, size=mean - rest if alarm.raised else None, details=details)


def visible_difference(family: Family, n: Ints, S: Floats, limit: float) -> tuple[int, float | None]:
    """The mediator with most to compare, and how far its mean must be from the others' to show: to the side with more room."""
    total, mean = float(n.sum()), float(S.sum() / n.sum())
    one = int(np.argmax(np.minimum(n, total - n)))
    up, down = family.high - mean, mean - family.low
    side, room = (1.0, up) if up >= down else (-1.0, down)
    others, many = np.unique(np.delete(n, one), return_counts=True)  # as data are expected, those with one count are alike
    counts, times = np.append(n[one], others).astype(np.float64), np.append(1.0, many.astype(np.float64))
    first = np.arange(len(counts)) == 0

    def evidence(d: float) -> float:
        sums = counts * (mean + side * d * first)
        return float(total_at(family, counts, sums, times, coordinate(family, (times * sums).sum() / total))[0])

    error = math.sqrt(family.variance(mean) * (1.0 / n[one] + 1.0 / (total - n[one]))) or min(1.0, room) / total
    return one, least_detectable(evidence, error, room, limit)


def log_difference(family: Family, n: Ints, S: Floats, enough: float = -math.inf) -> float:
    """Evidence that samples with counts n and sums S have no common mean: the least Σ ln M over it, from above by 1e-9.

    Any point evaluated bounds it from above: once it is known to be under `enough`, that bound is returned.
    """
    return float(least_total(family, *merged_samples(n, S)[:3], enough))


def most_difference(family: Family, n: Ints, S: Floats) -> float:
    """What `log_difference` can be at most: Σ n d(S/n, the common mean); no mixture of likelihood ratios is larger."""
    common = float(S.sum() / n.sum())
    return math.fsum(k * family.kl(total / k, common) for k, total in zip(n.tolist(), S.tolist(), strict=True))
