"""Evidence that the leader a is best where somebody guessed the means before the first answer (docs/stopping.md, A guess).

A share w of the risk, the stake, is put on the guess:

    W_g(μ) = (1 − w) W(μ) + w Σ_{a≠b} u_ab J_ab(μ_a, μ_b)

W is that of `rank_evidence`, J what the guess says of a pair (`guess`), and J = G, the evidence of the pair without it, if a
is not guessed to be better. The rule stops when for every rival the least of a's term is at least 1/δ. Here is a lower bound of
that. It costs others something to be lifted only in the first part: u has no rank.
"""

import math
from typing import NamedTuple

import numpy as np

from gobetween.core.evidence.empirical_bernstein import bernstein_reach
from gobetween.core.evidence.eprocess import (
    CLOSE,
    MOST_STEPS,
    Pairing,
    alone,
    beside,
    evidence,
    least_beside,
    log_sum,
    pair_at,
    pooled,
    tangents_meet,
)
from gobetween.core.evidence.guess import SPREADS, WEIGHTS, At, Guess, informed_at, joined, least_rest, log_both, rest_at
from gobetween.core.evidence.lift_table import Lifts, least_lift, new_lifts
from gobetween.core.evidence.rank_evidence import LEARNING as RANK_LEARNING
from gobetween.core.evidence.rank_evidence import least_alone, rank_base
from gobetween.core.ground.jit import Floats, Ints, leaf
from gobetween.core.ground.tally import Tally
from gobetween.core.reward.family import Family, coordinate, span

#: Nothing is looked at until the likelihood ratio Z_ab is so much above what is needed, in nats.
LEARNING = 0.5


class InformedRanks(NamedTuple):
    """What the rule needs beside the tally: as `Ranks`, and what follows from the guess; logarithms of weights."""

    pairing: Pairing
    base: float
    lift: Floats  # [K]
    hint: Ints  # [1]
    place: Floats  # [1]
    lifts: Lifts  # without its table
    plain: float  # ln(1 − w)
    own: Floats  # [K, K] of G in w u J
    contrast_weight: Floats  # [K, K] of Q^g in it
    both: Floats  # [K, K] of the informed products
    whole: Floats  # [K, K] of all that a pair can be worth, no arm lifted, less LEARNING
    theta: Floats  # [K, K] θ₀
    tau: Floats  # [3, K, K] τ
    lead: Floats  # [3, K, K] ω/(2Φ(θ₀/τ))
    prior: Floats  # [3, K, 2] as the family says a guess
    known: Floats  # [5, K] scratch: counts and sums, and ln I^k at the estimate that these give

    def term_of(self, family: Family, tally: Tally, a: int, b: int, enough: float) -> float:
        return float(informed_term(family, tally, self, a, b, enough))

    def reach(self, a: int, Z: float) -> float:
        return float(most_informed(self, a, Z))


def new_informed_ranks(K: int, pairing: Pairing, family: Family, guess: Guess) -> InformedRanks:
    """Nothing seen."""
    from scipy.special import log_ndtr

    lifts, g, s, sigma = new_lifts(K, tabled=False), np.array(guess.means), np.array(guess.spread), pairing.contrast.sigma
    above, plain, base = g[:, None] > g, math.log1p(-guess.stake), rank_base(K, lifts.eta)
    theta = np.where(above, g[:, None] - g, 0.0) / sigma**2
    tau = SPREADS[:, None, None] * np.hypot(s[:, None], s) / sigma**2
    parts = np.array([1.0, 1.0, 1.0] if pairing.contrast.share > 0.0 else [1.0, 0.0, 1.0])[:, None, None]
    with np.errstate(divide="ignore"):
        staked = np.log(guess.stake * guess.shares())
        shares = np.where(above, parts / parts.sum(), np.array([1.0, 0.0, 0.0])[:, None, None])
        own, contrast_weight, both = staked + np.log(shares)
    return InformedRanks(
        pairing, base, np.zeros(K), np.zeros(1, np.int64), np.full(1, math.nan), lifts,
        plain, own, contrast_weight, both, np.logaddexp(staked, plain + base) - LEARNING,
        theta, tau, np.log(0.5 * WEIGHTS)[:, None, None] - log_ndtr(theta / tau),
        np.array([[family.prior(m, k * d) for m, d in zip(guess.means, guess.spread, strict=True)] for k in SPREADS]),
        np.full((5, K), math.nan),
    )  # fmt: skip


@leaf
def most_informed(ranks: InformedRanks, a: int, Z: float) -> float:
    """What a likelihood ratio Z of the leader can be worth at most against any rival."""
    most = -math.inf
    for b in range(ranks.whole.shape[0]):
        if b != a:
            most = max(most, float(ranks.whole[a, b]))
    return Z + most


@leaf
def informed_term(family: Family, tally: Tally, ranks: InformedRanks, a: int, b: int, enough: float) -> float:
    """As `least_term`: a lower bound of the least of a's term in W_g over all μ with μ_b the largest."""
    Z = evidence(family, tally.mu_hat[a], tally.mu_hat[b], float(tally.N_a[a]), float(tally.N_a[b]))[0]
    if ranks.pairing.bernstein.share > 0.0:
        Z = max(Z, bernstein_reach(ranks.pairing.bernstein, a, b))
    worth = float(Z + ranks.whole[a, b])  # by definition, for speed: a smaller statistic is always safe
    if worth < enough or not tally.mu_hat[a] > tally.mu_hat[b]:
        return min(worth, 0.0)
    x_a, x_b = coordinate(family, tally.mu_hat[a]), coordinate(family, tally.mu_hat[b])
    if enough > -math.inf:  # mostly one point tells that the time has not come: first what G can be worth at most
        value = first_look(family, tally, ranks, a, b, enough, 1.0 if x_a > x_b else -1.0, Z - RANK_LEARNING)
        if not value >= enough:
            return value
    return min(worth, informed_search(family, tally, ranks, a, b, enough, x_a, x_b))


@leaf
def first_look(family: Family, tally: Tally, ranks: InformedRanks, a: int, b: int, enough: float, up: float, G: float) -> float:
    """The term at the common mean of all rewards of the pair; any number under `enough` once G, at most as given, says so."""
    K, x = tally.N_a.shape[0], pooled(family, tally, ranks.pairing, a, b)
    rest = rest_at(family, tally, ranks, a, b, x)[0]
    value = joined(ranks, a, b, (G, 0.0, rest, 0.0, 0.0, 0.0), 0.0)[0]
    if not value >= enough:
        return value
    at = (pair_at(family, tally, ranks.pairing, a, b, x)[0], 0.0, rest, 0.0, 0.0, 0.0)
    value = joined(ranks, a, b, at, 0.0)[0]
    if K > 2 and value >= enough and joined(ranks, a, b, at, -math.log(K - 1.0))[0] < enough:
        value = joined(ranks, a, b, at, least_lift(family, tally, ranks, a, b, x, up) - ranks.base)[0]
    return value


@leaf
def least_joined(
    family: Family, tally: Tally, ranks: InformedRanks, a: int, b: int, enough: float, spare: float, x_a: float, x_b: float
) -> tuple[float, float, bool]:
    """As `least_pair`, of the whole term where no arm is lifted: its least over common means from below, a coordinate on its
    side of higher means, and whether the least over all means is there.
    """
    (low, high), up = span(family), 1.0 if x_a > x_b else -1.0
    x, stride = min(high, max(low, pooled(family, tally, ranks.pairing, a, b))), abs(x_a - x_b)
    left, f_left, s_left = -math.inf, 0.0, 0.0
    right, f_right, s_right = math.inf, 0.0, 0.0
    upper, orderly = math.inf, False
    for _ in range(MOST_STEPS):
        at = informed_at(family, tally, ranks, a, b, x)
        f, s = joined(ranks, a, b, at, 0.0)
        orderly = orderly or up * at[4] <= 0.0 <= up * at[5]
        upper = min(upper, f)
        if not upper >= enough:
            return upper, x, False
        if s > 0.0:
            right, f_right, s_right = x, f, s
        else:
            left, f_left, s_left = x, f, s
        if (s <= 0.0 and x == high) or (s >= 0.0 and x == low) or s == 0.0:
            return f, x, orderly
        if left > -math.inf and right < math.inf:
            x, lower = tangents_meet(left, f_left, s_left, right, f_right, s_right)
            lower = min(upper, lower)
            enclosed = upper - lower <= CLOSE or not left < x < right
            if enclosed or (orderly and lower - spare >= enough > -math.inf):
                return lower, right if up > 0.0 else left, orderly
        else:
            x = max(low, x - stride) if s > 0.0 else min(high, x + stride)
            stride *= 2.0
    return -math.inf, x, False


@leaf
def informed_search(
    family: Family, tally: Tally, ranks: InformedRanks, a: int, b: int, enough: float, x_a: float, x_b: float
) -> float:
    """`informed_term` where it must be searched for.

    First a point y from which on towards higher means, with what lifting costs there, the term rises: it is least at y. Then a
    walk towards lower means in pieces, each with what lifting costs at its lower end.
    """
    K, up = tally.N_a.shape[0], 1.0 if x_a > x_b else -1.0
    most = math.log(K - 1.0)
    least, y, orderly = least_joined(family, tally, ranks, a, b, enough, most, x_a, x_b)
    worst = least - most if orderly else -math.inf
    if not orderly or K == 2:
        return least if orderly or least < enough else -math.inf
    if worst >= enough > -math.inf:
        return worst
    low, high = span(family)
    step, top = abs(x_a - x_b), high if up > 0.0 else low
    for _ in range(MOST_STEPS):
        at = informed_at(family, tally, ranks, a, b, y)
        found, slope = joined(ranks, a, b, at, least_lift(family, tally, ranks, a, b, y, up) - ranks.base)
        if y == top or up * slope >= 0.0 <= up * at[5]:
            break
        y = min(high, max(low, y + up * step))
        step *= 2.0
    else:
        return worst
    return max(worst, walk_down(family, tally, ranks, a, b, enough, y, at, found, abs(x_a - x_b)))


@leaf
def walk_down(
    family: Family,
    tally: Tally,
    ranks: InformedRanks,
    a: int,
    b: int,
    enough: float,
    y: float,
    at: At,
    found: float,
    wide: float,
) -> float:
    """The least of the term for all μ_a, from below, given what it is for those of coordinate y or higher.

    On [z, y], as long as M_b⁻ rises at z, it is at least what the tangents at z and y say of common means; afterwards G is at
    least M_a⁺ at y times the least M_b⁻, and the rest what `least_rest` says. All that is lower has at least what the worst
    rank leaves at `held`, the last place where M_b⁻ rose, if the term falls there.
    """
    up = 1.0 if coordinate(family, tally.mu_hat[a]) > coordinate(family, tally.mu_hat[b]) else -1.0
    (low, high), most, pairing = span(family), math.log(tally.N_a.shape[0] - 1.0), ranks.pairing
    end, share = low if up > 0.0 else high, beside(ranks.pairing)
    step, smallest = (0.125 if enough > -math.inf else 0.03) * wide, 1e-3 * wide
    held, floor, product = at, math.inf, -math.inf
    for _ in range(MOST_STEPS):
        if up * at[5] >= 0.0:
            held = at
        elif up * at[4] <= 0.0:
            if floor == math.inf:
                floor = least_alone(family, tally, ranks, b, y, up, step)
            product = alone(family, tally, pairing, a, y, 1.0)[0] + floor + math.log1p(-share)
        below, slope = joined(ranks, a, b, held, -most)
        if not (up * held[4] <= 0.0 <= up * held[5] and up * slope <= 0.0):
            below = -math.inf
        if product > -math.inf:
            both = log_both(family, tally, ranks, a, b, y, end)[0] + ranks.both[a, b]
            below = max(below, joined(ranks, a, b, (product, 0.0, both, 0.0, 0.0, 0.0), -most)[0])
        if found < enough or y == end or below >= (enough if enough > -math.inf else found):
            return found
        z = y - up * step
        if up * (z - end) < 0.0:
            z = end
        gain = least_lift(family, tally, ranks, a, b, z, up) - ranks.base
        new = informed_at(family, tally, ranks, a, b, z)
        here = joined(ranks, a, b, new, gain)[0]
        if up * new[5] >= 0.0:
            bound = between(joined(ranks, a, b, new, gain), joined(ranks, a, b, at, gain), z, y, up)
        else:
            bound, slope = joined(ranks, a, b, held, gain)
            if not (up * held[4] <= 0.0 <= up * held[5] and up * slope <= 0.0):
                bound = -math.inf
            if product > -math.inf:
                G, rest = product, least_rest(family, tally, ranks, a, b, y, z)
                if share > 0.0:
                    G = log_sum(G, least_beside(pairing, a, b, y, z) + math.log(share))
                bound = max(bound, joined(ranks, a, b, (G, 0.0, rest, 0.0, 0.0, 0.0), gain)[0])
        if bound < found and bound < enough and step > smallest:
            if here < enough:  # one point tells
                return bound
            step *= 0.5
            continue
        found, y, at, step = min(found, bound), z, new, 1.5 * step
    return -math.inf


@leaf
def between(lower: tuple[float, float], upper: tuple[float, float], z: float, y: float, up: float) -> float:
    """How low a convex function may be between z and y, from its values and slopes there; y is the higher mean."""
    if up * upper[1] <= 0.0:
        return upper[0]
    if up * lower[1] >= 0.0:
        return lower[0]
    if up > 0.0:
        return tangents_meet(z, lower[0], lower[1], y, upper[0], upper[1])[1]
    return tangents_meet(y, upper[0], upper[1], z, lower[0], lower[1])[1]
