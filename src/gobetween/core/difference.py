"""Have samples a common mean? The least Σ ln M over it, with M a two-sided mixture of a sample's likelihood ratios.

Samples with the same count and sum are alike: each is looked at once, `times` says how many there are. Of a thousand mediators
with few answers each most are.
"""

import numpy as np

from gobetween.core.family import Family, coordinate, span, two_sided
from gobetween.core.jit import leaf
from gobetween.core.types import Floats, Ints


def alike(n: Ints, S: Floats) -> tuple[Floats, Floats, Floats, Ints]:
    """Counts and sums that differ, in order, how many samples have each, and which of them each sample has."""
    found, places, times = np.unique(n + 1j * S, return_inverse=True, return_counts=True)
    return np.ascontiguousarray(found.real), np.ascontiguousarray(found.imag), times.astype(np.float64), places


@leaf
def least_total(family: Family, n: Floats, S: Floats, times: Floats, enough: float) -> float:
    """Bisection on the slope of the convex function Σ ln M, which is least between the samples' own means or beside them."""
    low, high = span(family)
    x = coordinate(family, pooled_mean(n, S, times))
    best, slope = total_at(family, n, S, times, x)
    left, right = x, x
    stride = max(1e-3, 0.1 * abs(x))
    while slope != 0.0 and best >= enough and low < left and right < high and stride < 1e60:
        if slope > 0.0:
            left = max(low, x - stride)
            value, slope_there = total_at(family, n, S, times, left)
        else:
            right = min(high, x + stride)
            value, slope_there = total_at(family, n, S, times, right)
        best = min(best, value)
        if slope_there * slope <= 0.0:
            break
        stride *= 2.0
    for _ in range(200):
        middle = 0.5 * (left + right)
        if best < enough or middle <= left or middle >= right:
            break
        value, slope = total_at(family, n, S, times, middle)
        best = min(best, value)
        if slope > 0.0:
            right = middle
        else:
            left = middle
    return best


@leaf
def pooled_mean(n: Floats, S: Floats, times: Floats) -> float:
    """The mean of all samples together."""
    number, total = 0.0, 0.0
    for e in range(n.shape[0]):
        number, total = number + times[e] * n[e], total + times[e] * S[e]
    return total / number


@leaf
def total_at(family: Family, n: Floats, S: Floats, times: Floats, x: float) -> tuple[float, float]:
    """The pair Σ ln M, slope at a common coordinate x; M is an even mixture of both sides."""
    value, slope = 0.0, 0.0
    for e in range(n.shape[0]):
        here, rise = two_sided(family, n[e], S[e], x)
        value, slope = value + times[e] * here, slope + times[e] * rise
    return value, slope
