"""What it costs to lift arms to the leader, kept in a table where there are many of them.

An adversary who lowers the leader's weight v_r lifts J arms to a mean μ_a or above and pays ln R_c − ln(1 − η) for each
(`ranks.py`). For one rival that takes a look at all K arms at every μ_a; for all rivals, at places of their own, K² of them.
The costs rise with μ_a and hardly depend on the rival: a table of them, at places so close that what lifting gains differs by
at most CLOSE from one to the next, serves all rivals. Between two places the one of the lower mean bounds it from below. Places
are made when they are first asked for.
"""

import math
from typing import NamedTuple

import numpy as np

from gobetween.core.eprocess import Pairing
from gobetween.core.family import Family, log_mixture, span
from gobetween.core.jit import leaf, part
from gobetween.core.narrow import with_narrow
from gobetween.core.state import Tally
from gobetween.core.types import Floats, Ints

#: Σ η_c for four arms: how much weight the arms that are neither leader nor rival put on being lower than claimed.
WATCH = 0.15
#: Arms from which on a table is made.
MANY = 60
PLACES, TRIES, CLOSE = 128, 60, 0.1


class Lifts(NamedTuple):
    """The table, all scratch; empty where there are few arms."""

    eta: float  # of every arm
    x: Floats  # [G] coordinates, from the leader's own mean downwards
    costs: Floats  # [G, K] of all arms but the leader, the lowest first
    before: Floats  # [G, K] entry r: the least of paid − ln(1 + J) over J ≤ r
    after: Floats  # [G, K] entry r: the same over J ≥ r where one of the first r + 1 is left out, but for its cost
    kept: Ints  # [G] how many costs are low enough to matter
    made: Ints  # [1] how many places there are by now
    step: Floats  # [1] how far the next one is
    gain: Floats  # [1] what lifting gains at the last one


def new_lifts(K: int) -> Lifts:
    """An empty table."""
    G = PLACES if K > MANY else 0
    x, kept, made, (step, gain) = np.empty(G), np.zeros(G, np.int64), np.zeros(1, np.int64), np.zeros((2, 1))
    return Lifts(watchfulness(K), x, np.empty((G, K + 1)), np.empty((G, K + 1)), np.empty((G, K + 1)), kept, made, step, gain)


def watchfulness(K: int) -> float:
    """η: the arms pay Σ η_c in proportion to the most that it can bring, ln(v_1/v_(K−1)) = ln(K − 1)."""
    return WATCH * (math.log(K - 1) / math.log(3.0)) / (K - 2) if K > 2 else 0.0


@part
def lift_cost(family: Family, tally: Tally, pairing: Pairing, eta: float, c: int, x: float, up: float) -> float:
    """Ln R_c − ln(1 − η) when c's mean is that of coordinate x or higher.

    An arm whose M_c⁻ does not rise at x may be lifted for nothing, but for what rewards say that vary little.
    """
    value, slope = log_mixture(family, float(tally.N_a[c]), tally.S_a[c], x, -1.0)
    value = value if up * slope > 0.0 else -math.inf
    if pairing.narrow.share > 0.0:
        value = with_narrow(pairing.narrow, value, c, x)
    return math.log1p(eta / (1.0 - eta) * math.exp(min(value, 600.0)))


@leaf
def sort_first(values: Floats, n: int) -> None:
    """Sort the first n values: insertion, which long lists need with gaps that shrink to 1."""
    gap = 1
    while 9 * gap < n:
        gap = 3 * gap + 1
    while gap > 0:
        for k in range(gap, n):
            value, i = values[k], k
            while i >= gap and values[i - gap] > value:
                values[i] = values[i - gap]
                i -= gap
            values[i] = value
        gap //= 3


@leaf
def put(family: Family, tally: Tally, pairing: Pairing, lifts: Lifts, g: int, a: int, x: float, up: float) -> float:
    """Write place g of the table for leader a; what lifting gains there at most, a negative number."""
    K, costs, before, after = tally.N_a.shape[0], lifts.costs[g], lifts.before[g], lifts.after[g]
    found, most = 0, math.log(K - 1.0)
    for c in range(K):
        if c != a:
            cost = lift_cost(family, tally, pairing, lifts.eta, c, x, up)
            if cost < most:  # more than lifting can ever gain
                costs[found] = cost
                found += 1
    sort_first(costs, found)
    lifts.x[g], lifts.kept[g] = x, found
    before[0], paid = 0.0, 0.0
    for J in range(found):
        paid += costs[J]
        after[J] = paid - math.log(1.0 + J)
        before[J + 1] = min(before[J], paid - math.log(2.0 + J))
    after[found] = math.inf
    for J in range(found - 1, -1, -1):
        after[J] = min(after[J], after[J + 1])
    return float(before[found])


@leaf
def there_is(family: Family, tally: Tally, pairing: Pairing, lifts: Lifts, g: int, a: int, x: float, up: float) -> bool:
    """Is there a place g? It is made if it comes next: the first at coordinate x, the others towards lower means, until lifting
    gains all it can.
    """
    made, most = lifts.made[0], math.log(tally.N_a.shape[0] - 1.0)
    if g < made:
        return True
    if made == 0:
        lifts.gain[0] = put(family, tally, pairing, lifts, 0, a, x, up)
        lifts.made[0] = 1
        return True
    low, high = span(family)
    end, x, gain = low if up > 0.0 else high, lifts.x[made - 1], lifts.gain[0]
    if x == end or gain <= CLOSE - most or made == PLACES:
        return False
    for _ in range(TRIES):
        z = x - up * lifts.step[0]
        if up * (z - end) < 0.0:
            z = end
        drop = gain - put(family, tally, pairing, lifts, made, a, z, up)
        if drop <= CLOSE or abs(x - z) <= 1e-9 * (abs(x) + abs(z)):
            break
        lifts.step[0] = abs(x - z) * max(0.1, 0.8 * CLOSE / drop)
    lifts.step[0] = abs(x - z) * (2.0 if drop < 0.3 * CLOSE else 1.0)
    lifts.gain[0], lifts.made[0] = gain - drop, made + 1
    return True


@leaf
def tabled_gain(lifts: Lifts, g: int, cost: float) -> float:
    """What lifting gains at most at place g if the rival, whose own cost there this is, is not lifted."""
    kept, costs = lifts.kept[g], lifts.costs[g]
    low, high = 0, kept
    while low < high:  # the first cost that is not under the rival's
        middle = (low + high) // 2
        if costs[middle] < cost:
            low = middle + 1
        else:
            high = middle
    if low == kept:
        return float(lifts.before[g, kept])
    return float(min(lifts.before[g, low], lifts.after[g, low] - cost))
