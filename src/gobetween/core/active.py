"""The warm start: Newton's method on the optimality conditions, given which mediators and rivals matter.

With support S (ω_e > 0) and active rivals A (y_a > 0) the covering form is the square system

    Σ_{a∈A} y_a ∂f_a/∂ω_e = 1  (e ∈ S),      f_a(Rω) = F  (a ∈ A),

whose Newton steps converge quadratically; F = 1/T of the start keeps Σω near 1. After each step a weight that turned negative
leaves its set, the most underpaid rival and the most valuable mediator enter, and the certificate says when to stop.
A grain of proximal regularisation picks one of the many solutions when policies repeat or depend on each other.
"""

from typing import NamedTuple

import numpy as np

from gobetween.core.certificate import Point, Ledger, improve
from gobetween.core.families import Family
from gobetween.core.jit import jit
from gobetween.core.linalg import lu_solve
from gobetween.core.transport import curvature
from gobetween.core.types import Floats, Ints

GRAIN = 1e-12
STEPS = 8


class Sets(NamedTuple):
    """Support and active rivals, with the Newton system over them."""

    S: Ints  # [E] the first count[0] entries are the support
    A: Ints  # [K] the first count[1] entries are the active rivals
    count: Ints  # [2]
    omega: Floats  # [E]
    y: Floats  # [K]
    matrix: Floats  # [E+K, E+K]
    step: Floats  # [E+K]


@jit
def new_sets(K: int, E: int) -> Sets:
    """Space for `polish`."""
    n = K + E
    return Sets(
        np.zeros(E, np.int64),
        np.zeros(K, np.int64),
        np.zeros(2, np.int64),
        np.zeros(E),
        np.zeros(K),
        np.zeros((n, n)),
        np.zeros(n),
    )


@jit
def choose(x: Floats, weight: Floats, items: Ints) -> int:
    """weight = x/Σx; list its positive coordinates; returns how many."""
    total, count = x.sum(), 0
    for k in range(x.shape[0]):
        weight[k] = x[k] / total if x[k] > 0.0 else 0.0
        if x[k] > 0.0:
            items[count] = k
            count += 1
    return count


@jit
def take(omega: Floats, y: Floats, sets: Sets) -> None:
    """Start from mediator weights and rival weights: the sets are where they are positive.

    Both are scaled to one, because Σω = Σy at the optimum.
    """
    sets.count[0] = choose(omega, sets.omega, sets.S)
    sets.count[1] = choose(y, sets.y, sets.A)


@jit
def fill(family: Family, mu: Floats, R: Floats, a_star: int, F: float, sets: Sets, ledger: Ledger) -> None:
    """The Newton system [[−H, G], [Gᵀ, 0]] (dω, dy) = (1 − worth, 1 − f/F), all divided by F."""
    S, A = sets.S[: sets.count[0]], sets.A[: sets.count[1]]
    n, m = S.shape[0], A.shape[0]
    M, r = sets.matrix, sets.step
    M[: n + m, : n + m] = 0.0
    for j in range(m):
        a = A[j]
        d_1, d_a = ledger.d_1[a] / F, ledger.d_a[a] / F
        kappa, h_1, h_a = curvature(family, mu[a_star], mu[a], ledger.w[a_star], ledger.w[a])
        bend = sets.y[a] * kappa / F
        for i in range(n):
            M[n + j, i] = d_1 * R[a_star, S[i]] + d_a * R[a, S[i]]
            M[i, n + j] = M[n + j, i]
            tilt = bend * (h_1 * R[a_star, S[i]] + h_a * R[a, S[i]])
            for k in range(n):
                M[i, k] -= tilt * (h_1 * R[a_star, S[k]] + h_a * R[a, S[k]])
        M[n + j, n + j] = GRAIN
        r[n + j] = 1.0 - ledger.f[a] / F
    for i in range(n):
        M[i, i] -= GRAIN
        r[i] = 1.0 - ledger.worth[S[i]] / F


@jit
def keep(items: Ints, count: int, x: Floats, dx: Floats, alpha: float) -> int:
    """x += α dx on the listed coordinates; those that reach zero leave the list. Returns how many stay."""
    kept = 0
    for i in range(count):
        k = items[i]
        moved = x[k] + alpha * dx[i]
        x[k] = moved if moved > 1e-15 * abs(dx[i]) else 0.0
        if x[k] > 0.0:
            items[kept] = k
            kept += 1
    return kept


@jit
def reach(items: Ints, count: int, x: Floats, dx: Floats) -> float:
    """The longest step α ≤ 1 that keeps all listed coordinates non-negative; newcomers at zero do not count."""
    alpha = 1.0
    for i in range(count):
        k = items[i]
        if x[k] > 0.0 and x[k] + dx[i] < 0.0:
            alpha = min(alpha, -x[k] / dx[i])
    return alpha


@jit
def move(sets: Sets, careful: bool) -> bool:
    """Take the Newton step; what would turn negative leaves its set: all of it at once or, if careful, the first to do so.

    False when a set becomes empty.
    """
    n, m = sets.count[0], sets.count[1]
    alpha = 1.0
    if careful:
        alpha = min(reach(sets.S, n, sets.omega, sets.step), reach(sets.A, m, sets.y, sets.step[n:]))
    sets.count[0] = keep(sets.S, n, sets.omega, sets.step, alpha)
    sets.count[1] = keep(sets.A, m, sets.y, sets.step[n:], alpha)
    return sets.count[0] > 0 and sets.count[1] > 0


@jit
def enter(sets: Sets, ledger: Ledger) -> None:
    """Let in the most valuable mediator and the least covered rival, if they are not in yet."""
    e, a = np.argmax(ledger.worth), np.argmin(ledger.f)
    if sets.omega[e] == 0.0 and not contains(sets.S, sets.count[0], e):
        sets.S[sets.count[0]] = e
        sets.count[0] += 1
    if sets.y[a] == 0.0 and not contains(sets.A, sets.count[1], a):
        sets.A[sets.count[1]] = a
        sets.count[1] += 1


@jit
def contains(items: Ints, count: int, item: int) -> bool:
    """Is item among the first count?"""
    for i in range(count):
        if items[i] == item:
            return True
    return False


@jit
def polish(
    family: Family, mu: Floats, R: Floats, a_star: int, tol: float, careful: bool, point: Point, ledger: Ledger, sets: Sets
) -> int:
    """Tighten `point` by Newton steps from the sets; returns the number of steps."""
    most = STEPS + 2 * (sets.count[0] + sets.count[1]) if careful else STEPS
    if sets.count[0] == 0 or sets.count[1] == 0:
        return 0
    gap = improve(family, mu, R, a_star, sets.omega, sets.y, point, ledger)
    F = ledger.f.min() / sets.omega.sum()
    if not F > 0.0:
        return 0
    for k in range(most):
        if gap <= tol:
            return k
        enter(sets, ledger)
        fill(family, mu, R, a_star, F, sets, ledger)
        n = sets.count[0] + sets.count[1]
        if not lu_solve(sets.matrix, sets.step, n) or not move(sets, careful):
            return k
        gap = improve(family, mu, R, a_star, sets.omega, sets.y, point, ledger)
    return most
