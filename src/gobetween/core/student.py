"""Normal rewards whose spread is not known: what n of them with mean x̄ and variance v say against a mean λ, whatever σ is.

Against (λ, σ) stand members with the precision r/σ², r ~ Gamma(α, α), and a mean ~ N(λ, σ²/(rc)). Their mixture over those of
(λ, σ) is a martingale at the truth, and least over σ, in closed form with d = x̄ − λ (docs/stopping.md):

    ln M(λ) = ½ ln(c/(c+n)) + α ln α − ln Γ(α) + ln Γ(h) − h ln h + h + h ln R − αR,    h = α + n/2,

    R = (v + d²)/(v + d²c/(n+c)), at most h/α. M, mixed over c and α with an atom on 1, rises with |d|.
"""

import math

import numpy as np

from gobetween.core.jit import leaf
from gobetween.core.types import Floats

#: Prior precisions of the mean, as numbers of rewards, and their weights.
MEAN_PRECISIONS = np.array([0.25, 1.0, 4.0, 16.0, 64.0])
#: How closely alternatives keep to the σ of the null, likewise.
SHAPES = np.array([0.25, 32.0])
#: Weight of "as the null has it": what an arm that is seldom or often pulled does not pay for.
ATOM = 0.1
LOG_SHARES = np.log((1.0 - ATOM) * np.outer([1.0, 2.0, 4.0, 4.0, 1.0], [1.0, 3.0]) / 48.0)  # [c, α]
#: α ln α − ln Γ(α)
SHAPE_TERMS = np.array([a * math.log(a) - math.lgamma(a) for a in SHAPES.tolist()])
#: Which share of the evidence, and of a nat, may be given away where the least of it is told; what rounding may have added.
CLOSE, ROUNDING = 0.01, 1e-9
FINEST = 1e-6
COUNT, ORIGIN, SUM, SQUARES = 0, 1, 2, 3


@leaf
def stirling(h: float) -> float:
    """Ln Γ(h) − h ln h + h, without the loss of digits for large h."""
    if h < 50.0:
        return math.lgamma(h) - h * math.log(h) + h
    return 0.5 * math.log(6.283185307179586 / h) + (1.0 - 1.0 / (30.0 * h * h)) / (12.0 * h)


@leaf
def log_student(n: float, v: float, d: float) -> float:
    """Ln M of n rewards with variance v (the mean square around their mean) against a mean that is off theirs by d."""
    total = ATOM
    for j in range(SHAPES.shape[0]):
        alpha = SHAPES[j]
        h = alpha + 0.5 * n
        first = stirling(h) + SHAPE_TERMS[j]
        for i in range(MEAN_PRECISIONS.shape[0]):
            c = MEAN_PRECISIONS[i]
            square = d * d
            rest = v + square * (c / (n + c))
            ratio = min(1.0 + square * (n / (n + c)) / rest, h / alpha) if rest > 0.0 else 1.0
            value = first + 0.5 * math.log(c / (c + n)) + h * math.log(ratio) - alpha * ratio + LOG_SHARES[i, j]
            total += math.exp(min(value, 600.0))
    return math.log(total)


@leaf
def weight_on(n: float, v: float, m: float, w: float) -> float:
    """A share between two estimates that is likely to be near the least evidence: for speed alone."""
    one, other = n * w, m * v
    return one / (one + other) if one + other > 0.0 else n / (n + m)


@leaf
def low_point(n_a: float, v_a: float, n_b: float, v_b: float, gap: float) -> float:
    """A low value of ln M_a + ln M_b between the estimates, by golden sections: where to begin, not a bound."""
    left, right, least = 0.0, gap, math.inf
    for _ in range(20):
        one, other = right - 0.6180339887498949 * (right - left), left + 0.6180339887498949 * (right - left)
        at_one = log_student(n_b, v_b, one) + log_student(n_a, v_a, gap - one)
        at_other = log_student(n_b, v_b, other) + log_student(n_a, v_a, gap - other)
        least = min(least, at_one, at_other)
        if at_one < at_other:
            right = other
        else:
            left = one
    return least


@leaf
def least_common(n_a: float, v_a: float, n_b: float, v_b: float, gap: float, enough: float) -> float:
    """The least ln M_a + ln M_b over common means of two arms whose estimates are `gap` apart, from below — any number under
    `enough` once it is known to lie under it, and `enough` once it is known to reach it.

    Between y and z, counted from b's estimate, it is at least M_b's at y and M_a's at z, because both rise away from their own.
    """
    y = gap * weight_on(n_a, v_a, n_b, v_b)
    upper = log_student(n_b, v_b, y) + log_student(n_a, v_a, gap - y) - ROUNDING
    if upper < enough:
        return upper
    limit = enough
    if enough == -math.inf:
        upper = min(upper, low_point(n_a, v_a, n_b, v_b, gap) - ROUNDING)
        limit = upper - CLOSE * max(1.0, upper)
    y, step = 0.0, gap / 16.0
    at_y = log_student(n_b, v_b, 0.0) - ROUNDING
    while y < gap:
        z = min(gap, y + step)
        far = log_student(n_a, v_a, gap - z)
        if at_y + far >= limit:
            y, step = z, 2.0 * step
            at_y = log_student(n_b, v_b, y) - ROUNDING
            continue
        here = log_student(n_b, v_b, z) - ROUNDING + far
        if here < enough or (step < FINEST * gap and enough > -math.inf):
            return min(here, at_y + far)
        if here < limit:
            limit = here - CLOSE * max(1.0, here)
        step *= 0.5
        if step < FINEST * gap:  # only where nothing is enough: the least is told, however low
            limit = min(limit, at_y + far)
    return limit


@leaf
def add_to_sums(sums: Floats, a: int, reward: float, step: float) -> None:
    """Count a reward of arm a in sums [4, K], or with step −1 take it out: how many, an origin, sums and squares around it."""
    if sums[COUNT, a] == 0.0:
        sums[ORIGIN, a] = reward
    off = reward - sums[ORIGIN, a]
    sums[COUNT, a] += step
    sums[SUM, a] += step * off
    sums[SQUARES, a] += step * off * off
    if sums[COUNT, a] <= 0.0:
        sums[:, a] = 0.0


@leaf
def variance_of(sums: Floats, a: int) -> float:
    """The mean square of an arm's rewards around their mean, from above: what rounding may have taken is added."""
    n, total, squares = sums[COUNT, a], sums[SUM, a], sums[SQUARES, a]
    slack = 8.881784197001252e-16 * (n + 10.0) * squares  # 4 times the unit of rounding, for each
    return max(0.0, squares - total * total / n + slack) / n if n > 1.0 else 0.0


@leaf
def precision_of(sums: Floats) -> float:
    """1/(2σ̂²), σ̂² the mean square of all rewards around the means of their arms; of arms around each other while there is none:
    for planning alone.
    """
    K, squares, free, seen = sums.shape[1], 0.0, 0.0, 0.0
    first, total, around = -1, 0.0, 0.0
    for a in range(K):
        n = sums[COUNT, a]
        if n > 0.0:
            squares += max(0.0, sums[SQUARES, a] - sums[SUM, a] * sums[SUM, a] / n)
            free += n - 1.0
            first = a if first < 0 else first
            off = sums[ORIGIN, a] - sums[ORIGIN, first] + sums[SUM, a] / n
            seen, total, around = seen + 1.0, total + off, around + off * off
    if squares > 0.0:
        return 0.5 * free / squares
    around -= total * total / max(1.0, seen)
    return 0.5 * seen / around if around > 0.0 else 0.5


@leaf
def gap_between(sums: Floats, a: int, b: int) -> float:
    """By how much the estimate of a is above that of b; both have been seen."""
    return float(sums[ORIGIN, a] - sums[ORIGIN, b] + (sums[SUM, a] / sums[COUNT, a] - sums[SUM, b] / sums[COUNT, b]))


def half_width(n: float, v: float, limit: float) -> float:
    """How far from the estimate ln M reaches a limit; ∞ where it never does."""
    far = max(1e-300, math.sqrt(v))
    while log_student(n, v, far) < limit:
        far *= 2.0
        if far > 1e150:
            return math.inf
    near = 0.0
    while near < 0.5 * (near + far) < far:
        middle = 0.5 * (near + far)
        near, far = (near, middle) if log_student(n, v, middle) >= limit else (middle, far)
    return far
