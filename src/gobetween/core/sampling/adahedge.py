"""AdaHedge over mediators against the best-response rival (Degenne, Koolen and Ménard, NeurIPS 2019).

Each round the learner of the leader i plays shares of cost w. The rival b answers who is hardest to exclude at πᵀw, with the
means λ at which i and b are level. Arm a then gains as much as is possible in its confidence interval [α, β],

    U_a = max(ln t/N_a, d(α, λ_a), d(β, λ_a)),    N_a d(μ̂_a, α) = N_a d(μ̂_a, β) = ln t

and mediator e gains Σ_a π_e(a) U_a/c_e. Σw is tracked. For arms other than i and b, λ_a = μ̂_a, and U_a = ln t/N_a but for
the asymmetry of d; of the ends only those away from λ matter, which are above i and below b.
"""

import math

import numpy as np

from gobetween.core.evidence.eprocess import evidence
from gobetween.core.ground.jit import Floats, jit, leaf
from gobetween.core.reward.family import Family, coordinate, divergence, span
from gobetween.core.sampling.frank_wolfe import spread_out
from gobetween.core.sampling.sampling_rule import SamplingView


@leaf
def play(G: Floats, mixability: float, w: Floats) -> None:
    """Write to w the weights of AdaHedge: w ∝ e^(ηG), η = ln E/mixability; G [E] are the gains so far."""
    top, total = G[0], 0.0
    for e in range(w.shape[0]):  # G.max() does not compile in a leaf
        top = max(top, G[e])
    for e in range(w.shape[0]):
        if mixability > 0.0:
            w[e] = math.exp(math.log(w.shape[0]) / mixability * (G[e] - top))
        else:
            w[e] = 1.0 if G[e] == top else 0.0
        total += w[e]
    for e in range(w.shape[0]):
        w[e] /= total


@leaf
def mixability_loss(gains: Floats, mixability: float, w: Floats) -> float:
    """How much the mix (1/η) ln Σ w e^(η gains) exceeds the mean Σ w gains; `mixability` is the sum so far."""
    top, mean, mix = -math.inf, 0.0, 0.0
    for e in range(w.shape[0]):
        mean += w[e] * gains[e]
        if w[e] > 0.0:
            top = max(top, gains[e])
    if not mixability > 0.0 or w.shape[0] == 1:
        return top - mean
    eta = math.log(w.shape[0]) / mixability
    for e in range(w.shape[0]):
        mix += w[e] * math.exp(eta * (gains[e] - top)) if w[e] > 0.0 else 0.0
    return max(top + math.log(mix) / eta - mean, 0.0)


@leaf
def within(family: Family, mu: float, xi: float, level: float) -> bool:
    """Is ξ a mean with d(μ, ξ) ≤ level?"""
    low, high = span(family)
    x = coordinate(family, xi)
    return low <= x <= high and divergence(family, mu, xi, 1.0, 0.0) <= level


@leaf
def optimistic(family: Family, mu: float, away: float, x: float, level: float) -> float:
    """d(ξ, x) at the end ξ of {d(μ, ξ) ≤ level} to which `away` ≠ 0 points from μ."""
    near, far = 0.0, away
    for _ in range(60):
        if not within(family, mu, mu + far, level):
            break
        near, far = far, 2.0 * far
    for _ in range(20):
        middle = 0.5 * (near + far)
        if within(family, mu, mu + middle, level):
            near = middle
        else:
            far = middle
    return divergence(family, mu + near, x, 1.0, 0.0)


@jit
def arm_gains(view: SamplingView, leader: int, w: Floats) -> Floats:
    """[K] what a pull of each arm may gain against the rival who answers the weights w [K] of arms."""
    K, mu, chance = len(w), view.mu_hat, math.log(max(view.t, 2))
    U, rival, least = np.empty(K), -1, math.inf
    for a in range(K):
        U[a] = chance / view.N_a[a]
        if a != leader:
            f = evidence(view.family, mu[leader], mu[a], w[leader], w[a])[0]
            if rival < 0 or f < least:
                rival, least = a, f
    away, total = mu[leader] - mu[rival], w[leader] + w[rival]
    if away > 0.0:
        share = min(max(w[leader] / total if total > 0.0 else 0.5, 1e-9), 1.0 - 1e-9)
        x = share * mu[leader] + (1.0 - share) * mu[rival]
        U[leader] = max(U[leader], optimistic(view.family, mu[leader], away, x, U[leader]))
        U[rival] = max(U[rival], optimistic(view.family, mu[rival], -away, x, U[rival]))
    return U


@jit
def next_shares(view: SamplingView) -> Floats:
    """[E] the shares of queries of this round; uniform while arms are unseen. The learner of the leader is told its gains.

    memory [K + 1, E + 1]: for each leader the gains of mediators and the mixability; in the last row what is tracked.
    """
    E, K = view.policies.shape
    if view.N_a.min() == 0:
        return np.full(E, 1.0 / E)
    leader = int(np.argmax(view.mu_hat))
    learner, rates, w, arms = view.memory[leader], np.empty((E, K)), np.empty(E), np.empty(K)
    for e in range(E):
        rates[e] = view.policies[e] / view.costs[e]
    play(learner[:E], learner[E], w)
    spread_out(rates, w, arms)
    U = arm_gains(view, leader, arms)
    shares = w / view.costs
    spent = 1.0 / shares.sum()  # what a query costs in this round
    gains = np.empty(E)
    for e in range(E):
        gains[e] = spent * (rates[e] * U).sum()
    learner[E] += mixability_loss(gains, learner[E], w)
    learner[:E] += gains
    shares *= spent
    return shares
