"""Drift (`drift.py`): does an arm pay, and does a mediator choose, the same all the time? The first breaks the guarantee, the
second does not.
"""

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from gobetween.core.alarm import LEVEL, Alarm, Facts, alarm_of, with_visible
from gobetween.core.confounding import visible_difference
from gobetween.core.drift import Course, log_policy_drift, log_reward_drift, split_at, split_weight
from gobetween.core.types import Floats, Ints
from gobetween.core.visible import about


def drift(facts: Facts) -> list[Alarm]:
    """Does every arm pay the same all the time?"""
    course = facts.course
    if course is None or not course.moments or not facts.family.sums_suffice:
        return []
    limit, found = math.log(len(facts.arms) / LEVEL), []
    log_e, best = log_reward_drift(facts.family, course, limit, facts.hasty)
    N = np.array([moment.N_a for moment in course.moments])
    middle = np.argmax(np.minimum(N, course.end.N_a - N), axis=0)  # [K] the split with most answers on both sides
    for a in np.flatnonzero(log_e >= (limit if facts.hasty else -1e300)).tolist():
        alarm = _drift_alarm(facts, course, a, int(best[a]), float(log_e[a]), limit)
        found.append(_with_change(alarm, facts, course, a, int(middle[a])) if facts.visible and not alarm.raised else alarm)
    return found


def _drift_alarm(facts: Facts, course: Course, a: int, best: int, log_e: float, limit: float) -> Alarm:
    clause, size, at = f"{facts.arms[a]!r} pays differently at different times", None, None
    if log_e >= limit:
        (n, S), j = _sides(course, best, a), course.moments[best].j
        clause = f"{clause}, {S[0] / n[0]:.4g} up to about {facts.unit} {split_at(j):,} and {S[1] / n[1]:.4g} since"
        size, at = float(S[1] / n[1] - S[0] / n[0]), split_at(j)
    meaning = f"something changed on the way, or {facts.unit}s are not in the order in which they were collected"
    found = alarm_of("drift", facts.arms[a], log_e, limit, clause, f"{meaning}; the guarantee does not hold")
    return replace(found, size=size, at=at)


def _sides(course: Course, i: int, a: int) -> tuple[Ints, Floats]:
    """Counts and sums of an arm before and after a moment."""
    (_, _, N, S, _), end = course.moments[i], course.end
    return np.array([N[a], end.N_a[a] - N[a]]), np.array([S[a], end.S_a[a] - S[a]])


def _with_change(alarm: Alarm, facts: Facts, course: Course, a: int, i: int) -> Alarm:
    """An alarm that was not raised, and how large a change would have had to be, at the split that shows it best."""
    j = course.moments[i].j
    visible = visible_difference(facts.family, *_sides(course, i, a), alarm.limit - split_weight(j))[1]
    when = f"about {facts.unit} {split_at(j):,}"
    return with_visible(alarm, visible, f"a change by about {about(visible or 0.0)} at {when} would have shown", facts.unit)


def policy_drift(facts: Facts) -> list[Alarm]:
    """Does every mediator choose the same way all the time, declared or not?"""
    course = facts.course
    if course is None or course.end.N_ea is None:
        return []
    kept = [(moment.j, moment.N_ea) for moment in course.moments if moment.N_ea is not None]
    found = [_chooser_alarm(facts, e, kept, course.end.N_ea[e]) for e in range(len(facts.mediators))] if kept else []
    return [alarm for alarm in found if alarm.log_e > -math.inf]


def _chooser_alarm(facts: Facts, e: int, kept: Sequence[tuple[int, Ints]], counts: Ints) -> Alarm:
    """From the counts of all mediators at splits, and of this one in the end."""
    before, limit = np.array([N_ea[e] for _, N_ea in kept]), math.log(len(facts.mediators) / LEVEL)
    log_e, best, outcome = log_policy_drift(before, counts, np.array([split_weight(j) for j, _ in kept]))
    clause, size, at = f"{facts.mediators[e]!r} chooses differently at different times", None, None
    if log_e >= limit:
        what = repr(facts.arms[outcome]) if outcome < len(facts.arms) else "silence"
        share, since = (float(c[outcome] / c.sum()) for c in (before[best], counts - before[best]))
        at = split_at(kept[best][0])
        when = f"about {facts.unit} {at:,}"
        clause, size = f"{clause}, {what} {share:.0%} of the time up to {when} and {since:.0%} since", since - share
    meaning = (
        "the answer stays valid, plans that rest on its policy are off, for that is an average; mediators who learn on "
        "the way look like this"
    )
    return replace(alarm_of("policy-drift", facts.mediators[e], log_e, limit, clause, meaning, breaks=False), size=size, at=at)
