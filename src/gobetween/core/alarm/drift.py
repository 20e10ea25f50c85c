"""Drift: does an arm pay the same, and does a mediator choose the same, all the time? E-values over splits fixed in advance.

Splits are at s_j = 8, 12, 16, 24, 32, … counted answers, with weights w_j = 1/((j + 1)(j + 2)), Σ w_j = 1. *Rewards* of an arm:
E_j = inf over m of M(before s_j; m) · M(after it; m), as for two mediators (`evidence/means.py`). At the true mean the product
is a martingale that begins at 1, and inf is no more than that. *Policy* of a mediator: E_j = KT(before) · KT(after)/sup over p
of the likelihood of all it did. Σ w_j E_j is at most a martingale that begins at 1, hence ever reaches 1/α with probability at
most α. A split that was not reached, or not kept, counts as 0.

Drift (`drift.py`): does an arm pay, and does a mediator choose, the same all the time? The first breaks the guarantee, the
second does not.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from gobetween.core.alarm.alarm import LEVEL, Alarm, Details, Facts, alarm_of, check
from gobetween.core.alarm.confounding import visible_difference
from gobetween.core.evidence.means import least_total
from gobetween.core.ground.jit import Floats, Ints, jit, leaf
from gobetween.core.reward.family import Family, divergence
from gobetween.core.reward.mixtures import log_kt, log_likelihood

FIRST = 8
MODERATE = 1000  # numbers of answers by mediator and arm from which on policies are not watched: each split keeps all of them


class Checkpoint(NamedTuple):
    """What had been counted at a split, or in the end."""

    j: int  # which split; −1 in the end
    last: int  # the number of the query that was counted last; −1 before all of them
    N_a: Ints  # [K]
    S_a: Floats  # [K]
    N_ea: Ints | None  # [E, K] or, with silence, [E, K + 1]; None where it was not kept


class Trajectory(NamedTuple):
    """What was counted at the splits on the way, and in the end."""

    checkpoints: Sequence[Checkpoint]
    end: Checkpoint


def split_at(j: int) -> int:
    """Answers before split j."""
    return (FIRST << j // 2) * (2 + j % 2) // 2


def split_after(t: int) -> int:
    """The first split after t answers."""
    j = 0
    while split_at(j) <= t:
        j += 1
    return j


def split_weight(j: int) -> float:
    """Ln w_j."""
    return -math.log((j + 1.0) * (j + 2.0))


def moderate(E: int, K: int) -> bool:
    """Are there so few numbers of answers that they can be kept at each split?"""
    return E * (K + 1) <= MODERATE


def log_reward_drift(family: Family, trajectory: Trajectory, limit: float, hasty: bool = False) -> tuple[Floats, Ints]:
    """Ln Σ w_j E_j for each arm [K], and the checkpoint with most evidence [K]; −∞ where no split has answers on both sides.

    Under the limit an upper bound, in haste that of the likelihood ratio.
    """
    before, end = trajectory.checkpoints, trajectory.end
    N, S = np.array([checkpoint.N_a for checkpoint in before], np.float64), np.array([checkpoint.S_a for checkpoint in before])
    later = end.N_a - N
    low, high = (np.where(later > 0, np.maximum(later, 1.0) * bound, 0.0) for bound in (family.low, family.high))
    rest = np.clip(end.S_a - S, low, high)  # what rounding has left may be impossible
    log_w = np.array([split_weight(checkpoint.j) for checkpoint in before])
    log_e, best = drift_evidence(family, N, S, later, rest, log_w, limit, hasty)
    return log_e, best


@jit
def drift_evidence(
    family: Family, N: Floats, S: Floats, later: Floats, rest: Floats, log_w: Floats, limit: float, hasty: bool
) -> tuple[Floats, Ints]:
    """The same from counts and sums [J, K] before and after each split."""
    J, K = N.shape
    log_e, best, terms = np.empty(K), np.zeros(K, np.int64), np.empty(J)
    n, s, once = np.empty(2), np.empty(2), np.ones(2)
    for a in range(K):
        value = limit
        if hasty:
            for j in range(J):
                terms[j] = log_w[j] + likelihood_ratio(family, N[j, a], S[j, a], later[j, a], rest[j, a])
            value = log_sum_exp(terms)
        for exactly in (False, True):
            if value >= limit:
                for j in range(J):
                    terms[j] = -np.inf
                    if N[j, a] > 0.0 and later[j, a] > 0.0:
                        n[0], n[1], s[0], s[1] = N[j, a], later[j, a], S[j, a], rest[j, a]
                        enough = -np.inf if exactly else limit - log_w[j] - math.log(J)
                        terms[j] = log_w[j] + least_total(family, n, s, once, enough)
                value = log_sum_exp(terms)
        log_e[a], best[a] = value, np.argmax(terms)
    return log_e, best


@leaf
def likelihood_ratio(family: Family, n: float, S: float, later: float, rest: float) -> float:
    """The largest likelihood ratio of two means against one: no mixture is larger."""
    if n == 0.0 or later == 0.0:
        return -math.inf
    common = (S + rest) / (n + later)
    return n * divergence(family, S / n, common, 1.0, 0.0) + later * divergence(family, rest / later, common, 1.0, 0.0)


@leaf
def log_sum_exp(terms: Floats) -> float:
    """Ln Σ exp of them."""
    top = -math.inf
    for term in terms:
        top = max(top, term)
    if top == -math.inf:
        return -math.inf
    total = 0.0
    for term in terms:
        total += math.exp(term - top)
    return top + math.log(total)


def log_policy_drift(before: Ints, counts: Ints, log_w: Floats) -> tuple[float, int, int]:
    """Ln Σ w_j E_j from a mediator's counts before each split [J, C] and in the end [C]; the split and the outcome with most
    evidence.

    As for a declared policy, E_j is half that of all outcomes together and half the mean of each against the rest, which
    learns one number instead of C − 1.
    """
    first, then, C = before.astype(np.float64), (counts - before).astype(np.float64), len(counts)
    n, m = first.sum(axis=1, keepdims=True), then.sum(axis=1, keepdims=True)
    together = log_kt(first) + log_kt(then) - log_likelihood(counts[None, :])
    each = np.stack([log_kt(np.stack([c, total - c], axis=2)) for c, total in ((first, n), (then, m))]).sum(axis=0)
    alone = each - log_likelihood(np.stack([counts, counts.sum() - counts], axis=1))[None, :]
    shares = np.column_stack([together - math.log(2.0), alone - math.log(2.0 * C)]) if C > 2 else together[:, None]
    shares = np.where((n > 0) & (m > 0), shares, -np.inf)
    by_split = np.logaddexp.reduce(shares, axis=1) + log_w
    best = int(np.argmax(by_split))
    return float(np.logaddexp.reduce(by_split)), best, int(np.argmax(alone[best]))


@dataclass(frozen=True)
class DriftDetails(Details):
    """An arm, and the split before and after which it pays differently, or where a change would be detected best."""

    split: int = 0
    before: float = 0.0
    since: float = 0.0


@check(rank=3)
def drift(facts: Facts) -> list[Alarm]:
    """Does every arm pay the same all the time?"""
    trajectory = facts.trajectory
    if trajectory is None or not trajectory.checkpoints or not facts.family.sums_suffice:
        return []
    limit, found = math.log(len(facts.arms) / LEVEL), []
    log_e, best = log_reward_drift(facts.family, trajectory, limit, facts.hasty)
    N = np.array([checkpoint.N_a for checkpoint in trajectory.checkpoints])
    middle = np.argmax(np.minimum(N, trajectory.end.N_a - N), axis=0)  # [K] the split with most answers on both sides
    for a in np.flatnonzero(log_e >= (limit if facts.hasty else -1e300)).tolist():
        alarm = alarm_of("drift", facts.arms[a], float(log_e[a]), limit, DriftDetails(unit=facts.unit))
        found.append(_with_change(alarm, facts, trajectory, a, int(best[a]), int(middle[a])))
    return found


def _with_change(alarm: Alarm, facts: Facts, trajectory: Trajectory, a: int, best: int, middle: int) -> Alarm:
    """How much an arm has changed at the best split or, of an alarm that was not raised, would have had to in the middle."""
    i = best if alarm.raised else middle
    (n, S), j = _sides(trajectory, i, a), trajectory.checkpoints[i].j
    if alarm.raised:
        before, since = float(S[0] / n[0]), float(S[1] / n[1])
        details = DriftDetails(split_at(j), before, since, unit=facts.unit)
        return replace(alarm, size=since - before, at=split_at(j), details=details)
    if not facts.detectable:
        return alarm
    detectable = visible_difference(facts.family, n, S, alarm.limit - split_weight(j))[1]
    return replace(alarm, detectable=detectable, details=DriftDetails(split_at(j), unit=facts.unit, looked=True))


def _sides(trajectory: Trajectory, i: int, a: int) -> tuple[Ints, Floats]:
    """Counts and sums of an arm before and after a checkpoint."""
    (_, _, N, S, _), end = trajectory.checkpoints[i], trajectory.end
    return np.array([N[a], end.N_a[a] - N[a]]), np.array([S[a], end.S_a[a] - S[a]])


@dataclass(frozen=True)
class PolicyDriftDetails(Details):
    """A mediator and, once raised, the arm (None: silence) whose share has changed most."""

    arm: str | None = None
    before: float = 0.0
    since: float = 0.0


@check(breaks=False, rank=6)
def policy_drift(facts: Facts) -> list[Alarm]:
    """Does every mediator choose the same way all the time, declared or not?"""
    trajectory = facts.trajectory
    if trajectory is None or trajectory.end.N_ea is None:
        return []
    kept = [(checkpoint.j, checkpoint.N_ea) for checkpoint in trajectory.checkpoints if checkpoint.N_ea is not None]
    found = [_chooser_alarm(facts, e, kept, trajectory.end.N_ea[e]) for e in range(len(facts.mediators))] if kept else []
    return [alarm for alarm in found if alarm.log_e > -math.inf]


def _chooser_alarm(facts: Facts, e: int, kept: Sequence[tuple[int, Ints]], counts: Ints) -> Alarm:
    """From the counts of all mediators at splits, and of this one in the end."""
    before, limit = np.array([N_ea[e] for _, N_ea in kept]), math.log(len(facts.mediators) / LEVEL)
    log_e, best, outcome = log_policy_drift(before, counts, np.array([split_weight(j) for j, _ in kept]))
    alarm = alarm_of("policy-drift", facts.mediators[e], log_e, limit, PolicyDriftDetails(), breaks=False)
    if not alarm.raised:
        return alarm
    arm = facts.arms[outcome] if outcome < len(facts.arms) else None
    share, since = (float(c[outcome] / c.sum()) for c in (before[best], counts - before[best]))
    details = PolicyDriftDetails(arm, share, since, unit=facts.unit)
    return replace(alarm, size=since - share, at=split_at(kept[best][0]), details=details)
