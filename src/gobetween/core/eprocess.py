"""The product e-process: evidence that the leader beats a rival, valid at any time under any sampling (docs/stopping.md).

    ln E_{a>b} = inf { ln M_a⁺(λ_a) + ln M_b⁻(λ_b) : λ_b ≥ λ_a }

M_i is a mixture of likelihood ratios of arm i's rewards: a martingale at arm i's true mean. Both terms are convex in the
family's coordinate. If at some common point the first falls and the second rises in the mean, the infimum is that over common
points λ_a = λ_b.
"""

import math

from gobetween.core.family import Family, coordinate, log_mixture, span
from gobetween.core.jit import leaf
from gobetween.core.state import Tally

MOST_STEPS = 200


@leaf
def at_common_mean(family: Family, tally: Tally, a: int, b: int, x: float) -> tuple[float, float, float]:
    """The sum ln M_a⁺(x) + ln M_b⁻(x), and the slopes of the two terms."""
    value_a, slope_a = log_mixture(family, float(tally.N_a[a]), tally.S_a[a], x, 1.0)
    value_b, slope_b = log_mixture(family, float(tally.N_a[b]), tally.S_a[b], x, -1.0)
    return value_a + value_b, slope_a, slope_b


@leaf
def tangents_meet(left: float, f: float, s: float, right: float, g: float, r: float) -> tuple[float, float]:
    """Where the tangents of a convex function at two points meet, and how low they are there: it is nowhere lower between them.

    The lower of the two, because the point is rounded, and a tangent may be as steep as 1e150.
    """
    x = left + (g - f - r * (right - left)) / (s - r)
    return x, min(f + s * (x - left), g + r * (x - right))


@leaf
def log_evalue(family: Family, tally: Tally, a: int, b: int, enough: float) -> float:
    """The logarithm of E_{a>b} for a leader a that is above b, from below and to 1e-9 — or, once it is known to lie under
    `enough`, any number under it, and once it is known to reach it, any number from there to ln E.

    Every point evaluated bounds the convex function's minimum from above; the tangents at the ends of the bracket bound it from
    below. −∞ when the infimum is not where it should be: refusing to stop is always safe.
    """
    low, high = span(family)
    x_a, x_b = coordinate(family, tally.mu_hat[a]), coordinate(family, tally.mu_hat[b])
    x = coordinate(family, (tally.S_a[a] + tally.S_a[b]) / (tally.N_a[a] + tally.N_a[b]))
    stride = abs(x_a - x_b)
    left, f_left, s_left = -math.inf, 0.0, 0.0
    right, f_right, s_right = math.inf, 0.0, 0.0
    upper, orderly = math.inf, False
    for _ in range(MOST_STEPS):
        f, slope_a, slope_b = at_common_mean(family, tally, a, b, x)
        s = slope_a + slope_b
        orderly = orderly or (x_a - x_b) * slope_a <= 0.0 <= (x_a - x_b) * slope_b
        upper = min(upper, f)
        if not upper >= enough:
            return upper
        if s > 0.0:
            right, f_right, s_right = x, f, s
        else:
            left, f_left, s_left = x, f, s
        lower, exhausted = -math.inf, False
        if (s <= 0.0 and x == high) or (s >= 0.0 and x == low) or s == 0.0:
            lower = f
        elif left > -math.inf and right < math.inf:
            x, lower = tangents_meet(left, f_left, s_left, right, f_right, s_right)
            lower = min(upper, lower)
            margin = 0.05 * (right - left)
            x = x if left + margin < x < right - margin else 0.5 * (left + right)
            exhausted = not left < x < right  # sums so large that their digits do not reach 1e-9
        else:
            x = max(low, x - stride) if s > 0.0 else min(high, x + stride)
            stride *= 2.0
        if lower >= enough > -math.inf or upper - lower <= 1e-9 or exhausted:
            return lower if orderly else -math.inf
    return -math.inf
