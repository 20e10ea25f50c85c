"""How far rewards spread around their arm's mean: second moments that add up, and evidence against a declared σ.

A spread [3, K] holds, for each arm, an origin c (NaN before the first reward), Σ(x − c) and Σ(x − c)², all in units of σ. The
origin, an arm's first reward, keeps digits where means are large beside σ; differences are cut at ±10⁶ σ, which only lessens
the sum of squares around the mean. Where the mean says how far rewards spread, of counts and waiting times, the unit is 1, and
the sums of `excess.py` follow in further rows.
"""

import math
from functools import cache

import numpy as np

from gobetween.core.excess import POISSON, add_count, add_counts, rows_of, watches
from gobetween.core.families import Gaussian, Poisson
from gobetween.core.family import Family
from gobetween.core.types import Floats, Ints

FARTHEST = 1e6
FINEST, LARGEST = 0.25, 10.0  # binary logarithms of the ratios that are looked for


def scale_of(family: Family) -> float | None:
    """The unit of second moments, where a family says how far rewards spread: σ, or 1 where the mean says it."""
    if isinstance(family, Gaussian):
        return family.sigma
    return 1.0 if watches(family) else None


def unit_of(family: Family) -> tuple[float, float] | None:
    """The unit of second moments in a log and how far they are cut, where they are needed: also where σ is not known."""
    if not family.sums_suffice:
        return 1.0, math.inf
    scale = scale_of(family)
    return None if scale is None else (scale, FARTHEST)


def works_on_totals(family: Family) -> bool:
    """Are totals of many rewards enough, even if they do not show how far these spread?"""
    return family.sums_suffice and not isinstance(family, (Gaussian, Poisson))


def new_spread(K: int, family: Family | None = None) -> Floats:
    """Nothing seen; families whose mean says how far rewards spread need more rows."""
    return widened(np.zeros((3 if family is None else 3 + rows_of(family), 0)), K)


def is_kept(spread: Floats, family: Family) -> bool:
    """Do these moments hold all that is needed to watch the family?"""
    return len(spread) == 3 + rows_of(family)


def widened(spread: Floats, K: int, rows: int = 3) -> Floats:
    """The same with room for K arms, and for as many rows."""
    made = np.zeros((max(rows, len(spread)), K))
    made[0] = np.nan
    made[: len(spread), : spread.shape[1]] = spread
    return made


def add_rewards(spread: Floats, arms: Ints, rewards: Floats, farthest: float = FARTHEST, family: Family = POISSON) -> None:
    """Count rewards, given in units of σ, of arms that have room."""
    K = spread.shape[1]
    for a in np.flatnonzero(np.isnan(spread[0])).tolist():
        seen = np.flatnonzero(arms == a)
        if len(seen):
            spread[0, a] = rewards[seen[0]]
    d = np.clip(rewards - spread[0, arms], -farthest, farthest)
    spread[1] += np.bincount(arms, d, K)
    spread[2] += np.bincount(arms, d * d, K)
    if len(spread) > 3:
        add_counts(spread[3:], arms, rewards, family)


def add_reward(spread: Floats, a: int, x: float, step: int = 1, family: Family = POISSON) -> None:
    """Count one reward, or with step −1 take it out again."""
    if math.isnan(spread[0, a]):
        spread[0, a] = x
    d = max(-FARTHEST, min(FARTHEST, x - float(spread[0, a])))
    spread[1, a] += step * d
    spread[2, a] += step * d * d
    if len(spread) > 3:
        add_count(spread[3:], a, x, step, family)


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
    ∏ exp(½λ(x − μ)²/σ²)/s. At μ̂, where it is least, it is known without μ: s^−n exp(½λ SS). Half of E is the product over
    all arms, half the mean over single arms, both mixed evenly over ratios s = 2^¼ … 2^10: a spread above 1.09 σ is found.
    """
    log_s, rate = _ratios()
    values = np.outer(rate, SS) - np.outer(log_s, N_a)  # [ratios, K]
    share = math.log(2.0 * len(log_s))
    together, alone = values.sum(axis=1) - share, values.ravel() - share - math.log(len(SS))
    return float(np.logaddexp.reduce(np.concatenate([together, alone])))


@cache
def _ratios() -> tuple[Floats, Floats]:
    """Ln s and ½λ of each ratio."""
    log_s = math.log(2.0) * np.arange(FINEST, LARGEST + FINEST / 2, FINEST)
    return log_s, -0.5 * np.expm1(-2.0 * log_s)
