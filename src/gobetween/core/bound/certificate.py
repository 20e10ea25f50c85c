"""Two-sided bounds on the game's value from any pair of strategies: what makes T* certified.

For mediator weights ω ≥ 0 and rival weights q ≥ 0 with points x_a = (μ_a + o_a μ_1)/(1 + o_a), odds o_a ≥ 0,

    Σω / min_a f_a(w)  ≥  T*  ≥  Σq / max_e Σ_a q_a [ R_1e d(μ_1, x_a) + R_ae d(μ_a, x_a) ],      w = Rω.

The first holds because ω/Σω is one allowed strategy, the second because q and x are one answer of the adversary.
Both cost O(KE). R [K, E] holds the rates R_ae = π_e(a)/c_e: how often a unit of cost spent on e buys a pull of a.

What an evaluation computes is written to a *ledger* [6, max(K, E)], one row a quantity: Numba counts references to every
array of a named tuple, and at this level that costs more than the arithmetic.
"""

import math
from typing import NamedTuple

import numpy as np

from gobetween.core.evidence.eprocess import evidence
from gobetween.core.ground.jit import Floats, index, jit, part
from gobetween.core.reward.family import Family, divergence

# Rows of a ledger
W = index(0)  # [K] arm weights Rω
F = index(1)  # [K] f_a(w), ∞ at the leader
D_1 = index(2)  # [K] d(μ_1, x_a)
D_A = index(3)  # [K] d(μ_a, x_a)
V = index(4)  # [K] Σ_a y_a ∇f_a: the price of a pull of each arm
WORTH = index(5)  # [E] vᵀR: what a unit of cost spent on each mediator is worth at these prices


class Point(NamedTuple):
    """A pair of strategies and its bounds: what one solve hands to the next."""

    omega: Floats  # [E] mediator weights (shares of cost), a distribution
    q: Floats  # [K] the adversary's mixture over rivals, 0 at the leader
    odds: Floats  # [K] x_a = (μ_a + o_a μ_1)/(1 + o_a): odds keep their digits near both ends
    bounds: Floats  # [2] T_lower, T_upper


@jit
def new_point(K: int, E: int) -> Point:
    """The point that knows nothing: uniform strategies, T* somewhere in [0, ∞]."""
    return Point(np.full(E, 1.0 / E), np.full(K, 1.0 / K), np.ones(K), np.array([0.0, math.inf]))


@jit
def new_ledger(K: int, E: int) -> Floats:
    """An empty ledger."""
    return np.zeros((6, max(K, E)))


@part
def forget(point: Point) -> None:
    """Back to the point that knows nothing."""
    point.omega[:] = 1.0 / point.omega.shape[0]
    point.q[:] = 1.0 / point.q.shape[0]
    point.odds[:] = 1.0
    point.bounds[0], point.bounds[1] = 0.0, math.inf


@part
def relative_error(point: Point) -> float:
    """(T_upper − T_lower)/T_upper, 1 when nothing is known."""
    T_lower, T_upper = point.bounds[0], point.bounds[1]
    return 1.0 - T_lower / T_upper if T_upper < math.inf else 1.0


@part
def leader(mu: Floats) -> tuple[int, bool]:
    """The first best arm, and whether it is the only one."""
    best, unique = 0, True
    for a in range(1, mu.shape[0]):
        if mu[a] > mu[best]:
            best, unique = a, True
        elif mu[a] == mu[best]:
            unique = False
    return best, unique


@part
def payoffs(family: Family, mu: Floats, R: Floats, a_star: int, omega: Floats, ledger: Floats) -> float:
    """Enter w, f, d_1, d_a at ω; returns min_a f_a."""
    K, E = R.shape
    for a in range(K):
        total = 0.0
        for e in range(E):
            total += R[a, e] * omega[e]
        ledger[W, a] = total
    lowest = math.inf
    for a in range(K):
        f, d_1, d_a = math.inf, 0.0, 0.0
        if a != a_star:
            f, d_1, d_a = evidence(family, mu[a_star], mu[a], ledger[W, a_star], ledger[W, a])
        ledger[F, a], ledger[D_1, a], ledger[D_A, a] = f, d_1, d_a
        if f < lowest or f != f:  # NaN stays
            lowest = f
    return lowest


@part
def prices(R: Floats, a_star: int, y: Floats, ledger: Floats) -> float:
    """Enter v and worth from y and the divergences on the ledger; returns max_e worth_e."""
    K, E = R.shape
    total = 0.0
    for a in range(K):
        ledger[V, a] = 0.0
        if a != a_star and y[a] > 0.0:
            total += y[a] * ledger[D_1, a]
            ledger[V, a] = y[a] * ledger[D_A, a]
    ledger[V, a_star] = total
    spread(R, ledger, V, ledger, WORTH)
    highest = 0.0
    for e in range(E):
        if ledger[WORTH, e] > highest or ledger[WORTH, e] != ledger[WORTH, e]:  # NaN stays
            highest = ledger[WORTH, e]
    return highest


@part
def spread(R: Floats, source: Floats, v: int, target: Floats, out: int) -> None:
    """target[out] = Rᵀ source[v], arm by arm; arms of zero weight cost nothing."""
    K, E = R.shape
    for e in range(E):
        target[out, e] = 0.0
    for a in range(K):
        c = source[v, a]
        if c != 0.0:
            for e in range(E):
                target[out, e] += c * R[a, e]


@part
def odds(w_1: float, w_a: float) -> float:
    """w_1 : w_a as a finite number; 1 when both are zero."""
    if not w_1 + w_a > 0.0:
        return 1.0
    return min(w_1 / w_a, 1e300) if w_a > 0.0 else 1e300


@part
def certify(family: Family, mu: Floats, R: Floats, a_star: int, point: Point, ledger: Floats) -> float:
    """Recompute the bounds of a point under these means and rates from its fields alone; returns the relative error."""
    lowest = payoffs(family, mu, R, a_star, point.omega, ledger)
    total = 0.0
    for a in range(mu.shape[0]):
        if a != a_star:
            rest = 1.0 / (1.0 + point.odds[a])
            step = point.odds[a] * rest
            ledger[D_1, a] = divergence(family, mu[a_star], mu[a], rest, step)
            ledger[D_A, a] = divergence(family, mu[a], mu[a_star], step, rest)
            total += point.q[a]
    highest = prices(R, a_star, point.q, ledger)
    spent = 0.0
    for e in range(R.shape[1]):
        spent += point.omega[e]
    T_upper = spent / lowest if 0.0 < lowest < math.inf else math.inf
    T_lower = total / highest if highest > 0.0 else 0.0
    point.bounds[0], point.bounds[1] = min(T_lower, T_upper), T_upper
    return relative_error(point)


@part
def improve(
    family: Family, mu: Floats, R: Floats, a_star: int, omega: Floats, y: Floats, point: Point, ledger: Floats
) -> float:
    """Evaluate (ω, y), with the points x_a that answer ω; keep in `point` what tightens a bound; returns its relative error."""
    K, E = R.shape
    lowest = payoffs(family, mu, R, a_star, omega, ledger)
    highest = prices(R, a_star, y, ledger)
    spent, charged = 0.0, 0.0
    for e in range(E):
        spent += omega[e]
    for a in range(K):
        charged += y[a]
    if 0.0 < lowest < math.inf and spent < point.bounds[1] * lowest:
        point.bounds[1] = spent / lowest
        each = 1.0 / spent
        for e in range(E):
            point.omega[e] = omega[e] * each
    if highest > 0.0 and charged > point.bounds[0] * highest:
        point.bounds[0] = charged / highest
        each = 1.0 / charged
        for a in range(K):
            point.q[a] = y[a] * each
            point.odds[a] = odds(ledger[W, a_star], ledger[W, a])
    point.bounds[0] = min(point.bounds[0], point.bounds[1])
    return relative_error(point)
