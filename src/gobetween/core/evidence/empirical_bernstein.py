"""Evidence from bounded rewards that vary little, beside mixtures that take them for low or high (proof: docs/stopping.md).

Of each arm's rewards, scaled to y in [0, 1], in the order of counting:

    V += (y − μ̂)²  with  μ̂ = (½ + S)/(1 + n)  from before y,   n += 1,   S += y

At the true mean m and for every 0 ≤ λ < 1, exp(±λ(S − nm) − ψ(λ)V) with ψ(λ) = −ln(1 − λ) − λ is a supermartingale that starts
at 1. A mixture over λ, with + for N⁺ and − for N⁻, has a convex logarithm in m, and N⁺ falls in m, N⁻ rises.
"""

import math
from typing import NamedTuple

import numpy as np

from gobetween.core.ground.jit import Floats, leaf, part

#: V of an arm of which only the atom counts any more.
GIVEN_UP = 1e290
#: The least variance that plans reckon with.
STILLEST = 1e-12
#: Weight on λ = 0: what an arm that is seldom or often pulled does not pay for.
ATOM = 0.05


class BernsteinSums(NamedTuple):
    """What is kept of every arm."""

    share: float  # weight of N_a⁺ N_b⁻ beside the product of two mixtures; 0: not used, and nothing is kept
    low: float
    width: float
    sums: Floats  # [3, K]: n, S, V


def _grid() -> tuple[Floats, Floats, Floats]:
    """λ, ψ(λ) and the logarithms of weights. λ/(1 − λ), best at (S − nm)/V, has steps of √2 from 2⁻⁸ to 2⁵, of 2 to 2⁻¹⁴."""
    powers = np.concatenate([np.arange(-8.0, 5.01, 0.5), np.arange(-14.0, -8.0)])
    odds, steps = 2.0**powers, np.where(powers < -8.0, 2.0, 1.0)
    weights = steps / (1.0 + powers**2 / 9.0)
    lam = odds / (1.0 + odds)
    return lam, np.log1p(odds) - lam, np.log((1.0 - ATOM) * weights / weights.sum())


BETS, PRICES, BET_WEIGHTS = _grid()


def new_bernstein(K: int, share: float, low: float, high: float) -> BernsteinSums:
    """Nothing seen."""
    return BernsteinSums(share, low, high - low, np.zeros((3, K if share > 0.0 else 0)))


@leaf
def add_to_bernstein(bernstein: BernsteinSums, a: int, reward: float) -> None:
    """Arm a paid a reward."""
    n, S, V = bernstein.sums[0], bernstein.sums[1], bernstein.sums[2]
    y = min(1.0, max(0.0, (reward - bernstein.low) / bernstein.width))
    off = y - (0.5 + S[a]) / (1.0 + n[a])
    V[a] += off * off
    n[a] += 1.0
    S[a] += y


def give_up_bernstein(bernstein: BernsteinSums, a: int) -> None:
    """Which deviations the rewards of arm a had is not kept, so none can be taken back: only the atom counts from here on."""
    bernstein.sums[2, a] = GIVEN_UP


@leaf
def log_bernstein(bernstein: BernsteinSums, i: int, x: float, side: float) -> tuple[float, float]:
    """The pair ln N_i⁺ (side 1) or ln N_i⁻ (side −1), slope at the mean x."""
    n, V = bernstein.sums[0, i], bernstein.sums[2, i]
    lead = side * (bernstein.sums[1, i] - n * ((x - bernstein.low) / bernstein.width))
    top, total, tilted = math.log(ATOM), 1.0, 0.0
    for j in range(BETS.shape[0]):
        value = BETS[j] * lead - PRICES[j] * V + BET_WEIGHTS[j]
        if value > top:
            shrink = math.exp(top - value)
            total, tilted, top = total * shrink + 1.0, tilted * shrink + BETS[j], value
        elif value > top - 40.0:
            share = math.exp(value - top)
            total, tilted = total + share, tilted + share * BETS[j]
    return top + math.log(total), -side * n / bernstein.width * tilted / total


@leaf
def bernstein_reach(bernstein: BernsteinSums, a: int, b: int) -> float:
    """More than ln N_a⁺ N_b⁻ can be at some common mean, because ψ(λ) ≥ λ²/2: for speed alone."""
    n, S, V = bernstein.sums[0], bernstein.sums[1], bernstein.sums[2]
    if n[a] == 0.0 or n[b] == 0.0:
        return 0.0
    gap = S[a] / n[a] - S[b] / n[b]
    spread = 2.0 * (V[a] / (n[a] * n[a]) + V[b] / (n[b] * n[b]))
    return gap * gap / spread if spread > 0.0 else math.inf


@part
def rate(gap: float, v: float) -> float:
    """What a reward is worth against a mean that is off by gap, at variance v: max over λ of λ gap − ψ(λ)v."""
    odds = gap / v
    return v * (odds - math.log1p(odds)) if odds > 1e-4 else gap * odds * (0.5 - odds / 3.0)


@part
def bernstein_evidence(
    bernstein: BernsteinSums, a: int, b: int, gap: float, w_a: float, w_b: float
) -> tuple[float, float, float]:
    """The least w_a d_a + w_b d_b over common means, with d_a and d_b: `transport.evidence` for rewards that vary as these did.

    At the least, λ of a and of b balance: w_a g/(g + v_a) = w_b h/(h + v_b), where g and h add up to the gap.
    """
    n, V = bernstein.sums[0], bernstein.sums[2]
    if n[a] == 0.0 or n[b] == 0.0 or not (gap > 0.0 and w_a > 0.0 and w_b > 0.0):
        return 0.0, 0.0, 0.0
    gap /= bernstein.width
    v_a, v_b = max(V[a] / n[a], STILLEST), max(V[b] / n[b], STILLEST)
    second, first, last = w_b - w_a, w_a * (gap + v_b) - w_b * (gap - v_a), w_b * gap * v_a
    root = math.sqrt(first * first + 4.0 * second * last)
    g = 2.0 * last / (first + root) if first >= 0.0 else (root - first) / (2.0 * second)
    g = min(gap, g)
    d_a, d_b = rate(g, v_a), rate(gap - g, v_b)
    return w_a * d_a + w_b * d_b, d_a, d_b


@leaf
def with_bernstein(bernstein: BernsteinSums, value: float, c: int, x: float) -> float:
    """The logarithm of (1 − share) M_c⁻ + share N_c⁻ at the mean x, given that of M_c⁻: how low an arm is that stands aside."""
    value, other = value + math.log1p(-bernstein.share), log_bernstein(bernstein, c, x, -1.0)[0] + math.log(bernstein.share)
    return max(value, other) + math.log1p(math.exp(-abs(value - other)))
