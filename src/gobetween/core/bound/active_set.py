"""The warm start: Newton's method on the optimality conditions, given which mediators and rivals matter.

With support S (ω_e > 0) and active rivals A (y_a > 0) the covering form of the game is the square system

    Σ_{a∈A} y_a ∂f_a/∂ω_e = F  (e ∈ S),      f_a(Rω) = F  (a ∈ A),

whose Newton steps converge quadratically; F = 1/T of the start keeps Σω and Σy near 1. After each step a weight that turned
negative leaves its set, the least covered rival and the most valuable mediator enter, and the certificate says when to stop.
A grain of proximal regularisation picks one of the many solutions when policies repeat or depend on each other.
"""

from typing import NamedTuple

import numpy as np

from gobetween.core.bound.certificate import D_1, D_A, WORTH, F, Point, W, improve
from gobetween.core.evidence.eprocess import curvature
from gobetween.core.ground.jit import Floats, Ints, index, jit, leaf
from gobetween.core.reward.family import Family

GRAIN = 1e-12
STEPS = 8
MEDIATORS, RIVALS = index(0), index(1)  # rows of ActiveSets.items, .size and .weight


class ActiveSets(NamedTuple):
    """Support and active rivals, with the Newton system over them."""

    items: Ints  # [2, n] the first entries of a row, as many as size says, are the members of S, of A
    size: Ints  # [2]
    weight: Floats  # [2, n] ω and y
    matrix: Floats  # [m, m], m ≤ E+K
    step: Floats  # [m]


@jit
def new_active_sets(K: int, E: int) -> ActiveSets:
    """Workspace for `polish`."""
    n, m = max(K, E), min(K + E, 4 * K + 32)  # a support of more than K + 1 is never needed
    return ActiveSets(np.zeros((2, n), np.int64), np.zeros(2, np.int64), np.zeros((2, n)), np.zeros((m, m)), np.zeros(m))


@leaf
def take(which: int, x: Floats, n: int, sets: ActiveSets) -> None:
    """Start one side from the weights x[:n] scaled to one (at the optimum Σω = Σy); its set is where they are positive."""
    total, count = 0.0, 0
    for k in range(n):
        if x[k] > 0.0:
            total += x[k]
            sets.items[which, count] = k
            count += 1
    sets.size[which] = count
    for k in range(n):
        sets.weight[which, k] = x[k] / total if x[k] > 0.0 else 0.0


@leaf
def lu_solve(A: Floats, b: Floats, n: int) -> bool:
    """Overwrite b[:n] by A[:n, :n]⁻¹ b (Gauss with partial pivoting, A is destroyed); False when A is singular."""
    for k in range(n):
        best = k
        for i in range(k + 1, n):
            if abs(A[i, k]) > abs(A[best, k]):
                best = i
        if not abs(A[best, k]) > 0.0:
            return False
        if best != k:
            for j in range(k, n):
                A[k, j], A[best, j] = A[best, j], A[k, j]
            b[k], b[best] = b[best], b[k]
        A[k, k] = 1.0 / A[k, k]
        for i in range(k + 1, n):
            c = A[i, k] * A[k, k]
            if c != 0.0:
                for j in range(k + 1, n):
                    A[i, j] -= c * A[k, j]
                b[i] -= c * b[k]
    for k in range(n - 1, -1, -1):
        for j in range(k + 1, n):
            b[k] -= A[k, j] * b[j]
        b[k] *= A[k, k]
    return True


@leaf
def fill_sides(family: Family, mu: Floats, R: Floats, a_star: int, level: float, sets: ActiveSets, ledger: Floats) -> None:
    """The Newton system [[−H, G], [Gᵀ, 0]] (dω, dy) = (F − worth, F − f), all divided by F; H = −Σ y_a ∇²f_a, G = ∇f."""
    n, m = sets.size[MEDIATORS], sets.size[RIVALS]
    M, r, unit = sets.matrix, sets.step, 1.0 / level
    for i in range(n + m):
        for j in range(n + m):
            M[i, j] = 0.0
    for j in range(m):
        a = sets.items[RIVALS, j]
        d_1, d_a = ledger[D_1, a] * unit, ledger[D_A, a] * unit
        kappa, h_1, h_a = curvature(family, mu[a_star], mu[a], ledger[W, a_star], ledger[W, a])
        bend = sets.weight[RIVALS, a] * kappa * unit
        for i in range(n):
            e = sets.items[MEDIATORS, i]
            M[n + j, i] = d_1 * R[a_star, e] + d_a * R[a, e]
            M[i, n + j] = M[n + j, i]
            tilt = bend * (h_1 * R[a_star, e] + h_a * R[a, e])
            for k in range(n):
                o = sets.items[MEDIATORS, k]
                M[i, k] -= tilt * (h_1 * R[a_star, o] + h_a * R[a, o])
        M[n + j, n + j] = GRAIN
        r[n + j] = 1.0 - ledger[F, a] * unit
    for i in range(n):
        M[i, i] -= GRAIN
        r[i] = 1.0 - ledger[WORTH, sets.items[MEDIATORS, i]] * unit


@leaf
def reach(which: int, offset: int, sets: ActiveSets) -> float:
    """The longest step α ≤ 1 that keeps one side's weights non-negative; newcomers at zero do not count."""
    alpha = 1.0
    for i in range(sets.size[which]):
        x, dx = sets.weight[which, sets.items[which, i]], sets.step[offset + i]
        if x > 0.0 and x + dx < 0.0:
            alpha = min(alpha, -x / dx)
    return alpha


@leaf
def shift(which: int, offset: int, alpha: float, sets: ActiveSets) -> None:
    """Move one side's weights by α times the step; those that reach zero leave."""
    kept = 0
    for i in range(sets.size[which]):
        k, dx = sets.items[which, i], sets.step[offset + i]
        moved = sets.weight[which, k] + alpha * dx
        if moved > 1e-15 * abs(dx):
            sets.weight[which, k] = moved
            sets.items[which, kept] = k
            kept += 1
        else:
            sets.weight[which, k] = 0.0
    sets.size[which] = kept


@leaf
def move(careful: bool, sets: ActiveSets) -> None:
    """Take the Newton step; what would turn negative leaves: all of it at once or, if careful, only the first to do so."""
    n = sets.size[MEDIATORS]
    alpha = min(reach(MEDIATORS, MEDIATORS, sets), reach(RIVALS, n, sets)) if careful else 1.0
    shift(MEDIATORS, MEDIATORS, alpha, sets)  # their steps come first, from number 0 on
    shift(RIVALS, n, alpha, sets)


@leaf
def enter(which: int, k: int, sets: ActiveSets) -> None:
    """Let k in, if it is not in yet."""
    count = sets.size[which]
    for i in range(count):
        if sets.items[which, i] == k:
            return
    sets.items[which, count] = k
    sets.size[which] = count + 1


@leaf
def polish(
    family: Family, mu: Floats, R: Floats, a_star: int, tol: float, rough: float, point: Point, ledger: Floats, sets: ActiveSets
) -> int:
    """Tighten `point` by Newton steps from the sets, whose evaluation is on the ledger; returns the number of steps.

    `rough` is the relative error from which they come: steps from less than 1e-4 are careful ones, and more of them are tried.
    """
    careful = rough < 1e-4
    K, E = R.shape
    omega, y = sets.weight[MEDIATORS], sets.weight[RIVALS]
    level = 0.0
    most = STEPS + 2 * (sets.size[MEDIATORS] + sets.size[RIVALS]) if careful else STEPS
    for k in range(most):
        rival, mediator = 0, 0
        for a in range(1, K):
            rival = a if ledger[F, a] < ledger[F, rival] else rival
        for e in range(1, E):
            mediator = e if ledger[WORTH, e] > ledger[WORTH, mediator] else mediator
        if k == 0:
            level = ledger[F, rival]
        if not level > 0.0 or sets.size[MEDIATORS] == 0 or sets.size[RIVALS] == 0:
            return k
        enter(RIVALS, rival, sets)
        enter(MEDIATORS, mediator, sets)
        if sets.size[MEDIATORS] + sets.size[RIVALS] > sets.step.shape[0]:
            return k
        fill_sides(family, mu, R, a_star, level, sets, ledger)
        if not lu_solve(sets.matrix, sets.step, sets.size[MEDIATORS] + sets.size[RIVALS]):
            return k
        move(careful, sets)
        if improve(family, mu, R, a_star, omega, y, point, ledger) <= tol:
            return k + 1
    return most
