"""Alarms about the world, as e-values: whenever one looks, a false alarm at level α has probability at most α.

*Declared policy*: Krichevsky–Trofimov mixtures of what a mediator did, against its declared policy: of all arms together, and
of each arm against the rest. A wrong policy costs queries, not correctness. *Confounding*: does an arm pay the same whoever
pulls it? inf over a common mean m of ∏_e M_e(m), with M_e a two-sided mixture of likelihood ratios of mediator e's rewards. It
breaks the guarantee; confounding that all mediators share cannot be seen.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from gobetween.core.family import Family, coordinate, span, two_sided
from gobetween.core.jit import leaf
from gobetween.core.types import Floats, Ints

LEVEL = 0.01


@dataclass(frozen=True)
class Alarm:
    """One check."""

    subject: str
    """The mediator (declared policy) or the arm (confounding)."""
    log_e: float
    """Evidence in nats; under the limit an upper bound of it; ∞ after what was declared impossible."""
    limit: float
    raised: bool


def policy_alarms(
    names: Sequence[str], N_ea: Ints, declared: Sequence[Sequence[float] | None], level: float = LEVEL
) -> list[Alarm]:
    """Is a declared policy contradicted? N_ea may have one more column, for silence, with what probability is left."""
    found = []
    limit = math.log(max(1, sum(row is not None for row in declared)) / level)
    for name, counts, row in zip(names, N_ea, declared, strict=True):
        if row is None or not counts.sum():
            continue
        policy = np.asarray(row, dtype=np.float64)
        if len(counts) > len(policy):
            policy = np.append(policy, max(0.0, 1.0 - policy.sum()))
        log_e = log_policy_evidence(counts, policy)
        found.append(Alarm(name, float(log_e), limit, bool(log_e >= limit)))
    return found


def log_policy_evidence(counts: Ints, policy: Floats) -> float:
    """Ln of ½ · KT of all K arms + 1/(2K) · Σ (each arm against the rest): a martingale if the policy is right.

    The first finds what is wrong in many arms, but learns K − 1 numbers, which costs ½(K − 1) ln n. An arm against the rest is
    half KT, which learns one number, and half the likelihood ratio of "never shown", which learns none.
    """
    support = policy > 0.0
    together = log_kt(counts, policy)
    K, n = int(support.sum()), int(counts.sum())
    if K < 3 or math.isinf(together):  # two arms: one against the rest is the same again
        return together
    share = math.log(4.0 * K)
    parts = [together - math.log(2.0)]
    for c, p in zip(counts[support].tolist(), policy[support].tolist(), strict=True):
        parts.append(log_kt(np.array([c, n - c]), np.array([p, 1.0 - p])) - share)
        if c == 0:
            parts.append(-n * math.log1p(-p) - share)
    top = max(parts)
    return top + math.log(math.fsum(math.exp(part - top) for part in parts))


def log_kt(counts: Ints, policy: Floats) -> float:
    """Ln of the Krichevsky–Trofimov mixture over the policy's likelihood: a martingale if the policy is right."""
    support = policy > 0.0
    if counts[~support].any():
        return math.inf
    seen, probabilities = counts[support], policy[support]
    K, n = len(seen), int(seen.sum())
    mixture = math.lgamma(K / 2) - math.lgamma(n + K / 2) + sum(math.lgamma(c + 0.5) - math.lgamma(0.5) for c in seen.tolist())
    return mixture - float(seen @ np.log(probabilities))


def confounding_alarms(names: Sequence[str], family: Family, N_ea: Ints, S_ea: Floats, level: float = LEVEL) -> list[Alarm]:
    """Does an arm's mean differ between mediators? One check for each arm that several mediators pulled."""
    limit = math.log(len(names) / level)
    found = []
    for a, name in enumerate(names):
        pulled = N_ea[:, a] > 0
        if pulled.sum() >= 2:
            log_e = log_difference(family, N_ea[pulled, a], S_ea[pulled, a], limit)
            found.append(Alarm(name, float(log_e), limit, bool(log_e >= limit)))
    return found


def log_difference(family: Family, n: Ints, S: Floats, enough: float = -math.inf) -> float:
    """Evidence that samples with counts n and sums S have no common mean: the least Σ ln M over it, from above by 1e-9.

    Any point evaluated bounds it from above: once it is known to be under `enough`, that bound is returned.
    """
    return float(least_total(family, n.astype(np.float64), np.ascontiguousarray(S, np.float64), enough))


@leaf
def least_total(family: Family, n: Floats, S: Floats, enough: float) -> float:
    """Bisection on the slope of the convex function Σ ln M, which is least between the samples' own means or beside them."""
    low, high = span(family)
    x = coordinate(family, S.sum() / n.sum())
    best, slope = total_at(family, n, S, x)
    left, right = x, x
    stride = max(1e-3, 0.1 * abs(x))
    while slope != 0.0 and best >= enough and low < left and right < high and stride < 1e60:
        if slope > 0.0:
            left = max(low, x - stride)
            value, slope_there = total_at(family, n, S, left)
        else:
            right = min(high, x + stride)
            value, slope_there = total_at(family, n, S, right)
        best = min(best, value)
        if slope_there * slope <= 0.0:
            break
        stride *= 2.0
    for _ in range(200):
        middle = 0.5 * (left + right)
        if best < enough or middle <= left or middle >= right:
            break
        value, slope = total_at(family, n, S, middle)
        best = min(best, value)
        if slope > 0.0:
            right = middle
        else:
            left = middle
    return best


@leaf
def total_at(family: Family, n: Floats, S: Floats, x: float) -> tuple[float, float]:
    """The pair Σ ln M, slope at a common coordinate x; M is an even mixture of both sides."""
    value, slope = 0.0, 0.0
    for e in range(n.shape[0]):
        here, rise = two_sided(family, n[e], S[e], x)
        value, slope = value + here, slope + rise
    return value, slope
