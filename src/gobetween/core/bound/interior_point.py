"""The cold start: a primal-dual interior point method on the covering form of the game.

    T* F = min { Σω : ω ≥ 0, f_a(Rω) ≥ F for every rival a }        for any level F > 0, by homogeneity

with duals y_a ≥ 0 for the rivals (y/Σy is the adversary's mixture) and z_e ≥ 0 for ω. Any ω > 0 is feasible after scaling, and
each iterate (ω, y) gives both bounds of the certificate. With slacks s_a = f_a − F, Newton's system for dω is

    (Rᵀ D R + Θ) dω = r,    Θ = diag(z/ω),    D = Σ_a [ y_a (−∇²f_a) + (y_a/s_a) ∇f_a ∇f_aᵀ ]  on the coordinates (1, a):

an arrow matrix, written below as a sum of squares so that nothing cancels. Step lengths and centring follow Mehrotra's
predictor-corrector.

Linear algebra is in plain loops. Why not BLAS: its results depend on how many threads happen to be free, and one seed must give
one result. Loops run over contiguous rows, four at a time, so that the compiler keeps them in vector registers.
"""

from typing import NamedTuple

import numpy as np

from gobetween.core.bound.certificate import D_1, D_A, WORTH, F, Point, W, improve, payoffs, prices, spread
from gobetween.core.evidence.eprocess import curvature, evidence
from gobetween.core.ground.jit import Floats, index, jit, leaf
from gobetween.core.reward.family import Family

MOST_STEPS = 100
PATIENCE = 12

# Rows of an iterate (or of a step, or of a goal for the products ω z and y s)
OMEGA = index(0)  # [E] weights > 0
Z = index(1)  # [E] their duals > 0
Y = index(2)  # [K] duals of the rivals > 0; 0 at the leader
S = index(3)  # [K] slacks f_a − F > 0; 1 at the leader
BY_OMEGA = index(4)  # [E] 1/ω; only of the iterate, as is the next
BY_S = index(5)  # [K] 1/s

# Rows of an arrow: D = Σ_a size_a (e_a + lean_a e_1)(e_a + lean_a e_1)ᵀ; at the leader lean is 0
SIZE, LEAN = index(0), index(1)


class Scratch(NamedTuple):
    """Everything the method writes to; allocated once."""

    at: Floats  # [6, n] the iterate
    step: Floats  # [4, n]
    goal: Floats  # [4, n]
    arrow: Floats  # [2, K]
    rows: Floats  # [K, E] leaned rates
    M: Floats  # [E, E] Newton's matrix, then its factor


@jit
def new_scratch(K: int, E: int) -> Scratch:
    """Workspace for the interior point method."""
    n = max(K, E)
    return Scratch(np.zeros((6, n)), np.zeros((4, n)), np.zeros((4, n)), np.zeros((2, K)), np.zeros((K, E)), np.zeros((E, E)))


@leaf
def greedy_cover(family: Family, mu: Floats, R: Floats, a_star: int, at: Floats) -> float:
    """Write to ω weights that give each arm, by its best mediator, the pulls it would need if it and the leader shared them
    equally; returns their sum, an upper bound of T*.
    """
    K, E = R.shape
    at[Y, a_star] = 0.0  # Y holds the needs for now
    for a in range(K):
        if a != a_star:
            at[Y, a] = 1.0 / evidence(family, mu[a_star], mu[a], 1.0, 1.0)[0]
            at[Y, a_star] = max(at[Y, a_star], at[Y, a])
    for e in range(E):
        at[OMEGA, e] = 0.0
    total = 0.0
    for a in range(K):
        lack = at[Y, a] - row_dot(R, a, at, OMEGA, E)
        if lack > 0.0:
            best = 0
            for e in range(1, E):
                best = e if R[a, e] > R[a, best] else best
            at[OMEGA, best] += lack / R[a, best]
            total += lack / R[a, best]
    return total


@leaf
def start(family: Family, mu: Floats, R: Floats, a_star: int, uniform: float, scratch: Scratch, ledger: Floats) -> float:
    """A start that is strictly feasible on both sides: the greedy cover, a share of it made uniform, scaled up to f ≥ 1.2 F,
    rivals weighed by 1/s and scaled down to a worth of 0.9; returns the level F = 1/(the cover's T).
    """
    K, E = R.shape
    at = scratch.at
    level = 1.0 / greedy_cover(family, mu, R, a_star, at)
    for e in range(E):
        at[OMEGA, e] = (1.0 - uniform) * at[OMEGA, e] * level + uniform / E
    up = 1.2 * level / payoffs(family, mu, R, a_star, at[OMEGA], ledger)
    for e in range(E):
        at[OMEGA, e] *= up
    for a in range(K):
        ledger[F, a] *= up
        at[S, a] = ledger[F, a] - level
        at[Y, a] = level / at[S, a]
    at[S, a_star], at[Y, a_star] = 1.0, 0.0
    down = 0.9 / prices(R, a_star, at[Y], ledger)
    for a in range(K):
        at[Y, a] *= down
    for e in range(E):
        at[Z, e] = 1.0 - down * ledger[WORTH, e]
    scratch.step[:] = 0.0
    return level


@leaf
def invert(K: int, E: int, at: Floats) -> None:
    """Write 1/ω and 1/s: divisions are dear, and each is used four times."""
    for e in range(E):
        at[BY_OMEGA, e] = 1.0 / at[OMEGA, e]
    for a in range(K):
        at[BY_S, a] = 1.0 / at[S, a]


@leaf
def bend_arrow(family: Family, mu: Floats, a_star: int, at: Floats, ledger: Floats, arrow: Floats) -> None:
    """Write D at the iterate."""
    rest = 0.0
    for a in range(mu.shape[0]):
        arrow[SIZE, a], arrow[LEAN, a] = 0.0, 0.0
        if a == a_star:
            continue
        kappa, h_1, h_a = curvature(family, mu[a_star], mu[a], ledger[W, a_star], ledger[W, a])
        bend, push = at[Y, a] * kappa, at[Y, a] * at[BY_S, a]
        d_1, d_a = ledger[D_1, a], ledger[D_A, a]
        size = bend * h_a * h_a + push * d_a * d_a
        if size > 0.0:
            arrow[SIZE, a] = size
            arrow[LEAN, a] = (bend * h_1 * h_a + push * d_1 * d_a) / size
            twist = h_1 * d_a - h_a * d_1
            rest += bend * twist * (push * twist / size)
    arrow[SIZE, a_star] = rest


@leaf
def factor(R: Floats, a_star: int, scratch: Scratch) -> None:
    """Factor M = Rᵀ D R + Θ."""
    K, E = R.shape
    for a in range(K):
        lean = scratch.arrow[LEAN, a]
        for e in range(E):
            scratch.rows[a, e] = R[a, e] + lean * R[a_star, e]
    for i in range(E):
        for j in range(i):
            scratch.M[i, j] = 0.0
        scratch.M[i, i] = scratch.at[Z, i] * scratch.at[BY_OMEGA, i]
    gram(scratch.rows, scratch.arrow, SIZE, scratch.M)
    cholesky(scratch.M)


@leaf
def direction(R: Floats, level: float, a_star: int, scratch: Scratch, ledger: Floats) -> None:
    """The Newton step towards ω z = goal_z, y s = goal_y, f − s = F and vᵀR + z = 1."""
    K, E = R.shape
    at, step, goal = scratch.at, scratch.step, scratch.goal
    goal[S, a_star] = 0.0  # a free row
    for a in range(K):
        if a != a_star:
            c = (goal[Y, a] - at[Y, a] * (ledger[F, a] - level - at[S, a])) * at[BY_S, a]
            goal[S, a_star] += c * ledger[D_1, a]
            goal[S, a] = c * ledger[D_A, a]
    spread(R, goal, S, step, OMEGA)
    for e in range(E):
        step[OMEGA, e] += goal[Z, e] * at[BY_OMEGA, e] - 1.0
    cholesky_solve(scratch.M, step, OMEGA)
    dw_1 = row_dot(R, a_star, step, OMEGA, E)
    for a in range(K):
        if a != a_star:
            dw_a = row_dot(R, a, step, OMEGA, E)
            step[S, a] = ledger[D_1, a] * dw_1 + ledger[D_A, a] * dw_a + (ledger[F, a] - level - at[S, a])
            step[Y, a] = (goal[Y, a] - at[Y, a] * (at[S, a] + step[S, a])) * at[BY_S, a]
    for e in range(E):
        step[Z, e] = (goal[Z, e] - at[Z, e] * (at[OMEGA, e] + step[OMEGA, e])) * at[BY_OMEGA, e]


@leaf
def longest(K: int, E: int, at: Floats, step: Floats) -> float:
    """The longest step α ≤ 1 that keeps all signs."""
    alpha = 1.0
    for row in range(4):
        for i in range(E if row <= Z else K):
            if step[row, i] < 0.0:
                alpha = min(alpha, -at[row, i] / step[row, i])
    return alpha


@leaf
def barrier(K: int, E: int, at: Floats, step: Floats, alpha: float) -> float:
    """Mean complementarity after a step of length α."""
    total = 0.0
    for e in range(E):
        total += (at[OMEGA, e] + alpha * step[OMEGA, e]) * (at[Z, e] + alpha * step[Z, e])
    for a in range(K):
        total += (at[Y, a] + alpha * step[Y, a]) * (at[S, a] + alpha * step[S, a])
    return total / (E + K - 1)


@leaf
def predict_and_correct(R: Floats, level: float, a_star: int, error: float, scratch: Scratch, ledger: Floats) -> float:
    """One Mehrotra step: aim at zero, see how far that goes, then aim at the centre that this suggests; returns its length."""
    K, E = R.shape
    at, step, goal = scratch.at, scratch.step, scratch.goal
    now = barrier(K, E, at, step, 0.0)
    goal[:] = 0.0
    step[S, a_star] = 0.0
    direction(R, level, a_star, scratch, ledger)
    predicted = barrier(K, E, at, step, longest(K, E, at, step))
    spent = 0.0
    for e in range(E):
        spent += at[OMEGA, e]
    # complementarity must not run ahead of the certified error: the system would lose its digits
    centre = max(now * (predicted / now) ** 3, 0.01 * error * spent / (E + K - 1))
    for e in range(E):
        goal[Z, e] = centre - step[OMEGA, e] * step[Z, e]
    for a in range(K):
        if a != a_star:
            goal[Y, a] = centre - step[Y, a] * step[S, a]
    direction(R, level, a_star, scratch, ledger)
    alpha = min(1.0, 0.99 * longest(K, E, at, step))
    for row in range(4):
        for i in range(E if row <= Z else K):
            at[row, i] += alpha * step[row, i]
    return alpha


@leaf
def interior(
    family: Family, mu: Floats, R: Floats, level: float, a_star: int, tol: float, point: Point, ledger: Floats, scratch: Scratch
) -> int:
    """Tighten `point` from the iterate on until its error is at most tol or progress ends; returns the number of steps."""
    best, since = 1.0, 0
    for k in range(MOST_STEPS):
        error = improve(family, mu, R, a_star, scratch.at[OMEGA], scratch.at[Y], point, ledger)
        since = 0 if error < 0.9 * best else since + 1
        best = min(best, error)
        if error <= tol or since > PATIENCE:
            return k
        invert(R.shape[0], R.shape[1], scratch.at)
        bend_arrow(family, mu, a_star, scratch.at, ledger, scratch.arrow)
        factor(R, a_star, scratch)
        if not predict_and_correct(R, level, a_star, error, scratch, ledger) > 1e-10:
            return k
    return MOST_STEPS


@leaf
def settle(K: int, E: int, scratch: Scratch) -> None:
    """Write to the goal's ω and y what stays: weights that shrink more slowly than their duals (Tapia's indicator)."""
    at, step, goal = scratch.at, scratch.step, scratch.goal
    for e in range(E):
        goal[OMEGA, e] = at[OMEGA, e] if step[OMEGA, e] * at[Z, e] >= step[Z, e] * at[OMEGA, e] else 0.0
    for a in range(K):
        goal[Y, a] = at[Y, a] if step[Y, a] * at[S, a] >= step[S, a] * at[Y, a] else 0.0


@leaf
def row_dot(A: Floats, i: int, B: Floats, j: int, n: int) -> float:
    """Σ_{k<n} A_ik B_jk with four running sums. Rows by number, not as slices: a slice costs more than a short product."""
    s0, s1, s2, s3 = 0.0, 0.0, 0.0, 0.0
    head = n - n % 4
    for k in range(0, head, 4):
        s0 += A[i, k] * B[j, k]
        s1 += A[i, k + 1] * B[j, k + 1]
        s2 += A[i, k + 2] * B[j, k + 2]
        s3 += A[i, k + 3] * B[j, k + 3]
    for k in range(head, n):
        s0 += A[i, k] * B[j, k]
    return (s0 + s1) + (s2 + s3)


@leaf
def gram(P: Floats, D: Floats, row: int, M: Floats) -> None:
    """Add Σ_a D[row, a] P_a P_aᵀ to the lower triangle of M; P_a are the rows of P [n, m], M is [m, m]."""
    n, m = P.shape
    head = n - n % 4
    for i in range(m):
        for a in range(0, head, 4):
            c0, c1 = D[row, a] * P[a, i], D[row, a + 1] * P[a + 1, i]
            c2, c3 = D[row, a + 2] * P[a + 2, i], D[row, a + 3] * P[a + 3, i]
            for j in range(i + 1):
                M[i, j] += c0 * P[a, j] + c1 * P[a + 1, j] + (c2 * P[a + 2, j] + c3 * P[a + 3, j])
        for a in range(head, n):
            c0 = D[row, a] * P[a, i]
            for j in range(i + 1):
                M[i, j] += c0 * P[a, j]


@leaf
def cholesky(M: Floats) -> None:
    """Overwrite the lower triangle of M ≥ 0 by L, M = LLᵀ, with the reciprocals of L's diagonal on the diagonal.

    A pivot lost to rounding gets the reciprocal 0: that coordinate rests.
    """
    n = M.shape[0]
    for j in range(n):
        whole = M[j, j]
        pivot = whole - row_dot(M, j, M, j, j)
        M[j, j] = 1.0 / np.sqrt(pivot) if pivot > 1e-30 * whole else 0.0
        for i in range(j + 1, n):
            M[i, j] = (M[i, j] - row_dot(M, i, M, j, j)) * M[j, j]


@leaf
def cholesky_solve(L: Floats, x: Floats, row: int) -> None:
    """Overwrite x[row] by (LLᵀ)⁻¹ x[row]; L as `cholesky` leaves it."""
    n = L.shape[0]
    for i in range(n):
        x[row, i] = (x[row, i] - row_dot(L, i, x, row, i)) * L[i, i]
    for i in range(n - 1, -1, -1):
        x[row, i] *= L[i, i]
        for k in range(i):
            x[row, k] -= L[i, k] * x[row, i]
