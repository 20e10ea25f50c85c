"""Sums that can be corrected: kept exactly, so that an answer can be taken out again as if it had never been told."""

import math

from gobetween.core.state import Tally


def add_exactly(partials: list[float], x: float) -> None:
    """Add x to a sum that is kept exactly, as floats that do not overlap (Shewchuk): a correction can take it out again."""
    kept = 0
    for y in partials:
        big, small = (x, y) if abs(x) >= abs(y) else (y, x)
        high = big + small
        low = small - (high - big)
        if low:
            partials[kept] = low
            kept += 1
        x = high
    partials[kept:] = [x]


def replace_answer(tally: Tally, exact: list[list[float]], before: tuple[int, float], after: tuple[int, float]) -> None:
    """Take one answer out and put another in; the arm K is silence."""
    for (a, x), step in ((before, -1), (after, 1)):
        if a < len(tally.N_a):
            add_exactly(exact[a], step * x)
            tally.N_a[a] += step
            tally.S_a[a] = math.fsum(exact[a]) if tally.N_a[a] else 0.0
            tally.mu_hat[a] = tally.S_a[a] / tally.N_a[a] if tally.N_a[a] else 0.0
