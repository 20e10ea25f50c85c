"""T* of a question by cutting planes: max over ω of the min over pairs of f_ib(πᵀω), between two certified bounds.

Each f is concave and homogeneous, so that its slopes at one point bound it everywhere: f(w) ≤ d_i w_i + d_b w_b. A linear
program over such cuts is at least the value of the game, and its multipliers, the adversary's mixture over cuts, prove that;
the shares that are best so far prove a value that can be had.
"""

import math
from typing import NamedTuple

import numpy as np

from gobetween.core.family import Family
from gobetween.core.question import Question, pairs_of
from gobetween.core.types import Bools, Floats

MOST_ROUNDS = 400
MOST_CUTS = 4000


class Value(NamedTuple):
    """The value of the game for one answer, per unit of cost: low ≤ 1/T* ≤ high."""

    low: float
    high: float
    shares: Floats  # [n] of cost
    weights: dict[tuple[int, int], float]  # the adversary's mixture over pairs
    rounds: int


def value_of(question: Question, family: Family, mu: Floats, R: Floats, answer: Bools, tol: float, enough: float) -> Value:
    """The value for an answer that is right at means mu, with rates R [K, n]; given up once it is known to be too low."""
    pairs, n = pairs_of(question, answer), R.shape[1]
    best, low, high = np.full(n, 1.0 / n), 0.0, math.inf
    rows: list[Floats] = []
    of: list[int] = []
    y, rounds = np.zeros(0), 0
    points = [best]
    while rounds < MOST_ROUNDS and len(rows) < MOST_CUTS:
        for shares in points:
            worth, cuts = _look(question, family, mu, R, pairs, shares)
            rows.extend(cuts.values())
            of.extend(cuts)
            if worth > low:
                best, low = shares, worth
        shares, weights = _program(np.array(rows), max(low, 1e-300))
        bound = float((weights @ np.array(rows)).max()) if weights is not None else math.inf
        if bound < high and weights is not None:
            high, y = bound, weights
        rounds += 1
        if low >= high * (1.0 - tol) or high < enough or weights is None:
            break
        points = [shares, 0.5 * (shares + best)]
    total: dict[tuple[int, int], float] = {}
    for k, weight in enumerate(y.tolist()):
        total[pairs[of[k]]] = total.get(pairs[of[k]], 0.0) + weight
    return Value(low, max(low, high), best, {pair: weight for pair, weight in total.items() if weight > 1e-12}, rounds)


def _look(
    question: Question, family: Family, mu: Floats, R: Floats, pairs: list[tuple[int, int]], shares: Floats
) -> tuple[float, dict[int, Floats]]:
    """The least payoff at these shares, and the cut [n] of each pair but those that are infinitely steep, which say nothing."""
    w, least, cuts = R @ shares, math.inf, dict[int, Floats]()
    for k, (i, b) in enumerate(pairs):
        value, d_i, d_b = question.payoff(family, mu, i, b, float(w[i]), float(w[b]))
        least = min(least, value)
        if math.isfinite(d_i) and math.isfinite(d_b):
            cuts[k] = d_i * R[i] + d_b * R[b]
    return least, cuts


def _program(cuts: Floats, scale: float) -> tuple[Floats, Floats | None]:
    """Shares [n] with the largest least cut, and the multipliers of the cuts, which sum to 1; None where the solver fails."""
    from scipy.optimize import linprog

    m, n = cuts.shape
    scale = max(scale, 1e-3 * float(cuts.max()))
    above = np.hstack([-cuts / scale, np.ones((m, 1))])  # v ≤ cut · ρ
    found = linprog(
        np.append(np.zeros(n), -1.0),
        A_ub=above,
        b_ub=np.zeros(m),
        A_eq=np.append(np.ones(n), 0.0)[None, :],
        b_eq=[1.0],
        bounds=[(0.0, None)] * n + [(None, None)],
        method="highs",
    )
    if not found.success:
        return np.full(n, 1.0 / n), None
    shares, weights = np.maximum(found.x[:n], 0.0), np.maximum(-found.ineqlin.marginals, 0.0)
    return shares / shares.sum(), weights / weights.sum() if weights.sum() > 0.0 else None
