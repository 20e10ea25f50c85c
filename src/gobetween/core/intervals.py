"""Confidence sequences of many means at once: where the mixture of both sides, convex in the coordinate, reaches its limit."""

import math

import numpy as np

from gobetween.core.family import Family, coordinate, span, two_sided
from gobetween.core.jit import jit, leaf
from gobetween.core.types import Floats

STEPS, CLOSE = 200, 1e-10


@jit
def interval_ends(family: Family, n: Floats, S: Floats, limit: float) -> Floats:
    """[..., 2] coordinates beyond which means of samples with counts n and sums S are excluded; the span where n = 0."""
    found, (low, high) = np.empty((n.shape[0], 2)), span(family)
    for i in range(n.shape[0]):
        found[i, 0], found[i, 1] = low, high
        if n[i] > 0.0:
            centre = coordinate(family, S[i] / n[i])
            found[i, 0], found[i, 1] = (
                end_of(family, n[i], S[i], centre, low, limit),
                end_of(family, n[i], S[i], centre, high, limit),
            )
    return found


@leaf
def end_of(family: Family, n: float, S: float, inside: float, edge: float, limit: float) -> float:
    """Where, between the estimate and the edge of the domain, ln M reaches its limit, from beyond.

    Of a convex function a tangent from beyond meets the limit beyond it as well, and a chord meets it before: both enclose it.
    """
    far, side = edge, 1.0 if edge > inside else -1.0
    if math.isinf(edge):
        stride = max(1e-9, abs(inside))
        far = inside + side * stride
        while not two_sided(family, n, S, far)[0] >= limit and stride < 1e60:
            stride *= 2.0
            far = inside + side * stride
    near, value = inside, two_sided(family, n, S, inside)[0] - limit
    above, slope = two_sided(family, n, S, far)
    above -= limit
    if not above >= 0.0:
        return edge
    for _ in range(STEPS):
        width = side * (far - near)
        chord = near + side * width * (value / (value - above)) if value < 0.0 else 0.5 * (near + far)
        tangent = far - above / slope if side * slope > 0.0 else 0.5 * (near + far)
        for x in (tangent, chord, 0.5 * (near + far)):
            if side * (x - near) > 0.0 and side * (far - x) > 0.0:
                here, rise = two_sided(family, n, S, x)
                if here >= limit:
                    far, above, slope = x, here - limit, rise
                else:
                    near, value = x, here - limit
            if side * (far - near) < 0.5 * width:
                break
        if not side * (far - near) > CLOSE * abs(far - inside) or side * (far - near) >= width:
            break
    return far
