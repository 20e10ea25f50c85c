"""How large a difference would have shown: what "no sign" is worth."""

import math
from collections.abc import Callable

MARGIN = 0.5  # in standard errors


def least_visible(evidence: Callable[[float], float], error: float, room: float, limit: float) -> float | None:
    """The difference, up to `room`, that would have shown in about two cases of three; None: none would have.

    Half a standard error more than that at which the evidence of data as they are expected reaches its limit, to 1%. Evidence
    grows about as d²/(2 · error²), from below the limit at d = 0: the first steps take it to be c·d², the others bisect.
    """
    if not room > 0.0:
        return None
    base, most = evidence(0.0), room * (1.0 - 1e-6)  # an end itself may not be a mean
    low, high = 0.0, math.inf
    d = min(most, error * math.sqrt(2.0 * max(0.0, limit - base)))
    for step in range(60):
        gained = evidence(d) - base
        factor = math.sqrt((limit - base) / gained) if gained > 0.0 else math.inf
        if factor > 1.0 and d >= most:
            return None
        low, high = (d, high) if factor > 1.0 else (low, d)
        if abs(factor - 1.0) < 0.01 or high - low < 0.01 * high:
            break
        guess = d * min(4.0, max(0.25, factor))
        d = min(most, guess if high == math.inf or (step < 4 and low < guess < high) else 0.5 * (low + high))
    return min(most, d + MARGIN * error)


def about(x: float) -> str:
    """Two digits of a number, for people."""
    return f"{float(f'{x:.2g}'):,g}"
