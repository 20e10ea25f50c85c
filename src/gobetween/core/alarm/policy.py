"""Declared policy: Krichevsky–Trofimov mixtures of what a mediator did, against its declared policy: of all arms together, and
of each arm against the rest. A wrong policy costs queries, not correctness.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from gobetween.core.alarm.alarm import LEVEL, Alarm, Details, Facts, alarm_of, check, least_detectable, most_off
from gobetween.core.ground.jit import Floats, Ints
from gobetween.core.reward.mixtures import log_kt


@dataclass(frozen=True)
class PolicyDetails(Details):
    """A mediator, and what it was declared to do."""

    outside: tuple[str, ...] | None = None  # where only a support is declared: the arms that were pulled outside it
    arm: str | None = None  # once raised, the arm whose share is farthest off (None: silence), the share and the one declared
    share: float = 0.0
    declared: float = 0.0


@check(breaks=False, rank=5)
def policy(facts: Facts) -> list[Alarm]:
    """Does every mediator act as declared?"""
    found = policy_alarms(facts.mediators, facts.N_ea, facts.declared)
    rows = dict(zip(facts.mediators, zip(facts.N_ea, facts.declared, strict=True), strict=True))
    return [_with_share(alarm, *rows[alarm.subject], facts) for alarm in found]


def policy_alarms(
    names: Sequence[str], N_ea: Ints, declared: Sequence[Sequence[float] | None], level: float = LEVEL
) -> list[Alarm]:
    """Is a declared policy contradicted? N_ea may have one more column, for silence, with what probability is left."""
    found = []
    limit = math.log(max(1, sum(row is not None and not math.isnan(math.fsum(row)) for row in declared)) / level)
    for name, counts, row in zip(names, N_ea, declared, strict=True):
        if row is None or not counts.sum():
            continue
        policy = _filled(row, len(counts))
        if np.isnan(policy).any():
            found.append(_support_alarm(name, counts, policy, limit))
            continue
        log_e = log_policy_evidence(counts, policy)
        found.append(alarm_of("policy", name, log_e, limit, PolicyDetails(), breaks=False))
    return found


def _support_alarm(name: str, counts: Ints, policy: Floats, limit: float) -> Alarm:
    """Was an arm pulled outside a declared support? That is certain or not: there is no other evidence."""
    log_e = math.inf if counts[policy == 0.0].any() else 0.0
    return alarm_of("policy", name, log_e, limit, PolicyDetails(outside=()), breaks=False)


def _with_share(alarm: Alarm, counts: Ints, row: Sequence[float] | None, facts: Facts) -> Alarm:
    """How far off a share is or, of an alarm that was not raised, would have had to be."""
    policy, looked = _filled(row or (), len(counts)), PolicyDetails(unit=facts.unit, looked=facts.detectable)
    if np.isnan(policy).any():
        outside = tuple(facts.arms[a] for a in np.flatnonzero((policy == 0.0) & (counts > 0)).tolist())
        size = float(counts[policy == 0.0].sum() / counts.sum()) if outside else None
        detectable = None if outside or not facts.detectable else 0.0
        return replace(alarm, size=size, detectable=detectable, details=replace(looked, outside=outside))
    if alarm.raised:
        one, share, said = most_off(counts, policy)
        arm = facts.arms[one] if one < len(facts.arms) else None
        return replace(alarm, size=share - said, details=replace(looked, arm=arm, share=share, declared=said))
    if not facts.detectable:
        return alarm
    any_other = (policy > 0.0).sum() < 2
    return replace(
        alarm, detectable=0.0 if any_other else visible_share(int(counts.sum()), policy, alarm.limit), details=looked
    )


def visible_share(n: int, policy: Floats, limit: float) -> float | None:
    """How far off the share of an arm must be to show after n pulls: of the arm whose share varies most, hence of any."""
    K = int((policy > 0.0).sum())
    p = float(policy[np.argmax(policy * (1.0 - policy))])
    side, share = (1.0, 1.0 - p) if p < 0.5 else (-1.0, p)
    declared, loss = np.array([p, 1.0 - p]), math.log(4.0 * K) if K > 2 else 0.0

    def evidence(d: float) -> float:
        return log_against(n * np.array([p + side * d, 1.0 - p - side * d]), declared) - loss

    return least_detectable(evidence, math.sqrt(p * (1.0 - p) / n), share, limit)


def _filled(row: Sequence[float], columns: int) -> Floats:
    """A declared policy, with what probability is left for silence where that has a column."""
    policy = np.asarray(row, dtype=np.float64)
    left = 1.0 - policy.sum()
    return np.append(policy, left if np.isnan(left) else max(0.0, left)) if columns > len(policy) else policy


def log_policy_evidence(counts: Ints, policy: Floats) -> float:
    """Ln of ½ · KT of all K arms + 1/(2K) · Σ (each arm against the rest): a martingale if the policy is right.

    The first finds what is wrong in many arms, but learns K − 1 numbers, which costs ½(K − 1) ln n. An arm against the rest is
    half KT, which learns one number, and half the likelihood ratio of "never shown", which learns none.
    """
    support = policy > 0.0
    together = log_against(counts, policy)
    K, n = int(support.sum()), int(counts.sum())
    if K < 3 or math.isinf(together):  # two arms: one against the rest is the same again
        return together
    c, p = counts[support].astype(np.float64), policy[support]
    rest = np.log1p(-np.minimum(p, 1.0 - 1e-16))
    alone = log_kt(np.stack([c, n - c], axis=1)) - c * np.log(p) - (n - c) * rest
    never = -n * rest[c == 0]
    parts = np.concatenate([[together - math.log(2.0)], alone - math.log(4.0 * K), never - math.log(4.0 * K)])
    top = float(parts.max())
    return top + math.log(float(np.exp(parts - top).sum()))


def log_against(counts: Ints | Floats, policy: Floats) -> float:
    """Ln of the Krichevsky–Trofimov mixture over the policy's likelihood: a martingale if the policy is right."""
    support = policy > 0.0
    if counts[~support].any():
        return math.inf
    seen = np.asarray(counts[support], np.float64)  # what is expected need not be whole
    return float(log_kt(seen) - seen @ np.log(policy[support]))
