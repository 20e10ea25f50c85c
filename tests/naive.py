"""Slow, independent reference implementations: textbook formulas, no code shared with the package."""

from typing import Any

import mpmath
import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linprog

mpmath.mp.dps = 120

Floats = NDArray[np.float64]


def kl(family: Any, mu: Any, lam: Any) -> Any:
    """d(μ, λ) in 120 digits, from the definition of the family's density."""
    mu, lam = mpmath.mpf(mu), mpmath.mpf(lam)
    log = mpmath.log
    if family.name == "gaussian":
        return (mu - lam) ** 2 / (2 * mpmath.mpf(family.sigma) ** 2)
    if family.name == "bounded":
        low, high = mpmath.mpf(family.low), mpmath.mpf(family.high)
        mu, lam = (mu - low) / (high - low), (lam - low) / (high - low)
        return _xlog(mu, lam) + _xlog(1 - mu, 1 - lam)
    if family.name == "bernoulli":
        return _xlog(mu, lam) + _xlog(1 - mu, 1 - lam)
    if family.name == "poisson":
        return _xlog(mu, lam) - mu + lam
    if family.name == "exponential":
        return mu / lam - 1 - log(mu / lam)
    raise AssertionError(family.name)


def _xlog(p: Any, q: Any) -> Any:
    if p == 0:
        return mpmath.mpf(0)
    return mpmath.inf if q == 0 else p * mpmath.log(p / q)


def transport(family: Any, mu_1: Any, mu_a: Any, w_1: Any, w_a: Any) -> Any:
    """f_a = inf over a common mean x of w_1 d(μ_1, x) + w_a d(μ_a, x), at the weighted mean."""
    if w_1 == 0 or w_a == 0:
        return mpmath.mpf(0)
    w_1, w_a = mpmath.mpf(w_1), mpmath.mpf(w_a)
    x = (w_1 * mpmath.mpf(mu_1) + w_a * mpmath.mpf(mu_a)) / (w_1 + w_a)
    return w_1 * kl(family, mu_1, x) + w_a * kl(family, mu_a, x)


def certificate(bound: Any) -> tuple[Any, Any]:
    """T_lower and T_upper from the published fields of a LowerBound alone, in 120 digits."""
    problem = bound.problem
    K, E, best = problem.K, problem.E, bound.leader
    cost = np.ones(E) if problem.costs is None else problem.costs
    rate = [[mpmath.mpf(problem.policies[e, a]) / mpmath.mpf(cost[e]) for a in range(K)] for e in range(E)]
    rho = [mpmath.mpf(x) for x in bound.cost_shares]
    w = [sum(rho[e] * rate[e][a] for e in range(E)) for a in range(K)]
    mu = [mpmath.mpf(m) for m in problem.means]
    rivals = [a for a in range(K) if a != best]
    upper = sum(rho) / min(transport(problem.family, mu[best], mu[a], w[best], w[a]) for a in rivals)
    q, o = [mpmath.mpf(x) for x in bound.rival_weights], [mpmath.mpf(x) for x in bound.rival_odds]
    gains = []
    x = [(mu[a] + o[a] * mu[best]) / (1 + o[a]) for a in range(K)]
    d = {a: (kl(problem.family, mu[best], x[a]), kl(problem.family, mu[a], x[a])) for a in rivals if q[a] > 0}
    for e in range(E):
        gains.append(sum(q[a] * (rate[e][best] * d[a][0] + rate[e][a] * d[a][1]) for a in d))
    return sum(q[a] for a in rivals) / max(gains), upper


def cutting_planes(family: Any, means: Any, rates: Any, tol: float = 1e-7) -> tuple[float, float]:
    """Bounds on T* by linear programs: f_a is concave and homogeneous, so f_a(w) ≤ ∇f_a(w_k)·w for any past w_k."""
    mu = np.asarray(means, dtype=float)
    P = np.asarray(rates, dtype=float)
    E, _ = P.shape
    best = int(np.argmax(mu))
    rivals = [a for a in range(len(mu)) if a != best]
    omega = np.full(E, 1.0 / E)
    cuts: list[Floats] = []
    lower, upper = 0.0, np.inf
    for _ in range(500):
        w = P.T @ omega
        values = []
        for a in rivals:
            x = (w[best] * mu[best] + w[a] * mu[a]) / (w[best] + w[a])
            d_1, d_a = float(kl(family, mu[best], x)), float(kl(family, mu[a], x))
            values.append(w[best] * d_1 + w[a] * d_a)
            cuts.append(d_1 * P[:, best] + d_a * P[:, a])
        lower = max(lower, min(values))
        scale = max(lower, 1e-300)
        G = np.array(cuts) / scale
        lp = linprog(
            np.append(np.zeros(E), -1.0),
            A_ub=np.hstack([-G, np.ones((len(G), 1))]),
            b_ub=np.zeros(len(G)),
            A_eq=np.append(np.ones(E), 0.0)[None, :],
            b_eq=[1.0],
            bounds=[(0, None)] * E + [(None, None)],
        )
        upper = min(upper, -lp.fun * scale)
        if upper <= lower * (1 + tol):
            break
        omega = 0.5 * np.maximum(lp.x[:E], 0) + 0.5 * omega  # damped, and w stays positive
        omega /= omega.sum()
    return 1.0 / upper, 1.0 / lower
