"""Have samples a common mean? The least Σ ln M over it, with M a two-sided mixture of a sample's likelihood ratios."""

from gobetween.core.family import Family, coordinate, span, two_sided
from gobetween.core.jit import leaf
from gobetween.core.types import Floats


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
