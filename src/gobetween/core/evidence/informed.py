"""What a guess of the means adds to the evidence of a pair of arms (docs/stopping.md, A guess).

J_ab = ⅓ G_ab + ⅓ Q^g_ab + ⅓ Σ_k ω_k I^k_a I^k_b, where a is guessed to be better than b. Q^g, the informed contrast, has a
normal deviation θ ~ N(θ₀, τ²), θ > 0, in favour of a; I, the informed product, is what the guess predicted over the likelihood.
"""

import math
from typing import TYPE_CHECKING

import numpy as np

from gobetween.core.evidence.contrast import GIVEN_UP, scaled_erfc
from gobetween.core.evidence.eprocess import log_sum, pair_at
from gobetween.core.ground.jit import by_type, leaf
from gobetween.core.ground.tally import Tally
from gobetween.core.reward.family import Family, coordinate

if TYPE_CHECKING:
    from gobetween.core.evidence.informed_ranks import InformedRanks

#: The spreads that are tried, as multiples of the guessed one, and their weights.
SPREADS, WEIGHTS = np.array([1.0, 2.0, 4.0]), np.array([0.6, 0.25, 0.15])
At = tuple[float, float, float, float, float, float]


@by_type("pair")
def log_informed(family: Family, n: float, S: float, x: float, alpha: float, beta: float) -> tuple[float, float]:
    """What a guess predicted over the likelihood at coordinate x, in compiled code."""
    return family.log_informed(n, S, x, alpha, beta)


@leaf
def log_gap(ranks: "InformedRanks", a: int, b: int, x: float) -> tuple[float, float]:
    """The pair ln Q^g_ab, slope at a common mean x.

    Σ_k ω_k (1 + τ²σ²V)^(−½) exp((θ₀Y − ½θ₀²σ²V + ½τ²Y²)/(1 + τ²σ²V)) Φ(ζ)/Φ(θ₀/τ),  Y = S_ab − (H_ab − H_ba) x.
    """
    contrast = ranks.pairing.contrast
    V, steep = contrast.V[a, b], contrast.H[b, a] - contrast.H[a, b]
    if V >= GIVEN_UP:
        return -math.inf, 0.0
    own, Y, theta = contrast.sigma * contrast.sigma * V, contrast.S[a, b] + steep * x, ranks.theta[a, b]
    top, total, slope = -math.inf, 0.0, 0.0
    for k in range(SPREADS.shape[0]):
        tau = ranks.tau[k, a, b]
        square = tau * tau
        whole = 1.0 + square * own
        root = 1.0 / math.sqrt(whole)
        zeta, value = (theta / tau + tau * Y) * root, ranks.lead[k, a, b]
        if zeta > -36.0:
            chance = math.erfc(-0.7071067811865476 * zeta)
            value += (theta * Y - 0.5 * theta * theta * own + 0.5 * square * Y * Y) / whole
            mean = zeta * chance + 0.7978845608028654 * math.exp(-0.5 * zeta * zeta)  # √(2/π)
        else:
            chance = scaled_erfc(-0.7071067811865476 * zeta)
            value -= 0.5 * theta * theta / square
            mean = chance * (1.0 - 2.0 / (zeta * zeta)) / -zeta
        if value > top:
            shrink = math.exp(top - value)
            total, slope, top = total * shrink, slope * shrink, value
        share = math.exp(value - top) * root
        total, slope = total + share * chance, slope + share * root * tau * mean
    return top + math.log(total), steep * slope / total


@leaf
def know(family: Family, tally: Tally, ranks: "InformedRanks", i: int) -> None:
    """Ln ω_k^(1/2) I^k_i at the arm's own estimate, where it is least."""
    known, prior = ranks.known, ranks.prior
    n, S = float(tally.N_a[i]), tally.S_a[i]
    if not (known[0, i] == n and known[1, i] == S):
        known[0, i], known[1, i] = n, S
        x = coordinate(family, tally.mu_hat[i])
        for k in range(SPREADS.shape[0]):
            known[2 + k, i] = log_informed(family, n, S, x, prior[k, i, 0], prior[k, i, 1])[0] + 0.5 * math.log(WEIGHTS[k])


@leaf
def beyond(family: Family, tally: Tally, ranks: "InformedRanks", i: int, x: float) -> tuple[float, float]:
    """By how much ln I_i is larger at coordinate x than at the estimate, and its slope: the same for all k."""
    value, slope = log_informed(family, float(tally.N_a[i]), tally.S_a[i], x, ranks.prior[0, i, 0], ranks.prior[0, i, 1])
    return value + 0.5 * math.log(WEIGHTS[0]) - ranks.known[2, i], slope


@leaf
def log_both(family: Family, tally: Tally, ranks: "InformedRanks", a: int, b: int, x: float, y: float) -> tuple[float, float]:
    """The pair ln Σ_k ω_k I^k_a(x) I^k_b(y), and the sum of the slopes, where I_a is taken for constant above the estimate of a
    and I_b below that of b: never more than what it stands for, it falls in a's mean and rises in b's.
    """
    know(family, tally, ranks, a)
    know(family, tally, ranks, b)
    known = ranks.known
    value, slope = known[2, a] + known[2, b], 0.0
    for k in range(1, SPREADS.shape[0]):
        value = log_sum(value, known[2 + k, a] + known[2 + k, b])
    x_a, x_b = coordinate(family, tally.mu_hat[a]), coordinate(family, tally.mu_hat[b])
    up = 1.0 if x_a > x_b else -1.0
    if up * (x_a - x) > 0.0:
        more, rise = beyond(family, tally, ranks, a, x)
        value, slope = value + more, slope + rise
    if up * (y - x_b) > 0.0:
        more, rise = beyond(family, tally, ranks, b, y)
        value, slope = value + more, slope + rise
    return value, slope


@leaf
def weighted(p: float, rise_p: float, q: float, rise_q: float) -> tuple[float, float]:
    """The pair ln(e^p + e^q), slope."""
    if not max(p, q) > -math.inf:
        return -math.inf, 0.0
    top = max(p, q)
    one, other = math.exp(p - top), math.exp(q - top)
    return top + math.log(one + other), (one * rise_p + other * rise_q) / (one + other)


@leaf
def rest_at(family: Family, tally: Tally, ranks: "InformedRanks", a: int, b: int, x: float) -> tuple[float, float]:
    """The logarithm of what the guess adds to G at a common coordinate, and its slope."""
    if not ranks.both[a, b] > -math.inf:
        return -math.inf, 0.0
    rest, rise = log_both(family, tally, ranks, a, b, x, x)
    rest += ranks.both[a, b]
    if ranks.gap[a, b] > -math.inf:
        Q, rise_q = log_gap(ranks, a, b, x)
        rest, rise = weighted(rest, rise, Q + ranks.gap[a, b], rise_q)
    return rest, rise


@leaf
def informed_at(family: Family, tally: Tally, ranks: "InformedRanks", a: int, b: int, x: float) -> At:
    """At a common coordinate: ln G and its slope, the same of what the guess adds, and the slopes of ln M_a⁺ and ln M_b⁻."""
    G, slope, slope_a, slope_b = pair_at(family, tally, ranks.pairing, a, b, x)
    rest, rise = rest_at(family, tally, ranks, a, b, x)
    return G, slope, rest, rise, slope_a, slope_b


@leaf
def joined(ranks: "InformedRanks", a: int, b: int, at: At, gain: float) -> tuple[float, float]:
    """The logarithm of the term, and its slope, where lifting others is worth `gain`, 0 or less."""
    G = at[0] + log_sum(ranks.plain + ranks.base + gain, ranks.own[a, b])
    return weighted(G, at[1], at[2], at[3])


@leaf
def least_rest(family: Family, tally: Tally, ranks: "InformedRanks", a: int, b: int, y: float, z: float) -> float:
    """A lower bound of what the guess adds where μ_a lies between those of z and y, y being higher, and μ_b ≥ μ_a."""
    rest = -math.inf
    if ranks.both[a, b] > -math.inf:
        rest = log_both(family, tally, ranks, a, b, y, z)[0] + ranks.both[a, b]
    if ranks.gap[a, b] > -math.inf:
        Q = min(log_gap(ranks, a, b, y)[0], log_gap(ranks, a, b, z)[0])
        rest = weighted(rest, 0.0, Q + ranks.gap[a, b], 0.0)[0]
    return rest
