"""The least of a convex function between two points, from below."""

import math
from collections.abc import Callable

from gobetween.core.eprocess import tangents_meet

MOST_STEPS, CLOSE = 200, 1e-9
Look = tuple[float, float, float]
"""A point, the value there and the slope."""


def least_between(look: Callable[[float], Look], left: Look, right: Look) -> float:
    """A lower bound, to CLOSE, of a convex function that falls at `left` and rises at `right`: where its tangents meet."""
    lower = -math.inf
    for _ in range(MOST_STEPS):
        (x, f, s), (y, g, r) = left, right
        between, lower = tangents_meet(x, f, s, y, g, r)
        new = look(between)
        if min(f, g, new[1]) - lower <= CLOSE or not x < new[0] < y:
            break
        left, right = (new, right) if new[2] < 0.0 else (left, new)
    return float(lower)
