"""The cold start: a primal-dual interior point method on the covering form of the game.

    T* = min { Σω : ω ≥ 0, f_a(Rω) ≥ 1 for every rival a }

with duals y_a ≥ 0 for the rivals (y/Σy is the adversary's mixture) and z_e ≥ 0 for ω. f_a is concave and homogeneous, so any
ω > 0 is feasible after scaling, and each iterate (ω, y) gives both bounds of the certificate. Newton's system for dω is

    (Rᵀ D R + Θ) dω = r,    Θ = diag(z/ω),    D = Σ_a [ y_a (−∇²f_a) + (y_a/s_a) ∇f_a ∇f_aᵀ ]  on the coordinates (1, a):

an arrow matrix, written below as a sum of squares so that nothing cancels. Step lengths and centring follow Mehrotra's predictor-corrector.
"""

from typing import NamedTuple

import numpy as np

from gobetween.core.certificate import Point, Ledger, improve, payoffs
from gobetween.core.families import Family
from gobetween.core.jit import jit
from gobetween.core.linalg import cholesky, cholesky_solve, combine, dot, gram
from gobetween.core.transport import curvature, evidence
from gobetween.core.types import Floats

MOST_STEPS = 100
PATIENCE = 12


class Arrow(NamedTuple):
    """D = Σ_a size_a (e_a + lean_a e_1)(e_a + lean_a e_1)ᵀ; at the leader lean is 0 and size collects what is left."""

    size: Floats  # [K]
    lean: Floats  # [K]


@jit
def greedy_cover(family: Family, mu: Floats, R: Floats, a_star: int) -> Floats:
    """Weights that give each arm, by its best mediator, the pulls it would need if it and the leader shared them equally."""
    K, E = R.shape
    need = np.zeros(K)
    for a in range(K):
        if a != a_star:
            need[a] = 1.0 / evidence(family, mu[a_star], mu[a], 1.0, 1.0)[0]
    need[a_star] = need.max()
    omega = np.zeros(E)
    for a in np.argsort(-need):
        lack = need[a] - dot(R[a], omega)
        if lack > 0.0:
            e = np.argmax(R[a])
            omega[e] += lack / R[a, e]
    return omega


@jit
def arrow(family: Family, mu: Floats, a_star: int, y: Floats, s: Floats, ledger: Ledger, D: Arrow) -> None:
    """Fill D at the current iterate."""
    rest = 0.0
    for a in range(mu.shape[0]):
        if a == a_star or y[a] <= 0.0:
            D.size[a], D.lean[a] = 0.0, 0.0
            continue
        kappa, h_1, h_a = curvature(family, mu[a_star], mu[a], ledger.w[a_star], ledger.w[a])
        bend, push = y[a] * kappa, y[a] / s[a]
        d_1, d_a = ledger.d_1[a], ledger.d_a[a]
        size = bend * h_a * h_a + push * d_a * d_a
        if not size > 0.0:
            D.size[a], D.lean[a] = 0.0, 0.0
            continue
        D.size[a] = size
        D.lean[a] = (bend * h_1 * h_a + push * d_1 * d_a) / size
        twist = h_1 * d_a - h_a * d_1
        rest += bend * twist * (push * twist / size)
    D.size[a_star] = rest


@jit
def factor(R: Floats, a_star: int, D: Arrow, theta: Floats, rows: Floats, M: Floats) -> None:
    """Factor M = Rᵀ D R + Θ in place."""
    K, E = R.shape
    for a in range(K):
        for e in range(E):
            rows[a, e] = R[a, e] + D.lean[a] * R[a_star, e]
    M[:] = 0.0
    gram(rows, D.size, M)
    for e in range(E):
        M[e, e] += theta[e]
    cholesky(M)


@jit
def longest(x: Floats, dx: Floats) -> float:
    """The longest step α ≤ 1 with x + α dx ≥ 0."""
    step = 1.0
    for i in range(x.shape[0]):
        if dx[i] < 0.0:
            step = min(step, -x[i] / dx[i])
    return step


class Iterate(NamedTuple):
    """An interior iterate, or a step from one to the next; y and s are inert (0 and 1) at the leader."""

    omega: Floats  # [E] weights > 0
    z: Floats  # [E] their duals > 0
    y: Floats  # [K] duals of the rivals > 0
    s: Floats  # [K] slacks f_a − F > 0


@jit
def new_iterate(K: int, E: int) -> Iterate:
    """Space for an iterate."""
    return Iterate(np.zeros(E), np.zeros(E), np.zeros(K), np.ones(K))


@jit
def direction(
    R: Floats, F: float, goal: Iterate, at: Iterate, step: Iterate, L: Floats, ledger: Ledger
) -> None:
    """The Newton step towards ω z = goal.z, y s = goal.y, f − s = F and vᵀR + z = 1."""
    K, E = R.shape
    a_star = np.argmax(ledger.f)  # f is ∞ there
    price = np.zeros(K)
    for a in range(K):
        if a != a_star:
            c = (goal.y[a] - at.y[a] * (ledger.f[a] - F - at.s[a])) / at.s[a]
            price[a_star] += c * ledger.d_1[a]
            price[a] = c * ledger.d_a[a]
    combine(R, price, step.omega)
    for e in range(E):
        step.omega[e] += goal.z[e] / at.omega[e] - 1.0
    cholesky_solve(L, step.omega)
    dw_1 = dot(R[a_star], step.omega)
    for a in range(K):
        if a != a_star:
            step.s[a] = ledger.d_1[a] * dw_1 + ledger.d_a[a] * dot(R[a], step.omega) + (ledger.f[a] - F - at.s[a])
            step.y[a] = (goal.y[a] - at.y[a] * (at.s[a] + step.s[a])) / at.s[a]
    for e in range(E):
        step.z[e] = (goal.z[e] - at.z[e] * (at.omega[e] + step.omega[e])) / at.omega[e]


@jit
def step_length(at: Iterate, step: Iterate) -> float:
    """The longest common step that keeps all signs."""
    primal = min(longest(at.omega, step.omega), longest(at.s, step.s))
    return min(primal, min(longest(at.z, step.z), longest(at.y, step.y)))


@jit
def barrier(at: Iterate, step: Iterate, alpha: float) -> float:
    """Mean complementarity after a step of length α."""
    total = 0.0
    for e in range(at.omega.shape[0]):
        total += (at.omega[e] + alpha * step.omega[e]) * (at.z[e] + alpha * step.z[e])
    for a in range(at.y.shape[0]):
        total += (at.y[a] + alpha * step.y[a]) * (at.s[a] + alpha * step.s[a])
    return total / (at.omega.shape[0] + at.y.shape[0] - 1)


@jit
def advance(at: Iterate, step: Iterate, alpha: float) -> None:
    """Take the step."""
    for e in range(at.omega.shape[0]):
        at.omega[e] += alpha * step.omega[e]
        at.z[e] += alpha * step.z[e]
    for a in range(at.y.shape[0]):
        at.y[a] += alpha * step.y[a]
        at.s[a] += alpha * step.s[a]


@jit
def settle(at: Iterate, step: Iterate, omega: Floats, y: Floats) -> None:
    """Split the iterate by Tapia's indicator: a weight is positive at the optimum if it shrinks more slowly than its dual."""
    for e in range(omega.shape[0]):
        omega[e] = at.omega[e] if step.omega[e] * at.z[e] >= step.z[e] * at.omega[e] else 0.0
    for a in range(y.shape[0]):
        y[a] = at.y[a] if step.y[a] * at.s[a] >= step.s[a] * at.y[a] else 0.0


class Room(NamedTuple):
    """Everything the method writes to; allocated once."""

    at: Iterate
    step: Iterate
    goal: Iterate
    D: Arrow
    theta: Floats  # [E] z/ω
    rows: Floats  # [K, E] leaned rates
    M: Floats  # [E, E] Newton's matrix, then its factor


@jit
def new_room(K: int, E: int) -> Room:
    """Space for the interior point method."""
    at, step, goal = new_iterate(K, E), new_iterate(K, E), new_iterate(K, E)
    return Room(at, step, goal, Arrow(np.zeros(K), np.zeros(K)), np.zeros(E), np.zeros((K, E)), np.zeros((E, E)))


@jit
def start(family: Family, mu: Floats, R: Floats, a_star: int, room: Room, ledger: Ledger) -> float:
    """A well-centred start: the greedy cover mixed with uniform weights; returns F = 1/(its T)."""
    K, E = R.shape
    at, step = room.at, room.step
    step.omega[:], step.z[:], step.y[:], step.s[:] = 0.0, 0.0, 0.0, 0.0
    at.y[a_star], at.s[a_star] = 0.0, 1.0
    cover = greedy_cover(family, mu, R, a_star)
    F = 1.0 / cover.sum()
    at.omega[:] = 2.0 * (cover * F + 1.0 / E)
    payoffs(family, mu, R, a_star, at.omega, ledger)
    mean = 1.0 / (E + K)
    for a in range(K):
        if a != a_star:
            at.s[a] = ledger.f[a] - F
            at.y[a] = mean / at.s[a]
    for e in range(E):
        at.z[e] = mean / at.omega[e]
    return F


@jit
def predict_and_correct(R: Floats, F: float, a_star: int, gap: float, room: Room, ledger: Ledger) -> float:
    """One Mehrotra step: aim at zero, see how far that goes, then aim at the centre that this suggests; returns its length."""
    K, E = R.shape
    at, step, goal = room.at, room.step, room.goal
    now = barrier(at, step, 0.0)
    goal.z[:] = 0.0
    goal.y[:] = 0.0
    step.s[a_star] = 0.0
    direction(R, F, goal, at, step, room.M, ledger)
    ahead = barrier(at, step, step_length(at, step))
    # complementarity must not run ahead of the certified gap: the system would lose its digits
    centre = max(now * (ahead / now) ** 3, 0.01 * gap * at.omega.sum() / (E + K - 1))
    for e in range(E):
        goal.z[e] = centre - step.omega[e] * step.z[e]
    for a in range(K):
        if a != a_star:
            goal.y[a] = centre - step.y[a] * step.s[a]
    direction(R, F, goal, at, step, room.M, ledger)
    alpha = min(1.0, 0.99 * step_length(at, step))
    advance(at, step, alpha)
    return alpha


@jit
def interior(
    family: Family, mu: Floats, R: Floats, F: float, a_star: int, tol: float, point: Point, ledger: Ledger, room: Room
) -> int:
    """Tighten `point` from room.at on until its gap is at most tol or progress ends; returns the number of steps."""
    last, since = 1.0, 0
    for k in range(MOST_STEPS):
        gap = improve(family, mu, R, a_star, room.at.omega, room.at.y, point, ledger)
        since = 0 if gap < 0.9 * last else since + 1
        last = min(last, gap)
        if gap <= tol or since > PATIENCE:
            return k
        arrow(family, mu, a_star, room.at.y, room.at.s, ledger, room.D)
        for e in range(R.shape[1]):
            room.theta[e] = room.at.z[e] / room.at.omega[e]
        factor(R, a_star, room.D, room.theta, room.rows, room.M)
        if not predict_and_correct(R, F, a_star, gap, room, ledger) > 1e-10:
            return k
    return MOST_STEPS
