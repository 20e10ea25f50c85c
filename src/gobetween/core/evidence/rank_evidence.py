"""Evidence that the leader a is best, with weights by rank instead of a union over wrong answers (docs/stopping.md).

For every μ whose best arm is b let, with the rank of a among the arms other than b in the order of their means,

    W(μ) = Σ_{a≠b} v_rank(a) G_ab(μ_a, μ_b) ∏_{c≠a,b} R_c(μ_c),   v_r ∝ 1/r,   R_c = (1 − η) + η M_c⁻

W(μ) is a martingale at the true means. A wrong leader a makes it at least its own term: the rule stops when, for every rival b,
the least of that term over all μ with μ_b the largest is at least 1/δ. Here is a lower bound of it. To lower v the adversary
must lift arms c to μ_a or above, and pay R_c there.
"""

import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from gobetween.core.evidence.empirical_bernstein import bernstein_reach
from gobetween.core.evidence.eprocess import (
    Pairing,
    alone,
    beside,
    evidence,
    least_beside,
    least_pair,
    log_sum,
    pair_at,
    pooled,
)
from gobetween.core.evidence.lift_table import MANY, Lifts, begin_table, kept_gain, least_lift, new_lifts, slot_of, there_is
from gobetween.core.ground.jit import Floats, Ints, by_type, leaf, part
from gobetween.core.ground.tally import Tally
from gobetween.core.reward.family import Family, coordinate, span

if TYPE_CHECKING:
    from gobetween.core.evidence.informed_ranks import InformedRanks

#: Mixtures never learn for less, in nats: nothing is looked at until the likelihood ratio Z_ab is so much above what is needed.
LEARNING = 1.0
MOST_STEPS = 200


class Ranks(NamedTuple):
    """What the rule needs beside the tally."""

    pairing: Pairing
    base: float  # ln(v_1 ∏(1 − η)): what is paid when no arm is lifted
    lift: Floats  # [K] scratch: what lifting each arm costs
    hint: Ints  # [1] the rival that spoke against last: looked at first, for speed alone
    place: Floats  # [1] the coordinate at which it did, where there are many arms; NaN: nowhere yet
    lifts: Lifts  # what lifting costs, where there are many arms

    def term_of(self, family: Family, tally: Tally, a: int, b: int, enough: float) -> float:
        return least_term(family, tally, self, a, b, enough)

    def reach(self, a: int, Z: float) -> float:
        return within_reach(self, Z)


def new_ranks(K: int, pairing: Pairing) -> Ranks:
    """Nothing seen."""
    lifts = new_lifts(K)
    return Ranks(pairing, rank_base(K, lifts.eta), np.zeros(K), np.zeros(1, np.int64), np.full(1, math.nan), lifts)


def rank_base(K: int, eta: float) -> float:
    """Ln(v_1 ∏(1 − η)) of K arms."""
    return (K - 2) * math.log1p(-eta) - math.log(sum(1.0 / r for r in range(1, K))) if K > 2 else 0.0


@leaf
def least_alone(
    family: Family, tally: Tally, ranks: "Ranks | InformedRanks", b: int, x: float, up: float, stride: float
) -> float:
    """A lower bound of ln M_b⁻ at any mean, to 0.01, given a coordinate x where it falls towards higher means."""
    low, high = span(family)
    near, far, f_far, s_far = x, x, 0.0, 0.0
    f_near, s_near = alone(family, tally, ranks.pairing, b, x, -1.0)
    for _ in range(MOST_STEPS):
        far = min(high, max(low, near + up * stride))
        f_far, s_far = alone(family, tally, ranks.pairing, b, far, -1.0)
        if up * s_far > 0.0:
            break
        if far in (low, high):
            return f_far
        near, f_near, s_near, stride = far, f_far, s_far, 2.0 * stride
    lower = -math.inf
    for _ in range(MOST_STEPS):
        if not up * s_near < up * s_far:
            return lower
        x = near + (f_far - f_near - s_far * (far - near)) / (s_near - s_far)
        lower = min(f_near + s_near * (x - near), f_far + s_far * (x - far))
        f, s = alone(family, tally, ranks.pairing, b, x, -1.0)
        if f - lower <= 0.01:
            return lower
        if up * s > 0.0:
            far, f_far, s_far = x, f, s
        else:
            near, f_near, s_near = x, f, s
    return lower


@leaf
def least_term(family: Family, tally: Tally, ranks: Ranks, a: int, b: int, enough: float) -> float:
    """A lower bound of the least ln(v G_ab ∏R_c) over all μ with μ_b the largest — or, once it is known to lie under `enough`,
    any number under it, and once it is known to reach it, any number from there on.

    Where μ_a is that of y or higher the pair is at least its minimum, and lifting costs at least what it does at y. Then a walk
    towards lower means: for μ_a on [y − step, y] lifting costs at least what it does at y − step, and the pair is at least
    `psi`: its value at y, as long as M_b⁻ rises there; afterwards M_a⁺ at y times the least M_b⁻, with the contrast at y or
    y − step. This needs M_a⁺ to fall at the first y; otherwise the largest lift is granted everywhere. With many arms a table,
    which `least_evidence` begins again, says what lifting costs.
    """
    Z = evidence(family, tally.mu_hat[a], tally.mu_hat[b], float(tally.N_a[a]), float(tally.N_a[b]))[0]
    if ranks.pairing.bernstein.share > 0.0:
        Z = max(Z, bernstein_reach(ranks.pairing.bernstein, a, b))
    worth = within_reach(ranks, Z)
    if worth < enough:
        return worth
    if tally.N_a.shape[0] > MANY:
        return min(worth, tabled_term(family, tally, ranks, a, b, enough))
    return min(worth, searched_term(family, tally, ranks, a, b, enough))


@part
def within_reach(ranks: "Ranks | InformedRanks", Z: float) -> float:
    """What a likelihood ratio Z = Z_ab can be worth at most: by definition, for speed. A smaller statistic is always safe."""
    return Z + ranks.base - LEARNING


@by_type("float64", inline=True)
def reach(ranks: "Ranks | InformedRanks", a: int, Z: float) -> float:
    """`within_reach` of the leader a, or that with a guess."""
    return float(ranks.reach(a, Z))


@by_type("float64", inline=True)
def term_of(ranks: "Ranks | InformedRanks", family: Family, tally: Tally, a: int, b: int, enough: float) -> float:
    """The least of a's term against b, from below: `least_term`, or that with a guess."""
    return float(ranks.term_of(family, tally, a, b, enough))


@leaf
def searched_term(family: Family, tally: Tally, ranks: Ranks, a: int, b: int, enough: float) -> float:
    """`least_term` where it must be searched for."""
    K = tally.N_a.shape[0]
    base, most = ranks.base, math.log(K - 1.0)
    x_a, x_b = coordinate(family, tally.mu_hat[a]), coordinate(family, tally.mu_hat[b])
    up = 1.0 if x_a > x_b else -1.0
    if enough > -math.inf:  # mostly one point tells that the time has not come
        x = pooled(family, tally, ranks.pairing, a, b)
        value = pair_at(family, tally, ranks.pairing, a, b, x)[0]
        if value + base < enough:
            return value + base
        if K > 2 and value + base - most < enough:
            value += least_lift(family, tally, ranks, a, b, x, up)
            if value < enough:
                return value
    least, y, psi, orderly = least_pair(family, tally, ranks.pairing, a, b, enough - base, most)
    if not orderly or K == 2:
        return least + base if orderly or least + base < enough else -math.inf
    worst = least + base - most
    if worst >= enough > -math.inf:
        return worst
    low, high = span(family)
    end = low if up > 0.0 else high
    _, _, slope_a, slope_b = pair_at(family, tally, ranks.pairing, a, b, y)
    if not up * slope_a <= 0.0:
        return worst
    found = least + least_lift(family, tally, ranks, a, b, y, up)
    psi = psi if up * slope_b >= 0.0 else least
    step, smallest = (0.125 if enough > -math.inf else 0.03) * abs(x_a - x_b), 1e-3 * abs(x_a - x_b)
    product, floor = -math.inf, math.inf  # floor: the least ln M_b⁻, once it is needed
    for _ in range(MOST_STEPS):
        if not up * slope_b >= 0.0:
            if floor == math.inf:
                floor = least_alone(family, tally, ranks, b, y, up, step)
            product = alone(family, tally, ranks.pairing, a, y, 1.0)[0] + floor + math.log1p(-beside(ranks.pairing))
            psi = max(psi, product)
        if found < enough or y == end or psi + base - most >= (enough if enough > -math.inf else found):
            return found
        z = y - up * step
        if up * (z - end) < 0.0:
            z = end
        here = psi
        if floor < math.inf and beside(ranks.pairing) > 0.0:
            other = least_beside(ranks.pairing, a, b, y, z) + math.log(beside(ranks.pairing))
            here = max(psi, log_sum(product, other))
        lift = least_lift(family, tally, ranks, a, b, z, up)
        bound = here + lift
        if bound < found and bound < enough and step > smallest:
            if pair_at(family, tally, ranks.pairing, a, b, z)[0] + lift < enough:  # one point tells
                return bound
            step *= 0.5
            continue
        found, y, step = min(found, bound), z, 1.5 * step
        if up * slope_b >= 0.0:
            value, _, _, slope_b = pair_at(family, tally, ranks.pairing, a, b, y)
            psi = value if up * slope_b >= 0.0 else psi
    return min(found, psi + base - most)


@leaf
def tabled_term(family: Family, tally: Tally, ranks: Ranks, a: int, b: int, enough: float) -> float:
    """The same where there are many arms, by the table of what lifting them costs: a walk along its places."""
    base, most, lifts = ranks.base, math.log(tally.N_a.shape[0] - 1.0), ranks.lifts
    x_a, x_b = coordinate(family, tally.mu_hat[a]), coordinate(family, tally.mu_hat[b])
    up = 1.0 if x_a > x_b else -1.0
    least, y, psi, orderly = least_pair(family, tally, ranks.pairing, a, b, enough - base, most)
    if not orderly:
        return least + base if least + base < enough else -math.inf
    worst = least + base - most
    _, _, slope_a, slope_b = pair_at(family, tally, ranks.pairing, a, b, y)
    if worst >= enough > -math.inf or not up * slope_a <= 0.0:
        return worst
    g = 0
    while there_is(family, tally, ranks.pairing, lifts, g, a, x_a, up) and up * (lifts.x[g] - y) > 0.0:
        g += 1
    psi = psi if up * slope_b >= 0.0 else least
    found, floor, pair = math.inf, math.inf, least
    while True:  # from y, with all above it, down to the next place, and so on
        gain, more = -most, there_is(family, tally, ranks.pairing, lifts, g, a, x_a, up)
        if more:
            gain = kept_gain(lifts.kept, lifts.slot[g], b)
        found = min(found, pair + base + gain)
        if found < enough:
            ranks.place[0] = y
        if found < enough or not more:
            return found
        y = lifts.x[g]
        value, _, _, slope_b = pair_at(family, tally, ranks.pairing, a, b, y)
        if up * slope_b >= 0.0:
            psi = value
        else:
            if floor == math.inf:
                floor = least_alone(family, tally, ranks, b, y, up, 0.125 * abs(x_a - x_b))
            psi = max(psi, alone(family, tally, ranks.pairing, a, y, 1.0)[0] + floor + math.log1p(-beside(ranks.pairing)))
        if psi + base - most >= (enough if enough > -math.inf else found):
            return found
        pair, g = psi, g + 1


@leaf
def least_evidence(family: Family, tally: Tally, ranks: "Ranks | InformedRanks", a: int, enough: float) -> float:
    """The least of a's terms over rivals b, or any number under `enough` once one is under it."""
    first, last, least = second_best(tally, a), ranks.hint[0], math.inf
    if ranks.lifts.x.shape[0] > 0:
        begin_table(ranks.lifts, 0.125 * abs(coordinate(family, tally.mu_hat[a]) - coordinate(family, tally.mu_hat[first])))
        if ranks.place[0] == ranks.place[0] and tally.mu_hat[last] < tally.mu_hat[a]:
            value = spoken(family, tally, ranks, a, last, ranks.place[0], enough)
            if value < enough:
                return value
    for k in range(-2, tally.N_a.shape[0]):  # who spoke against last and the strongest rival most often do so again
        b = last if k == -2 else first if k == -1 else k
        if b != a and (k == -2 or b != last) and (k < 0 or b != first):
            term = term_of(ranks, family, tally, a, b, enough)
            if not term >= enough:  # NaN too
                ranks.hint[0] = b
                return term
            least = min(least, term)
    return least


@leaf
def spoken(family: Family, tally: Tally, ranks: "Ranks | InformedRanks", a: int, b: int, x: float, enough: float) -> float:
    """ln(v G_ab ∏R_c) where a, b and those whom it pays to lift have the mean of coordinate x: never less than the
    least; where one look tells on which side of `enough` it lies, any number there.
    """
    value, lifts = pair_at(family, tally, ranks.pairing, a, b, x)[0] + ranks.base, ranks.lifts
    if not value >= enough or value - math.log(tally.N_a.shape[0] - 1.0) >= enough:
        return value
    up = 1.0 if coordinate(family, tally.mu_hat[a]) > coordinate(family, tally.mu_hat[b]) else -1.0
    return value + kept_gain(lifts.kept, slot_of(family, tally, ranks.pairing, lifts, a, x, up), b)


@leaf
def largest_evidence(family: Family, tally: Tally, ranks: "Ranks | InformedRanks", a: int) -> float:
    """The largest limit that the evidence for a reaches, to 1e-10; where it reaches none above 0, any number up to that.

    Rival by rival, the likely worst first: most others are only seen to reach what is left.
    """
    if tally.N_a.shape[0] == 2:  # exact
        return least_evidence(family, tally, ranks, a, -math.inf)
    found = least_evidence(family, tally, ranks, a, 0.0)
    if not found > 0.0:
        return found
    first, least = second_best(tally, a), math.inf
    for k in range(-1, tally.N_a.shape[0]):
        b = first if k == -1 else k
        if b != a and (k == -1 or b != first):
            least = largest_term(family, tally, ranks, a, b, least)
    return least


@leaf
def largest_term(family: Family, tally: Tally, ranks: "Ranks | InformedRanks", a: int, b: int, most: float) -> float:
    """The largest limit up to `most` that a's term against b reaches, to 1e-10: `least_term` looks closely where it decides."""
    if most < math.inf and term_of(ranks, family, tally, a, b, most) >= most:
        return most
    low = max(0.0, min(most, term_of(ranks, family, tally, a, b, -math.inf)))
    high, close, halve = min(most, low + math.log(float(tally.N_a.shape[0]))), 1e-10 * max(1.0, low), True
    while high - low > close:
        limit = 0.5 * (low + high) if halve else low + close  # in turn: mostly what was found last cannot be improved on
        found = term_of(ranks, family, tally, a, b, limit)
        if found >= limit:
            low = min(found, high)
        else:
            high = limit
        halve = not halve
    return low


@leaf
def second_best(tally: Tally, a: int) -> int:
    """The arm other than a with the highest estimate."""
    best = -1
    for b in range(tally.mu_hat.shape[0]):
        if b != a and (best < 0 or tally.mu_hat[b] > tally.mu_hat[best]):
            best = b
    return best
