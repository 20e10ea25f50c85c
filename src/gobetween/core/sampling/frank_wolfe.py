"""Frank–Wolfe on the lower-bound problem, with mediators as vertices (Wang, Tzeng and Proutiere, NeurIPS 2021).

The shares of cost x follow F(x) = min_b f_b(πᵀx) uphill, f_b with leader i as in eprocess.py. F has kinks, where one gradient
says too little, so that a step looks at those of all rivals that nearly attain the minimum:

    z = argmax_z min_{b: f_b(x) < F(x) + r_t} ⟨z − x, ∇f_b(x)⟩,    x ← x + (z − x)/t,    r_t = t^(−9/10)/E

which is a matrix game. f_b is homogeneous, ⟨x, ∇f_b(x)⟩ = f_b(x). Costs c enter as rates π/c.
"""

import math

import numpy as np

from gobetween.core.evidence.eprocess import evidence
from gobetween.core.ground.jit import Bools, Floats, jit, leaf
from gobetween.core.reward.family import Family
from gobetween.core.sampling.sampling_rule import SamplingView


@leaf
def is_square(n: int) -> bool:
    """Is n a square? Then it is time to explore."""
    root = int(math.sqrt(n) + 0.5)
    return root * root == n


@leaf
def spread_out(rates: Floats, shares: Floats, weights: Floats) -> None:
    """Write to weights [K] what a unit of cost brings of each arm: Σ_e x_e rates[e, a]; rates [E, K]."""
    weights[:] = 0.0
    for e in range(rates.shape[0]):
        for a in range(rates.shape[1]):
            weights[a] += shares[e] * rates[e, a]


@jit
def payoffs(family: Family, mu: Floats, rates: Floats, x: Floats, r: float) -> Floats:
    """[rivals, E] ⟨e − x, ∇f_b(x)⟩ of the rivals b with f_b(x) < F(x) + r; no rows when some rival is level with the leader."""
    E, K = rates.shape
    w, f, leader = np.empty(K), np.full(K, np.inf), int(np.argmax(mu))
    spread_out(rates, x, w)
    for b in range(K):
        if b != leader:
            f[b] = evidence(family, mu[leader], mu[b], w[leader], w[b])[0]
            if mu[b] == mu[leader]:
                return np.empty((0, E))
    near = np.flatnonzero(f < f.min() + r)
    M = np.empty((len(near), E))
    for row in range(len(near)):
        b = near[row]
        _, d_leader, d_b = evidence(family, mu[leader], mu[b], w[leader], w[b])
        for e in range(E):
            M[row, e] = rates[e, leader] * d_leader + rates[e, b] * d_b - f[b]
    return M


@jit
def best_mixture(M: Floats) -> Floats:
    """[E] argmax_z min_j (Mz)_j over distributions z, M [J, E]: the dual simplex, in as many rows as there are rivals.

    With M shifted to be positive: least Σy with My ≥ 1, y ≥ 0, and z = y/Σy. It begins at y = 0, which only lacks rows.
    """
    J, E = M.shape
    z = np.zeros(E)
    low, high = M.min(), M.max()
    if J == 1 or not high > low:
        z[np.argmax(M[0])] = 1.0
        return z
    T = np.zeros((J + 1, E + J + 1))  # last row: reduced costs; last column: values of the basis, which are slacks at first
    basis = np.arange(E, E + J)
    for j in range(J):
        for e in range(E):
            T[j, e] = -1.0 - (M[j, e] - low) / (high - low)
        T[j, E + j], T[j, E + J] = 1.0, -1.0
    T[J, :E] = 1.0
    for _ in range(20 * (E + J)):
        row = int(np.argmin(T[:J, E + J]))
        if T[row, E + J] > -1e-12:
            break
        column, least = -1, math.inf
        for k in range(E + J):
            if T[row, k] < -1e-12 and T[J, k] < -least * T[row, k]:
                column, least = k, -T[J, k] / T[row, k]
        if column < 0:
            break
        T[row] /= T[row, column]
        for j in range(J + 1):
            if j != row and T[j, column] != 0.0:
                T[j] -= T[j, column] * T[row]
        basis[row] = column
    for j in range(J):
        if basis[j] < E:
            z[basis[j]] = max(T[j, E + J], 0.0)
    z /= z.sum()
    return z


@jit
def direction(view: SamplingView) -> Floats:
    """[E] the point of the simplex to step to: uniform while arms are unseen or level, and now and then."""
    E, K = view.policies.shape
    uniform, spent = np.full(E, 1.0 / E), view.memory.sum()
    if view.N_a.min() == 0 or is_square(view.t // E) or not spent > 0.0:
        return uniform
    rates = np.empty((E, K))
    for e in range(E):
        rates[e] = view.policies[e] / view.costs[e]
    M = payoffs(view.family, view.mu_hat, rates, view.memory / spent, view.t**-0.9 / E)
    return best_mixture(M) if len(M) else uniform


@leaf
def least_served(target: Floats, view: SamplingView, available: Bools) -> int:
    """The available mediator with the largest x_e/(c_e N_e), −1 when none is available: whose queries lag in proportion."""
    best, most = -1, -1.0
    for e in range(target.shape[0]):
        if available[e]:
            ratio = target[e] / (view.costs[e] * view.N_e[e]) if view.N_e[e] > 0 else math.inf
            if ratio > most:
                best, most = e, ratio
    return best
