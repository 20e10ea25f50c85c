"""What the counted answers say: the evidence for the leader, each arm with its confidence sequence."""

import math
from dataclasses import dataclass

from gobetween.core.eprocess import log_evalue
from gobetween.core.families import Family
from gobetween.core.state import Tally


@dataclass(frozen=True)
class ArmReport:
    """What is known of one arm from the counted answers."""

    arm: str
    pulls: int
    estimate: float | None
    low: float
    high: float
    """Ends of a confidence sequence: with probability ≥ 1 − δ they hold all means at all times. Not the stopping rule."""


def least_log_evalue(family: Family, tally: Tally, best: int) -> float:
    """The smallest ln E_{best>b} over rivals, to 1e-9."""
    return min(float(log_evalue(family, tally, best, b, -math.inf)) for b in range(len(tally.N_a)) if b != best)


def arm_report(family: Family, name: str, tally: Tally, a: int, delta: float) -> ArmReport:
    """An arm with its confidence sequence at level δ, shared among all arms."""
    n, S = int(tally.N_a[a]), float(tally.S_a[a])
    low, high = family.span()
    if n == 0:
        ends = (low, high)
    else:
        centre, limit = float(family.coordinate(S / n)), math.log(len(tally.N_a) / delta)
        ends = (_end(family, n, S, centre, low, limit), _end(family, n, S, centre, high, limit))
    means = sorted(_mean(family, x) for x in ends)
    return ArmReport(name, n, S / n if n else None, means[0], means[1])


def _mean(family: Family, x: float) -> float:
    """The mean at a coordinate: the map is its own inverse."""
    try:
        return float(family.coordinate(x))
    except ZeroDivisionError:
        return math.inf


def _end(family: Family, n: int, S: float, inside: float, edge: float, limit: float) -> float:
    """Where, between the estimate and the edge of the domain, the mixture of both sides reaches its limit."""

    def beyond(x: float) -> bool:
        up, down = family.log_mixture(float(n), S, x, 1.0)[0], family.log_mixture(float(n), S, x, -1.0)[0]
        top = max(up, down)
        return top + math.log(0.5 * (math.exp(up - top) + math.exp(down - top))) >= limit

    far = edge
    if math.isinf(edge):
        stride = max(1e-9, abs(inside))
        far = inside + math.copysign(stride, edge)
        while not beyond(far) and stride < 1e60:
            stride *= 2.0
            far = inside + math.copysign(stride, edge)
    if not beyond(far):
        return edge
    near = inside
    for _ in range(200):
        middle = 0.5 * (near + far)
        if middle in (near, far):
            break
        if beyond(middle):
            far = middle
        else:
            near = middle
    return far
