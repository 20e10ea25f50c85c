"""Dense linear algebra for the game's Newton systems, in plain loops.

Why not BLAS: its results depend on how many threads happen to be free, and one seed must give one result. Loops run over
contiguous rows, four at a time, so that the compiler keeps them in vector registers.
"""

import numpy as np

from gobetween.core.ground.jit import leaf
from gobetween.core.ground.types import Floats


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
