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
def take(point: Point, sets: Sets, sharp: bool, ledger: Ledger) -> None:
    """Start from a point: its positive weights are the sets; if sharp, only weights that exceed their own slack.

    The ledger must be that of the point. q serves as y, because Σy = Σω at the optimum.
    """
    sets.count[:] = 0
    highest, lowest = ledger.worth.max(), ledger.f.min()
    for e in range(point.omega.shape[0]):
        slack = 1.0 - ledger.worth[e] / highest if sharp else 0.0
        sets.omega[e] = point.omega[e] if point.omega[e] > slack else 0.0
        if sets.omega[e] > 0.0:
            sets.S[sets.count[0]] = e
            sets.count[0] += 1
    for a in range(point.q.shape[0]):
        slack = ledger.f[a] / lowest - 1.0 if sharp else 0.0
        sets.y[a] = point.q[a] if point.q[a] > slack else 0.0
        if sets.y[a] > 0.0:
            sets.A[sets.count[1]] = a
            sets.count[1] += 1


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
def move(sets: Sets) -> bool:
    """Take the Newton step; what would turn negative leaves its set. False when a set becomes empty."""
    n, m = sets.count[0], sets.count[1]
    kept = 0
    for i in range(n):
        e = sets.S[i]
        sets.omega[e] = max(0.0, sets.omega[e] + sets.step[i])
        if sets.omega[e] > 0.0:
            sets.S[kept] = e
            kept += 1
    sets.count[0] = kept
    kept = 0
    for j in range(m):
        a = sets.A[j]
        sets.y[a] = max(0.0, sets.y[a] + sets.step[n + j])
        if sets.y[a] > 0.0:
            sets.A[kept] = a
            kept += 1
    sets.count[1] = kept
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
    family: Family, mu: Floats, R: Floats, a_star: int, tol: float, most: int, point: Point, ledger: Ledger, sets: Sets
) -> int:
    """Tighten `point` by at most `most` Newton steps from the sets; returns the number of steps."""
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
        if not lu_solve(sets.matrix, sets.step, n) or not move(sets):
            return k
        gap = improve(family, mu, R, a_star, sets.omega, sets.y, point, ledger)
    return most
