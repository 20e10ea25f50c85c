"""Dense linear algebra for the game's Newton systems, in plain loops.

Why not BLAS: its results depend on how many threads happen to be free, and one seed must give one result. Loops run over
contiguous rows, four at a time, so that the compiler keeps them in vector registers.
"""

import numpy as np

from gobetween.core.jit import jit
from gobetween.core.types import Floats


@jit
def dot(x: Floats, y: Floats) -> float:
    """xᵀy with four running sums."""
    n = x.shape[0]
    head = n - n % 4
    s0, s1, s2, s3 = 0.0, 0.0, 0.0, 0.0
    for i in range(0, head, 4):
        s0 += x[i] * y[i]
        s1 += x[i + 1] * y[i + 1]
        s2 += x[i + 2] * y[i + 2]
        s3 += x[i + 3] * y[i + 3]
    for i in range(head, n):
        s0 += x[i] * y[i]
    return (s0 + s1) + (s2 + s3)


@jit
def gram(P: Floats, D: Floats, M: Floats) -> None:
    """Add Σ_a D_a P_a P_aᵀ to the lower triangle of M; P_a are the rows of P [n, m], M is [m, m]."""
    n, m = P.shape
    head = n - n % 4
    for i in range(m):
        row = M[i, : i + 1]
        for a in range(0, head, 4):
            c0, c1 = D[a] * P[a, i], D[a + 1] * P[a + 1, i]
            c2, c3 = D[a + 2] * P[a + 2, i], D[a + 3] * P[a + 3, i]
            for j in range(i + 1):
                row[j] += c0 * P[a, j] + c1 * P[a + 1, j] + (c2 * P[a + 2, j] + c3 * P[a + 3, j])
        for a in range(head, n):
            c0 = D[a] * P[a, i]
            for j in range(i + 1):
                row[j] += c0 * P[a, j]


@jit
def cholesky(M: Floats) -> None:
    """Overwrite the lower triangle of M ≥ 0 by L, M = LLᵀ. A pivot lost to rounding becomes huge: that coordinate rests."""
    n = M.shape[0]
    for j in range(n):
        whole = M[j, j]
        pivot = whole - dot(M[j, :j], M[j, :j])
        root = np.sqrt(pivot) if pivot > 1e-15 * whole else 1e100
        M[j, j] = root
        for i in range(j + 1, n):
            M[i, j] = (M[i, j] - dot(M[i, :j], M[j, :j])) / root


@jit
def cholesky_solve(L: Floats, x: Floats) -> None:
    """Overwrite x by (LLᵀ)⁻¹ x."""
    n = L.shape[0]
    for i in range(n):
        for k in range(i):
            x[i] -= L[i, k] * x[k]
        x[i] /= L[i, i]
    for i in range(n - 1, -1, -1):
        x[i] /= L[i, i]
        for k in range(i):
            x[k] -= L[i, k] * x[i]


@jit
def lu_solve(A: Floats, b: Floats, n: int) -> bool:
    """Overwrite b[:n] by A[:n, :n]⁻¹ b (Gauss with partial pivoting, A is destroyed); False when A is singular."""
    for k in range(n):
        best = k
        for i in range(k + 1, n):
            if abs(A[i, k]) > abs(A[best, k]):
                best = i
        pivot = A[best, k]
        if not abs(pivot) > 0.0:
            return False
        if best != k:
            for j in range(k, n):
                A[k, j], A[best, j] = A[best, j], A[k, j]
            b[k], b[best] = b[best], b[k]
        for i in range(k + 1, n):
            c = A[i, k] / pivot
            if c != 0.0:
                for j in range(k + 1, n):
                    A[i, j] -= c * A[k, j]
                b[i] -= c * b[k]
    for k in range(n - 1, -1, -1):
        for j in range(k + 1, n):
            b[k] -= A[k, j] * b[j]
        b[k] /= A[k, k]
    return True
