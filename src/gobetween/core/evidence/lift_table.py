"""What it costs to lift arms to the leader, kept in a table where there are many of them.

An adversary who lowers the leader's weight v_r lifts J arms to a mean μ_a or above and pays ln R_c − ln(1 − η) for each
(`rank_evidence.py`). For one rival that takes all K arms at every μ_a; for all rivals, at places of their own, K² of them. The
costs rise with μ_a and hardly depend on the rival: a table of them, at places so close that what lifting gains differs by at
most CLOSE from one to the next, serves all rivals. Between two places the one of the lower mean bounds it from below. Places
are made when they are first needed, at multiples of powers of two: they are the same for most tallies of a run, of which one
arm changes at a time, so that costs are kept (`KeptCosts`) and only those of arms that changed are computed again. The places
follow from the tally alone: what was kept changes nothing but the time.
"""

import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from gobetween.core.evidence.empirical_bernstein import with_bernstein
from gobetween.core.evidence.eprocess import Pairing
from gobetween.core.ground.jit import Floats, Ints, leaf, part
from gobetween.core.ground.tally import Tally
from gobetween.core.reward.family import Family, log_mixture, span

if TYPE_CHECKING:
    from gobetween.core.evidence.informed_ranks import InformedRanks
    from gobetween.core.evidence.rank_evidence import Ranks

#: Σ η_c for four arms: how much weight the arms that are neither leader nor rival put on being lower than claimed.
WATCH = 0.15
#: Arms from which on a table is made.
MANY = 60
KEPT, PLACES, TRIES, CLOSE = 128, 112, 60, 0.1


class KeptCosts(NamedTuple):
    """Costs at KEPT coordinates, those of the present table among them."""

    x: Floats  # [G] where; NaN: nothing is kept here
    cost: Floats  # [G, K] of every arm
    N: Floats  # [G, K] the counts and sums of which that is true
    S: Floats
    leader: Ints  # [G] of which the rest is true
    costs: Floats  # [G, K] of all arms but the leader, the lowest first
    before: Floats  # [G, K] entry r: the least of paid − ln(1 + J) over J ≤ r
    after: Floats  # [G, K] entry r: the same over J ≥ r where one of the first r + 1 is left out, but for its cost
    found: Ints  # [G] how many costs are low enough to matter
    table: Ints  # [G] the last table that used it
    last: Ints  # [1] the one that was written last


class Lifts(NamedTuple):
    """The table, all scratch; empty where there are few arms."""

    eta: float  # of every arm
    ln: Floats  # [K + 1] ln(1 + J)
    x: Floats  # [G] coordinates, from the leader's own mean downwards
    slot: Ints  # [G] where their costs are kept
    kept: KeptCosts
    made: Ints  # [2] how many places there are by now; how many tables there were
    step: Floats  # [1] how far the next place is, a power of two
    gain: Floats  # [1] what lifting gains at the last one


def new_lifts(K: int, tabled: bool = True) -> Lifts:
    """An empty table."""
    G = KEPT if tabled and K > MANY else 0
    cost, N, S, costs, before, after = np.full((6, G, K + 1), math.nan)
    leader, found, table, slot = np.full((4, G), -1)
    kept = KeptCosts(np.full(G, math.nan), cost, N, S, leader, costs, before, after, found, table, np.zeros(1, np.int64))
    ln, (step, gain) = np.log1p(np.arange(K + 1.0)), np.zeros((2, 1))
    return Lifts(watchfulness(K), ln, np.empty(G), slot, kept, np.zeros(2, np.int64), step, gain)


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
    if pairing.bernstein.share > 0.0:
        value = with_bernstein(pairing.bernstein, value, c, x)
    return math.log1p(eta / (1.0 - eta) * math.exp(min(value, 600.0)))


@leaf
def sort_first(values: Floats, n: int) -> None:
    """Sort the first n values: insertion, which long lists need with strides that shrink to 1."""
    stride = 1
    while 9 * stride < n:
        stride = 3 * stride + 1
    while stride > 0:
        for k in range(stride, n):
            value, i = values[k], k
            while i >= stride and values[i - stride] > value:
                values[i] = values[i - stride]
                i -= stride
            values[i] = value
        stride //= 3


@leaf
def least_lift(family: Family, tally: Tally, ranks: "Ranks | InformedRanks", a: int, b: int, x: float, up: float) -> float:
    """A lower bound of ln(v_rank(a) ∏_c R_c) when a's mean is that of coordinate x or higher.

    The adversary lifts J arms to a: the cheapest.
    """
    K, lift = tally.N_a.shape[0], ranks.lift
    if K == 2:
        return 0.0
    found, most = 0, math.log(K - 1.0)
    for c in range(K):
        if c != a and c != b:
            cost = lift_cost(family, tally, ranks.pairing, ranks.lifts.eta, c, x, up)
            if cost < most:  # more than lifting can ever gain
                lift[found] = cost
                found += 1
    sort_first(lift, found)
    least, paid = 0.0, 0.0
    for J in range(found):
        paid += lift[J]
        least = min(least, paid - ranks.lifts.ln[J + 1])
    return least + ranks.base


@leaf
def slot_of(family: Family, tally: Tally, pairing: Pairing, lifts: Lifts, a: int, x: float, up: float) -> int:
    """Where what lifting costs at coordinate x with leader a is kept, brought up to date."""
    kept, K = lifts.kept, tally.N_a.shape[0]
    slot = where(lifts, x)
    cost, N, S = kept.cost[slot], kept.N[slot], kept.S[slot]
    fresh = kept.leader[slot] == a
    for c in range(K):
        if c != a and not (N[c] == tally.N_a[c] and S[c] == tally.S_a[c]):
            cost[c], N[c], S[c] = lift_cost(family, tally, pairing, lifts.eta, c, x, up), tally.N_a[c], tally.S_a[c]
            fresh = False
    if not fresh:
        add_up(lifts, slot, a, K)
    return slot


@leaf
def where(lifts: Lifts, x: float) -> int:
    """The slot of a coordinate: the one that has it, or else one that the present table does not use."""
    kept = lifts.kept
    for slot in range(kept.x.shape[0]):
        if kept.x[slot] == x:
            return slot
    slot = int((kept.last[0] + 1) % KEPT)
    while kept.table[slot] == lifts.made[1]:
        slot = (slot + 1) % KEPT
    kept.last[0], kept.x[slot], kept.leader[slot] = slot, x, -1
    kept.N[slot] = math.nan
    return slot


@leaf
def add_up(lifts: Lifts, slot: int, a: int, K: int) -> None:
    """What follows from the costs at a place for leader a."""
    kept, ln = lifts.kept, lifts.ln
    cost, costs, before, after = kept.cost[slot], kept.costs[slot], kept.before[slot], kept.after[slot]
    found, most = 0, ln[K - 2]
    for c in range(K):
        if c != a and cost[c] < most:  # more than lifting can ever gain
            costs[found] = cost[c]
            found += 1
    sort_first(costs, found)
    kept.leader[slot], kept.found[slot] = a, found
    before[0], paid = 0.0, 0.0
    for J in range(found):
        paid += costs[J]
        after[J] = paid - ln[J]
        before[J + 1] = min(before[J], paid - ln[J + 1])
    after[found] = math.inf
    for J in range(found - 1, -1, -1):
        after[J] = min(after[J], after[J + 1])


@leaf
def begin_table(lifts: Lifts, stride: float) -> None:
    """No place yet; the first step is the power of two under this one."""
    lifts.made[0] = 0
    lifts.made[1] += 1
    lifts.step[0] = 2.0 ** math.floor(math.log2(stride)) if stride > 0.0 else 0.0


@leaf
def there_is(family: Family, tally: Tally, pairing: Pairing, lifts: Lifts, g: int, a: int, x: float, up: float) -> bool:
    """Is there a place g? It is made if it comes next: the first at the leader's coordinate x or a little above, the others
    towards lower means, until lifting gains all it can.
    """
    made, (low, high) = lifts.made[0], span(family)
    if g < made:
        return True
    if made == 0:
        z = up * lifts.step[0] * math.ceil(up * x / lifts.step[0]) if lifts.step[0] > 0.0 else x
        take(lifts, slot_of(family, tally, pairing, lifts, a, z if low <= z <= high else x, up))
        return True
    end, x, gain = low if up > 0.0 else high, lifts.x[made - 1], lifts.gain[0]
    if x == end or gain <= CLOSE - lifts.ln[tally.N_a.shape[0] - 2] or made == PLACES:
        return False
    for _ in range(TRIES):
        z = x - up * lifts.step[0]
        if up * (z - end) < 0.0:
            z = end
        slot = slot_of(family, tally, pairing, lifts, a, z, up)
        drop = gain - lifts.kept.before[slot, lifts.kept.found[slot]]
        if drop <= CLOSE or abs(x - z) <= 1e-9 * (abs(x) + abs(z)):
            break
        lifts.step[0] *= 0.5
    take(lifts, slot)
    wide = 2.0 * lifts.step[0]
    if drop < 0.45 * CLOSE and z == wide * math.floor(z / wide):
        lifts.step[0] = wide
    return True


@leaf
def take(lifts: Lifts, slot: int) -> None:
    """What is kept there is the next place of the table."""
    made, kept = lifts.made[0], lifts.kept
    lifts.x[made], lifts.slot[made], kept.table[slot] = kept.x[slot], slot, lifts.made[1]
    lifts.gain[0], lifts.made[0] = kept.before[slot, kept.found[slot]], made + 1


@leaf
def kept_gain(kept: KeptCosts, slot: int, b: int) -> float:
    """What lifting gains at most there if the rival b is not lifted."""
    found, costs, cost = kept.found[slot], kept.costs[slot], kept.cost[slot, b]
    low, high = 0, found
    while low < high:  # the first cost that is not under the rival's
        middle = (low + high) // 2
        if costs[middle] < cost:
            low = middle + 1
        else:
            high = middle
    if low == found:
        return float(kept.before[slot, found])
    return float(min(kept.before[slot, low], kept.after[slot, low] - cost))


@leaf
def forget_costs(lifts: Lifts) -> None:
    """The costs hold no longer, though counts and sums may be as they were."""
    lifts.kept.x[:] = math.nan
