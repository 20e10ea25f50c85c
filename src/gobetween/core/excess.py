"""Counts that vary more than Poisson counts: sums that add up and can be taken back, and evidence against "variance = mean".

The alternative is a negative binomial of the same mean μ with shape r: variance μ + μ²/r. Its likelihood ratio against Poisson,
∏ Γ(x + r)/(Γ(r) (r + μ)^(x + r)) r^r e^μ, is convex in μ and least at μ̂, the mean of the counts, whatever r is. There it is
known without μ: ln E_r = Σ l_r(x) − n((r + μ̂) ln(1 + μ̂/r) − μ̂), with l_r(x) = Σ_{j<x} ln(1 + j/r). The sums [2 + R, K] hold for
each arm how much was ever added to or taken from them (which bounds their rounding), Σx, and Σ l_r(x) for each shape r.
"""

import math
from functools import cache

import numpy as np

from gobetween.core.types import Floats, Ints

SHAPES = np.array([4.0**k for k in range(-4, 17)])
"""[R] the r that are tried, with even weights: a mean of 1e9 with twice its variance has 1e9, one of 0.01 has 0.01."""
ROWS = 2 + len(SHAPES)
TABLED = 1024
ROUNDING = 1e-12


def excesses(x: Floats) -> Floats:
    """[R, n] l_r(x) of counts x [n]."""
    r = SHAPES[:, None]
    found = _table()[:, np.minimum(x, TABLED - 1).astype(np.int64)]
    large = x >= TABLED
    if large.any():
        y = x[large]
        found[:, large] = (y + r) * np.log1p(y / r) - y + _rest(y + r) - _rests()[:, None]
    return found


@cache
def _table() -> Floats:
    """[R, TABLED] l_r of small counts."""
    steps = np.log1p(np.arange(TABLED - 1) / SHAPES[:, None])
    return np.concatenate([np.zeros((len(SHAPES), 1)), np.cumsum(steps, axis=1)], axis=1)


def _rest(y: Floats) -> Floats:
    """Ln Γ(y) − y ln y + y, for large y."""
    return np.asarray(0.5 * np.log(2.0 * np.pi / y) + (1.0 - 1.0 / (30.0 * y * y)) / (12.0 * y))


@cache
def _rests() -> Floats:
    """[R] the same of every r."""
    small = [math.lgamma(r) - r * math.log(r) + r for r in SHAPES[SHAPES < TABLED].tolist()]
    return np.concatenate([small, _rest(SHAPES[SHAPES >= TABLED])])


def add_counts(sums: Floats, arms: Ints, x: Floats) -> None:
    """Add counts x of arms to the sums [2 + R, K]."""
    K = sums.shape[1]
    a, values, times = _distinct(arms, x, K)
    once, places = np.unique(values, return_inverse=True)
    each = excesses(once)[:, places]
    sums[0] += np.bincount(a, times * (each[0] + values), K)
    sums[1] += np.bincount(a, times * values, K)
    for row, part in zip(sums[2:], each, strict=True):
        row += np.bincount(a, times * part, K)


def add_count(sums: Floats, a: int, x: float, step: int = 1) -> None:
    """Add one count or, with step −1, take it out again."""
    each = excesses(np.array([x]))[:, 0]
    sums[0, a] += each[0] + x
    sums[1, a] += step * x
    sums[2:, a] += step * each


def _distinct(arms: Ints, x: Floats, K: int) -> tuple[Ints, Floats, Floats]:
    """Pairs of arm and count, and how often each occurs, where that is soon counted; else all as they are."""
    width = float(x.max(initial=0.0)) + 1.0
    if K * width > max(len(x), 2**16):
        return arms, x, np.ones(len(x))
    found = np.bincount(arms * int(width) + x.astype(np.int64))
    pairs = np.flatnonzero(found)
    return pairs // int(width), (pairs % int(width)).astype(np.float64), found[pairs].astype(np.float64)


def log_excess_evidence(N_a: Ints, sums: Floats) -> float:
    """Ln E against "every arm pays Poisson counts", from counts [K] and sums [2 + R, K]; from below, whatever was rounded.

    Half of E is the product over all arms, half the mean over single arms, both mixed evenly over shapes.
    """
    n, r = np.maximum(1, N_a), SHAPES[:, None]
    mean = np.maximum(0.0, sums[1]) / n
    values = sums[2:] - n * ((r + mean) * np.log1p(mean / r) - mean) - ROUNDING * sums[0]  # [R, K]
    share = math.log(2.0 * len(SHAPES))
    together, alone = values.sum(axis=1) - share, values.ravel() - share - math.log(len(N_a))
    return float(np.logaddexp.reduce(np.concatenate([together, alone])))
