"""Two-sided bounds on the game's value from any pair of strategies: what makes T* certified.

For mediator weights ω ≥ 0 and rival weights q ≥ 0 with points x_a = μ_a + r_a (μ_1 − μ_a), r_a ∈ [0, 1],

    Σω / min_a f_a(w)  ≥  T*  ≥  Σq / max_e Σ_a q_a [ R_1e d(μ_1, x_a) + R_ae d(μ_a, x_a) ],      w = Rω.

The first holds because ω/Σω is one allowed strategy, the second because q and x are one answer of the adversary.
Both cost O(KE). R [K, E] holds the rates R_ae = π_e(a)/c_e: how often a unit of cost spent on e buys a pull of a.
"""

import math
from typing import NamedTuple

import numpy as np

from gobetween.core.families import Family, divergence
from gobetween.core.jit import jit
from gobetween.core.linalg import combine, dot
from gobetween.core.transport import evidence
from gobetween.core.types import Floats


class Point(NamedTuple):
    """A pair of strategies and its bounds: what one solve hands to the next."""

    omega: Floats  # [E] mediator weights (shares of cost), a distribution
    q: Floats  # [K] weights of the rivals in the adversary's mixture, 0 at the leader
    split: Floats  # [K] x_a = μ_a + split_a (μ_1 − μ_a)
    bounds: Floats  # [2] T_lower, T_upper


class Ledger(NamedTuple):
    """All that an evaluation at (ω, y) computes; scratch that is allocated once."""

    w: Floats  # [K] arm weights Rω
    f: Floats  # [K] f_a(w), ∞ at the leader
    d_1: Floats  # [K] d(μ_1, x_a)
    d_a: Floats  # [K] d(μ_a, x_a)
    v: Floats  # [K] Σ_a y_a ∇f_a, the price of a pull of each arm
    worth: Floats  # [E] vᵀR, what a unit of cost spent on each mediator is worth at these prices


@jit
def new_point(K: int, E: int) -> Point:
    """The point that knows nothing: uniform strategies, T* somewhere in [0, ∞]."""
    return Point(np.full(E, 1.0 / E), np.full(K, 1.0 / (K - 1)), np.full(K, 0.5), np.array([0.0, math.inf]))


@jit
def new_ledger(K: int, E: int) -> Ledger:
    """Scratch for `evaluate`."""
    return Ledger(np.zeros(K), np.zeros(K), np.zeros(K), np.zeros(K), np.zeros(K), np.zeros(E))


@jit
def leader(mu: Floats) -> tuple[int, bool]:
    """The first best arm, and whether it is the only one."""
    best, unique = 0, True
    for a in range(1, mu.shape[0]):
        if mu[a] > mu[best]:
            best, unique = a, True
        elif mu[a] == mu[best]:
            unique = False
    return best, unique


@jit
def payoffs(family: Family, mu: Floats, R: Floats, a_star: int, omega: Floats, ledger: Ledger) -> float:
    """Fill w, f, d_1, d_a at ω; returns min_a f_a."""
    lowest = math.inf
    for a in range(mu.shape[0]):
        ledger.w[a] = dot(R[a], omega)
    for a in range(mu.shape[0]):
        if a == a_star:
            ledger.f[a], ledger.d_1[a], ledger.d_a[a] = math.inf, 0.0, 0.0
        else:
            ledger.f[a], ledger.d_1[a], ledger.d_a[a] = evidence(family, mu[a_star], mu[a], ledger.w[a_star], ledger.w[a])
            lowest = min(lowest, ledger.f[a])
    return lowest


@jit
def prices(R: Floats, a_star: int, y: Floats, ledger: Ledger) -> float:
    """Fill v and worth from y and the divergences in ledger; returns max_e worth_e."""
    total = 0.0
    for a in range(y.shape[0]):
        if a != a_star and y[a] > 0.0:
            total += y[a] * ledger.d_1[a]
            ledger.v[a] = y[a] * ledger.d_a[a]
        else:
            ledger.v[a] = 0.0
    ledger.v[a_star] = total
    combine(R, ledger.v, ledger.worth)
    return np.max(ledger.worth)


@jit
def certify(family: Family, mu: Floats, R: Floats, a_star: int, point: Point, ledger: Ledger) -> float:
    """Recompute the bounds of a point under these means and rates from its fields alone; returns the relative gap."""
    lowest = payoffs(family, mu, R, a_star, point.omega, ledger)
    for a in range(mu.shape[0]):
        if a != a_star:
            r = point.split[a]
            ledger.d_1[a] = divergence(family, mu[a_star], mu[a], 1.0 - r, r)
            ledger.d_a[a] = divergence(family, mu[a], mu[a_star], r, 1.0 - r)
    highest = prices(R, a_star, point.q, ledger)
    T_upper = point.omega.sum() / lowest if lowest > 0.0 else math.inf
    q_total = point.q.sum() - point.q[a_star]
    T_lower = q_total / highest if highest > 0.0 else 0.0
    point.bounds[0], point.bounds[1] = min(T_lower, T_upper), T_upper
    return gap_between(point)


@jit
def gap_between(point: Point) -> float:
    """(T_upper − T_lower)/T_upper, 1 when nothing is known."""
    T_lower, T_upper = point.bounds[0], point.bounds[1]
    return 1.0 - T_lower / T_upper if T_upper < math.inf else 1.0


@jit
def improve(family: Family, mu: Floats, R: Floats, a_star: int, omega: Floats, y: Floats, point: Point, ledger: Ledger) -> float:
    """Evaluate (ω, y), y with the points x_a that answer ω; keep in `point` what tightens a bound; returns the gap there."""
    lowest = payoffs(family, mu, R, a_star, omega, ledger)
    highest = prices(R, a_star, y, ledger)
    if lowest > 0.0 and omega.sum() < point.bounds[1] * lowest:
        point.omega[:] = omega / omega.sum()
        point.bounds[1] = omega.sum() / lowest
    if highest > 0.0 and y.sum() > point.bounds[0] * highest:
        keep_adversary(a_star, y, ledger, point)
        point.bounds[0] = y.sum() / highest
    point.bounds[0] = min(point.bounds[0], point.bounds[1])
    return gap_between(point)


@jit
def keep_adversary(a_star: int, y: Floats, ledger: Ledger, point: Point) -> None:
    """Copy the adversary's mixture y and the points that answer the weights in ledger."""
    for a in range(y.shape[0]):
        point.q[a] = y[a] / y.sum()
        total = ledger.w[a_star] + ledger.w[a]
        point.split[a] = ledger.w[a_star] / total if total > 0.0 else 0.5
