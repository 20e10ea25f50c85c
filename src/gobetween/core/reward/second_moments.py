"""How far rewards spread around their arm's mean: second moments that add up, and evidence against what a family says of them.

A spread [3, K] holds, for each arm, an origin c (NaN before the first reward), Σ(x − c) and Σ(x − c)², all in units of σ. The
origin, an arm's first reward, keeps digits where means are large beside σ; differences are cut at ±10⁶ σ, which only lessens
the sum of squares around the mean.

Where the mean says how far rewards spread, of counts and waiting times, the unit is 1, and 2 + R rows follow: how much was ever
added to or taken from them (which bounds their rounding), Σx, and Σ ln g(x) for each of the R alternatives of
`overdispersion.py`.

Where σ is not known the family at work keeps sums [4, K] of its own: counts, and the same three in the units of rewards.
"""

import math
from functools import cache

import numpy as np

from gobetween.core.ground.jit import Floats, Ints, leaf
from gobetween.core.reward.family import Family
from gobetween.core.reward.overdispersion import Overdispersion

FARTHEST = 1e6
FINEST, LARGEST = 0.25, 10.0  # binary logarithms of the ratios that are looked for
ROUNDING = 1e-12
COUNT, ORIGIN, SUM, SQUARES = 0, 1, 2, 3  # rows of the sums where σ is not known


def scale_of(family: Family) -> float | None:
    """The unit of second moments, where a family says how far rewards spread: σ, or 1 where the mean says it."""
    return family.declared_sigma() if family.excess() is None else 1.0


def unit_of(family: Family) -> tuple[float, float] | None:
    """The unit of second moments in a log and how far they are cut, where they are needed: also where σ is not known."""
    if not family.sums_suffice:
        return 1.0, math.inf
    scale = scale_of(family)
    return None if scale is None else (scale, FARTHEST)


def rows_of(family: Family) -> int:
    """How many rows are kept of an arm."""
    excess = family.excess()
    return 3 if excess is None else 5 + len(excess.shapes)


def new_spread(K: int, family: Family | None = None) -> Floats:
    """Nothing seen; families whose mean says how far rewards spread need more rows."""
    return widened(np.zeros((3 if family is None else rows_of(family), 0)), K)


def is_kept(spread: Floats, family: Family) -> bool:
    """Do these moments hold all that is needed to watch the family?"""
    return len(spread) == rows_of(family)


def widened(spread: Floats, K: int, rows: int = 3) -> Floats:
    """The same with room for K arms, and for as many rows."""
    made = np.zeros((max(rows, len(spread)), K))
    made[0] = np.nan
    made[: len(spread), : spread.shape[1]] = spread
    return made


def add_rewards(spread: Floats, arms: Ints, rewards: Floats, family: Family, farthest: float = FARTHEST) -> None:
    """Count rewards, given in units of σ, of arms that have room."""
    K, excess = spread.shape[1], family.excess()
    for a in np.flatnonzero(np.isnan(spread[0])).tolist():
        seen = np.flatnonzero(arms == a)
        if len(seen):
            spread[0, a] = rewards[seen[0]]
    d = np.clip(rewards - spread[0, arms], -farthest, farthest)
    spread[1] += np.bincount(arms, d, K)
    spread[2] += np.bincount(arms, d * d, K)
    if excess is not None:
        add_counts(spread[3:], arms, rewards, excess)


def add_reward(spread: Floats, a: int, x: float, step: int, family: Family) -> None:
    """Count one reward, or with step −1 take it out again."""
    excess = family.excess()
    if math.isnan(spread[0, a]):
        spread[0, a] = x
    d = max(-FARTHEST, min(FARTHEST, x - float(spread[0, a])))
    spread[1, a] += step * d
    spread[2, a] += step * d * d
    if excess is not None:
        add_count(spread[3:], a, x, step, excess)


def add_counts(sums: Floats, arms: Ints, x: Floats, excess: Overdispersion) -> None:
    """Add rewards x of arms to the sums [2 + R, K]."""
    K = sums.shape[1]
    a, values, times = _distinct(arms, x, K) if excess.whole else (arms, x, np.ones(len(x)))
    once, places = np.unique(values, return_inverse=True)
    each = excess.log_g(once)[:, places]
    sums[0] += np.bincount(a, times * _sizes(excess, values, each), K)
    sums[1] += np.bincount(a, times * values, K)
    for row, part in zip(sums[2:], each, strict=True):
        row += np.bincount(a, times * part, K)


def add_count(sums: Floats, a: int, x: float, step: int, excess: Overdispersion) -> None:
    """Add one reward or, with step −1, take it out again."""
    each = excess.log_g(np.array([x]))[:, 0]
    sums[0, a] += float(_sizes(excess, np.array([x]), each[:, None])[0])
    sums[1, a] += step * x
    sums[2:, a] += step * each


def _sizes(excess: Overdispersion, x: Floats, each: Floats) -> Floats:
    """[n] how large what is added up is, from ln g(x) [R, n]."""
    return np.asarray(np.abs(each).max(axis=0) + (x if excess.whole else 1.0))


def _distinct(arms: Ints, x: Floats, K: int) -> tuple[Ints, Floats, Floats]:
    """Pairs of arm and count, and how often each occurs, where that is soon counted; else all as they are."""
    width = float(x.max(initial=0.0)) + 1.0
    if K * width > max(len(x), 2**16):
        return arms, x, np.ones(len(x))
    found = np.bincount(arms * int(width) + x.astype(np.int64))
    pairs = np.flatnonzero(found)
    return pairs // int(width), (pairs % int(width)).astype(np.float64), found[pairs].astype(np.float64)


def add_spread(spread: Floats, other: Floats, N_a: Ints) -> None:
    """Count what another spread [3, K] has counted, of N_a rewards: (x − c)² = (x − c')² + 2(c' − c)(x − c') + (c' − c)²."""
    spread[0] = np.where(np.isnan(spread[0]), other[0], spread[0])
    shift = np.where(N_a > 0, other[0] - spread[0], 0.0)
    spread[1] += other[1] + N_a * shift
    spread[2] += other[2] + 2.0 * shift * other[1] + N_a * shift * shift
    spread[3:] += other[3:]


def squares(spread: Floats, N_a: Ints) -> Floats:
    """[K] Σ(x − x̄)²/σ² of each arm, from below: what rounding may have added is taken off."""
    n = np.maximum(1, N_a)
    found = spread[2] - spread[1] ** 2 / n - 4.0 * np.finfo(float).eps * (n + 10) * spread[2]
    return np.where(N_a > 1, np.maximum(0.0, found), 0.0)


def log_spread_evidence(N_a: Ints, SS: Floats) -> float:
    """Ln E against "every reward is σ-sub-Gaussian around its arm's mean", from counts [K] and `squares` [K].

    A reward that is gives E exp(½λ(x − μ)²/σ²) ≤ (1 − λ)^−½, hence with 1 − λ = 1/s² the supermartingale
    ∏ exp(½λ(x − μ)²/σ²)/s. At μ̂, where it is least, it is known without μ: s^−n exp(½λ SS). The ratios s are 2^¼ … 2^10: a
    spread above 1.09 σ is found.
    """
    log_s, rate = _ratios()
    return float(log_mixed(np.outer(rate, SS) - np.outer(log_s, N_a)))


@cache
def _ratios() -> tuple[Floats, Floats]:
    """Ln s and ½λ of each ratio."""
    log_s = math.log(2.0) * np.arange(FINEST, LARGEST + FINEST / 2, FINEST)
    return log_s, -0.5 * np.expm1(-2.0 * log_s)


def log_excess_evidence(N_a: Ints, sums: Floats, excess: Overdispersion) -> float:
    """Ln E against "every arm pays as the family says", from counts [K] and sums [2 + R, K]; from below, with all rounding."""
    return float(log_mixed(excess_values(N_a, sums, excess)))


def excess_values(N_a: Ints, sums: Floats, excess: Overdispersion) -> Floats:
    """[R, K] ln E_g of each alternative and arm."""
    n = np.maximum(1, N_a)
    values = sums[2:] - n * excess.least(np.maximum(0.0, sums[1]) / n) - ROUNDING * sums[0]
    return np.where(N_a > 0, values, 0.0)


def log_mixed(values: Floats) -> Floats:
    """Ln E from that of each of R alternatives and K arms [.., R, K]: half of it is the product over all arms, half the mean
    over single arms, both mixed evenly over alternatives.
    """
    R, K = values.shape[-2:]
    together, alone = values.sum(axis=-1), values.reshape(*values.shape[:-2], R * K) - math.log(K)
    return np.asarray(np.logaddexp.reduce(np.concatenate([together, alone], axis=-1), axis=-1) - math.log(2.0 * R))


@leaf
def add_to_sums(sums: Floats, a: int, reward: float, step: float) -> None:
    """Count a reward of arm a in sums [4, K], or with step −1 take it out: how many, an origin, sums and squares around it."""
    if sums[COUNT, a] == 0.0:
        sums[ORIGIN, a] = reward
    off = reward - sums[ORIGIN, a]
    sums[COUNT, a] += step
    sums[SUM, a] += step * off
    sums[SQUARES, a] += step * off * off
    if sums[COUNT, a] <= 0.0:
        sums[:, a] = 0.0


@leaf
def variance_of(sums: Floats, a: int) -> float:
    """The mean square of an arm's rewards around their mean, from above: what rounding may have taken is added."""
    n, total, squares = sums[COUNT, a], sums[SUM, a], sums[SQUARES, a]
    slack = 8.881784197001252e-16 * (n + 10.0) * squares  # 4 times the unit of rounding, for each
    return max(0.0, squares - total * total / n + slack) / n if n > 1.0 else 0.0


@leaf
def precision_of(sums: Floats) -> float:
    """1/(2σ̂²), σ̂² the mean square of rewards around their arms' means, or of these around each other: for planning alone."""
    K, squares, free, seen = sums.shape[1], 0.0, 0.0, 0.0
    first, total, around = -1, 0.0, 0.0
    for a in range(K):
        n = sums[COUNT, a]
        if n > 0.0:
            squares += max(0.0, sums[SQUARES, a] - sums[SUM, a] * sums[SUM, a] / n)
            free += n - 1.0
            first = a if first < 0 else first
            off = sums[ORIGIN, a] - sums[ORIGIN, first] + sums[SUM, a] / n
            seen, total, around = seen + 1.0, total + off, around + off * off
    if squares > 0.0:
        return 0.5 * free / squares
    around -= total * total / max(1.0, seen)
    return 0.5 * seen / around if around > 0.0 else 0.5


@leaf
def gap_between(sums: Floats, a: int, b: int) -> float:
    """By how much the estimate of a is above that of b; both have been seen."""
    return float(sums[ORIGIN, a] - sums[ORIGIN, b] + (sums[SUM, a] / sums[COUNT, a] - sums[SUM, b] / sums[COUNT, b]))
