"""Declared policy: Krichevsky–Trofimov mixtures of what a mediator did, against its declared policy: of all arms together, and
of each arm against the rest. A wrong policy costs queries, not correctness.
"""

import math
from collections.abc import Sequence

import numpy as np

from gobetween.core.alarm import LEVEL, Alarm, Facts, alarm_of, with_size, with_visible
from gobetween.core.mixtures import log_kt
from gobetween.core.sizes import most_off
from gobetween.core.types import Floats, Ints
from gobetween.core.visible import about, least_visible
from gobetween.export import some


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
        clause = f"{name!r} acts otherwise than by its declared policy"
        meaning = "the answer stays valid, plans that rest on that policy are off"
        found.append(alarm_of("policy", name, log_policy_evidence(counts, policy), limit, clause, meaning, breaks=False))
    return found


def _support_alarm(name: str, counts: Ints, policy: Floats, limit: float) -> Alarm:
    """Was an arm pulled outside a declared support? That is certain or not: there is no other evidence."""
    log_e = math.inf if counts[policy == 0.0].any() else 0.0
    clause = f"{name!r} pulls arms that it was declared never to"
    meaning = "the answer stays valid, for it does not rest on who may pull what; what was seen is planned with"
    return alarm_of("policy", name, log_e, limit, clause, meaning, breaks=False)


def _with_share(alarm: Alarm, counts: Ints, row: Sequence[float] | None, facts: Facts) -> Alarm:
    """How far off a share is or, of an alarm that was not raised, would have had to be."""
    policy, unit = _filled(row or (), len(counts)), facts.unit
    if np.isnan(policy).any():
        outside = [facts.arms[a] for a in np.flatnonzero((policy == 0.0) & (counts > 0)).tolist()]
        if not outside:
            return with_visible(alarm, 0.0, "any arm outside its support would have shown", unit) if facts.visible else alarm
        return with_size(alarm, some(outside), float(counts[policy == 0.0].sum() / counts.sum()))
    if alarm.raised:
        one, share, said = most_off(counts, policy)
        what = repr(facts.arms[one]) if one < len(facts.arms) else "silence"
        return with_size(alarm, f"{what} {share:.1%} of the time instead of {said:.1%}", share - said)
    if not facts.visible:
        return alarm
    if (policy > 0.0).sum() < 2:
        return with_visible(alarm, 0.0, "any other arm would have shown", unit)
    visible = visible_share(int(counts.sum()), policy, alarm.limit)
    return with_visible(
        alarm, visible, f"an arm's share off by about {about(100.0 * (visible or 0.0))} points would have shown", unit
    )


def visible_share(n: int, policy: Floats, limit: float) -> float | None:
    """How far off the share of an arm must be to show after n pulls: of the arm whose share varies most, hence of any."""
    K = int((policy > 0.0).sum())
    p = float(policy[np.argmax(policy * (1.0 - policy))])
    side, share = (1.0, 1.0 - p) if p < 0.5 else (-1.0, p)
    declared, loss = np.array([p, 1.0 - p]), math.log(4.0 * K) if K > 2 else 0.0

    def evidence(d: float) -> float:
        return log_against(n * np.array([p + side * d, 1.0 - p - side * d]), declared) - loss

    return least_visible(evidence, math.sqrt(p * (1.0 - p) / n), share, limit)


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
