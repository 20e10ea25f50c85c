"""Confounding: does an arm pay the same whoever pulls it?

inf over a common mean m of ∏_e M_e(m), with M_e a two-sided mixture of likelihood ratios of mediator e's rewards. It breaks the
guarantee; confounding that all mediators share cannot be seen.
"""

import math
from collections.abc import Sequence

import numpy as np

from gobetween.core.alarm import LEVEL, Alarm, Facts, alarm_of, with_size, with_visible
from gobetween.core.difference import alike, least_total, total_at
from gobetween.core.family import Family, coordinate
from gobetween.core.sizes import most_different
from gobetween.core.types import Floats, Ints
from gobetween.core.visible import about, least_visible


def confounding(facts: Facts) -> list[Alarm]:
    """Does every arm pay the same whoever pulls it?"""
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
            clause = f"{name!r} pays differently with different mediators"
            meaning = "something else decides both who acts and what is paid, and the guarantee does not hold"
            found.append(alarm_of("confounding", name, log_e, limit, clause, meaning))
    return found


def _with_difference(alarm: Alarm, facts: Facts, n: Ints, S: Floats) -> Alarm:
    """How much a mediator differs from the others or, of an alarm that was not raised, would have had to."""
    pulled = np.flatnonzero(n)
    if alarm.raised:
        one, mean, rest = most_different(facts.family, n[pulled], S[pulled])
        others = "the others" if len(pulled) > 2 else repr(facts.mediators[pulled[1 - one]])
        return with_size(alarm, f"{mean:.4g} with {facts.mediators[pulled[one]]!r} and {rest:.4g} with {others}", mean - rest)
    if not facts.visible:
        return alarm
    one, visible = visible_difference(facts.family, n[pulled], S[pulled], alarm.limit)
    between = f" between {facts.mediators[pulled[one]]!r} and the others" if len(pulled) > 2 else ""
    return with_visible(alarm, visible, f"a difference of about {about(visible or 0.0)}{between} would have shown", facts.unit)


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
    return one, least_visible(evidence, error, room, limit)


def log_difference(family: Family, n: Ints, S: Floats, enough: float = -math.inf) -> float:
    """Evidence that samples with counts n and sums S have no common mean: the least Σ ln M over it, from above by 1e-9.

    Any point evaluated bounds it from above: once it is known to be under `enough`, that bound is returned.
    """
    return float(least_total(family, *alike(n, S)[:3], enough))


def most_difference(family: Family, n: Ints, S: Floats) -> float:
    """What `log_difference` can be at most: Σ n d(S/n, the common mean), for no mixture of likelihood ratios is larger than all
    of them.
    """
    common = float(S.sum() / n.sum())
    return math.fsum(k * family.kl(total / k, common) for k, total in zip(n.tolist(), S.tolist(), strict=True))
