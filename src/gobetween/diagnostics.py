"""Alarms about the world, as e-values: whenever one looks, a false alarm at level α has probability at most α.

*Declared policy*: the Krichevsky–Trofimov mixture of what a mediator did, against its declared policy. A wrong policy costs
queries, not correctness. *Confounding*: does an arm pay the same whoever pulls it? inf over a common mean m of ∏_e M_e(m), with
M_e a two-sided mixture of likelihood ratios of mediator e's rewards. It breaks the guarantee; confounding that all mediators
share cannot be seen.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from gobetween.core.families import Family
from gobetween.core.types import Floats, Ints

LEVEL = 0.01


@dataclass(frozen=True)
class Alarm:
    """One check."""

    subject: str
    """The mediator (declared policy) or the arm (confounding)."""
    log_e: float
    """Evidence in nats; ∞ when something happened that was declared impossible."""
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
        log_e = log_kt(counts, policy)
        found.append(Alarm(name, float(log_e), limit, bool(log_e >= limit)))
    return found


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
            log_e = log_difference(family, N_ea[pulled, a], S_ea[pulled, a])
            found.append(Alarm(name, float(log_e), limit, bool(log_e >= limit)))
    return found


def log_difference(family: Family, n: Ints, S: Floats) -> float:
    """Evidence that samples with counts n and sums S have no common mean: the least Σ ln M over it, from above by 1e-9."""
    low, high = family.span()
    means = sorted(float(family.coordinate(s / k)) for k, s in zip(n.tolist(), S.tolist(), strict=True))
    left, right = max(low, means[0]), min(high, means[-1])
    stride = max(right - left, 1e-6 * max(1.0, abs(left)))

    def total(x: float) -> tuple[float, float]:
        parts = [_two_sided(family, float(k), s, x) for k, s in zip(n.tolist(), S.tolist(), strict=True)]
        return sum(value for value, _ in parts), sum(slope for _, slope in parts)

    for _ in range(60):
        if left <= low or total(left)[1] <= 0.0:
            break
        left, stride = max(low, left - stride), 2.0 * stride
    for _ in range(60):
        if right >= high or total(right)[1] >= 0.0:
            break
        right, stride = min(high, right + stride), 2.0 * stride
    best = min(total(left)[0], total(right)[0])
    for _ in range(200):
        middle = 0.5 * (left + right)
        value, slope = total(middle)
        best = min(best, value)
        if middle in (left, right) or slope == 0.0:
            break
        if slope > 0.0:
            right = middle
        else:
            left = middle
    return best


def _two_sided(family: Family, n: float, S: float, x: float) -> tuple[float, float]:
    """The pair ln M, slope of an even mixture of both sides."""
    (up, up_slope), (down, down_slope) = family.log_mixture(n, S, x, 1.0), family.log_mixture(n, S, x, -1.0)
    top = max(up, down)
    if not math.isfinite(top):
        return top, 0.0
    a, b = math.exp(up - top), math.exp(down - top)
    return top + math.log(0.5 * (a + b)), (a * up_slope + b * down_slope) / (a + b)
